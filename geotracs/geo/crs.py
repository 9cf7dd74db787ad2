"""Coordinate reference systems: the planar one to work in, and distances in metres."""

import functools
import math
from typing import Any, cast

import numpy as np
import pyproj
from pyproj.crs import ProjectedCRS
from pyproj.crs.coordinate_operation import (
    AzimuthalEquidistantConversion,
    CoordinateOperation,
    EquidistantCylindricalConversion,
    LambertAzimuthalEqualAreaConversion,
)
from pyproj.exceptions import CRSError as PyprojCRSError
from pyproj.exceptions import ProjError

from geotracs.errors import CRSError, DomainError, quoted

CITY_DEGREES = 2.0
"""Up to this width and height a longitude/latitude box is a city..."""
CITY_DISTORTION = 0.02
"""...if its scale from west to east also stays this close to true."""

Bounds = tuple[float, float, float, float]


def parse(crs: Any, name: str = "crs") -> pyproj.CRS:
    """Return a pyproj CRS from anything that pyproj reads."""
    try:
        return pyproj.CRS.from_user_input(crs)
    except PyprojCRSError:
        raise CRSError(f"`{name}` is not a CRS that pyproj knows: {quoted(crs)}.") from None


def parse_planar(crs: Any) -> pyproj.CRS:
    """Return a CRS to work in, which must be planar."""
    parsed = parse(crs)
    if parsed.is_geographic or parsed.is_geocentric:
        raise CRSError("`crs` must be a planar (projected) CRS: distances and directions are measured in it.")
    return parsed


def working_crs(crs: pyproj.CRS, bounds: Bounds) -> pyproj.CRS:
    """Choose the planar CRS for a public region.

    A projected CRS is kept. For a geographic one, a city gets an equidistant cylindrical projection with true scale
    at its middle latitude, in which a longitude/latitude box stays a rectangle; a larger region gets Lambert's
    azimuthal equal-area projection centred on it. Both are on the datum of ``crs``.

    Parameters
    ----------
    bounds : (west, south, east, north)
        Public bounds in ``crs``; longitudes are unwrapped beyond the antimeridian.

    Examples
    --------
    >>> working_crs(pyproj.CRS("EPSG:4326"), (139.47, 35.51, 139.90, 35.86)).coordinate_operation.method_name
    'Equidistant Cylindrical'
    >>> working_crs(pyproj.CRS("EPSG:4326"), (5, 47, 15, 55)).coordinate_operation.method_name
    'Lambert Azimuthal Equal Area'
    """
    if not crs.is_geographic:
        return crs
    west, south, east, north = np.asarray(bounds) * degrees_per_unit(crs)
    if not -90 - 1e-9 <= south <= north <= 90 + 1e-9:
        raise DomainError("The domain's latitudes must lie in [-90, 90]; are longitude and latitude swapped?")
    width = east - west
    if width > 180:
        raise DomainError(
            "The domain spans more than half of the globe; use geotracs.domains.Globe(). If it crosses the "
            "antimeridian, give it as a bounding box (west, south, east, north) with west > east."
            + _polar(south, north)
        )
    middle_lon, middle_lat = (west + width / 2 + 180) % 360 - 180, (south + north) / 2
    if _is_city(width, south, north):
        conversion: CoordinateOperation = EquidistantCylindricalConversion(
            latitude_first_parallel=middle_lat, longitude_natural_origin=middle_lon
        )
    else:
        conversion = LambertAzimuthalEqualAreaConversion(
            latitude_natural_origin=middle_lat, longitude_natural_origin=middle_lon
        )
    return _projected(crs, conversion)


def metric_crs(crs: pyproj.CRS, xy: np.ndarray) -> pyproj.CRS:
    """Return a planar CRS around these locations, whatever CRS they are in; without an ellipsoid it is their own.

    For measuring what was done, never before a draw: it depends on the locations.
    """
    if crs.geodetic_crs is None or len(xy) == 0:
        return crs
    degrees = in_degrees(crs)
    longitude, latitude = (part[np.isfinite(part)] for part in transform(xy, crs, degrees).T)
    if len(longitude) == 0:
        raise CRSError("The locations cannot be transformed to degrees; is their CRS right?")
    longitude = min(longitude, longitude % 360, key=np.ptp)  # the second is shorter across the antimeridian
    if np.ptp(longitude) > 180:
        raise CRSError("The locations span more than half of the globe, which no plane shows; take a smaller region.")
    return working_crs(degrees, (longitude.min(), latitude.min(), longitude.max(), latitude.max()))


