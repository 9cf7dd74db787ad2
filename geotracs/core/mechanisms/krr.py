"""k-ary randomized response: the truth with high probability, and any other of k values otherwise."""

from functools import lru_cache
from numbers import Integral

import numpy as np
import numpy.typing as npt

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.base import mean_cost
from geotracs.core.mechanisms.lattice import CELLS, WORDS, draw_offsets, threshold
from geotracs.core.randomness import Source, source
from geotracs.errors import InputError, quoted


class RandomizedResponse:
    """Report one of k values: the secret one with probability exp(eps) / (exp(eps) + k - 1).

    Exactly ``eps``-LDP (Kairouz, Oh and Viswanath, 2014): the two-level draw of the lattice on a circle of ``k``
    cells, with a window of one cell. It is the truth with probability ``threshold / 2**64``, and uniform over the k - 1
    others otherwise.

    Parameters
    ----------
    eps : float, or array of floats
        Privacy parameter, in (0, 700). An array gives each draw its own.
    k : int
        How many values there are, from 2 to 2**32.

    Examples
    --------
    >>> coin = RandomizedResponse(np.log(3), k=2)
    >>> coin.pmf(0).round(6)
    array([0.75, 0.25])
    >>> coin.sample([0, 1, 1]).shape
    (3,)
    """

    def __init__(self, eps: float | np.ndarray, k: int) -> None:
        self.k = check_k(k)
        self.threshold: int | np.ndarray
        if np.ndim(eps) == 0:
            self.threshold = _truth(check_eps(eps), self.k)
            return
        distinct, which = np.unique(np.asarray(eps, dtype=np.float64), return_inverse=True)
        limits = [_truth(check_eps(float(value)), self.k) for value in distinct]
        self.threshold = np.array(limits, dtype=np.uint64)[which]

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n values; the secrets are not needed for it."""
        return draw_offsets(n, 1, self.threshold, rng, cells=self.k)

    def apply(self, secrets: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Turn secrets and draws into reports; nothing here is random."""
        return (np.asarray(secrets, dtype=np.int64) + draws) % self.k

    def sample(self, secrets: npt.ArrayLike, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """Report each value, which must be one of ``0 .. k - 1``."""
        secrets = np.asarray(secrets)
        if not (np.issubdtype(secrets.dtype, np.integer) and np.all((secrets >= 0) & (secrets < self.k))):
            raise InputError(f"Values must be whole numbers from 0 to {self.k - 1}.")
        return self.apply(secrets, self.draw(secrets.size, source(rng)).reshape(secrets.shape))

    def pmf(self, secret: npt.ArrayLike) -> np.ndarray:
        """Return the probability of each value when the secret is this one, or for each of several; for one eps."""
        secret = np.asarray(secret, dtype=np.int64)
        probability = np.full((*secret.shape, self.k), (WORDS - self.threshold) / (WORDS * (self.k - 1)))
        np.put_along_axis(probability, secret[..., None], self.threshold / WORDS, axis=-1)
        return probability

    def expected_error(self, secret: npt.ArrayLike, costs: npt.ArrayLike) -> np.ndarray:
        """Return the mean of the costs of reporting each value, one row per secret; for one eps.

        >>> RandomizedResponse(np.log(3), k=2).expected_error(0, [0.0, 8.0])
        array(2.)
        """
        return mean_cost(self.pmf(secret), costs)


def check_k(k: int, most: int = CELLS) -> int:
    """Return a number of values or sectors, or raise."""
    if isinstance(k, bool) or not isinstance(k, Integral) or not 2 <= k <= most:
        raise InputError(f"`k` must be a whole number from 2 to {most:,}, got {quoted(k)}.")
    return int(k)


@lru_cache(maxsize=4096)
def _truth(eps: float, k: int) -> int:
    return threshold(eps, 1, cells=k)
