"""Where a location may have been: the cells of a grid over the public region, or public places."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast

import numpy as np
import shapely
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from geotracs.core.charts.base import Chart
from geotracs.core.domains import Domain, Rectangle
from geotracs.core.places import on_sphere
from geotracs.errors import InputError

NODES = 4
"""Points along each side of a cell that stand for the locations in it."""
ORDER = np.array([1, 7, 8, 14, 2, 4, 11, 13, 0, 6, 9, 15, 3, 5, 10, 12])
"""The order in which they are taken where fewer do: the first four, eight, twelve are in balance."""
MAX_STATES = 2**17
"""More states than this no estimate needs, and no memory holds what is computed of them."""


class States(Protocol):
    """What a location may be: cells, or places."""

    @property
    def xy(self) -> np.ndarray:
        """Where they are, in the working CRS: the middle of a cell."""

    @property
    def prior(self) -> np.ndarray:
        """How much of the region each has, 1 in all."""

    @property
    def count(self) -> int:
        """How many there are."""

    def label(self, xy: np.ndarray) -> np.ndarray:
        """Return the state of each location in the working CRS; -1 outside."""

    def secrets(self, each: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return up to ``each`` locations that stand for a state, the state of each of them, and its weight there."""

    def shares_in(self, zones: np.ndarray) -> csr_array:
        """Return the part of each state in each of some areas of the working CRS, one row per area."""

    def shares_near(self, points: np.ndarray) -> csr_array:
        """Return the part of each state that is nearest to each of some points, one row per point."""


