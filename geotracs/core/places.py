"""Public places: points, lines, areas and grid cells to which reports are rounded.

Each kind rounds many locations at once: which place is nearest, and its point that is. Where several are equally near,
the first of the set is taken.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Protocol, cast

import numpy as np
import shapely
from scipy.spatial import cKDTree

from geotracs.errors import InputError, quoted


class Places(Protocol):
    """A public set of places."""

    @property
    def count(self) -> int:
        """How many there are."""

    def sample(self, n: int) -> np.ndarray:
        """Return where up to n of them are."""

    def round(self, xy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of the nearest place of each location, and where it is."""


class Points:
    """Places that are points.

    Examples
    --------
    >>> cafes = Points(np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 0.0]]))
    >>> cafes.nearest(np.array([[1.0, 1.0], [2.0, 0.0], [3.0, 0.0]]))
    array([0, 0, 1])
    """

    def __init__(self, xy: np.ndarray, *, on_sphere: bool = False) -> None:
        self._on_sphere = on_sphere
        self.xy = xy
        distinct, self._first = np.unique(xy, axis=0, return_index=True)
        self._tree = cKDTree(self._spread(distinct))

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.xy)

    def sample(self, n: int) -> np.ndarray:
        """Return where up to n of them are."""
        return self.xy[_spread_over(self.count, n)]

    def nearest(self, xy: np.ndarray) -> np.ndarray:
        """Return the number of the nearest place of each location."""
        xy, most = self._spread(xy), self._tree.n
        if most == 1:
            return np.full(len(xy), self._first[0])
        found, rows, k = np.empty(len(xy), dtype=np.int64), _neighbours_together(xy), 2
        while len(rows):
            distance, which = self._tree.query(xy[rows], k=min(k, most), workers=-1)
            tied = distance == distance[:, :1]
            found[rows] = np.where(tied, self._first[which], len(self.xy)).min(axis=1)
            rows, k = rows[tied[:, -1]] if k < most else rows[:0], 2 * k
        return found

    def round(self, xy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of the nearest place of each location, and where it is."""
        which = self.nearest(xy)
        return which, self.xy[which]

    def _spread(self, xy: np.ndarray) -> np.ndarray:
        """Turn degrees into points of the unit sphere, where straight and great-circle distance order places alike."""
        return on_sphere(xy) if self._on_sphere else np.ascontiguousarray(xy)


def on_sphere(xy: np.ndarray) -> np.ndarray:
    """Return points of the unit sphere from longitudes and latitudes in degrees."""
    longitude, latitude = np.radians(xy).T
    level = np.cos(latitude)
    return np.column_stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)])


def _neighbours_together(xy: np.ndarray, side: int = 256) -> np.ndarray:
    """Return an order in which neighbours follow each other, so that they find the index in the cache."""
    if len(xy) == 0:
        return np.arange(0)
    column, row = (((x - x.min()) * side / (np.ptp(x) or 1)).astype(np.int64) for x in (xy[:, 0], xy[:, 1]))
    return np.argsort(column * side + row, kind="stable")


def _spread_over(count: int, n: int) -> np.ndarray:
    """Return up to n numbers below count, evenly spread."""
    return np.linspace(0, count - 1, min(count, n)).astype(np.int64)


class Shapes:
    """Places that are lines or areas (or points among them): the nearest point of the nearest one.

    A location inside an area stays where it is, unless ``centroid`` asks for the area's centroid.

    Examples
    --------
    >>> streets = Shapes([shapely.LineString([(0, 0), (9, 0)]), shapely.LineString([(0, 5), (9, 5)])])
    >>> which, xy = streets.round(np.array([[2.0, 1.0], [3.0, 4.0]]))
    >>> which.tolist(), xy.tolist()
    ([0, 1], [[2.0, 0.0], [3.0, 5.0]])
    """

    def __init__(self, geometries: np.ndarray, *, centroid: bool = False) -> None:
        self._geometries = np.asarray(geometries)
        self.centroid = centroid
        self._tree = shapely.STRtree(self._geometries)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._geometries)

    def sample(self, n: int) -> np.ndarray:
        """Return the centroids of up to n of them."""
        return self._centroids(_spread_over(self.count, n))

    def _centroids(self, which: np.ndarray) -> np.ndarray:
        return shapely.get_coordinates(shapely.centroid(self._geometries[which]))

    def round(self, xy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of the nearest place of each location, and the point of it that is nearest."""
        points = shapely.points(xy)
        location, place = self._tree.query_nearest(points, all_matches=True)
        which = np.full(len(xy), len(self._geometries))
        np.minimum.at(which, location, place)
        if self.centroid:
            return which, self._centroids(which)
        lines = shapely.shortest_line(self._geometries[which], points)
        return which, shapely.get_coordinates(shapely.get_point(lines, 0))


@dataclass(frozen=True)
class Grid:
    """Cells of a grid over the domain: ``cell`` metres wide, or ``nx`` by ``ny`` of them.

    Reports go to the middle of their cell, or the nearest point of the region where that lies outside. The label is
    ``row * nx + column``, counted from the lower left.

    Examples
    --------
    >>> Grid(nx=60, ny=60)
    Grid(cell=None, nx=60, ny=60)
    """

    cell: float | None = None
    nx: int | None = None
    ny: int | None = None

    def __post_init__(self) -> None:
        counts = (self.nx, self.ny)
        if self.cell is not None and counts == (None, None):
            if isinstance(self.cell, bool) or not isinstance(self.cell, Real) or not 0 < self.cell < np.inf:
                raise InputError(f"`cell` must be a length in metres greater than 0, got {quoted(self.cell)}.")
        elif self.cell is not None or not all(isinstance(n, Integral) and n >= 1 for n in counts):
            raise InputError("A grid needs `cell`, or both `nx` and `ny` as whole numbers of at least 1.")

    def over(self, bounds: tuple[float, float, float, float], metres: float) -> "Cells":
        """Return the cells over these bounds, in a CRS whose unit is that many metres."""
        xmin, ymin, xmax, ymax = bounds
        if self.cell is None:
            nx, ny = cast(tuple[int, int], (self.nx, self.ny))
            return Cells((xmin, ymin), ((xmax - xmin) / nx, (ymax - ymin) / ny), (nx, ny))
        size = self.cell / metres
        if size > max(xmax - xmin, ymax - ymin):
            raise InputError("`cell` is larger than the domain; every report would be the same. Take a smaller one.")
        counts = (int(np.ceil((xmax - xmin) / size)), int(np.ceil((ymax - ymin) / size)))
        return Cells((xmin, ymin), (size, size), counts)


@dataclass(frozen=True, repr=False)  # over a region that may have been fitted to private data
class Cells:
    """The cells of a grid in the working CRS; rounding takes constant time.

    A location on the line between two cells belongs to the upper or right one, as everywhere in a half-open grid.
    """

    origin: tuple[float, float]
    size: tuple[float, float]
    counts: tuple[int, int]

    @property
    def count(self) -> int:
        """How many there are."""
        return self.counts[0] * self.counts[1]

    def sample(self, n: int) -> np.ndarray:
        """Return the middles of up to n of them."""
        return self._middle(_spread_over(self.count, n))

    def round(self, xy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of each location's cell, and the cell's middle."""
        column, row = (
            np.clip((xy[:, axis] - self.origin[axis]) // self.size[axis], 0, self.counts[axis] - 1).astype(np.int64)
            for axis in (0, 1)
        )
        which = row * self.counts[0] + column
        return which, self._middle(which)

    def _middle(self, which: np.ndarray) -> np.ndarray:
        column, row = which % self.counts[0], which // self.counts[0]
        return np.column_stack(
            [self.origin[0] + (column + 0.5) * self.size[0], self.origin[1] + (row + 0.5) * self.size[1]]
        )
