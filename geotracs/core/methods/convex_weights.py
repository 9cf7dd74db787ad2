"""The best weights of places: a convex problem, and a descent that solves it.

The problem, for places of public masses that sum to 1, and ``odds = exp(eps) - 1``: weights w >= 0 and a window of K
tokens that minimise

    sum over y of w_y mean(d(x, y))  +  odds * mean over x of (the K nearest tokens of x, each by its distance),

where ``sum(w) + odds * K = 1``. Every eps-LDP report of places is of this form: w_y is the smallest probability of y
over all secrets, what exceeds it is at most ``odds * w_y``, and is best spent on the nearest. So the minimum is that of
all eps-LDP methods over the places. The objective is convex in (w, K) together, and homogeneous: the smallest entry of
its gradient is a lower bound.

Only additions, multiplications, divisions and roots are used, in a fixed order: the same places get the same weights.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

CHUNK = 2**17
"""How many distances are processed at a time: few enough to stay in the processor's cache."""
MAX_LISTED = 2**22
"""How many neighbours are listed in all; longer lists are not made."""
SHRINK = 5.0
"""The steps of a descent shrink to exp(-SHRINK) of the first."""
MOMENTUM = 0.7
"""The share of earlier gradients in the direction of a step, which calms the kinks of the objective."""
NEGLIGIBLE = 1e-4
"""A weight below this share of the mean weight is given up when the lists are made anew."""


class Weights(NamedTuple):
    """Weights of candidates, and the window they share, in the units of ``sum(w) + odds * window = 1``."""

    w: np.ndarray
    window: float


class Gradient(NamedTuple):
    """The objective, and its derivatives with respect to the weights and to the window's share ``odds * K``."""

    error: float
    weights: np.ndarray
    window: float


