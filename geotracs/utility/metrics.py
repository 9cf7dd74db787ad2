"""What perturbation cost: numbers from locations before and after. Arrays in, numbers out.

Locations are arrays of shape (n, 2), trajectory after trajectory, on a plane; ``offsets`` says where each trajectory
begins, and n at the end; each has at least one location. Nothing here is random: the boxes of `range_query_error` are
the same for everybody. The numbers are computed from the original locations, so the guarantee does not cover them.
"""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import rel_entr

import geotracs.core.randomness as randomness
from geotracs.core.places import Grid
from geotracs.errors import InputError, quoted

WITHIN = (100.0, 500.0, 1000.0, 5000.0)
HOTSPOTS = 0.2
"""The share of the visited places that are hotspots."""
CELLS = 32
"""Cells along each side of the grid on which locations are counted..."""
TRIP_CELLS = 8
"""...and of that for pairs of origin and destination, of which there are many more."""
BINS = 20
"""Classes of trip length."""
BOXES = 500
MIN_SHARE = 0.001
"""Range queries that match fewer than this share of all locations count as if they matched as many."""
AT_ONCE = 2**20
"""How many locations of trajectories of one length are worked on at a time."""
LONGEST = 5000
"""Locations of a trajectory for which the Frechet distance still takes seconds."""

Bounds = tuple[float, float, float, float]


def summary(displacement: np.ndarray, within: Sequence[float] = WITHIN) -> dict[str, float]:
    """Summarise displacements in metres.

    Parameters
    ----------
    displacement : array
        Distance between each location and its report.
    within : sequence of float
        Distances for range-query preservation: the share of reports that are no farther than that.

    Examples
    --------
    >>> summary(np.array([100.0, 200.0, 600.0]), within=[500])
    {'ae': 300.0, 'median': 200.0, 'p95': 560.0, 'max': 600.0, 'rqp_500': 0.667}
    """
    if not all(isinstance(distance, Real) and distance > 0 for distance in within):
        raise InputError("`within` must hold distances greater than 0, in metres.")
    if len(displacement) == 0:
        numbers: list[Any] = [np.nan] * (4 + len(within))
    else:
        numbers = [
            np.mean(displacement),
            *np.quantile(displacement, [0.5, 0.95, 1.0]),
            *[np.mean(displacement <= distance) for distance in within],
        ]
    names = ["ae", "median", "p95", "max", *[f"rqp_{distance:g}" for distance in within]]
    return {name: round(float(number), 3) for name, number in zip(names, numbers, strict=True)}


