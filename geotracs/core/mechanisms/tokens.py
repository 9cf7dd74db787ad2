"""Two levels over a finite set with weights: a window of exactly K tokens with high probability, all W otherwise."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.lattice import CELLS, WORDS, at_least, blocks, exp_lower_bound, take_or_scalar, uniform
from geotracs.core.randomness import Source, of_rows
from geotracs.errors import InputError

MAX_TOKENS = CELLS
"""How many tokens there may be: those that one 32-bit draw can tell apart."""


class Windows(NamedTuple):
    """The windows of some secrets, one after the other.

    Attributes
    ----------
    members : array of int
        The values in the windows, those of the first window first.
    ends : array of int
        How many tokens there are up to the end of each member, counted through all windows: the r-th window ends at
        ``(r + 1) * k``, whatever it holds.
    """

    members: np.ndarray
    ends: np.ndarray

    def __repr__(self) -> str:
        return f"<Windows of {len(self.members)} members>"  # which tell the secrets

    @property
    def taken(self) -> np.ndarray:
        """How many tokens each member gives to its window."""
        return np.diff(self.ends, prepend=0)


class Tokens:
    """Report one of m values: a token of the secret's window with high probability, and a token of all otherwise.

    Each value owns a public number of tokens, its weight, W in all. A window holds exactly k tokens: of any value some,
    all or none. The report is the owner of a token: with probability ``threshold / 2**64`` of a uniform token of the
    window, otherwise of a uniform token of all.

    Exactly ``eps``-LDP for any public windows. A value of weight w with u tokens in the window, ``0 <= u <= w``, is
    reported with probability ``t u / k + (1 - t) w / W``: between ``(1 - t) w / W`` and ``(1 + t W / ((1 - t) k))``
    times that, and the factor is at most ``exp(eps)`` iff ``t <= (e - 1) k / ((e - 1) k + W)``. Any smaller t is valid
    too, so no epsilon is too small.

    Parameters
    ----------
    eps : float, or array of floats
        Privacy parameter, in (0, 700). An array gives each draw its own.
    k : int
        How many tokens a window holds, from 1 to ``total``.
    total : int
        How many tokens there are, at most 2**32.

    Examples
    --------
    >>> weights = np.array([2, 1, 1])
    >>> near = Tokens(np.log(3), k=2, total=4)
    >>> near.pmf(weights, np.array([1, 1, 0])).round(6)
    array([0.5  , 0.375, 0.125])
    """

    def __init__(self, eps: float | np.ndarray, k: int, total: int) -> None:
        if not 1 <= total <= MAX_TOKENS:
            raise InputError(f"`total` must be from 1 to {MAX_TOKENS:,}, got {total:,}.")
        if not 1 <= k <= total:
            raise InputError(f"`k` must be from 1 to {total:,}, the number of tokens, got {k:,}.")
        self.k, self.total = int(k), int(total)
        self.threshold: int | np.ndarray
        if np.ndim(eps) == 0:
            self.threshold = token_threshold(check_eps(eps), self.k, self.total)
            return
        distinct, which = np.unique(np.asarray(eps, dtype=np.float64), return_inverse=True)
        limits = [token_threshold(check_eps(e), self.k, self.total) for e in distinct.tolist()]
        self.threshold = np.array(limits, dtype=np.uint64)[which]

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n values: which token of the window or, from k on, which of all tokens."""
        threshold = np.asarray(self.threshold, dtype=np.uint64)
        inside, everywhere = np.array(self.k, dtype=np.uint64), np.array(self.total, dtype=np.uint64)
        draws = np.empty(n, dtype=np.int64)
        for part in blocks(n):
            size, own = part.stop - part.start, of_rows(rng, part)
            outside = at_least(take_or_scalar(threshold, part), size, own)
            draws[part] = uniform(inside, size, own)
            draws[part][outside] = uniform(everywhere, len(outside), of_rows(own, outside)).astype(np.int64) + self.k
        return draws

    def apply(self, weights: np.ndarray, windows: Windows, which: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Turn windows and draws into reports; nothing here is random.

        Parameters
        ----------
        weights : array of int, shape (m,)
            The tokens of each value.
        windows : Windows
            Windows of ``k`` tokens each.
        which : array of int
            The window of each draw's secret.

        Examples
        --------
        >>> near = Tokens(1.0, k=2, total=4)
        >>> windows = Windows(np.array([0, 2, 0]), np.array([2, 3, 4]))
        >>> near.apply(np.array([2, 1, 1]), windows, np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 4]))
        array([0, 0, 2, 0, 1])
        """
        within = np.searchsorted(windows.ends, which * self.k + np.minimum(draws, self.k - 1), side="right")
        reports = windows.members[within].astype(np.int64)
        outside = np.flatnonzero(draws >= self.k)
        reports[outside] = np.searchsorted(np.cumsum(weights), draws[outside] - self.k, side="right")
        return reports

    def pmf(self, weights: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """Return the probability of each value, given how many of its tokens are in the window; for one eps."""
        limit = int(self.threshold)
        return taken * (limit / (WORDS * self.k)) + weights * ((WORDS - limit) / (WORDS * self.total))


@lru_cache(maxsize=4096)
def token_threshold(eps: float, k: int, total: int) -> int:
    """Return the largest T with ``T * total <= (exp(eps) - 1) * k * (WORDS - T)``.

    >>> token_threshold(700 - 1e-9, 1, 2**32) == WORDS - 1
    True
    """
    gain = (exp_lower_bound(eps) - 1) * k
    return int(WORDS * gain / (gain + total))
