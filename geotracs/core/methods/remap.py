"""Remap: move every report to where its posterior is nearest on average, by a public table; post-processing only.

A reader who knows the channel and a public prior knows how likely every location is, given a report. Its geometric
median has the smallest mean error of all points that a report can be moved to. That loss is convex and changes by no
more than the report is moved, so that a table that is wrong by some metres costs at most these metres.
"""

import threading
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

import numpy as np
from scipy.spatial import cKDTree

from geotracs.core.charts.base import CORNERS, Chart
from geotracs.core.domains import Domain
from geotracs.core.methods.base import Method
from geotracs.core.methods.released import Release, Reports
from geotracs.core.places import Places, on_sphere
from geotracs.core.randomness import public_stream, words
from geotracs.errors import InputError

NODES_PER_ERROR, MIN_SIDE, MAX_SIDE = 3, 32, 320
"""A table has this many nodes per mean error, and this many cells along each side of the region."""
GRAIN = 8
"""The distance between stand-ins for locations is the mean error divided by this..."""
MIN_STAND_INS, MAX_STAND_INS = 2**11, 2**16
"""...and there are at least and at most this many; a prior of points has as many as it takes."""
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
TRIED, LENGTH = 20_000, 100
"""How many fresh stand-ins say whether a remap wins, in trajectories of that length..."""
SURE = 3.0
"""...and by how many standard errors it must."""
REFERENCES = 24
"""From how many points TraCS-D is taken to see a location, each as likely."""
FEW_LEVELS = 4
"""Up to this many epsilons each have their own table; more share those of `rung`."""
HAIR = 1e-7
"""A part of the region by which nodes keep off its border and its centre."""
LOWEST = 1 / 16
"""The smallest epsilon that has a table: below it, a posterior is nearly the prior."""


