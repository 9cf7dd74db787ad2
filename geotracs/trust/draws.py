"""Any mechanism as a black box: a lower bound of the epsilon that it spends, from its draws alone.

The worst pair of locations and the event that tells them apart best are chosen by some draws, and the bound is made by
fresh ones: Clopper and Pearson's bounds of two probabilities, corrected for all pairs and events that are bounded.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from geotracs.trust.pairs import Promise

Sampler = Callable[[np.ndarray, int], np.ndarray]
"""Takes a location and a number; returns so many reports of it, an array of shape (n, 2)."""

SEARCH = 20_000
"""How many draws of each location find the worst pairs, at most..."""
CHOICE = 0.5
"""...and how many choose the events of a pair, as a part of those that bound it."""
CAUTION = 3.0
"""How many standard errors an event must be worth more than another to be preferred."""
FINE, COARSE = 24, 6
"""Into how many parts each coordinate is cut: as many reports in each."""
VALUES = 1023
"""How many single values are events of their own, the most frequent ones."""
BITS = 16
"""Trailing zeros of a coordinate's bits are told apart up to this many."""


@dataclass(frozen=True)
class Bound:
    """What the draws prove of a pair of locations.

    Attributes
    ----------
    epsilon : float
        The lower bound; 0 if nothing is proved.
    allowed : float
        What is promised of this pair.
    pair : array of shape (2, 2)
        The locations, which are public stand-ins.
    """

    epsilon: float
    allowed: float
    pair: np.ndarray

    @property
    def part(self) -> float:
        """The lower bound as a part of what is promised."""
        return self.epsilon / self.allowed

    @property
    def broken(self) -> bool:
        """Whether more than promised is proved to be spent."""
        return self.epsilon > self.allowed


def bound(
    sample: Sampler, promise: Promise, xy: np.ndarray, draws: int, pairs: int, alarm: float, tests: int | None = None
) -> list[Bound]:
    """Return lower bounds of the epsilon of the worst pairs among some locations, the worst first.

    Parameters
    ----------
    draws : int
        Of each location of a pair, for its bound.
    pairs : int
        How many pairs are bounded, in both directions.
    alarm : float
        How likely any of the bounds is above the true epsilon, at most.
    tests : int, optional
        Among how many bounds the alarm is shared, if they are more than these.
    """
    chosen = worst_pairs(sample, promise, xy, min(draws, SEARCH), pairs)
    level = alarm / (tests or 2 * len(chosen))
    allowed, found = promise.allowed(xy), []
    for i, j in chosen:
        events = choose([sample(xy[row], math.ceil(CHOICE * draws)) for row in (i, j)], promise)
        fresh = [sample(xy[row], draws) for row in (i, j)]
        for (first, second), event in zip(((0, 1), (1, 0)), events, strict=True):
            hits = [int(event(fresh[side]).sum()) for side in (first, second)]
            pair = xy[[(i, j)[first], (i, j)[second]]]
            found.append(Bound(log_ratio(hits[0], hits[1], draws, level), float(allowed[i, j]), pair))
    return sorted(found, key=lambda one: -one.part)


def log_ratio(more: int, less: int, draws: int, level: float) -> float:
    """Return a lower bound of the logarithm of the ratio of two probabilities, which is too high at most at this level.

    Parameters
    ----------
    more, less : int
        How often an event was seen in ``draws`` draws of the one, and of the other.

    Examples
    --------
    >>> round(log_ratio(500_000, 10_000, 10**6, 0.01), 2), round(math.log(50), 2)
    (3.88, 3.91)
    >>> log_ratio(10, 12, 100, 0.01)
    0.0
    """
    if more == 0:
        return 0.0
    low = beta.ppf(level / 2, more, draws - more + 1)
    high = beta.ppf(1 - level / 2, less + 1, draws - less) if less < draws else 1.0
    return float(max(0.0, math.log(low / high)))


def worst_pairs(sample: Sampler, promise: Promise, xy: np.ndarray, n: int, pairs: int) -> list[tuple[int, int]]:
    """Return the pairs of locations that n draws of each tell apart best, as a part of what is promised of them."""
    reports = [sample(one, n) for one in xy]
    scores = np.zeros((len(xy), len(xy)))
    for partition in partitions(np.concatenate(reports), promise):
        labels = [partition(own) for own in reports]
        count = 1 + max(int(own.max()) for own in labels)
        counts = [np.bincount(own, minlength=count) for own in labels]
        for i in range(len(xy)):
            for j in range(len(xy)):
                if i != j:
                    scores[i, j] = max(scores[i, j], _prefix(counts[i], counts[j])[1])
    allowed = promise.allowed(xy) + np.eye(len(xy))
    either = np.maximum(scores, scores.T) / allowed
    rows, columns = np.triu_indices(len(xy), 1)
    best = np.argsort(-either[rows, columns], kind="stable")[:pairs]
    return [(int(rows[k]), int(columns[k])) for k in best]


