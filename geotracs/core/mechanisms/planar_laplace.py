"""The planar Laplace mechanism, in floating point."""

import math

import numpy as np

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
    >>> round(float(noise.density(0.0)), 4), float(noise.expected_error)
    (0.6366, 1.0)
    """

    def __init__(self, rate: float | np.ndarray) -> None:
        self.rate = np.asarray(rate, dtype=np.float64)
        if not np.all((self.rate > 0) & np.isfinite(self.rate)):
            raise InputError("`rate` must be greater than 0 and finite.")

    @property
    def expected_error(self) -> float | np.ndarray:
        """The mean length of the noise."""
        return (2 / self.rate)[()]

    def density(self, distance: np.ndarray) -> np.ndarray:
        """Return the probability density of reporting a point at this distance from the secret."""
        return self.rate**2 / (2 * np.pi) * np.exp(-self.rate * np.asarray(distance))

    def add_noise(self, xy: np.ndarray, rng: Source) -> None:
        """Replace each location by its report."""
        # The length of the noise is the sum of two exponential waiting times; no word makes it infinite.
        first, second, turn = ((words(rng, len(xy), np.uint64) + 0.5) / 2.0**64 for _ in range(3))
        with np.errstate(over="ignore"):  # an infinite length is brought back to `FAR`
            length = -(np.log(first) + np.log(second)) / self.rate
            step = 2.0 ** np.round(np.log2(1 / (self.rate * STEPS)))
            for axis, part in enumerate((np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn))):
                xy[:, axis] = np.clip(np.round((xy[:, axis] + length * part) / step) * step, -FAR, FAR)
