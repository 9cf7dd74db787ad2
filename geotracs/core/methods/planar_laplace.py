"""Planar Laplace noise over a region, cut off at its border."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.mechanisms.metric_noise import MetricNoise
from geotracs.core.methods.noise import NoiseMethod

MARGIN = 1 + 1e-8
"""Times the diameter: locations that are outside by rounding count as inside, see `domains.rectangle.TOLERANCE`."""


@dataclass(frozen=True)
class PlanarLaplace(NoiseMethod):
    """Add planar Laplace noise of rate eps / diameter of the region; what falls outside goes to its nearest point.

    Notes
    -----
    Public: the region and its diameter, the largest distance between two locations. Paid for with all of epsilon: the
    location, since noise of rate eps / D tells any two locations apart by at most exp(eps) (Andrés, Bordenabe,
    Chatzikokolakis and Palamidessi, 2013, where epsilon is for a unit of distance). `MetricNoise` draws it with
    integers, so that this is eps-LDP exactly. Moving what falls outside is post-processing.
    """

    name: ClassVar[str] = "planar-laplace"

    def mechanism(self, eps: float | np.ndarray, domain: Domain) -> MetricNoise:
        """Return the mechanism for a region."""
        return MetricNoise(eps, MARGIN * domain.diameter, domain.diameter, domain.centre, parts=1)
