"""The exponential mechanism: the nearer, the likelier."""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.base import Seen, mean_cost
from geotracs.core.mechanisms.lattice import exp_lower_bound
from geotracs.core.mechanisms.weighted import HEAVIEST, draw, probabilities
from geotracs.core.randomness import Source
from geotracs.errors import InputError


class Exponential:
    """Report one of several things with probability in proportion to exp(-eps * distance / (2 * spread)).

    The classical calibration (McSherry and Talwar, 2007; the paper's preliminaries), with minus the distance as the
    score: ``spread`` is public, the most by which the distances from one secret to the things can differ. The weights
    are whole numbers between `lightest` and ``HEAVIEST``, whose ratio is at most exp(eps / 2). One such factor for the
    weight and one for the sum of the weights make it exactly ``eps``-LDP, whatever the rounding of the distances. It is
    usually more private than it promises: the two factors are seldom reached together, and about half of epsilon is
    wasted. A ``slope`` that was calibrated over the public set (see `Slopes`) uses all of it.

    Parameters
    ----------
    eps : float, or array of shape (rows,)
        Privacy parameter, in (0, 700).
    spread : float, or array of shape (rows,)
        Public; the diameter of the set is always enough.
    slope : float, or array of shape (rows,), optional
        Used where it is steeper than the classical eps / (2 * spread). The weights are then ``floor(HEAVIEST *
        exp(-slope * distance))``, which nothing bounds from below; that they are private is for `Slopes` to prove.

    Examples
    --------
    >>> Exponential(4, spread=10.0).pmf(np.array([[0.0, 5.0, 10.0]])).round(3)
    array([[0.665, 0.245, 0.09 ]])
    """

    def __init__(
        self, eps: float | np.ndarray, spread: float | np.ndarray, slope: float | np.ndarray | None = None
    ) -> None:
        spread = np.asarray(spread, dtype=np.float64)
        if not np.all((spread >= 0) & np.isfinite(spread)):
            raise InputError("`spread` must be a public distance, finite and not negative.")
        self.eps: np.float64 | np.ndarray
        self.lightest: np.int64 | np.ndarray
        if np.ndim(eps) == 0:
            self.eps = np.float64(check_eps(eps))
            self.lightest = np.int64(_lightest(float(self.eps)))
        else:
            self.eps = np.asarray(eps, dtype=np.float64)
            distinct, which = np.unique(self.eps, return_inverse=True)
            lightest = [_lightest(check_eps(float(value))) for value in distinct]
            self.lightest = np.array(lightest, dtype=np.int64)[which]
        # Never 0 and never infinite; where it matters, the weights are clipped anyway.
        self._slope = np.maximum(self.eps / 2, 1e-100) / np.clip(spread, 1e-200, 1e200)
        if slope is not None:
            self.lightest = np.where(slope > self._slope, 1, self.lightest)
            self._slope = np.maximum(slope, self._slope)

    def draw(self, n: int, rng: Source) -> Source:
        """Return the supply of random words: how many a draw needs depends on the weights."""
        return rng

    def apply(self, x: Seen | np.ndarray, draws: Source) -> np.ndarray:
        """Turn the distances of all things from each secret, and words, into reports: their columns."""
        seen = Seen.of(x)
        return draw(self.weights(seen.table), seen.rows, draws)

    def weights(self, distances: np.ndarray, allowed: np.ndarray | None = None) -> np.ndarray:
        """Return the weights of things at these distances from a secret, one row per secret.

        Parameters
        ----------
        distances : array of shape (rows, things)
        allowed : array of bool, same shape, optional
            Which things can be reported at all, at least one in each row. Public: it must not depend on the secret.
        """
        nearest = distances if allowed is None else np.where(allowed, distances, np.inf)
        scores = nearest - nearest.min(axis=1, keepdims=True)
        scores *= -_column(self._slope)
        np.exp(scores, out=scores)
        scores *= HEAVIEST
        weights = scores.astype(np.int64)
        np.clip(weights, _column(self.lightest), HEAVIEST, out=weights)
        if allowed is not None:
            weights *= allowed
        return weights

    def pmf(self, distances: np.ndarray, allowed: np.ndarray | None = None) -> np.ndarray:
        """Return the probabilities that the weights lead to."""
        return probabilities(self.weights(distances, allowed))

    def expected_error(self, distances: np.ndarray, costs: npt.ArrayLike) -> np.ndarray:
        """Return the mean of the costs of reporting each thing, one row per secret.

        >>> away = np.array([[0.0, 5.0, 10.0]])
        >>> Exponential(4, spread=10.0).expected_error(away, costs=away).round(3)
        array([2.124])
        """
        return mean_cost(self.pmf(distances), costs)


def _column(values: np.generic | np.ndarray) -> np.ndarray:
    column = np.asarray(values)
    return column if column.ndim == 0 else column[:, None]


@lru_cache(maxsize=4096)
def _lightest(eps: float) -> int:
    """Return the smallest weight that ``HEAVIEST`` is at most exp(eps / 2) times of."""
    return math.ceil(HEAVIEST / exp_lower_bound(eps / 2))
