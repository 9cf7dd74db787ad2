"""Optimised unary encoding: a bit for each of k values, for counting how often each of them occurs."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.base import mean_cost
from geotracs.core.mechanisms.krr import check_k
from geotracs.core.mechanisms.lattice import BLOCK, WORDS, at_least, exp_lower_bound
from geotracs.core.randomness import Source, source, words
from geotracs.errors import InputError

MAX_VALUES = 2**24
"""How many values there may be: a report holds a bit for each."""
LISTED = 16
"""Up to this many values all possible reports can be listed, 2**16 of them."""
NOTHING = -1
"""The secret of whoever has none of the values: no bit is its own."""


class UnaryEncoding:
    """Report a bit for each of k values: that of the secret is set with probability 1/2, each other with q.

    Optimised unary encoding (OUE; Wang, Blocki, Li and Jha, 2017) with ``q = threshold / 2**64``, where ``threshold``
    is the smallest number of words with ``2**64 - threshold <= exp(eps) * threshold``.

    Exactly ``eps``-LDP: two secrets differ in the bits of these two only. A report is at most ``(1/2) / q`` times
    likelier by the first of them and ``(1 - q) / (1/2)`` times by the second, together ``(1 - q) / q <= exp(eps)``. The
    secret may also be none of the values (`NOTHING`). Then one bit differs, and its ratios ``1 / (2 q)`` and
    ``2 (1 - q)`` are both at most ``(1 - q) / q``, since q is at most 1/2.

    Parameters
    ----------
    eps : float
        Privacy parameter, in (0, 700).
    k : int
        How many values there are, from 2 to 2**24.

    Examples
    --------
    >>> encoding = UnaryEncoding(np.log(3), k=2)
    >>> encoding.chances(0).round(6)
    array([0.5 , 0.25])
    >>> encoding.pmf(0).round(6)  # of the reports 00, 10, 01, 11
    array([0.375, 0.375, 0.125, 0.125])
    >>> encoding.sample([0, 1, 1]).shape
    (3, 2)
    """

    def __init__(self, eps: float, k: int) -> None:
        self.k = check_k(k, MAX_VALUES)
        self.threshold = _noise(check_eps(eps))

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n values: for each the k bits of noise, and the bit of the secret itself."""
        draws = np.zeros((n, self.k + 1), dtype=bool)
        limit = np.array(WORDS - self.threshold, dtype=np.uint64)
        rows = max(1, BLOCK // self.k)
        for first in range(0, n, rows):
            part = draws[first : first + rows]
            noise = np.zeros(len(part) * self.k, dtype=bool)
            noise[at_least(limit, len(noise), rng)] = True
            part[:, :-1] = noise.reshape(-1, self.k)
            part[:, -1] = words(rng, len(part), np.uint8) & 1
        return draws

    def apply(self, secrets: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Turn secrets and draws into reports, a row of k bits for each; nothing here is random."""
        secrets, reports = np.asarray(secrets, dtype=np.int64), draws[:, :-1].copy()
        some = np.flatnonzero(secrets != NOTHING)
        reports[some, secrets[some]] = draws[some, -1]
        return reports

    def sample(self, secrets: npt.ArrayLike, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """Report each value, which must be one of ``0 .. k - 1``, or -1 for none of them."""
        secrets = np.asarray(secrets)
        whole = np.issubdtype(secrets.dtype, np.integer) and secrets.ndim == 1
        if not (whole and np.all((secrets >= NOTHING) & (secrets < self.k))):
            raise InputError(f"Values must be a list of whole numbers from 0 to {self.k - 1}, or -1 for none of them.")
        return self.apply(secrets, self.draw(len(secrets), source(rng)))

    def chances(self, secret: npt.ArrayLike) -> np.ndarray:
        """Return the probability of each bit to be set when the secret is this one, or for each of several."""
        secret = np.asarray(secret, dtype=np.int64)
        own = np.arange(self.k) == secret[..., None]
        return np.where(own, 0.5, self.threshold / WORDS)

    def pmf(self, secret: npt.ArrayLike) -> np.ndarray:
        """Return the probability of each of the ``2**k`` reports, the number of which has bit j for value j.

        For up to 16 values.
        """
        if self.k > LISTED:
            raise InputError(f"Reports can be listed for up to {LISTED} values, here are {self.k:,}; see `chances`.")
        bits = np.arange(2**self.k)[:, None] >> np.arange(self.k) & 1
        chances = self.chances(secret)[..., None, :]
        return np.where(bits, chances, 1 - chances).prod(axis=-1)

    def expected_error(self, secret: npt.ArrayLike, costs: npt.ArrayLike) -> np.ndarray:
        """Return the mean of the costs of each of the ``2**k`` reports, one row per secret.

        >>> UnaryEncoding(np.log(3), k=2).expected_error(0, [8.0, 0.0, 0.0, 8.0])
        array(4.)
        """
        return mean_cost(self.pmf(secret), costs)

    def estimate(self, reports: npt.ArrayLike) -> np.ndarray:
        """Return how many of the secrets each value is, without bias; noise may make it negative.

        Parameters
        ----------
        reports : array of shape (n, k)
            Reports of n secrets.

        Examples
        --------
        >>> UnaryEncoding(np.log(3), k=2).estimate([[1, 0], [1, 0], [0, 0], [0, 1]]).round(6)
        array([4., 0.])
        """
        bits = np.asarray(reports)
        return (bits.sum(axis=0, dtype=np.float64) - len(bits) * self.threshold / WORDS) / self._contrast()

    def variance(self, n: int, count: npt.ArrayLike = 0) -> np.ndarray:
        """Return the variance of the estimate for a value that ``count`` of n secrets have.

        Without any it is ``4 n exp(eps) / (exp(eps) - 1)**2``, but for the rounding of q.

        >>> round(float(UnaryEncoding(np.log(3), k=9).variance(100)), 6)
        300.0
        """
        q, count = self.threshold / WORDS, np.asarray(count, dtype=np.float64)
        return np.asarray((count / 4 + (n - count) * q * (1 - q)) / self._contrast() ** 2)

    def _contrast(self) -> float:
        """Return how much likelier the secret's own bit is set than another."""
        contrast = (WORDS // 2 - self.threshold) / WORDS
        if contrast == 0:
            raise InputError("`eps` is too small to count anything: all bits are set with probability 1/2.")
        return contrast


@lru_cache(maxsize=4096)
def _noise(eps: float) -> int:
    """Return the smallest T with ``WORDS - T <= exp(eps) * T``.

    >>> _noise(1e-300) == WORDS // 2, _noise(600.0)
    (True, 1)
    """
    return -int(-WORDS // (1 + exp_lower_bound(eps)))
