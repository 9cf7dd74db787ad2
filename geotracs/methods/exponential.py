"""The exponential mechanism over all places."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

import geotracs.mechanisms.exponential as mechanism
from geotracs.domains import Domain
from geotracs.methods.sizes import diameter, distances
from geotracs.methods.weighted import WeightedMethod


class Tables(NamedTuple):
    """Where the places are, and the largest distance between two of them."""

    places: np.ndarray
    spread: float


@dataclass(frozen=True)
class Exponential(WeightedMethod):
    """Report a place the likelier, the nearer it is to the location's own: in proportion to exp(-eps d / (2 D)).

    Notes
    -----
    Public: the places, and the diameter D of the whole set, by which the distances from any secret differ at most. Paid
    for with all of epsilon: which place the location belongs to, by one exponential mechanism (McSherry and Talwar,
    2007) with the classical factor 2. Published code took the sensitivity from the secret's own distances, which is
    not private.

    Examples
    --------
    >>> method = Exponential()
    >>> tables = method.prepare(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), 4.0, None)
    >>> method.pmf([0], [[0], [1], [2]], 4.0, tables).round(3)
    array([0.665, 0.245, 0.09 ])
    """

    name: ClassVar[str] = "exponential"

    def prepare(self, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> Tables:
        """Return the places and their diameter."""
        return Tables(places, diameter(places))

    def weights(self, secrets: np.ndarray, befores: np.ndarray, eps: np.ndarray, tables: Tables) -> np.ndarray:
        """Return the weights of all places; see `WeightedMethod.weights`."""
        return mechanism.Exponential(eps, tables.spread).weights(distances(tables.places[secrets], tables.places))
