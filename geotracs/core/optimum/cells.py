"""A public prior in cells: what a bound must know of a cell to hold for everything inside it."""

from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from geotracs.core.optimum.metric import Metric, Sphere, tangents
from geotracs.errors import DomainError, InputError

MANY = 2**22
"""How many boxes a region may be cut into before those outside are dropped."""


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """A partition of a prior.

    Parameters
    ----------
    points : array of shape (n, 2) or (n, 3)
        The mean of each cell, as the metric works with it.
    weights : array of shape (n,)
        The prior probability of each cell; they sum to 1.
    radius : array of shape (n,)
        No part of the cell is farther from its mean.
    moments : array of shape (n, 3)
        Bounds of the second moments about the mean: xx, xy, yy; on the sphere xx + yy alone counts.
    bias : array of shape (n,)
        How far the mean is from ``points``: 0 in the plane.

    A finite set of places is a partition whose cells are points.
    """

    points: np.ndarray
    weights: np.ndarray
    radius: np.ndarray
    moments: np.ndarray
    bias: np.ndarray

    def __len__(self) -> int:
        return len(self.points)

    @property
    def rms(self) -> np.ndarray:
        """Root mean square of the distance from the mean."""
        return np.sqrt(self.moments[:, 0] + self.moments[:, 2])

    @property
    def widest(self) -> np.ndarray:
        """The largest variance of a cell along any direction."""
        xx, xy, yy = self.moments.T
        return (xx + yy) / 2 + np.sqrt(((xx - yy) / 2) ** 2 + xy**2)

    @property
    def exact(self) -> bool:
        """Whether all cells are points."""
        return not self.radius.any()

    def mean(self, values: np.ndarray) -> float:
        """Return the prior mean of a value for each cell."""
        return float(self.weights @ values)


def of_points(xy: np.ndarray, weights: np.ndarray | None, metric: Metric) -> Cells:
    """Return cells that are points; those at the same point are one, and those without weight are left out.

    >>> from geotracs.core.optimum.metric import Plane
    >>> of_points(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), None, Plane()).weights.round(2)
    array([0.67, 0.33])
    """
    xy = np.asarray(xy, dtype=np.float64)
    if xy.ndim != 2 or xy.shape[1] != 2 or not len(xy) or not np.isfinite(xy).all():
        raise InputError("`points` must be an array of shape (n, 2) of finite numbers, with at least one row.")
    mass = np.ones(len(xy)) if weights is None else np.asarray(weights, dtype=np.float64)
    if mass.shape != (len(xy),) or not (np.isfinite(mass).all() and (mass >= 0).all() and mass.sum() > 0):
        raise InputError("`weights` must be one number of at least 0 for each point, and not all of them 0.")
    distinct, which = np.unique(xy, axis=0, return_inverse=True)
    share = np.bincount(which.reshape(-1), weights=mass / mass.sum())
    kept = share > 0
    n = int(kept.sum())
    return Cells(metric.embed(distinct[kept]), share[kept], np.zeros(n), np.zeros((n, 3)), np.zeros(n))


def of_region(outline: BaseGeometry, count: int, density: np.ndarray | None = None) -> Cells:
    """Return about ``count`` nearly square cells of a planar region, cut exactly along its border.

    Parameters
    ----------
    outline : shapely Polygon or MultiPolygon
    count : int
    density : array of shape (columns, rows), optional
        A public prior over a grid of the region's bounds, column by column: how much there is in each box, evenly over
        what of the box is inside the region. Uniform over the region without it.

    >>> len(of_region(shapely.box(0, 0, 2, 1), 50))
    50
    """
    if outline.is_empty or not outline.area > 0:
        raise DomainError("A region with an area is needed.")
    low, high = np.reshape(outline.bounds, (2, 2))
    size = high - low
    side = np.sqrt(outline.area / max(count, 1))
    shape = np.maximum(np.round(size / side), 1)
    if density is not None:  # whole boxes of the grid, or whole parts of one
        grid = np.array(density.shape)
        shape = np.maximum(np.round(shape / grid), 1) * grid
    elif shape.prod() > MANY:
        shape = np.maximum(np.floor(shape * np.sqrt(MANY / shape.prod())), 1)
    cells, at = _cut(outline, low, size / shape, shape.astype(np.int64))
    if density is None:
        return cells
    return _weighted(cells, at, np.asarray(density, dtype=np.float64), shape.astype(np.int64))


