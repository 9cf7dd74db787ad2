"""How alike two sets of trips are: the nine metrics of LDPTrace (Du et al., VLDB 2023)."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from geotracs.core.randomness import public_stream
from geotracs.core.randomness import words as random_words
from geotracs.experiments.trips import Cells, Trips, Visits

QUERIES, QUERY_SHARE, SANITY = 200, 1 / 9, 0.01
"""How many squares are asked for, which part of the box each covers, and the smallest answer errors are parts of."""
HOTSPOTS = 5
BUCKETS = 20
SHORTEST, LONGEST, TOP = 2, 8, 100
"""Patterns have so many cells, and so many of the most frequent ones are compared."""


class Pair:
    """Trips and made-up trips over the same cells.

    Parameters
    ----------
    original, synthetic : Trips
        Points along them must be closer than a cell is wide, or are joined by a shortest way over cells.
    cells : Cells

    Examples
    --------
    >>> xy = np.array([[0.5, 0.5], [1.5, 1.5], [2.5, 1.5], [0.5, 0.5], [1.5, 0.5]])
    >>> trips = Trips(xy, np.array([0, 3, 5]))
    >>> pair = Pair(trips, trips, Cells((0.0, 0.0, 3.0, 3.0), 3))
    >>> density_error(pair), hotspot_error(pair), pattern_f1(pair)
    (0.0, 0.0, 1.0)
    """

    def __init__(self, original: Trips, synthetic: Trips, cells: Cells) -> None:
        self.original, self.synthetic, self.cells = original, synthetic, cells

    @cached_property
    def visits(self) -> tuple[Visits, Visits]:
        """The cells that the trips and the made-up ones go through."""
        return self.cells.visits(self.original), self.cells.visits(self.synthetic)

    @cached_property
    def densities(self) -> tuple[np.ndarray, np.ndarray]:
        """How often each cell is visited."""
        before, after = (np.bincount(part.cells, minlength=self.cells.count) for part in self.visits)
        return before, after

    @cached_property
    def patterns(self) -> tuple[dict[int, int], dict[int, int]]:
        """How often each sequence of 2 to 8 cells occurs, the most frequent first."""
        before, after = (_patterns(part, self.cells.count) for part in self.visits)
        return before, after


def density_error(pair: Pair) -> float:
    """Return the Jensen-Shannon divergence (in nats) of the cells that are visited."""
    return divergence(*pair.densities)


def query_error(pair: Pair) -> float:
    """Return the mean relative error of how many visits fall into random squares.

    The squares cover a ninth of the box each. A visit counts by the part of its cell that is inside; errors are
    relative to the true answer, or to 1% of all visits where that is more.
    """
    corner = random_words(public_stream(), 2 * QUERIES, np.uint64).reshape(QUERIES, 2) / 2.0**64
    size = np.array(pair.cells.box[2:]) - pair.cells.box[:2]
    half = np.sqrt(size.prod() * QUERY_SHARE) / 2 / size * pair.cells.side
    low, high = corner * pair.cells.side - half, corner * pair.cells.side + half
    edges = np.arange(pair.cells.side)
    inside = np.clip(np.minimum(high[..., None], edges + 1) - np.maximum(low[..., None], edges), 0, 1)
    before, after = (
        np.einsum("qx,qy,yx->q", inside[:, 0], inside[:, 1], part.reshape(pair.cells.side, -1))
        for part in pair.densities
    )
    return float(np.mean(np.abs(after - before) / np.maximum(before, SANITY * pair.densities[0].sum())))


def hotspot_error(pair: Pair) -> float:
    """Return 1 - NDCG of the five cells visited most: 0 if the same cells are found in the same order."""
    true, found = (np.argsort(-part, kind="stable")[:HOTSPOTS].tolist() for part in pair.densities)
    discount = 1 / np.log2(np.arange(len(true)) + 2)
    gain = np.array([1 / (true.index(cell) + 1) if cell in true else 0.0 for cell in found])
    return float(1 - gain @ discount / (1 / (np.arange(len(true)) + 1) @ discount))


def kendall_tau(pair: Pair) -> float:
    """Return the rank correlation of how many trips pass through each cell; 1 is best.

    Of all pairs of cells, those in the right order minus those that are not. Pairs that are equal in the original count
    as neither, so that 1 cannot be reached where some are.
    """
    before, after = (_passing(part, pair.cells.count) for part in pair.visits)
    pairs = np.triu_indices(len(before), 1)
    true, found = (np.sign(part[:, None] - part)[pairs] for part in (before, after))
    return float(np.where(true == found, 1, -1)[true != 0].sum() / len(true))


def trip_error(pair: Pair) -> float:
    """Return the Jensen-Shannon divergence (in nats) of the pairs of cells in which trips begin and end."""
    counts = (
        np.bincount(
            part.cells[part.offsets[:-1]] * pair.cells.count + part.cells[part.offsets[1:] - 1],
            minlength=pair.cells.count**2,
        )
        for part in pair.visits
    )
    return divergence(*counts)


def length_error(pair: Pair) -> float:
    """Return the Jensen-Shannon divergence (in nats) of how long trips are, in 20 classes."""
    return _by_class(pair.original.lengths, pair.synthetic.lengths)


def diameter_error(pair: Pair) -> float:
    """Return the Jensen-Shannon divergence (in nats) of the largest distance within a trip, in 20 classes."""
    return _by_class(pair.original.diameters, pair.synthetic.diameters)


def pattern_f1(pair: Pair) -> float:
    """Return which part of the 100 most frequent sequences of cells is among those of the made-up trips; 1 is best."""
    true, found = (list(part)[:TOP] for part in pair.patterns)
    return 2 * len(set(true) & set(found)) / max(len(true) + len(found), 1)


def pattern_support(pair: Pair) -> float:
    """Return the mean relative error of how often the 100 most frequent sequences of cells occur."""
    before, after = pair.patterns
    top = list(before)[:TOP]
    return float(np.mean([abs(after.get(pattern, 0) - before[pattern]) / before[pattern] for pattern in top] or [0.0]))


METRICS: dict[str, Callable[[Pair], float]] = {
    "density": density_error,
    "query": query_error,
    "hotspot": hotspot_error,
    "kendall": kendall_tau,
    "trip": trip_error,
    "length": length_error,
    "diameter": diameter_error,
    "pattern_f1": pattern_f1,
    "pattern_support": pattern_support,
}
HIGHER_IS_BETTER = ("kendall", "pattern_f1")


def compare(original: Trips, synthetic: Trips, cells: Cells) -> dict[str, float]:
    """Return all nine metrics; of `HIGHER_IS_BETTER` the largest value is best, of the others the smallest."""
    pair = Pair(original, synthetic, cells)
    return {name: metric(pair) for name, metric in METRICS.items()}


def divergence(a: np.ndarray, b: np.ndarray) -> float:
    """Return the Jensen-Shannon divergence of two histograms, in nats: from 0 to log 2.

    >>> round(divergence(np.array([1, 0]), np.array([0, 3])), 6)
    0.693147
    """
    p, q = a / max(a.sum(), 1), b / max(b.sum(), 1)
    middle = (p + q) / 2
    return float(sum((part[part > 0] * np.log(part[part > 0] / middle[part > 0])).sum() for part in (p, q)) / 2)


def _by_class(before: np.ndarray, after: np.ndarray) -> float:
    """Compare in equal classes from 0 to the largest of the original; the last also holds what exceeds it."""
    width = before.max() / BUCKETS or 1.0
    classes = (np.minimum((part / width).astype(np.int64), BUCKETS - 1) for part in (before, after))
    return divergence(*(np.bincount(part, minlength=BUCKETS) for part in classes))


def _passing(visits: Visits, count: int) -> np.ndarray:
    """Return how many trips pass through each cell."""
    once = np.unique(visits.number * count + visits.cells)
    return np.bincount(once % count, minlength=count)


def _patterns(visits: Visits, count: int) -> dict[int, int]:
    """Return how often each sequence of cells occurs, the most frequent first, then by their number.

    A sequence is a number to the base of one more than there are cells, so that none begins with a zero.
    """
    number, base = visits.number, count + 1
    code, found = visits.cells + 1, []
    for size in range(SHORTEST, LONGEST + 1):
        code = code[:-1] * base + visits.cells[size - 1 :] + 1
        found.append(code[number[: len(code)] == number[size - 1 :]])
    values, times = np.unique(np.concatenate(found), return_counts=True)
    order = np.argsort(-times, kind="stable")
    return dict(zip(values[order].tolist(), times[order].tolist(), strict=True))
