"""Methods that work in a chart, on both coordinates independently or at once: exact density, and window."""

import itertools

import numpy as np
import numpy.typing as npt
import shapely

from geotracs.core.budget import check_eps
from geotracs.core.charts.base import Chart, evenly, window
from geotracs.core.domains import Domain
from geotracs.core.mechanisms.lattice import WORDS
from geotracs.core.mechanisms.named import UnitMechanism
from geotracs.core.mechanisms.piecewise import Piecewise
from geotracs.core.mechanisms.sectors import Sectors
from geotracs.core.methods.base import Method
from geotracs.errors import DomainError, InputError

Point = tuple[float, float]


def cartesian(domain: Domain, name: str) -> Chart:
    """Return the Cartesian chart of a region for the method of that name, or raise if the region has none."""
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

    def _at(self, x: npt.ArrayLike, eps: float, domain: Domain, reference: Point | None) -> tuple[Chart, np.ndarray]:
        """Return the chart and the places of ``x`` in it, one per row."""
        check_eps(eps)
        self.check(domain)
        xy = np.atleast_2d(np.asarray(x, dtype=np.float64))
        if xy.ndim != 2 or xy.shape[1] != 2:
            raise InputError("A location (x, y) is needed, or several, in the working CRS.")
        if not domain.contains(xy).all():
            raise DomainError("The location lies outside the domain; both must be in the working CRS.")
        chart = self.chart(domain, reference)
        return chart, np.clip(chart.to_unit(xy), 0, 1)

    def density(
        self, y: np.ndarray, x: npt.ArrayLike, eps: float, domain: Domain, reference: Point | None = None
    ) -> np.ndarray:
        """Return the exact probability density of reporting each of ``y``; see `Method.density`."""
        chart, unit = self._at(x, eps, domain, reference)
        y = np.asarray(y, dtype=np.float64)
        seen = chart.to_unit(y)
        with np.errstate(divide="ignore"):
            per_area = np.where(chart.covers(y), 1 / chart.stretch(seen), 0.0)
        heights = self.heights(np.clip(seen, 0, 1), unit, eps, domain) * per_area
        return heights if np.ndim(x) == 2 else heights[0]

    def heights(self, seen: np.ndarray, unit: np.ndarray, eps: float, domain: Domain) -> np.ndarray:
        """Return the density in the unit square of each of ``seen``, one row for each of ``unit``."""
        raise NotImplementedError


class Product(Charted):
    """A chart, and a mechanism on each axis of it."""

    def mechanisms(self, eps: float | np.ndarray, domain: Domain) -> tuple[UnitMechanism | Sectors, UnitMechanism]:
        """Return the mechanism of each axis."""
        raise NotImplementedError

    def heights(self, seen: np.ndarray, unit: np.ndarray, eps: float, domain: Domain) -> np.ndarray:
        """Return the product of the densities of both axes; see `Charted.heights`."""
        first, second = self.mechanisms(eps, domain)
        if any(getattr(mechanism, "has_atoms", False) for mechanism in (first, second)):
            raise InputError(
                f"{self.name} with this `window` moves reports to the ends of an interval, and no density can say how "
                "likely these are; ask the channel for `probabilities`, or round the reports to places."
            )
        return first.density(seen[:, 0], unit[:, :1]) * second.density(seen[:, 1], unit[:, 1:])

    def quadrature(
        self, x: np.ndarray, eps: float, domain: Domain, nodes: int, reference: Point | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return reports that stand for all, as many from each pair of strata; see `Method.quadrature`."""
        chart, unit = self._at(x, eps, domain, reference)
        both = self.mechanisms(eps, domain)
        pairs = list(itertools.product(*(range(len(mechanism.strata)) for mechanism in both)))
        u = evenly(max(1, nodes // len(pairs)))
        draws = [np.concatenate([both[i].spread(pair[i], u[:, i]) for pair in pairs]) for i in (0, 1)]
        weights = [both[0].strata[i] * both[1].strata[j] / len(u) for i, j in pairs]
        uv = np.stack([both[i].apply(unit[:, i, None], draws[i]) for i in (0, 1)], axis=-1)
        return chart.from_unit(uv.reshape(-1, 2)).reshape(uv.shape), np.repeat(weights, len(u))

    def window_of(
        self, x: Point, eps: float, domain: Domain, reference: Point | None = None
    ) -> tuple[shapely.Polygon, float]:
        """Return the window of a location, and the probability that its report falls there; see `Method.window_of`."""
        chart, unit = self._at(x, eps, domain, reference)
        probability, ends = 1.0, []
        for axis, mechanism in enumerate(self.mechanisms(eps, domain)):
            if not isinstance(mechanism, (Piecewise, Sectors)):
                raise InputError(
                    f"{self.name} with this `window` has no window inside the region to draw; those of "
                    'window="ogpm" and window="r-sw" do.'
                )
            probability *= float(mechanism.threshold / WORDS)
            begin, end = mechanism.interval(unit[0, axis])
            ends.append((float(begin), float(end)))
        return window(chart, ends), probability
