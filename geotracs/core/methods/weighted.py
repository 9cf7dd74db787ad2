"""What the methods with weights over places share: rows of weights, a chunk at a time, and exact draws from them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.lengths import CHUNK
from geotracs.core.mechanisms.weighted import draw, probabilities
from geotracs.core.methods.base import PlaceMethod
from geotracs.core.randomness import Source, of_rows
from geotracs.errors import DomainError

MAX_EPS = 25.0
"""The largest epsilon of one draw. Weights are whole numbers up to 2**40, about exp(27.7): with more, some would have
to be lighter than 1."""


@dataclass(frozen=True)
class WeightedMethod(PlaceMethod):
    """Base of the methods that weigh every place against the secret one; their tables have ``places``."""

    def weights(self, secrets: np.ndarray, befores: np.ndarray, eps: np.ndarray, tables: Any) -> np.ndarray:
        """Return the weights of all places for each secret, whole numbers, one row per secret.

        Parameters
        ----------
        secrets : array of int
        befores : array of int
            The place that was reported before, or -1; only a sequential method looks at it.
        eps : array of float
            One for each secret.
        """
        raise NotImplementedError

    @property
    def largest_eps(self) -> float:
        """See `Method.largest_eps`."""
        return MAX_EPS

    def check(self, domain: Domain) -> None:
        """Raise for a region in degrees."""
        if domain.in_degrees:
            raise DomainError(
                f"{self.name} measures distances in a plane, which the {domain.kind} is not; take a smaller region, or "
                'method="k-rr".'
            )

    def choose(
        self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, tables: Any, rng: Source
    ) -> np.ndarray:
        """Return the reported place of each secret; see `PlaceMethod.choose`."""
        self.check_eps(eps)
        return self.choose_apart(secrets, eps, tables, rng)

    def choose_apart(self, secrets: np.ndarray, eps: float | np.ndarray, tables: Any, rng: Source) -> np.ndarray:
        """Return reports that do not look at each other: equal secrets share a row of weights."""
        levels, level = np.unique(np.broadcast_to(eps, len(secrets)), return_inverse=True)
        rows, row = np.unique(secrets * len(levels) + level, return_inverse=True)
        alike = np.argsort(row, kind="stable")
        reports = np.empty(len(secrets), dtype=np.int64)
        for part in chunks(len(rows), len(tables.places)):
            own = slice(*np.searchsorted(row[alike], [part.start, part.stop]))
            secret, which = np.divmod(rows[part], len(levels))
            weights = self.weights(secret, np.full(len(secret), -1), levels[which], tables)
            reports[alike[own]] = draw(weights, row[alike[own]] - part.start, of_rows(rng, alike[own]))
        return reports

    def pmf_of_one(self, secret: int, before: int | None, eps: float, tables: Any) -> np.ndarray:
        """Return the probability of each place; see `PlaceMethod.pmf_of_one`."""
        self.check_eps(eps)
        befores = np.array([-1 if before is None else before])
        return probabilities(self.weights(np.array([secret]), befores, np.array([eps]), tables))[0]


def chunks(rows: int, columns: int) -> Iterator[slice]:
    """Cut rows into slices that hold about ``CHUNK`` weights."""
    size = max(1, CHUNK // columns)
    for first in range(0, rows, size):
        yield slice(first, min(first + size, rows))
