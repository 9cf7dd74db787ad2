"""The truncated Laplace mechanism."""

import numpy as np

from geotracs.core.mechanisms.stepped import Stepped


class TruncatedLaplace(Stepped):
    """Report a number with a density in proportion to exp(-size * distance), cut off at the ends of the interval.

    Also called bounded Laplace. The density is divided by its integral over the domain, which depends on the secret.
    In general that costs privacy, and Holohan et al. enlarge the scale for it. Between the two ends of the domain,
    however, the integrals are the same, and nowhere else does their ratio outweigh the shorter distance: where every
    two numbers of the domain have to look alike, the scale of the plain Laplace mechanism is enough. The integers say
    so, too: `size` is as good as eps, and the bound is checked for the table that is drawn from. See `Stepped` for
    the exact draw.

    On the circle nothing is cut off, and it is the same as `Purkayastha`.

    References ---------- N. Holohan, S. Antonatos, S. Braghin, P. Mac Aonghusa: The bounded Laplace mechanism in
    differential privacy. Journal of Privacy and Confidentiality 10 (1), 2020. F. Liu: Statistical properties of
    sanitized results from differentially private Laplace mechanism with univariate bounding constraints. Transactions
    on Data Privacy 12, 2019.

    Examples
    --------
    >>> noise = TruncatedLaplace(4)
    >>> bool(noise.size <= 4), round(float(noise.size), 6)
    (True, 4.0)
    >>> noise.density([0.1, 0.5, 0.9], 0.1).round(2)
    array([3.07, 0.62, 0.13])
    >>> round(float(noise.expected_error()), 3)
    0.176
    """

    citation = "Holohan et al. 2020; Liu 2019"
    paper = (
        "Can be incorporated, but needs a calibration of its own, is more complex and typically less effective than "
        "piecewise mechanisms."
    )

    @staticmethod
    def exponent(way: np.ndarray, size: float) -> np.ndarray:
        """Return a straight line."""
        return size * way
