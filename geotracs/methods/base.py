"""What a method is: a recipe of a domain, a chart and mechanisms, over flat arrays."""

from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np
import shapely

from geotracs.domains import Domain
from geotracs.errors import InputError
from geotracs.mechanisms.piecewise import WINDOWS
from geotracs.randomness import Source


@dataclass(frozen=True)
class Method:
    """Base of all methods; the fields of a subclass are its options."""

    name: ClassVar[str]
    sequential: ClassVar[bool] = False
    """Whether a location's report depends on earlier reports of the same trajectory."""
    public_points: ClassVar[tuple[str, ...]] = ()
    """Options that may be a public point, given in the user's CRS."""

    window: str = "ogpm"

    def __post_init__(self) -> None:
        if self.window not in WINDOWS:
            raise InputError(f"`window` must be one of {sorted(WINDOWS)}, got {self.window!r}.")

    @property
    def shares(self) -> dict[str, float]:
        """The share of epsilon that each part gets."""
        raise NotImplementedError

    def check(self, domain: Domain) -> None:
        """Refuse a domain that the method cannot work on, and say why."""
        raise NotImplementedError

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        domain: Domain,
        rng: Source,
    ) -> None:
        """Replace each location by its report.

        Parameters
        ----------
        xy : array of shape (n, 2)
            Locations inside the domain, trajectory after trajectory, with contiguous columns; overwritten.
        offsets : array of int
            Where each trajectory begins, and n at the end.
        eps : float, or array of shape (n,)
            Epsilon of each location.
        """
        raise NotImplementedError

    def density(
        self,
        y: np.ndarray,
        x: tuple[float, float],
        eps: float,
        domain: Domain,
        reference: tuple[float, float] | None = None,
    ) -> np.ndarray:
        """Return the exact probability density of reporting each of ``y``, shape (n, 2), when the location is ``x``.

        Per unit of area, in the working CRS, before what is outside a polygon is projected into it. Seen from a
        reference on the border TraCS-D also reports the reference itself, which no density can say. The other arguments
        are those of `window_of`.
        """
        raise InputError(f"{self.name} has no density on the plane.")

    def window_of(
        self, x: tuple[float, float], eps: float, domain: Domain, reference: tuple[float, float] | None = None
    ) -> tuple[shapely.Polygon, float]:
        """Return the window of a location, and the probability that its report falls there.

        For drawings. The window is as private as the location, which it gives away.

        Parameters
        ----------
        x : (x, y)
            A location of the domain, in the working CRS.
        reference : (x, y), optional
            The public point from which TraCS-D sees the location, usually the previous report; by default where its
            trajectories start. Without meaning for other methods, on a disc, and where the recipe has a fixed one.

        Returns
        -------
        shapely.Polygon, float
            In the working CRS; on the globe in degrees, longitudes counted on beyond 180. It is not cut to a
            polygon that its domain may be: what falls outside is projected there after the draw.
        """
        raise InputError(f"{self.name} has no window on the plane.")

    def record(self) -> dict[str, Any]:
        """Return the options, for the record of a release."""
        return asdict(self)

    @classmethod
    def options(cls) -> list[str]:
        """Return the names of the options."""
        return [f.name for f in fields(cls)]
