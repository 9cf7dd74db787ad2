"""What a density is asked for: the cells of a grid, areas, or places."""

from dataclasses import dataclass
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from scipy.sparse import csr_array, diags_array, kron

import geotracs.geo.crs as crs_
from geotracs.answers.reader import Reader
from geotracs.answers.states import CellStates, States, affine
from geotracs.answers.zones import SLIVER, Zones
from geotracs.core.places import Cells, Grid
from geotracs.errors import CRSError, InputError

POINT = 0
MAX_CELLS = 2**14
"""More cells than this no release can fill, and no map shows."""
SLANT = 1e-9
"""A grid this part of its size off the axes is straight."""


@dataclass(frozen=True, eq=False, repr=False)
class Asked:
    """Zones of any kind.

    Attributes
    ----------
    frame : GeoDataFrame
        The zones as the user gave them, or the cells, in the CRS of the release.
    width : float
        How wide a zone is, in units of the working CRS.
    kind : {"cells", "zones", "places"}
    shape : (int, int), or None
        How many cells there are along each axis.
    within : Zones, Cells, or array of shape (n, 2)
        The same in the working CRS.
    """

    frame: gpd.GeoDataFrame
    width: float
    kind: str
    within: Zones | Cells | np.ndarray
    shape: tuple[int, int] | None = None

    def shares(self, states: States) -> csr_array:
        """Return the part of each state in each zone, one row per zone."""
        if isinstance(self.within, Zones):
            return _in_areas(self.within, states)
        if isinstance(self.within, Cells):
            return _in_cells(self.within, states)[self.frame.index]
        points, which, times = np.unique(self.within, axis=0, return_inverse=True, return_counts=True)
        which = which.reshape(-1)  # places at one point share what is there
        return csr_array(diags_array(1 / times[which]) @ states.shares_near(points)[which])


def of(reader: Reader, cells: Any, zones: Any, places: Any) -> Asked:
    """Return what is asked for, checked against the region of a release."""
    given = [name for name, value in (("cells", cells), ("zones", zones), ("places", places)) if value is not None]
    if len(given) != 1:
        raise InputError(f"Give one of `cells`, `zones` and `places`, got {' and '.join(given) or 'none'}.")
    if cells is not None:
        return _cells(cells, reader)
    if places is not None:
        return _places(places, reader)
    areas = Zones.of(zones, reader)
    frame = zones.copy() if isinstance(zones, gpd.GeoDataFrame) else gpd.GeoDataFrame(geometry=zones)
    return Asked(frame, areas.width, "zones", areas)


def _cells(grid: Any, reader: Reader) -> Asked:
    """Return the cells that the region reaches; their labels are those of `geotracs.perturb(round_to=Grid(...))`."""
    if not isinstance(grid, Grid):
        raise InputError(
            f"`cells` must be a geotracs.places.Grid, such as Grid(nx=20, ny=20), got a {type(grid).__name__}."
        )
    domain = reader.region.domain
    if domain.in_degrees and grid.cell is not None:
        raise InputError("`cells` of one width in metres do not fit the globe; take Grid(nx=..., ny=...).")
    cells = grid.over(domain.outline.bounds, 1.0 if domain.in_degrees else reader.metres)
    if cells.count > MAX_CELLS:
        raise InputError(f"`cells` must be at most {MAX_CELLS:,}, got {cells.count:,}; take larger ones.")
    row, column = np.divmod(np.arange(cells.count), cells.counts[0])
    low = np.column_stack([column, row]) * cells.size + cells.origin
    corners = [low + np.multiply(step, cells.size) for step in ((0, 0), (1, 0), (1, 1), (0, 1))]
    boxes = shapely.polygons(np.stack(corners, axis=1))
    shapely.prepare(domain.outline)
    reached = shapely.intersects(domain.outline, boxes) & (
        shapely.area(shapely.intersection(domain.outline, boxes)) > 0
    )
    rings = np.stack(corners, axis=1)[reached]
    moved = crs_.transform(rings.reshape(-1, 2), reader.region.crs, reader.region.data_crs).reshape(-1, 4, 2)
    index = pd.Index(np.flatnonzero(reached), name="cell")
    frame = gpd.GeoDataFrame(geometry=shapely.polygons(moved), index=index, crs=reader.region.data_crs)
    return Asked(frame, float(np.sqrt(np.prod(cells.size))), "cells", cells, cells.counts)


