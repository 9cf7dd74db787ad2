"""k-RR over all places: the truth or anything else."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.mechanisms.krr import RandomizedResponse
from geotracs.core.methods.base import PlaceMethod
from geotracs.core.randomness import Source


@dataclass(frozen=True)
class KRR(PlaceMethod):
    """Report the nearest place with high probability, and any other place otherwise, all equally likely.

    Notes
    -----
    Public: the places. Paid for with all of epsilon: which of them the location belongs to, by one k-ary randomized
    response (Kairouz, Oh and Viswanath, 2014). How far places are from each other plays no part.

    Examples
    --------
    >>> method = KRR()
    >>> tables = method.prepare(np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]]), np.log(2), None)
    >>> method.pmf([2], [[0], [1], [2]], np.log(2), tables).round(6)
    array([0.25, 0.25, 0.5 ])
    """

    name: ClassVar[str] = "k-rr"

    def prepare(self, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> int:
        """Return how many places there are."""
        return len(places)

    def choose(
        self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, tables: int, rng: Source
    ) -> np.ndarray:
        """Return the reported place of each secret; see `PlaceMethod.choose`."""
        mechanism = RandomizedResponse(eps, tables)
        return mechanism.apply(secrets, mechanism.draw(len(secrets), rng))

    def pmf_of_one(self, secret: int, before: int | None, eps: float, tables: Any) -> np.ndarray:
        """Return the probability of each place; see `PlaceMethod.pmf_of_one`."""
        return RandomizedResponse(eps, tables).pmf(secret)
