"""Integers counted out: exact ratios of what a mechanism draws, against bounds of exp(eps) made in another way."""

import functools
from fractions import Fraction
from typing import Any

import numpy as np

from geotracs.core.mechanisms.lattice import CELLS, WORDS, cells_of, midpoints, two_level_ratio

ALL = 2**10
"""Up to so many cells every secret and every draw is looked at..."""
SOME = 2**10
"""...and of more about so many secrets..."""
DRAWS = 64
"""...with about so many draws each, the first and the last of the window and of the rest among them."""
TERMS, DIGITS = 60, 10**400
NEAR = 1e-9
"""Doubles preselect: all within this of the worst are compared as fractions."""


@functools.cache
def exp_bounds(eps: float) -> tuple[Fraction, Fraction]:
    """Return rational bounds of exp(eps), by the Taylor series of exp(eps / 2**k) and squaring: not as draws are made.

    >>> low, high = exp_bounds(1.0)
    >>> float(low), low < high, high - low < Fraction(1, 10**90)
    (2.718281828459045, True, True)
    """
    halvings = max(0, int(eps).bit_length() + 8)
    x = Fraction(eps) / 2**halvings
    term, low = Fraction(1), Fraction(1)
    for k in range(1, TERMS):
        term = term * x / k
        low += term
    high = low + 2 * term
    for _ in range(halvings):
        low, high = low * low, high * high
        low = Fraction(int(low * DIGITS), DIGITS)
        high = Fraction(int(high * DIGITS) + 1, DIGITS)
    return low, high


def keeps(ratio: Fraction | None, eps: float) -> bool:
    """Return whether a ratio is at most exp(eps), for certain; None stands for an infinite one.

    >>> keeps(Fraction(2), 0.7), keeps(Fraction(2), 0.69), keeps(None, 100.0)
    (True, False, False)
    """
    return ratio is not None and ratio <= exp_bounds(eps)[0]


def worst_of_rows(rows: np.ndarray) -> Fraction | None:
    """Return the worst ratio of a column, where each row holds whole weights that are drawn in proportion; exactly.

    None where a column is possible for one secret and impossible for another.

    >>> worst_of_rows(np.array([[3, 1], [1, 1]]))
    Fraction(2, 1)
    >>> worst_of_rows(np.array([[3, 1], [1, 0]])) is None
    True
    """
    totals = [sum(row) for row in rows.tolist()]
    shares = rows / np.array(totals, dtype=np.float64)[:, None]
    possible = rows > 0
    if np.any(possible.any(axis=0) != possible.all(axis=0)):
        return None
    shares = shares[:, possible.all(axis=0)]
    rows = rows[:, possible.all(axis=0)]
    most, least = shares.max(axis=0), shares.min(axis=0)
    worst = Fraction(1)
    for column in np.flatnonzero(most / least >= (most / least).max() * (1 - NEAR))[:ALL].tolist():
        high = np.flatnonzero(shares[:, column] >= most[column] * (1 - NEAR)).tolist()
        low = np.flatnonzero(shares[:, column] <= least[column] * (1 + NEAR)).tolist()
        top = max(Fraction(int(rows[i, column]), totals[i]) for i in high[:ALL])
        bottom = min(Fraction(int(rows[i, column]), totals[i]) for i in low[:ALL])
        worst = max(worst, top / bottom)
    return worst


def worst_of_draws(reports: np.ndarray, window: int, threshold: int, count: int) -> Fraction | None:
    """Return the worst ratio of any report, given what every draw reports for every secret; exactly.

    Parameters
    ----------
    reports : array of int, shape (secrets, draws)
        Which of ``count`` things each draw reports. The first ``window`` draws share ``threshold`` out of 2**64 words
        evenly, the others the rest.

    Examples
    --------
    Two values, the truth in 3 of 4 cases:

    >>> worst_of_draws(np.array([[0, 1], [1, 0]]), 1, 3 * 2**62, 2)
    Fraction(3, 1)
    """
    if reports.min() < 0 or reports.max() >= count:
        return None
    inside, outside = (counted(reports[:, part], count) for part in (slice(0, window), slice(window, None)))
    high, low = Fraction(threshold, window), Fraction(0)
    if outside.any():
        low = Fraction(WORDS - threshold, reports.shape[1] - window)
    worst = Fraction(1)
    for column in range(count):
        pairs = np.unique(np.stack([inside[:, column], outside[:, column]]), axis=1).T.tolist()
        masses = [a * high + b * low for a, b in pairs]
        if min(masses) == 0 and max(masses) > 0:
            return None
        if max(masses) > 0:
            worst = max(worst, max(masses) / min(masses))
    return worst


