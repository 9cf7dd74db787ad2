"""Codebooks: one of the k public codewords nearest to the secret with high probability, and any of all m otherwise."""

from functools import lru_cache

import numpy as np

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.lattice import WORDS, exp_lower_bound, take_or_scalar, uniform
from geotracs.core.randomness import Source, of_rows, words
from geotracs.errors import InputError

CHUNK = 2**14
"""How many draws are processed at a time: few enough to stay in the processor's cache."""
MAX_CODEWORDS = 2**31 - 1
"""The largest number of codewords."""


class Codebook:
    """Report one of m codewords: one of the k of the secret's window with high probability, any of the m otherwise.

    Exactly ``eps``-LDP for any public windows of exactly k distinct codewords. The report is uniform in the window with
    probability ``threshold / 2**64``, and uniform over all m codewords otherwise, those of the window among them. So a
    codeword is likeliest where it is in the window, ``T / k + (2**64 - T) / m`` out of 2**64, and least likely where it
    is not, ``(2**64 - T) / m``; T is the largest integer for which the first is at most exp(eps) times the second.
    Smaller ones keep the promise too, and 0 is one of them: no epsilon is too small.

    Parameters
    ----------
    eps : float, or array of floats
        Privacy parameter, in (0, 700). An array gives each draw its own.
    k : int
        Size of the windows, from 1 to m.
    m : int
        How many codewords there are.

    Examples
    --------
    >>> book = Codebook(np.log(3), k=2, m=4)
    >>> book.pmf(np.array([1, 2])).round(6)
    array([0.125, 0.375, 0.375, 0.125])
    """

    def __init__(self, eps: float | np.ndarray, k: int, m: int) -> None:
        if not 1 <= k <= m <= MAX_CODEWORDS:
            raise InputError(f"`k` must be from 1 to `m`, and `m` at most {MAX_CODEWORDS}; got k={k} and m={m}.")
        self.k, self.m = int(k), int(m)
        self.threshold: int | np.ndarray
        if np.ndim(eps) == 0:
            self.threshold = largest_threshold(check_eps(eps), self.k, self.m)
        else:
            distinct, which = np.unique(np.asarray(eps, dtype=np.float64), return_inverse=True)
            limits = [largest_threshold(check_eps(value), self.k, self.m) for value in distinct.tolist()]
            self.threshold = np.array(limits, dtype=np.uint64)[which.reshape(-1)]

    def __repr__(self) -> str:
        return f"<Codebook of {self.m} codewords, {self.k} in a window>"

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n secrets: which of the window or, from k on, which of all codewords."""
        if np.ndim(self.threshold) and np.size(self.threshold) != n:
            raise InputError(f"`eps` holds {np.size(self.threshold)} values, but {n} draws were asked for.")
        limits, k, m = (np.asarray(value, dtype=np.uint64) for value in (self.threshold, self.k, self.m))
        draws = np.empty(n, dtype=np.uint16 if self.k + self.m <= 2**16 else np.uint32)
        for first in range(0, n, CHUNK):
            part = slice(first, min(first + CHUNK, n))
            size, own = part.stop - part.start, of_rows(rng, part)
            outside = np.flatnonzero(~_below(take_or_scalar(limits, part), size, own))
            draws[part] = uniform(k, size, own)
            draws[part][outside] = uniform(m, len(outside), of_rows(own, outside)) + np.uint32(self.k)
        return draws

    def apply(self, windows: np.ndarray, which: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Turn windows and draws into the numbers of reported codewords; nothing here is random.

        Parameters
        ----------
        windows : array of shape (rows, k)
            The distinct codewords of each window.
        which : array of int
            The row of each draw's secret.

        Examples
        --------
        >>> Codebook(1.0, k=2, m=4).apply(np.array([[1, 2]]), np.array([0, 0, 0, 0]), np.array([0, 1, 2, 5]))
        array([1, 2, 0, 3])
        """
        at = np.multiply(which, self.k, dtype=np.intp)
        at += draws
        reports = windows.ravel().take(at, mode="clip").astype(np.intp)
        np.copyto(reports, draws.astype(np.intp) - self.k, where=draws >= self.k)
        return reports

    def pmf(self, window: np.ndarray) -> np.ndarray:
        """Return the probability of each codeword for a secret with this window; for one eps."""
        probability = np.full(self.m, float((WORDS - self.threshold) / (WORDS * self.m)))
        probability[window] += float(self.threshold / (WORDS * self.k))
        return probability

    def expected_error(self, costs: np.ndarray, windows: np.ndarray) -> np.ndarray:
        """Return the mean cost of each secret's report.

        Parameters
        ----------
        costs : array of shape (n, m)
            What it costs to report each codeword for each secret, such as their distance.
        windows : array of shape (n, k)
            The window of each secret.

        Examples
        --------
        >>> Codebook(np.log(3), k=1, m=2).expected_error(np.array([[0.0, 1.0]]), np.array([[0]])).round(6)
        array([0.25])
        """
        inside = np.asarray(self.threshold / float(WORDS))
        near = np.take_along_axis(costs, np.asarray(windows, dtype=np.intp), axis=1).mean(axis=1)
        return inside * near + (1 - inside) * costs.mean(axis=1)


def largest_threshold(eps: float, k: int, m: int) -> int:
    """Return the largest T with ``T / k + (2**64 - T) / m <= exp(eps) * (2**64 - T) / m``, which may be 0.

    >>> largest_threshold(1e-300, 1, 2), largest_threshold(600.0, 1, 2) == 2**64 - 1
    (0, True)
    """
    return _threshold(eps, k, m)


@lru_cache(maxsize=4096)
def _threshold(eps: float, k: int, m: int) -> int:
    odds = (exp_lower_bound(eps) - 1) * k
    return int(WORDS * odds / (odds + m))


def is_private(threshold: int, eps: float, k: int, m: int) -> bool:
    """Say, in whole numbers, whether a threshold keeps ``eps``; for audits.

    >>> limit = largest_threshold(2.0, 18, 256)
    >>> is_private(limit, 2.0, 18, 256), is_private(limit + 1, 2.0, 18, 256)
    (True, False)
    """
    beyond = WORDS - threshold
    return 0 <= threshold < WORDS and threshold * m + beyond * k <= exp_lower_bound(eps) * beyond * k


def check_windows(windows: np.ndarray, k: int, m: int) -> bool:
    """Return whether every window holds exactly k distinct codewords of m; for audits.

    >>> check_windows(np.array([[0, 2], [1, 0]]), 2, 3), check_windows(np.array([[0, 0]]), 2, 3)
    (True, False)
    """
    if windows.ndim != 2 or windows.shape[1] != k or windows.dtype.kind not in "iu":
        return False
    ordered = np.sort(windows, axis=1)
    in_range = windows.size == 0 or (ordered[:, 0].min() >= 0 and ordered[:, -1].max() < m)
    return bool(in_range and np.all(ordered[:, 1:] > ordered[:, :-1]))


def _below(threshold: np.ndarray, n: int, rng: Source) -> np.ndarray:
    """Return which of n fresh 64-bit words are below the threshold; their last 48 bits are drawn only if needed."""
    high = words(rng, n, np.uint16)
    top = (threshold >> np.uint64(48)).astype(np.uint16)
    below = high < top
    tied = np.flatnonzero(high == top)
    low = words(of_rows(rng, tied), len(tied), np.uint64) >> np.uint64(16)
    below[tied] = low < (take_or_scalar(threshold, tied) & np.uint64(2**48 - 1))
    return below