Event = Callable[[np.ndarray], np.ndarray]
Partition = Callable[[np.ndarray], np.ndarray]
"""Gives each report the number of its cell."""


def choose(reports: list[np.ndarray], promise: Promise) -> list[Event]:
    """Return the event that tells the first of two samples from the second, and the one for the other direction."""
    best: list[tuple[float, Event]] = [(-math.inf, _never), (-math.inf, _never)]
    for partition in partitions(np.concatenate(reports), promise):
        labels = [partition(own) for own in reports]
        count = 1 + max(int(own.max()) for own in labels)
        counts = [np.bincount(own, minlength=count) for own in labels]
        for side in (0, 1):
            cells, score = _prefix(counts[side], counts[1 - side])
            if score > best[side][0]:
                best[side] = score, _in_cells(partition, cells, count)
    return [event for _, event in best]


def _prefix(more: np.ndarray, less: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the cells whose union tells two samples apart best, with some caution, and how well it does."""
    order = np.argsort(-(more + 0.5) / (less + 0.5), kind="stable")
    ours, theirs = np.cumsum(more[order]) + 1.0, np.cumsum(less[order]) + 1.0
    scores = np.log(ours / theirs) - CAUTION * np.sqrt(1 / ours + 1 / theirs)
    last = int(scores.argmax())
    return order[: last + 1], float(scores[last])


def _in_cells(partition: Partition, cells: np.ndarray, count: int) -> Event:
    wanted = np.zeros(count + 1, dtype=bool)
    wanted[cells] = True
    return lambda reports: wanted[np.minimum(partition(reports), count)]


def _never(reports: np.ndarray) -> np.ndarray:
    return np.zeros(len(reports), dtype=bool)


def partitions(reports: np.ndarray, promise: Promise) -> list[Partition]:
    """Return ways to cut the plane into cells, made from a sample: of which unions, events are made.

    By both coordinates, by direction and distance from the middle of the region, by single values, and by the last bits
    of the coordinates, where the support of a careless sampler shows.
    """
    low, high = promise.bounds
    centre, half = (low + high) / 2, np.maximum((high - low) / 2, 1e-300)

    def polar(xy: np.ndarray) -> np.ndarray:
        across, up = ((xy - centre) / half).T
        return np.column_stack([np.arctan2(up * half[1], across * half[0]), np.maximum(np.abs(across), np.abs(up))])

    def plain(xy: np.ndarray) -> np.ndarray:
        return xy

    found = [_grid(view, reports, parts) for view in (plain, polar) for parts in (COARSE, FINE)]
    return [*found, _single_values(reports), _last_bits]


def _grid(view: Callable[[np.ndarray], np.ndarray], reports: np.ndarray, parts: int) -> Partition:
    quantiles = np.quantile(view(reports), np.arange(1, parts) / parts, axis=0, method="higher")
    edges = [np.unique(quantiles[:, axis]) for axis in (0, 1)]

    def labels(xy: np.ndarray) -> np.ndarray:
        seen = view(xy)
        column, row = (np.searchsorted(edges[axis], seen[:, axis], side="right") for axis in (0, 1))
        return column * parts + row

    return labels


def _single_values(reports: np.ndarray) -> Partition:
    values, counts = np.unique(_as_one(reports), return_counts=True)
    repeated = np.flatnonzero(counts > 1)
    kept = np.sort(values[repeated[np.argsort(-counts[repeated], kind="stable")[:VALUES]]])

    def labels(xy: np.ndarray) -> np.ndarray:
        if not len(kept):
            return np.zeros(len(xy), dtype=np.int64)
        own = _as_one(xy)
        at = np.minimum(np.searchsorted(kept, own), len(kept) - 1)
        return np.where(kept[at] == own, at + 1, 0)

    return labels


def _as_one(xy: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(xy, dtype=np.float64).view(np.complex128)[:, 0]


def _last_bits(xy: np.ndarray) -> np.ndarray:
    """Return the trailing zeros of both coordinates' bits, as one number."""
    bits = np.ascontiguousarray(xy, dtype=np.float64).view(np.uint64)
    lowest = np.bitwise_and(bits, (~bits) + np.uint64(1)).astype(np.float64)
    zeros = np.where(bits == 0, BITS - 1, np.minimum(np.log2(np.maximum(lowest, 1.0)), BITS - 1)).astype(np.int64)
    return np.asarray(zeros[:, 0] * BITS + zeros[:, 1])
