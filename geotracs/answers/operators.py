"""How likely each report is from each state: what estimates, flows and tracks are computed from.

A state is a cell of the region, or a public place, where a location may have been; a bin is what may have been
reported. An operator is the table of P(bin | state), which is never written down where it is a product of small ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

Term = tuple[np.ndarray, np.ndarray]


class Operator(Protocol):
    """The probability of each bin, for each state."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many bins and how many states there are."""

    def predict(self, p: np.ndarray) -> np.ndarray:
        """Return the probability of each bin for locations that are distributed so; one column each if several."""

    def adjoint(self, v: np.ndarray) -> np.ndarray:
        """Return the sum over bins of a value times its probability, for each state."""

    def rows(self, which: np.ndarray) -> np.ndarray:
        """Return the probabilities of some bins, one row each."""

    def dense(self) -> np.ndarray:
        """Return the whole table, one row per bin."""


@dataclass(frozen=True, eq=False, repr=False)
class Dense:
    """A table as it is.

    Examples
    --------
    >>> operator = Dense(np.array([[0.9, 0.2], [0.1, 0.8]]))
    >>> operator.predict(np.array([0.5, 0.5]))
    array([0.55, 0.45])
    """

    matrix: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """How many bins and how many states there are."""
        return self.matrix.shape[0], self.matrix.shape[1]

    def predict(self, p: np.ndarray) -> np.ndarray:
        """Return the probability of each bin."""
        return self.matrix @ p

    def adjoint(self, v: np.ndarray) -> np.ndarray:
        """Return the sum over bins, for each state."""
        return self.matrix.T @ v

    def rows(self, which: np.ndarray) -> np.ndarray:
        """Return the probabilities of some bins."""
        return self.matrix[which]

    def dense(self) -> np.ndarray:
        """Return the table."""
        return self.matrix


@dataclass(frozen=True, eq=False, repr=False)
class Separable:
    """A sum of products over two axes: bins and states are the cells of grids, column after column.

    Attributes
    ----------
    terms : sequence of (array, array)
        For each term the table of the first axis, shape (bins along it, states along it), and that of the second.
    states : array of int
        Which cells of the grid of states there are; in the others nobody can be.

    Examples
    --------
    >>> axis = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> Separable([(axis, axis)], np.arange(4)).dense().round(2)
    array([[0.81, 0.09, 0.09, 0.01],
           [0.09, 0.81, 0.01, 0.09],
           [0.09, 0.01, 0.81, 0.09],
           [0.01, 0.09, 0.09, 0.81]])
    """

    terms: Sequence[Term]
    states: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """How many bins and how many states there are."""
        first, second = self.terms[0]
        return len(first) * len(second), len(self.states)

    def predict(self, p: np.ndarray) -> np.ndarray:
        """Return the probability of each bin."""
        first, second = self.terms[0]
        grid = np.zeros((first.shape[1] * second.shape[1], *p.shape[1:]))
        grid[self.states] = p
        grid = grid.reshape(first.shape[1], second.shape[1], -1)
        found = sum(np.einsum("ai,bj,ijk->abk", x, y, grid, optimize=True) for x, y in self.terms)
        return np.asarray(found).reshape(-1, *p.shape[1:])

    def adjoint(self, v: np.ndarray) -> np.ndarray:
        """Return the sum over bins, for each state."""
        first, second = self.terms[0]
        grid = v.reshape(len(first), len(second), -1)
        found = sum(np.einsum("ai,bj,abk->ijk", x, y, grid, optimize=True) for x, y in self.terms)
        return np.asarray(found).reshape(-1, *v.shape[1:])[self.states]

    def rows(self, which: np.ndarray) -> np.ndarray:
        """Return the probabilities of some bins."""
        column, row = np.divmod(which, len(self.terms[0][1]))
        return outer([(x[column], y[row]) for x, y in self.terms], self.states)

    def mixed(self, parts: csr_array) -> np.ndarray:
        """Return sums of bins with weights, one row of ``parts`` each, without writing down the bins one by one."""
        found = np.empty((parts.shape[0], self.terms[0][0].shape[1] * self.terms[0][1].shape[1]))
        for row in range(len(found)):
            own = slice(parts.indptr[row], parts.indptr[row + 1])
            column, up = np.divmod(parts.indices[own], len(self.terms[0][1]))
            grid = sum((parts.data[own, None] * x[column]).T @ y[up] for x, y in self.terms)
            found[row] = np.asarray(grid).ravel()
        return found if len(self.states) == found.shape[1] else found[:, self.states]

    def dense(self) -> np.ndarray:
        """Return the whole table."""
        return self.rows(np.arange(self.shape[0]))


@dataclass(frozen=True, eq=False, repr=False)
class Pushed:
    """An operator whose bins are moved by a public map after the draw: remapped, projected inside, rounded.

    Attributes
    ----------
    moved : sparse array
        The part of each bin of the draw that is released as each bin, one row per bin of the release.
    drawn : Operator
    """

    moved: csr_array
    drawn: Operator

    @property
    def shape(self) -> tuple[int, int]:
        """How many bins and how many states there are."""
        return self.moved.shape[0], self.drawn.shape[1]

    def predict(self, p: np.ndarray) -> np.ndarray:
        """Return the probability of each bin."""
        return np.asarray(self.moved @ self.drawn.predict(p))

    def adjoint(self, v: np.ndarray) -> np.ndarray:
        """Return the sum over bins, for each state."""
        return self.drawn.adjoint(np.asarray(self.moved.T @ v))

    def rows(self, which: np.ndarray) -> np.ndarray:
        """Return the probabilities of some bins."""
        some = self.moved[which]
        if isinstance(self.drawn, Separable):
            return self.drawn.mixed(some)
        used = np.unique(some.indices)
        return np.asarray(some[:, used] @ self.drawn.rows(used))

    def dense(self) -> np.ndarray:
        """Return the whole table."""
        return np.asarray(self.moved @ self.drawn.dense())


@dataclass(frozen=True, eq=False)
class Observed:
    """What was reported with one epsilon: how many reports fell into each bin.

    A method that looks back has one bin for each report, whose probabilities are those given its own reference.

    Attributes
    ----------
    operator : Operator
    counts : array
        How many independent reports; where rows share reports, as many as they are worth.
    folds : array of shape (bins, folds), or None
        These dealt into folds, where what is dealt together is not for the estimate to choose.
    """

    operator: Operator = field(repr=False)
    counts: np.ndarray = field(repr=False)
    folds: np.ndarray | None = field(default=None, repr=False)

    @property
    def total(self) -> float:
        """How many reports there are."""
        return float(self.counts.sum())


def outer(terms: Sequence[Term], states: np.ndarray) -> np.ndarray:
    """Return rows over the cells of a grid from rows over its two axes, for the cells that are states."""
    found = sum(np.einsum("ni,nj->nij", x, y).reshape(len(x), x.shape[1] * y.shape[1]) for x, y in terms)
    grid = np.asarray(found)
    return grid if len(states) == grid.shape[1] else grid[:, states]
