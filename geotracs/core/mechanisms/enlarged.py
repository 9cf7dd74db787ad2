"""Two-level mechanisms whose reports may lie beyond the domain of the secrets."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from geotracs.core.mechanisms.lattice import (
    CELLS,
    WORDS,
    cells_of,
    draw_offsets,
    midpoints,
    spread_offsets,
    threshold,
    two_level_ratio,
)
from geotracs.core.mechanisms.unit import OnUnit, check_unit
from geotracs.core.randomness import Source
from geotracs.errors import InputError

WIDEST = 1e100
"""The largest margin, so that its cube is finite: with it epsilon is as good as none."""
ENDS = (0.0, 1.0)


class Enlarged(OnUnit):
    """Report a number in a window with high probability, and anywhere else in an enlarged domain otherwise.

    Exactly ``eps``-LDP on a lattice: the enlarged domain, from ``-margin`` to ``1 + margin``, is 2**32 cells. Every
    secret has a window of exactly `window` of them, which slides from the first cells to the last as the secret goes
    from 0 to 1. The report is uniform in the window with probability ``threshold / 2**64`` and uniform outside it
    otherwise.

    What lies beyond the domain is moved to its nearest end. That is post-processing, and a report that is exactly 0
    or 1 was moved; the density there is the probability of that. ``clip=False`` returns the published reports
    instead, whose mean (PM) or distribution (SW) estimates are built on. The published window is kept because windows
    that stay inside the domain are other mechanisms, which `Piecewise` has ("ogpm", "r-sw").

    A named mechanism is a subclass that says its margin and its window.

    Parameters
    ----------
    eps : float, or array of floats
        Privacy parameter, in (0, 700). An array gives each location its own.
    periodic : bool
        True for the circle. None of these was published for it. It is cut open at 0, and what lies beyond the ends is
        brought back as the subclass says.
    clip : bool
        Whether reports are moved into the domain.
    """

    per_location = ("margin", "window", "threshold")
    wraps = False
    """Whether on a circle a report beyond the ends wraps around, instead of moving to the end."""

    def __init__(self, eps: float | np.ndarray, *, periodic: bool = False, clip: bool = True) -> None:
        super().__init__(eps, periodic=periodic)
        if periodic and not clip:
            raise InputError("`clip=False` is for the interval: a circle has nothing beyond its ends.")
        self.clip = bool(clip)
        levels = [_levels(self.shape, value) for value in self._each.distinct]
        self.margin: float | np.ndarray = self._each.spread([margin for margin, _, _ in levels])
        self.window: int | np.ndarray = self._each.spread(np.array([width for _, width, _ in levels], dtype=np.int64))
        self.threshold: int | np.ndarray
        if self._each.which is None:
            self.margin, self.window, self.threshold = levels[0]
        else:
            self.threshold = self._each.spread(np.array([limit for _, _, limit in levels], dtype=np.uint64))

    @staticmethod
    def shape(eps: float) -> tuple[float, float]:
        """Return the margin, and which part of the enlarged domain the window is."""
        raise NotImplementedError

    @property
    def has_atoms(self) -> bool:
        """Whether reports are moved to the ends of the domain, which then have a probability of their own."""
        return self.clip and not (self.periodic and self.wraps)

    @property
    def strata(self) -> tuple[float, ...]:
        """How likely a draw is inside the window, and outside it; for one eps."""
        inside = float(self.threshold / WORDS)
        return inside, 1 - inside

    def spread(self, stratum: int, u: np.ndarray) -> np.ndarray:
        """Return draws that stand for all of a stratum, for numbers spread evenly over [0, 1)."""
        return spread_offsets(stratum, u, int(self.window))

    def worst_ratio(self) -> Fraction:
        """Return how much likelier a report can be for one secret than for another; for one eps."""
        return two_level_ratio(int(self.threshold), int(self.window))

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n locations; the secrets are not needed for it."""
        self._each.check(n)
        return draw_offsets(n, self.window, self.threshold, rng)

    def apply(self, x: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Turn secrets and draws into reports; nothing here is random."""
        cell = (self._first_cell(np.asarray(x)) + draws).astype(np.uint32)  # 32 bits wrap around the end of the lattice
        return self._bring_back(midpoints(cell) * self._length - self.margin)

    def interval(self, x: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return where the window of ``x`` begins and ends, before anything is moved into the domain."""
        first = self._first_cell(check_unit(x))
        begin, end = (cell / CELLS * self._length - self.margin for cell in (first, first + self.window))
        return begin, end

    def density(self, y: npt.ArrayLike, x: npt.ArrayLike) -> np.ndarray:
        """Return the probability density of reporting ``y`` when the secret is ``x``.

        At an end to which reports are moved it is the probability of that end.
        """
        begin, end = self.interval(x)
        if not self.clip:
            return self._published(np.asarray(y, dtype=np.float64), begin, end)
        y = check_unit(y)
        if self.periodic and self.wraps:
            return sum((self._published(y + turn, begin, end) for turn in (-1, 0, 1)), start=np.zeros(()))
        inside, outside = self._heights
        below = outside * self.margin + (inside - outside) * (np.minimum(end, 0) - np.minimum(begin, 0))
        above = outside * self.margin + (inside - outside) * (np.maximum(end, 1) - np.maximum(begin, 1))
        at_ends = (below + above, below + above) if self.periodic else (below, above)
        moved = np.where(y == 0, *np.broadcast_arrays(at_ends[0], at_ends[1]))
        return np.where((y == 0) | (y == 1), moved, self._published(y, begin, end))

    def expected_error(self, x: np.ndarray | None = None, power: int = 1) -> float | np.ndarray:
        """Return the mean of ``|report - x| ** power``, around the circle where there is one.

        Parameters
        ----------
        x : array, optional
            Secrets. Without them the mean over the whole domain is returned.
        power : int
            1 for the mean error, 2 for the mean squared error.
        """
        if x is None:
            if self._each.which is None:
                return self._mean_over_secrets(power)
            each = [type(self)(eps, periodic=self.periodic, clip=self.clip) for eps in self._each.distinct]
            return self._each.spread([one._mean_over_secrets(power) for one in each])
        x = check_unit(x)
        begin, end = self.interval(x)
        inside, outside = self._heights
        everywhere = self._up_to(1 + self.margin, x, power) - self._up_to(-self.margin, x, power)
        near = self._up_to(end, x, power) - self._up_to(begin, x, power)
        return outside * everywhere + (inside - outside) * near

    @property
    def _length(self) -> float | np.ndarray:
        return 1 + 2 * self.margin

    @property
    def _heights(self) -> tuple[float | np.ndarray, float | np.ndarray]:
        # In 64-bit words, 2**64 - T is -T.
        beyond = WORDS - self.threshold if np.ndim(self.threshold) == 0 else -self.threshold
        inside = self.threshold / float(WORDS) * (CELLS / self.window)
        return inside / self._length, beyond / float(WORDS) * (CELLS / (CELLS - self.window)) / self._length

    def _first_cell(self, x: np.ndarray) -> np.ndarray:
        # Both factors are below 2**32 + 1, and the product is at most 2**32 * (2**32 - 1).
        positions = np.asarray(CELLS - self.window, dtype=np.uint64)
        return (cells_of(x).astype(np.uint64) * positions >> np.uint64(32)).astype(np.int64)

    def _bring_back(self, reports: np.ndarray) -> np.ndarray:
        if not self.clip:
            return reports
        if self.periodic:
            return (reports if self.wraps else np.clip(reports, *ENDS)) % 1
        return np.clip(reports, *ENDS)

    def _published(self, y: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return the density before anything is moved, which is 0 beyond the margin."""
        possible = (y >= -self.margin) & (y <= 1 + self.margin)
        return np.where(possible, np.where((y >= begin) & (y < end), *self._heights), 0.0)

    def _up_to(self, y: np.ndarray | float, x: np.ndarray, power: int) -> np.ndarray:
        """Return the integral of the error from the secret to y; beyond an end the error is that of the end."""
        y = np.asarray(y, dtype=np.float64)
        moves = self.clip and not (self.periodic and self.wraps)
        there = np.clip(y, *ENDS) if moves else y
        step = there - x
        turns = np.round(step) if self.periodic else 0.0
        rest = step - turns
        whole = turns * 2 * 0.5 ** (power + 1) / (power + 1)
        return whole + np.sign(rest) * np.abs(rest) ** (power + 1) / (power + 1) + (y - there) * np.abs(rest) ** power

    def _mean_over_secrets(self, power: int) -> float:
        """Integrate over the secrets, exactly: between the kinks the error is a polynomial."""
        begin, end = self.interval(np.array(ENDS))
        kinks = {0.0, 0.5, 1.0}
        for line in (begin, end, np.full(2, -self.margin), np.full(2, 1 + self.margin)):
            for level in (0.0, 1.0):
                kinks |= _crossings(line[0] - level, line[1] - level)
            for half in range(-3, 4):
                kinks |= _crossings(line[0] - half / 2, line[1] - 1 - half / 2)
        edges = np.array(sorted(kinks))
        nodes, weights = np.polynomial.legendre.leggauss(power + 2)
        widths = np.diff(edges)[:, None] / 2
        errors = self.expected_error(edges[:-1, None] + widths * (nodes + 1), power)
        return float(np.sum(errors * widths * weights))


def _crossings(first: float, last: float) -> set[float]:
    """Return where a line from ``first`` at 0 to ``last`` at 1 is zero, inside."""
    return {first / (first - last)} if first * last < 0 else set()


@lru_cache(maxsize=4096)
def _levels(shape: Callable[[float], tuple[float, float]], eps: float) -> tuple[float, int, int]:
    margin, part = shape(eps)
    width = min(max(1, round(part * CELLS)), CELLS // 2)
    return min(margin, WIDEST), width, threshold(eps, width)


def inverse(x: float) -> float:
    """Return 1 / x, but never infinity.

    >>> inverse(4.0), inverse(0.0)
    (0.25, 1e+100)
    """
    return WIDEST if math.isinf(x) or x < 1 / WIDEST else 1 / x
