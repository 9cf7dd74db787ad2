"""The tables of a remap: medians of posteriors on a grid, as fine as it takes to lose next to nothing.

The mean distance of a report from its location, given the report, is convex and changes by no more than the report is
moved: a table that is wrong by some metres costs at most these metres. `Check` says how much a table costs at most,
by comparing it with the medians themselves, and `fitted` makes tables finer until that is little.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from geotracs.core.charts.base import CORNERS, Chart
from geotracs.core.domains import Domain
from geotracs.core.methods.base import Method
from geotracs.core.methods.remap_prior import Prior, lifted, unit

NODES_PER_ERROR, MIN_SIDE, MAX_SIDE = (1, 4), 8, 320
"""The first and the finest table have this many nodes per mean error, and this many cells along each side."""
ENOUGH, BETTER = 0.01, 0.7
"""A table that may cost more than this share of the mean error is made finer, while that makes it less by this factor:
where medians jump, as between islands, no table is fine enough."""
CHECKED, FINER = 128, 1.5
"""By how many reports a table is compared with medians, and how much nearer stand-ins are together then."""
SURE = 3.0
"""How many standard errors are added to what these reports say."""
GRAIN = 8
"""The distance between stand-ins for locations is the mean error divided by this..."""
MIN_STAND_INS = 2**11
"""...and there are at least this many."""
NEAR = 3.5
"""Beyond this many mean errors from a report, coarser stand-ins suffice..."""
COARSE = 2**10
"""...about this many over the whole region."""
TILE = 8
"""Nodes along each side of what is worked on at a time."""
ROUNDS = 12
"""Steps of Weiszfeld's iteration..."""
NEGLIGIBLE = 1e-6
"""...in which stand-ins that are this many times likelier than others count alone."""
LIKELIEST = 1e200
"""A density that is infinite, as TraCS-D's at its reference, counts as this."""
HAIR = 1e-7
"""A part of the region by which nodes keep off its border and its centre."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Where reports are moved, at the nodes of a grid, and between them bilinearly.

    Attributes
    ----------
    low, step : array of shape (2,)
        The first node, and how far apart they are.
    values : array of shape (nodes across, nodes up, 2 or 3)
        Where each node is moved; on the globe as a vector from the centre of the Earth.
    costs, scale : float
        By how much the mean error is at most larger than with the medians themselves, and the mean error before.
    """

    low: np.ndarray
    step: np.ndarray
    values: np.ndarray
    costs: float = np.inf
    scale: float = 1.0

    def __call__(self, xy: np.ndarray) -> None:
        """Move reports, in place."""
        across, up, dimensions = self.values.shape
        at, part = [], []
        for axis, cells in enumerate((across - 1, up - 1)):
            position = np.clip((xy[:, axis] - self.low[axis]) / self.step[axis], 0, cells)
            cell = np.minimum(position.astype(np.int64), cells - 1)
            at.append(cell)
            part.append(position - cell)
        first, (right, above) = at[0] * up + at[1], part
        moved = []
        for own in self.values.reshape(-1, dimensions).T:
            south = own[first] * (1 - right) + own[first + up] * right
            north = own[first + 1] * (1 - right) + own[first + up + 1] * right
            moved.append(south + (north - south) * above)
        if dimensions == 3:
            moved = [np.degrees(np.arctan2(moved[1], moved[0])), np.degrees(np.arctan2(moved[2], np.hypot(*moved[:2])))]
        xy[:, 0], xy[:, 1] = moved


def fitted(posterior: "Posterior", reports: np.ndarray) -> Table:
    """Return a table that is as fine as it must be, by what it may cost for some ``reports``."""
    low, high = _reach(posterior.method, posterior.domain, posterior.scale)
    errors = (high - low) * unit(posterior.domain) / posterior.scale
    sides, most = (np.clip(np.ceil(n * errors), MIN_SIDE, MAX_SIDE) for n in NODES_PER_ERROR)
    check, best = Check.of(posterior.finer(FINER), reports), None
    while True:
        table = tabulated(posterior, low, high, sides.astype(np.int64))
        table = replace(table, costs=check.costs(table), scale=posterior.scale)
        before, best = best, table if best is None or table.costs < best.costs else best
        stuck = before is not None and not table.costs <= BETTER * before.costs
        if stuck or table.costs <= ENOUGH * posterior.scale or (sides >= most).all():
            return best
        sides = np.minimum(2 * sides, most)


