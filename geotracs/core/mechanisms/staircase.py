"""The staircase mechanism: groups by distance, equally likely inside, steps down from group to group."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.base import Seen, mean_cost
from geotracs.core.mechanisms.lattice import exp_lower_bound
from geotracs.core.mechanisms.weighted import HEAVIEST, draw, probabilities
from geotracs.core.randomness import Source

CHUNK = 2**18
"""How many pairs of things are looked at at a time."""
SLACK = 1e-12
"""By how much, relatively, the worst ratio stays below exp(eps): far more than the doubles it is computed in lose."""


class Staircase:
    """Report a thing of the nearest group with the largest weight, of the next with a smaller one, and so on.

    Staircase randomized response (Wang et al., 2022), whose weights go down in equal steps. `Stairs` calibrates them
    over the public set, so that all of epsilon is spent, and no more.

    Parameters
    ----------
    eps : float
        Privacy parameter, in (0, 700).
    stairs : Stairs
        The calibration over the public set.

    Examples
    --------
    Four shops in a row, in groups up to 1 away, up to 2, and beyond.

    >>> groups = np.array([[0, 0, 1, 2], [0, 0, 0, 1], [1, 0, 0, 0], [2, 1, 0, 0]])
    >>> stairs = Stairs(lambda rows, columns: groups[np.ix_(rows, columns)], count=4, groups=3)
    >>> Staircase(1.0, stairs).pmf(groups)[:2].round(3)
    array([[0.328, 0.328, 0.224, 0.121],
           [0.271, 0.271, 0.271, 0.186]])
    """

    def __init__(self, eps: float, stairs: "Stairs") -> None:
        self.weights = stairs.weights(eps)
        """The weight of a thing of each group, the nearest first: whole numbers."""

    def draw(self, n: int, rng: Source) -> Source:
        """Return the supply of random words: how many a draw needs depends on the weights."""
        return rng

    def apply(self, x: Seen | np.ndarray, draws: Source) -> np.ndarray:
        """Turn the groups of all things as seen from each secret, and words, into reports: their columns."""
        seen = Seen.of(x)
        return draw(self.weights[seen.table], seen.rows, draws)

    def pmf(self, groups: np.ndarray) -> np.ndarray:
        """Return the probability of each thing, given the groups as seen from a secret, one row per secret."""
        return probabilities(self.weights[groups])

    def expected_error(self, groups: np.ndarray, costs: npt.ArrayLike) -> np.ndarray:
        """Return the mean of the costs of reporting each thing, one row per secret."""
        return mean_cost(self.pmf(groups), costs)


class Stairs:
    """The weights of a staircase for every epsilon, calibrated over a public set.

    The groups differ in size from secret to secret, so that the same weight is not the same probability for all. The
    weights are therefore calibrated over the whole set: the smallest last weight for which nothing is more than
    exp(eps) times likelier from one secret than from another.

    Parameters
    ----------
    groups_of : callable
        ``groups_of(rows, columns)`` returns the groups, 0 for the nearest, of the things ``columns`` as seen from the
        secrets ``rows``: an array of shape (rows, columns). Public, and symmetric: two things see each other in the
        same group.
    count : int
        How many things there are; each of them can be a secret and a report.
    groups : int
        How many groups, at least 2.

    Examples
    --------
    >>> groups = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    >>> stairs = Stairs(lambda rows, columns: groups[np.ix_(rows, columns)], count=3, groups=3)
    >>> weights = stairs.weights(2.0)
    >>> (weights / weights[0]).round(2)
    array([1.  , 0.57, 0.14])
    """

    def __init__(self, groups_of: Callable[[np.ndarray, np.ndarray], np.ndarray], count: int, groups: int) -> None:
        self._groups_of, self._count, self._last = groups_of, count, groups - 1
        every = np.arange(count)
        within = np.empty((count, groups), dtype=np.int64)  # how many things are in each group or a nearer one
        for rows in _chunks(every, count):
            seen = groups_of(rows, every)
            for group in range(groups):
                within[rows, group] = np.count_nonzero(seen <= group, axis=1)
        # The sum of a secret's weights is `last * count * low + height * (high - low)`; only its height is its own.
        height = within[:, :-1].sum(axis=1)
        there = np.diff(within, axis=1, prepend=0) > 0
        self._lowest = self._first_heights(np.argsort(height), height, there)
        self._highest = self._first_heights(np.argsort(-height), height, there)
        self.flat = bool(there[:, 0].all() and not there[:, 1:].any())
        """Whether all things are in the nearest group of all others, so that no report tells anything."""
        self._known: dict[float, np.ndarray] = {}

    def _first_heights(self, order: np.ndarray, height: np.ndarray, there: np.ndarray) -> np.ndarray:
        """Return the height of the first thing in this order that is in each group of each thing; -1 where none is."""
        found, missing = np.full(there.shape, -1), there.copy()
        rows, first, size = np.arange(self._count), 0, 64
        while len(rows):
            columns = order[first : first + size]
            for some in _chunks(rows, len(columns)):
                seen = self._groups_of(some, columns)
                for group in range(self._last + 1):
                    member = seen == group
                    new = np.flatnonzero(member.any(axis=1) & missing[some, group])
                    found[some[new], group] = height[columns[member[new].argmax(axis=1)]]
                    missing[some[new], group] = False
            rows = rows[missing[rows].any(axis=1)]
            first, size = first + size, 2 * size
        return found

    def weights(self, eps: float) -> np.ndarray:
        """Return the weight of a thing of each group, the nearest first: whole numbers."""
        eps = check_eps(eps)
        if eps not in self._known:
            self._known[eps] = self._stairs(self._calibrated(eps))
        return self._known[eps]

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


def _chunks(rows: np.ndarray, columns: int) -> Iterator[np.ndarray]:
    """Cut rows into pieces that make about ``CHUNK`` pairs with the columns."""
    size = max(1, CHUNK // columns)
    for first in range(0, len(rows), size):
        yield rows[first : first + size]
