"""The ground that people move on: the states of a release as cells of a lattice in metres, and how likely each is."""

from dataclasses import dataclass, replace
from typing import Any, cast

import geopandas as gpd
import numpy as np
import shapely

import geotracs.geo.prior as priors
from geotracs.answers.motion import Lattice
from geotracs.answers.reader import Reader
from geotracs.answers.states import CellStates, PlaceStates, States, affine, cells_in
from geotracs.core.domains.globe import RADIUS
from geotracs.core.places import on_sphere
from geotracs.errors import CRSError, InputError
from geotracs.geo.originals import Originals

DEGREE = RADIUS * np.pi / 180
"""Metres of a degree of latitude."""


@dataclass(frozen=True, eq=False, repr=False)
class Ground:
    """States that somebody may be in, all of a release or some.

    Attributes
    ----------
    states : States
        All of them.
    some : array of int
        Which of them somebody may be in.
    lattice : Lattice
        The cells of those.
    xy : array of shape (n, 2)
        Where those are, in the working CRS.
    measure : array
        How much of the ground each of those has; 1 in all.
    metres : float
        How many metres a unit of the working CRS has.
    in_degrees : bool
        Whether the working CRS is in degrees.
    """

    states: States
    some: np.ndarray
    lattice: Lattice
    xy: np.ndarray
    measure: np.ndarray
    metres: float
    in_degrees: bool

    @classmethod
    def of(cls, reader: Reader, cells: int) -> "Ground":
        """Return all states of a release, with so many cells along the longer side of its region."""
        states = reader.states(side=cells)
        domain = reader.channel.domain
        grid = states if isinstance(states, CellStates) else CellStates(domain, (cells, cells))
        if isinstance(states, CellStates):
            index = states.index
        else:
            across, up = cells_in(grid.chart, states.xy, grid.shape)
            index = across * grid.shape[1] + up
        metres = 1.0 if domain.in_degrees else reader.metres
        periodic = domain.in_degrees and grid.chart.periodic[0]
        lattice = Lattice(grid.shape, _sides(grid, metres), index, periodic)
        return cls(states, np.arange(states.count), lattice, states.xy, states.prior, metres, domain.in_degrees)

    @property
    def side(self) -> float:
        """How wide a state is, in metres; 0 for places."""
        if isinstance(self.states, PlaceStates):
            return 0.0
        return float(np.sqrt(np.mean(self.lattice.sides[0]) * self.lattice.sides[1]))

    @property
    def points(self) -> np.ndarray:
        """Where states are, in metres: in the plane, or on the sphere in space."""
        return RADIUS * on_sphere(self.xy) if self.in_degrees else self.metres * self.xy

    def located(self, points: np.ndarray) -> np.ndarray:
        """Return where some points, such as means of `points`, are in the working CRS."""
        if not self.in_degrees:
            return points / self.metres
        x, y, z = points.T
        return np.degrees(np.column_stack([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))]))

    def within(self, layer: Any, reader: Reader) -> "Ground":
        """Return the states that a public layer touches, each where the layer is in it, by how much of it is there."""
        if not isinstance(layer, (gpd.GeoDataFrame, gpd.GeoSeries)):
            raise InputError(f"`places` must be a GeoDataFrame or GeoSeries, got {type(layer).__name__}.")
        if layer.crs is None:
            raise CRSError("`places` has no CRS; set it with places.set_crs(...).")
        geometry = layer.geometry[~(layer.geometry.isna() | layer.geometry.is_empty)]
        shapes = shapely.force_2d(np.asarray(geometry.to_crs(reader.region.crs).values))
        state, xy, amount = self._parts(cast(np.ndarray, shapes))
        if not len(state):
            raise InputError("`places` does not touch the region of the release.")
        some, which = np.unique(state, return_inverse=True)
        total = np.bincount(which, amount)
        middle = np.column_stack([np.bincount(which, amount * xy[:, axis]) / total for axis in (0, 1)])
        lattice = replace(self.lattice, index=self.lattice.index[some])
        return replace(self, some=some, lattice=lattice, xy=middle, measure=total / total.sum())

    def _parts(self, shapes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the states that shapes touch, where, and how much of a shape is there."""
        shapes = shapely.get_parts(shapes)
        if isinstance(self.states, CellStates):
            shape, state = shapely.STRtree(self.states.shapes).query(shapes, predicate="intersects")
            parts = shapely.intersection(shapes[shape], self.states.shapes[state])
        else:
            parts, state = shapes, self.states.label(shapely.get_coordinates(shapely.centroid(shapes)))
        amount = np.where(shapely.area(parts) > 0, shapely.area(parts), shapely.length(parts))
        is_point = shapely.get_dimensions(parts) == 0
        amount = np.where(is_point & (shapely.get_dimensions(shapes).max(initial=0) == 0), 1.0, amount)
        real = amount > 0
        return state[real], shapely.get_coordinates(shapely.centroid(parts[real])), amount[real]

    def weights(self, prior: Any, weight: str | None, reader: Reader) -> np.ndarray:
        """Return how likely each state is by a public layer; see `geotracs.perturb` for what it may be."""
        domain = reader.region.domain
        nobody = Originals.nobody(reader.region.data_crs)
        table, _ = priors.weights(prior, weight, domain, reader.region.crs, nobody)
        low, high = np.reshape(domain.outline.bounds, (2, 2))
        steps = [low[axis] + (np.arange(n) + 0.5) / n * (high - low)[axis] for axis, n in enumerate(table.shape)]
        middles = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 2)
        label = self.states.label(middles)
        inside = label >= 0
        found = np.bincount(label[inside], table.ravel()[inside], minlength=self.states.count)[self.some]
        if not found.sum() > 0:
            raise InputError("`prior` is 0 everywhere in the region of the release.")
        return found / found.sum()


def _sides(grid: CellStates, metres: float) -> tuple[float | np.ndarray, float]:
    """Return the sides of a grid's cells in metres; in degrees, the first one for each cell along the second axis."""
    corners = affine(grid.chart, np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    across, up = (np.hypot(*(corners[axis] - corners[0])) / grid.shape[axis - 1] for axis in (1, 2))
    if not grid.domain.in_degrees:
        return float(across * metres), float(up * metres)
    latitudes = corners[0, 1] + (np.arange(grid.shape[1]) + 0.5) * up
    return across * DEGREE * np.cos(np.radians(latitudes)), float(up * DEGREE)
