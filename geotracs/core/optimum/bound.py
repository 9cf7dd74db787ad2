"""The bound: prices from few cells, carried to many, and lowered until every report's constraint holds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np
import shapely
from scipy.interpolate import RBFInterpolator
from scipy.spatial import ConvexHull, cKDTree
from shapely.geometry.base import BaseGeometry

from geotracs.core.optimum.cells import Cells, merge
from geotracs.core.optimum.constraints import Constraints, Tiles, Values
from geotracs.core.optimum.metric import Metric, Sphere
from geotracs.core.optimum.prices import solve

FEW = 500
"""On how many cells the dual is solved, if there are more than..."""
SMALL = 700
"""...this many..."""
MORE = 900
"""...and on how many if prices turn out to be small."""
FINENESS = 0.08
"""The side of cells and tiles, as a share of the price there; see `Coarse.sides`."""
MAX_CELLS = 60_000
"""The most cells, and tiles, of one certificate."""
MAX_PAIRS = 1.2e8
"""The most pairs of cells and given reports that are looked at one by one; with more, cells are joined."""
CORRECTIONS = 3
"""How often the solution on few cells is corrected by what the many say."""
MAX_ODDS = 1e30
"""Above these odds only the price of a window that holds one secret is tried: squares would overflow."""


class Optimum(NamedTuple):
    """A lower bound on the mean error of every eps-LDP mechanism, with what it takes to check it; see `check`."""

    error: float
    """No mechanism has a smaller mean error."""
    prices: np.ndarray
    """A price of each cell; their prior mean is the error."""
    cells: Cells
    """The prior."""
    pieces: int
    """Into about how many cells it was cut..."""
    parts: np.ndarray
    """...and which of the certificate's cells each of them is a part of."""
    tiles: Tiles
    """Squares, or points, that together hold all reports that have to be looked at."""
    eps: float
    metric: Metric


@dataclass(frozen=True, repr=False)
class Problem:
    """A prior that can be cut into cells, an epsilon, and where reports may be."""

    question: tuple[object, ...]
    """Public things whose repr says all of the problem."""
    cut: Callable[[int], Cells] = field(compare=False)
    """Cuts the prior into about the given number of cells, or fewer if it has no more; always in the same way."""
    eps: float
    metric: Metric = field(compare=False)
    reports: np.ndarray | None = field(default=None, compare=False)
    """Where reports may be, as the metric works with them; anywhere without them."""
    hull: BaseGeometry | None = field(default=None, compare=False)
    """Of all secrets, in the plane: a report outside is farther from all of them than the nearest point of it."""

    @property
    def odds(self) -> float:
        """exp(eps) - 1."""
        return float(np.expm1(self.eps))


def best(problem: Problem) -> Optimum:
    """Return the largest bound that is found."""
    few = _coarse(problem, FEW)
    prices = few.solve(0.0, None)
    if few.blur.any() and np.median(few.blur / np.maximum(prices, 1e-300)) > 0.18:
        few = _coarse(problem, MORE)
        prices = few.solve(0.0, None)
    cells, count, parts = _fine(problem, few, prices)
    own = few.carry(prices, cells.points)
    tiles = _tiles(problem, few, prices, cells)
    constraints = Constraints.over(tiles, cells, problem.odds, problem.metric)
    found = [np.zeros(len(cells))]
    for turn in range(CORRECTIONS + 1):
        values = constraints.values(own)
        if turn or len(few.cells) == len(cells):
            found.append(lowered(constraints, own, values))
            if turn > 1 and cells.mean(found[-1]) < cells.mean(found[-2]) * 1.001:
                break
        if turn < CORRECTIONS:
            prices = few.solve(few.defects(constraints, values, prices), prices)
            own = few.carry(prices, cells.points)
    if cells.exact or not any(cells.mean(prices) > 0 for prices in found):
        found += [lowered(constraints, simple, constraints.values(simple)) for simple in _simple(problem, cells)]
    top = max(found, key=cells.mean)
    if not cells.mean(top) > 0:
        top = np.zeros(len(cells))
    return Optimum(cells.mean(top), top, cells, count, parts, tiles, problem.eps, problem.metric)


