"""The constraints of the dual: bounds of each that hold for all reports of a tile and all secrets of a cell.

For a report y and a price l(x) of each secret, g(y) = E[l - d] + (exp(eps) - 1) E[(l - d)+] must not be positive. Here
it is bounded from above, so that a finite sum speaks for the whole region:

- Secrets of a cell. With m = l - d(mean, y), the deviation v of l - d(x, y) from m has E[v] <= 0 because distances
  are convex, |v| <= radius and E[v^2] <= variance because they are 1-Lipschitz. The largest possible E[(m + v)+]
  under these is m+ plus `excess`, and convex and increasing in m.
- Reports of a tile. d(x, y) is at least its tangent at the tile's middle. So the bound is a convex function of y, and
  its largest value over a tile is at one of the corners.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from geotracs.core.optimum.cells import Cells, merge
from geotracs.core.optimum.metric import Metric

CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
ENTRIES = 2**19
"""How many pairs of a tile and a cell are processed at a time."""
FAR = 1500
"""For the mean distance alone, this many cells are enough: joining cells only lowers it."""
ROUNDING = 1e-12
"""Share of a sum's largest term by which it may be wrong in floating point."""


class Tiles(NamedTuple):
    """Squares of reports: their middles, as the metric works with them, and half their sides; points if these are 0."""

    middles: np.ndarray
    halves: np.ndarray

    def take(self, rows: np.ndarray) -> "Tiles":
        """Return some of them."""
        return Tiles(self.middles[rows], self.halves[rows])


