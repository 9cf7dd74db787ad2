"""Coordinate reference systems: the planar one to work in, and distances in metres."""

import functools
import math
from typing import Any

import numpy as np
import pyproj
from pyproj.crs import ProjectedCRS
from pyproj.crs.coordinate_operation import (
    EquidistantCylindricalConversion,
    LambertAzimuthalEqualAreaConversion,
)
from pyproj.exceptions import CRSError as PyprojCRSError

from geotracs.errors import CRSError, DomainError

CITY_DEGREES = 2.0
"""Up to this width and height a longitude/latitude box is a city..."""
CITY_DISTORTION = 0.02
"""...if its scale from west to east also stays this close to true."""

Bounds = tuple[float, float, float, float]


def parse(crs: Any, name: str = "crs") -> pyproj.CRS:
    """Return a pyproj CRS from anything that pyproj reads."""
    try:
        return pyproj.CRS.from_user_input(crs)
    except PyprojCRSError as error:
        raise CRSError(f"`{name}` is not a CRS that pyproj knows: {crs!r}.") from error


def working_crs(crs: pyproj.CRS, bounds: Bounds) -> pyproj.CRS:
    """Choose the planar CRS for a public region.

    A projected CRS is kept. For a geographic one, a city gets an equidistant cylindrical projection with true scale
    at its middle latitude, in which a longitude/latitude box stays a rectangle; a larger region gets Lambert's
    azimuthal equal-area projection centred on it. Both are on the datum of ``crs``.

    Parameters
    ----------
    bounds : (west, south, east, north)
        Public bounds in ``crs``; west > east means that they cross the antimeridian.

    Examples
    --------
    >>> working_crs(pyproj.CRS("EPSG:4326"), (139.47, 35.51, 139.90, 35.86)).coordinate_operation.method_name
    'Equidistant Cylindrical'
    >>> working_crs(pyproj.CRS("EPSG:4326"), (5, 47, 15, 55)).coordinate_operation.method_name
    'Lambert Azimuthal Equal Area'
    """
    if not crs.is_geographic:
        return crs
    west, south, east, north = np.asarray(bounds) * _degrees_per_unit(crs)
    if not -90 - 1e-9 <= south <= north <= 90 + 1e-9:
        raise DomainError("The domain's latitudes must lie in [-90, 90]; are longitude and latitude swapped?")
    width = (east - west) % 360 if east < west else east - west
    if width > 180:
        raise DomainError(
            "The domain spans more than half of the globe. If it crosses the antimeridian, give it as a bounding box "
            "(west, south, east, north) with west > east."
        )
    middle_lon, middle_lat = (west + width / 2 + 180) % 360 - 180, (south + north) / 2
    if _is_city(width, south, north):
        conversion = EquidistantCylindricalConversion(
            latitude_first_parallel=middle_lat, longitude_natural_origin=middle_lon
        )
    else:
        conversion = LambertAzimuthalEqualAreaConversion(
            latitude_natural_origin=middle_lat, longitude_natural_origin=middle_lon
        )
    return ProjectedCRS(conversion=conversion, geodetic_crs=crs.geodetic_crs, name="geotracs working CRS")


def transform(xy: np.ndarray, source: pyproj.CRS, target: pyproj.CRS) -> np.ndarray:
    """Return coordinates in another CRS, x (or longitude) first; what cannot be transformed becomes infinite."""
    if source == target:
        return xy
    x, y = _transformer(source, target).transform(xy[:, 0], xy[:, 1])
    return np.array([x, y]).T


def metres_between(crs: pyproj.CRS, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the distance of each pair of locations in metres: along the ellipsoid wherever there is one."""
    if crs.geodetic_crs is None:
        return np.hypot(*(b - a).T) * crs.axis_info[0].unit_conversion_factor
    if not crs.is_geographic:
        a, b = transform(a, crs, crs.geodetic_crs), transform(b, crs, crs.geodetic_crs)
    degrees = _degrees_per_unit(crs.geodetic_crs)
    a, b = a * degrees, b * degrees
    return np.asarray(crs.get_geod().inv(a[:, 0], a[:, 1], b[:, 0], b[:, 1])[2])


def label(crs: pyproj.CRS) -> str:
    """Return a short name such as ``EPSG:4326`` where there is one, and the whole definition otherwise."""
    known = crs.to_json_dict().get("id")
    return f"{known['authority']}:{known['code']}" if known else crs.to_wkt()


def _is_city(width: float, south: float, north: float) -> bool:
    if width > CITY_DEGREES or north - south > CITY_DEGREES:
        return False
    middle = math.cos(math.radians((south + north) / 2))
    edge = math.cos(math.radians(max(abs(south), abs(north))))
    return edge > 0 and middle / edge - 1 <= CITY_DISTORTION


def _degrees_per_unit(crs: pyproj.CRS) -> float:
    return math.degrees(crs.axis_info[0].unit_conversion_factor)


@functools.lru_cache(maxsize=32)
def _transformer(source: pyproj.CRS, target: pyproj.CRS) -> pyproj.Transformer:
    return pyproj.Transformer.from_crs(source, target, always_xy=True)
