"""Planar Laplace noise over a region, cut off at its border."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import geotracs.mechanisms.planar_laplace as mechanism
from geotracs.domains import Domain, Globe
from geotracs.errors import DomainError
from geotracs.methods.base import Method
from geotracs.methods.sizes import width
from geotracs.randomness import Source


@dataclass(frozen=True)
class PlanarLaplace(Method):
    """Add planar Laplace noise of rate eps / diameter of the region; what falls outside goes to its nearest point.

    Notes
    -----
    Public: the region and its diameter, the largest distance between two locations. Paid for with all of epsilon: the
    location, since noise of rate eps / D tells any two locations apart by at most exp(eps) (Andrés, Bordenabe,
    Chatzikokolakis and Palamidessi, 2013, where epsilon is for a unit of distance). Moving what falls outside is
    post-processing. On paper this is eps-LDP; in floating point it is not proven exact, and the record of a release
    says so. All other methods are exact.
    """

    name: ClassVar[str] = "planar-laplace"
    caveat: ClassVar[str] = (
        "The noise was computed in floating point, so this holds but for rounding, which no proof covers."
    )

    @property
    def shares(self) -> dict[str, float]:
        """All of epsilon for the location."""
        return {"location": 1.0}

    def check(self, domain: Domain) -> None:
        """Refuse the globe."""
        if isinstance(domain, Globe):
            raise DomainError(
                'planar-laplace needs a plane, which the globe is not; use method="tracs-c" or a smaller region.'
            )

    def report(self, xy: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, domain: Domain, rng: Source) -> None:
        """Replace each location by its report, which `Domain.finish` cuts off; see `Method.report`."""
        mechanism.PlanarLaplace(np.asarray(eps) / width(domain)).add_noise(xy, rng)
