"""The ``domain=`` argument: from what a user gives to a public region in a planar working CRS, and back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pyproj
import shapely
from pyproj.exceptions import ProjError
from shapely.geometry.base import BaseGeometry

import geotracs.geo.crs as crs_
import geotracs.geo.layers as layers
import geotracs.geo.prior as priors
import geotracs.geo.shapes as shapes
from geotracs.core.domains import Disc, Domain, Globe, Parallelogram, Polygon, Rectangle, Transport
from geotracs.core.domains.polygon import FITS
from geotracs.errors import CRSError, DomainError, InputError, PrivacyWarning, quoted, warn
from geotracs.geo.originals import Originals

PIECES = 200
"""Into how many pieces a border as long as the region is cut where the working CRS would bend it."""


@dataclass(frozen=True)
class Region:
    """A public region: its domain in the working CRS, and its shape in the CRS of the data.

    Attributes
    ----------
    domain : Domain
        Where the mechanisms work, in coordinates of `crs`.
    crs, data_crs : pyproj.CRS
        The working CRS and that of the data.
    record : dict
        What a reader of the release may know of the region.
    shape : shapely geometry, optional
        The region in the CRS of the data, with unwrapped longitudes; none for a disc, the globe and new kinds.
    box : Rectangle, optional
        The shape, if it is a box whose sides stay straight in the working CRS.
    transport : Transport, optional
        The domain with the chart of its public density.
    """

    # A region that was fitted to private data is private, and so is the working CRS made for it: neither is shown.
    domain: Domain = field(repr=False)
    crs: pyproj.CRS = field(repr=False)
    data_crs: pyproj.CRS = field(repr=False)
    record: dict[str, Any]
    shape: BaseGeometry | None = field(default=None, repr=False)
    box: Rectangle | None = field(default=None, repr=False)
    transport: Transport | None = field(default=None, repr=False)

    @property
    def chart(self) -> Domain:
        """The domain as methods on a region see it."""
        return self.transport or self.domain

    def enter(self, xy: np.ndarray) -> np.ndarray:
        """Bring locations into the working CRS."""
        return crs_.transform(xy, self.data_crs, self.crs)

    def contains(self, xy: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """Return which locations are inside, given in the CRS of the data and, ``moved``, in the working CRS."""
        inside = np.isfinite(moved).all(axis=1)
        if self.shape is None or self.crs == self.data_crs or self.box is not None:
            return inside & self.domain.contains(moved)
        # Slanted borders are bent in the working CRS, if only by centimetres, and the shape is what was given.
        return inside & self._given.contains(self._unwrapped(xy))

    @cached_property
    def _given(self) -> Polygon:
        """The shape as it was given, with an index over its border."""
        return Polygon(cast(BaseGeometry, self.shape))  # callers have checked that there is one

    def _unwrapped(self, xy: np.ndarray) -> np.ndarray:
        """Return degrees with longitudes unwrapped as in the shape; other coordinates as they are."""
        if not self.data_crs.is_geographic:
            return xy
        west, _, east, _ = cast(BaseGeometry, self.shape).bounds
        middle, turn = (west + east) / 2, crs_.turn(self.data_crs)
        xy = xy.copy(order="F")
        xy[:, 0] = middle + (xy[:, 0] - middle + turn / 2) % turn - turn / 2
        return xy

    def outline(self, crs: pyproj.CRS | None = None) -> BaseGeometry:
        """Return a shape to draw, in the CRS of the data or another; longitudes may go beyond 180 degrees."""
        shape = self._own_outline() if self.shape is None else self.shape
        return shape if crs in (None, self.data_crs) else gpd.GeoSeries([shape], crs=self.data_crs).to_crs(crs).iloc[0]

    def _own_outline(self) -> BaseGeometry:
        """Return the outline of a domain that was given without a shape, in the CRS of the data."""
        outline = self.domain.outline
        if self.domain.in_degrees:
            return shapely.transform(outline, lambda xy: xy / crs_.degrees_per_unit(self.data_crs))
        if not self.data_crs.is_geographic:
            return shapely.transform(outline, lambda xy: crs_.transform(xy, self.crs, self.data_crs))
        # A disc, the only one that is brought back into degrees: one ring, which may go around a pole.
        ring = crs_.transform(shapely.get_coordinates(outline), self.crs, self.data_crs)
        ring[:, 0] = np.unwrap(ring[:, 0], period=crs_.turn(self.data_crs))
        return shapely.Polygon(ring)

    def leave(self, xy: np.ndarray) -> np.ndarray:
        """Bring reports back into the CRS of the data, where they are covered by the shape: rounding is undone."""
        border = self.domain.border
        covered = self.box is not None or border is not None  # to the last digit, where nothing is transformed
        if self.shape is None or (covered and self.crs == self.data_crs):
            return crs_.transform(xy, self.crs, self.data_crs)
        unsure = np.arange(len(xy)) if border is None else np.flatnonzero(~border.surely_covers(xy))
        xy = self._unwrapped(crs_.transform(xy, self.crs, self.data_crs))
        if self.box is not None:
            self.box.project_inside(xy)
        else:
            shapely.prepare(self.shape)
            unsure = unsure[~shapely.intersects_xy(self.shape, xy[unsure, 0], xy[unsure, 1])]
            if len(unsure):
                xy[unsure] = self._given.border.nearest_inside(xy[unsure])
        half = crs_.turn(self.data_crs) / 2
        if not -half <= self.shape.bounds[0] <= self.shape.bounds[2] <= half:
            xy[:, 0] = (xy[:, 0] + half) % (2 * half) - half
        return xy


def resolve(
    domain: Any,
    data: Originals,
    *,
    fit: str = "envelope",
    crs: Any = None,
    prior: Any = None,
    weight: str | None = None,
    error: Callable[[Domain], float] | None = None,
    axis: int | None = None,
) -> Region:
    """Return the public region to work in.

    Parameters
    ----------
    domain : bbox, shapely geometry, GeoSeries, GeoDataFrame, one of `geotracs.domains`, or None
        See `geotracs.perturb`. All but the layers are in the CRS of ``data``.
    data : Originals
        The private locations. Only their CRS is used, unless ``domain`` is None; and to warn if it is their extent.
    prior, weight
        See `geotracs.perturb`.
    error : callable, optional
        The expected error on a domain, for what is chosen by it.
    axis : {0, 1}, optional
        The axis that a transport chart maps first, if it is known already.
    """
    check_fit(fit, prior, weight)
    charted = prior is not None or fit == "transport"
    region = _region(domain, data, "envelope" if charted else fit, crs, error)
    if charted and not region.domain.plane:
        raise DomainError(f'The {region.domain.kind} has a chart of its own; leave out `prior` and fit="transport".')
    weights: np.ndarray | None = None
    record: dict[str, Any] = {"fit": "transport"}
    if prior is not None:
        weights, record["prior"] = priors.weights(prior, weight, region.domain, region.crs, data)
    if charted or (fit == "best" and "fit" in region.record):
        both = [Transport(region.domain, weights, first=first) for first in ((0, 1) if axis is None else (axis,))]
        best = both[0] if error is None else min(both, key=error)
        if charted or (error is not None and error(best) < error(region.domain)):
            return replace(region, transport=best, record=region.record | record | {"axis": best.first})
    return region


def check_fit(fit: Any, prior: Any, weight: str | None) -> None:
    """Raise for an unknown ``fit``, and for the weight of a prior that was not given."""
    fits = [*FITS, "transport", "best"]
    if not isinstance(fit, str) or fit not in fits:
        raise InputError(f"`fit` must be one of {fits}, got {quoted(fit)}.")
    if weight is not None and prior is None:
        raise InputError("`weight` is a column of the prior; give it with `prior`.")


def _region(domain: Any, data: Originals, fit: str, crs: Any, error: Callable[[Domain], float] | None) -> Region:
    working = None if crs is None else crs_.parse_planar(crs)
    if isinstance(domain, Globe):
        return _globe(domain, data.crs, working)
    if isinstance(domain, Disc):
        return _disc(domain, data.crs, working)
    if not isinstance(domain, (Rectangle, Parallelogram, Polygon)) and isinstance(domain, Domain):
        return _other(domain, data, working)
    fitted = domain is None
    shape = _extent(data) if fitted else _shape(domain, data.crs)
    if not fitted:
        _warn_of_their_extent(shape.bounds, data)
    bounds = shapes.wrapped(shape.bounds, data.crs)
    working = working or crs_.working_crs(data.crs, shape.bounds)
    if fit == "best" and error is not None:
        fitted_ways = {way: _planar(domain, shape, data.crs, working, way) for way in FITS}
        fit = min(FITS, key=lambda way: error(fitted_ways[way]))
    planar = _planar(domain, shape, data.crs, working, fit)
    is_box = shape.equals(shapely.box(*shape.bounds))
    # A box is recorded as it was given, even if the working CRS bends it.
    record = {"kind": Rectangle.kind if is_box else planar.kind, "fitted": fitted}
    if not fitted:
        record |= {"bounds": bounds, "crs": crs_.label(data.crs)}
    if isinstance(domain, Parallelogram):
        record["vertices"] = np.asarray(domain.vertices).tolist()
    box = Rectangle(*shape.bounds) if is_box else None
    if isinstance(planar, Polygon):
        record["fit"], box = fit, None
    return Region(planar, working, data.crs, record, shape, box)


def recorded(
    record: dict[str, Any], crs: pyproj.CRS, domain: Any = None, *, prior: Any = None, weight: str | None = None
) -> Region | None:
    """Return the region of a release again, as far as its record says it, or from the domain that it was made with.

    Unless it was embedded, a polygon is on record by its bounds only, and of a fitted region there is nothing: without
    ``domain`` there is none. Where a prior was used, it has a chart only with that ``prior``, a layer or a raster.
    ``crs`` is that of a ``domain`` that has none.
    """
    known = record.get("domain", {})
    charted = known.get("fit") == "transport" and (prior is not None or "prior" not in known)
    fit = known.get("fit") if known.get("fit") in FITS or charted else "envelope"

    def again(domain: Any, crs: pyproj.CRS) -> Region:
        working = None if isinstance(domain, Globe) else record.get("crs")
        axis = {"axis": known.get("axis"), "prior": prior, "weight": weight} if charted else {}
        return resolve(domain, Originals.nobody(crs), fit=cast(str, fit), crs=working, **axis)

    if domain is not None:
        return again(domain, crs)
    try:
        return again(from_record(known, record.get("layers", {})), crs_.parse(known["crs"]))
    except (KeyError, TypeError, ValueError, ProjError):  # missing, or not as we write it
        return None


def from_record(known: dict[str, Any], embedded: dict[str, Any]) -> Any:
    """Return the domain that a record tells, in its CRS."""
    if "vertices" in known:
        origin, u, _, v = np.asarray(known["vertices"], dtype=float)
        return Parallelogram(origin, u - origin, v - origin)
    shape = layers.restored(embedded.get("domain", {}))
    if shape is not None:
        return shape
    if known["kind"] == "globe":
        return Globe(known["bounds"][1], known["bounds"][3])
    if known["kind"] == "disc":
        return Disc(tuple(known["centre"]), known["radius"])
    if known["kind"] == "rectangle":
        return tuple(float(number) for number in known["bounds"])
    raise KeyError(known["kind"])


def _globe(globe: Globe, crs: pyproj.CRS, working: pyproj.CRS | None) -> Region:
    if working is not None:
        raise CRSError("The globe is worked on in degrees; leave out `crs`.")
    if not crs.is_geographic:
        raise CRSError("The globe needs data in degrees, e.g. gdf.to_crs('EPSG:4326'): no plane shows all of it.")
    record = {"kind": "globe", "fitted": False, "bounds": [-180.0, globe.south, 180.0, globe.north], "crs": "EPSG:4326"}
    return Region(globe, crs_.in_degrees(crs), crs, record)


def _disc(disc: Disc, crs: pyproj.CRS, working: pyproj.CRS | None) -> Region:
    working = working or crs_.centred_crs(crs, disc.centre)
    centre = crs_.transform(np.array([disc.centre]), crs, working)[0]
    if not np.isfinite(centre).all():
        raise DomainError("The centre of the disc does not exist in the CRS of the data.")
    metres = working.axis_info[0].unit_conversion_factor
    if disc.radius > 2e7:
        raise DomainError("`radius` of a disc must be at most 20,000 km, half of the Earth's circumference.")
    planar = Disc(tuple(centre.tolist()), disc.radius / metres)
    record = {
        "kind": "disc",
        "fitted": False,
        "centre": list(disc.centre),
        "radius": disc.radius,
        "crs": crs_.label(crs),
    }
    return Region(planar, working, crs, record)


def _warn_of_their_extent(bounds: crs_.Bounds, data: Originals) -> None:
    if data.have_extent(bounds):
        warn(
            "`domain` has the extent of the private data. If it was made from them it is not public, and the reports "
            "and the record reveal it; give a public region.",
            PrivacyWarning,
        )


def _other(domain: Domain, data: Originals, working: pyproj.CRS | None) -> Region:
    """Return a region of a kind of its own, which is worked on in its own coordinates."""
    crs = data.crs
    _warn_of_their_extent(domain.outline.bounds, data)
    if crs.is_geographic or (working is not None and working != crs):
        raise CRSError(f"A {domain.kind} is worked on in its own coordinates; bring the data into its planar CRS.")
    return Region(domain, crs, crs, {"kind": domain.kind, "fitted": False, "crs": crs_.label(crs)})


def _extent(data: Originals) -> BaseGeometry:
    warn(
        "`domain` was not given, so it is fitted to the data: the extent of private data is private, and every "
        "report reveals something of it. Give a public region, e.g. domain=(xmin, ymin, xmax, ymax).",
        PrivacyWarning,
    )
    bounds = cast(crs_.Bounds, data.bounds)  # known wherever a region may be fitted
    if not (bounds[0] < bounds[2] and bounds[1] < bounds[3]):
        raise DomainError(
            "`domain` cannot be fitted: the locations span no area. Give a public region, e.g. "
            "domain=(xmin, ymin, xmax, ymax)."
        )
    return shapely.box(*bounds)


def _shape(domain: Any, crs: pyproj.CRS) -> BaseGeometry:
    """Return the region as a polygon in the CRS of the data."""
    if isinstance(domain, Rectangle):
        return shapely.box(domain.xmin, domain.ymin, domain.xmax, domain.ymax)
    if isinstance(domain, Parallelogram):
        return shapely.Polygon(domain.vertices)
    if isinstance(domain, (gpd.GeoSeries, gpd.GeoDataFrame)):
        if domain.crs is None:
            raise CRSError("`domain` has no CRS; set it with domain.set_crs(...).")
        layer = domain.geometry.dropna()
        shapes.check_poles(layer, crs)
        return shapes.checked(shapes.repaired(layer).to_crs(crs).union_all(), crs)
    if isinstance(domain, Polygon):
        domain = domain.geometry
    if isinstance(domain, BaseGeometry):
        return shapes.checked(shapes.repaired(gpd.GeoSeries([domain])).iloc[0], crs)
    if isinstance(domain, (Sequence, np.ndarray)) and not isinstance(domain, str):
        return shapes.box(domain, crs)
    raise InputError(
        "`domain` must be a bounding box (xmin, ymin, xmax, ymax), a shapely geometry, a GeoSeries or GeoDataFrame, "
        f"or one of geotracs.domains, got {type(domain).__name__}."
    )


def _planar(domain: Any, shape: BaseGeometry, crs: pyproj.CRS, working: pyproj.CRS, fit: str) -> Domain:
    """Return the region in the working CRS, in the simplest form that it has there."""
    straight = working == crs or crs_.keeps_lines(crs, working)

    def move(xy: np.ndarray) -> np.ndarray:
        moved = crs_.transform(xy, crs, working)
        if not np.isfinite(moved).all():
            raise DomainError("`domain` cannot be brought into the working CRS; give another one with `crs`.")
        return moved

    if straight and shape.equals(shapely.box(*shape.bounds)):
        return Rectangle(*move(np.reshape(shape.bounds, (2, 2))).ravel().tolist())
    if straight and isinstance(domain, Parallelogram):
        origin, u, _, v = move(domain.vertices)
        return Parallelogram(origin, u - origin, v - origin)
    if not straight:
        xmin, ymin, xmax, ymax = shape.bounds
        shape = shapely.segmentize(shape, max(xmax - xmin, ymax - ymin) / PIECES)
    return Polygon(shapely.make_valid(shapely.transform(shape, move)), fit)