class Lists:
    """The nearest candidates of each secret, in order of distance, as many as the windows need.

    Parameters
    ----------
    secrets : array of shape (s, dim)
    masses : array of shape (s,)
        How much each secret counts; their sum is 1.
    candidates : array of shape (c, dim)
        The places that may be reported.
    means : array of shape (c,)
        Mean distance of each candidate from the secrets.
    length : int
        How many candidates of each secret to list at first.
    """

    def __init__(
        self,
        secrets: np.ndarray,
        masses: np.ndarray,
        candidates: np.ndarray,
        means: np.ndarray,
        length: int,
        metric: "Metric",
    ) -> None:
        self.secrets, self.masses, self.candidates, self.means, self.metric = secrets, masses, candidates, means, metric
        every = np.concatenate([secrets, candidates])
        self._far = float(metric.between(every.min(axis=0), every.max(axis=0)))
        self._reach = min(length, len(candidates))
        self._list(self._reach)

    def keep(self, kept: np.ndarray, length: int) -> "Lists":
        """Return the same with some of the candidates only."""
        return Lists(self.secrets, self.masses, self.candidates[kept], self.means[kept], length, self.metric)

    def gradient(self, weights: Weights, odds: float) -> Gradient:
        """Return the objective and its gradient; looks farther when a window runs short."""
        s, c = len(self.secrets), len(self.candidates)
        edges, saved, reached = np.empty(s), np.zeros(c), 0
        for part in parts(s, self._reach):
            order, distance = self.order[part, : self._reach], self.distance[part, : self._reach]
            up_to = np.cumsum(np.take(weights.w, order), axis=1)
            inside = up_to < weights.window
            if self._reach == c:
                inside[:, -1] = False  # a window of all places ends at the last one, whatever rounding says
            elif inside[:, -1].any() and self._grow():
                return self.gradient(weights, odds)
            counts = inside.sum(axis=1)
            edge = distance[np.arange(len(order)), np.minimum(counts, self._reach - 1)]
            edges[part] = edge = np.where(inside[:, -1], self._far, edge)
            gain = (edge[:, None] - distance) * self.masses[part, None]
            saved += np.bincount(order[inside], weights=gain[inside], minlength=c)
            reached = max(reached, int(counts.max()))
        self._look(min(self._reach, reached + reached // 4 + 8))
        slopes = self.means - odds * saved
        level = (self.masses * edges).sum()
        return Gradient((weights.w * slopes).sum() + odds * weights.window * level, slopes, level)

    def _grow(self) -> bool:
        """Look at twice as many of each list; not if they grow too long in all.

        Windows that run short are then filled from as far as can be: what is minimised is an upper bound, as convex.
        """
        reach = min(2 * self._reach, len(self.candidates))
        if reach > self.order.shape[1] and reach * len(self.secrets) > MAX_LISTED:
            return False
        self._look(reach)
        return True

    def _look(self, reach: int) -> None:
        """Look at the given number of entries of each list, and make the lists longer if need be."""
        self._reach = min(reach, len(self.candidates))
        if self._reach > self.order.shape[1]:
            self._list(self._reach)

    def _list(self, length: int) -> None:
        c = len(self.candidates)
        length = min(length, c)
        if 4 * length < c:
            _, order = cKDTree(self.candidates).query(self.secrets, k=np.arange(1, length + 1))
            self.order = order.astype(np.int64)
        else:
            near = [self._sorted(part, length) for part in parts(len(self.secrets), c)]
            self.order = np.concatenate(near).astype(np.int64)
        self.distance = np.concatenate(
            [
                self.metric.between(self.secrets[part, None], self.candidates[self.order[part]])
                for part in parts(len(self.secrets), length)
            ]
        )

    def _sorted(self, part: slice, length: int) -> np.ndarray:
        square = _squares(self.secrets[part, None], self.candidates)
        if length == len(self.candidates):
            return np.argsort(square, axis=1, kind="stable")
        near = np.sort(np.argpartition(square, length - 1, axis=1)[:, :length], axis=1)
        return np.take_along_axis(near, np.argsort(np.take_along_axis(square, near, axis=1), axis=1, kind="stable"), 1)


class Metric(NamedTuple):
    """How far points are apart: straight, or along a great circle where they are points of the unit sphere."""

    on_sphere: bool

    def between(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return the distances of points, coordinates along the last axis."""
        straight = np.sqrt(_squares(one, other))
        return arcs(straight) if self.on_sphere else straight

    def means(self, secrets: np.ndarray, masses: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the mean distance of each point from the secrets."""
        found = [
            (self.between(points[part, None], secrets) * masses).sum(axis=1)
            for part in parts(len(points), len(secrets))
        ]
        return np.concatenate(found)


def descend(lists: Lists, weights: Weights, odds: float, steps: int, first: float) -> tuple[np.ndarray, Weights]:
    """Return the candidates that keep weight on the way down, and their best weights.

    Exponentiated gradient with momentum. The objective has kinks, so the steps have a given length, which shrinks
    geometrically, and the best point on the way is kept.
    """
    own, best, lowest = np.arange(len(lists.candidates)), weights, np.inf
    best_own, direction, size = own, np.zeros(len(own) + 1), first
    for step in range(steps):
        at = lists.gradient(weights, odds)
        if at.error < lowest:
            lowest, best, best_own = at.error, weights, own
        away = np.append(at.weights, at.window) - at.error
        direction = MOMENTUM * direction + (1 - MOMENTUM) * away
        spread = np.sqrt((weights.w * away[:-1] ** 2).sum() / weights.w.sum())
        if not spread > 0:
            break
        size *= 1 - SHRINK / steps
        factors = exp_like(np.clip(direction * (-size / spread), -1, 1))
        weights = normalised(Weights(weights.w * factors[:-1], weights.window * factors[-1]), odds)
        if step % 50 == 49:
            kept = np.flatnonzero(weights.w > NEGLIGIBLE * weights.w.mean())
            if 4 * len(kept) < 3 * len(own):
                lists = lists.keep(kept, lists.order.shape[1] * len(kept) // len(own) + 8)
                own, direction = own[kept], np.append(direction[kept], direction[-1])
                weights = normalised(Weights(weights.w[kept], weights.window), odds)
    return best_own, best


def normalised(weights: Weights, odds: float) -> Weights:
    """Return the same weights and window in the units of the problem."""
    total = weights.w.sum() + odds * weights.window
    return Weights(weights.w / total, float(weights.window / total))


def exp_like(z: np.ndarray) -> np.ndarray:
    """Return nearly exp(z) for small z, by multiplications alone, so that every processor finds the same.

    >>> exp_like(np.array([0.0, 0.5])).round(2)
    array([1.  , 1.64])
    """
    power = 1 + z / 16
    for _ in range(4):
        power = power * power
    return power


def arcs(chords: np.ndarray) -> np.ndarray:
    """Return the great-circle distances on the unit sphere from the straight ones, by roots and a series.

    >>> arcs(np.array([0.0, 2**0.5, 2.0])).round(9)
    array([0.        , 1.57079633, 3.14159265])
    """
    sine = np.minimum(chords / 2, 1.0)
    for _ in range(3):  # halve the angle: the series needs small ones
        sine = sine / np.sqrt(2 * (1 + np.sqrt(1 - sine * sine)))
    square, series = sine * sine, np.zeros_like(sine)
    for n in range(9, 0, -1):
        series = (series + 1 / (2 * n + 1)) * square * ((2 * n - 1) / (2 * n))
    return 16 * sine * (1 + series)


def _squares(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    square = (one[..., 0] - other[..., 0]) ** 2
    for axis in range(1, one.shape[-1]):
        square += (one[..., axis] - other[..., axis]) ** 2
    return square


def parts(rows: int, columns: int) -> Iterator[slice]:
    """Cut rows into slices of about ``CHUNK`` entries."""
    size = max(1, CHUNK // columns)
    for first in range(0, rows, size):
        yield slice(first, min(first + size, rows))
