"""An axis-aligned rectangle: the paper's location space."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import shapely

from geotracs.core.charts.base import CORNERS, columns, evenly, in_unit
from geotracs.core.domains.base import Base
from geotracs.core.lengths import longest_side
from geotracs.errors import DomainError

TOLERANCE = 1e-9
"""How far outside, as a part of the region's size, a location still counts as inside: rounding of a projection."""


def two_numbers(value: Any) -> tuple[float, float] | None:
    """Return two finite numbers, or None if the argument is something else."""
    try:
        pair = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return tuple(pair.tolist()) if pair.shape == (2,) and np.isfinite(pair).all() else None


@dataclass(frozen=True)
class Rectangle(Base):
    """A public rectangle in planar coordinates.

    Examples
    --------
    >>> city = Rectangle(0, 0, 2000, 10000)
    >>> city.centre
    (1000.0, 5000.0)
    >>> city.from_unit(city.to_unit(np.array([[500.0, 100.0]])))
    array([[500., 100.]])
    """

    xmin: float
    ymin: float
    xmax: float
    ymax: float

    kind: ClassVar[str] = "rectangle"
    convex: ClassVar[bool] = True
    periodic: ClassVar[tuple[bool, bool]] = (False, False)
    affine: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("xmin", "ymin", "xmax", "ymax"):
            if not isinstance(getattr(self, name), Real):
                raise DomainError(f"`{name}` of a rectangle must be a number.")
            object.__setattr__(self, name, float(getattr(self, name)))
        if not np.all(np.isfinite([self.xmin, self.ymin, self.xmax, self.ymax])):
            raise DomainError("A rectangle needs four finite numbers: xmin, ymin, xmax, ymax.")
        if not (self.xmin < self.xmax and self.ymin < self.ymax):
            raise DomainError("A rectangle needs xmin < xmax and ymin < ymax; this one has no area.")

    @property
    def vertices(self) -> np.ndarray:
        """The four corners, counter-clockwise."""
        return self.from_unit(CORNERS)

    @property
    def centre(self) -> tuple[float, float]:
        """The middle."""
        return (self.xmin + self.xmax) / 2, (self.ymin + self.ymax) / 2

    @property
    def corner(self) -> tuple[float, float]:
        """The lower left corner."""
        return self.xmin, self.ymin

    @property
    def outline(self) -> shapely.Polygon:
        """Its shape."""
        return shapely.Polygon(self.vertices)

    @property
    def longest_side(self) -> float:
        """The length of its longest side."""
        return longest_side(self.vertices)

    @property
    def chart(self) -> "Rectangle":
        """Itself."""
        return self

    @property
    def half_planes(self) -> np.ndarray:
        """Rows ``(a, b, c)``: the region is where ``a x + b y <= c`` for every row, with ``a² + b² = 1``."""
        return np.array([[1, 0, self.xmax], [0, 1, self.ymax], [-1, 0, -self.xmin], [0, -1, -self.ymin]], float)

    def contains(self, xy: np.ndarray) -> np.ndarray:
        """Return which locations are inside or on the border; NaN never is."""
        inside = np.ones(len(xy), dtype=bool)
        for axis, (low, high) in enumerate(self._ends):
            slack = TOLERANCE * (high - low)
            inside &= (xy[:, axis] >= low - slack) & (xy[:, axis] <= high + slack)
        return inside

    def clip(self, xy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Move locations outside to the nearest point of the rectangle; into ``out`` if it is given."""
        clipped = columns(len(xy)) if out is None else out
        for axis, (low, high) in enumerate(self._ends):
            np.clip(xy[:, axis], low, high, out=clipped[:, axis])
        return clipped

    def project_inside(self, xy: np.ndarray) -> None:
        """Undo rounding: reports are inside already."""
        self.clip(xy, out=xy)

    def spread(self, n: int) -> np.ndarray:
        """Return n points spread evenly over the region: a public stand-in for locations."""
        return self.from_unit(evenly(n))

    def to_unit(self, xy: np.ndarray) -> np.ndarray:
        """Map the rectangle to the unit square."""
        unit = columns(len(xy))
        for axis, (low, high) in enumerate(self._ends):
            np.subtract(xy[:, axis], low, out=unit[:, axis])
            unit[:, axis] /= high - low
        return unit

    def from_unit(self, uv: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Map the unit square to the rectangle; into ``out`` if it is given."""
        xy = columns(len(uv)) if out is None else out
        for axis, (low, high) in enumerate(self._ends):
            np.multiply(uv[:, axis], high - low, out=xy[:, axis])
            xy[:, axis] += low
        return xy

    def stretch(self, uv: np.ndarray) -> np.ndarray:
        """Return the area, which is the same everywhere."""
        return np.full(len(uv), (self.xmax - self.xmin) * (self.ymax - self.ymin))

    def covers(self, xy: np.ndarray) -> np.ndarray:
        """Return which places are inside, to the last digit."""
        return in_unit(self.to_unit(xy))

    @property
    def _ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return (self.xmin, self.xmax), (self.ymin, self.ymax)
