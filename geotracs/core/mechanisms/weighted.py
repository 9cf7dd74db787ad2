"""Exact draws among a finite number of things, each with a weight that is a whole number.

A thing of weight w among things of weight W in all is drawn with probability w / W, exactly: what the weights promise,
the draws keep.
"""

import numpy as np

from geotracs.core.randomness import Source, of_rows, words

HEAVIEST = 2**40
"""The largest weight: no weight needs to be lighter than 1e-12 of another."""
MAX_WEIGHTS = 2**22
"""How many weights fit into one draw, so that their sum stays below 2**63."""


def draw(weights: np.ndarray, rows: np.ndarray, rng: Source) -> np.ndarray:
    """Draw a column for each of ``rows``, with probabilities in proportion to the weights of that row.

    Parameters
    ----------
    weights : array of int, shape (r, m)
        Whole numbers from 0 to `HEAVIEST`, at most `MAX_WEIGHTS` in all, and none of the rows all 0.
    rows : array of int
        Row of each draw.

    Examples
    --------
    >>> draw(np.array([[0, 7, 0], [0, 0, 1]]), np.array([1, 0, 0]), np.random.default_rng(0))
    array([2, 1, 1])
    """
    columns = weights.shape[1]
    up_to = np.cumsum(weights, dtype=np.uint64)
    ends = up_to[columns - 1 :: columns]
    begins = np.concatenate([[np.uint64(0)], ends[:-1]])
    targets = begins[rows] + below((ends - begins)[rows], rng)
    return np.searchsorted(up_to, targets, side="right") - rows * columns


def below(limits: np.ndarray, rng: Source) -> np.ndarray:
    """Return an integer for each limit, uniform in ``0 .. limit - 1``; words that would favour some are drawn again.

    >>> below(np.array([1, 1], dtype=np.uint64), np.random.default_rng(0))
    array([0, 0], dtype=uint64)
    """
    last = ~((-limits) % limits)  # 2**64 - 1 less the surplus of words over a multiple of the limit
    drawn = words(rng, len(limits), np.uint64).copy()
    again = np.flatnonzero(drawn > last)
    while len(again):
        drawn[again] = words(of_rows(rng, again), len(again), np.uint64)
        again = again[drawn[again] > last[again]]
    return drawn % limits


def probabilities(weights: np.ndarray) -> np.ndarray:
    """Return the probability with which each weight is drawn, row by row.

    >>> probabilities(np.array([[1, 3]]))
    array([[0.25, 0.75]])
    """
    return weights / weights.sum(axis=-1, keepdims=True)
