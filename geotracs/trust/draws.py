"""Any mechanism as a black box: a lower bound of the epsilon that it spends, from its draws alone.

The worst pair of locations and the event that tells them apart best are chosen by some draws, and the bound is made by
fresh ones: Clopper and Pearson's bounds of two probabilities, corrected for all pairs and events that are bounded.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from geotracs.core.lengths import distances
from geotracs.trust.pairs import Promise

Sampler = Callable[[np.ndarray, int], np.ndarray]
"""Takes a location and a number; returns so many reports of it, an array of shape (n, 2)."""

SEARCH = 50_000
"""How many draws of each location find the worst pairs, at most..."""
CHOICE = 0.5
"""...and how many choose the events of a pair, as a part of those that bound it."""
CAUTION, LESS_CAUTION = 3.0, 2.0
"""How many standard errors an event must be worth more than another to be preferred; and pairs, which are searched
with fewer draws."""
COARSE, FINE, FINEST = 6, 24, 64
"""Into how many parts each coordinate is cut, with as many reports in each; the last only with..."""
MANY = 100_000
"""...so many reports."""
BEYOND = 4.0
"""Pairs of which more than so many times epsilon is promised are not looked at: no draws can show that much."""
VALUES = 1023
"""How many single values are events of their own, the most frequent ones."""
BITS = 64
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
        events = choose([sample(xy[row], math.ceil(CHOICE * draws)) for row in (i, j)], promise, xy[[i, j]])
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
    allowed = promise.allowed(xy) + np.eye(len(xy))
    if promise.metric is not None:
        for i, j in np.argwhere(np.triu(allowed <= BEYOND * promise.eps, 1)).tolist():
            view = _nearer(promise.as_reported(xy[[i, j]]))
            both = [view(reports[i]), view(reports[j])]
            for partition in (_grid(_plain, np.concatenate(both), parts) for parts in (COARSE, FINE)):
                one, other = _counts(partition, both)
                scores[i, j] = max(scores[i, j], _prefix(one, other, LESS_CAUTION)[1])
        return _best(scores / allowed, pairs)
    for partition in partitions(np.concatenate(reports), promise):
        counts = _counts(partition, reports)
        for i in range(len(xy)):
            for j in range(len(xy)):
                if i != j:
                    scores[i, j] = max(scores[i, j], _prefix(counts[i], counts[j], LESS_CAUTION)[1])
    return _best(np.maximum(scores, scores.T) / allowed, pairs)


def _best(parts: np.ndarray, pairs: int) -> list[tuple[int, int]]:
    rows, columns = np.triu_indices(len(parts), 1)
    best = np.argsort(-parts[rows, columns], kind="stable")[:pairs]
    return [(int(rows[k]), int(columns[k])) for k in best]


Event = Callable[[np.ndarray], np.ndarray]
Partition = Callable[[np.ndarray], np.ndarray]
"""Gives each report the number of its cell."""


def choose(reports: list[np.ndarray], promise: Promise, pair: np.ndarray) -> list[Event]:
    """Return the events that tell reports of the first location from those of the second, and the other way round."""
    best: list[tuple[float, Event]] = [(-math.inf, _never), (-math.inf, _never)]
    pooled, view = np.concatenate(reports), _nearer(promise.as_reported(pair))
    for partition in [*partitions(pooled, promise), *(_grid(view, pooled, parts) for parts in _parts(pooled))]:
        counts = _counts(partition, reports)
        for side in (0, 1):
            cells, score = _prefix(counts[side], counts[1 - side])
            if score > best[side][0]:
                best[side] = score, _in_cells(partition, cells, counts[side].shape[1])
    return [event for _, event in best]


View = Callable[[np.ndarray], np.ndarray]
"""Says two numbers of each report."""


def _nearer(pair: np.ndarray) -> View:
    """Return by how much reports are nearer to one location than to the other, and how far they are from both."""

    def view(xy: np.ndarray) -> np.ndarray:
        here, there = distances(pair, xy)
        return np.column_stack([there - here, there + here])

    return view


def _plain(xy: np.ndarray) -> np.ndarray:
    return xy


def _parts(reports: np.ndarray) -> tuple[int, ...]:
    return (COARSE, FINE, FINEST) if len(reports) >= MANY else (COARSE, FINE)


def _counts(partition: Partition, reports: list[np.ndarray]) -> list[np.ndarray]:
    """Return how many reports of each location are in each cell: in the first half of them, and in the second."""
    labels = [partition(own) for own in reports]
    count = 1 + max(int(own.max()) for own in labels)
    halves = [(own[: len(own) // 2], own[len(own) // 2 :]) for own in labels]
    return [np.array([np.bincount(half, minlength=count) for half in both]) for both in halves]


def _prefix(more: np.ndarray, less: np.ndarray, caution: float = CAUTION) -> tuple[np.ndarray, float]:
    """Return the cells whose union tells two samples apart best, with some caution, and how well it does.

    The first half of the draws brings the cells into an order, and the second, for which it is not made, says how many
    of them to take: otherwise small cells that look good by chance are taken.
    """
    order = np.argsort(-(more[0] + 0.5) / (less[0] + 0.5), kind="stable")
    ours, theirs = np.cumsum(more[1][order]) + 1.0, np.cumsum(less[1][order]) + 1.0
    scores = np.log(ours / theirs) - caution * np.sqrt(1 / ours + 1 / theirs)
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

    found = [_grid(view, reports, parts) for view in (_plain, polar) for parts in _parts(reports)]
    return [*found, _single_values(reports), _last_bits]


def _grid(view: View, reports: np.ndarray, parts: int) -> Partition:
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
