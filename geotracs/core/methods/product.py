"""Methods that work in a chart, on both coordinates independently or at once: exact density, and window."""

import numpy as np
import shapely

from geotracs.core.budget import check_eps
from geotracs.core.charts.base import Chart, window
from geotracs.core.domains import Domain
from geotracs.core.mechanisms import Piecewise
from geotracs.core.mechanisms.lattice import WORDS
from geotracs.core.mechanisms.sectors import Sectors
from geotracs.core.methods.base import Method
from geotracs.errors import DomainError, InputError

Point = tuple[float, float]


def cartesian(domain: Domain, name: str) -> Chart:
    """Return the Cartesian chart of a region for the method of that name, or refuse a region that has none."""
    if domain.chart is None:
        raise DomainError(
            f"{name} needs two coordinates, and a {domain.kind} is not a product of two intervals; {domain.instead}."
        )
    return domain.chart


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
        y = np.asarray(y, dtype=np.float64)
        seen = chart.to_unit(y)
        height = chart.covers(y).astype(np.float64)
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
        return window(chart, ends), probability
