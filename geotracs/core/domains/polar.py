"""The polar chart of TraCS-D: part of a turn, and part of the way to the border."""

import numpy as np
import numpy.typing as npt

from geotracs.core.domains.disc import Disc
from geotracs.core.domains.parallelogram import Parallelogram
from geotracs.core.domains.polygon import Polygon
from geotracs.core.domains.rectangle import Rectangle, columns

TINY = 1e-12
"""The way to the border on which the reference lies, as a part of the way to the farthest one: none, but not zero."""


class Polar:
    """The region as seen from a public reference inside it.

    What `methods.walk` does location by location, over arrays: for drawings and tests.

    Parameters
    ----------
    reference : (x, y)
        A point of the domain; on a disc, its centre.
    domain : Rectangle, Parallelogram, Polygon or Disc
        Of a polygon that is not convex, the fitted rectangle is taken, as TraCS-D does.

    Examples
    --------
    >>> chart = Polar((1, 1), Rectangle(0, 0, 2, 10))
    >>> chart.to_unit(np.array([[1.0, 5.5]]))
    array([[0.25, 0.5 ]])
    >>> chart.from_unit(np.array([[0.25, 0.5]]))
    array([[1. , 5.5]])
    """

    def __init__(self, reference: npt.ArrayLike, domain: Rectangle | Parallelogram | Polygon | Disc) -> None:
        self.reference = np.asarray(reference, dtype=np.float64)
        self._domain = domain

    def to_unit(self, xy: np.ndarray) -> np.ndarray:
        """Map the region to the unit square; beyond the border the second coordinate exceeds 1."""
        step, unit = xy - self.reference, columns(len(xy))
        unit[:, 0] = np.arctan2(step[:, 1], step[:, 0]) / (2 * np.pi) % 1
        unit[:, 1] = self._way(step)
        return unit

    def from_unit(self, uv: np.ndarray) -> np.ndarray:
        """Map the unit square to the region."""
        towards = self._directions(uv)
        return self.reference + (uv[:, 1] / self._way(towards))[:, None] * towards

    def stretch(self, uv: np.ndarray) -> np.ndarray:
        """Return how many times larger a small area of the region is than what it is mapped to."""
        return 2 * np.pi * uv[:, 1] / self._way(self._directions(uv)) ** 2

    def _directions(self, uv: np.ndarray) -> np.ndarray:
        angle = 2 * np.pi * uv[:, 0]
        return np.column_stack([np.cos(angle), np.sin(angle)])

    def _way(self, step: np.ndarray) -> np.ndarray:
        """Return which part of the way to the border each step from the reference is."""
        if isinstance(self._domain, Disc):
            return np.hypot(*step.T) / self._domain.radius
        planes = self._domain.half_planes
        slack = planes[:, 2] - planes[:, :2] @ self.reference
        return np.max(step @ planes[:, :2].T / np.maximum(slack, TINY * slack.max()), axis=1)
