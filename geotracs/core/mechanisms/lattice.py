"""The exact lattice: integers decide, coordinates follow.

A textbook sampler in doubles is not private, because which doubles can come out depends on the secret (Mironov,
2012; Haney et al., 2022). Here the unit interval is ``CELLS`` cells, every draw is an integer, and the probabilities
are integers out of ``WORDS``; turning a cell into a coordinate is post-processing.
"""

import sys
from collections.abc import Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

import numpy as np

from geotracs.core.randomness import Source, of_rows, words
from geotracs.errors import InputError

CELLS = 2**32
WORDS = 2**64
BLOCK = 2**18
"""How many locations are processed at a time: enough to hide what a call costs, few enough for bounded memory."""

SAMPLED = 2**12
"""About how many values are looked at first when distinct ones are searched."""

FEW, HASHES = 1024, np.arange(1, 64, 2, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
"""Up to this many distinct values are found by a hash: a product with one of these odd numbers."""

LOW = 0 if sys.byteorder == "little" else 1
"""Which half of a 64-bit word in memory is the low one."""


def exp_lower_bound(eps: float) -> Fraction:
    """Return a rational in ``[1, exp(eps)]``, 59 digits close.

    ``Decimal.exp`` is correctly rounded, so its predecessor is below the true value.

    >>> float(exp_lower_bound(1.0))
    2.718281828459045
    """
    exact = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])  # whatever context the caller is in
    return max(Fraction(exact.next_minus(exact.exp(Decimal.from_float(float(eps))))), Fraction(1))


def threshold(eps: float, window: int, cells: int = CELLS) -> int:
    """Return the largest T with ``T / window <= exp(eps) * (WORDS - T) / (cells - window)``.

    A draw falls inside the window with probability ``T / WORDS``. The other side of the ratio is covered too: where
    ``cells`` divides ``WORDS``, T is never below the uniform share of the window, and the outside never likelier than
    the inside; otherwise an epsilon of less than about ``cells / WORDS``, which no T can keep, is refused.

    >>> threshold(1e-300, window=CELLS // 2) == WORDS // 2
    True
    """
    most = exp_lower_bound(eps)
    limit = int(WORDS * most * window / (most * window + cells - window))
    if (WORDS - limit) * window > most * limit * (cells - window):
        raise InputError(f"`eps` is too small for exact draws among {cells:,} values, got {eps:g}; take 1e-9 or more.")
    return limit


def two_level_ratio(threshold: int, window: int, cells: int = CELLS) -> Fraction:
    """Return how much likelier a cell is inside the window than outside it, or outside than inside; exactly.

    >>> two_level_ratio(WORDS * 3 // 4, window=1, cells=2)
    Fraction(3, 1)
    """
    inside, outside = Fraction(threshold, window), Fraction(WORDS - threshold, cells - window)
    return max(inside / outside, outside / inside)


def blocks(n: int) -> Iterator[slice]:
    """Cut n locations into slices of at most ``BLOCK``."""
    for first in range(0, n, BLOCK):
        yield slice(first, min(first + BLOCK, n))


def spread_offsets(stratum: int, u: np.ndarray, window: int, cells: int = CELLS) -> np.ndarray:
    """Return offsets inside the window (stratum 0) or outside it (stratum 1), for parts ``u`` of the way through it.

    >>> spread_offsets(1, np.array([0.0, 0.5]), window=2, cells=6)
    array([2, 4], dtype=uint32)
    """
    first, count = ((0, window), (window, cells - window))[stratum]
    return (first + np.floor(u * count)).astype(np.uint32)


def cells_of(x: np.ndarray, cells: int = CELLS) -> np.ndarray:
    """Return the cell of each number in ``[0, 1]``; whatever is outside goes to the nearest cell."""
    return np.clip(np.multiply(x, float(cells)), 0, cells - 1).astype(np.uint32)


def midpoints(cell: np.ndarray, cells: int = CELLS) -> np.ndarray:
    """Return the middle of each cell, a number in ``(0, 1)``."""
    return (cell + 0.5) / cells


