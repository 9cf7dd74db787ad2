"""Intervals for means over pairs of locations, such as the share of trips of some length."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from geotracs.answers.products import Channels, Estimate, Product, products_of

MAX_PAIRS = 2**13
"""How many pairs the noise is measured on."""
UNIFORM = 1 / 3
"""The mean square of a number that lies anywhere between 0 and 1."""
OFF = 2.0
"""The truth is off by so many times the estimate in each pair of cells, or so many times what is there on average in a
square of as many: what a density is off by, too. An estimate that is stopped early lies towards its start."""


@dataclass(frozen=True, eq=False, repr=False)
class Error:
    """How a mean is corrected, and the variance of what remains.

    Attributes
    ----------
    moved : float
        What is added to it.
    unseen, noise : float
        The expected square of what the scores cannot see, and the variance of the noise.
    """

    moved: float
    unseen: float
    noise: float


class Means:
    """Means over an estimate of the joint distribution of two ends, corrected by products of the scores of cells.

    The truth is taken to be off by twice the estimate in each pair of cells, where all of it may be at one spot; for
    each pair of districts by as much as a flow can be that lies anywhere between 0 and the smaller of its ends; and as
    a whole to lie anywhere between the estimate and any of the kinds of trips that it may be a mixture of.

    Parameters
    ----------
    joint : array of shape (squares, squares)
        The estimate.
    kinds : sequence of such arrays
        The kinds of trips; see `geotracs.answers.pairs.gravity`.
    cells : array of shape (cells, squares)
        Which cell each square belongs to, 1 or 0.
    districts : array of shape (districts, cells)
        Which district each cell belongs to, likewise.
    groups : sequence of Channels
        The pairs, with tables over squares.
    """

    def __init__(
        self,
        joint: np.ndarray,
        kinds: Sequence[np.ndarray],
        cells: np.ndarray,
        districts: np.ndarray,
        groups: Sequence[Channels],
    ) -> None:
        self.joint, self.kinds, self.cells, self.districts, self.groups = joint, kinds, cells, districts, groups
        p = groups[0].tables[0].p
        within = cells.T * p[:, None] / (cells @ p)
        self._coarse = cells @ joint @ cells.T
        self.products = products_of(Estimate(self._coarse, within, cells), groups)
        self._means = [tuple(within.T @ mean for mean in one.means) for one in self.products]

    @cached_property
    def _expected(self) -> list[np.ndarray]:
        """The mean of each product, for each pair of cells."""
        return [one.means[0].T @ self.joint @ one.means[1] for one in self.products]

    @cached_property
    def _surprise(self) -> np.ndarray:
        """What is observed less what is expected."""
        observed = [one.channels.observed(*one.scores) for one in self.products]
        return np.stack(observed) - np.stack(self._expected)

    @cached_property
    def _tilts(self) -> np.ndarray:
        """How the mean of each product changes with more of each kind of trips, for each pair of cells."""
        return np.stack(
            [
                [one.means[0].T @ kind @ one.means[1] - expected for kind in self.kinds]
                for one, expected in zip(self.products, self._expected, strict=True)
            ]
        )

    @cached_property
    def _off(self) -> np.ndarray:
        """The expected error of each pair of cells."""
        return np.hypot(OFF * self._coarse, OFF / self._coarse.size)

    @cached_property
    def _flows(self) -> np.ndarray:
        """The flow between districts."""
        return np.maximum(self.districts @ self._coarse @ self.districts.T, 1e-300)

    @cached_property
    def _spread(self) -> np.ndarray:
        """The expected error of each flow between districts."""
        flows = self._flows
        most = np.maximum(np.minimum(flows.sum(axis=1)[:, None], flows.sum(axis=0)), flows)
        return np.sqrt(most**2 / 3 - most * flows + flows**2).ravel()

    def _by_district(self, values: np.ndarray) -> np.ndarray:
        """Return the mean of values of pairs of cells for each pair of districts."""
        inside = self.districts @ (values * self._coarse) @ self.districts.T
        return np.asarray(inside / self._flows).reshape(*values.shape[:-2], -1)

    def of(self, values: np.ndarray) -> float:
        """Return the mean of values of pairs of squares."""
        return float((self.joint * values).sum())

    def error(self, values: np.ndarray) -> Error:
        """Return the error of the mean of values of pairs of squares; of a constant there is none."""
        values = values - self.of(values)
        coarse, squares = (
            self.cells @ (self.joint * own) @ self.cells.T / np.maximum(self._coarse, 1e-300)
            for own in (values, values**2)
        )
        tilt = np.sqrt(UNIFORM) * np.array([float((kind * values).sum()) for kind in self.kinds])
        seen = np.stack([first @ coarse @ second.T for first, second in self._means])
        tilts = np.sqrt(UNIFORM) * np.einsum("akij,ij->ak", self._tilts, coarse)
        # All that the truth may be off by, in units of its standard deviation; and what the products see of it.
        unknown = np.concatenate([(coarse * self._off).ravel(), self._spread * self._by_district(coarse), tilt])
        known = np.hstack([(seen * self._off).reshape(len(seen), -1), self._spread * self._by_district(seen), tilts])
        spots = (np.maximum(squares - coarse**2, 0) * self._off**2).sum()
        square, linear, none = known @ known.T, known @ unknown, unknown @ unknown + spots
        noise = self._noise(coarse)
        matrix = square + noise
        matrix += (1e-9 * np.trace(matrix) + 1e-300) * np.eye(len(matrix))
        weights = np.linalg.solve(matrix, linear)
        moved = weights @ np.einsum("aij,ij->a", self._surprise, coarse)
        unseen = none - 2 * weights @ linear + weights @ square @ weights
        return Error(float(moved), max(float(unseen), 0.0), max(float(weights @ noise @ weights), 0.0))

    def _noise(self, values: np.ndarray) -> np.ndarray:
        """Return the covariance of means of products over pairs."""
        found = np.zeros((len(self.products), len(self.products)))
        for group in self.groups:
            own = [number for number, one in enumerate(self.products) if one.channels is group]
            found[np.ix_(own, own)] = _covariance(group, [self.products[number] for number in own], values)
        return found


def _covariance(group: Channels, own: Sequence[Product], values: np.ndarray) -> np.ndarray:
    """Return the covariance of means over pairs, of which neighbours share a report."""
    first, second = (bins[:MAX_PAIRS] for bins in group.bins)
    u = np.stack([np.einsum("ij,ij->i", one.scores[0][first] @ values, one.scores[1][second]) for one in own], axis=1)
    u -= u.mean(axis=0)
    linked = group.linked[: len(u)][:-1]
    shared = u[:-1][linked].T @ u[1:][linked]
    values_, vectors = np.linalg.eigh(shared + shared.T)
    shared = (
        vectors * np.maximum(values_, 0)
    ) @ vectors.T  # neighbours that are less alike than others take nothing off
    return np.asarray(u.T @ u + shared) / len(u) / group.total
