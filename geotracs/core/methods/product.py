"""Methods that work in a chart, on both coordinates independently or at once: exact density, and window."""

from typing import Protocol, cast

import numpy as np
import shapely

from geotracs.core.budget import check_eps
from geotracs.core.domains import Domain, Globe, Parallelogram, Rectangle, Transport, WithFrame
from geotracs.core.domains.rectangle import CORNERS
from geotracs.core.mechanisms import Piecewise
from geotracs.core.mechanisms.lattice import WORDS
from geotracs.core.mechanisms.sectors import Sectors
from geotracs.core.methods.base import Method
from geotracs.errors import DomainError, InputError

FINE = 256
"""Into how many pieces each side of a window is cut: what is straight in the chart is bent in the region."""

Point = tuple[float, float]


class Chart(Protocol):
    """A public bijection between the region and the unit square."""

    def to_unit(self, xy: np.ndarray) -> np.ndarray:
        """Map the region to the unit square."""

    def from_unit(self, uv: np.ndarray) -> np.ndarray:
        """Map the unit square to the region."""

    def stretch(self, uv: np.ndarray) -> np.ndarray:
        """Return how many times larger a small area of the region is than what it is mapped to."""


class Affine:
    """The chart of a rectangle, a parallelogram or the globe, with its one `stretch`."""

    def __init__(self, frame: Rectangle | Parallelogram | Globe) -> None:
        self.to_unit, self.from_unit = frame.to_unit, frame.from_unit
        origin, u, _, v = frame.from_unit(CORNERS)
        self._area = abs(np.linalg.det([u - origin, v - origin]))

    def stretch(self, uv: np.ndarray) -> np.ndarray:
        """Return the area, which is the same everywhere."""
        return np.full(len(uv), self._area)


def frame_of(domain: Domain) -> Rectangle | Parallelogram | Globe | Transport:
    """Return where Cartesian methods work; they refuse a domain that has no such frame before they ask for it."""
    return cast(WithFrame, domain).frame


def cartesian(domain: Domain) -> Chart:
    """Return the chart of Cartesian methods."""
    frame = frame_of(domain)
    return frame if isinstance(frame, Transport) else Affine(frame)


class Charted(Method):
    """A method that works in a chart of the region."""

    def chart(self, domain: Domain, reference: Point | None = None) -> Chart:
        """Return the chart in which locations are perturbed."""
        raise NotImplementedError

    def _at(self, x: Point, eps: float, domain: Domain, reference: Point | None) -> tuple[Chart, np.ndarray]:
        """Return the chart and the place of ``x`` in it."""
        check_eps(eps)
        self.check(domain)
        xy = np.asarray(x, dtype=np.float64)
        if xy.shape != (2,):
            raise InputError("One location (x, y) is needed, in the working CRS.")
        if not domain.contains(xy[None])[0]:
            raise DomainError("The location lies outside the domain; both must be in the working CRS.")
        chart = self.chart(domain, reference)
        return chart, np.clip(chart.to_unit(xy[None])[0], 0, 1)


def on_chart(chart: Chart, xy: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Say which places lie in what the chart shows, given also where they are in it."""
    inside = np.all((unit >= 0) & (unit <= 1), axis=1)
    return inside & chart.covers(xy) if isinstance(chart, Transport) else inside


def outline(chart: Chart, ends: list[tuple[float, float]]) -> shapely.Polygon:
    """Return a rectangle of the unit square, from two ends on each axis, as it is in the region."""
    ring = shapely.segmentize(shapely.box(0, 0, 1, 1).exterior, 1 / FINE)
    (west, east), (south, north) = ends
    uv = np.array([west, south]) + shapely.get_coordinates(ring) * [east - west, north - south]
    return shapely.Polygon(chart.from_unit(uv))


class Product(Charted):
    """A chart, and a piecewise mechanism on each axis of it."""

    def mechanisms(self, eps: float | np.ndarray, domain: Domain) -> tuple[Piecewise | Sectors, Piecewise]:
        """Return the mechanism of each axis."""
        raise NotImplementedError

    def density(
        self, y: np.ndarray, x: Point, eps: float, domain: Domain, reference: Point | None = None
    ) -> np.ndarray:
        """Return the exact probability density of reporting each of ``y``; see `Method.density`."""
        chart, unit = self._at(x, eps, domain, reference)
        seen = chart.to_unit(np.asarray(y, dtype=np.float64))
        height = on_chart(chart, y, seen).astype(np.float64)
        for axis, mechanism in enumerate(self.mechanisms(eps, domain)):
            height *= mechanism.density(np.clip(seen[:, axis], 0, 1), unit[axis])
        with np.errstate(divide="ignore"):
            return height / chart.stretch(seen)

    def window_of(
        self, x: Point, eps: float, domain: Domain, reference: Point | None = None
    ) -> tuple[shapely.Polygon, float]:
        """Return the window of a location, and the probability that its report falls there; see `Method.window_of`."""
        chart, unit = self._at(x, eps, domain, reference)
        probability, ends = 1.0, []
        for axis, mechanism in enumerate(self.mechanisms(eps, domain)):
            probability *= float(mechanism.threshold / WORDS)
            begin, end = mechanism.interval(unit[axis])
            ends.append((float(begin), float(end)))
        return outline(chart, ends), probability
