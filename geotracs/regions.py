"""The ``domain=`` argument: from what a user gives to a public region in a planar working CRS."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import geopandas as gpd
import numpy as np
import pyproj
import shapely
from shapely.geometry.base import BaseGeometry

from geotracs import crs as crs_
from geotracs.domains import Rectangle
from geotracs.errors import CRSError, DomainError, InputError, PrivacyWarning, warn

FITS = ("envelope",)


@dataclass(frozen=True)
class Region:
    """A domain, the CRS of its coordinates, and what a reader of the release may know of it."""

    domain: Rectangle
    crs: pyproj.CRS
    record: dict[str, Any]


def resolve(domain: Any, data: gpd.GeoSeries, *, fit: str = "envelope", crs: Any = None) -> Region:
    """Return the public region to work in.

    Parameters
    ----------
    domain : bbox, shapely geometry, GeoSeries, GeoDataFrame, `Rectangle` or None
        See `geotracs.perturb`. A bbox, a geometry and a `Rectangle` are in the CRS of ``data``.
    data : GeoSeries
        The private locations. Only their CRS is used, unless ``domain`` is None.
    """
    if fit not in FITS:
        raise InputError(f"`fit` must be one of {list(FITS)}, got {fit!r}.")
    working = None if crs is None else crs_.parse(crs)
    if domain is None:
        return _fitted(data, working)
    bounds, source = _public_bounds(domain, data.crs)
    working = working or crs_.working_crs(data.crs, _bounds_in(bounds, source, data.crs))
    record = {"kind": "rectangle", "bounds": list(bounds), "crs": crs_.label(source), "fitted": False}
    return Region(_rectangle(bounds, source, working), working, record)


def _fitted(data: gpd.GeoSeries, working: pyproj.CRS | None) -> Region:
    warn(
        "`domain` was not given, so it is fitted to the data: the extent of private data is private, and every "
        "report reveals something of it. Give a public region, e.g. domain=(xmin, ymin, xmax, ymax).",
        PrivacyWarning,
    )
    bounds = tuple(data.total_bounds)
    if not (bounds[0] < bounds[2] and bounds[1] < bounds[3]):
        raise DomainError(
            "`domain` cannot be fitted: the locations span no area. Give a public region, e.g. "
            "domain=(xmin, ymin, xmax, ymax)."
        )
    working = working or crs_.working_crs(data.crs, bounds)
    return Region(_rectangle(bounds, data.crs, working), working, {"kind": "rectangle", "fitted": True})


def _public_bounds(domain: Any, crs: pyproj.CRS) -> tuple[crs_.Bounds, pyproj.CRS]:
    if isinstance(domain, Rectangle):
        return (domain.xmin, domain.ymin, domain.xmax, domain.ymax), crs
    if isinstance(domain, (gpd.GeoSeries, gpd.GeoDataFrame)):
        if domain.crs is None:
            raise CRSError("`domain` has no CRS; set it with domain.set_crs(...).")
        return _bounds_of_box(domain.geometry.union_all()), domain.crs
    if isinstance(domain, BaseGeometry):
        return _bounds_of_box(domain), crs
    if isinstance(domain, (Sequence, np.ndarray)) and not isinstance(domain, str):
        return _bounds_of_numbers(domain, crs), crs
    raise InputError(
        "`domain` must be a bounding box (xmin, ymin, xmax, ymax), a shapely geometry, a GeoSeries or GeoDataFrame, "
        f"or one of geotracs.domains, got {type(domain).__name__}."
    )


def _bounds_of_numbers(bbox: Sequence[float], crs: pyproj.CRS) -> crs_.Bounds:
    if len(bbox) != 4 or not all(isinstance(value, Real) for value in bbox):
        raise DomainError("`domain` as a bounding box needs four numbers: (xmin, ymin, xmax, ymax).")
    xmin, ymin, xmax, ymax = (float(value) for value in bbox)
    if not np.all(np.isfinite([xmin, ymin, xmax, ymax])):
        raise DomainError("`domain` holds NaN or infinite numbers; four finite ones are needed.")
    if xmin == xmax or ymin >= ymax or (xmin > xmax and not crs.is_geographic):
        raise DomainError("`domain` has no area: (xmin, ymin, xmax, ymax) needs xmin < xmax and ymin < ymax.")
    return xmin, ymin, xmax, ymax


def _bounds_of_box(geometry: BaseGeometry) -> crs_.Bounds:
    if geometry is None or geometry.is_empty:
        raise DomainError("`domain` is empty; a public polygon is needed.")
    if geometry.area == 0 or not np.isfinite(geometry.area):
        raise DomainError("`domain` has no area; a public polygon is needed.")
    if not geometry.is_valid:
        raise DomainError(f"`domain` is not valid ({shapely.is_valid_reason(geometry)}); try shapely.make_valid.")
    box = shapely.box(*geometry.bounds)
    if not np.isclose(geometry.area, box.area, rtol=1e-9):
        raise DomainError(
            "`domain` is not a rectangle, and other shapes are not supported yet. Give its bounding box: "
            "domain=geometry.bounds."
        )
    return geometry.bounds


def _bounds_in(bounds: crs_.Bounds, source: pyproj.CRS, target: pyproj.CRS) -> crs_.Bounds:
    if source == target:
        return bounds
    moved = pyproj.Transformer.from_crs(source, target, always_xy=True).transform_bounds(*bounds, densify_pts=101)
    if not np.all(np.isfinite(moved)):
        raise DomainError("`domain` cannot be brought into the CRS of the data; is its CRS right?")
    return moved


def _rectangle(bounds: crs_.Bounds, source: pyproj.CRS, working: pyproj.CRS) -> Rectangle:
    west, south, east, north = bounds
    if west > east:  # across the antimeridian: the working CRS is centred on the region
        ends = crs_.transform(np.array([[west, south], [east, north]]), source, working)
        return Rectangle(*ends.ravel().tolist())
    return Rectangle(*_bounds_in(bounds, source, working))
