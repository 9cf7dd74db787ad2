"""Metric privacy: protection that fades with distance, for those to whom kilometres are useless."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.mechanisms.metric_noise import MAX_EXTENT, PARTS, MetricNoise
from geotracs.core.methods.noise import NoiseMethod
from geotracs.core.notions import Metric
from geotracs.errors import InputError, quoted


@dataclass(frozen=True)
class GeoInd(NoiseMethod):
    """Add planar Laplace noise of rate eps / radius, exactly; what falls outside goes to the nearest point inside.

    For any two locations x and x' of the region, d apart, and every report y,
    ``P(y | x) <= exp(eps * max(d, radius / 512) / radius) * P(y | x')``. This is *not* eps-LDP over the region: two
    locations that are ten times the radius apart are told apart by up to exp(10 * eps).

    Parameters
    ----------
    radius : float
        The distance at which two locations are told apart by at most exp(eps), in metres of the working CRS; the
        method itself works in the unit of that CRS.

    Notes
    -----
    Public: the region and the radius. Each report depends on its own location alone. The noise is that of
    `MetricNoise`, drawn with integers; projecting inside is post-processing. The mean error is 2 * radius / eps, and no
    noise that keeps the same inequality has less: with any other the chance to be beyond any distance is at least as
    large, since its density falls no faster anywhere. (Andrés, Bordenabe, Chatzikokolakis and Palamidessi, 2013.)

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> round(GeoInd(radius=200).expected_error(np.log(2), Rectangle(0, 0, 40_000, 30_000)), 1)
    577.1
    """

    radius: float = 200.0

    name: ClassVar[str] = "geo-ind"
    public_lengths: ClassVar[tuple[str, ...]] = ("radius",)

    def __post_init__(self) -> None:
        number = isinstance(self.radius, Real) and not isinstance(self.radius, (bool, np.bool_))
        if not number or not 0 < self.radius < np.inf:
            raise InputError(
                f"`radius` must be a distance in metres, greater than 0 and finite, got {quoted(self.radius)}; "
                "take the distance within which locations shall look alike, such as 200."
            )
        object.__setattr__(self, "radius", float(self.radius))

    def check(self, domain: Domain) -> None:
        """Raise unless the region is planar and the radius suits it."""
        super().check(domain)
        size = domain.diameter
        if self.radius > size:
            raise InputError(
                f"`radius` must be at most the diameter of the region, and is {self.radius / size:.3g} times as long; "
                'take less, or method="joint", which protects every two locations of the region alike.'
            )
        if self.radius * MAX_EXTENT < size:
            raise InputError(
                f"`radius` must be at least a billionth of the diameter of the region, and is "
                f"{self.radius / size:.3g} of it; take more, or a smaller region."
            )

    def promise(self, eps: float) -> str:
        """Return what holds for one location, in words.

        >>> print(GeoInd(radius=200).promise(1.4))
        Whatever is reported, it is at most exp(1.4), about 4.06, times likelier from one than from another of any two
        locations of the region within 200 m of each other. ...
        """
        return self._notion.promise(eps)

    @property
    def privacy(self) -> dict[str, Any]:
        """Metric privacy, with its radius; in metres where the method is."""
        return self._notion.to_record()

    @property
    def _notion(self) -> Metric:
        return Metric(self.radius, self.radius / PARTS)

    def expected_error(self, eps: float, domain: Domain) -> float:
        """Return the mean length of the noise, before what is outside is projected inside."""
        return float(self.mechanism(eps, domain).expected_error())

    def mechanism(self, eps: float | np.ndarray, domain: Domain) -> MetricNoise:
        """Return the mechanism for a region."""
        return MetricNoise(eps, self.radius, domain.diameter, domain.centre)