def lowered(constraints: Constraints, prices: np.ndarray, values: Values) -> np.ndarray:
    """Return prices, all lowered or raised alike, that meet all constraints with next to nothing to spare.

    A constraint is convex in the shift: a step by its tangent never lowers too much, and may raise too much.
    """
    size = float(np.abs(prices).max()) or 1.0
    steps = values.bounds / values.slopes
    shift, tightest = float(steps.max()), constraints.take(np.flatnonzero(steps >= steps.max() - 0.01 * size))
    for _ in range(5):  # first those that matter, to come near...
        some = tightest.values(prices - shift)
        step = float((some.bounds / some.slopes).max())
        shift += step
        if abs(step) < 1e-6 * size:
            break
    shift += 1e-9 * size
    open_ = np.flatnonzero(values.bounds > 0) if shift >= 0 else np.arange(len(steps))
    while len(open_):  # ...then all of them, until none is left; what holds stays so when prices fall
        some = constraints.take(open_).values(prices - shift)
        failed = some.bounds > 0
        if failed.any():
            shift += 1.02 * float((some.bounds / some.slopes)[failed].max()) + 1e-12 * size
        open_ = open_[failed]
    return prices - shift


@dataclass(frozen=True, eq=False, repr=False)
class Coarse:
    """The dual on few cells."""

    cells: Cells
    reports: np.ndarray
    odds: float
    metric: Metric
    distances: np.ndarray
    blur: np.ndarray

    def solve(self, offset: np.ndarray | float, start: np.ndarray | None) -> np.ndarray:
        """Return good prices of the few cells."""
        if self.odds > MAX_ODDS or not self.distances.any():
            return np.zeros(len(self.cells))
        if self.blur.any():
            return solve(self.distances, self.cells.weights, self.odds, self.blur, offset=offset, start=start)
        span = float(self.distances.max())
        for share in (1e-2, 1e-3, 1e-4, 1e-5) if start is None else (1e-5,):
            blur = np.full(len(self.cells), share * span)
            start = solve(self.distances, self.cells.weights, self.odds, blur, offset=offset, start=start, gap=1e-5)
        return np.zeros(len(self.cells)) if start is None else start

    def sides(self, prices: np.ndarray) -> np.ndarray:
        """Return how large cells and tiles may be near each of the few cells.

        One of side h makes the bound smaller by about h^2 / price, times the part that windows have in a constraint.
        """
        if self.odds > MAX_ODDS and self.blur.all():
            return 2 * self.blur
        least = max(float(prices.max()) * 1e-2, 1e-9 * float(self.distances.max()), 1e-300)
        positive = np.maximum(prices, least)
        windows = self.odds * ((prices > self.distances) @ self.cells.weights)
        part = float(np.median(windows / (1 + windows)))
        side = FINENESS * np.sqrt(positive * self.cells.mean(positive) / max(part, 0.7))
        # Never coarser than the few cells: islands may be small beside the prices that their distance makes.
        return np.minimum(side, 2 * self.blur) if self.blur.all() else side

    def carry(self, prices: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the prices at other points."""
        if len(points) == len(prices) and np.array_equal(points, self.cells.points):
            return prices
        if len(prices) < 4:
            return prices[cKDTree(self.cells.points).query(points)[1]]
        return RBFInterpolator(self.cells.points, prices, kernel="linear")(points)

    def defects(self, constraints: Constraints, values: Values, prices: np.ndarray) -> np.ndarray:
        """Return by how much the constraints of many cells are larger than those of the few."""
        gap = prices - self.distances
        share = np.clip((gap + self.blur) / np.maximum(2 * self.blur, 1e-300), 0, 1)
        plus = np.where(gap > self.blur, gap, self.blur * share * share)
        coarse = gap @ self.cells.weights + self.odds * (plus @ self.cells.weights)
        many, middles = values.bounds, constraints.tiles.middles
        fine = many[cKDTree(middles).query(self.reports)[1]]
        np.maximum.at(fine, cKDTree(self.reports).query(middles)[1], many)
        return fine - coarse


def _coarse(problem: Problem, count: int) -> Coarse:
    metric, cells = problem.metric, problem.cut(count)
    if len(cells) > max(SMALL, 1.2 * count):
        cells = _few(cells, metric, count)
    if cells.radius.any():
        cells = _heavy(cells)
    blur = np.sqrt(1.5 * cells.rms**2)  # half the side of a square with that root mean square
    blur = np.maximum(blur, np.median(blur) / 2)
    reports = cells.points
    if problem.reports is not None:
        reports = problem.reports
        if len(reports) > max(SMALL, 1.2 * count):
            n = len(reports)
            points = Cells(reports, np.full(n, 1 / n), np.zeros(n), np.zeros((n, 3)), np.zeros(n))
            reports = _few(points, metric, count).points
    elif problem.hull is not None:
        reports = np.concatenate([reports, _between(problem.hull, cells)])
    return Coarse(cells, reports, problem.odds, metric, metric.distance(reports, cells.points), blur)


def _heavy(cells: Cells) -> Cells:
    """Leave out slivers along a border: next to no weight leaves their prices open, and the search slow."""
    kept = cells.weights > 0.05 * cells.weights.mean()
    weights = cells.weights[kept] / cells.weights[kept].sum()
    return Cells(cells.points[kept], weights, cells.radius[kept], cells.moments[kept], cells.bias[kept])


def _between(hull: BaseGeometry, cells: Cells) -> np.ndarray:
    """Return some points over the hull: reports may be where no secret is."""
    low, high = np.reshape(hull.bounds, (2, 2))
    half = float((high - low).max()) / 24 or 1.0
    found = _touching(hull, _square(low, high, half), half)
    return found[cKDTree(cells.points).query(found)[0] > 1.5 * half]


def _few(cells: Cells, metric: Metric, count: int) -> Cells:
    """Join cells until about the given number is left."""
    low, high = -20.0, 0.0
    span = np.ptp(cells.points, axis=0).max() * (1.0 if metric.flat else 6.4e6)
    for _ in range(20):
        middle = (low + high) / 2
        joined = merge(cells, np.full(len(cells), span * 2**middle), metric)[0]
        low, high = (middle, high) if len(joined) > count else (low, middle)
    return merge(cells, np.full(len(cells), span * 2**high), metric)[0]


def _fine(problem: Problem, few: Coarse, prices: np.ndarray) -> tuple[Cells, int, np.ndarray]:
    """Return the cells of the certificate, as fine as the prices ask for; given points as they are, if they can be.

    And into how many the prior was cut, and which cell each of these is a part of.
    """
    cells = problem.cut(1)
    pairs = len(cells) * (len(cells) if problem.reports is None else len(problem.reports))
    if cells.exact and pairs <= (MAX_PAIRS if problem.reports is not None else SMALL**2):
        return cells, 1, np.arange(len(cells))
    side = few.sides(prices)
    order = np.argsort(side)
    small = side[order][np.searchsorted(np.cumsum(few.cells.weights[order]), 0.1)]
    count = int(min(np.sum(6 * few.cells.rms**2) / small**2 + 1, MAX_CELLS))
    cells = problem.cut(count)
    wanted = np.maximum(side[cKDTree(few.cells.points).query(cells.points)[1]], small)
    if not (cells.exact or wanted.max() > 1.9 * small):
        return cells, count, np.arange(len(cells))
    joined, which = merge(cells, wanted, problem.metric)
    return joined, count, which


def _tiles(problem: Problem, few: Coarse, prices: np.ndarray, cells: Cells) -> Tiles:
    """Return tiles that hold all reports: small where a price is, larger where constraints hold with ease."""
    if problem.reports is not None:
        return Tiles(problem.reports, np.zeros(len(problem.reports)))
    side = few.sides(prices)
    if isinstance(problem.metric, Sphere):
        area = 4 * np.pi * problem.metric.radius**2
        return _on_sphere(int(min(max(area / np.quantile(side, 0.1) ** 2, 500), MAX_CELLS)), problem.metric)
    hull = problem.hull if problem.hull is not None else hull_of(cells.points)
    shapely.prepare(hull)
    own, tree = few.carry(prices, cells.points), cKDTree(few.cells.points)
    low, high = np.reshape(hull.bounds, (2, 2))
    half = float((high - low).max()) / 16 or 1.0
    half = float(np.median(side)) / 2 * 2 ** max(0, np.round(np.log2(2 * half / np.median(side))))
    kept: list[Tiles] = []
    middles = _touching(hull, _square(low, high, half), half)
    while len(middles):
        tiles = Tiles(middles, np.full(len(middles), half))
        small = 2 * half <= 1.2 * side[tree.query(middles)[1]]
        easy = np.zeros(len(middles), dtype=bool)
        values = Constraints.over(tiles.take(~small), cells, problem.odds, problem.metric).values(own)
        easy[~small] = values.bounds < -0.03 * values.slopes * own.max()
        done = small | easy
        if sum(len(t.halves) for t in kept) + len(middles) + 3 * (~done).sum() > MAX_CELLS:
            done[:] = True
        kept.append(tiles.take(done))
        half /= 2
        split = middles[~done][:, None] + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        middles = _touching(hull, split.reshape(-1, 2), half)
    return Tiles(np.concatenate([t.middles for t in kept]), np.concatenate([t.halves for t in kept]))


def hull_of(points: np.ndarray) -> BaseGeometry:
    """Return the convex hull of points in the plane."""
    return cast(BaseGeometry, shapely.convex_hull(shapely.multipoints(points)))


def _square(low: np.ndarray, high: np.ndarray, half: float) -> np.ndarray:
    """Return the middles of squares that cover a box."""
    steps = [np.arange(max(1, np.ceil((b - a) / (2 * half) - 1e-9))) for a, b in zip(low, high, strict=True)]
    extent = np.array([2 * half * len(step) for step in steps])
    at = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 2)
    return (low + high - extent) / 2 + (2 * at + 1) * half


def _touching(hull: BaseGeometry, middles: np.ndarray, half: float) -> np.ndarray:
    """Return those squares that the hull touches, or nearly."""
    wide = half * (1 + 1e-9)
    boxes = shapely.box(*(middles - wide).T, *(middles + wide).T)
    return middles[shapely.intersects(hull, boxes)]


def _on_sphere(count: int, metric: Sphere) -> Tiles:
    """Return evenly spread squares that cover the sphere: each has a circle inside, and these leave nothing out."""
    turn = np.pi * (3 - np.sqrt(5)) * np.arange(count)
    z = 1 - (2 * np.arange(count) + 1) / count
    level = np.sqrt(1 - z * z)
    points = np.column_stack([level * np.cos(turn), level * np.sin(turn), z])
    # The plane of three neighbours is nearest to the origin where their circle is largest.
    offset = -ConvexHull(points).equations[:, -1].max()
    return Tiles(points, np.full(count, metric.radius * np.arccos(min(offset, 1.0)) * (1 + 1e-9)))


def _simple(problem: Problem, cells: Cells) -> list[np.ndarray]:
    """Return the simplest prices: all alike, and, if cells are points, those of windows that hold one of them only."""
    found = [np.zeros(len(cells))]
    if cells.exact and len(cells) <= 10_000:
        mean = np.concatenate([problem.metric.distance(p[None], cells.points) @ cells.weights for p in cells.points])
        found.append(mean / (1 + problem.odds * cells.weights))
    return found
