"""PM, the piecewise mechanism for means."""

import math

import numpy as np

from geotracs.core.mechanisms.enlarged import Enlarged, inverse


class PM(Enlarged):
    """Report a number in [-C, C] for a secret in [-1, 1], without bias; here both are moved to the unit interval.

    With s = exp(eps / 2) the published C is (s + 1) / (s - 1): for a secret in [0, 1] a report lies in [-m, 1 + m]
    with m = 1 / (s - 1). The window is 1 / (s + 1) of that, as large as OGPM's, and hit with probability s / (s + 1).
    It is centred on the secret stretched from the middle, so that the mean of the reports (``clip=False``) is the
    secret. What that costs is distance, most at small epsilon, where C is about 4 / eps. Clipping gives the bias back
    for a smaller error. Exactly eps-LDP, see `Enlarged`. On a circle reports beyond the ends stay at the seam.

    References ---------- N. Wang, X. Xiao, Y. Yang, J. Zhao, S. C. Hui, H. Shin, J. Shin, G. Yu: Collecting and
    analyzing multidimensional data with local differential privacy. ICDE 2019.

    Examples
    --------
    >>> mean = PM(2, clip=False)
    >>> round(float(mean.C), 4)
    2.164
    >>> round(float(mean.expected_error()), 3), round(float(PM(2).expected_error()), 3)
    (0.336, 0.233)
    """

    citation = "Wang et al. 2019"
    paper = "A piecewise mechanism for mean estimation; TraCS can use it after a redesign for its domains."

    @property
    def C(self) -> float | np.ndarray:  # noqa: N802
        """The published bound of the reports, for secrets in [-1, 1]."""
        return self._length

    @staticmethod
    def shape(eps: float) -> tuple[float, float]:
        """Return 1 / (s - 1) and 1 / (s + 1)."""
        return inverse(math.expm1(eps / 2)), 1 / (math.exp(eps / 2) + 1)
