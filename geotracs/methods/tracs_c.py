"""TraCS-C: both coordinates, each with half of epsilon (the paper's Algorithm 2)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geotracs.budget import split
from geotracs.domains import Rectangle
from geotracs.mechanisms import Piecewise
from geotracs.methods.base import Method
from geotracs.randomness import Source


@dataclass(frozen=True)
class TracsC(Method):
    """Perturb the two coordinates of a rectangle independently.

    Parameters
    ----------
    window : {"ogpm", "r-sw"}
        Window of both mechanisms.

    Notes
    -----
    Each report depends on its own location and the public rectangle; the two halves of epsilon add up by
    sequential composition.
    """

    name: ClassVar[str] = "tracs-c"

    @property
    def shares(self) -> dict[str, float]:
        """Half of epsilon for each axis."""
        return {"x": 0.5, "y": 0.5}

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        domain: Rectangle,
        rng: Source,
    ) -> None:
        """Replace each location by its report; see `Method.report`."""
        half, _ = split(eps, 0.5)
        mechanism = Piecewise(half, self.window)
        unit = domain.to_unit(xy)
        for axis in (0, 1):
            unit[:, axis] = mechanism.apply(unit[:, axis], mechanism.draw(len(xy), rng))
        domain.from_unit(unit, out=xy)