def counted(reports: np.ndarray, count: int) -> np.ndarray:
    """Return how often each thing is in each row.

    >>> counted(np.array([[0, 0, 2]]), 3)
    array([[2, 0, 1]])
    """
    rows = np.arange(len(reports))[:, None] * count + reports
    return np.bincount(rows.ravel(), minlength=len(reports) * count).reshape(len(reports), count)


def on_the_unit(mechanism: Any) -> tuple[Fraction | None, int]:
    """Return the worst ratio of a two-level mechanism on the unit interval or circle, and how many secrets were tried.

    On a small lattice all secrets and all draws are looked at. On a large one it is checked that for every secret that
    is tried each draw reports another cell, counted from the first one of its window, and that windows do not wrap
    around the ends of an interval; then the ratio follows from the sizes.
    """
    cells = int(getattr(mechanism, "cells", CELLS))
    window, threshold = int(mechanism.window), int(mechanism.threshold)
    secrets, draws = _secrets(cells, window), _draws(cells, window)
    x = midpoints(secrets, cells)[:, None]
    reports = cells_of(mechanism.apply(x, draws.astype(np.uint32)[None]), cells).astype(np.int64)
    if cells <= ALL:
        return worst_of_draws(reports, window, threshold, cells), len(secrets)
    first = reports[:, :1]
    in_order = np.array_equal((first + draws) % cells, reports)
    periodic = getattr(mechanism, "periodic", True)
    if not in_order or not (periodic or bool((first + window <= cells).all())) or not 0 < threshold < WORDS:
        return None, len(secrets)
    return two_level_ratio(threshold, window, cells), len(secrets)


def on_the_square(mechanism: Any, side: int) -> tuple[Fraction | None, int]:
    """Return the worst ratio of a window in the unit square, and how many secrets were tried.

    Every window that is tried must have the same number of cells, and hold what is drawn inside it and nothing else.
    """
    rng = np.linspace(0, 1, 12)
    secrets = np.stack(np.meshgrid(rng, rng), axis=-1).reshape(-1, 2)
    columns, rows, cells = int(mechanism.columns), int(mechanism.rows), int(mechanism.cells)
    draws = np.stack(np.meshgrid(_some(side, columns, 8), _some(side, rows, 8)), axis=0).reshape(2, -1)
    inside = (draws[0] < columns) & (draws[1] < rows)
    for x in secrets:
        (left, right), (low, high) = ((round(begin * side), round(end * side)) for begin, end in mechanism.rectangle(x))
        if (right - left) * (high - low) != cells:
            return None, len(secrets)
        own = mechanism.apply(np.repeat(x[None], draws.shape[1], axis=0), draws.astype(np.uint32))
        at = [cells_of(own[:, axis], side).astype(np.int64) for axis in (0, 1)]
        there = ((at[0] - left) % side < right - left) & ((at[1] - low) % side < high - low)
        if not np.array_equal(there, inside) or len(set(zip(*(a.tolist() for a in at), strict=True))) != len(inside):
            return None, len(secrets)
    return two_level_ratio(int(mechanism.threshold), cells, side * side), len(secrets)


def _secrets(cells: int, window: int) -> np.ndarray:
    if cells <= ALL:
        return np.arange(cells)
    half = window // 2
    ends = np.array(
        [0, 1, half - 1, half, half + 1, cells - half - 1, cells - half, cells - half + 1, cells - 2, cells - 1]
    )
    return np.unique(np.clip(np.concatenate([ends, np.linspace(0, cells - 1, SOME).astype(np.int64)]), 0, cells - 1))


def _draws(cells: int, window: int) -> np.ndarray:
    return np.arange(cells) if cells <= ALL else _some(cells, window, DRAWS)


def _some(cells: int, window: int, count: int) -> np.ndarray:
    """Return some draws in ascending order: the first, the last before and the first after the window, and others."""
    ends = np.array([0, 1, window - 1, window, window + 1, cells - 1])
    return np.unique(np.clip(np.concatenate([ends, np.linspace(0, cells - 1, count).astype(np.int64)]), 0, cells - 1))
