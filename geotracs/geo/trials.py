"""Methods tried on public stand-ins for locations: how far off their reports are, before any data is touched."""

from dataclasses import dataclass

import numpy as np

import geotracs.core.methods as recipes
import geotracs.geo.region as regions
from geotracs.core.domains import Domain
from geotracs.core.randomness import public_stream, words
from geotracs.errors import DomainError, InputError
from geotracs.geo.rounding import Rounding

STAND_INS = 50_000
"""How many public stand-ins for locations are perturbed to see what a method costs..."""
SOME = 20_000
"""...how many where it is done again and again..."""
FEW = 5_000
"""...and where it is slow, or only the best is wanted."""
LENGTH = 100
"""Locations of a trajectory, for methods that follow it."""
CHEAP_EPS = 4.0
"""Up to this epsilon..."""
CHEAP_EPS_OF_PRIOR = 1.0
"""...with a prior up to this one..."""
CHEAP_PLACES = 3000
"""...and so many places the smallest possible error is found within some seconds."""


@dataclass(frozen=True)
class Setting:
    """A public region and places, on which methods are tried."""

    region: regions.Region
    rounding: Rounding | None

    def chart(self, method: recipes.Method) -> Domain | None:
        """Return the domain that the method works on: with the chart of the prior if it can; None if it cannot."""
        if method.over == "places":
            return None if self.rounding is None or not self.rounding.holds_points else self.region.domain
        for domain in (self.region.chart, self.region.domain):
            try:
                method.check(domain)
            except DomainError:
                continue
            return domain
        return None

    def suits(self, method: recipes.Method) -> bool:
        """Whether the method works with what is given; a length of its own may be too large for the region."""
        try:
            return self.chart(method) is not None
        except InputError:
            return False

    def cheap(self, eps: float) -> bool:
        """Whether the smallest error that is possible is found within some seconds."""
        largest = CHEAP_EPS if self.region.transport is None else CHEAP_EPS_OF_PRIOR
        return eps <= largest and (self.rounding is None or self.rounding.places.count <= CHEAP_PLACES)

    def displacements(self, method: recipes.Method, eps: float, n: int) -> np.ndarray:
        """Return the errors of about n stand-ins, in metres."""
        xy = self._stand_ins(n)
        offsets = np.unique(np.append(np.arange(0, len(xy), LENGTH), len(xy)))
        domain = self.chart(method) or self.region.domain
        places = None if self.rounding is None else self.rounding.places
        if method.over == "places":
            if self.rounding is None:
                raise InputError(f"{method.name} reports places of a public set; give it with `places`.")
            self.rounding.check_points()
        reports, which = method.on(domain, places, eps).sample(xy, offsets, eps, public_stream())
        if places is not None and which is None:
            reports = places.round(reports)[1]
        unit = 1.0 if domain.in_degrees else self.region.crs.axis_info[0].unit_conversion_factor
        return domain.distance(xy, reports) * unit

    def unknown(self, n: int) -> float:
        """Return how far about n stand-ins are from the middle of all of them on average, in metres."""
        xy, domain = self._stand_ins(n), self.region.domain
        middle = np.repeat(np.median(xy, axis=0)[None], len(xy), axis=0)
        unit = 1.0 if domain.in_degrees else self.region.crs.axis_info[0].unit_conversion_factor
        return float(domain.distance(xy, middle).mean() * unit)

    def _stand_ins(self, n: int) -> np.ndarray:
        if self.region.transport is None and self.rounding is not None:
            places = self.rounding.places.sample(n)
            xy = self.region.domain.clip(places[np.arange(n) % len(places)])
        else:
            xy = self.region.chart.spread(n)
        # In an order without a pattern, for methods that follow a trajectory.
        return np.asfortranarray(xy[np.argsort(words(public_stream(), len(xy), np.uint64))])