@dataclass(frozen=True, eq=False, repr=False)
class Prior:
    """Where locations are likely, from public information.

    Parameters
    ----------
    domain : Domain
        In the working CRS; without ``points`` the prior is what its `spread` says: uniform, or that of its chart.
    kind : str
        What the record calls it.
    points : array of shape (n, 2), optional
        All that locations can be, inside the domain.
    weights : array of shape (n,), optional
        How likely each is; all alike without them.
    """

    domain: Domain
    kind: str = "uniform"
    points: np.ndarray | None = None
    weights: np.ndarray | None = None

    def __hash__(self) -> int:
        return hash((self.domain, self.kind, None if self.points is None else self.points.tobytes()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prior) or (self.domain, self.kind) != (other.domain, other.kind):
            return False
        return all(np.array_equal(getattr(self, own), getattr(other, own)) for own in ("points", "weights"))

    def stand_ins(self, apart: float, least: int) -> tuple[np.ndarray, np.ndarray]:
        """Return locations that stand for all, about that far ``apart``, and how likely each is."""
        if self.points is None:
            area = self.domain.diameter**2 / 2
            found = self.domain.spread(int(np.clip(area / apart**2, least, MAX_STAND_INS)))
            return found, np.full(len(found), 1 / len(found))
        cells = np.floor((self.points - self.points.min(axis=0)) / (apart / _unit(self.domain)))
        _, which = np.unique(cells, axis=0, return_inverse=True)
        masses = self._masses()
        sums = [np.bincount(which.reshape(-1), masses * axis) for axis in (np.ones(len(masses)), *self.points.T)]
        return np.column_stack([sums[1] / sums[0], sums[2] / sums[0]]), sums[0]

    def fresh(self, n: int) -> np.ndarray:
        """Return n others, in an order without a pattern."""
        random = words(public_stream(1), n, np.uint64)
        if self.points is None:
            spread = self.domain.spread(n)
            return np.asfortranarray(spread[np.argsort(random[: len(spread)])])
        ends = np.cumsum(self._masses())
        which = np.searchsorted(ends, random / 2.0**64 * ends[-1], side="right")
        return np.asfortranarray(self.points[np.minimum(which, len(self.points) - 1)])

    def _masses(self) -> np.ndarray:
        weights = np.ones(len(cast(np.ndarray, self.points))) if self.weights is None else self.weights
        return weights / weights.sum()


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Where reports are moved, at the nodes of a grid, and between them bilinearly.

    Attributes
    ----------
    low, step : array of shape (2,)
        The first node, and how far apart they are.
    values : array of shape (nodes across, nodes up, 2 or 3)
        Where each node is moved; on the globe as a vector from the centre of the Earth.
    """

    low: np.ndarray
    step: np.ndarray
    values: np.ndarray

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


@dataclass(frozen=True, eq=False, repr=False)
class Remap:
    """The public map that a release moves its reports by, before they are projected inside.

    Each epsilon has a table of its own, and none where it would not win. Where there are many they share tables, each
    that of an epsilon that is a little smaller: it is public, so that any table keeps the promise.

    Parameters
    ----------
    method : Method
    domain : Domain
        As the method sees it.
    levels : float or array
        The epsilons that locations have, as far as they are known. Those of others are made when they are met.
    prior : Prior, optional
        By default what ``domain.spread`` says.
    places : Places, optional
        What reports are rounded to after it.
    more : bool
        Whether locations may have other epsilons than ``levels``.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> from geotracs.methods import TracsC
    >>> remap = Remap(TracsC(), Rectangle(0, 0, 1, 1), 0.5)
    >>> corner = np.array([[0.02, 0.02]])
    >>> remap(corner, 0.5)
    >>> corner.round(1)
    array([[0.5, 0.5]])
    """

    method: Method
    domain: Domain
    levels: float | np.ndarray
    prior: Prior | None = None
    places: Places | None = None
    more: bool = False
    tables: dict[tuple[float, float], Table | None] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if self.method.over == "places":
            raise InputError(
                f"`remap` moves reports of methods on a region, and {self.method.name} reports places; leave it out."
            )
        try:
            self.method.density(self.domain.spread(1), self.domain.spread(1), 1.0, self.domain, self._some_reference())
        except (InputError, NotImplementedError):
            raise InputError(
                f"`remap` needs the density of what a method reports, and {self.method.name} has none; leave it out."
            ) from None
        _ = self.domain.diameter  # known to a domain from here on, whether or not its tables are known already
        for pair in dict.fromkeys(self._pair(float(eps)) for eps in np.unique(self.levels)):
            self._table(pair)

    @property
    def kept(self) -> bool:
        """Whether any epsilon is remapped: none is for which that would not win."""
        return any(table is not None for table in self.tables.values())

    @property
    def usable(self) -> bool:
        """Whether an epsilon is remapped, or one that is not known yet may be."""
        return self.kept or self.more

    @property
    def record(self) -> dict[str, object]:
        """What a reader of the release may know, as plain JSON values."""
        return {"prior": "uniform" if self.prior is None else self.prior.kind, "kept": self.kept}

    def __call__(self, xy: np.ndarray, eps: float | np.ndarray) -> None:
        """Move reports, each with its epsilon, in place."""
        distinct, which = np.unique(eps, return_inverse=True)
        pairs = [self._pair(float(one)) for one in distinct]
        for pair in dict.fromkeys(pairs):
            table = self._table(pair)
            if table is None:
                continue
            if pairs.count(pair) == len(pairs):
                table(xy)
                return
            rows = np.flatnonzero(np.array([one == pair for one in pairs])[which.reshape(-1)])
            own = xy[rows]
            table(own)
            xy[rows] = own

    def _pair(self, eps: float) -> tuple[float, float]:
        """Return the epsilon of the table for one epsilon, and the largest that it is for."""
        known = np.unique(self.levels)
        if len(known) <= FEW_LEVELS and eps in known and eps >= LOWEST:
            return eps, eps
        return rung(eps)

    def _table(self, pair: tuple[float, float]) -> Table | None:
        with _ONE_AT_A_TIME:  # blocks of locations may meet the same epsilon at the same time
            if pair not in self.tables:
                prior = Prior(self.domain) if self.prior is None else self.prior
                self.tables[pair] = _winning(self.method, self.domain, *pair, prior, cast(Hashable, self.places))
            return self.tables[pair]

    def _some_reference(self) -> tuple[float, float] | None:
        return self.domain.centre if self.method.resumable and self.domain.half_planes is not None else None


_ONE_AT_A_TIME = threading.RLock()


def rung(eps: float) -> tuple[float, float]:
    """Return the epsilon of the table that is shared by those up to the second number, which is sqrt(2) times as large.

    >>> rung(3.0), rung(0.001)
    ((2.82..., 4.0), (0.0625, 0.0625))
    """
    if eps <= LOWEST:
        return LOWEST, LOWEST
    half = np.floor(2 * np.log2(eps))
    return float(2 ** (half / 2)), float(2 ** ((half + 1) / 2))


@lru_cache(maxsize=32)
def _winning(method: Method, domain: Domain, eps: float, largest: float, prior: Prior, places: Any) -> Table | None:
    """Return the table for an epsilon, or nothing if it does not win up to the largest that it is for."""
    secrets = prior.fresh(TRIED)
    offsets = np.unique(np.append(np.arange(0, len(secrets), LENGTH), len(secrets)))
    release = Release(domain, places, method.leaves)

    def drawn(eps: float, stream: int) -> np.ndarray:
        reports = secrets.copy(order="F")
        method.report(reports, offsets, eps, domain, public_stream(stream))
        return reports

    def error(reports: np.ndarray) -> np.ndarray:
        return domain.distance(secrets, release(reports.copy(order="F")).xy)

    reports = drawn(eps, 2)
    table = tabulated(method, domain, eps, prior, float(error(reports).mean()), _references(method, domain, reports))
    reports = drawn(largest, 3)
    before = error(reports)
    table(reports)
    gain = before - error(reports)
    return table if gain.mean() > SURE * gain.std() / np.sqrt(len(gain)) else None


def tabulated(
    method: Method,
    domain: Domain,
    eps: float,
    prior: Prior,
    scale: float,
    references: list[tuple[float, float] | None],
) -> Table:
    """Return the geometric median of the posterior of reports at the nodes of a grid.

    ``scale`` is the mean error that reports make, by which the grid and the stand-ins are made as fine as they must be;
    ``references`` is from where a location is seen, each as likely.
    """
    low, high = _reach(method, domain, scale)
    sides = np.ceil(NODES_PER_ERROR * (high - low) * _unit(domain) / scale)
    cells = np.clip(sides, MIN_SIDE, MAX_SIDE).astype(np.int64)
    axes = [np.linspace(low[axis], high[axis], cells[axis] + 1) for axis in (0, 1)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = np.empty((*nodes.shape[:2], 3 if domain.in_degrees else 2))
    near = _Crowd.of(domain, *prior.stand_ins(scale / GRAIN, MIN_STAND_INS))
    far = _Crowd.of(domain, *prior.stand_ins(domain.diameter / np.sqrt(2 * COARSE), COARSE))
    for tile in _tiles(cells + 1):
        own = nodes[tile].reshape(-1, 2)
        crowd = _around(_lifted(domain, own), near, far, NEAR * scale)
        seen_at = _where_reported(method, domain, own)
        likely = np.zeros((len(crowd.xy), len(own)))
        for reference in references:
            likely += method.density(seen_at, crowd.xy, eps, domain, reference)
        median = _medians(crowd.lifted, (likely * crowd.masses[:, None]).T, scale / GRAIN / 2)
        nowhere = ~(likely.max(axis=0) > 0)
        median[nowhere] = _lifted(domain, own[nowhere])
        values[tile] = median.reshape(values[tile].shape)
    return Table(low, (high - low) / cells, values)


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
        lifted = _lifted(domain, xy)
        return cls(xy, lifted, masses, cKDTree(lifted))


def _around(nodes: np.ndarray, near: _Crowd, far: _Crowd, reach: float) -> _Crowd:
    """Return the fine stand-ins around some nodes, and coarse ones beyond."""
    middle = (nodes.min(axis=0) + nodes.max(axis=0)) / 2
    radius = reach + np.sqrt(((nodes - middle) ** 2).sum(axis=1)).max()
    inside = np.sort(near.tree.query_ball_point(middle, radius)).astype(np.int64)
    beyond = np.setdiff1d(np.arange(len(far.xy)), far.tree.query_ball_point(middle, radius))
    xy = np.concatenate([near.xy[inside], far.xy[beyond]])
    lifted = np.concatenate([near.lifted[inside], far.lifted[beyond]])
    return _Crowd(xy, lifted, np.concatenate([near.masses[inside], far.masses[beyond]]), near.tree)


def _medians(points: np.ndarray, weights: np.ndarray, soft: float) -> np.ndarray:
    """Return the geometric median of points under each row of weights (Weiszfeld), points being ``soft`` wide."""
    middle = points.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = (weights / weights.max(axis=1, keepdims=True)).astype(np.float32)
        weights[weights < NEGLIGIBLE] = 0
        telling = np.flatnonzero(weights.max(axis=0) != 0)  # NaN where a row has no weight at all
        weights, points = weights[:, telling], (points[telling] - middle).astype(np.float32)
        squares = (points**2).sum(axis=1) + np.float32(soft**2)
        found = weights @ points / weights.sum(axis=1, keepdims=True)
        for _ in range(ROUNDS):
            pull = found @ (-2 * points.T)
            pull += squares
            pull += (found**2).sum(axis=1, keepdims=True)
            np.maximum(pull, np.float32(soft**2), out=pull)
            np.sqrt(pull, out=pull)
            np.divide(weights, pull, out=pull)
            found = pull @ points / pull.sum(axis=1, keepdims=True)
    return found + middle


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


def _references(method: Method, domain: Domain, reports: np.ndarray) -> list[tuple[float, float] | None]:
    """Return from where a method may see a location: from reports, if it looks back at them."""
    some = reports[np.linspace(1, len(reports) - 1, REFERENCES).astype(np.int64)] if method.resumable else reports[:1]
    some = domain.clip(some)
    release = Release(domain)
    found = [method.references(domain, Reports(one[None], None), release) for one in some]
    return list(dict.fromkeys(None if one is None else tuple(one) for each in found for one in each))


def _lifted(domain: Domain, xy: np.ndarray) -> np.ndarray:
    """Return locations where straight distances order them as those of the domain do."""
    return on_sphere(xy) * (_unit(domain) * 180 / np.pi) if domain.in_degrees else xy


def _unit(domain: Domain) -> float:
    """Return how long a unit of the coordinates is, along a meridian."""
    return float(domain.distance(np.zeros((1, 2)), np.array([[0.0, 1.0]]))[0])
