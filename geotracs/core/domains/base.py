"""What a domain is: a public region, and the capabilities that methods ask it for."""

from functools import cached_property
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from geotracs.core.charts.base import Chart, evenly_inside
from geotracs.core.domains.border import Border
from geotracs.core.domains.edges import NO_EDGES, Edges
from geotracs.core.lengths import diameter


@runtime_checkable
class Domain(Protocol):
    """A public region, in coordinates of a plane or in degrees of longitude and latitude.

    The capabilities `chart`, `half_planes`, `polar` and `border` may be None. A method asks for those that it needs and
    refuses a region without them, so that no method knows kinds of regions. A new kind derives from `Base`, which has
    all but `kind`, `centre`, `contains`, `project_inside` and `outline`.
    """

    def __hash__(self) -> int:
        """Return a number for the tables that are kept for it."""

    @property
    def kind(self) -> str:
        """What it is called, in records and messages."""

    @property
    def in_degrees(self) -> bool:
        """Whether its coordinates are degrees on the sphere; distances are then metres along great circles."""

    @property
    def plane(self) -> bool:
        """Whether methods may work in its coordinates as they are, without a chart."""

    @property
    def instead(self) -> str:
        """What a user can do if the method needs a capability that the region lacks."""

    @property
    def centre(self) -> tuple[float, float]:
        """A public point inside, in the middle where it has one."""

    @property
    def corner(self) -> tuple[float, float]:
        """A public point on the border of where methods work."""

    @property
    def diameter(self) -> float:
        """The largest distance between two of its locations."""

    @property
    def longest_side(self) -> float:
        """The length of the longest side of the rectangle in which it is worked on."""

    @property
    def outline(self) -> BaseGeometry:
        """Its shape, in its own coordinates."""

    @property
    def chart(self) -> Chart | None:
        """A Cartesian chart of the region or of the rectangle fitted around it: two coordinates."""

    @property
    def half_planes(self) -> np.ndarray | None:
        """Straight sides, all seen from any point inside: rows ``(a, b, c)``, ``a x + b y <= c``, ``a² + b² = 1``."""

    @property
    def convex(self) -> bool:
        """Whether the half-planes are those of the region itself, not of a rectangle fitted around it."""

    @property
    def polar(self) -> Chart | None:
        """A chart of direction and distance from its own centre."""

    @property
    def border(self) -> Border | None:
        """Its border under an index, where reports in the fitted rectangle may fall outside and are projected."""

    @property
    def edges(self) -> Edges:
        """Its edges, for a kernel that draws in a rectangle around it; none where the half-planes are its own."""

    def contains(self, xy: np.ndarray) -> np.ndarray:
        """Return which locations are inside or on the border, but for rounding; NaN never is."""

    def clip(self, xy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return locations with those outside moved to the border; in ``out`` if it is given."""

    def project_inside(self, xy: np.ndarray) -> None:
        """Move reports that fell outside into the region, and undo rounding; in place."""

    def spread(self, n: int) -> np.ndarray:
        """Return about n points spread evenly over the region: a public stand-in for locations."""

    def distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distance between each pair of locations, row by row."""


class Base:
    """What most regions of the plane have in common: no capabilities, and all that follows from the outline."""

    kind: ClassVar[str]
    in_degrees: ClassVar[bool] = False
    plane: ClassVar[bool] = True
    instead: ClassVar[str] = 'use another method, or fit="transport"'

    @property
    def outline(self) -> BaseGeometry:
        """The shape of the region."""
        raise NotImplementedError

    @property
    def chart(self) -> Chart | None:
        """None: the region has no two coordinates."""
        return None

    @property
    def half_planes(self) -> np.ndarray | None:
        """None: the region has no straight sides that are all seen from everywhere."""
        return None

    @property
    def convex(self) -> bool:
        """Whether the half-planes are those of the region itself."""
        return False

    @property
    def polar(self) -> Chart | None:
        """None: the region has no polar chart of its own."""
        return None

    @property
    def border(self) -> Border | None:
        """None: reports are inside already."""
        return None

    @property
    def edges(self) -> Edges:
        """None: there is no rectangle around the region."""
        return NO_EDGES

    @property
    def corner(self) -> tuple[float, float]:
        """The first point of the outline."""
        x, y = shapely.get_coordinates(self.outline)[0].tolist()
        return x, y

    @cached_property
    def diameter(self) -> float:
        """The largest distance between two locations."""
        return diameter(shapely.get_coordinates(self.outline))

    @property
    def longest_side(self) -> float:
        """The longest side of the box around the region."""
        return float(np.ptp(np.reshape(self.outline.bounds, (2, 2)), axis=0).max())

    def contains(self, xy: np.ndarray) -> np.ndarray:
        """Return which locations are inside."""
        raise NotImplementedError

    def project_inside(self, xy: np.ndarray) -> None:
        """Move reports outside into the region."""
        raise NotImplementedError

    def clip(self, xy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Move locations outside as reports are moved; into ``out`` if it is given."""
        clipped = xy.copy(order="F") if out is None else out
        clipped[:] = xy
        self.project_inside(clipped)
        return clipped

    def spread(self, n: int) -> np.ndarray:
        """Return about n points spread evenly over the region: a public stand-in for locations."""
        low, high = np.reshape(self.outline.bounds, (2, 2))
        found = evenly_inside(n, lambda uv: low + uv * (high - low), self.contains)
        return found if len(found) else np.array([middle(self.outline)])

    def distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the straight distance between each pair of locations."""
        return np.hypot(*(b - a).T)


def middle(shape: BaseGeometry) -> tuple[float, float]:
    """Return the centroid of a shape, or a point inside where the centroid is not.

    >>> middle(shapely.box(0, 0, 2, 1))
    (1.0, 0.5)
    """
    centroid = shape.centroid
    inside = centroid if shape.covers(centroid) else shape.representative_point()
    return inside.x, inside.y
