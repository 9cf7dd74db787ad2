"""What a chart is, and what all charts need: points of the unit square, and arrays with contiguous columns."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
import shapely

Map = Callable[[np.ndarray], np.ndarray]
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


def evenly(n: int, first: int = 0) -> np.ndarray:
    """Return n points spread evenly over the unit square (the sequence of Roberts, 2018), from one of them on."""
    return (0.5 + np.arange(first + 1, first + n + 1)[:, None] * [0.7548776662466927, 0.5698402909980532]) % 1


def evenly_inside(n: int, place: Map, contains: Map) -> np.ndarray:
    """Return the first n points that a region contains, of 64 n that are spread evenly over what is around it.

    >>> evenly_inside(3, lambda uv: 2 * uv, lambda xy: xy[:, 0] > 1).round(2).tolist()
    [[1.53, 0.42], [1.04, 1.56], [1.57, 0.98]]
    """
    found = [np.empty((0, 2))]
    for first in range(0, 64 * n, 2 * n):
        part = place(evenly(2 * n, first))
        found.append(part[contains(part)])
        if sum(map(len, found)) >= n:
            break
    return np.concatenate(found)[:n]


def in_unit(uv: np.ndarray) -> np.ndarray:
    """Return which rows lie in the unit square."""
    return np.all((uv >= 0) & (uv <= 1), axis=1)


def window(chart: Chart, ends: list[tuple[float, float]]) -> shapely.Polygon:
    """Return a rectangle of the unit square, from two ends on each axis, as it is in the region."""
    ring = shapely.segmentize(shapely.box(0, 0, 1, 1).exterior, 1 / FINE)
    (west, east), (south, north) = ends
    uv = np.array([west, south]) + shapely.get_coordinates(ring) * [east - west, north - south]
    return shapely.Polygon(chart.from_unit(uv))
