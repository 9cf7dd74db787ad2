"""Hexagons and boxes over a region: zones of one size."""

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.geo.crs as crs_
from geotracs.core.places import Grid
from geotracs.errors import InputError
from geotracs.geo.region import Region

METRES = 111_320.0
"""In a degree of latitude."""
MAX_HEXAGONS = 4000
"""More than these a page shows neither clearly nor fast."""
CORNERS = np.array([(0, 2), (1, 1), (1, -1), (0, -2), (-1, -1), (-1, 1)])
"""Of a hexagon that stands on a corner: in half widths along x, in thirds of the way to the next row along y."""


def hexagons(region: Region, width: float) -> gpd.GeoDataFrame:
    """Return the hexagons that a region reaches, in the CRS of the data, each in one piece.

    Parameters
    ----------
    region : Region
        In a plane, or the globe, where hexagons are those of a map in degrees.
    width : float
        From side to side, in units of the working CRS.

    Examples
    --------
    >>> import geotracs.geo.region as regions
    >>> from geotracs.geo.originals import Originals
    >>> box = regions.resolve((0, 0, 10, 10), Originals.nobody("EPSG:32654"))
    >>> found = hexagons(box, 2.0)
    >>> len(found), bool(found.union_all().buffer(1e-9).covers(box.domain.outline))
    (39, True)
    """
    return _reached(region, _lattice(region.domain.outline.bounds, width), "hexagon")


def boxes(region: Region, grid: Grid) -> gpd.GeoDataFrame:
    """Return the cells of a grid that a region reaches, in the CRS of the data, each in one piece."""
    cells = grid.over(region.domain.outline.bounds, metres(region))
    row, column = np.divmod(np.arange(cells.count), cells.counts[0])
    low = np.column_stack([column, row]) * cells.size + cells.origin
    return _reached(region, np.asarray(shapely.box(*low.T, *(low + cells.size).T)), "cell")


def metres(region: Region) -> float:
    """Return how long a unit of a region's working CRS is."""
    return METRES if region.domain.in_degrees else float(region.crs.axis_info[0].unit_conversion_factor)


def _reached(region: Region, parts: np.ndarray, name: str) -> gpd.GeoDataFrame:
    """Return which of some zones, of as many corners each, the region reaches."""
    outline = region.domain.outline
    shapely.prepare(outline)
    reached = np.flatnonzero(shapely.intersects(outline, parts))
    reached = reached[shapely.area(shapely.intersection(outline, parts[reached])) > 0]
    parts = parts[reached]
    corners = crs_.transform(shapely.get_coordinates(parts), region.crs, region.data_crs)
    if region.data_crs.is_geographic and len(parts):
        turn, each = crs_.turn(region.data_crs), len(corners) // len(parts)
        first = np.repeat(corners[::each, 0], each)
        corners[:, 0] += turn * np.round((first - corners[:, 0]) / turn)
    shapes = shapely.set_coordinates(parts, corners)
    return gpd.GeoDataFrame(geometry=shapes, index=pd.Index(reached, name=name), crs=region.data_crs)


def _lattice(bounds: tuple[float, float, float, float], width: float) -> np.ndarray:
    """Return hexagons that cover a box, row after row; neighbours share corners to the last digit."""
    west, south, east, north = bounds
    height = width * np.sqrt(3) / 2  # from row to row
    columns, rows = int(np.ceil((east - west) / width)) + 1, int(np.ceil((north - south) / height)) + 1
    if columns * rows > 4 * MAX_HEXAGONS:
        raise InputError(f"`cells` of this width would be {columns * rows:,} hexagons; take wider ones.")
    row, column = np.divmod(np.arange(columns * rows), columns)
    x = (2 * column + row % 2)[:, None] + CORNERS[:, 0]
    y = (3 * row)[:, None] + CORNERS[:, 1]
    return np.asarray(shapely.polygons(np.stack([west + x * (width / 2), south + y * (height / 3)], axis=-1)))
