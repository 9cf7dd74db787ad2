"""A polygon's border under an index: which points are inside, and the nearest point of the polygon for the others."""

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

SIDE = 256
"""Cells along each side of the grid that decides most containments without looking at the border."""
OUTSIDE, INSIDE, BORDER = 0, 1, 2
NUDGE = 1e-11
"""How far inside the border, as a part of the polygon's size, a point is moved."""


class Border:
    """An index over a polygon or multipolygon with holes, for many points at once.

    Examples
    --------
    >>> border = Border(shapely.box(0, 0, 2, 1))
    >>> border.covers(np.array([[1.0, 0.5], [2.0, 1.0], [3.0, 0.5]]))
    array([ True,  True, False])
    >>> border.pull_in(np.array([[3.0, 0.5]])).round(6)
    array([[2. , 0.5]])
    """

    def __init__(self, geometry: BaseGeometry) -> None:
        self.geometry = geometry
        shapely.prepare(geometry)
        self._low = np.array(geometry.bounds[:2])
        self._size = np.array(geometry.bounds[2:]) - self._low
        self._grid = self._classified()
        lines = shapely.get_parts(shapely.boundary(geometry))
        ends = [np.stack([xy[:-1], xy[1:]], axis=1) for xy in map(shapely.get_coordinates, lines)]
        self._segments = np.concatenate(ends)
        self._tree = shapely.STRtree(shapely.linestrings(self._segments))

    def covers(self, xy: np.ndarray) -> np.ndarray:
        """Say which points are inside or on the border."""
        column, row = self._cells(xy[:, 0], 0), self._cells(xy[:, 1], 1)
        beyond = (column < 0) | (row < 0) | (column >= SIDE) | (row >= SIDE)
        kind = self._grid[np.where(beyond, 0, column), np.where(beyond, 0, row)]
        inside = kind == INSIDE
        unsure = np.flatnonzero(beyond | (kind == BORDER))
        inside[unsure] = shapely.intersects_xy(self.geometry, xy[unsure, 0], xy[unsure, 1])
        return inside

    def nearest(self, xy: np.ndarray) -> np.ndarray:
        """Return the nearest point of the border."""
        which = self._tree.query_nearest(shapely.points(xy), all_matches=False)[1]
        begin, along = self._segments[which, 0], self._segments[which, 1] - self._segments[which, 0]
        length = np.maximum(np.sum(along * along, axis=1), np.finfo(float).tiny)
        part = np.clip(np.sum((xy - begin) * along, axis=1) / length, 0, 1)
        return begin + part[:, None] * along

    def pull_in(self, xy: np.ndarray) -> np.ndarray:
        """Return, for points outside, the nearest point of the polygon, by a hair inside it."""
        found = self.nearest(xy)
        way = found - xy
        hair = NUDGE * self._size.max() + 1e-15 * np.abs(self.geometry.bounds).max()
        with np.errstate(invalid="ignore"):
            inwards = np.nan_to_num(way / np.hypot(*way.T)[:, None])
        moved = found + hair * inwards
        astray = np.flatnonzero(~self.covers(moved))
        while len(astray) and hair < self._size.max():  # at sharp corners the way on leads out again
            shrunk = self.geometry.buffer(-hair)
            if not shrunk.is_empty:
                lines = shapely.shortest_line(shrunk, shapely.points(xy[astray]))
                moved[astray] = shapely.get_coordinates(shapely.get_point(lines, 0))
                astray = astray[~self.covers(moved[astray])]
            hair *= 10 if not shrunk.is_empty else 0.1
            if shrunk.is_empty and hair < 1e-15 * np.abs(self.geometry.bounds).max():
                break
        if len(astray):
            moved[astray] = shapely.get_coordinates(shapely.point_on_surface(self.geometry))[0]
        return moved

    def _cells(self, x: np.ndarray, axis: int) -> np.ndarray:
        """Return the column or row of the grid, -1 or SIDE for what is beyond it or nowhere."""
        part = (x - self._low[axis]) * (SIDE / self._size[axis])
        part[~np.isfinite(part)] = -1
        return np.floor(np.clip(part, -1, SIDE)).astype(np.int64)

    def _classified(self) -> np.ndarray:
        """Classify the cells of a grid over the bounds: those that the border may touch are left open."""
        if not np.all(self._size > 0):
            return np.full((SIDE, SIDE), BORDER, dtype=np.int8)
        unit = shapely.transform(shapely.boundary(self.geometry), lambda xy: (xy - self._low) * (SIDE / self._size))
        at = shapely.get_coordinates(shapely.segmentize(unit, 0.5)).astype(np.int64)
        touched = np.zeros((SIDE + 3, SIDE + 3), dtype=bool)
        for dx in (0, 1, 2):
            for dy in (0, 1, 2):
                touched[at[:, 0] + dx, at[:, 1] + dy] = True
        touched = touched[1 : SIDE + 1, 1 : SIDE + 1]
        grid = np.full((SIDE, SIDE), BORDER, dtype=np.int8)
        column, row = np.nonzero(~touched)
        x, y = (self._low[i] + (cell + 0.5) * self._size[i] / SIDE for i, cell in enumerate((column, row)))
        grid[column, row] = np.where(shapely.contains_xy(self.geometry, x, y), INSIDE, OUTSIDE)
        return grid
