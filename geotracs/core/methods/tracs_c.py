"""TraCS-C: both coordinates, each with half of epsilon (the paper's Algorithm 2)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geotracs.core.budget import split
from geotracs.core.charts import Chart
from geotracs.core.domains import Domain
from geotracs.core.mechanisms.named import BESIDE, UnitMechanism, caveat, check_name, make
from geotracs.core.methods.factors import Factors, Law
from geotracs.core.methods.product import Point, Product, cartesian
from geotracs.core.randomness import Source


@dataclass(frozen=True)
class TracsC(Product):
    """Perturb two coordinates independently: of a rectangle or parallelogram, or longitude and latitude on the globe.

    Parameters
    ----------
    window : {"ogpm", "r-sw", "pm", "sw", "truncated-laplace", "truncated-gaussian", "purkayastha", "sdd"}
        The mechanism of both coordinates; see `geotracs.core.mechanisms.named`. The last two are for circles only:
        a coordinate that is not a circle takes "truncated-laplace" instead.

    Notes
    -----
    Each report depends on its own location and the public region; the two halves of epsilon add up by
    sequential composition. A periodic axis (longitude) takes the circular mechanism.
    """

    name: ClassVar[str] = "tracs-c"

    window: str = "ogpm"

    def __post_init__(self) -> None:
        check_name(self.window, "window")

    @property
    def shares(self) -> dict[str, float]:
        """Half of epsilon for each axis."""
        return {"x": 0.5, "y": 0.5}

    @property
    def caveat(self) -> str:
        """What the window lacks, and where another stood in for it."""
        if self.window not in BESIDE:
            return caveat(self.window)
        instead = f"{self.window} is for circles: a coordinate that is not one took {BESIDE[self.window]} instead."
        return f"{instead} {caveat(self.window)}".strip()

    def check(self, domain: Domain) -> None:
        """Raise for a region without a Cartesian chart."""
        cartesian(domain, self.name)

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
        chart = self.chart(domain)
        unit = chart.to_unit(xy)
        for axis, mechanism in enumerate(self.mechanisms(eps, domain)):
            unit[:, axis] = mechanism.apply(unit[:, axis], mechanism.draw(len(xy), rng))
        chart.from_unit(unit, out=xy)

    def mechanisms(self, eps: float | np.ndarray, domain: Domain) -> tuple[UnitMechanism, UnitMechanism]:
        """Return the mechanism of each coordinate."""
        half, _ = split(eps, 0.5)
        across, up = self.chart(domain).periodic
        return make(self.window, half, periodic=across), make(self.window, half, periodic=up)

    def factors(self, eps: float, domain: Domain) -> Factors:
        """Return the product of both mechanisms."""
        across, up = self.mechanisms(eps, domain)
        return [(Law(across), Law(up))]

    def chart(self, domain: Domain, reference: Point | None = None) -> Chart:
        """Return the Cartesian chart."""
        return cartesian(domain, self.name)
