"""The transport chart: a public density over a region becomes the uniform one over the unit square."""

from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
import shapely
from scipy.ndimage import gaussian_filter
from shapely.geometry.base import BaseGeometry

from geotracs.core.domains.border import BORDER, INSIDE, SIDE, Border
from geotracs.core.domains.disc import Disc
from geotracs.core.domains.parallelogram import Parallelogram
from geotracs.core.domains.polygon import Polygon
from geotracs.core.domains.rectangle import Rectangle, columns, evenly
from geotracs.errors import DomainError

FLOOR = 0.03
"""Share of the density that is uniform over the region, so that no place is left out."""
SMOOTH = 0.04
"""Standard deviation of the smoothing of a density, as a part of the region's extent: errors are flat around it."""
TRIES = 4
"""Points along each side of a cell on the border by which its share inside is measured..."""
LEAST = 1 / TRIES**2
"""...and the least that it counts."""

Base = Rectangle | Parallelogram | Polygon | Disc


class Transport:
    """A public region with a chart that makes a public density uniform (Rosenblatt, 1952).

    One axis is mapped by the density's own distribution along it, the other by that in each of its strips: piecewise
    linear over a grid of SIDE x SIDE cells. Uniform noise in the unit square then falls inside the region, whatever
    its shape, and where the density is high. The map is public and one to one, so that what is eps-LDP on the square
    is eps-LDP on the region.

    Parameters
    ----------
    region : Rectangle, Parallelogram, Polygon or Disc
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
    >>> corner = Polygon(shapely.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]))
    >>> chart = Transport(corner)
    >>> chart.to_unit(np.array([[1.5, 0.5]])).round(2)
    array([[0.83, 0.5 ]])
    """

    periodic: ClassVar[tuple[bool, bool]] = (False, False)

    def __init__(
        self, region: Base, weights: np.ndarray | None = None, *, first: int = 0, smooth: float = SMOOTH
    ) -> None:
        self.region, self.weights, self.first, self.smooth = region, weights, first, smooth
        xmin, ymin, xmax, ymax = outline(region).bounds
        self._low, self._size = np.array([xmin, ymin]), np.array([xmax - xmin, ymax - ymin])
        inside = _shares_inside(region)
        density = inside / inside.sum()
        if weights is not None:
            if weights.shape != (SIDE, SIDE) or not np.all(weights >= 0) or not (weights * inside).sum() > 0:
                raise DomainError("The public prior is nowhere greater than 0 in the domain; are both CRSs right?")
            prior = gaussian_filter(weights.astype(float), SIDE * smooth, mode="nearest") if smooth else weights
            prior = prior * inside
            density = FLOOR * density + (1 - FLOOR) * prior / prior.sum()
        self._tabulate(density if first == 0 else density.T)

    @property
    def frame(self) -> "Transport":
        """Where Cartesian methods work: itself."""
        return self

    def contains(self, xy: np.ndarray) -> np.ndarray:
        """Say which locations are inside the region."""
        return self.region.contains(xy)

    def clip(self, xy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Move locations outside into the region."""
        return self.region.clip(xy, out=out)

    def project_inside(self, xy: np.ndarray) -> None:
        """Move reports in cells on the border that fell outside into the region."""
        self.region.project_inside(xy)

    def spread(self, n: int) -> np.ndarray:
        """Return n points spread as the density is, before it is smoothed: a public stand-in for locations."""
        spread = self._rough.from_unit(evenly(n))
        self.project_inside(spread)
        return spread

    def to_unit(self, xy: np.ndarray) -> np.ndarray:
        """Map the region to the unit square."""
        unit = columns(len(xy))
        part = [(xy[:, axis] - self._low[axis]) * (SIDE / self._size[axis]) for axis in (self.first, 1 - self.first)]
        strip, cell = (np.clip(p, 0, SIDE - 1).astype(np.int64) for p in part)
        unit[:, 0] = self._strips[strip] + (part[0] - strip) * self._strip_mass[strip]
        cell += strip * (SIDE + 1)
        unit[:, 1] = self._cells[cell] + (part[1] + strip * (SIDE + 1) - cell) * self._cell_mass[cell]
        return np.clip(unit, 0, 1, out=unit)

    def from_unit(self, uv: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Map the unit square to the region; into ``out`` if it is given."""
        xy = columns(len(uv)) if out is None else out
        u, v = uv[:, 0], uv[:, 1]
        strip, cell = self._cells_at(uv)
        within = [
            np.minimum((u - self._strips[strip]) * self._per_strip_mass[strip], 1),
            np.clip((v - self._cells[cell]) * self._per_cell_mass[cell], 0, 1),
        ]
        for axis, at in ((self.first, strip), (1 - self.first, cell - strip * (SIDE + 1))):
            xy[:, axis] = self._low[axis] + (at + within[int(axis != self.first)]) * (self._size[axis] / SIDE)
        return xy

    def covers(self, xy: np.ndarray) -> np.ndarray:
        """Say which places are in cells that the region may touch: nothing is reported from the others."""
        strip, cell = (
            (xy[:, axis] - self._low[axis]) * (SIDE / self._size[axis]) for axis in (self.first, 1 - self.first)
        )
        inside = (strip >= 0) & (strip <= SIDE) & (cell >= 0) & (cell <= SIDE)
        strip, cell = (np.clip(part, 0, SIDE - 1).astype(np.int64) for part in (strip, cell))
        return inside & (self._strip_mass[strip] > 0) & (self._cell_mass[strip * (SIDE + 1) + cell] > 0)

    def stretch(self, uv: np.ndarray) -> np.ndarray:
        """Return how many times larger a small area of the region is than what it is mapped to."""
        strip, cell = self._cells_at(uv)
        with np.errstate(divide="ignore"):
            return np.prod(self._size / SIDE) / (self._strip_mass[strip] * self._cell_mass[cell])

    def _cells_at(self, uv: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the strip and the cell, counted through all strips, of places in the unit square."""
        strip = np.searchsorted(self._strips[:-1], uv[:, 0], side="right") - 1
        cell = np.searchsorted(self._stacked, uv[:, 1] + strip, side="right") - 1
        return strip, np.clip(cell, strip * (SIDE + 1), strip * (SIDE + 1) + SIDE - 1)

    @cached_property
    def _rough(self) -> "Transport":
        return Transport(self.region, self.weights, smooth=0) if self.smooth and self.weights is not None else self

    def _tabulate(self, density: np.ndarray) -> None:
        """Prepare both distributions: of the strips, and of the cells in each of them, one strip after the other."""
        self._strips = _running(density.sum(axis=1))
        # A strip without density is never reached; anything goes for it.
        running = _running(np.where(density.sum(axis=1, keepdims=True) > 0, density, 1.0))
        self._cells = running.ravel()
        self._stacked = (running + np.arange(SIDE)[:, None]).ravel()
        self._strip_mass = np.diff(self._strips)
        self._cell_mass = np.diff(running, axis=1, append=1.0).ravel()
        self._per_strip_mass, self._per_cell_mass = (
            np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
            for mass in (self._strip_mass, self._cell_mass)
        )


def outline(region: Base) -> BaseGeometry:
    """Return the region as a shapely geometry."""
    if isinstance(region, Polygon):
        return region.geometry
    if isinstance(region, Disc):
        return shapely.Point(region.centre).buffer(region.radius, quad_segs=256)
    return shapely.Polygon(region.vertices)


@lru_cache(maxsize=8)
def _shares_inside(region: Base) -> np.ndarray:
    """Return which share of each cell of the grid is inside the region, at least a little for all that it may touch."""
    if isinstance(region, Rectangle):
        return np.ones((SIDE, SIDE))
    border = region.border if isinstance(region, Polygon) else Border(outline(region))
    shares = (border.grid == INSIDE).astype(float)
    at = np.argwhere(border.grid == BORDER)
    steps = (np.stack(np.meshgrid(np.arange(TRIES), np.arange(TRIES)), axis=-1).reshape(-1, 2) + 0.5) / TRIES
    xmin, ymin, xmax, ymax = border.geometry.bounds
    tried = np.array([xmin, ymin]) + (at[:, None] + steps) / SIDE * [xmax - xmin, ymax - ymin]
    inside = shapely.contains_xy(border.geometry, tried.reshape(-1, 2)).reshape(len(at), -1)
    shares[tuple(at.T)] = np.maximum(inside.mean(axis=1), LEAST)
    return shares


def _running(mass: np.ndarray) -> np.ndarray:
    """Return the sums along the last axis, as parts of the whole: from 0 to exactly 1."""
    sums = np.cumsum(mass, axis=-1)
    return np.concatenate([np.zeros_like(sums[..., :1]), sums / sums[..., -1:]], axis=-1)
