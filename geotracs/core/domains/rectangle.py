"""An axis-aligned rectangle: the paper's location space."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from geotracs.core.domains.edges import NO_EDGES, Edges
from geotracs.errors import DomainError

TOLERANCE = 1e-9
"""How far outside, as a part of the region's size, a location still counts as inside: rounding of a projection."""

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
"""The corners of the unit square."""


def columns(n: int) -> np.ndarray:
    """Return an empty array of n pairs with contiguous columns: numpy is slow at pairs, and at fresh memory."""
    return np.empty((2, n)).T


def two_numbers(value: Any) -> tuple[float, float] | None:
    """Return two finite numbers, or None if that is not what is given."""
    try:
        pair = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return tuple(pair.tolist()) if pair.shape == (2,) and np.isfinite(pair).all() else None


def evenly(n: int) -> np.ndarray:
    """Return n points spread evenly over the unit square (the sequence of Roberts, 2018)."""
    return (0.5 + np.arange(1, n + 1)[:, None] * [0.7548776662466927, 0.5698402909980532]) % 1


@dataclass(frozen=True)
class Rectangle:
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

    periodic: ClassVar[tuple[bool, bool]] = (False, False)
    edges: ClassVar[Edges] = NO_EDGES

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
    def frame(self) -> "Rectangle":
        """Where Cartesian methods work: itself."""
        return self

    @property
    def half_planes(self) -> np.ndarray:
        """Rows ``(a, b, c)``: the region is where ``a x + b y <= c`` for every row, with ``a² + b² = 1``."""
        return np.array([[1, 0, self.xmax], [0, 1, self.ymax], [-1, 0, -self.xmin], [0, -1, -self.ymin]], float)

    def contains(self, xy: np.ndarray) -> np.ndarray:
        """Say which locations are inside or on the border; NaN never is."""
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

    @property
    def _ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return (self.xmin, self.xmax), (self.ymin, self.ymax)