def tabulated(posterior: "Posterior", low: np.ndarray, high: np.ndarray, cells: np.ndarray) -> Table:
    """Return the geometric median of the posterior of reports at the nodes of a grid."""
    domain = posterior.domain
    axes = [np.linspace(low[axis], high[axis], cells[axis] + 1) for axis in (0, 1)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = np.empty((*nodes.shape[:2], 3 if domain.in_degrees else 2))
    for tile in _tiles(cells + 1):
        own = nodes[tile].reshape(-1, 2)
        crowd, weights = posterior.given(own)
        median = medians(crowd.lifted, weights, posterior.soft)
        nowhere = ~(weights.max(axis=1) > 0)
        median[nowhere] = lifted(domain, own[nowhere])
        values[tile] = median.reshape(values[tile].shape)
    return Table(low, (high - low) / cells, values)


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """Some reports, and the smallest mean distance that each can be moved to have.

    For one report, let L be the mean distance given it, m a point near the median, and g the gradient there. L is
    convex and the median is within 2 L(m) of m, so that the smallest loss is at least L(m) - 2 L(m) |g|. On the globe
    distances are those of chords, and L(m) itself stands for the smallest loss: nothing is convex there.
    """

    domain: Domain
    groups: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]
    """Reports near each other, stand-ins for their locations, how likely these are, and the smallest losses."""

    @classmethod
    def of(cls, posterior: "Posterior", reports: np.ndarray) -> "Check":
        """Return the check by these reports."""
        groups = []
        for rows in _together(reports, TILE * TILE):
            crowd, weights = posterior.given(reports[rows])
            total = weights.sum(axis=1)
            some = np.isfinite(total) & (total > 0)
            own, points = weights[some] / total[some, None], crowd.lifted
            if some.any():
                groups.append((reports[rows][some], points, own, _smallest(points, own, posterior.soft / 4)))
        return cls(posterior.domain, groups)

    def costs(self, table: Table) -> float:
        """Return by how much a table's mean error is at most larger than the smallest that any map of reports has.

        Up to 3 standard errors, since some reports stand for all.
        """
        found = [np.zeros(0)]
        for reports, points, weights, smallest in self.groups:
            moved = np.asfortranarray(reports.copy())
            table(moved)
            found.append(np.maximum(_losses(points, weights, lifted(self.domain, moved))[0] - smallest, 0))
        every = np.concatenate(found)
        return float(every.mean() + SURE * every.std() / np.sqrt(len(every))) if len(every) else np.inf


def _smallest(points: np.ndarray, weights: np.ndarray, soft: float) -> np.ndarray:
    """Return what the loss is at least, under each row of weights; see `Check`."""
    median = medians(points, weights, soft, 3 * ROUNDS)
    if points.shape[1] == 3:  # a median of chords is below the surface of the globe
        median *= np.linalg.norm(points[:1]) / np.linalg.norm(median, axis=1)[:, None]
        return _losses(points, weights, median)[0]
    loss, slope = _losses(points, weights, median)
    return loss * (1 - 2 * slope)


