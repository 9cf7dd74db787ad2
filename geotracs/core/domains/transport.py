"""A region with a chart of a public density: noise falls inside, and where the density is high."""

from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
import shapely
from scipy.ndimage import gaussian_filter
from shapely.geometry.base import BaseGeometry

from geotracs.core.charts.base import Chart, evenly
from geotracs.core.charts.transport import Tabulated
from geotracs.core.domains.base import Domain
from geotracs.core.domains.border import BORDER, INSIDE, SIDE, Border
from geotracs.core.domains.edges import NO_EDGES, Edges
from geotracs.errors import DomainError

FLOOR = 0.03
"""Share of the density that is uniform over the region, so that no place is left out."""
SMOOTH = 0.04
"""Standard deviation of the smoothing of a density, as a part of the region's extent: errors are flat around it."""
TRIES = 4
"""Points along each side of a cell on the border by which its share inside is measured..."""
MIN_SHARE = 1 / TRIES**2
"""...and the least that it counts."""


class Transport(Tabulated):
    """A public region with a chart that makes a public density uniform.

    Uniform noise in the unit square falls inside the region, whatever its shape, and where the density is high. The
    map is public and one to one, so that what is eps-LDP on the square is eps-LDP on the region. See `Tabulated`; the
    grid has SIDE x SIDE cells.

    Parameters
    ----------
    region : Domain
        In a plane.
    weights : array of shape (SIDE, SIDE), optional
        How much of the public density is in each cell of a grid over the region's bounds, column by column; uniform
        without them.
    first : {0, 1}
        The axis that is mapped by itself.
    smooth : float
        Standard deviation of the smoothing of the weights, as a part of the region's extent. Where neighbouring strips
        differed much, places that are near would be mapped far apart.

    Examples
    --------
    >>> from geotracs.domains import Polygon
    >>> corner = Polygon(shapely.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]))
    >>> chart = Transport(corner)
    >>> chart.to_unit(np.array([[1.5, 0.5]])).round(2)
    array([[0.83, 0.5 ]])
    """

    kind: ClassVar[str] = "transport"
    in_degrees: ClassVar[bool] = False
    plane: ClassVar[bool] = False
    """The chart is all of it: a method that worked without would ignore the prior that was asked for."""
    instead: ClassVar[str] = '`prior` and fit="transport" are for tracs-c and joint'
    half_planes: ClassVar[None] = None
    polar: ClassVar[None] = None
    edges: ClassVar[Edges] = NO_EDGES
    convex: ClassVar[bool] = False

    def __init__(
        self, region: Domain, weights: np.ndarray | None = None, *, first: int = 0, smooth: float = SMOOTH
    ) -> None:
        self.region, self.weights, self.smooth = region, weights, smooth
        inside = _shares_inside(region)
        density = inside / inside.sum()
        if weights is not None:
            if weights.shape != (SIDE, SIDE) or not np.all(weights >= 0) or not (weights * inside).sum() > 0:
                raise DomainError("The public prior is nowhere greater than 0 in the domain; are both CRSs right?")
            prior = gaussian_filter(weights.astype(float), SIDE * smooth, mode="nearest") if smooth else weights
            prior = prior * inside
            density = FLOOR * density + (1 - FLOOR) * prior / prior.sum()
        super().__init__(region.outline.bounds, density, first)

    @property
    def chart(self) -> Chart:
        """Itself."""
        return self

    @property
    def outline(self) -> BaseGeometry:
        """The shape of the region."""
        return self.region.outline

    @property
    def centre(self) -> tuple[float, float]:
        """The centre of the region."""
        return self.region.centre

    @property
    def corner(self) -> tuple[float, float]:
        """The corner of the region."""
        return self.region.corner

    @property
    def diameter(self) -> float:
        """The diameter of the region."""
        return self.region.diameter

    @property
    def longest_side(self) -> float:
        """The longest side of the region."""
        return self.region.longest_side

    @property
    def border(self) -> Border | None:
        """The border of the region, if it has one under an index."""
        return self.region.border

    def contains(self, xy: np.ndarray) -> np.ndarray:
        """Return which locations are inside the region."""
        return self.region.contains(xy)

    def clip(self, xy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Move locations outside into the region."""
        return self.region.clip(xy, out=out)

    def project_inside(self, xy: np.ndarray) -> None:
        """Move reports in cells on the border that fell outside into the region."""
        self.region.project_inside(xy)

    def distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distance in the region between each pair of locations."""
        return self.region.distance(a, b)

    def spread(self, n: int) -> np.ndarray:
        """Return n points spread as the density is, before it is smoothed: a public stand-in for locations."""
        spread = self._rough.from_unit(evenly(n))
        self.project_inside(spread)
        return spread

    @property
    def prior(self) -> np.ndarray | None:
        """How much of the density, before it is smoothed, is in each cell of the grid; None if it is uniform."""
        return None if self.weights is None else self._rough.density

    @cached_property
    def _rough(self) -> "Transport":
        return Transport(self.region, self.weights, smooth=0) if self.smooth and self.weights is not None else self


@lru_cache(maxsize=8)
def _shares_inside(region: Domain) -> np.ndarray:
    """Return which share of each cell of the grid is inside the region, at least a little for all that it may touch."""
    outline = region.outline
    if outline.equals(shapely.box(*outline.bounds)):
        return np.ones((SIDE, SIDE))
    border = region.border or Border(outline)
    shares = (border.grid == INSIDE).astype(float)
    at = np.argwhere(border.grid == BORDER)
    steps = (np.stack(np.meshgrid(np.arange(TRIES), np.arange(TRIES)), axis=-1).reshape(-1, 2) + 0.5) / TRIES
    xmin, ymin, xmax, ymax = outline.bounds
    tried = np.array([xmin, ymin]) + (at[:, None] + steps) / SIDE * [xmax - xmin, ymax - ymin]
    inside = shapely.contains_xy(outline, tried.reshape(-1, 2)).reshape(len(at), -1)
    shares[tuple(at.T)] = np.maximum(inside.mean(axis=1), MIN_SHARE)
    return shares
