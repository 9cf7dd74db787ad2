"""Intervals that cover: how much the share of a zone may differ from its estimate.

An estimate from perturbed reports is wrong in two ways. It varies with the draw, and it is biased towards where it
started, because EM is stopped. A bootstrap sees the first only, and covers far too rarely. Both are in the posterior of

    p ~ Dirichlet(ALPHA * estimate),   counts ~ Multinomial(A p)

to second order: with ``T = D B'B D`` for ``B = (A p)^-1/2 A``, ``D = p^1/2``, whose eigenvalues lie between 0 and 1,
the covariance of p is ``D (n T + (ALPHA + 1) I)^-1 D``. A Dirichlet distribution with a small ALPHA gives room to towns
that consist of a few busy places, and to smooth ones. What no report can tell keeps its prior variance.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csr_array
from scipy.special import ndtri

from geotracs.answers.operators import Observed

ALPHA = 2.0
"""The estimate counts as a prior that is worth this many exact locations."""
FLOOR = 0.01
"""This part of the prior is spread over the region: EM leaves nothing at all in places that may hold a little."""
PER_WINDOW = 3
"""States are taken together in boxes, this many to a window: what is smaller, reports hardly tell apart..."""
MAX_GROUPS = 1600
"""...and at most in this many, since time grows with their cube."""
WIDER = 1.2
"""How many times wider boxes are made, again and again, while they are too many."""
AT_ONCE = 512
"""Columns of tables that are computed at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Spread:
    """How uncertain shares of zones are.

    Attributes
    ----------
    share : array
        The estimate of each zone.
    centre, deviation : arrays
        Of the distribution that the true share may have. It is centred between the estimate and what one more step
        without regularisation would make of it: half of what they differ by counts as deviation.
    raised, lowered : arrays
        By how much malicious reports may have raised and lowered the centre.
    """

    share: np.ndarray
    centre: np.ndarray
    deviation: np.ndarray
    raised: np.ndarray
    lowered: np.ndarray

    def bounds(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of intervals of a level; the estimate is always inside."""
        reach = float(ndtri((1 + level) / 2)) * self.deviation
        low = np.minimum(self.centre - reach - self.raised, self.share)
        high = np.maximum(self.centre + reach + self.lowered, self.share)
        return np.clip(low, 0, 1), np.clip(high, 0, 1)


def spread(
    observed: Sequence[Observed],
    p: np.ndarray,
    base: np.ndarray,
    zones: csr_array,
    xy: np.ndarray,
    window: float,
    *,
    malicious: float = 0.0,
) -> Spread:
    """Return how uncertain the shares of zones are.

    Parameters
    ----------
    observed : sequence of Observed
    p, base : arrays
        The estimate, and the part of the region in each state.
    zones : sparse array
        The part of each state in each zone, one row per zone.
    xy : array of shape (states, 2)
        Where states are.
    window : float
        How wide reports blur, in the same unit: `Reader.resolution`.
    malicious : float
        Which share of reports may be made up.

    Examples
    --------
    >>> from geotracs.answers.operators import Dense
    >>> channel = Dense(np.array([[0.8, 0.2], [0.2, 0.8]]))
    >>> halves, xy = csr_array(np.eye(2)), np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> even = np.array([0.5, 0.5])
    >>> found = spread([Observed(channel, np.array([650, 350]))], np.array([0.75, 0.25]), even, halves, xy, 1.0)
    >>> [bound.round(2).tolist() for bound in found.bounds(0.9)]
    [[0.71, 0.21], [0.79, 0.29]]
    """
    likely = (1 - FLOOR) * p / p.sum() + FLOOR * base / base.sum()
    step, deviation, raised, lowered = np.zeros((4, zones.shape[0]))
    counts = np.concatenate([seen.counts for seen in observed])
    for rows, groups in _parts(zones, xy, window):
        problem = _Problem.of(observed, likely, groups)
        for first in range(0, len(rows), AT_ONCE):
            some = rows[first : first + AT_ONCE]
            drift, deviation[some], score = problem.solve(zones[some])
            step[some] = zones[some] @ likely + drift
            if malicious:
                raised[some], lowered[some] = problem.poisoned(score, counts, malicious)
    share = zones @ p
    away = (step - share) / 2
    return Spread(share, share + away, np.sqrt(deviation**2 + away**2), raised, lowered)


def influence(
    observed: Sequence[Observed], p: np.ndarray, base: np.ndarray, zone: csr_array, xy: np.ndarray, window: float
) -> np.ndarray:
    """Return by how much one more report in each bin raises the step of one zone; the arguments are those of `spread`.

    It is what somebody who wants to move a share looks for.
    """
    likely = (1 - FLOOR) * p / p.sum() + FLOOR * base / base.sum()
    [(_, groups)] = _parts(zone, xy, window)
    problem = _Problem.of(observed, likely, groups)
    return problem.influence(problem.solve(zone)[2])[:, 0]


@dataclass(frozen=True, eq=False, repr=False)
class _Problem:
    """The covariance of groups of states.

    Attributes
    ----------
    likely : array
        The prior mean of each state.
    groups, shares : arrays
        The group of each state, and the prior mean of each group.
    lower : array
        The Cholesky factor of the scaled information, groups x groups.
    gradient : array
        What the reports say against the prior mean, scaled by that factor.
    total : float
        How many reports there are.
    tables : list of arrays
        One row per bin of each `Observed`: how a report there moves groups, scaled alike.
    """

    likely: np.ndarray
    groups: np.ndarray
    shares: np.ndarray
    lower: np.ndarray
    gradient: np.ndarray
    total: float
    tables: list[np.ndarray]

    @classmethod
    def of(cls, observed: Sequence[Observed], likely: np.ndarray, groups: np.ndarray) -> "_Problem":
        """Return the problem for the reports of one or several epsilons."""
        shares = np.bincount(groups, likely)
        total = sum(seen.total for seen in observed)
        information, score, tables = np.zeros((len(shares), len(shares))), -total * np.sqrt(shares), []
        for seen in observed:
            table, predicted = _grouped(seen, likely, groups, shares)
            score += table.T @ (seen.counts / predicted)
            tables.append(table / predicted[:, None])
            # What all bins together say on average; of single reports, whose bins are not all there are, what they say.
            whole = np.allclose(seen.operator.adjoint(np.ones(len(predicted))), 1, atol=0.01)
            table *= np.sqrt(seen.total / predicted if whole else seen.counts / predicted**2)[:, None]
            information += table.T @ table
        information[np.diag_indices_from(information)] += ALPHA + 1
        lower = cholesky(information, lower=True, overwrite_a=True, check_finite=False)
        gradient = solve_triangular(lower, score, lower=True, check_finite=False)
        return cls(likely, groups, shares, lower, gradient, total, tables)

    def solve(self, zones: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what one step adds to the share of each zone, its standard deviation, and scores for `poisoned`."""
        states = np.arange(len(self.groups))
        into = csr_array((self.likely / self.shares[self.groups], (states, self.groups)))
        part = (zones @ into).toarray()
        share = zones @ self.likely
        inside = np.sqrt(self.shares)[:, None] * (part - share[:, None]).T
        score = solve_triangular(self.lower, inside, lower=True, check_finite=False)
        within = zones.power(2) @ self.likely - part**2 @ self.shares  # how a group is divided, no report can tell
        variance = (score**2).sum(axis=0) + np.maximum(within, 0) / (ALPHA + 1)
        return score.T @ self.gradient, np.sqrt(variance), score

    def influence(self, score: np.ndarray) -> np.ndarray:
        """Return what one more report in each bin adds to the step of each zone."""
        back = solve_triangular(self.lower, score, lower=True, trans="T", check_finite=False)
        return np.concatenate([table @ back for table in self.tables]) - np.sqrt(self.shares) @ back

    def poisoned(self, score: np.ndarray, counts: np.ndarray, malicious: float) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much a share of reports may have raised and lowered the step of each zone, wherever they are.

        The step is a sum over reports. Without some of them it differs most if these are the ones with the largest, or
        the smallest, terms of all.
        """
        moves = self.influence(score)
        some, worst = malicious * self.total, []
        for sign in (1, -1):
            order = np.argsort(-sign * moves, axis=0)
            before = np.cumsum(counts[order], axis=0) - counts[order]
            taken = np.clip(some - before, 0, counts[order])
            worst.append((taken * sign * np.take_along_axis(moves, order, axis=0)).sum(axis=0) / (1 - malicious))
        return np.maximum(worst[0], 0), np.maximum(worst[1], 0)


def _grouped(
    seen: Observed, likely: np.ndarray, groups: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of each bin for each group, times the root of its share, and for all locations."""
    table = np.empty((len(seen.counts), len(shares)))
    for first in range(0, len(shares), AT_ONCE):
        last = min(first + AT_ONCE, len(shares))
        own = np.flatnonzero((groups >= first) & (groups < last))
        columns = np.zeros((len(likely), last - first))
        columns[own, groups[own] - first] = likely[own] / np.sqrt(shares[groups[own]])
        table[:, first:last] = seen.operator.predict(columns)
    return table, np.maximum(table @ np.sqrt(shares), 1e-300)


def _parts(zones: csr_array, xy: np.ndarray, window: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield some zones at a time, and the group of each state: boxes, divided where these zones have borders."""
    every, owner = np.arange(zones.shape[0]), owners(zones)
    boxes = _boxes(xy, window / PER_WINDOW)
    if len(every) > boxes.max() and boxes.max() < MAX_GROUPS:  # zones are smaller than what reports tell apart
        divided = _numbered(boxes, owner)
        yield every, divided if divided.max() < MAX_GROUPS else boxes
    elif len(every) <= MAX_GROUPS // 2:
        yield every, _few(xy, window / PER_WINDOW, MAX_GROUPS, owner)
    else:  # the window is narrow, and zones are many: some at a time are seen as they are, with what is around them
        order = every[np.argsort(_few(_middles(zones, xy), window, MAX_GROUPS // 8), kind="stable")]
        for some in np.array_split(order, -(-len(order) // AT_ONCE)):
            own = xy[np.isin(owner, some)]
            low, high = own.min(axis=0, initial=np.inf) - window, own.max(axis=0, initial=-np.inf) + window
            near = np.all((xy >= low) & (xy <= high), axis=1)
            far = _few(xy, window, MAX_GROUPS // 4)
            yield some, _numbered(np.where(near, -1, far), np.where(near, owner, -1))


def _few(xy: np.ndarray, edge: float, most: int, owner: np.ndarray | None = None) -> np.ndarray:
    """Return the number of the box of each location, divided by owners if there are any: boxes so wide that few do."""
    wide = max(float(np.ptp(xy, axis=0).max()), 1e-300)
    while True:
        boxes = _boxes(xy, edge)
        groups = boxes if owner is None else _numbered(boxes, owner)
        if groups.max() < most or edge > wide:
            return groups
        edge *= WIDER


def _boxes(xy: np.ndarray, edge: float) -> np.ndarray:
    """Return the number of the box of each location."""
    column, row = np.floor((xy - xy.min(axis=0)) / edge).astype(np.int64).T
    return _numbered(column, row)


def _numbered(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Number the distinct pairs."""
    first, second = first - first.min(), second - second.min()
    return np.unique(first * (second.max() + 1) + second, return_inverse=True)[1].reshape(-1)


def owners(zones: csr_array) -> np.ndarray:
    """Return the zone that holds most of each state; -1 if none does."""
    parts = zones.tocoo()
    owner, most = np.full(zones.shape[1], -1), np.zeros(zones.shape[1])
    order = np.argsort(parts.data, kind="stable")
    owner[parts.col[order]], most[parts.col[order]] = parts.row[order], parts.data[order]
    return np.where(most > 0, owner, -1)


def _middles(zones: csr_array, xy: np.ndarray) -> np.ndarray:
    """Return the middle of the states of each zone."""
    size = np.maximum(zones.sum(axis=1), 1e-300)
    return np.asarray(zones @ xy) / size[:, None]
