"""Piecewise mechanisms on the unit interval and the unit circle.

The paper's Definitions 3 (direction) and 4 (distance), and the redesigned square wave of its appendix: one mechanism
with two windows.
"""

import math
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.lattice import (
    CELLS,
    WORDS,
    cells_of,
    distinct,
    draw_offsets,
    midpoints,
    spread_offsets,
    threshold,
)
from geotracs.core.randomness import Source, source
from geotracs.errors import InputError, quoted


class Piecewise:
    """Report a number near the secret with high probability, and anywhere else otherwise.

    Exactly ``eps``-LDP on a lattice of ``cells`` cells: every secret has a window of exactly `window` cells that
    holds it and stays inside the domain (or wraps around the circle); the report is uniform in the window with
    probability ``threshold / 2**64`` and uniform outside it otherwise.

    Parameters
    ----------
    eps : float, or array of floats
        Privacy parameter, in (0, 700). An array gives each location its own; `window` and `threshold` are then
        arrays too.
    window : {"ogpm", "r-sw"}
        Which window: OGPM (the paper's), or the redesigned square wave, narrower and less often hit.
    periodic : bool
        True for the circle, where 0 and 1 are the same place.

    Examples
    --------
    The paper's example: epsilon 6 and a direction of pi/6 give the sector [0.119 pi, 0.214 pi), hit with
    probability 0.95.

    >>> direction = Piecewise(6, periodic=True)
    >>> round(direction.window / direction.cells, 4), round(direction.threshold / 2**64, 2)
    (0.0474, 0.95)
    >>> [round(2 * float(end), 3) for end in direction.interval(1 / 12)]
    [0.119, 0.214]
    >>> direction.sample(np.full(3, 1 / 12)).shape
    (3,)
    """

    cells = CELLS

    def __init__(self, eps: float | np.ndarray, window: str = "ogpm", *, periodic: bool = False) -> None:
        check_window(window)
        self.periodic = periodic
        self.eps: float | np.ndarray
        self.window: int | np.ndarray
        self.threshold: int | np.ndarray
        if np.ndim(eps) == 0:
            self.eps = check_eps(eps)
            self.window, self.threshold = _two_levels(self.eps, window)
            return
        self.eps = np.asarray(eps, dtype=np.float64)
        values, which = distinct(self.eps)
        levels = [_two_levels(check_eps(value), window) for value in values.tolist()]
        self.window = np.array([width for width, _ in levels], dtype=np.int64)[which]
        self.threshold = np.array([limit for _, limit in levels], dtype=np.uint64)[which]

    def __repr__(self) -> str:
        domain = "circle" if self.periodic else "interval"
        eps = f"{self.eps:g}" if np.ndim(self.eps) == 0 else f"{np.size(self.eps)} values"
        return f"<Piecewise eps={eps} on the unit {domain}>"

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n locations; the secrets are not needed for it."""
        if np.ndim(self.window) and np.size(self.window) != n:
            raise InputError(f"`eps` holds {np.size(self.window)} values, but {n} draws were asked for.")
        return draw_offsets(n, self.window, self.threshold, rng)

    def apply(self, x: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Turn secrets and draws into reports, in (0, 1); nothing here is random."""
        return midpoints(self._first_cell(x) + draws)

    def sample(self, x: npt.ArrayLike, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """Report each number of ``x``, which must lie in [0, 1]."""
        x = _unit(x)
        return self.apply(x, self.draw(x.size, source(rng)).reshape(x.shape))

    def interval(self, x: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return where the window of ``x`` begins and ends; on a circle the end may exceed 1."""
        first = self._first_cell(_unit(x)).astype(np.int64)
        return first / CELLS, (first + self.window) / CELLS

    has_atoms = False

    @property
    def strata(self) -> tuple[float, ...]:
        """How likely a draw is inside the window, and outside it; for one eps."""
        inside = float(self.threshold / WORDS)
        return inside, 1 - inside

    def spread(self, stratum: int, u: np.ndarray) -> np.ndarray:
        """Return draws that stand for all of a stratum, for numbers spread evenly over [0, 1)."""
        return spread_offsets(stratum, u, int(self.window))

    def density(self, y: npt.ArrayLike, x: npt.ArrayLike) -> np.ndarray:
        """Return the probability density of reporting ``y`` when the secret is ``x``."""
        with np.errstate(over="ignore"):
            inside = cells_of(_unit(y)) - self._first_cell(_unit(x)) < self.window
        return np.where(inside, *self._heights)

    def expected_error(self, x: np.ndarray | None = None, power: int = 1) -> float | np.ndarray:
        """Return the mean of ``|report - x| ** power``, around the circle where there is one.

        Parameters
        ----------
        x : array, optional
            Secrets. Without them the mean over the whole domain is returned.
        power : int
            1 for the mean error, 2 for the mean squared error.

        Examples
        --------
        >>> round(float(Piecewise(4).expected_error()), 4)
        0.0719
        """
        width = self.window / CELLS
        inside, outside = self._heights

        def up_to(distance: Any) -> Any:
            return distance ** (power + 1) / (power + 1)

        if self.periodic:
            both_sides = 2 * (outside * up_to(0.5) + (inside - outside) * up_to(width / 2))
            return both_sides if x is None else np.broadcast_to(both_sides, np.shape(x)).copy()
        if x is None:
            ends = width ** (power + 2) / ((power + 1) * (power + 2))
            near = 2 * (1 - width) * up_to(width / 2) + 2 * ends
            return outside * 2 / ((power + 1) * (power + 2)) + (inside - outside) * near
        x = _unit(x)
        left = np.clip(x - width / 2, 0, 1 - width)
        near = up_to(x - left) + up_to(left + width - x)
        return outside * (up_to(x) + up_to(1 - x)) + (inside - outside) * near

    def _first_cell(self, x: np.ndarray) -> np.ndarray:
        """Return the first cell of each window; 32-bit cells wrap around the end of the lattice by themselves."""
        half = np.uint32(self.window // 2)
        cells = cells_of(x)
        if not self.periodic:
            cells = np.clip(cells, half, np.uint32(CELLS - self.window) + half)
        with np.errstate(over="ignore"):
            return cells - half

    @cached_property
    def _heights(self) -> tuple[float | np.ndarray, float | np.ndarray]:
        # In 64-bit words, 2**64 - T is -T.
        beyond = WORDS - self.threshold if np.ndim(self.threshold) == 0 else -self.threshold
        return (
            self.threshold / float(WORDS) * (CELLS / self.window),
            beyond / float(WORDS) * (CELLS / (CELLS - self.window)),
        )


def _ogpm(eps: float) -> float:
    """(exp(eps/2) - 1) / (exp(eps) - 1), without its cancellation."""
    return 1 / (math.exp(eps / 2) + 1)


def _r_sw(eps: float) -> float:
    """(exp(eps) (eps - 1) + 1) / (exp(eps) - 1)**2, divided through by exp(2 eps)."""
    if eps < 1e-6:
        return 0.5 - eps / 6
    return math.exp(-eps) * (eps + math.expm1(-eps)) / math.expm1(-eps) ** 2


WINDOWS = {"ogpm": _ogpm, "r-sw": _r_sw}


def check_window(window: str) -> None:
    """Raise for an unknown window."""
    if window not in WINDOWS:
        raise InputError(f"`window` must be one of {sorted(WINDOWS)}, got {quoted(window)}.")


@lru_cache(maxsize=4096)
def _two_levels(eps: float, window: str) -> tuple[int, int]:
    width = max(1, round(WINDOWS[window](eps) * CELLS))
    return width, threshold(eps, width)


def _unit(x: npt.ArrayLike) -> np.ndarray:
    x = np.asarray(x, dtype=np.float64)
    if not np.all((x >= 0) & (x <= 1)):
        raise InputError("Numbers for a mechanism on the unit interval must lie in [0, 1].")
    return x
