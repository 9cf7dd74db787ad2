"""Two levels over a finite set: a neighbourhood of k values with high probability, and the others otherwise."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.base import Seen, mean_cost
from geotracs.core.mechanisms.lattice import WORDS, draw_offsets, threshold
from geotracs.core.randomness import Source
from geotracs.errors import InputError


class Subset:
    """Report one of m values: of the secret's neighbourhood of k with high probability, and of the others otherwise.

    Exactly ``eps``-LDP for any public neighbourhoods, if all of them have k members: the report is uniform in the
    neighbourhood with probability ``threshold / 2**64`` and uniform over the m - k others otherwise. With k = 1 it is
    k-ary randomized response.

    Parameters
    ----------
    eps : float, or array of floats
        Privacy parameter, in (0, 700). An array gives each draw its own.
    k : int, or array of ints as long as ``eps``
        Size of the neighbourhoods, from 1 to m - 1.
    m : int
        How many values there are, from 2 to 2**32.

    Examples
    --------
    >>> near = Subset(np.log(3), k=2, m=4)
    >>> near.pmf(np.array([1, 2])).round(6)
    array([0.125, 0.375, 0.375, 0.125])
    """

    def __init__(self, eps: float | np.ndarray, k: int | np.ndarray, m: int) -> None:
        if not np.all((np.asarray(k) >= 1) & (np.asarray(k) < m)):
            raise InputError(f"`k` must be from 1 to {m - 1}, one less than there are values.")
        self.k, self.m = k, m
        self.threshold: int | np.ndarray
        if np.ndim(eps) == 0:
            self.threshold = _inside(check_eps(eps), int(k), m)
            return
        asked = np.column_stack([np.asarray(eps, dtype=np.float64), np.broadcast_to(k, np.shape(eps))])
        distinct, which = np.unique(asked, axis=0, return_inverse=True)
        which = which.reshape(-1)  # numpy 2.0 keeps a second axis
        limits = [_inside(check_eps(e), int(size), m) for e, size in distinct.tolist()]
        self.threshold = np.array(limits, dtype=np.uint64)[which]

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n values: which of the neighbourhood, or, from k on, which of the others."""
        return draw_offsets(n, self.k, self.threshold, rng, cells=self.m)

    @staticmethod
    def apply(x: Seen | np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Turn neighbourhoods and draws into reports; nothing here is random.

        Parameters
        ----------
        x : Seen, or array of shape (n, k)
            Neighbourhoods of one size, the members of each in ascending order.

        Examples
        --------
        >>> Subset.apply(Seen(np.array([[1, 2]]), np.array([0, 0, 0, 0])), np.array([0, 1, 2, 3]))
        array([1, 2, 0, 3])
        """
        seen = Seen.of(x)
        neighbours, which = seen.table, seen.rows
        rows, k = neighbours.shape
        reports = neighbours[which, np.minimum(draws, k - 1)].astype(np.int64)
        outside = np.flatnonzero(draws >= k)
        row, number = which[outside], draws[outside].astype(np.int64) - k
        # The number-th of the others has as many neighbours before it as lie no farther than it would without them.
        apart = int(max(neighbours.max(initial=0), number.max(initial=0))) + 1
        gaps = (neighbours - np.arange(k) + apart * np.arange(rows)[:, None]).ravel()
        reports[outside] = number + np.searchsorted(gaps, number + apart * row, side="right") - k * row
        return reports

    def pmf(self, neighbours: np.ndarray) -> np.ndarray:
        """Return the probability of each value for a secret with this neighbourhood, or one per row; for one eps."""
        neighbours = np.asarray(neighbours, dtype=np.int64)
        shape = (*neighbours.shape[:-1], self.m)
        probability = np.full(shape, (WORDS - self.threshold) / (WORDS * (self.m - self.k)))
        np.put_along_axis(probability, neighbours, self.threshold / (WORDS * self.k), axis=-1)
        return probability

    def expected_error(self, neighbours: np.ndarray, costs: npt.ArrayLike) -> np.ndarray:
        """Return the mean of the costs of reporting each value, one row per neighbourhood; for one eps.

        >>> Subset(np.log(3), k=2, m=4).expected_error(np.array([1, 2]), [8.0, 0.0, 0.0, 8.0])
        array(2.)
        """
        return mean_cost(self.pmf(neighbours), costs)


@lru_cache(maxsize=4096)
def _inside(eps: float, k: int, m: int) -> int:
    return threshold(eps, k, cells=m)
