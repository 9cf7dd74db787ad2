"""What the methods that add noise in the plane share."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincinv

from geotracs.core.charts.base import evenly
from geotracs.core.domains import Domain
from geotracs.core.mechanisms.metric_noise import MetricNoise
from geotracs.core.methods.base import Method
from geotracs.core.randomness import Source
from geotracs.errors import DomainError


@dataclass(frozen=True)
class NoiseMethod(Method):
    """Base of the methods that add `MetricNoise` to a location; what falls outside is projected inside afterwards."""

    leaves: ClassVar[bool] = True

    def mechanism(self, eps: float | np.ndarray, domain: Domain) -> MetricNoise:
        """Return the mechanism for a region."""
        raise NotImplementedError

    @property
    def shares(self) -> dict[str, float]:
        """All of epsilon for the location."""
        return {"location": 1.0}

    def check(self, domain: Domain) -> None:
        """Raise unless the region is planar."""
        if not domain.plane:
            raise DomainError(
                f"{self.name} needs a plane to add noise in, which this region ({domain.kind}) is not; "
                f"{domain.instead}."
            )

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        domain: Domain,
        rng: Source,
        before: np.ndarray | None = None,
    ) -> None:
        """Replace each location by its report, which `Domain.project_inside` brings back; see `Method.report`."""
        noise = self.mechanism(eps, domain)
        noise.apply(xy, noise.draw(len(xy), rng), out=xy)

    def density(
        self,
        y: np.ndarray,
        x: npt.ArrayLike,
        eps: float,
        domain: Domain,
        reference: tuple[float, float] | None = None,
    ) -> np.ndarray:
        """Return the exact density of reporting each of ``y``, before projecting inside; see `Method.density`."""
        rows = np.atleast_2d(np.asarray(x, dtype=np.float64))
        found = self.mechanism(eps, domain).densities(np.asarray(y, dtype=np.float64), rows)
        return found if np.ndim(x) == 2 else found[0]

    def quadrature(
        self,
        x: np.ndarray,
        eps: float,
        domain: Domain,
        nodes: int,
        reference: tuple[float, float] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return reports that stand for all; see `Method.quadrature`.

        Their distances are quantiles of the law of the length, as if the lattice were a plane: it is that fine.
        """
        u = evenly(nodes)
        scale = float(self.mechanism(eps, domain).expected_error()) / 2
        length, angle = scale * gammaincinv(2.0, u[:, 0]), 2 * np.pi * u[:, 1]
        noise = length[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return np.asarray(x, dtype=np.float64)[:, None] + noise, np.full(nodes, 1 / nodes)
