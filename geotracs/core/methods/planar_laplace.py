"""Planar Laplace noise over a region, cut off at its border."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geotracs.core.domains import Domain, Globe, Transport
from geotracs.core.mechanisms.metric_noise import MetricNoise
from geotracs.core.methods.base import Method
from geotracs.core.methods.geo_ind import whereabouts
from geotracs.core.randomness import Source
from geotracs.errors import DomainError

MARGIN = 1 + 1e-8
"""Times the diameter: locations that are outside by rounding count as inside, see `domains.rectangle.TOLERANCE`."""


@dataclass(frozen=True)
class PlanarLaplace(Method):
    """Add planar Laplace noise of rate eps / diameter of the region; what falls outside goes to its nearest point.

    Notes
    -----
    Public: the region and its diameter, the largest distance between two locations. Paid for with all of epsilon: the
    location, since noise of rate eps / D tells any two locations apart by at most exp(eps) (Andrés, Bordenabe,
    Chatzikokolakis and Palamidessi, 2013, where epsilon is for a unit of distance). `MetricNoise` draws it with
    integers, so that this is eps-LDP exactly. Moving what falls outside is post-processing.
    """

    name: ClassVar[str] = "planar-laplace"

    @property
    def shares(self) -> dict[str, float]:
        """All of epsilon for the location."""
        return {"location": 1.0}

    def check(self, domain: Domain) -> None:
        """Refuse the globe and a transport chart."""
        if isinstance(domain, Transport):
            raise DomainError(
                'planar-laplace adds noise in the plane; `prior` and fit="transport" are for tracs-c and joint.'
            )
        if isinstance(domain, Globe):
            raise DomainError(
                'planar-laplace needs a plane, which the globe is not; use method="tracs-c" or a smaller region.'
            )

    def density(
        self,
        y: np.ndarray,
        x: tuple[float, float],
        eps: float,
        domain: Domain,
        reference: tuple[float, float] | None = None,
    ) -> np.ndarray:
        """Return the density of reporting each of ``y``, before what is outside is moved; see `Method.density`."""
        return _mechanism(eps, domain).density(np.asarray(y, dtype=np.float64), np.array([x], dtype=np.float64))

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        domain: Domain,
        rng: Source,
        before: np.ndarray | None = None,
    ) -> None:
        """Replace each location by its report, which `Domain.project_inside` cuts off; see `Method.report`."""
        _mechanism(eps, domain).add_noise(xy, rng)


def _mechanism(eps: float | np.ndarray, domain: Domain) -> MetricNoise:
    diameter, centre = whereabouts(domain)
    return MetricNoise(eps, MARGIN * diameter, diameter, centre, parts=1)
