"""The shape of a public region as a user gives it: checked, repaired, in one piece across the antimeridian."""

from collections.abc import Sequence
from numbers import Real

import geopandas as gpd
import numpy as np
import pyproj
import shapely
from shapely.geometry.base import BaseGeometry

import geotracs.geo.crs as crs_
from geotracs.errors import DomainError, warn


def box(bbox: Sequence[float] | np.ndarray, crs: pyproj.CRS) -> BaseGeometry:
    """Return a bounding box as a polygon; west > east means across the antimeridian."""
    if len(bbox) != 4 or not all(isinstance(value, Real) for value in bbox):
        raise DomainError("`domain` as a bounding box needs four numbers: (xmin, ymin, xmax, ymax).")
    xmin, ymin, xmax, ymax = (float(value) for value in bbox)
    if not np.all(np.isfinite([xmin, ymin, xmax, ymax])):
        raise DomainError("`domain` holds NaN or infinite numbers; four finite ones are needed.")
    if crs.is_geographic and xmin > xmax:  # across the antimeridian
        xmax += crs_.turn(crs)
    if xmin >= xmax or ymin >= ymax:
        raise DomainError("`domain` has no area: (xmin, ymin, xmax, ymax) needs xmin < xmax and ymin < ymax.")
    return shapely.box(xmin, ymin, xmax, ymax)


def check_poles(layer: gpd.GeoSeries, crs: pyproj.CRS) -> None:
    """Raise for a planar layer that holds a pole where degrees are asked for: its border is not one there."""
    if not crs.is_geographic or layer.crs is None or layer.crs.is_geographic:
        return
    poles = crs_.transform(np.array([[0.0, -90.0], [0.0, 90.0]]), crs_.in_degrees(layer.crs), layer.crs)
    for pole, code, (x, y) in zip(("south", "north"), (3031, 3995), poles, strict=True):
        if np.isfinite([x, y]).all() and layer.covers(shapely.Point(x, y)).any():
            raise DomainError(
                f"`domain` holds the {pole} pole, which has no longitude: bring the locations into a polar CRS first, "
                f"gdf.to_crs({code}), or give a bounding box (-180, south, 180, north) and crs='EPSG:{code}'."
            )


def repaired(layer: gpd.GeoSeries) -> gpd.GeoSeries:
    """Return the shapes of a layer, the invalid ones made valid, which is said."""
    if not np.isfinite(shapely.get_coordinates(np.asarray(layer.values))).all():
        raise DomainError("`domain` holds NaN or infinite coordinates.")
    invalid = ~layer.is_valid & ~layer.is_empty
    if not invalid.any():
        return layer
    warn(f"`domain` was not valid ({shapely.is_valid_reason(layer[invalid].iloc[0]).split('[')[0]}) and was repaired.")
    return layer.make_valid()


def checked(geometry: BaseGeometry | None, crs: pyproj.CRS) -> BaseGeometry:
    """Return the areas of a shape, as one; raise where there is none."""
    if geometry is None or geometry.is_empty:
        raise DomainError("`domain` is empty; a public polygon is needed.")
    parts = shapely.get_parts(shapely.force_2d(geometry))
    parts = shapely.get_parts(parts[np.isin(shapely.get_type_id(parts), [3, 6, 7])])
    shape = shapely.union_all(parts[shapely.area(parts) > 0]) if len(parts) else shapely.Polygon()
    if shape.is_empty or not shape.area > 0:
        raise DomainError("`domain` has no area; a public polygon is needed.")
    if not np.isfinite(shape.bounds).all():
        raise DomainError("`domain` cannot be brought into the CRS of the data; is its CRS right?")
    turn = crs_.turn(crs)
    if shape.bounds[2] - shape.bounds[0] > turn / 2:  # perhaps in two parts on both sides of the antimeridian
        parts = shapely.get_parts(shape)
        west = shapely.bounds(parts)[:, 2] <= 0
        parts[west] = shapely.transform(parts[west], lambda xy: xy + np.array([turn, 0]))
        moved = shapely.union_all(parts)
        shape = moved if moved.bounds[2] - moved.bounds[0] < turn / 2 else shape
    return shape


def wrapped(bounds: crs_.Bounds, crs: pyproj.CRS) -> list[float]:
    """Return bounds with longitudes up to 180 degrees; west > east means across the antimeridian."""
    xmin, ymin, xmax, ymax = (float(value) for value in bounds)
    turn = crs_.turn(crs)
    return [xmin, ymin, xmax - turn if xmax > turn / 2 else xmax, ymax]