def _polar(south: float, north: float) -> str:
    """Return the hint for a region around a pole."""
    if north <= 0:
        return " Around the south pole work in a polar CRS: crs='EPSG:3031'."
    return " Around the north pole work in a polar CRS: crs='EPSG:3995'." if south >= 0 else ""


def centred_crs(crs: pyproj.CRS, centre: tuple[float, float]) -> pyproj.CRS:
    """Choose the planar CRS for a disc: a projected one is kept; degrees become distances from the centre."""
    if not crs.is_geographic:
        return crs
    longitude, latitude = np.asarray(centre) * degrees_per_unit(crs)
    if not -90 <= latitude <= 90:
        raise DomainError("The centre's latitude must lie in [-90, 90]; are longitude and latitude swapped?")
    conversion = AzimuthalEquidistantConversion(
        latitude_natural_origin=latitude, longitude_natural_origin=(longitude + 180) % 360 - 180
    )
    return _projected(crs, conversion)


def in_degrees(crs: pyproj.CRS) -> pyproj.CRS:
    """Return the CRS of longitude and latitude in degrees that ``crs`` is based on."""
    base = crs if crs.is_geographic else cast(pyproj.CRS, crs.geodetic_crs)
    return base if abs(degrees_per_unit(base) - 1) < 1e-9 else parse("EPSG:4326")


def keeps_lines(crs: pyproj.CRS, working: pyproj.CRS) -> bool:
    """Return whether ``working`` is an equidistant cylindrical projection of ``crs``.

    Boxes stay rectangles there, and straight lines straight: exactly with a PROJ that takes the Earth for a sphere in
    this projection, and to centimetres over a city with later ones.
    """
    operation = working.coordinate_operation
    return operation is not None and operation.method_name == "Equidistant Cylindrical" and working.geodetic_crs == crs


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
    degrees = degrees_per_unit(crs.geodetic_crs)
    a, b = a * degrees, b * degrees
    geod = cast(pyproj.Geod, crs.get_geod())  # there is one wherever there is a geodetic CRS
    return np.asarray(geod.inv(a[:, 0], a[:, 1], b[:, 0], b[:, 1])[2])


def common_crs(crs: pyproj.CRS, xy: np.ndarray) -> list[pyproj.CRS]:
    """Return CRSs in which the same locations are commonly written: degrees, Web Mercator, UTM."""
    if crs.geodetic_crs is None:
        return []
    degrees = parse("EPSG:4326")
    longitude, latitude = np.median(transform(xy, crs, degrees), axis=0)
    if not (np.isfinite(longitude) and np.isfinite(latitude)):
        return [degrees]
    zone = int((longitude + 180) // 6) % 60 + 1
    return [degrees, parse("EPSG:3857"), parse(f"EPSG:{(32600 if latitude >= 0 else 32700) + zone}")]


def label(crs: pyproj.CRS) -> str:
    """Return a short name such as ``EPSG:4326`` where there is one, and the whole definition otherwise."""
    known = crs.to_json_dict().get("id")
    return f"{known['authority']}:{known['code']}" if known else crs.to_wkt()


def _projected(crs: pyproj.CRS, conversion: Any) -> pyproj.CRS:
    base = crs.geodetic_crs  # of which PROJ has forgotten the codes of a datum's members, and looks for them by name
    try:
        return ProjectedCRS(
            conversion=conversion, geodetic_crs=crs if crs == base else base, name="geotracs working CRS"
        )
    except PyprojCRSError:
        raise CRSError("No planar CRS can be made from that of the data; give one with `crs`.") from None


def _is_city(width: float, south: float, north: float) -> bool:
    if width > CITY_DEGREES or north - south > CITY_DEGREES:
        return False
    middle = math.cos(math.radians((south + north) / 2))
    edge = math.cos(math.radians(max(abs(south), abs(north))))
    return edge > 0 and middle / edge - 1 <= CITY_DISTORTION


def turn(crs: pyproj.CRS) -> float:
    """Return a full turn of longitude in the unit of the CRS; infinite for a planar one."""
    return 360 / degrees_per_unit(crs) if crs.is_geographic else math.inf


def degrees_per_unit(crs: pyproj.CRS) -> float:
    """Return the unit of a geographic CRS in degrees; it may be grads."""
    return math.degrees(crs.axis_info[0].unit_conversion_factor)


@functools.lru_cache(maxsize=32)
def _transformer(source: pyproj.CRS, target: pyproj.CRS) -> pyproj.Transformer:
    try:
        return pyproj.Transformer.from_crs(source, target, always_xy=True)
    except ProjError:
        raise CRSError("PROJ knows no way between the two CRSs; is the one that the file says damaged?") from None