class Values(NamedTuple):
    """An upper bound of each tile's constraint, and how fast it falls when all prices do."""

    bounds: np.ndarray
    slopes: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Constraints:
    """The constraints of all reports of some tiles."""

    cells: Cells
    odds: float
    """exp(eps) - 1."""
    metric: Metric
    tiles: Tiles
    means: np.ndarray
    """A lower bound of the mean distance from each corner of each tile."""

    @classmethod
    def over(cls, tiles: Tiles, cells: Cells, odds: float, metric: Metric) -> "Constraints":
        """Prepare the constraints."""
        few = cells
        if len(cells) > FAR and not (cells.exact and not tiles.halves.any()):
            span = np.ptp(cells.points, axis=0).max() * (1.0 if metric.flat else 6.4e6)
            few = merge(cells, np.full(len(cells), max(span / np.sqrt(FAR), 1e-300)), metric)[0]
        means = np.empty((len(tiles.middles), 4))
        for rows in parts(len(means), len(few)):
            d, x, y = metric.pairs(tiles.middles[rows], few.points)
            half = tiles.halves[rows, None]
            for k, (east, north) in enumerate(CORNERS):
                along = half * (x * east + y * north)
                least, _ = metric.at_least(d, along, 2 * half**2, np.sqrt(2) * half + few.radius, few.rms)
                means[rows, k] = (least - few.bias) @ few.weights
        return cls(cells, odds, metric, tiles, means)

    def take(self, rows: np.ndarray) -> "Constraints":
        """Return some of them."""
        return Constraints(self.cells, self.odds, self.metric, self.tiles.take(rows), self.means[rows])

    def values(self, prices: np.ndarray) -> Values:
        """Return the bounds, rounded up, for a price of each cell."""
        inside, mass = np.zeros(self.means.shape), np.zeros(len(self.means))
        for rows, near in self._blocks(prices):
            inside[rows], mass[rows] = self._inside(rows, near, prices[near])
        level = self.cells.mean(prices)
        size = np.abs(prices).max() + np.abs(self.means).max(axis=1) + self.odds * inside.max(axis=1)
        bounds = (level - self.means + self.odds * inside).max(axis=1) + ROUNDING * size
        return Values(bounds, 1 + self.odds * mass)

    def _inside(self, rows: np.ndarray, near: np.ndarray, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of E[(l - d)+] at the corners of tiles, and the prior of their windows."""
        cells, half = self.cells, self.tiles.halves[rows, None]
        weights, radius, bias = cells.weights[near], cells.radius[near], cells.bias[near]
        d, x, y = self.metric.pairs(self.tiles.middles[rows], cells.points[near])
        reach = np.sqrt(2) * half
        gap = prices + bias - d
        if not self.metric.flat:
            return self._on_sphere(rows, near, gap, d, x, y)
        held = gap > reach + radius
        mass = held * weights
        inside = np.repeat((mass * gap).sum(axis=1)[:, None], 4, axis=1)
        pull = half * np.column_stack([(mass * x).sum(axis=1), (mass * y).sum(axis=1)])
        inside -= pull @ CORNERS.T
        tile, cell = np.nonzero(~held & (gap > -reach - radius))
        d, x, y, gap, half = d[tile, cell], x[tile, cell], y[tile, cell], gap[tile, cell], half[tile, 0]
        weights, radius = weights[cell], radius[cell]
        deviation = directional(cells, near, d - np.sqrt(2) * half, cell) if radius.any() else radius
        x *= half
        y *= half
        for k, (east, north) in enumerate(CORNERS):
            moved = gap - (east * x + north * y)
            plus = np.maximum(moved, 0) + excess(np.abs(moved), radius, deviation)
            inside[:, k] += np.bincount(tile, weights=plus * weights, minlength=len(inside))
        return inside, mass.sum(axis=1) + np.bincount(tile, weights=(gap > 0) * weights, minlength=len(inside))

    def _on_sphere(
        self, rows: np.ndarray, near: np.ndarray, gap: np.ndarray, d: np.ndarray, x: np.ndarray, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        cells, half = self.cells, self.tiles.halves[rows, None]
        radius, rms, bias = cells.radius[near], cells.rms[near], cells.bias[near]
        inside = np.empty((len(rows), 4))
        for k, (east, north) in enumerate(CORNERS):
            along = half * (x * east + y * north)
            least, far = self.metric.at_least(d, along, 2 * half**2, np.sqrt(2) * half + radius, rms)
            moved = gap + d - least
            # Where the secret's moves do not cancel out, their mean is at most their root mean square.
            deviation = np.where(far, 2 * rms, rms) + bias
            plus = np.maximum(moved, 0) + excess(
                np.abs(moved), np.maximum(radius + np.where(far, rms, 0) + bias, deviation), deviation
            )
            inside[:, k] = plus @ cells.weights[near]
        return inside, (gap > 0) @ cells.weights[near]

    def _blocks(self, prices: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Give tiles that are near each other, and the cells that any of them may have in its window."""
        middles, cells = self.tiles.middles, self.cells
        reach = prices + 2 * (cells.radius + cells.rms + cells.bias)
        for rows in neighbours(middles, 128):
            centre = middles[rows].mean(axis=0)[None]
            if not self.metric.flat:
                centre /= max(float(np.linalg.norm(centre)), 1e-9)
            extent = self.metric.distance(centre, middles[rows]).max() + 1.5 * self.tiles.halves[rows].max()
            near = np.flatnonzero(self.metric.distance(centre, cells.points)[0] <= reach + extent)
            for part in parts(len(rows), max(len(near), 1)):
                yield rows[part], near


def directional(cells: Cells, near: np.ndarray, least: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """Return bounds of the root mean square of a cell's deviations in distance, seen from at least that far.

    With a along the line of sight and b across it, the distance changes by at least a, and by at most
    a + b^2 / (2 (D - r)).
    """
    radius, square, widest = cells.radius[near][cell], (cells.rms[near] ** 2)[cell], cells.widest[near][cell]
    left = least - radius
    part = np.divide(radius, left, out=np.full_like(left, np.inf), where=left > 0)
    return np.sqrt(np.minimum(square, widest + square * (0.385 * part + 0.25 * part * part)))


def excess(gap: np.ndarray, radius: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return by how much E[(m + v)+] can exceed m+, for |m| = gap, E[v] <= 0, |v| <= radius, E[v^2] <= deviation^2.

    The quadratic majorant of Scarf (1958), and where it would leave the radius that of De Vylder and Goovaerts (1982).

    >>> excess(np.array([0.0, 2.0]), np.array([1.0, 1.0]), np.array([0.5, 0.5]))
    array([0.25, 0.  ])
    """
    square = deviation * deviation
    inner = (np.sqrt(gap * gap + square) - gap) / 2
    whole = radius * radius + square
    outer = np.maximum(radius - gap, 0) * np.divide(square, whole, out=np.zeros_like(whole), where=whole > 0)
    return np.where(2 * radius * gap <= radius * radius - square, inner, outer)


def neighbours(points: np.ndarray, size: int) -> list[np.ndarray]:
    """Cut points into groups of up to that many which lie together, halving along the longest side.

    >>> [len(group) for group in neighbours(np.arange(10.0)[:, None], 4)]
    [2, 3, 2, 3]
    """
    groups, todo = [], [np.arange(len(points))] if len(points) else []
    while todo:
        rows = todo.pop()
        if len(rows) <= size:
            groups.append(rows)
            continue
        axis = int(np.argmax(np.ptp(points[rows], axis=0)))
        rows = rows[np.argsort(points[rows, axis], kind="stable")]
        todo += [rows[len(rows) // 2 :], rows[: len(rows) // 2]]
    return groups


def parts(rows: int, columns: int) -> list[slice]:
    """Cut rows into slices of which each has a bearable number of entries."""
    step = max(1, ENTRIES // max(columns, 1))
    return [slice(first, min(first + step, rows)) for first in range(0, rows, step)]
