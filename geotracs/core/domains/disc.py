"""A disc about a public centre: the paper's circular region."""

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
import shapely

from geotracs.core.charts.base import columns, evenly
from geotracs.core.domains.base import Base
from geotracs.core.domains.rectangle import TOLERANCE, two_numbers
from geotracs.errors import DomainError, quoted


@dataclass(frozen=True)
class Disc(Base):
    """A public disc.

    Given to `geotracs.perturb`, ``centre`` is in the frame's CRS and ``radius`` in metres of the working CRS, which are
    true metres for data in degrees.

    Examples
    --------
    >>> disc = Disc((0, 0), 2)
    >>> disc.to_unit(np.array([[0.0, 1.0]]))
    array([[0.25, 0.5 ]])
    """

    centre: tuple[float, float]
    radius: float

    kind: ClassVar[str] = "disc"
    instead: ClassVar[str] = 'use method="tracs-d", or fit="transport"'
    periodic: ClassVar[tuple[bool, bool]] = (True, False)
    affine: ClassVar[bool] = False

    def __post_init__(self) -> None:
        centre = two_numbers(self.centre.coords[0][:2] if isinstance(self.centre, shapely.Point) else self.centre)
        if centre is None:
            raise DomainError("`centre` of a disc must be two finite numbers, or a point.")
        if not (isinstance(self.radius, Real) and np.isfinite(self.radius) and self.radius > 0):
            raise DomainError(f"`radius` of a disc must be greater than 0, got {quoted(self.radius)}.")
        object.__setattr__(self, "centre", centre)

    @property
    def outline(self) -> shapely.Polygon:
        """Its shape, with 1,024 corners."""
        return shapely.Point(self.centre).buffer(self.radius, quad_segs=256)

    @property
    def diameter(self) -> float:
        """Twice the radius."""
        return 2 * self.radius

    @property
    def longest_side(self) -> float:
        """The diameter."""
        return 2 * self.radius

    @property
    def polar(self) -> "Disc":
        """Itself: part of a turn, part of the radius."""
        return self

    def contains(self, xy: np.ndarray) -> np.ndarray:
        """Return which locations are inside or on the border; NaN never is."""
        return self._distance(xy) <= self.radius * (1 + TOLERANCE)

    def clip(self, xy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Move locations outside to the nearest point of the disc."""
        clipped = columns(len(xy)) if out is None else out
        shrink = self.radius / np.maximum(self._distance(xy), self.radius)
        for axis in (0, 1):
            clipped[:, axis] = self.centre[axis] + (xy[:, axis] - self.centre[axis]) * shrink
        return clipped

    def project_inside(self, xy: np.ndarray) -> None:
        """Undo rounding: reports are inside already."""
        self.clip(xy, out=xy)

    def spread(self, n: int) -> np.ndarray:
        """Return n points spread evenly over the disc: a public stand-in for locations."""
        return self.from_unit(evenly(n) ** [1, 0.5])

    def to_unit(self, xy: np.ndarray) -> np.ndarray:
        """Map the disc to the unit square: part of a turn, part of the radius."""
        unit = columns(len(xy))
        turn = np.arctan2(xy[:, 1] - self.centre[1], xy[:, 0] - self.centre[0]) / (2 * np.pi)
        unit[:, 0] = np.where(turn < 0, turn + 1, turn)
        unit[:, 1] = self._distance(xy) / self.radius
        return unit

    def from_unit(self, uv: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Map the unit square to the disc; into ``out`` if it is given."""
        xy = columns(len(uv)) if out is None else out
        angle, distance = 2 * np.pi * uv[:, 0], self.radius * uv[:, 1]
        xy[:, 0] = self.centre[0] + distance * np.cos(angle)
        xy[:, 1] = self.centre[1] + distance * np.sin(angle)
        return xy

    def stretch(self, uv: np.ndarray) -> np.ndarray:
        """Return how many times larger a small area of the disc is than what it is mapped to."""
        return 2 * np.pi * self.radius**2 * uv[:, 1]

    def covers(self, xy: np.ndarray) -> np.ndarray:
        """Return which places are inside, to the last digit."""
        return self._distance(xy) <= self.radius

    def _distance(self, xy: np.ndarray) -> np.ndarray:
        return np.hypot(xy[:, 0] - self.centre[0], xy[:, 1] - self.centre[1])
