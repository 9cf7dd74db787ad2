"""What a chart is, and what all charts need: points of the unit square, and arrays with contiguous columns."""

from typing import Protocol

import numpy as np
import shapely

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
"""The corners of the unit square."""
FINE = 256
"""Into how many pieces each side of a window is cut: what is straight in the chart is bent in the region."""


class Chart(Protocol):
    """A public bijection between a region, or the rectangle fitted around it, and the unit square."""

    @property
    def periodic(self) -> tuple[bool, bool]:
        """Which axes of the square are circles."""

    @property
    def affine(self) -> bool:
        """Whether it is an affine map of the plane, so that a step in the square is as long everywhere."""

    def to_unit(self, xy: np.ndarray) -> np.ndarray:
        """Map the region to the unit square."""

    def from_unit(self, uv: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Map the unit square to the region; into ``out`` if it is given."""

    def stretch(self, uv: np.ndarray) -> np.ndarray:
        """Return how many times larger a small area of the region is than what it is mapped to (the Jacobian)."""

    def covers(self, xy: np.ndarray) -> np.ndarray:
        """Return which places the unit square is mapped to: nothing is reported from the others."""


def columns(n: int) -> np.ndarray:
    """Return an empty array of n pairs with contiguous columns: numpy is slow at pairs, and at fresh memory."""
    return np.empty((2, n)).T


def evenly(n: int) -> np.ndarray:
    """Return n points spread evenly over the unit square (the sequence of Roberts, 2018)."""
    return (0.5 + np.arange(1, n + 1)[:, None] * [0.7548776662466927, 0.5698402909980532]) % 1


def in_unit(uv: np.ndarray) -> np.ndarray:
    """Return which rows lie in the unit square."""
    return np.all((uv >= 0) & (uv <= 1), axis=1)


def window(chart: Chart, ends: list[tuple[float, float]]) -> shapely.Polygon:
    """Return a rectangle of the unit square, from two ends on each axis, as it is in the region."""
    ring = shapely.segmentize(shapely.box(0, 0, 1, 1).exterior, 1 / FINE)
    (west, east), (south, north) = ends
    uv = np.array([west, south]) + shapely.get_coordinates(ring) * [east - west, north - south]
    return shapely.Polygon(chart.from_unit(uv))
