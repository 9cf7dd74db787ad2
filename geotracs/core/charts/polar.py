"""The polar chart of TraCS-D: part of a turn, and part of the way to the border."""

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from geotracs.core.charts.base import columns

TINY = 1e-12
"""The way to the border on which the reference lies, as a part of the way to the farthest one: none, but not zero."""


class Polar:
    """A convex region as seen from a public reference inside it.

    What `methods.walk` does location by location, over arrays: for densities, drawings and tests.

    Parameters
    ----------
    reference : (x, y)
        A point of the region.
    half_planes : array of shape (sides, 3)
        Rows ``(a, b, c)``: the region is where ``a x + b y <= c`` for every row; see `Domain.half_planes`.

    Examples
    --------
    >>> slender = np.array([[1.0, 0, 2], [0, 1, 10], [-1, 0, 0], [0, -1, 0]])  # 2 wide, 10 high
    >>> chart = Polar((1, 1), slender)
    >>> chart.to_unit(np.array([[1.0, 5.5]]))
    array([[0.25, 0.5 ]])
    >>> chart.from_unit(np.array([[0.25, 0.5]]))
    array([[1. , 5.5]])
    """

    periodic: ClassVar[tuple[bool, bool]] = (True, False)
    affine: ClassVar[bool] = False

    def __init__(self, reference: npt.ArrayLike, half_planes: np.ndarray) -> None:
        self.reference = np.asarray(reference, dtype=np.float64)
        self._normals = half_planes[:, :2]
        slack = half_planes[:, 2] - self._normals @ self.reference
        self._slack = np.maximum(slack, TINY * slack.max())

    def to_unit(self, xy: np.ndarray) -> np.ndarray:
        """Map the region to the unit square; beyond the border the second coordinate exceeds 1."""
        step, unit = xy - self.reference, columns(len(xy))
        unit[:, 0] = np.arctan2(step[:, 1], step[:, 0]) / (2 * np.pi) % 1
        unit[:, 1] = self._way(step)
        return unit

    def from_unit(self, uv: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Map the unit square to the region; into ``out`` if it is given."""
        xy, towards = columns(len(uv)) if out is None else out, _directions(uv)
        xy[:] = self.reference + (uv[:, 1] / self._way(towards))[:, None] * towards
        return xy

    def stretch(self, uv: np.ndarray) -> np.ndarray:
        """Return how many times larger a small area of the region is than what it is mapped to."""
        return 2 * np.pi * uv[:, 1] / self._way(_directions(uv)) ** 2

    def covers(self, xy: np.ndarray) -> np.ndarray:
        """Return which places are inside or on the border."""
        return self._way(xy - self.reference) <= 1

    def _way(self, step: np.ndarray) -> np.ndarray:
        """Return which part of the way to the border each step from the reference is."""
        return np.max(step @ self._normals.T / self._slack, axis=1)


def _directions(uv: np.ndarray) -> np.ndarray:
    angle = 2 * np.pi * uv[:, 0]
    return np.column_stack([np.cos(angle), np.sin(angle)])
