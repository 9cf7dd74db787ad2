"""The joint method: both coordinates at once, with all of epsilon on one window."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import shapely

from geotracs.core.charts.base import Chart, evenly, window
from geotracs.core.domains import Domain
from geotracs.core.mechanisms.lattice import WORDS, distinct
from geotracs.core.mechanisms.window import PLAIN, SIDE, STRETCHES, Window
from geotracs.core.methods.factors import Cover, Factors, Flat
from geotracs.core.methods.product import Charted, Point, cartesian
from geotracs.core.randomness import Source, public_stream, words

AREAS = 0.5 ** np.arange(1, 26, 3)
"""Areas of windows, as parts of the unit square, that are tried on the region..."""
FINE = 0.5 ** np.arange(1, 52, 1 / 8)
"""...and those among which each epsilon gets the best: their errors lie between, or shrink with the side."""
POINTS = 2000
"""How many public stand-ins for locations they are tried on."""
TABLE = 16
"""Cells along each side of the table that says where windows are stretched."""


@dataclass(frozen=True)
class Joint(Charted):
    """Report a place inside a window around the location with high probability, and anywhere else otherwise.

    Notes
    -----
    Each report depends on its own location and the public region. The window is square in metres (on a curved chart
    as nearly as `STRETCHES` allow) and, near the border, moved inside the region. Its area is the one with the
    smallest expected error for locations spread over the region, or over its public prior: found from public things.
    """

    name: ClassVar[str] = "joint"

    @property
    def shares(self) -> dict[str, float]:
        """All of epsilon for the location."""
        return {"location": 1.0}

    def check(self, domain: Domain) -> None:
        """Raise for a region without a Cartesian chart; try the windows once, before the blocks need the best."""
        cartesian(domain, self.name)
        _costs(domain)

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        domain: Domain,
        rng: Source,
        before: np.ndarray | None = None,
    ) -> None:
        """Replace each location by its report; see `Method.report`."""
        mechanism = self.mechanism(eps, domain)
        chart = self.chart(domain)
        unit = chart.to_unit(xy)
        mechanism.apply(unit, mechanism.draw(len(xy), rng), out=unit)
        chart.from_unit(unit, out=xy)

    def mechanism(self, eps: float | np.ndarray, domain: Domain) -> Window:
        """Return the mechanism for a region, with the best window for each epsilon.

        Examples
        --------
        >>> from geotracs.domains import Rectangle
        >>> window = Joint().mechanism(4.0, Rectangle(0, 0, 2000, 10000))
        >>> bool(np.isclose(2000 * window.columns, 10000 * window.rows))  # square in metres
        True
        """
        return _costs(domain).window(eps)

    def chart(self, domain: Domain, reference: Point | None = None) -> Chart:
        """Return the Cartesian chart."""
        return cartesian(domain, self.name)

    def heights(self, seen: np.ndarray, unit: np.ndarray, eps: float, domain: Domain) -> np.ndarray:
        """Return the density of the window; see `Charted.heights`."""
        return self.mechanism(eps, domain).densities(seen, unit)

    def factors(self, eps: float, domain: Domain) -> Factors | None:
        """Return a low height everywhere and more in the window; None where windows are stretched."""
        window = self.mechanism(eps, domain)
        if window.stretch is not None:
            return None
        width, height = float(window.columns) / SIDE, float(window.rows) / SIDE
        inside, outside = window.strata
        low = outside / (1 - width * height)
        across, up = window.periodic
        more = Cover(inside / (width * height) - low, width, across), Cover(1.0, height, up)
        return [(Flat(low), Flat(1.0)), more]

    def quadrature(
        self, x: np.ndarray, eps: float, domain: Domain, nodes: int, reference: Point | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return reports that stand for all, as many inside the window as outside; see `Method.quadrature`."""
        chart, unit = self._at(x, eps, domain, reference)
        mechanism = self.mechanism(eps, domain)
        u = evenly(max(1, nodes // 2))
        draws = np.concatenate([mechanism.spread(stratum, u) for stratum in (0, 1)], axis=1)
        uv = mechanism.apply(np.repeat(unit, draws.shape[1], axis=0), np.tile(draws, len(unit)))
        points = chart.from_unit(uv).reshape(len(unit), -1, 2)
        return points, np.repeat(np.array(mechanism.strata) / len(u), len(u))

    def window_of(
        self, x: Point, eps: float, domain: Domain, reference: Point | None = None
    ) -> tuple[shapely.Polygon, float]:
        """Return the window of a location, and the probability that its report falls there; see `Method.window_of`."""
        chart, unit = self._at(x, eps, domain, reference)
        mechanism = self.mechanism(eps, domain)
        return window(chart, mechanism.rectangle(unit[0])), float(mechanism.threshold / WORDS)


@lru_cache(maxsize=16)
def _costs(domain: Domain) -> "WindowCosts":
    return WindowCosts(domain)


class WindowCosts:
    """What windows of several areas cost on a region, tried on public stand-ins for locations.

    With x = exp(eps) - 1, a window of area A whose reports are I away on average, and reports anywhere E away, the
    expected error is ``(E + x A I) / (1 + x A)``: what is tried does not depend on epsilon.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain, self._chart = domain, cartesian(domain, "joint")
        secrets = domain.spread(POINTS)
        unit = self._chart.to_unit(secrets)
        self._slope = self._metres_up_by_across(unit)
        steps = words(public_stream(), 2 * len(unit), np.uint64).reshape(-1, 2) / 2.0**64  # the same for every window
        self._anywhere = self._error(secrets, steps)
        self._stretches = [None if self._chart.affine else self._stretch(area) for area in AREAS]
        inside = []
        for area, stretch in zip(AREAS, self._stretches, strict=True):
            window = Window(1.0, *self._sides(area), periodic=self._chart.periodic, stretch=stretch)
            draws = (steps * [window.columns, window.rows]).astype(np.uint32).T
            inside.append(self._error(secrets, window.apply(unit, draws)))
        smaller = np.minimum(np.sqrt(FINE / AREAS[-1]), 1)
        self._inside = smaller * np.exp(np.interp(-np.log(FINE), -np.log(AREAS), np.log(inside)))

    def window(self, eps: float | np.ndarray) -> Window:
        """Return the mechanism with the best window for each epsilon."""
        levels, which = distinct(np.atleast_1d(eps))
        odds = np.expm1(np.minimum(levels, 200))[:, None] * FINE  # with more the smallest is best, and sums overflow
        best = np.argmin((self._anywhere + odds * self._inside) / (1 + odds), axis=1)
        # One table for all: it says how the region is stretched, and changes little with the area.
        stretch = self._stretches[np.argmin(np.abs(np.log(AREAS / np.median(FINE[best]))))]
        widths, heights = self._sides(FINE[best])
        if np.ndim(eps):
            widths, heights = widths[which], heights[which]
        else:
            widths, heights = widths[0], heights[0]
        return Window(eps, widths, heights, periodic=self._chart.periodic, stretch=stretch)

    def _error(self, secrets: np.ndarray, unit: np.ndarray) -> float:
        reports = self._chart.from_unit(unit)
        self._domain.project_inside(reports)
        return max(float(self._domain.distance(secrets, reports).mean()), 1e-300)

    def _metres_up_by_across(self, unit: np.ndarray) -> float:
        """Return how long the region is along its second axis, where the first has length 1."""
        lengths = []
        for step in np.eye(2) / TABLE:
            low = np.clip(unit - step / 2, 0, 1 - step)
            ends = [self._chart.from_unit(low), self._chart.from_unit(low + step)]
            lengths.append(np.median(self._domain.distance(*ends)))
        return lengths[1] / lengths[0]

    def _sides(self, area: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the sides of a window of that area, square in metres or as nearly as the region is wide."""
        width = np.clip(np.sqrt(area * self._slope), area, 1)
        return width, area / width

    def _stretch(self, area: float) -> np.ndarray:
        """Return the table of stretches with which windows of that area are best, each in the middle of its cell."""
        middle = np.stack(np.meshgrid(*2 * [(np.arange(TABLE) + 0.5) / TABLE], indexing="ij"), axis=-1).reshape(-1, 2)
        secrets = self._chart.from_unit(middle)
        steps = np.stack(np.meshgrid(*2 * [(np.arange(3) + 0.5) / 3]), axis=-1).reshape(-1, 2)
        costs = np.full((len(STRETCHES), len(middle)), np.inf)
        for number, times in enumerate(STRETCHES):
            sides = np.array(self._sides(area)) * [times, 1 / times]
            if sides.max() > 1:
                continue
            low = middle - sides / 2
            low = np.where(self._chart.periodic, low, np.clip(low, 0, 1 - sides))
            near = (low[:, None] + steps * sides).reshape(-1, 2) % 1
            reports = self._chart.from_unit(near)
            metres = self._domain.distance(np.repeat(secrets, len(steps), axis=0), reports)
            costs[number] = metres.reshape(-1, len(steps)).mean(axis=1)
        best = np.where(np.isfinite(costs[PLAIN]), costs.argmin(axis=0), PLAIN)
        return best.reshape(TABLE, TABLE)
