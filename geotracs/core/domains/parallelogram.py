"""A parallelogram, oriented rectangles included: an affine image of the unit square."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import shapely

from geotracs.core.charts.base import CORNERS, columns, evenly, in_unit
from geotracs.core.domains.base import Base
from geotracs.core.domains.rectangle import TOLERANCE, two_numbers
from geotracs.core.lengths import longest_side
from geotracs.errors import DomainError


@dataclass(frozen=True)
class Parallelogram(Base):
    """A public parallelogram: ``origin``, and its two sides as vectors ``u`` and ``v``.

    Given to `geotracs.perturb`, the three are in the frame's CRS.

    Examples
    --------
    >>> harbour = Parallelogram((0, 0), (400, 300), (-30, 40))
    >>> harbour.from_unit(np.array([[0.5, 0.0]]))
    array([[200., 150.]])
    """

    origin: tuple[float, float]
    u: tuple[float, float]
    v: tuple[float, float]

    kind: ClassVar[str] = "parallelogram"
    convex: ClassVar[bool] = True
    periodic: ClassVar[tuple[bool, bool]] = (False, False)
    affine: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("origin", "u", "v"):
            value = two_numbers(getattr(self, name))
            if value is None:
                raise DomainError(f"`{name}` of a parallelogram must be two finite numbers.")
            object.__setattr__(self, name, value)
        if self.area <= 1e-12 * np.hypot(*self.u) * np.hypot(*self.v):
            raise DomainError("The sides `u` and `v` of a parallelogram must not be parallel; this one has no area.")

    @property
    def area(self) -> float:
        """Its area."""
        return abs(self.u[0] * self.v[1] - self.u[1] * self.v[0])

    @property
    def vertices(self) -> np.ndarray:
        """The four corners, counter-clockwise or clockwise."""
        return self.from_unit(CORNERS)

    @property
    def centre(self) -> tuple[float, float]:
        """The middle."""
        return tuple(self.from_unit(np.array([[0.5, 0.5]]))[0].tolist())

    @property
    def corner(self) -> tuple[float, float]:
        """The origin."""
        return self.origin

    @property
    def outline(self) -> shapely.Polygon:
        """Its shape."""
        return shapely.Polygon(self.vertices)

    @property
    def longest_side(self) -> float:
        """The length of its longest side."""
        return longest_side(self.vertices)

    @property
    def chart(self) -> "Parallelogram":
        """Itself."""
        return self

    @property
    def half_planes(self) -> np.ndarray:
        """Rows ``(a, b, c)``: the region is where ``a x + b y <= c`` for every row, with ``a² + b² = 1``."""
        return half_planes(self.vertices)

    def contains(self, xy: np.ndarray) -> np.ndarray:
        """Return which locations are inside or on the border; NaN never is."""
        unit = self.to_unit(xy)
        return np.all((unit >= -TOLERANCE) & (unit <= 1 + TOLERANCE), axis=1)

    def clip(self, xy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Move locations outside to the border, along the sides."""
        return self.from_unit(np.clip(self.to_unit(xy), 0, 1), out=out)

    def project_inside(self, xy: np.ndarray) -> None:
        """Undo rounding: reports are inside already."""
        astray = ~np.all(self.half_planes[:, :2] @ xy.T <= self.half_planes[:, 2:], axis=0)
        xy[astray] = self.clip(xy[astray])

    def spread(self, n: int) -> np.ndarray:
        """Return n points spread evenly over the region: a public stand-in for locations."""
        return self.from_unit(evenly(n))

    def to_unit(self, xy: np.ndarray) -> np.ndarray:
        """Map the parallelogram to the unit square."""
        (a, c), (b, d) = self.u, self.v
        x, y = xy[:, 0] - self.origin[0], xy[:, 1] - self.origin[1]
        unit, determinant = columns(len(xy)), a * d - b * c
        unit[:, 0] = (d * x - b * y) / determinant
        unit[:, 1] = (a * y - c * x) / determinant
        return unit

    def from_unit(self, uv: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Map the unit square to the parallelogram; into ``out`` if it is given."""
        xy = columns(len(uv)) if out is None else out
        x = self.origin[0] + self.u[0] * uv[:, 0] + self.v[0] * uv[:, 1]
        xy[:, 1] = self.origin[1] + self.u[1] * uv[:, 0] + self.v[1] * uv[:, 1]
        xy[:, 0] = x
        return xy

    def stretch(self, uv: np.ndarray) -> np.ndarray:
        """Return the area, which is the same everywhere."""
        return np.full(len(uv), self.area)

    def covers(self, xy: np.ndarray) -> np.ndarray:
        """Return which places are inside, to the last digit."""
        return in_unit(self.to_unit(xy))


def half_planes(vertices: np.ndarray) -> np.ndarray:
    """Return the half-planes of a convex polygon, given by its vertices in order.

    >>> half_planes(np.array([[0, 0], [1, 0], [0, 1]])).round(2) + 0.0
    array([[ 0.  , -1.  ,  0.  ],
           [ 0.71,  0.71,  0.71],
           [-1.  ,  0.  ,  0.  ]])
    """
    edges = np.roll(vertices, -1, axis=0) - vertices
    following = np.roll(edges, -1, axis=0)
    turn = np.sign(np.sum(edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0]))
    normals = turn * np.column_stack([edges[:, 1], -edges[:, 0]])
    lengths = np.hypot(*normals.T)
    normals = normals[lengths > 0] / lengths[lengths > 0, None]
    return np.column_stack([normals, np.sum(normals * vertices[lengths > 0], axis=1)])
