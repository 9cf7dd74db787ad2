"""Straight lengths between points: every pair of two sets, and the largest in one set."""

import numpy as np
import shapely

CHUNK = 2**17
"""How many distances are processed at a time: few enough to stay in the processor's cache."""


def distances(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the distances between points, one row per point of the first set; the same both ways, to the last bit.

    >>> distances(np.array([[3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[5., 0.]])
    """
    across = rows[:, :1] - columns[:, 0]
    across *= across
    along = rows[:, 1:] - columns[:, 1]
    along *= along
    across += along
    return np.sqrt(across, out=across)


def diameter(points: np.ndarray) -> float:
    """Return the largest distance between any two points.

    >>> diameter(np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 4.0]]))
    5.0
    """
    hull = shapely.get_coordinates(shapely.convex_hull(shapely.multipoints(points)))
    size = max(1, CHUNK // len(hull))
    return max(float(distances(hull[first : first + size], hull).max()) for first in range(0, len(hull), size))


def longest_side(corners: np.ndarray) -> float:
    """Return the length of the longest side of a polygon, given by its corners in order.

    >>> longest_side(np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 10.0], [0.0, 10.0]]))
    10.0
    """
    return float(np.hypot(*(np.roll(corners, 1, axis=0) - corners).T).max())
