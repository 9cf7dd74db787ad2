"""The exponential mechanism over all places."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

import geotracs.core.mechanisms.exponential as mechanism
from geotracs.core.domains import Domain
from geotracs.core.lengths import diameter, distances
from geotracs.core.mechanisms.slopes import Slopes
from geotracs.core.methods.calibrated import CalibratedMethod, slopes_at


class Tables(NamedTuple):
    """Where the places are, the largest distance between two of them, and the calibrated slopes."""

    places: np.ndarray
    spread: float
    slopes: Slopes | None


@dataclass(frozen=True)
class Exponential(CalibratedMethod):
    """Report a place the likelier, the nearer it is to the location's own: in proportion to exp(-a * distance).

    Parameters
    ----------
    calibration : {"exact", "textbook"}
        How steep the slope a is: the largest for which no place is more than exp(eps) times likelier from one place of
        the set than from another; or eps / (2 D) with the diameter D of the set, the classical form (McSherry and
        Talwar, 2007), which spends only about half of epsilon.

    Notes
    -----
    Public: the places, and the slope, which depends on them and on epsilon only. Paid for with all of epsilon: which
    place the location belongs to, by one exponential mechanism. The proof for the calibrated slope is in `Slopes`: for
    two places s and t the worst log-ratio is a d(s, t) + L(t) - L(s), where L is the logarithm of the sum of a place's
    weights, and it is looked at for all pairs. Above 11,585 places the pairs of stand-ins are looked at, and what they
    may miss is added: less of epsilon is used, never more. The classical form needs no pairs: the weights differ by at
    most exp(eps / 2), and so do their sums. Published code took the sensitivity from the secret's own distances, which
    is not private.

    Examples
    --------
    >>> method, places = Exponential(), np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    >>> method.pmf([0], [[0], [1], [2]], 4.0, method.prepare(places, 4.0, None)).round(3)
    array([0.866, 0.118, 0.016])
    >>> method = Exponential(calibration="textbook")
    >>> method.pmf([0], [[0], [1], [2]], 4.0, method.prepare(places, 4.0, None)).round(3)
    array([0.665, 0.245, 0.09 ])
    """

    name: ClassVar[str] = "exponential"

    def prepare(self, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> Tables:
        """Return the places, their diameter and the slopes, calibrated for every epsilon there is."""
        self.check_eps(eps)
        tables = Tables(places, diameter(places), self.everywhere(places))
        slopes_at(tables.slopes, np.atleast_1d(eps))
        return tables

    def weights(self, secrets: np.ndarray, befores: np.ndarray, eps: np.ndarray, tables: Tables) -> np.ndarray:
        """Return the weights of all places; see `WeightedMethod.weights`."""
        own = mechanism.Exponential(eps, tables.spread, slopes_at(tables.slopes, eps))
        return own.weights(distances(tables.places[secrets], tables.places))
