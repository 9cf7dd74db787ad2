"""SW, the square wave mechanism for distributions."""

import math

import numpy as np

from geotracs.core.mechanisms.enlarged import Enlarged


class SquareWave(Enlarged):
    """Report a number in [-b, 1 + b] for a secret in [0, 1], within b of it with high probability.

    The published b = (eps e - e + 1) / (2 e (e - 1 - eps)), with e = exp(eps), maximises a bound of the mutual
    information of secret and report: it was made to estimate distributions, not to report single numbers. The window
    is narrower than OGPM's and less often hit. Exactly eps-LDP, see `Enlarged`. On a circle a report beyond an end
    wraps around, so that the window is an arc around the secret. The form that stays inside the interval is
    `Piecewise` with "r-sw", the paper's redesign.

    References
    ----------
    Z. Li, T. Wang, M. Lopuhaä-Zwakenberg, N. Li, B. Škoric: Estimating numerical distributions under local differential
    privacy. SIGMOD 2020.

    Examples
    --------
    >>> wave = SquareWave(1)
    >>> round(float(wave.b), 4)
    0.2561
    >>> round(float(wave.expected_error()), 3), round(float(SquareWave(1, clip=False).expected_error()), 3)
    (0.289, 0.321)
    """

    citation = "Li et al. 2020"
    paper = "Made for distribution estimation; TraCS redesigns it (R-SW), whose error is about twice that of OGPM."
    wraps = True

    @property
    def b(self) -> float | np.ndarray:
        """The published half width of the window."""
        return self.margin

    @staticmethod
    def shape(eps: float) -> tuple[float, float]:
        """Return b, and 2 b / (1 + 2 b)."""
        half = _half_width(eps)
        return half, 2 * half / (1 + 2 * half)


def _half_width(eps: float) -> float:
    if eps < 1e-5:
        return 0.5 - eps / 3
    return (eps + math.expm1(-eps)) / (2 * (math.expm1(eps) - eps))
