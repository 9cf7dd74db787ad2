"""The planar Laplace mechanism, in floating point."""

import math

import numpy as np
import numpy.typing as npt

from geotracs.core.randomness import Source, words
from geotracs.errors import InputError

LONGEST = 130 * math.log(2)
"""The longest noise, times the rate: the sum of two logarithms of uniform numbers that are 2**-65 at least."""
FAR = 1e150
"""Coordinates beyond this are moved there, which is post-processing: their squares would be infinite."""
STEPS = 2**24
"""Into how many steps the scale of the noise is divided: reports are rounded to a lattice of that step."""


class PlanarLaplace:
    """Add noise with a density in proportion to exp(-rate * length) in every direction (Andrés et al., 2013).

    Two locations at a distance d are told apart by a factor of at most exp(rate * d), on paper. **Not exact**: noise
    and sum are computed in doubles. Reports are rounded to a fixed public lattice, so that no last digits tell of the
    secret, and what remains is the rounding inside a cell of the lattice; it is small, and no proof covers it. The
    noise is at most ``LONGEST / rate`` long, about 90 times its scale: what is farther cannot be reported.

    Parameters
    ----------
    rate : float, or array of floats
        Epsilon for each unit of distance: over a region of diameter D, eps / D.

    Examples
    --------
    >>> noise = PlanarLaplace(2.0)
    >>> noise.density([[0.0, 0.0], [0.0, 1.0]], [0.0, 0.0]).round(4), float(noise.expected_error())
    (array([0.6366, 0.0862]), 1.0)
    """

    def __init__(self, rate: float | np.ndarray) -> None:
        self.rate = np.asarray(rate, dtype=np.float64)
        if not np.all((self.rate > 0) & np.isfinite(self.rate)):
            raise InputError("`rate` must be greater than 0 and finite.")

    def expected_error(self, x: npt.ArrayLike | None = None) -> float | np.ndarray:
        """Return the mean length of the noise, which is the same for every secret."""
        mean = (2 / self.rate)[()]
        return mean if x is None else np.broadcast_to(mean, np.shape(x)[:-1]).copy()

    def density(self, y: npt.ArrayLike, x: npt.ArrayLike) -> np.ndarray:
        """Return the probability density of reporting points ``y`` when the secrets are ``x``, both rows of two."""
        step = np.asarray(y, dtype=np.float64) - np.asarray(x, dtype=np.float64)
        return self.rate**2 / (2 * np.pi) * np.exp(-self.rate * np.hypot(step[..., 0], step[..., 1]))

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n locations: three rows of numbers in (0, 1)."""
        draws = np.empty((3, n))
        for row in draws:
            np.divide(words(rng, n, np.uint64) + 0.5, 2.0**64, out=row)
        return draws

    def apply(self, x: np.ndarray, draws: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Turn secrets, an array of shape (n, 2), and draws into reports; into ``out`` if it is given."""
        xy = np.empty((2, len(x))).T if out is None else out
        # The length of the noise is the sum of two exponential waiting times; no word makes it infinite.
        first, second, turn = draws
        with np.errstate(over="ignore"):  # an infinite length is brought back to `FAR`
            length = -(np.log(first) + np.log(second)) / self.rate
            step = 2.0 ** np.round(np.log2(1 / (self.rate * STEPS)))
            for axis, part in enumerate((np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn))):
                xy[:, axis] = np.clip(np.round((x[:, axis] + length * part) / step) * step, -FAR, FAR)
        return xy
