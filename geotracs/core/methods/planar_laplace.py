"""Planar Laplace noise over a region, cut off at its border."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import geotracs.core.mechanisms.planar_laplace as mechanism
from geotracs.core.domains import Domain
from geotracs.core.methods.base import Method
from geotracs.core.randomness import Source
from geotracs.errors import DomainError

MAX_EPS = 60.0
"""The noise is that of this epsilon at most. Noise is at most `mechanism.LONGEST` times its scale long, the scale is
diameter / eps: up to epsilon 90 that reaches across the region, here it reaches 1.5 diameters far. A report that it
reaches comes from very many of the random words, so that none is possible from some locations only."""


@dataclass(frozen=True)
class PlanarLaplace(Method):
    """Add planar Laplace noise of rate eps / diameter of the region; what falls outside goes to its nearest point.

    Notes
    -----
    Public: the region and its diameter, the largest distance between two locations. Paid for with all of epsilon: the
    location, since noise of rate eps / D tells any two locations apart by at most exp(eps) (Andrés, Bordenabe,
    Chatzikokolakis and Palamidessi, 2013, where epsilon is for a unit of distance). Moving what falls outside is
    post-processing. On paper this is eps-LDP; in floating point it is not proven exact, and the record of a release
    says so. All other methods are exact. The random words make noise of at most 90 diameters / eps, which for a large
    epsilon would not reach across the region: above epsilon 60 the noise stays that of 60.
    """

    name: ClassVar[str] = "planar-laplace"
    caveat: ClassVar[str] = (
        "The noise was computed in floating point, so this holds but for rounding, which no proof covers; above "
        "epsilon 60 it is that of epsilon 60."
    )

    @property
    def shares(self) -> dict[str, float]:
        """All of epsilon for the location."""
        return {"location": 1.0}

    def check(self, domain: Domain) -> None:
        """Ask for a plane."""
        if not domain.plane:
            raise DomainError(
                f"{self.name} needs a plane to add noise in, which this region ({domain.kind}) is not; "
                f"{domain.instead}."
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
        return _mechanism(eps, domain).density(y, x)

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
        noise = _mechanism(eps, domain)
        noise.apply(xy, noise.draw(len(xy), rng), out=xy)


def _mechanism(eps: float | np.ndarray, domain: Domain) -> mechanism.PlanarLaplace:
    return mechanism.PlanarLaplace(np.minimum(eps, MAX_EPS) / domain.diameter)