def _places(places: Any, reader: Reader) -> Asked:
    if not isinstance(places, (gpd.GeoDataFrame, gpd.GeoSeries)):
        raise InputError(f"`places` must be a GeoDataFrame or a GeoSeries of points, got a {type(places).__name__}.")
    if places.crs is None:
        raise CRSError("`places` have no CRS; set it with places.set_crs(...).")
    shapes = np.asarray(places.geometry.values)
    points = ~shapely.is_missing(shapes) & ~shapely.is_empty(shapes) & (shapely.get_type_id(shapes) == POINT)
    if not len(points) or not points.all():
        raise InputError(
            f"`places` must be points, at least one, and {(~points).sum()} of {len(points)} are not; give areas as "
            "`zones`."
        )
    xy = shapely.get_coordinates(np.asarray(places.geometry.to_crs(reader.region.crs).values))
    lost = int((~np.isfinite(xy).all(axis=1)).sum())
    if lost:
        raise InputError(f"{lost} of {len(xy)} `places` cannot be brought into the CRS of the release; are they right?")
    frame = places.copy() if isinstance(places, gpd.GeoDataFrame) else gpd.GeoDataFrame(geometry=places)
    area = reader.region.domain.outline.area / len(xy)
    return Asked(frame, float(np.sqrt(area)), "places", xy)


def _in_areas(areas: Zones, states: States) -> csr_array:
    """Return the part of each state in each area; the seams between areas that leave nothing open belong to them."""
    found = states.shares_in(areas.shapes)
    whole = found.sum(axis=0)
    most = np.maximum(whole, 1) if areas.open > SLIVER else np.where(whole > 0, whole, 1)
    return csr_array(found @ diags_array(1 / most))


def _in_cells(cells: Cells, states: States) -> csr_array:
    """Return the part of each state in each cell: a product of two small tables where both grids are straight."""
    if not isinstance(states, CellStates):
        which, _ = cells.round(states.xy)
        every = np.arange(states.count)
        return csr_array((np.ones(states.count), (which, every)), shape=(cells.count, states.count))
    low, *ends = affine(states.chart, np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    across, up = ends[0] - low, ends[1] - low
    if max(abs(across[1]), abs(up[0])) > SLANT * max(np.abs(across).max(), np.abs(up).max()):
        row, column = np.divmod(np.arange(cells.count), cells.counts[0])
        corner = np.column_stack([column, row]) * cells.size + cells.origin
        return states.shares_in(np.asarray(shapely.box(*corner.T, *(corner + cells.size).T)))
    sides = zip(low, (across[0], up[1]), states.shape, cells.origin, cells.size, cells.counts, strict=True)
    first, second = (_overlaps(*side) for side in sides)
    return csr_array(kron(second, first))[:, _column_after_column(states)]


def _overlaps(low: float, length: float, states: int, origin: float, size: float, count: int) -> csr_array:
    """Return the part of each of equal intervals that is in each of others; the last of these has no end."""
    edges = low + length * np.arange(states + 1) / states
    ends = origin + size * np.arange(count + 1)
    ends[0], ends[-1] = -np.inf, np.inf
    common = np.minimum(edges[1:], ends[1:, None]) - np.maximum(edges[:-1], ends[:-1, None])
    part = np.clip(common / (length / states), 0, 1)
    return csr_array(np.where(part > SLANT, part, 0))


def _column_after_column(states: CellStates) -> np.ndarray:
    """Return where states, which are counted column after column, are where they are counted row after row."""
    column, row = np.divmod(states.index, states.shape[1])
    return row * states.shape[0] + column
