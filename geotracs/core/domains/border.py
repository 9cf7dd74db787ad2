"""A polygon's border under an index: which points are inside, and the nearest point of the polygon for the others."""

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

SIDE = 256
"""Cells along each side of the grid that decides most containments without looking at the border."""
OUTSIDE, INSIDE, BORDER = 0, 1, 2
THREAD = 1e-6
"""Of a polygon that is narrower than this part of its length, cells of the grid are hardly wider than rounding."""
FAR = 1e9
"""Farther away than this many times the polygon's size a point counts as being there, in its direction."""
NUDGE = 1e-11
"""How far inside the border, as a part of the polygon's size, a point is moved."""


class Border:
    """An index over a polygon or multipolygon with holes, for many points at once.

    Attributes
    ----------
    geometry : shapely Polygon or MultiPolygon
    grid : array of shape (SIDE, SIDE)
        The cells over its bounds, column by column: OUTSIDE, INSIDE, or BORDER for all that the border may touch.
    hair : float
        How far inside the border a point is moved.

    Examples
    --------
    >>> border = Border(shapely.box(0, 0, 2, 1))
    >>> border.covers(np.array([[1.0, 0.5], [2.0, 1.0], [3.0, 0.5]]))
    array([ True,  True, False])
    >>> border.nearest_inside(np.array([[3.0, 0.5]])).round(6)
    array([[2. , 0.5]])
    """

    def __init__(self, geometry: BaseGeometry) -> None:
        self.geometry = geometry
        shapely.prepare(geometry)
        self._low = np.array(geometry.bounds[:2])
        self._size = np.array(geometry.bounds[2:]) - self._low
        self.grid = self._classified()
        self.hair = NUDGE * self._size.max() + 1e-15 * np.abs(geometry.bounds).max()
        self._begin, self._along, self._inwards, self._at_begin, self._at_end = map(
            np.concatenate, zip(*map(edges, rings(geometry)), strict=True)
        )
        self._ends = np.cumsum(np.hypot(*self._along.T))
        self._tree = shapely.STRtree(segments(self._begin, self._along))

    def covers(self, xy: np.ndarray) -> np.ndarray:
        """Return which points are inside or on the border."""
        kind = self._kinds(xy)
        inside = kind == INSIDE
        unsure = np.flatnonzero(kind == BORDER)
        inside[unsure] = shapely.intersects_xy(self.geometry, xy[unsure, 0], xy[unsure, 1])
        return inside

    def surely_covers(self, xy: np.ndarray) -> np.ndarray:
        """Return which points are so far inside that no rounding matters."""
        return self._kinds(xy) == INSIDE

    def surely_outside(self, xy: np.ndarray) -> np.ndarray:
        """Return which points are so far outside that no rounding matters; none where the polygon is a thread."""
        return (self._kinds(xy) == OUTSIDE) & (self._size.min() > THREAD * self._size.max())

    def nearest_inside(self, xy: np.ndarray) -> np.ndarray:
        """Return, for points outside, the nearest point of the polygon, just inside it."""
        moved = np.empty_like(xy)
        order = np.argsort(self._cells(xy[:, 0], 0) * SIDE + self._cells(xy[:, 1], 1))  # neighbours share the cache
        found, inwards = self._nearest(xy[order])
        hair = self.hair
        moved[order] = found + hair * inwards
        astray = np.flatnonzero(~self.covers(moved))
        while len(astray):  # thinner than the margin, or rounded away
            hair *= 10
            shrunk = self.geometry.buffer(-hair)
            if shrunk.is_empty:
                moved[astray] = shapely.get_coordinates(self.geometry.representative_point())
                break
            lines = shapely.shortest_line(shrunk, shapely.points(xy[astray]))
            moved[astray] = shapely.get_coordinates(shapely.get_point(lines, 0))
            astray = astray[~self.covers(moved[astray])]
        return moved

    @property
    def length(self) -> float:
        """The length of the border, all rings together."""
        return float(self._ends[-1])

    def position(self, xy: np.ndarray) -> np.ndarray:
        """Return how far along the border, ring after ring, the nearest point of it lies."""
        return self._position(*self._nearest_edge(xy))

    def around(self, count: int, away: float) -> np.ndarray:
        """Return points just outside: so many along the border, and one at each corner.

        >>> Border(shapely.box(0, 0, 2, 1)).around(6, 0.1).shape
        (10, 2)
        """
        position = (np.arange(count) + 0.5) / count * self.length
        edge = np.minimum(np.searchsorted(self._ends, position), len(self._ends) - 1)
        part = 1 - (self._ends[edge] - position) / np.hypot(*self._along[edge].T)
        along = self._begin[edge] + part[:, None] * self._along[edge] - away * self._inwards[edge]
        return np.vstack([along, self._begin - away * self._at_begin])

    def at(self, position: np.ndarray) -> np.ndarray:
        """Return the points of the border that lie so far along it: the inverse of `position`."""
        edge = np.clip(np.searchsorted(self._ends, position), 0, len(self._ends) - 1)
        length = np.hypot(*self._along[edge].T)
        return self._begin[edge] + (1 - (self._ends[edge] - position) / length)[:, None] * self._along[edge]

    def distance(self, xy: np.ndarray) -> np.ndarray:
        """Return the distance to the border."""
        return self.distance_and_position(xy)[0]

    def distance_and_position(self, xy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distance to the border, and how far along it the nearest point of it lies, by one search."""
        edge, part = self._nearest_edge(xy)
        away = np.hypot(*(self._begin[edge] + part[:, None] * self._along[edge] - xy).T)
        return away, self._position(edge, part)

    def _position(self, edge: np.ndarray, part: np.ndarray) -> np.ndarray:
        return self._ends[edge] + (part - 1) * np.hypot(*self._along[edge].T)

    def _nearest(self, xy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest point of the border, and which way is inwards there."""
        edge, part = self._nearest_edge(xy)
        inwards = np.where((part == 0)[:, None], self._at_begin[edge], self._inwards[edge])
        inwards = np.where((part == 1)[:, None], self._at_end[edge], inwards)
        return self._begin[edge] + part[:, None] * self._along[edge], inwards

    def _nearest_edge(self, xy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest edge of the border, and which part of it lies before its nearest point."""
        xy = np.clip(xy, self._low - FAR * self._size, self._low + FAR * self._size)  # or squares would overflow
        edge = np.asarray(self._tree.nearest(shapely.points(xy)))
        offset, along = xy - self._begin[edge], self._along[edge]
        length = np.maximum(along[:, 0] ** 2 + along[:, 1] ** 2, np.finfo(float).tiny)
        return edge, np.clip((offset[:, 0] * along[:, 0] + offset[:, 1] * along[:, 1]) / length, 0, 1)

    def _kinds(self, xy: np.ndarray) -> np.ndarray:
        """Return what the grid says of each point."""
        column, row = self._cells(xy[:, 0], 0), self._cells(xy[:, 1], 1)
        beyond = (column < 0) | (row < 0) | (column >= SIDE) | (row >= SIDE)
        return np.where(beyond, BORDER, self.grid[np.where(beyond, 0, column), np.where(beyond, 0, row)])

    def _cells(self, x: np.ndarray, axis: int) -> np.ndarray:
        """Return the column or row of the grid, -1 or SIDE for what is beyond it or nowhere."""
        low, size = self._low[axis], self._size[axis]
        part = (np.clip(x, low - size, low + 2 * size) - low) * (SIDE / size)  # far reports of noise would overflow
        part[np.isnan(part)] = -1
        return np.floor(np.clip(part, -1, SIDE)).astype(np.int64)

    def _classified(self) -> np.ndarray:
        """Classify the cells of a grid over the bounds: those that the border may touch are left open."""
        unit = shapely.transform(shapely.boundary(self.geometry), lambda xy: (xy - self._low) * (SIDE / self._size))
        at = shapely.get_coordinates(shapely.segmentize(unit, 0.5)).astype(np.int64)
        touched = np.zeros((SIDE + 3, SIDE + 3), dtype=bool)
        for dx in (0, 1, 2):
            for dy in (0, 1, 2):
                touched[at[:, 0] + dx, at[:, 1] + dy] = True
        grid = np.full((SIDE, SIDE), BORDER, dtype=np.int8)
        column, row = np.nonzero(~touched[1 : SIDE + 1, 1 : SIDE + 1])
        x, y = (self._low[i] + (cell + 0.5) * self._size[i] / SIDE for i, cell in enumerate((column, row)))
        grid[column, row] = np.where(shapely.contains_xy(self.geometry, x, y), INSIDE, OUTSIDE)
        return grid


def rings(geometry: BaseGeometry) -> list[np.ndarray]:
    """Return the rings of a polygon with its inside on their left."""
    rings = []
    for part in shapely.get_parts(geometry):
        for ring, outer in [(part.exterior, True), *((hole, False) for hole in part.interiors)]:
            xy = shapely.get_coordinates(ring)
            rings.append(xy if bool(shapely.is_ccw(ring)) == outer else xy[::-1])
    return rings


def edges(ring: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the edges of a ring: begin, vector, and the way inwards along it, at its begin and at its end."""
    ring = ring[np.append(True, np.any(ring[1:] != ring[:-1], axis=1))]
    along = np.diff(ring, axis=0)
    inwards = np.column_stack([-along[:, 1], along[:, 0]]) / np.hypot(*along.T)[:, None]
    corner = inwards + np.roll(inwards, 1, axis=0)
    length = np.hypot(*corner.T)[:, None]
    corner = np.where(length > 0, corner / np.where(length > 0, length, 1), inwards)
    return ring[:-1], along, inwards, corner, np.roll(corner, -1, axis=0)


def segments(begin: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Return edges as lines."""
    return np.asarray(shapely.linestrings(np.stack([begin, begin + along], axis=1)))
