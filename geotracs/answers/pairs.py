"""From pairs of reports to the joint distribution of their true ends: maximum likelihood, stopped in time.

Reports of two ends are independent given where the ends are. With tables P(bin | cell) of both ends, A and B, and the
counts N of pairs of bins, one step of expectation maximisation over the joint distribution f of two cells is
``f <- f * A' (N / (A f B')) B``: a few products of small matrices, whatever the number of pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

FOLDS = 5
"""The number of steps is the one with which each of so many parts of the pairs is best predicted from the others..."""
WITHIN = 1.0
"""...or rather the smallest one that is as good as the best within so many nats..."""
MAX_STEPS = 300
"""...of at most this many."""
MIN_STEPS = 40
"""After fewer no end of the improvement can be told."""
RANGES = (1 / 48, 1 / 24, 1 / 12, 1 / 6, 1 / 3)
"""How far one goes, as parts of the longest way: trips of each range are a kind of their own..."""
SEEN = 10.0
"""...and so many pairs count as seen before the first one."""
TINY = 1e-300
"""What happened is not impossible, whatever rounding errors say."""
DENSER = 8
"""A product of matrices computes so many numbers in the time in which one is gathered."""


@dataclass(frozen=True, eq=False, repr=False)
class Pairs:
    """Pairs of reports, all of which came through the same two channels.

    Attributes
    ----------
    first, second : arrays of shape (bins, cells)
        How likely each report bin is from each cell, for the reports at the first and at the second end. A method
        that looks back has one bin for each report.
    rows, columns : arrays of int
        The bins of distinct pairs of reports.
    counts : array
        How often each occurs.

    Examples
    --------
    >>> table = np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> Pairs.of(table, table, np.array([0, 0, 1]), np.array([1, 1, 0])).counts
    array([2., 1.])
    """

    first: np.ndarray = field(repr=False)
    second: np.ndarray = field(repr=False)
    rows: np.ndarray
    columns: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, first: np.ndarray, second: np.ndarray, one: np.ndarray, other: np.ndarray) -> "Pairs":
        """Return the pairs of two columns of bins."""
        flat, counts = np.unique(one * len(second) + other, return_counts=True)
        return cls(first, second, *np.divmod(flat, len(second)), counts.astype(np.float64))

    @property
    def total(self) -> float:
        """How many there are."""
        return float(self.counts.sum())

    def end(self, number: int) -> "Pairs":
        """Return the first or the second end alone, as pairs whose other end is always the same."""
        table, bins = (self.first, self.rows) if number == 0 else (self.second, self.columns)
        counts = np.bincount(bins, self.counts, minlength=len(table))
        seen = np.flatnonzero(counts)
        return Pairs(table, np.ones((1, 1)), seen, np.zeros_like(seen), counts[seen])

    @cached_property
    def _dense(self) -> bool:
        return len(self.first) * len(self.second) < DENSER * len(self.rows)

    def predict(self, f: np.ndarray) -> np.ndarray:
        """Return how likely each of the pairs is, for ends that are jointly distributed so."""
        left = self.first @ f
        if self._dense:
            likely = (left @ self.second.T)[self.rows, self.columns]
        else:
            likely = np.einsum("ij,ij->i", left[self.rows], self.second[self.columns])
        return np.maximum(likely, TINY)

    def adjoint(self, v: np.ndarray) -> np.ndarray:
        """Return the sum of a value of each pair times its probability, for each pair of cells."""
        table = csr_array((v, (self.rows, self.columns)), shape=(len(self.first), len(self.second)))
        return np.asarray(self.first.T @ ((table.toarray() if self._dense else table) @ self.second))


def estimate(groups: Sequence[Pairs], start: np.ndarray) -> np.ndarray:
    """Return the joint distribution of both ends, cell by cell, from pairs through one or several pairs of channels.

    Parameters
    ----------
    groups : sequence of Pairs
        All with the same cells.
    start : array of shape (cells, cells)
        What is taken for likely before: the estimate leaves it as far as pairs that were set aside are predicted
        better, and by the one step that turns an estimate of all pairs there might be into one of those there are.

    Examples
    --------
    Everybody goes from the first cell to the second; reports tell cells apart with probability 0.9.

    >>> table = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> reports = np.repeat([[0, 1], [0, 0], [1, 1], [1, 0]], [810, 90, 90, 10], axis=0)
    >>> estimate([Pairs.of(table, table, *reports.T)], np.full((2, 2), 0.25)).round(1)
    array([[0., 1.],
           [0., 0.]])
    """
    counts = [group.counts for group in groups]
    f = start / start.sum()
    for _ in range(_steps(groups, f) + 1):  # the last one counts what these very pairs say, given the estimate
        f = _step(groups, counts, f)
    return f


def gravity(ends: Sequence[np.ndarray], away: np.ndarray) -> list[np.ndarray]:
    """Return joint distributions of two ends with given ones each: from staying in a cell to having nothing in common.

    Between these are those where a destination is the less likely the farther it is, with several ranges.

    Parameters
    ----------
    ends : (array, array)
        The distribution of either end over cells.
    away : array of shape (cells, cells)
        How far apart cells are.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> kinds = gravity([half, half], np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> kinds[0], kinds[-1]
    (array([[0.5, 0. ],
           [0. , 0.5]]), array([[0.25, 0.25],
           [0.25, 0.25]]))
    """
    first, second = ends
    stay = np.sqrt(first * second)
    found = [np.diag(stay / max(stay.sum(), TINY))]
    for part in RANGES:
        near = second * np.exp(-away / (part * away.max() + TINY))
        found.append(first[:, None] * near / np.maximum(near.sum(axis=1, keepdims=True), TINY))
    return [*found, np.outer(first, second)]


def mixture(groups: Sequence[Pairs], kinds: Sequence[np.ndarray], expected: np.ndarray | None = None) -> np.ndarray:
    """Return how much of each of some joint distributions explains pairs best.

    Parameters
    ----------
    expected : array, optional
        What counts as seen in `SEEN` pairs already; all alike without it.

    Examples
    --------
    >>> table = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> bins = np.repeat([0, 1], 500)
    >>> half = np.array([0.5, 0.5])
    >>> kinds = gravity([half, half], 1 - np.eye(2))
    >>> mixture([Pairs.of(table, table, bins, bins)], kinds).round(1)  # short trips, or none
    array([0.2, 0.2, 0.2, 0.2, 0.2, 0. , 0. ])
    """
    known = np.full(len(kinds), 1 / len(kinds)) if expected is None else expected
    likely = [np.stack([group.predict(kind) for kind in kinds]) for group in groups]
    weights = known
    for _ in range(MAX_STEPS):
        grown = weights * sum(own @ (group.counts / (weights @ own)) for own, group in zip(likely, groups, strict=True))
        weights = (grown + SEEN * known) / (grown.sum() + SEEN)
    return np.asarray(weights)


def _step(groups: Sequence[Pairs], counts: Sequence[np.ndarray], f: np.ndarray) -> np.ndarray:
    back = sum(group.adjoint(own / group.predict(f)) for group, own in zip(groups, counts, strict=True))
    grown = f * back
    return np.asarray(grown / grown.sum())


def _steps(groups: Sequence[Pairs], start: np.ndarray) -> int:
    """Return after how many steps pairs that were set aside are predicted best."""
    parts = [_thinned(group.counts) for group in groups]
    found = [start] * FOLDS
    scores: list[float] = []
    for step in range(MAX_STEPS):
        score = 0.0
        for fold in range(FOLDS):
            kept = [group.counts - part[fold] for group, part in zip(groups, parts, strict=True)]
            back = np.zeros_like(start)
            for group, own, part in zip(groups, kept, parts, strict=True):
                likely = group.predict(found[fold])
                score += float(part[fold] @ np.log(likely))
                back += group.adjoint(own / likely)
            grown = found[fold] * back
            found[fold] = grown / grown.sum()
        scores.append(score)
        if step >= MIN_STEPS and scores[-1] - scores[step // 2] < WITHIN / FOLDS:
            break
    return int(np.flatnonzero(np.array(scores) >= max(scores) - WITHIN)[0])


def _thinned(counts: np.ndarray) -> list[np.ndarray]:
    """Return counts in parts: each pair is in one of them. Which, does not matter to anybody's privacy."""
    rng = np.random.default_rng(0)
    left, parts = counts.astype(np.int64), []
    for among in range(FOLDS, 1, -1):
        parts.append(rng.binomial(left, 1 / among))
        left = left - parts[-1]
    return [*parts, left]
