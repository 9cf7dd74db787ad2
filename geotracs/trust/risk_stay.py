"""Where somebody stayed, by many reports from one place and the known channel."""

from typing import cast

import numpy as np
import shapely

from geotracs.answers.reader import Reader
from geotracs.answers.states import has_grid

SIDE = 32
"""Cells along each side of a grid of places..."""
LEVELS = 4
"""...which is made finer so many times around where somebody was likely to be..."""
REACH = 5.0
"""...within so many standard deviations."""
OUTLIERS = 0.05
"""Which part of the reports may come from anywhere: whoever stays at home goes out at times."""
MAX_REPORTS, MAX_LOOKING_BACK = 400, 60
"""Of a longer stay every n-th report is used: fewer of a method that looks back, where each takes long."""
LEAST = 1e-12


def place(reader: Reader, rows: np.ndarray) -> np.ndarray:
    """Return the mean of the posterior of one place from which all of some reports came, in the working CRS.

    Parameters
    ----------
    reader : Reader
        The release.
    rows : array of int
        Which of its reports.

    Notes
    -----
    The prior is even over the region. The reports of a window are found much better by this than by their median: the
    place lies where all windows overlap, so that the error falls as 1 / n instead of 1 / sqrt(n).

    Examples
    --------
    >>> import geopandas as gpd, geotracs
    >>> square = (0, 0, 20_000, 20_000)
    >>> home = gpd.GeoDataFrame(geometry=gpd.points_from_xy([8000] * 100, [9000] * 100), crs=32654)
    >>> private = home.tracs.perturb(8, domain=square, keep=[])
    >>> found = place(Reader.of(private), np.arange(100))
    >>> bool(np.hypot(*(found - [8000, 9000])) < 150)
    True
    """
    if reader.observations is not None:
        rows = reader.observations.usual(rows)
    most = MAX_LOOKING_BACK if reader.channel.method.sequential else MAX_REPORTS
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(np.int64)]
    return _finer(reader, rows) if has_density(reader) else _on_states(reader, rows)


def has_density(reader: Reader) -> bool:
    """Whether every report has a density that is computed at once: nothing was moved after the draw."""
    channel = reader.channel
    release, method = channel.release, channel.method
    moved = (
        release.places is not None or release.remap is not None or method.leaves or channel.domain.border is not None
    )
    return channel.over == "region" and not method.sequential and not moved and has_grid(channel.domain)


def _finer(reader: Reader, rows: np.ndarray) -> np.ndarray:
    """Return the mean of the posterior on grids that become finer around it."""
    domain = reader.channel.domain
    first = low, high = np.reshape(domain.outline.bounds, (2, 2))
    usual, mean = None, np.array(domain.centre)
    for _ in range(LEVELS):
        steps = [low[axis] + (np.arange(SIDE) + 0.5) / SIDE * (high - low)[axis] for axis in (0, 1)]
        places = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 2)
        places = places[domain.contains(places)]
        if not len(places):
            break
        likely = _densities(reader, rows, places)
        usual = likely.mean(axis=0) if usual is None else usual
        mean, spread = _moments(likely / np.maximum(usual, LEAST * usual.max()), places, np.ones(len(places)))
        margin = REACH * spread + 2 * (high - low) / SIDE
        low, high = np.maximum(mean - margin, first[0]), np.minimum(mean + margin, first[1])
    return mean


def _densities(reader: Reader, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the density of each report from each place, one row per place."""
    eps = np.broadcast_to(reader.eps, len(reader.xy))[rows]
    found = np.empty((len(places), len(rows)))
    for level in np.unique(eps).tolist():
        own = np.flatnonzero(eps == level)
        found[:, own] = reader.channel.density(reader.xy[rows[own]], places, eps=level)
    return found


def _on_states(reader: Reader, rows: np.ndarray) -> np.ndarray:
    """Return the mean of the posterior over the states of a release, which may be places."""
    states = reader.kept.setdefault("stay", reader.states(side=2 * SIDE))
    likely = reader.likelihood(states, rows).T
    usual = states.prior @ likely
    return _moments(likely / np.maximum(usual, LEAST * max(usual.max(), LEAST)), states.xy, states.prior)[0]


def _moments(ratios: np.ndarray, places: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of the posterior, from how much likelier reports are than usual."""
    logs = np.log((1 - OUTLIERS) * ratios + OUTLIERS).sum(axis=1)
    weights = np.exp(logs - logs.max()) * prior
    weights /= weights.sum()
    mean = weights @ places
    return mean, np.sqrt(weights @ (places - mean) ** 2)


def stays(xy: np.ndarray, begins: np.ndarray, radius: float, least: int) -> list[np.ndarray]:
    """Return the rows of each stay: consecutive ones, at least so many, within a radius of the first of them.

    Parameters
    ----------
    xy : array of shape (n, 2)
        On a plane, trajectory after trajectory.
    begins : array of bool
        Where a trajectory begins.

    Examples
    --------
    >>> xy = np.array([[0, 0], [3, 0], [2, 2], [90, 0], [91, 0]])
    >>> [rows.tolist() for rows in stays(xy, np.array([True] + 4 * [False]), radius=5, least=3)]
    [[0, 1, 2]]
    """
    found, first, n = [], 0, len(xy)
    starts = np.append(np.flatnonzero(begins), n)
    for end in starts[1:].tolist():
        while first < end:
            away = np.hypot(*(xy[first:end] - xy[first]).T) > radius
            last = first + int(np.argmax(away)) if away.any() else end
            if last - first >= least:
                found.append(np.arange(first, last))
            first = max(last, first + 1)
    return found


def geometric_median(xy: np.ndarray, rounds: int = 30) -> np.ndarray:
    """Return the point that is nearest to all on average (Weiszfeld).

    >>> geometric_median(np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 0.1], [5.0, -0.1]])).round(3) + 0.0
    array([5., 0.])
    """
    middle = np.median(xy, axis=0)
    size = float(np.ptp(xy, axis=0).max(initial=0.0))
    for _ in range(rounds if size > 0 else 0):
        away = np.maximum(np.hypot(*(xy - middle).T), 1e-6 * size)
        middle = (xy / away[:, None]).sum(axis=0) / (1 / away).sum()
    return middle


def densest_share(xy: np.ndarray, radius: float, most: int = 400) -> tuple[np.ndarray, float]:
    """Return the location, of some of these, with most others within a radius, and which share of all these are.

    >>> densest_share(np.array([[0.0, 0.0], [1.0, 0.0], [50.0, 0.0]]), radius=5)[1]
    0.6666666666666666
    """
    some = xy[np.linspace(0, len(xy) - 1, min(len(xy), most)).astype(np.int64)]
    tree = shapely.STRtree(cast(np.ndarray, shapely.points(xy)))
    centre, _ = tree.query(shapely.points(some), predicate="dwithin", distance=radius)
    counts = np.bincount(centre, minlength=len(some))
    best = int(np.argmax(counts))
    return some[best], float(counts[best] / len(xy))