def _losses(points: np.ndarray, weights: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean distance of each row of ``at`` under its weights, and how steep it is there at least."""
    away = at[:, None] - points
    d = np.sqrt((away**2).sum(axis=2))
    pull = weights / np.where(d > 0, d, np.inf)
    steep = np.sqrt(((pull[:, :, None] * away).sum(axis=1) ** 2).sum(axis=1))
    return (weights * d).sum(axis=1), np.maximum(steep - (weights * (d == 0)).sum(axis=1), 0)


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """How likely each location is, given a report.

    Attributes
    ----------
    scale : float
        The mean error of reports, by which stand-ins are as near together as they must be.
    references : list
        From where a location is seen, each as likely.
    """

    method: Method
    domain: Domain
    eps: float
    prior: Prior
    scale: float
    references: list[tuple[float, float] | None]
    near: "_Crowd"
    far: "_Crowd"
    grain: float = GRAIN

    @classmethod
    def of(
        cls,
        method: Method,
        domain: Domain,
        eps: float,
        prior: Prior,
        scale: float,
        references: list[tuple[float, float] | None],
    ) -> "Posterior":
        """Return the posterior under a prior."""
        near = _Crowd.of(domain, *prior.stand_ins(scale / GRAIN, MIN_STAND_INS))
        far = _Crowd.of(domain, *prior.stand_ins(domain.diameter / np.sqrt(2 * COARSE), COARSE))
        return cls(method, domain, eps, prior, scale, references, near, far)

    def finer(self, times: float) -> "Posterior":
        """Return the same with stand-ins that are that many times nearer together."""
        apart, least = self.scale / self.grain / times, int(MIN_STAND_INS * times**2)
        near = _Crowd.of(self.domain, *self.prior.stand_ins(apart, least))
        return replace(self, near=near, grain=self.grain * times)

    @property
    def soft(self) -> float:
        """How wide a stand-in is."""
        return self.scale / self.grain / 2

    def given(self, reports: np.ndarray) -> tuple["_Crowd", np.ndarray]:
        """Return stand-ins for reports near each other, and in a row for each of these how likely they are."""
        crowd = _around(lifted(self.domain, reports), self.near, self.far, NEAR * self.scale)
        seen_at = _where_reported(self.method, self.domain, reports)
        likely = np.zeros((len(crowd.xy), len(reports)))
        for reference in self.references:
            likely += self.method.density(seen_at, crowd.xy, self.eps, self.domain, reference)
        return crowd, (np.minimum(likely, LIKELIEST) * crowd.masses[:, None]).T


@dataclass(frozen=True, eq=False, repr=False)
class _Crowd:
    """Stand-ins for locations: where they are, the same where distances are straight, and how likely each is."""

    xy: np.ndarray
    lifted: np.ndarray
    masses: np.ndarray
    tree: cKDTree

    @classmethod
    def of(cls, domain: Domain, xy: np.ndarray, masses: np.ndarray) -> "_Crowd":
        """Return the stand-ins of a domain."""
        straight = lifted(domain, xy)
        return cls(xy, straight, masses, cKDTree(straight))


def _around(nodes: np.ndarray, near: _Crowd, far: _Crowd, reach: float) -> _Crowd:
    """Return the fine stand-ins around some nodes, and coarse ones beyond."""
    middle = (nodes.min(axis=0) + nodes.max(axis=0)) / 2
    radius = reach + np.sqrt(((nodes - middle) ** 2).sum(axis=1)).max()
    inside = np.sort(near.tree.query_ball_point(middle, radius)).astype(np.int64)
    beyond = np.setdiff1d(np.arange(len(far.xy)), far.tree.query_ball_point(middle, radius))
    xy = np.concatenate([near.xy[inside], far.xy[beyond]])
    straight = np.concatenate([near.lifted[inside], far.lifted[beyond]])
    return _Crowd(xy, straight, np.concatenate([near.masses[inside], far.masses[beyond]]), near.tree)


def medians(points: np.ndarray, weights: np.ndarray, soft: float, rounds: int = ROUNDS) -> np.ndarray:
    """Return the geometric median of points under each row of weights (Weiszfeld), points being ``soft`` wide."""
    middle = points.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = (weights / weights.max(axis=1, keepdims=True)).astype(np.float32)
        weights[weights < NEGLIGIBLE] = 0
        telling = np.flatnonzero(weights.max(axis=0) != 0)  # NaN where a row has no weight at all
        weights, points = weights[:, telling], (points[telling] - middle).astype(np.float32)
        squares = (points**2).sum(axis=1) + np.float32(soft**2)
        found = weights @ points / weights.sum(axis=1, keepdims=True)
        for _ in range(rounds):
            pull = found @ (-2 * points.T)
            pull += squares
            pull += (found**2).sum(axis=1, keepdims=True)
            np.maximum(pull, np.float32(soft**2), out=pull)
            np.sqrt(pull, out=pull)
            np.divide(weights, pull, out=pull)
            found = pull @ points / pull.sum(axis=1, keepdims=True)
    return found + middle


def _together(points: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Give groups of up to that many points which lie together."""
    todo = [np.arange(len(points))]
    while todo:
        rows = todo.pop()
        if len(rows) <= size:
            yield rows
            continue
        axis = int(np.argmax(np.ptp(points[rows], axis=0)))
        rows = rows[np.argsort(points[rows, axis], kind="stable")]
        todo += [rows[len(rows) // 2 :], rows[: len(rows) // 2]]


def _tiles(counts: np.ndarray) -> Iterator[tuple[slice, slice]]:
    for first in range(0, int(counts[0]), TILE):
        for second in range(0, int(counts[1]), TILE):
            yield slice(first, first + TILE), slice(second, second + TILE)


def _reach(method: Method, domain: Domain, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a box that holds reports; beyond it they count as at its border."""
    bounds = [np.reshape(domain.outline.bounds, (2, 2))]
    if domain.chart is not None and domain.chart.affine:
        bounds.append(domain.chart.from_unit(CORNERS))
    corners = np.concatenate(bounds)
    beyond = scale if method.leaves else 0.0
    return corners.min(axis=0) - beyond, corners.max(axis=0) + beyond


def _where_reported(method: Method, domain: Domain, nodes: np.ndarray) -> np.ndarray:
    """Return the nodes, those where nothing is reported moved to where something is."""
    if method.leaves:
        return nodes
    chart: Chart | None = domain.chart
    if chart is not None and chart.affine:
        return chart.from_unit(np.clip(chart.to_unit(nodes), HAIR, 1 - HAIR))
    inside = domain.clip(nodes)
    if domain.in_degrees:
        return inside
    inside += HAIR * (np.array(domain.centre) - inside)
    return inside + HAIR * domain.diameter  # a disc's density is infinite at its centre
