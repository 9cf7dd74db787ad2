"""k-RR over the sectors of a circle, and uniform inside the reported one."""

import numpy as np
import numpy.typing as npt

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.krr import check_k
from geotracs.core.mechanisms.lattice import CELLS, WORDS, cells_of, draw_offsets, midpoints, spread_offsets, threshold
from geotracs.core.randomness import Source, source

MAX_SECTORS = 2**16


class Sectors:
    """Report a direction in the secret's own sector with high probability, and in any other otherwise.

    The paper's strawman: the sectors are fixed, while the window of `Piecewise` is centred on the secret. Exactly
    ``eps``-LDP, since both draw the same two levels on the lattice: every secret has a window of `window` cells, here
    its sector. (The few cells that ``k`` equal sectors leave over have a window around the end of the circle.)

    Parameters
    ----------
    eps : float, or array of floats
        Privacy parameter, in (0, 700).
    k : int
        Number of sectors, from 2 to 2**16.

    Examples
    --------
    >>> direction = Sectors(4, k=6)
    >>> round(direction.threshold / 2**64, 2)
    0.92
    >>> direction.density([0.05, 0.5], 0.1).round(3)
    array([5.497, 0.101])
    >>> direction.sample(np.full(3, 0.1)).shape
    (3,)
    """

    def __init__(self, eps: float | np.ndarray, k: int) -> None:
        self.window = CELLS // check_k(k, most=MAX_SECTORS)
        self.threshold: int | np.ndarray
        if np.ndim(eps) == 0:
            self.threshold = threshold(check_eps(eps), self.window)
            return
        distinct, which = np.unique(np.asarray(eps, dtype=np.float64), return_inverse=True)
        limits = [threshold(check_eps(float(value)), self.window) for value in distinct]
        self.threshold = np.array(limits, dtype=np.uint64)[which]

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n directions; the secrets are not needed for it."""
        return draw_offsets(n, self.window, self.threshold, rng)

    def apply(self, x: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Turn secrets, as parts of a turn, and draws into reports; nothing here is random."""
        return midpoints(self._first_cell(x) + draws)

    def sample(self, x: npt.ArrayLike, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """Report each direction of ``x``, a part of a turn in [0, 1]."""
        x = np.asarray(x, dtype=np.float64)
        return self.apply(x, self.draw(x.size, source(rng)).reshape(x.shape))

    def interval(self, x: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return where the sector of ``x`` begins and ends."""
        first = self._first_cell(np.asarray(x)).astype(np.int64)
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
            inside = cells_of(np.asarray(y)) - self._first_cell(np.asarray(x)) < self.window
        return np.where(inside, *self._heights)

    def expected_error(self, x: npt.ArrayLike | None = None) -> float | np.ndarray:
        """Return the mean of the distance around the circle, in turns; without secrets, the mean over all of them.

        The few cells that equal sectors leave over are not counted.

        >>> round(float(Sectors(4, k=6).expected_error()), 4)
        0.0751
        """
        width = self.window / CELLS
        high, low = self._heights
        if x is None:
            near: float | np.ndarray = width**2 / 3  # two directions of one sector are a third of it apart
        else:
            before = np.asarray(x, dtype=np.float64) % width
            near = (before**2 + (width - before) ** 2) / 2
        return low / 4 + (high - low) * near

    @property
    def _heights(self) -> tuple[float | np.ndarray, float | np.ndarray]:
        # In 64-bit words, 2**64 - T is -T.
        beyond = WORDS - self.threshold if np.ndim(self.threshold) == 0 else -self.threshold
        return (
            self.threshold / float(WORDS) * (CELLS / self.window),
            beyond / float(WORDS) * (CELLS / (CELLS - self.window)),
        )

    def _first_cell(self, x: np.ndarray) -> np.ndarray:
        cells = cells_of(x)
        return cells - cells % np.uint32(self.window)
