"""The ``round_to=`` argument: from a layer or a grid to places in the working CRS, and back to labelled rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from shapely.geometry.base import BaseGeometry

import geotracs.geo.crs as crs_
from geotracs.core.charts.base import CORNERS
from geotracs.core.places import Cells, Grid, Points, Shapes
from geotracs.errors import CRSError, InputError, PrivacyWarning, warn
from geotracs.geo.originals import Originals, derived_from
from geotracs.geo.region import Region

POINT = 0
MAX_PLACES = 2**22
"""How many places a method over places can take."""
TORN = 1.5e7
"""Wider than this in metres, a shape was torn by the projection."""


@dataclass(frozen=True, repr=False)  # its places may be cells over a region that was fitted to private data
class Rounding:
    """Places for one region.

    Attributes
    ----------
    places : Points, Shapes or Cells
        In the working CRS.
    table : DataFrame, or str
        A row a place: its label, and what is joined to the release. The name of the label column for cells, whose
        labels are their numbers.
    exact : array, optional
        Where point places are in the CRS of the data, to the last digit.
    """

    places: Points | Shapes | Cells
    table: pd.DataFrame | str
    exact: np.ndarray | None = None

    def attributes(self, which: np.ndarray) -> pd.DataFrame:
        """Return the rows of the table for these places."""
        return pd.DataFrame({self.table: which}) if isinstance(self.table, str) else self.table.iloc[which]

    @property
    def holds_points(self) -> bool:
        """Whether every place is one point and there are not too many for a method over places."""
        lines_or_areas = isinstance(self.places, Shapes) and not self.places.centroid
        return self.places.count <= MAX_PLACES and not lines_or_areas

    def check_points(self) -> None:
        """Raise unless every place is one point, and not too many for a method whose reports are places."""
        if self.places.count > MAX_PLACES:
            raise InputError(
                f"`round_to` has {self.places.count:,} places; a method over places takes at most {MAX_PLACES:,}. Take "
                'a coarser grid or fewer places, or method="tracs-c", which rounds to any number of them.'
            )
        if isinstance(self.places, Shapes) and not self.places.centroid:
            raise InputError(
                "`round_to` holds lines or areas, and a method over places reports points; use centroid=True to report "
                "their centroids."
            )

    def leave(self, which: np.ndarray, xy: np.ndarray, region: Region) -> np.ndarray:
        """Return where these places, at ``xy`` in the working CRS, are in the CRS of the data."""
        if self.exact is not None:
            return self.exact[which]
        if isinstance(self.places, Cells):  # a cell may reach out of the region with its middle
            xy = np.asfortranarray(xy)
            region.domain.project_inside(xy)
            return region.leave(xy)
        return crs_.transform(xy, region.crs, region.data_crs)


def prepare(
    round_to: Any, region: Region, data: Originals, *, place: str, join: Sequence[str], centroid: bool
) -> Rounding:
    """Return the places of a layer or a grid.

    Parameters
    ----------
    round_to : GeoDataFrame, GeoSeries or Grid
    data : Originals
        The private locations; only to warn when they are the layer themselves.
    place, join, centroid
        See `geotracs.perturb`.
    """
    check(round_to, join, centroid)
    if isinstance(round_to, Grid):
        return _grid(round_to, region, place)
    layer = round_to[~(round_to.geometry.isna() | round_to.geometry.is_empty).to_numpy()]
    if derived_from(layer.geometry, data):
        warn("`round_to` has the coordinates of the private data: rounding to it publishes them.", PrivacyWarning)
    moved = layer.geometry.to_crs(region.crs)
    bounds = moved.bounds.to_numpy() * region.crs.axis_info[0].unit_conversion_factor
    # A shape on the other side of the Earth is torn by the projection, and would run across the region.
    usable = np.isfinite(bounds).all(axis=1) & (bounds[:, 2] - bounds[:, 0] < TORN) & _finite(moved)
    layer, moved = layer[usable], moved[usable]
    if layer.empty:
        raise InputError("`round_to` has no place with a geometry that exists in the working CRS.")
    table = pd.DataFrame({place: layer.index} | {name: layer[name].array for name in join})
    geometries = shapely.force_2d(np.asarray(moved.values))
    _warn_if_outside(geometries, region)
    if np.all(shapely.get_type_id(geometries) == POINT):
        exact = shapely.get_coordinates(np.asarray(layer.geometry.to_crs(region.data_crs).values))
        xy = shapely.get_coordinates(geometries)
        return Rounding(Points(xy, on_sphere=region.domain.in_degrees), table, exact)
    if region.domain.in_degrees:
        raise InputError("On the globe reports can be rounded to points only.")
    return Rounding(Shapes(geometries, centroid=centroid), table)


def _finite(layer: gpd.GeoSeries) -> np.ndarray:
    """Return which shapes have no NaN or infinite coordinate; bounds pass over NaN."""
    xy, row = shapely.get_coordinates(np.asarray(layer.values), return_index=True)
    return np.bincount(row, ~np.isfinite(xy).all(axis=1), minlength=len(layer)) == 0


def check(round_to: Any, join: Sequence[str] = (), centroid: bool = False) -> None:
    """Raise for places that cannot be used, whatever the region is."""
    if isinstance(round_to, Grid):
        if join or centroid:
            raise InputError("`join` and `centroid` are for layers; a grid has cells only.")
        return
    if not isinstance(round_to, (gpd.GeoDataFrame, gpd.GeoSeries)):
        raise InputError(
            f"`round_to` must be a GeoDataFrame, a GeoSeries or a geotracs.places.Grid, got {type(round_to).__name__}."
        )
    if isinstance(round_to, gpd.GeoDataFrame) and round_to.active_geometry_name is None:
        raise InputError("`round_to` has no active geometry column; choose one with round_to.set_geometry(...).")
    if round_to.crs is None:
        raise CRSError("`round_to` has no CRS; set it with round_to.set_crs(...).")
    _check_join(round_to, join)


def _check_join(layer: gpd.GeoDataFrame | gpd.GeoSeries, join: Sequence[str]) -> None:
    columns = [] if isinstance(layer, gpd.GeoSeries) else [c for c in layer.columns if c != layer.geometry.name]
    for name in join:
        if columns.count(name) != 1:
            raise InputError(f"`round_to` has no column {name!r} to join; its columns are {[str(c) for c in columns]}.")


def _grid(grid: Grid, region: Region, place: str) -> Rounding:
    if region.domain.in_degrees:
        raise InputError("A grid of equal cells does not fit the globe; round to a layer of points there.")
    xy = shapely.get_coordinates(_outline(region))
    cells = grid.over((*xy.min(axis=0), *xy.max(axis=0)), region.crs.axis_info[0].unit_conversion_factor)
    return Rounding(cells, place)


def _warn_if_outside(geometries: np.ndarray, region: Region) -> None:
    if region.domain.in_degrees:
        return
    outline = _outline(region)
    shapely.prepare(outline)
    if not shapely.intersects(outline, geometries).any():
        warn("All places of `round_to` lie outside the domain; every report is moved out of it. Are both CRSs right?")


def _outline(region: Region) -> BaseGeometry:
    """Return where the mechanisms work: the rectangle of the chart, or the region itself."""
    chart = region.domain.chart
    return region.domain.outline if chart is None else shapely.Polygon(chart.from_unit(CORNERS))
