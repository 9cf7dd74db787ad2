"""Intervals for flows, from products of scores.

A score of a zone is a function of one report whose mean is nearly 1 for locations in the zone and nearly 0 elsewhere.
The product of the scores of both ends of a pair then has a mean of nearly 1 for pairs from the one zone to the other,
whatever happens inside the zones, and its mean over all pairs corrects the flow that maximum likelihood has found. The
interval counts the noise of that mean, as the pairs themselves show it, and what the scores cannot see: how far the
truth may be from the estimate, weighted with how far the mean of the product is from 1 and 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array
from scipy.stats import norm

CAUTION = (1.0, 0.1, 0.01, 0.001)
"""Scores are made for the number of reports, and for fewer: less noise, but more that they cannot see."""
ENDS_LEVEL = 0.9
"""How sure it is that a zone holds no more of an end than its flows are bounded by."""
MAX_PAIRS = 2**15
"""How many pairs the noise is measured on."""
Moments = list[np.ndarray]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """How likely each bin is from each state, and how likely it is at all.

    Attributes
    ----------
    rows : array of shape (bins, states)
        Likelihoods, up to a factor for each bin.
    p : array of shape (states,)
        A distribution of locations.
    weights : array of shape (bins,), optional
        How likely each bin is for it. Where bins are all that may be reported and likelihoods are probabilities, this
        follows from them; where each report has a bin of its own, it does not.
    """

    rows: np.ndarray
    p: np.ndarray
    weights: np.ndarray | None = None

    @cached_property
    def odds(self) -> np.ndarray:
        """How much more likely each bin is from each state than from everywhere."""
        return self.rows / np.maximum(self.rows @ self.p, 1e-300)[:, None]

    @cached_property
    def likely(self) -> np.ndarray:
        """How likely each bin is."""
        return self.rows @ self.p if self.weights is None else self.weights

    @cached_property
    def telling(self) -> float:
        """How well a report tells states apart: the chi-squared distance of its law from that of no knowledge."""
        return float(self.likely @ (self.odds**2 @ self.p)) - 1

    def mean(self, u: np.ndarray) -> np.ndarray:
        """Return the mean of functions of bins, for each state."""
        return np.asarray(self.odds.T @ (self.likely[:, None] * u))

    def seen(self, bins: np.ndarray) -> "Table":
        """Return the same where each report has a bin of its own, for some reports."""
        return Table(self.rows, self.p, np.bincount(bins, minlength=len(self.rows)) / len(bins))

    def scores(self, shares: np.ndarray, totals: Sequence[float]) -> list[np.ndarray]:
        """Return the scores of zones with the smallest expected error for numbers of reports, one column per zone.

        The error is counted as if the truth were off by twice the estimate in each state, and in each zone by all of
        it and as much as zones have on average, as for the interval of a density.
        """
        zones, states = shares.shape
        spread = np.hypot(2 * self.p, 2 / states**2)
        held = shares @ self.p
        inside = (shares * self.p).T / held * (held + 1 / zones) / spread[:, None]
        prior = np.eye(states) - inside @ np.linalg.solve(np.eye(zones) + inside.T @ inside, inside.T)
        scaled = self.odds * np.sqrt(self.likely)[:, None] * spread
        told = scaled.T @ scaled
        found = []
        for n in totals:
            factor = cho_factor(n * told + prior, overwrite_a=True, check_finite=False)
            solved = cho_solve(factor, spread[:, None] * shares.T, check_finite=False)
            u = n * self.odds @ (spread[:, None] * solved)
            found.append(u + (held - self.likely @ u))
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Channels:
    """Pairs of reports through the same two channels, in the order of the trajectories.

    Attributes
    ----------
    tables : (Table, Table)
        What the reports at either end say.
    bins : (array of int, array of int)
        The bins of each pair.
    linked : array of bool
        Whether the next pair begins with the report with which a pair ends.
    """

    tables: tuple[Table, Table]
    bins: tuple[np.ndarray, np.ndarray]
    linked: np.ndarray

    @property
    def total(self) -> int:
        """How many pairs there are."""
        return len(self.linked)

    @cached_property
    def counts(self) -> csr_array:
        """How many pairs there are of each two bins."""
        shape = (len(self.tables[0].rows), len(self.tables[1].rows))
        return csr_array((np.ones(self.total), self.bins), shape=shape)

    def observed(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the mean over pairs of products of functions of either end, all of the one with all of the other."""
        return np.asarray(first.T @ (self.counts @ second)) / self.total


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """An estimate of the joint distribution of two ends.

    Attributes
    ----------
    joint : array of shape (cells, cells)
        How likely each pair of cells is.
    within : array of shape (states, cells)
        The distribution inside each cell over smaller states.
    shares : array of shape (zones, states)
        Whether each state is in each zone, 1 or 0.
    """

    joint: np.ndarray
    within: np.ndarray
    shares: np.ndarray

    @cached_property
    def cells(self) -> np.ndarray:
        """The part of each cell that is in each zone."""
        return np.asarray(self.shares @ self.within)

    @cached_property
    def flows(self) -> np.ndarray:
        """The flow from each zone to each."""
        return np.asarray(self.cells @ self.joint @ self.cells.T)

    def expected(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the mean of products of functions of the states of either end."""
        return np.asarray((self.within.T @ first).T @ self.joint @ (self.within.T @ second))


@dataclass(frozen=True, eq=False, repr=False)
class Product:
    """A product of the scores of both ends, for all zones, and its mean for each pair of states."""

    channels: Channels
    scores: tuple[np.ndarray, np.ndarray]

    @cached_property
    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean of the score at either end, for each state."""
        first, second = (table.mean(u) for table, u in zip(self.channels.tables, self.scores, strict=True))
        return first, second


def intervals(estimate: Estimate, groups: Sequence[Channels], level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper ends of intervals for all flows between zones."""
    products = products_of(estimate, groups)
    bias = Unseen(estimate, groups, products)
    weights = bias.weights()
    moved = sum(
        weight * (one.channels.observed(*one.scores) - estimate.expected(*one.means))
        for weight, one in zip(weights, products, strict=True)
    )
    variance = bias.left(weights) + _noise(groups, products, weights)
    far = norm.ppf(0.5 + level / 2) * np.sqrt(np.maximum(variance, 0))
    centre = estimate.flows + np.asarray(moved)
    return np.minimum(centre - far, estimate.flows).clip(0, 1), np.maximum(centre + far, estimate.flows).clip(0, 1)


def products_of(estimate: Estimate, groups: Sequence[Channels]) -> list[Product]:
    """Return products of scores of several caution, for each pair of channels."""
    made: dict[tuple[int, int], list[np.ndarray]] = {}
    found = []
    for group in groups:
        for table in group.tables:
            if (id(table), group.total) not in made:
                totals = [group.total * caution for caution in CAUTION]
                made[id(table), group.total] = table.scores(estimate.shares, totals)
        both = (made[id(table), group.total] for table in group.tables)
        found += [Product(group, scores) for scores in zip(*both, strict=True)]
    return found


class Unseen:
    """What products of scores cannot see, as a quadratic form in their weights, for each flow.

    The truth is taken to be off by as much as the estimate itself in each pair of cells, where all of it may be at one
    spot, and for each pair of zones by as much as a flow can be that lies anywhere between 0 and the smaller of its
    ends.
    """

    def __init__(self, estimate: Estimate, groups: Sequence[Channels], products: Sequence[Product]) -> None:
        self.estimate, self.products = estimate, products
        p = groups[0].tables[0].p
        self.inside = estimate.shares * p / (estimate.shares @ p)[:, None]
        ends = [np.maximum(self._held(groups, end), 0) for end in (0, 1)]
        most = np.maximum(np.minimum(ends[0][:, None], ends[1]), estimate.flows)
        self.spread = most**2 / 3 - most * estimate.flows + estimate.flows**2
        zones = (estimate.shares.T, estimate.shares.T)
        means = [one.means for one in products]
        self.none = self._inner(zones, zones)
        self.linear = np.stack([self._inner(zones, mean) for mean in means])
        self.square = np.stack([[self._inner(one, other) for other in means] for one in means])

    def _inner(self, a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        within = [self.estimate.within.T @ (a[end] * b[end]) for end in (0, 1)]
        zones = [(self.inside @ a[end]) * (self.inside @ b[end]) for end in (0, 1)]
        return np.asarray(within[0].T @ self.estimate.joint**2 @ within[1] + zones[0].T @ self.spread @ zones[1])

    def _held(self, groups: Sequence[Channels], end: int) -> np.ndarray:
        """Return how much of one end each zone may hold at most."""
        estimate = self.estimate
        marginal = estimate.joint.sum(axis=1 - end)
        held = estimate.cells @ marginal
        best, centre = np.full(len(held), np.inf), held
        for one in self.products[:: len(CAUTION)]:
            table, u, mean = one.channels.tables[end], one.scores[end], one.means[end]
            expected = marginal @ (estimate.within.T @ mean)
            noise = (marginal @ (estimate.within.T @ table.mean(u**2)) - expected**2) / one.channels.total
            missed = estimate.shares.T - mean
            unseen = (2 * table.p) ** 2 @ missed**2 + (held + 1 / len(held)) ** 2 @ (self.inside @ missed) ** 2
            moved = np.bincount(one.channels.bins[end], minlength=len(u)) @ u / one.channels.total - expected
            better = noise + unseen < best
            best, centre = np.where(better, noise + unseen, best), np.where(better, held + moved, centre)
        return np.asarray(centre + norm.ppf(0.5 + ENDS_LEVEL / 2) * np.sqrt(np.maximum(best, 0)))

    def weights(self) -> np.ndarray:
        """Return the weights of products with the smallest expected error for each flow, one after the other."""
        noise = np.zeros_like(self.square)
        for a, one in enumerate(self.products):
            for b, other in enumerate(self.products):
                if one.channels is other.channels:
                    noise[a, b] = self._covariance(one, other)
        matrix = np.moveaxis(self.square + noise, (0, 1), (-2, -1))
        matrix += 1e-9 * np.trace(matrix, axis1=-2, axis2=-1)[..., None, None] * np.eye(len(self.products))
        return np.moveaxis(np.linalg.solve(matrix, np.moveaxis(self.linear, 0, -1)[..., None])[..., 0], -1, 0)

    def _covariance(self, one: Product, other: Product) -> np.ndarray:
        """Return the noise that two products through the same channels have in common."""
        tables = one.channels.tables
        squares = [tables[end].mean(one.scores[end] * other.scores[end]) for end in (0, 1)]
        both = self.estimate.expected(*one.means) * self.estimate.expected(*other.means)
        return np.asarray(self.estimate.expected(*squares) - both) / one.channels.total

    def left(self, weights: np.ndarray) -> np.ndarray:
        """Return the expected square of what is not seen with these weights."""
        square = np.einsum("aij,abij,bij->ij", weights, self.square, weights)
        return np.asarray(self.none - 2 * np.einsum("aij,aij->ij", weights, self.linear) + square)


def _noise(groups: Sequence[Channels], products: Sequence[Product], weights: np.ndarray) -> np.ndarray:
    """Return the variance of the weighted mean of products over pairs, of which neighbours share a report."""
    total = np.zeros(weights.shape[1:])
    for group in groups:
        own = [(one, weight) for one, weight in zip(products, weights, strict=True) if one.channels is group]
        some = slice(0, MAX_PAIRS)
        first, second = (bins[some] for bins in group.bins)
        linked = group.linked[some][:-1]
        for zone in range(len(total)):
            u = sum(weight[zone] * one.scores[0][first, zone, None] * one.scores[1][second] for one, weight in own)
            u = np.asarray(u - np.mean(u, axis=0))
            shared = np.einsum("ij,ij->j", u[:-1][linked], u[1:][linked])
            own_squares = np.einsum("ij,ij->j", u, u)
            total[zone] += np.maximum(own_squares, own_squares + 2 * shared) / len(u) / group.total
    return total
