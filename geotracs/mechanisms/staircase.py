"""The staircase mechanism: groups by distance, equally likely inside, steps down from group to group."""

import math
from collections.abc import Callable

import numpy as np

from geotracs.budget import check_eps
from geotracs.mechanisms.lattice import exp_lower_bound
from geotracs.mechanisms.weighted import HEAVIEST, probabilities

CHUNK = 2**18
"""How many pairs of things are looked at at a time."""
SLACK = 1e-12
"""By how much, relatively, the worst ratio stays below exp(eps): far more than the doubles it is computed in lose."""


class Staircase:
    """Report a thing of the nearest group with the largest weight, of the next with a smaller one, and so on.

    Staircase randomized response (Wang et al., 2022), whose weights go down in equal steps. The groups differ in size
    from secret to secret, so that the same weight is not the same probability for all. The weights are therefore
    calibrated over the whole public set: the smallest last weight for which nothing is more than exp(eps) times
    likelier from one secret than from another. So all of epsilon is spent, and no more.

    Parameters
    ----------
    rows : callable
        Returns the groups, counted from the nearest, of all things as seen from the secrets of a slice: an array of
        shape (secrets, count). Public, and symmetric: two things see each other in the same group.
    count : int
        How many things there are; each of them can be a secret and a report.
    groups : int
        How many groups, at least 2.

    Examples
    --------
    Four shops in a row, in groups up to 1 away, up to 2, and beyond.

    >>> groups = np.array([[0, 0, 1, 2], [0, 0, 0, 1], [1, 0, 0, 0], [2, 1, 0, 0]])
    >>> mechanism = Staircase(lambda some: groups[some], count=4, groups=3)
    >>> mechanism.pmf(groups, eps=1.0)[:2].round(3)
    array([[0.328, 0.328, 0.224, 0.121],
           [0.271, 0.271, 0.271, 0.186]])
    """

    def __init__(self, rows: Callable[[slice], np.ndarray], count: int, groups: int) -> None:
        self._count, self._last = count, groups - 1
        size = max(1, CHUNK // count)
        parts = [slice(first, min(first + size, count)) for first in range(0, count, size)]
        # The sum of a secret's weights is `last * count * low + height * (high - low)`; only its height is its own.
        height = np.concatenate([(self._last - rows(part).astype(np.int64)).sum(axis=1) for part in parts])
        order = np.argsort(height)
        self._lowest, self._highest = np.full((2, count, groups), -1)
        for part in parts:
            seen = rows(part)[:, order]
            for group in range(groups):
                member = seen == group
                some = member.any(axis=1)
                first, last = member.argmax(axis=1), count - 1 - member[:, ::-1].argmax(axis=1)
                self._lowest[part, group] = np.where(some, height[order[first]], -1)
                self._highest[part, group] = np.where(some, height[order[last]], -1)
        self._known: dict[float, np.ndarray] = {}

    def weights(self, eps: float) -> np.ndarray:
        """Return the weight of a thing of each group, the nearest first: whole numbers."""
        eps = check_eps(eps)
        if eps not in self._known:
            self._known[eps] = self._stairs(self._calibrated(eps))
        return self._known[eps]

    def pmf(self, groups: np.ndarray, eps: float) -> np.ndarray:
        """Return the probability of each thing, given the groups as seen from a secret, one secret a row."""
        return probabilities(self.weights(eps)[groups])

    def worst_ratio(self, low: int) -> float:
        """Return how much likelier one thing can be from one secret than from another, with this last weight."""
        stairs = self._stairs(low).astype(np.float64)
        top, bottom = stairs[0] / self._last, stairs[-1] / self._last
        there = self._lowest >= 0
        base = self._last * self._count * bottom
        likeliest = np.where(there, stairs / (base + self._lowest * (top - bottom)), 0).max(axis=1)
        unlikeliest = np.where(there, stairs / (base + self._highest * (top - bottom)), np.inf).min(axis=1)
        return float((likeliest / unlikeliest).max())

    def _calibrated(self, eps: float) -> int:
        """Return the smallest last weight that is private, by bisection; the top itself always is."""
        limit = math.exp(eps) * (1 - SLACK)
        too_low, low = max(1, math.ceil(self._top / exp_lower_bound(eps))) - 1, self._top
        while low - too_low > 1:
            middle = (low + too_low) // 2
            too_low, low = (too_low, middle) if self.worst_ratio(middle) <= limit else (middle, low)
        return low

    @property
    def _top(self) -> int:
        return HEAVIEST // self._last

    def _stairs(self, low: int) -> np.ndarray:
        step = np.arange(self._last + 1)
        return self._top * (self._last - step) + low * step
