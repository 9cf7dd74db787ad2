"""The edges of a polygon under a grid: plain arrays, with which a compiled kernel moves a point inside by itself."""

from typing import NamedTuple

import numpy as np
import shapely

from geotracs.core.domains.border import INSIDE, Border, edges, rings, segments

SIDE = 128
"""Cells along each side of the grid over the rectangle in which the kernel works."""
CELLS_AT_A_TIME = 4096
"""How many cells are asked for their edges at a time."""


class Edges(NamedTuple):
    """What a point needs to know of a polygon to move inside it.

    Attributes
    ----------
    low, scale : arrays of shape (2,)
        Where the grid begins, and cells per unit of length along each axis.
    kinds : array of int8, shape (SIDE * SIDE,)
        INSIDE for cells that no edge touches and that lie inside; points there stay where they are.
    begins : array of int64, shape (SIDE * SIDE + 1,)
        Where the edges of each cell begin in ``members``, and the number of all at the end.
    members : array of int32
        The edges that can be the nearest one of a point in each cell, all of them.
    table : array of shape (edges, 10)
        Begin, vector, and the way inwards along the edge, at its begin and at its end.
    hair : float
        How far inside the border a point is moved.
    """

    low: np.ndarray
    scale: np.ndarray
    kinds: np.ndarray
    begins: np.ndarray
    members: np.ndarray
    table: np.ndarray
    hair: float


NO_EDGES = Edges(
    np.zeros(2), np.zeros(2), np.zeros(1, np.int8), np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros((0, 10)), 0.0
)
"""For a region without a shape of its own: the kernel never asks."""


def edges_of(border: Border, box: np.ndarray) -> Edges:
    """Return the edges of a polygon under a grid over the bounds of ``box``, the corners of where points can be.

    >>> corner = shapely.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
    >>> found = edges_of(Border(corner), np.array([[0.0, 0.0], [2.0, 2.0]]))
    >>> len(found.table), bool(np.all(np.diff(found.begins)[found.kinds == INSIDE] == 0))
    (6, True)
    """
    table = np.concatenate([np.column_stack(edges(ring)) for ring in rings(border.geometry)])
    low, high = box.min(axis=0), box.max(axis=0)
    step = (high - low) / SIDE
    column, row = np.divmod(np.arange(SIDE * SIDE), SIDE)
    middle = low + (np.column_stack([column, row]) + 0.5) * step
    radius = np.hypot(*step) / 2 * (1 + 1e-9)
    counts, members, nearest = _candidates(segments(table[:, :2], table[:, 2:4]), middle, radius)
    inside = (nearest > radius) & shapely.contains_xy(border.geometry, middle[:, 0], middle[:, 1])
    keep = ~np.repeat(inside, counts)
    begins = np.concatenate([[0], np.cumsum(np.where(inside, 0, counts))]).astype(np.int64)
    kinds = np.where(inside, INSIDE, 0).astype(np.int8)
    return Edges(low, 1 / step, kinds, begins, members[keep].astype(np.int32), table, float(border.hair))


def _candidates(lines: np.ndarray, middle: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how many edges can be the nearest of a point in each cell, which, and how far the nearest is."""
    tree = shapely.STRtree(lines)
    counts, members, nearest = [], [], []
    for first in range(0, len(middle), CELLS_AT_A_TIME):
        points = np.asarray(shapely.points(middle[first : first + CELLS_AT_A_TIME]))
        (point, _), away = tree.query_nearest(points, return_distance=True, all_matches=False)
        closest = np.empty(len(points))
        closest[point] = away
        # The nearest edge of a point is at most as far from it as that of the middle, which is at most a radius away.
        cell, edge = tree.query(points, predicate="dwithin", distance=closest + 2 * radius)
        order = np.argsort(cell, kind="stable")
        counts.append(np.bincount(cell, minlength=len(points)))
        members.append(edge[order])
        nearest.append(closest)
    return np.concatenate(counts), np.concatenate(members), np.concatenate(nearest)