def _cut(outline: BaseGeometry, low: np.ndarray, side: np.ndarray, shape: np.ndarray) -> tuple[Cells, np.ndarray]:
    """Return the cells of a region, and their places in the grid."""
    at = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), axis=-1).reshape(-1, 2)
    middle = low + (at + 0.5) * side
    box = shapely.box(*(middle - side / 2).T, *(middle + side / 2).T)
    shapely.prepare(outline)
    touched = shapely.intersects(outline, box)
    at, middle, box = at[touched], middle[touched], box[touched]
    whole = shapely.covers(outline, box)
    area, centre = np.full(len(at), side.prod()), middle.copy()
    radius = np.full(len(at), np.hypot(*side) / 2)
    for i in np.flatnonzero(~whole):
        part = shapely.intersection(outline, box[i])
        area[i] = part.area
        if area[i] > 0:
            centre[i] = shapely.get_coordinates(part.centroid)[0]
            radius[i] = np.hypot(*(shapely.get_coordinates(part) - centre[i]).T).max()
    kept = area > 0
    area, centre, middle, radius, at = (a[kept] for a in (area, centre, middle, radius, at))
    # What is outside only adds to the second moments of the whole box about the mean of the part inside.
    off, more = centre - middle, (side.prod() / area)[:, None]
    moments = more * np.column_stack(
        [side[0] ** 2 / 12 + off[:, 0] ** 2, off[:, 0] * off[:, 1], side[1] ** 2 / 12 + off[:, 1] ** 2]
    )
    trace = moments[:, 0] + moments[:, 2]
    least = np.minimum(1, radius**2 / trace)
    return Cells(centre, area / area.sum(), radius, moments * least[:, None], np.zeros(len(at))), at


def _weighted(cells: Cells, at: np.ndarray, density: np.ndarray, shape: np.ndarray) -> Cells:
    """Give the cells what the grid's boxes have, each evenly over its part inside the region."""
    grid = np.array(density.shape)
    box = at * grid // shape
    number = box[:, 0] * grid[1] + box[:, 1]
    inside = np.bincount(number, weights=cells.weights, minlength=density.size)
    mass = density.ravel()[number] * cells.weights / inside[number]
    if not (np.isfinite(mass).all() and (mass >= 0).all() and mass.sum() > 0):
        raise DomainError("The public prior is nowhere greater than 0 in the domain; are both CRSs right?")
    kept = mass > 0
    return Cells(cells.points[kept], mass[kept] / mass.sum(), cells.radius[kept], cells.moments[kept], cells.bias[kept])


def of_belt(count: int, south: float = -90.0, north: float = 90.0) -> Cells:
    """Return about ``count`` cells of the globe between two latitudes, uniform over its surface.

    >>> round(float(of_belt(100).weights.sum()), 9)
    1.0
    """
    low, high = np.radians([south, north])
    side = np.sqrt(2 * np.pi * (np.sin(high) - np.sin(low)) / count)
    rows = max(2, round((high - low) / side))
    ends = np.linspace(low, high, rows + 1)
    lon, lat, half, mass, tall = [], [], [], [], []
    for a, b in pairwise(ends):
        band = np.sin(b) - np.sin(a)
        n = max(3, round(2 * np.pi * band / (b - a) / side))
        lon.append((np.arange(n) + 0.5) * 2 * np.pi / n - np.pi)
        lat.append(np.full((n, 2), [a, b]))
        half.append(np.full(n, np.pi / n))
        mass.append(np.full(n, band / n))
        tall.append(np.full(n, (a + b) / 2))
    return _tiles(*(np.concatenate(a) for a in (lon, tall, half, lat, mass)))