def draw_offsets(
    n: int, window: int | np.ndarray, threshold: int | np.ndarray, rng: Source, cells: int = CELLS
) -> np.ndarray:
    """Draw, for each of n locations, how many cells after the first cell of its window the report lies.

    Inside the window that is ``0 .. window - 1``, outside ``window .. cells - 1``, counted around the end of the
    lattice. The secret is not needed, so all the randomness is here.
    """
    window, threshold = np.asarray(window, dtype=np.uint64), np.asarray(threshold, dtype=np.uint64)
    offsets = np.empty(n, dtype=np.uint32)
    for part in blocks(n):
        size, width, own = part.stop - part.start, take_or_scalar(window, part), of_rows(rng, part)
        outside = at_least(take_or_scalar(threshold, part), size, own)
        offsets[part] = uniform(width, size, own)
        width, own = take_or_scalar(width, outside), of_rows(own, outside)
        offsets[part][outside] = uniform(np.uint64(cells) - width, len(outside), own) + width.astype(np.uint32)
    return offsets


def at_least(threshold: np.ndarray, n: int, rng: Source) -> np.ndarray:
    """Return which of n fresh 64-bit words are >= the threshold.

    Of each word the first 16 bits are drawn, and the other 48 only where those are equal to the threshold's.
    """
    high = words(rng, n, np.uint16)
    top = (threshold >> np.uint64(48)).astype(np.uint16)
    candidates = np.flatnonzero(high >= top)
    tied = np.flatnonzero((high == top)[candidates])
    low = words(of_rows(rng, candidates[tied]), len(tied), np.uint64) >> np.uint64(16)
    limits = np.broadcast_to(threshold, n)[candidates[tied]] & np.uint64(2**48 - 1)
    return np.delete(candidates, tied[low < limits])


def uniform(among: np.ndarray, n: int, rng: Source) -> np.ndarray:
    """Return n integers uniform in ``0 .. among - 1``, where ``among`` is one bound for all or one for each.

    Lemire's method (2019): of the 2**32 words, those that would make some results likelier are drawn again.
    """
    surplus = (np.uint64(CELLS) % among).astype(np.uint32)
    product = words(rng, n, np.uint32).astype(np.uint64) * among
    low, high = product.view(np.uint32)[LOW::2], product.view(np.uint32)[1 - LOW :: 2]
    again = np.flatnonzero(low < surplus)
    while len(again):
        fresh = words(of_rows(rng, again), len(again), np.uint32)
        product[again] = fresh.astype(np.uint64) * take_or_scalar(among, again)
        again = again[low[again] < take_or_scalar(surplus, again)]
    return high


def distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values in order, and which of them each is, as ``np.unique`` does; fast where few recur.

    >>> distinct(np.array([4.0, 1.0, 4.0]))
    (array([1., 4.]), array([1, 0, 1]))
    """
    known = np.unique(values[:: max(1, len(values) // SAMPLED)])
    which = _look_up(known, values)
    missed = known[which] != values if len(values) else np.zeros(0, dtype=bool)
    if missed.any():
        known = np.union1d(known, values[missed])
        which = _look_up(known, values)
    return known, which


def _look_up(known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the index of each value among the known numbers; any index if it is not among them.

    By a table where a simple hash keeps few numbers apart: a search is a guess at every step for the processor.
    """
    if len(known) <= FEW:
        bits = (np.ascontiguousarray(array, dtype=np.float64).view(np.uint64) for array in (known, values))
        known_bits, value_bits = bits
        for factor in HASHES:
            slots = (known_bits * factor) >> np.uint64(48)
            if len(np.unique(slots)) == len(known):
                table = np.zeros(2**16, dtype=np.int64)
                table[slots] = np.arange(len(known))
                return table[(value_bits * factor) >> np.uint64(48)]
    return np.minimum(np.searchsorted(known, values), max(len(known) - 1, 0))


def first_of_each(which: np.ndarray) -> np.ndarray:
    """Return where each of the numbers 0, 1, ... first stands.

    >>> first_of_each(np.array([1, 0, 1]))
    array([1, 0])
    """
    first = np.empty(which.max(initial=-1) + 1, dtype=np.int64)
    first[which[::-1]] = np.arange(len(which))[::-1]
    return first


def take_or_scalar(values: np.ndarray, which: slice | np.ndarray) -> np.ndarray:
    """Return some of the values, or the one value that is for all."""
    return values if values.ndim == 0 else values[which]
