"""How steeply exponential weights may fall with the distance: all of epsilon, calibrated over a public set."""

import math
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.weighted import HEAVIEST

STEP = math.sqrt(2)
"""The ratio of two neighbouring slopes at which the worst ratio is computed; between them it is bounded."""
STEEPEST, DEEPEST = 2.0**14, 500.0
"""The largest products of a slope with the diameter, and with the distance from a stand-in, that are looked at. With
the second no sum of weights is 0."""
SLACK = 2e-9
"""By how much the worst log-ratio stays below epsilon: more than sums of 2**22 doubles lose."""
COLUMNS, ENTRIES = 2**13, 2**17
"""How many reports, and how many distances, are processed at a time."""

Distances = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Node(NamedTuple):
    """What is known at one slope, by context: logarithms of the sums, their derivatives, and the worst log-ratio."""

    slope: float
    logs: np.ndarray
    derivatives: np.ndarray
    worst: np.ndarray


class Slopes:
    """Find the largest slope a for which weights exp(-a * distance) are ``eps``-LDP over a public set of things.

    Every thing can be a secret and a report. A *context* is a public subset: there the secrets and the reports are its
    members. Let L(s) be the logarithm of the sum of the weights of a secret s. The report y is more likely from s than
    from t by a factor whose logarithm is ``a (d(t, y) - d(s, y)) + L(t) - L(s)``. By the triangle inequality this is at
    most ``a d(s, t) + L(t) - L(s)``, and the report y = s reaches it. So the worst log-ratio is a maximum over pairs.

    Large sets: the maximum is taken over stand-ins. A secret within c of its stand-in has distances and, divided by a,
    an L that differ by at most c; so ``2 a c`` for each of the two secrets is added, and the bound holds for all.

    Between two slopes at which the worst log-ratio is known: L is convex in a, thus L(t) is at most its chord, and L(s)
    is at least the higher one of its two tangents. The worst log-ratio is at most its own chord plus the largest gap
    between a chord and its tangents.

    The weights that are drawn are whole numbers, ``floor(HEAVIEST * exp(-a * distance))``. Rounding changes the ratio
    of two weights by a factor of at most ``1 / (1 - exp(eps) / HEAVIEST)``, since no distance times a exceeds eps, and
    the ratio of two sums by at most ``1 / (1 - count / HEAVIEST)``. Both are taken off epsilon first.

    Parameters
    ----------
    points : array of shape (count, 2)
        The things.
    secrets : array of int, shape (count,)
        The stand-in of each thing, as a number from 0 on.
    stand_ins : array of int
        Which thing each stand-in is.
    covering : array of float, as long as ``stand_ins``
        How far the things are from their stand-in at most; 0 where all things stand for themselves.
    diameter : float
        The largest distance between two things, or more.
    distances : callable
        ``distances(rows, columns)`` between points.
    allowed : callable, optional
        ``allowed(columns)`` says which of the things of a slice are members of each context, one row per context.
        Without it there is one context, the whole set.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    >>> every = np.arange(3)
    >>> between = lambda a, b: np.hypot(*(a[:, None] - b).transpose(2, 0, 1))
    >>> Slopes(points, every, every, np.zeros(3), 2.0, between).of(2.0).round(2)
    array([0.99])
    """

    def __init__(
        self,
        points: np.ndarray,
        secrets: np.ndarray,
        stand_ins: np.ndarray,
        covering: np.ndarray,
        diameter: float,
        distances: Distances,
        allowed: Callable[[slice], np.ndarray] | None = None,
    ) -> None:
        self._points, self._reports, self._covering = points[stand_ins], points, covering
        self._diameter, self._distances, self._allowed = diameter, distances, allowed
        self._inside = np.ones((1, len(stand_ins)), dtype=bool)
        if allowed is not None:
            self._inside = np.zeros((len(allowed(slice(0, 1))), len(stand_ins)), dtype=bool)
            for part in _slices(len(points), COLUMNS):
                context, column = np.nonzero(allowed(part))
                self._inside[context, secrets[part][column]] = True
        self._nodes: dict[int, Node] = {}
        self._known: dict[float, np.ndarray] = {}
        self._lock = threading.Lock()

    def of(self, eps: float) -> np.ndarray:
        """Return the slope of each context; 0 where none was found, so that the classical one is the best there is."""
        eps = check_eps(eps)
        with self._lock:
            if eps not in self._known:
                self._known[eps] = self._calibrated(eps)
            return self._known[eps]

    def _calibrated(self, eps: float) -> np.ndarray:
        limit = eps - _lost(eps, len(self._reports))
        if limit <= 0 or not 1e-140 < self._diameter < 1e140:
            return np.zeros(len(self._inside))
        start = math.floor(2 * math.log2(limit))  # where distances alone stay below the limit
        best, number = np.full(len(self._inside), start - 5), start
        while (fits := self._node(number).worst <= limit).any() and self._sums_up(number + 1):
            best[fits] = number
            number += 1
        for lower in range(start - 1, start - 5, -1):
            if (best > start - 5).all():
                break
            best[(best <= start - 5) & (self._node(lower).worst <= limit)] = lower
        slopes = np.zeros(len(best))
        for number in np.unique(best[best > start - 5]).tolist():
            own = best == number
            slopes[own] = self._between(number, limit)[own]
        return slopes

    def _sums_up(self, number: int) -> bool:
        """Return whether weights of this slope can be summed up in doubles."""
        steepness = STEP**number
        return steepness < STEEPEST and steepness * self._covering.max() < DEEPEST * self._diameter

    def _between(self, number: int, limit: float) -> np.ndarray:
        """Return slopes from that of a node on which are private, where it is private itself."""
        low, high = self._node(number), self._node(number + 1)
        width = high.slope - low.slope
        chord = (high.logs - low.logs) / width
        left, right = np.maximum(chord - low.derivatives, 0), np.maximum(high.derivatives - chord, 0)
        gaps = width * left * right / np.maximum(left + right, 1e-300)
        gap = np.where(self._inside, gaps, 0).max(axis=1)
        part = (limit - gap - low.worst) / np.maximum(high.worst - low.worst, 1e-300)
        return low.slope + width * np.clip(part, 0, 1 - 1e-9)

    def _node(self, number: int) -> Node:
        if number not in self._nodes:
            slope = STEP**number / self._diameter
            sums, moments = self._sums(slope)
            logs = np.log(np.maximum(sums, 1e-300))
            self._nodes[number] = Node(slope, logs, -moments / np.maximum(sums, 1e-300), self._worst(slope, logs))
        return self._nodes[number]

    def _sums(self, slope: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of the weights, and of weights times distances, by context and stand-in."""
        sums, moments = np.zeros((2, *self._inside.shape))
        for columns in _slices(len(self._reports), COLUMNS):
            allowed = None if self._allowed is None else self._allowed(columns).astype(np.float64)
            for rows in _slices(len(self._points), ENTRIES // (columns.stop - columns.start)):
                away = self._distances(self._points[rows], self._reports[columns])
                weights = np.exp(-slope * away)
                away *= weights
                for total, terms in ((sums, weights), (moments, away)):
                    total[:, rows] += terms.sum(axis=1) if allowed is None else allowed @ terms.T
        return sums, moments

    def _worst(self, slope: float, logs: np.ndarray) -> np.ndarray:
        """Return the worst log-ratio of two secrets of each context."""
        high = np.where(self._inside, logs + 2 * slope * self._covering, -np.inf)
        low = np.where(self._inside, logs - 2 * slope * self._covering, np.inf)
        worst = np.full(len(logs), -np.inf)
        for rows in _slices(len(self._points), ENTRIES // len(self._points)):
            away = slope * self._distances(self._points[rows], self._points)
            for context in np.flatnonzero(self._inside[:, rows].any(axis=1)):
                most = ((away + high[context]).max(axis=1) - low[context, rows]).max()
                worst[context] = max(worst[context], most)
        return worst


def _lost(eps: float, count: int) -> float:
    """Return what whole numbers and doubles may add to a log-ratio of weights; infinite where they say too little."""
    light, few = math.exp(eps) / HEAVIEST, count / HEAVIEST
    return SLACK - math.log1p(-light) - math.log1p(-few) if light < 0.5 else math.inf


def _slices(n: int, size: int) -> Iterator[slice]:
    for first in range(0, n, max(size, 1)):
        yield slice(first, min(first + max(size, 1), n))