def hausdorff(before: np.ndarray, after: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the Hausdorff distance of each trajectory to its report.

    The farthest that a location of one is from the nearest location of the other, whatever their order; in the unit
    of the coordinates.

    Examples
    --------
    >>> before = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 0.0]])
    >>> after = np.array([[9.0, 1.0], [0.0, 2.0], [3.0, 4.0]])
    >>> hausdorff(before, after, np.array([0, 2, 3])).tolist()
    [2.0, 5.0]
    """
    if len(before) == 0:
        return np.zeros(0)
    # In a third dimension trajectories lie farther apart than locations can be, so that one search serves them all.
    apart = 4 * (np.ptp(np.concatenate([before, after]), axis=0).sum() or 1)
    level = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) * apart
    here, there = np.column_stack([before, level]), np.column_stack([after, level])
    farther = np.maximum(cKDTree(there).query(here, workers=-1)[0], cKDTree(here).query(there, workers=-1)[0])
    return np.maximum.reduceat(farther, offsets[:-1])


def frechet(before: np.ndarray, after: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the discrete Frechet distance of each trajectory to its report.

    The shortest leash for two walkers who go from location to location, one along each, never back; in the unit of the
    coordinates. The work grows with the square of a trajectory's length, so there may be 5,000 locations in each.

    References
    ----------
    T. Eiter and H. Mannila, Computing discrete Frechet distance, 1994.

    Examples
    --------
    >>> before = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 0.0]])
    >>> after = np.array([[9.0, 0.0], [0.0, 0.0], [3.0, 4.0]])
    >>> frechet(before, after, np.array([0, 2, 3])).tolist()
    [9.0, 5.0]
    """
    lengths = np.diff(offsets)
    if lengths.max(initial=0) > LONGEST:
        raise InputError(
            f"The Frechet distance takes trajectories of up to {LONGEST:,} locations, got one of {lengths.max():,}; "
            "cut them into trips, or use the Hausdorff distance."
        )
    found = np.empty(len(lengths))
    for length in np.unique(lengths):
        alike = np.flatnonzero(lengths == length)
        for some in np.array_split(alike, -(-len(alike) * length // AT_ONCE)):
            rows = offsets[some][:, None] + np.arange(length)
            found[some] = _leashes(before[rows], after[rows])
    return found


def _leashes(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the shortest leash of each pair of walks of shape (n, 2).

    Steps of the two walkers that sum to the same number depend on the two sums before only: one pass over the sums.
    """
    count, n, _ = before.shape
    backwards = after[:, ::-1]
    one_less, two_less = np.full((2, count, n + 1), np.inf)  # by the step of the first walker, after one that is none
    one_less[:, 1] = np.square(before[:, 0] - after[:, 0]).sum(axis=1)
    for steps in range(1, 2 * n - 1):
        first, last = max(0, steps - n + 1), min(steps, n - 1) + 1
        others = backwards[:, n - 1 - steps + first : n - 1 - steps + last]
        apart = np.square(before[:, first:last] - others).sum(axis=2)
        reached = np.minimum(one_less[:, first:last], one_less[:, first + 1 : last + 1])
        np.minimum(reached, two_less[:, first:last], out=reached)
        one_less, two_less = np.full((count, n + 1), np.inf), one_less
        one_less[:, first + 1 : last + 1] = np.maximum(reached, apart)
    return np.sqrt(one_less[:, n])


def hotspots(visits: np.ndarray, share: float = HOTSPOTS) -> np.ndarray:
    """Return the most visited places: that share of all places with a visit, the first of those visited equally.

    Parameters
    ----------
    visits : array
        The place of each visit.

    Examples
    --------
    >>> hotspots(np.array([7, 3, 3, 5, 5, 5, 1, 2])).tolist()
    [5]
    """
    if not isinstance(share, Real) or not 0 < share <= 1:
        raise InputError(f"`share` must be a number greater than 0 and up to 1, got {quoted(share)}.")
    places, counts = np.unique(visits, return_counts=True)
    busiest = np.argsort(-counts, kind="stable")
    return places[busiest[: int(np.ceil(share * len(places)))]]


def hotspot_count_difference(
    before: np.ndarray, after: np.ndarray, offsets: np.ndarray, spots: np.ndarray
) -> np.ndarray:
    """Return how many visits of hotspots each trajectory lost: those whose report is not at a hotspot.

    The paper's count difference (CD), in visits; its figure shows the average over trajectories.

    Parameters
    ----------
    before, after : array
        The place of each location and of its report.
    spots : array
        The hotspots, e.g. from `hotspots`.

    Examples
    --------
    >>> hotspot_count_difference(np.array([1, 2, 2, 1]), np.array([2, 9, 9, 1]), np.array([0, 3, 4]), np.array([1, 2]))
    array([2, 0])
    """
    lost = np.isin(before, spots) & ~np.isin(after, spots)
    return np.diff(np.append(0, np.cumsum(lost))[offsets])


def public_boxes(bounds: Bounds, count: int = BOXES) -> np.ndarray:
    """Return boxes for range queries, ``(xmin, ymin, xmax, ymax)`` each: the same for the same bounds, always.

    Each side is uniform between 1/20 and 1/2 of that of the bounds, and the place is uniform among those inside.

    Examples
    --------
    >>> public_boxes((0, 0, 100, 50), count=2).shape
    (2, 4)
    """
    words = randomness.words(randomness.public_stream(), 4 * count, np.uint64)
    numbers = (words / 2.0**64).reshape(count, 4)
    whole = np.subtract(bounds[2:], bounds[:2])
    sides = (0.05 + 0.45 * numbers[:, :2]) * whole
    corner = bounds[:2] + numbers[:, 2:] * (whole - sides)
    return np.column_stack([corner, corner + sides])


def range_query_error(before: np.ndarray, after: np.ndarray, boxes: np.ndarray) -> float:
    """Return the mean relative error of counting locations in boxes.

    For each box the difference of the two counts, relative to the first or to 1/1000 of all locations, whichever is
    more. A box contains its left and lower border, not the others.

    References
    ----------
    W. Qardaji, W. Yang and N. Li, Differentially private grids for geospatial data, ICDE 2013, section V.

    Examples
    --------
    >>> before = np.array([[1.0, 1.0], [2.0, 2.0], [8.0, 8.0]])
    >>> range_query_error(before, before + 7, np.array([[0.0, 0.0, 5.0, 5.0], [0.0, 0.0, 20.0, 20.0]]))
    0.5
    """
    if len(before) == 0:
        return np.nan
    true, reported = _counts(before, boxes), _counts(after, boxes)
    return float(np.mean(np.abs(reported - true) / np.maximum(true, MIN_SHARE * len(before))))


def grid_divergence(before: np.ndarray, after: np.ndarray, bounds: Bounds, cells: int = CELLS) -> float:
    """Return the Jensen-Shannon divergence of where locations are, and reports, on a grid of cells x cells.

    In bits: 0 for equal shares of every cell, 1 for no cell in common. What is outside counts for the nearest cell.

    References
    ----------
    J. Lin, Divergence measures based on the Shannon entropy, IEEE Trans. Inf. Theory 37(1), 1991.

    Examples
    --------
    >>> before = np.array([[1.0, 1.0], [9.0, 9.0]])
    >>> grid_divergence(before, before[::-1], (0, 0, 10, 10))
    0.0
    >>> grid_divergence(before, before - 1, (0, 0, 10, 10))
    1.0
    """
    return _divergence(grid_cells(before, bounds, cells), grid_cells(after, bounds, cells))


def origin_destination_divergence(
    before: np.ndarray, after: np.ndarray, offsets: np.ndarray, bounds: Bounds, cells: int = TRIP_CELLS
) -> float:
    """Return the Jensen-Shannon divergence, in bits, of the cells where trajectories begin and end.

    References
    ----------
    M. E. Gursoy et al., Utility-aware synthesis of differentially private and attack-resilient location traces, CCS
    2018: its trip error.

    Examples
    --------
    >>> there, back = np.array([[1.0, 1.0], [9.0, 9.0]]), np.array([[9.0, 9.0], [1.0, 1.0]])
    >>> origin_destination_divergence(there, back, np.array([0, 2]), (0, 0, 10, 10))
    1.0
    """
    trips = [
        grid_cells(xy[offsets[:-1]], bounds, cells) * cells**2 + grid_cells(xy[offsets[1:] - 1], bounds, cells)
        for xy in (before, after)
    ]
    return _divergence(*trips)


def trip_length_divergence(before: np.ndarray, after: np.ndarray, offsets: np.ndarray, bins: int = BINS) -> float:
    """Return the Jensen-Shannon divergence, in bits, of how long trajectories are, from location to location.

    Lengths are sorted into equal classes from 0 to the longest of both.

    References
    ----------
    As `origin_destination_divergence`: its length error.

    Examples
    --------
    >>> short, long = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [9.0, 0.0]])
    >>> trip_length_divergence(short, long, np.array([0, 2]))
    1.0
    """
    lengths = [_trip_lengths(xy, offsets) for xy in (before, after)]
    longest = max((part.max(initial=0) for part in lengths), default=0) or 1.0
    classes = [np.minimum((part / longest * bins).astype(np.int64), bins - 1) for part in lengths]
    return _divergence(*classes)


def grid_cells(xy: np.ndarray, bounds: Bounds, cells: int = CELLS) -> np.ndarray:
    """Return the number of each location's cell, on a grid of cells x cells; the nearest cell if it is outside.

    Examples
    --------
    >>> grid_cells(np.array([[1.0, 1.0], [9.0, 1.0], [99.0, 99.0]]), (0, 0, 10, 10), cells=2)
    array([0, 1, 3])
    """
    xmin, ymin, xmax, ymax = bounds
    bounds = (xmin, ymin, xmax if xmax > xmin else xmin + 1, ymax if ymax > ymin else ymin + 1)
    return Grid(nx=cells, ny=cells).over(bounds, 1.0).round(xy)[0]


def _counts(xy: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Return how many locations are in each box, from one table over all their borders."""
    (x, west, east), (y, south, north) = (_ranks(xy[:, axis], boxes[:, [axis, axis + 2]]) for axis in (0, 1))
    side = 2 * len(boxes) + 1
    table = np.bincount(x * side + y, minlength=side * side).reshape(side, side)
    below = np.pad(table.cumsum(0).cumsum(1), (1, 0))  # below[i, j]: locations of ranks under i and j
    return below[east, north] - below[west, north] - below[east, south] + below[west, south]


def _ranks(values: np.ndarray, borders: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ranks among all borders: those of values are less than that of a border if they lie below it."""
    order = np.sort(borders, axis=None)
    low, high = np.searchsorted(order, borders, side="left").T + 1
    return np.searchsorted(order, values, side="right"), low, high


def _trip_lengths(xy: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    if len(xy) == 0:
        return np.zeros(0)
    steps = np.hypot(*np.diff(xy, axis=0, prepend=xy[:1]).T)
    steps[offsets[:-1]] = 0
    return np.add.reduceat(steps, offsets[:-1])


def _divergence(before: np.ndarray, after: np.ndarray) -> float:
    """Return the Jensen-Shannon divergence of two samples of labels, in bits."""
    if len(before) == 0 or len(after) == 0:
        return np.nan
    labels, which = np.unique(np.concatenate([before, after]), return_inverse=True)
    p = np.bincount(which[: len(before)], minlength=len(labels)) / len(before)
    q = np.bincount(which[len(before) :], minlength=len(labels)) / len(after)
    middle = (p + q) / 2
    return float(max(0.0, (rel_entr(p, middle).sum() + rel_entr(q, middle).sum()) / (2 * np.log(2))))
