"""The edges of a polygon under a grid: plain arrays, with which a compiled kernel moves a point inside by itself."""

from typing import NamedTuple

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from geotracs.core.domains.border import INSIDE, Border, edges, rings

SPLITS = (4, 4, 4, 2)
"""The box is divided by this along each side, and its parts again: what is far from a part is far from all of it."""
SIDE = int(np.prod(SPLITS))
"""Cells along each side of the grid over the rectangle in which the kernel works."""
AT_ONCE = 2**19
"""How many distances are computed at a time, about."""
SLACK = 1e-9
"""A part of each distance, so that rounding leaves no edge out."""


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
    cells, counts, members = np.zeros((1, 2), dtype=np.int64), np.array([len(table)]), np.arange(len(table))
    step = high - low
    for times in SPLITS:
        step = step / times
        cells, counts, members = _divided(cells, counts, members, times, table, low, step, border.geometry)
    number = cells[:, 0] * SIDE + cells[:, 1]
    order = np.argsort(number)
    begins, kinds = np.zeros(SIDE * SIDE + 1, dtype=np.int64), np.full(SIDE * SIDE, INSIDE, dtype=np.int8)
    begins[number + 1], kinds[number] = counts, 0
    members = members[_runs((np.cumsum(counts) - counts)[order], counts[order])]
    return Edges(low, 1 / step, kinds, np.cumsum(begins), members.astype(np.int32), table, float(border.hair))


def _divided(
    cells: np.ndarray,
    counts: np.ndarray,
    members: np.ndarray,
    times: int,
    table: np.ndarray,
    low: np.ndarray,
    step: np.ndarray,
    geometry: BaseGeometry,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Divide cells; return the parts that do not lie inside, and the edges that can be the nearest of a point there."""
    parts = np.stack(np.meshgrid(np.arange(times), np.arange(times), indexing="ij"), axis=-1).reshape(-1, 2)
    begins, parent = np.cumsum(counts) - counts, np.repeat(np.arange(len(cells)), times**2)
    cells = (times * cells[:, None] + parts).reshape(-1, 2)
    middle = low + (cells + 0.5) * step
    radius = np.hypot(*step) / 2 * (1 + SLACK)
    within = shapely.contains_xy(geometry, middle[:, 0], middle[:, 1])
    cuts = np.flatnonzero(np.diff(np.cumsum(counts[parent]) // AT_ONCE)) + 1
    kept = []
    for own in np.split(np.arange(len(cells)), cuts):
        lengths = counts[parent[own]]
        edge, cell = members[_runs(begins[parent[own]], lengths)], np.repeat(np.arange(len(own)), lengths)
        away = _distance(middle[own], cell, table, edge)
        closest = np.minimum.reduceat(away, np.cumsum(lengths) - lengths)
        open_ = (closest <= radius) | ~within[own]
        # The nearest edge of a point is at most as far from it as that of the middle, which is at most a radius away.
        near = ((away <= (closest * (1 + SLACK) + 2 * radius)[cell]) & open_[cell]).nonzero()[0]
        kept.append((own[open_], np.bincount(cell[near], minlength=len(own))[open_], edge[near]))
    which, counts, members = map(np.concatenate, zip(*kept, strict=True))
    return cells[which], counts, members


def _distance(xy: np.ndarray, which: np.ndarray, table: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """Return how far points are from edges, both by their numbers."""
    x, y = xy[:, 0][which] - table[:, 0][edge], xy[:, 1][which] - table[:, 1][edge]
    along, beside = table[:, 2][edge], table[:, 3][edge]
    part = np.clip((x * along + y * beside) / (along * along + beside * beside), 0, 1)
    return np.asarray(np.sqrt((x - part * along) ** 2 + (y - part * beside) ** 2))


def _runs(begins: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the numbers from each begin on, so many each, one after the other.

    >>> _runs(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    return np.arange(counts.sum()) + np.repeat(begins - (np.cumsum(counts) - counts), counts)