@dataclass(frozen=True, eq=False, repr=False)
class CellStates:
    """The cells of a grid over the chart of a region, those that the region reaches.

    Parameters
    ----------
    domain : Domain
        The public region in the working CRS.
    shape : (int, int)
        How many cells there are along each axis of the chart.

    Examples
    --------
    >>> cells = CellStates(Rectangle(0, 0, 20, 10), (4, 2))
    >>> cells.count, cells.xy[:2].tolist()
    (8, [[2.5, 2.5], [2.5, 7.5]])
    >>> cells.label(np.array([[19.0, 9.0], [21.0, 9.0]]))
    array([ 7, -1])
    """

    domain: Domain
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        if self.shape[0] * self.shape[1] > MAX_STATES:
            raise InputError(f"{self.shape[0]} x {self.shape[1]} cells are too many to estimate; take larger ones.")

    @cached_property
    def chart(self) -> Chart:
        """The affine chart in which the cells are squares of a grid: that of the region, or its box."""
        return grid_chart(self.domain)

    @property
    def whole(self) -> bool:
        """Whether the region fills its grid."""
        return len(self.index) == self.shape[0] * self.shape[1]

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Points of the cells in the working CRS, shape (cells, NODES**2, 2), and which of them are inside."""
        steps = (np.arange(NODES) + 0.5) / NODES
        i, j = np.divmod(np.arange(self.shape[0] * self.shape[1]), self.shape[1])
        u = (i[:, None] + np.repeat(steps, NODES)) / self.shape[0]
        v = (j[:, None] + np.tile(steps, NODES)) / self.shape[1]
        xy = self.chart.from_unit(np.column_stack([u.ravel(), v.ravel()]))
        inside = self.domain.contains(xy).reshape(len(i), -1)
        return np.ascontiguousarray(xy).reshape(len(i), -1, 2), inside

    @cached_property
    def index(self) -> np.ndarray:
        """Which cells of the grid, column after column, are states."""
        found = np.flatnonzero(self._nodes[1].any(axis=1))
        if not len(found):  # the region is thinner than the points of a cell are apart
            found = np.unique(self._cell(np.array([self.domain.centre])))
        return found

    @cached_property
    def xy(self) -> np.ndarray:
        """The middle of each state; of one on the border the point inside nearest to it."""
        points, inside = (part[self.index] for part in self._nodes)
        weight = inside[:, :, None]
        middle = (points * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1)
        far = ((points - middle[:, None]) ** 2).sum(axis=2) + np.where(inside, 0.0, np.inf)
        nearest = points[np.arange(len(points)), np.argmin(far, axis=1)]
        alone = ~inside.any(axis=1)
        nearest[alone] = self.domain.centre
        return np.where(inside.all(axis=1)[:, None], middle, nearest)

    @cached_property
    def prior(self) -> np.ndarray:
        """The part of the region's area that is in each cell."""
        points, inside = (part[self.index] for part in self._nodes)
        area = np.maximum(inside, ~inside.any(axis=1, keepdims=True)).astype(float)
        if self.domain.in_degrees:
            area *= np.cos(np.radians(points[:, :, 1]))
        each = area.sum(axis=1)
        return each / each.sum()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.index)

    @cached_property
    def _number(self) -> np.ndarray:
        number = np.full(self.shape[0] * self.shape[1], -1)
        number[self.index] = np.arange(len(self.index))
        return number

    def _cell(self, xy: np.ndarray) -> np.ndarray:
        i, j = cells_in(self.chart, xy, self.shape)
        return i * self.shape[1] + j

    def label(self, xy: np.ndarray) -> np.ndarray:
        """Return the state of each location; -1 outside the region."""
        found = self._number[self._cell(xy)]
        unit = self.chart.to_unit(xy)
        beyond = ~np.all((unit >= -1e-9) & (unit <= 1 + 1e-9), axis=1)
        found[beyond & ~self.domain.contains(xy)] = -1
        return found

    def secrets(self, each: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return locations that stand for each cell: its middle, or points inside it."""
        if each == 1:
            return self.xy, np.arange(self.count), np.ones(self.count)
        points, inside = (part[self.index] for part in self._nodes)
        order = ORDER[np.argsort(~inside[:, ORDER], axis=1, kind="stable")]
        chosen = np.arange(each) % np.maximum(inside.sum(axis=1), 1)[:, None]
        picked = points[np.arange(self.count)[:, None], np.take_along_axis(order, chosen, axis=1)]
        alone = ~inside.any(axis=1)
        picked[alone] = self.domain.centre
        which = np.repeat(np.arange(self.count), each)
        return picked.reshape(-1, 2), which, np.full(len(which), 1 / each)

    @cached_property
    def shapes(self) -> np.ndarray:
        """The cells as areas of the working CRS, cut to the region."""
        i, j = np.divmod(self.index, self.shape[1])
        corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
        uv = np.stack([np.column_stack([a / self.shape[0], b / self.shape[1]]) for a, b in corners], axis=1)
        rings = affine(self.chart, uv.reshape(-1, 2)).reshape(-1, 4, 2)
        cells = cast(np.ndarray, shapely.polygons(rings))
        cut = ~self._nodes[1][self.index].all(axis=1)
        if cut.any():
            parts = shapely.intersection(cells[cut], self.domain.outline)
            cells[cut] = np.where(shapely.area(parts) > 0, parts, cells[cut])
        return cells

    def shares_in(self, zones: np.ndarray) -> csr_array:
        """Return the part of each cell's area that is in each area."""
        tree = shapely.STRtree(self.shapes)
        shapely.prepare(zones)
        zone, cell = tree.query(zones, predicate="intersects")
        whole = shapely.covers(zones[zone], self.shapes[cell])
        part = np.ones(len(zone))
        cut = np.flatnonzero(~whole)
        areas = shapely.area(shapely.intersection(zones[zone[cut]], self.shapes[cell[cut]]))
        part[cut] = areas / np.maximum(shapely.area(self.shapes[cell[cut]]), 1e-300)
        return csr_array((np.minimum(part, 1), (zone, cell)), shape=(len(zones), self.count))

    def shares_near(self, points: np.ndarray) -> csr_array:
        """Return the part of each cell that is nearest to each point."""
        secrets, which, weight = self.secrets(NODES**2)
        return _shares(nearest(points, secrets, self.domain.in_degrees), which, weight, len(points), self.count)


@dataclass(frozen=True, eq=False, repr=False)
class PlaceStates:
    """Public places, where a method over places takes locations to be.

    Examples
    --------
    >>> places = PlaceStates(np.array([[0.0, 0.0], [5.0, 5.0]]))
    >>> places.label(np.array([[4.0, 4.0]])).tolist(), places.prior.tolist()
    ([1], [0.5, 0.5])
    """

    xy: np.ndarray
    in_degrees: bool = False

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.xy)

    @property
    def prior(self) -> np.ndarray:
        """All alike."""
        return np.full(self.count, 1 / self.count)

    def label(self, xy: np.ndarray) -> np.ndarray:
        """Return the nearest place of each location."""
        return nearest(self.xy, xy, self.in_degrees)

    def secrets(self, each: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the places themselves."""
        return self.xy, np.arange(self.count), np.ones(self.count)

    def shares_in(self, zones: np.ndarray) -> csr_array:
        """Return which areas each place is in: one on the border of several is shared among them."""
        points = cast(np.ndarray, shapely.points(self.xy))
        zone, place = shapely.STRtree(points).query(zones, predicate="intersects")
        several = np.bincount(place, minlength=self.count)
        return csr_array((1 / several[place], (zone, place)), shape=(len(zones), self.count))

    def shares_near(self, points: np.ndarray) -> csr_array:
        """Return which of some points each place is nearest to."""
        every = np.arange(self.count)
        return _shares(self._nearest(points), every, np.ones(self.count), len(points), self.count)

    def _nearest(self, points: np.ndarray) -> np.ndarray:
        return nearest(points, self.xy, self.in_degrees)


def _shares(row: np.ndarray, state: np.ndarray, weight: np.ndarray, rows: int, states: int) -> csr_array:
    found = csr_array((weight, (row, state)), shape=(rows, states))
    found.sum_duplicates()
    return found


def nearest(points: np.ndarray, xy: np.ndarray, in_degrees: bool) -> np.ndarray:
    """Return which of some points is nearest to each location."""
    if in_degrees:
        points, xy = on_sphere(points), on_sphere(xy)
    return np.asarray(cKDTree(np.ascontiguousarray(points)).query(np.ascontiguousarray(xy))[1])


def grid_chart(domain: Domain) -> Chart:
    """Return the affine chart over which a region is divided into cells: its own, or that of its box."""
    if has_grid(domain):
        return cast(Chart, domain.chart)
    return Rectangle(*domain.outline.bounds)


def has_grid(domain: Domain) -> bool:
    """Return whether the region's own chart divides it into cells of equal sides."""
    return domain.chart is not None and (domain.chart.affine or domain.in_degrees)


def cells_in(chart: Chart, xy: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the column and the row of each location in a grid over a chart; those beyond belong to its last cells."""
    unit = chart.to_unit(np.asarray(xy, dtype=np.float64))
    i, j = (np.clip((unit[:, axis] * shape[axis]).astype(np.int64), 0, shape[axis] - 1) for axis in (0, 1))
    return i, j


def affine(chart: Chart, uv: np.ndarray) -> np.ndarray:
    """Return where points of the closed unit square are: of an affine chart, whose end does not wrap."""
    origin, across, up = chart.from_unit(np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]))
    return origin + 2 * uv[:, :1] * (across - origin) + 2 * uv[:, 1:] * (up - origin)
