"""Polygons, with holes or in parts: mechanisms run on a fitted rectangle, reports are projected into the shape."""

from functools import cached_property, lru_cache
from typing import ClassVar, cast

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from geotracs.core.charts.base import evenly_inside
from geotracs.core.domains.base import Base, middle
from geotracs.core.domains.border import Border
from geotracs.core.domains.edges import NO_EDGES, Edges, edges_of
from geotracs.core.domains.parallelogram import Parallelogram, half_planes
from geotracs.core.domains.rectangle import Rectangle
from geotracs.errors import DomainError, quoted

FITS = ("envelope", "oriented")


class Polygon(Base):
    """A public polygon in planar coordinates.

    Parameters
    ----------
    geometry : shapely Polygon or MultiPolygon
    fit : {"envelope", "oriented"}
        The rectangle in which Cartesian methods work: along the axes, or the smallest rotated one.

    Notes
    -----
    Reports of Cartesian methods that fall outside are projected to the nearest point of the polygon, which is
    post-processing. TraCS-D works on a convex polygon directly, and otherwise on the fitted rectangle, where it moves
    each report inside before it sees the next location from there.

    Examples
    --------
    >>> city = Polygon(shapely.Polygon([(0, 0), (4, 0), (0, 3)]))
    >>> city.chart
    Rectangle(xmin=0.0, ymin=0.0, xmax=4.0, ymax=3.0)
    """

    kind: ClassVar[str] = "polygon"

    def __init__(self, geometry: BaseGeometry, fit: str = "envelope") -> None:
        if geometry.geom_type not in ("Polygon", "MultiPolygon") or geometry.is_empty or not geometry.area > 0:
            raise DomainError("A polygon with an area is needed.")
        self.geometry = cast(shapely.Polygon | shapely.MultiPolygon, geometry)
        self._fitted = _fitted(geometry, fit)

    @property
    def outline(self) -> shapely.Polygon | shapely.MultiPolygon:
        """The geometry."""
        return self.geometry

    @property
    def centre(self) -> tuple[float, float]:
        """The centroid, or a point inside where the centroid is not."""
        return middle(self.geometry)

    @property
    def chart(self) -> Rectangle | Parallelogram:
        """The fitted rectangle."""
        return self._fitted

    @property
    def longest_side(self) -> float:
        """The length of the longest side of the fitted rectangle."""
        return self._fitted.longest_side

    @property
    def corner(self) -> tuple[float, float]:
        """The corner of the fitted rectangle, or the first vertex of a convex polygon."""
        if not self.convex:
            return self._fitted.corner
        x, y = cast(shapely.Polygon, self.geometry).exterior.coords[0][:2]
        return x, y

    @cached_property
    def convex(self) -> bool:
        """Whether TraCS-D can work on the polygon itself."""
        simple = isinstance(self.geometry, shapely.Polygon) and not self.geometry.interiors
        return simple and bool(np.isclose(self.geometry.area, self.geometry.convex_hull.area, rtol=1e-12))

    @cached_property
    def half_planes(self) -> np.ndarray:
        """The polygon as half-planes if it is convex, the fitted rectangle otherwise."""
        if not self.convex:
            return self._fitted.half_planes
        return half_planes(shapely.get_coordinates(cast(shapely.Polygon, self.geometry.convex_hull).exterior)[:-1])

    @cached_property
    def border(self) -> Border:
        """Its border, under an index."""
        return _border(shapely.to_wkb(self.geometry))

    @cached_property
    def edges(self) -> Edges:
        """Its edges, for TraCS-D on the fitted rectangle; none of a convex polygon, which its half-planes say."""
        return NO_EDGES if self.convex else _edges(self.border, self._fitted)

    def contains(self, xy: np.ndarray) -> np.ndarray:
        """Return which locations are inside or on the border, or so near that rounding explains it."""
        inside = self.border.covers(xy)
        astray = np.flatnonzero(~inside & np.isfinite(xy).all(axis=1) & ~self.border.surely_outside(xy))
        if len(astray):
            slack = 1e-9 * np.ptp(np.reshape(self.geometry.bounds, (2, 2)), axis=0).max()
            inside[astray] = self.border.distance(xy[astray]) <= slack
        return inside

    def project_inside(self, xy: np.ndarray) -> None:
        """Project reports that fell outside to the nearest point of the polygon."""
        outside = np.flatnonzero(~self.border.covers(xy))
        if len(outside):
            xy[outside] = self.border.nearest_inside(xy[outside])

    def spread(self, n: int) -> np.ndarray:
        """Return about n points spread evenly over the polygon: a public stand-in for locations."""
        found = evenly_inside(n, self._fitted.from_unit, self.border.covers)
        return found if len(found) else np.array([self.centre])


@lru_cache(maxsize=8)
def _border(geometry: bytes) -> Border:
    """Return the index of a border, of which many releases may need the same."""
    return Border(shapely.from_wkb(geometry))


@lru_cache(maxsize=8)
def _edges(border: Border, fitted: Rectangle | Parallelogram) -> Edges:
    return edges_of(border, fitted.vertices)


def _fitted(geometry: BaseGeometry, fit: str) -> Rectangle | Parallelogram:
    envelope = Rectangle(*geometry.bounds)
    if fit == "envelope":
        return envelope
    if fit != "oriented":
        raise DomainError(f"`fit` must be one of {list(FITS)}, got {quoted(fit)}.")
    xy = shapely.get_coordinates(shapely.minimum_rotated_rectangle(geometry))
    return Parallelogram(xy[0], xy[1] - xy[0], xy[3] - xy[0])
