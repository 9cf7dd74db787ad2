"""The globe, or a belt of it between two latitudes: longitude is a circle, latitude an interval."""

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
import shapely

from geotracs.core.charts.base import columns, evenly, in_unit
from geotracs.core.domains.base import Base
from geotracs.core.domains.rectangle import TOLERANCE
from geotracs.errors import DomainError

RADIUS = 6_371_008.8
"""Mean radius of the Earth in metres."""


@dataclass(frozen=True)
class Globe(Base):
    """All longitudes between two public latitudes, in degrees.

    Examples
    --------
    >>> globe = Globe()
    >>> globe.to_unit(np.array([[-180.0, 0.0], [180.0, 0.0]]))
    array([[0. , 0.5],
           [0. , 0.5]])
    """

    south: float = -90.0
    north: float = 90.0

    kind: ClassVar[str] = "globe"
    in_degrees: ClassVar[bool] = True
    plane: ClassVar[bool] = False
    instead: ClassVar[str] = 'on the globe use method="tracs-c", or take a smaller region'
    periodic: ClassVar[tuple[bool, bool]] = (True, False)
    affine: ClassVar[bool] = False

    def __post_init__(self) -> None:
        ends = (self.south, self.north)
        if not all(isinstance(end, Real) for end in ends) or not -90 <= self.south < self.north <= 90:
            raise DomainError("A belt of the globe needs -90 <= south < north <= 90.")

    @property
    def outline(self) -> shapely.Polygon:
        """The belt as a box of longitudes and latitudes."""
        return shapely.box(-180, self.south, 180, self.north)

    @property
    def centre(self) -> tuple[float, float]:
        """On the prime meridian, midway between the latitudes."""
        return 0.0, (self.south + self.north) / 2

    @property
    def corner(self) -> tuple[float, float]:
        """The south-west of the box."""
        return -180.0, self.south

    @property
    def diameter(self) -> float:
        """The largest distance in metres: half a great circle, or across the pole in a belt that is beyond the equator.

        >>> round(Globe().diameter), round(Globe(80, 90).diameter)
        (20015114, 2223902)
        """
        equator = max(0.0, self.south, -self.north)  # how far the belt stays away from it
        return RADIUS * (np.pi - 2 * np.radians(equator))

    @property
    def longest_side(self) -> float:
        """The diameter."""
        return self.diameter

    @property
    def chart(self) -> "Globe":
        """Itself."""
        return self

    def contains(self, xy: np.ndarray) -> np.ndarray:
        """Return which locations are in the belt, at any longitude; NaN never is."""
        slack = TOLERANCE * (self.north - self.south)
        in_belt = (xy[:, 1] >= self.south - slack) & (xy[:, 1] <= self.north + slack)
        return in_belt & np.isfinite(xy[:, 0])

    def clip(self, xy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Move locations outside to the nearest latitude of the belt."""
        clipped = columns(len(xy)) if out is None else out
        clipped[:, 0] = xy[:, 0]
        np.clip(xy[:, 1], self.south, self.north, out=clipped[:, 1])
        return clipped

    def project_inside(self, xy: np.ndarray) -> None:
        """Undo rounding: reports are inside already."""
        self.clip(xy, out=xy)

    def spread(self, n: int) -> np.ndarray:
        """Return n points spread evenly over the belt's surface: a public stand-in for locations."""
        xy = self.from_unit(evenly(n))
        low, high = np.sin(np.radians([self.south, self.north]))
        xy[:, 1] = np.degrees(np.arcsin(low + evenly(n)[:, 1] * (high - low)))
        return xy

    def distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distance in metres between each pair of locations, along a great circle."""
        east, north = np.radians(b - a).T / 2
        level = np.cos(np.radians(a[:, 1])) * np.cos(np.radians(b[:, 1]))
        half = np.sqrt(np.sin(north) ** 2 + level * np.sin(east) ** 2)
        return 2 * RADIUS * np.arcsin(np.minimum(half, 1))

    def to_unit(self, xy: np.ndarray) -> np.ndarray:
        """Map the belt to the unit square: part of a turn from 180 degrees west, part of the way north."""
        unit = columns(len(xy))
        unit[:, 0] = ((xy[:, 0] + 180) % 360) / 360
        unit[:, 1] = (xy[:, 1] - self.south) / (self.north - self.south)
        return unit

    def from_unit(self, uv: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Map the unit square to the belt; into ``out`` if it is given."""
        xy = columns(len(uv)) if out is None else out
        xy[:, 0] = uv[:, 0] * 360 - 180
        xy[:, 1] = self.south + uv[:, 1] * (self.north - self.south)
        return xy

    def stretch(self, uv: np.ndarray) -> np.ndarray:
        """Return the area in square degrees, which is the same everywhere."""
        return np.full(len(uv), 360 * (self.north - self.south))

    def covers(self, xy: np.ndarray) -> np.ndarray:
        """Return which places are in the belt, to the last digit."""
        return in_unit(self.to_unit(xy))