def _tiles(lon: np.ndarray, lat: np.ndarray, half: np.ndarray, ends: np.ndarray, mass: np.ndarray) -> Cells:
    """Return cells between two longitudes and two latitudes, by Gauss points within each."""
    metric = Sphere()
    nodes, weights = np.polynomial.legendre.leggauss(6)
    sines = np.sin(ends)
    across = half[:, None] * nodes
    up = np.arcsin(sines.mean(axis=1)[:, None] + (sines[:, 1] - sines[:, 0])[:, None] / 2 * nodes)
    degrees = np.degrees(
        np.stack(
            [
                np.broadcast_to((lon[:, None] + across)[:, :, None], (len(lon), 6, 6)),
                np.broadcast_to(up[:, None, :], (len(lon), 6, 6)),
            ],
            axis=-1,
        )
    )
    inside = metric.embed(degrees.reshape(-1, 2)).reshape(len(lon), 36, 3)
    share = np.outer(weights, weights).ravel() / 4
    centre = np.einsum("nqc,q->nc", inside, share)
    centre /= np.linalg.norm(centre, axis=1)[:, None]
    corners = np.degrees(np.stack([lon[:, None] + half[:, None] * [-1, -1, 1, 1], ends[:, [0, 1, 0, 1]]], axis=-1))
    rim = metric.embed(corners.reshape(-1, 2)).reshape(len(lon), 4, 3)
    moves = _logarithms(centre, inside, metric)
    # A side along a parallel bends outwards by less than the square of its length.
    bulge = metric.radius * half**2
    radius = np.linalg.norm(_logarithms(centre, rim, metric), axis=2).max(axis=1) + bulge
    bias = np.linalg.norm(np.einsum("nqc,q->nc", moves, share), axis=1)
    square = np.einsum("nqc,q->n", moves**2, share)
    moments = np.column_stack([square / 2, np.zeros(len(lon)), square / 2])
    return Cells(centre, mass / mass.sum(), radius, moments, bias)


def _logarithms(centre: np.ndarray, others: np.ndarray, metric: Sphere) -> np.ndarray:
    """Return the tangent vectors at each centre that lead to each of its points."""
    east, north = tangents(centre)
    x, y = np.einsum("nqc,nc->nq", others, east), np.einsum("nqc,nc->nq", others, north)
    length = np.hypot(x, y)
    angle = np.arctan2(length, np.einsum("nqc,nc->nq", others, centre))
    per = metric.radius * np.divide(angle, length, out=np.ones_like(angle), where=length > 0)
    return np.stack([x * per, y * per], axis=-1)


def merge(cells: Cells, side: np.ndarray, metric: Metric) -> tuple[Cells, np.ndarray]:
    """Join cells to boxes of about these sides, halved or doubled, and say which box each is in.

    Parameters
    ----------
    side : array of shape (n,)
        The side of the box in which each cell should be.

    >>> from geotracs.core.optimum.metric import Plane
    >>> grid = of_region(shapely.box(0, 0, 1, 1), 64)
    >>> len(merge(grid, np.full(64, 0.25), Plane())[0])
    16
    """
    unit = 1.0 if metric.flat else cast(Sphere, metric).radius
    least = side.min()
    level = np.floor(np.log2(side / least) + 1e-9)
    box = np.floor((cells.points - cells.points.min(axis=0)) * unit / (least * 2**level)[:, None])
    _, which = np.unique(np.column_stack([level, box]), axis=0, return_inverse=True)
    which = which.reshape(-1)
    return joined(cells, which, metric), which


def joined(cells: Cells, which: np.ndarray, metric: Metric) -> Cells:
    """Join the cells that have the same number to one."""
    mass = np.bincount(which, weights=cells.weights)

    def mean(values: np.ndarray) -> np.ndarray:
        return np.bincount(which, weights=cells.weights * values) / mass

    centre = np.column_stack([mean(column) for column in cells.points.T])
    if metric.flat:
        move = cells.points - centre[which]
        x, y = move.T
        moments = np.column_stack(
            [mean(own + add) for own, add in zip(cells.moments.T, (x * x, x * y, y * y), strict=True)]
        )
        bias = np.zeros(len(mass))
    else:
        centre /= np.linalg.norm(centre, axis=1)[:, None]
        move = _logarithms(centre[which], cells.points[:, None], cast(Sphere, metric))[:, 0]
        square = (np.sqrt(mean((move**2).sum(axis=1))) + np.sqrt(mean(cells.rms**2))) ** 2
        moments = np.column_stack([square / 2, np.zeros(len(mass)), square / 2])
        bias = np.hypot(mean(move[:, 0]), mean(move[:, 1])) + mean(cells.bias)
    radius = np.zeros(len(mass))
    np.maximum.at(radius, which, np.hypot(*move.T) + cells.radius)
    return Cells(centre, mass, radius, moments, bias)
