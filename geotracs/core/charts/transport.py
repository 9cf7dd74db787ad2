"""The transport chart: a public density on a grid becomes the uniform one over the unit square."""

from typing import ClassVar

import numpy as np

from geotracs.core.charts.base import columns


class Tabulated:
    """A chart that makes a density on a grid of square tables uniform (Rosenblatt, 1952).

    One axis is mapped by the density's own distribution along it, the other by that in each of its strips: piecewise
    linear over the grid.

    Parameters
    ----------
    bounds : (xmin, ymin, xmax, ymax)
    density : array of shape (side, side)
        How much of it is in each cell of a grid over the bounds, column by column.
    first : {0, 1}
        The axis that is mapped by itself.

    Examples
    --------
    >>> chart = Tabulated((0, 0, 2, 2), np.array([[3.0, 1.0], [2.0, 2.0]]))
    >>> chart.to_unit(np.array([[0.5, 1.0], [1.5, 1.0]]))
    array([[0.25, 0.75],
           [0.75, 0.5 ]])
    """

    periodic: ClassVar[tuple[bool, bool]] = (False, False)
    affine: ClassVar[bool] = False

    def __init__(self, bounds: tuple[float, float, float, float], density: np.ndarray, first: int = 0) -> None:
        xmin, ymin, xmax, ymax = bounds
        self._low, self._size = np.array([xmin, ymin]), np.array([xmax - xmin, ymax - ymin])
        self.first, self._side = first, len(density)
        self._tabulate(density if first == 0 else density.T)

    def to_unit(self, xy: np.ndarray) -> np.ndarray:
        """Map the region to the unit square."""
        unit = columns(len(xy))
        part = self._parts(xy)
        strip, cell = (np.clip(p, 0, self._side - 1).astype(np.int64) for p in part)
        unit[:, 0] = self._strips[strip] + (part[0] - strip) * self._strip_mass[strip]
        cell += strip * (self._side + 1)
        unit[:, 1] = self._cells[cell] + (part[1] + strip * (self._side + 1) - cell) * self._cell_mass[cell]
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
        for axis, at in ((self.first, strip), (1 - self.first, cell - strip * (self._side + 1))):
            xy[:, axis] = self._low[axis] + (at + within[int(axis != self.first)]) * (self._size[axis] / self._side)
        return xy

    def covers(self, xy: np.ndarray) -> np.ndarray:
        """Return which places are in cells with some of the density: nothing is reported from the others."""
        strip, cell = self._parts(xy)
        inside = (strip >= 0) & (strip <= self._side) & (cell >= 0) & (cell <= self._side)
        strip, cell = (np.clip(part, 0, self._side - 1).astype(np.int64) for part in (strip, cell))
        return inside & (self._strip_mass[strip] > 0) & (self._cell_mass[strip * (self._side + 1) + cell] > 0)

    def stretch(self, uv: np.ndarray) -> np.ndarray:
        """Return how many times larger a small area of the region is than what it is mapped to."""
        strip, cell = self._cells_at(uv)
        with np.errstate(divide="ignore"):
            return np.prod(self._size / self._side) / (self._strip_mass[strip] * self._cell_mass[cell])

    @property
    def density(self) -> np.ndarray:
        """How much of the density is in each cell of the grid, column by column; 1 in all.

        >>> Tabulated((0, 0, 2, 2), np.array([[3.0, 1.0], [2.0, 2.0]]), first=1).density
        array([[0.375, 0.125],
               [0.25 , 0.25 ]])
        """
        cells = self._cell_mass.reshape(self._side, self._side + 1)[:, :-1]
        density = self._strip_mass[:, None] * cells
        return density if self.first == 0 else density.T

    def _parts(self, xy: np.ndarray) -> list[np.ndarray]:
        """Return the strip and the cell in it of places, with their fractions."""
        axes = (self.first, 1 - self.first)
        return [(xy[:, axis] - self._low[axis]) * (self._side / self._size[axis]) for axis in axes]

    def _cells_at(self, uv: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the strip and the cell, counted through all strips, of places in the unit square."""
        strip = np.searchsorted(self._strips[:-1], uv[:, 0], side="right") - 1
        cell = np.searchsorted(self._stacked, uv[:, 1] + strip, side="right") - 1
        return strip, np.clip(cell, strip * (self._side + 1), strip * (self._side + 1) + self._side - 1)

    def _tabulate(self, density: np.ndarray) -> None:
        """Prepare both distributions: of the strips, and of the cells in each of them, one strip after the other."""
        self._strips = _running(density.sum(axis=1))
        # A strip without density is never reached; anything goes for it.
        running = _running(np.where(density.sum(axis=1, keepdims=True) > 0, density, 1.0))
        self._cells = running.ravel()
        self._stacked = (running + np.arange(self._side)[:, None]).ravel()
        self._strip_mass = np.diff(self._strips)
        self._cell_mass = np.diff(running, axis=1, append=1.0).ravel()
        self._per_strip_mass, self._per_cell_mass = (
            np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
            for mass in (self._strip_mass, self._cell_mass)
        )


def _running(mass: np.ndarray) -> np.ndarray:
    """Return the sums along the last axis, as parts of the whole: from 0 to exactly 1."""
    sums = np.cumsum(mass, axis=-1)
    return np.concatenate([np.zeros_like(sums[..., :1]), sums / sums[..., -1:]], axis=-1)
