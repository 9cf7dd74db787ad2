"""The truncated Gaussian mechanism."""

import numpy as np

from geotracs.core.mechanisms.stepped import Stepped


class TruncatedGaussian(Stepped):
    """Report a number with a density in proportion to exp(-size * distance**2), cut off at the ends of the interval.

    Also called bounded Gaussian. Unbounded Gaussian noise is never purely eps-LDP, because the ratio of two densities
    grows without limit. On a bounded domain it has a largest value, so pure eps-LDP holds; `size`, which is half the
    inverse of the variance in units of the largest distance, is the largest one that the integers allow. See `Stepped`
    for the exact draw. Most of epsilon is spent on far pairs, and near the secret the density is almost flat.

    References
    ----------
    B. Chen, M. Hale: The bounded Gaussian mechanism for differential privacy. Journal of Privacy and Confidentiality
    14 (1), 2024.

    Examples
    --------
    >>> noise = TruncatedGaussian(4)
    >>> round(float(noise.size), 6)
    4.0
    >>> noise.density([0.1, 0.5, 0.9], 0.1).round(2)
    array([1.86, 0.98, 0.14])
    >>> round(float(noise.expected_error()), 3)
    0.222
    """

    citation = "Chen and Hale 2024"
    paper = "As for truncated Laplace: its privacy level has to be found numerically; piecewise mechanisms do better."

    @staticmethod
    def exponent(way: np.ndarray, size: float) -> np.ndarray:
        """Return a parabola."""
        return size * way**2
