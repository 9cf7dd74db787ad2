"""One window in the unit square, with all of epsilon on it: two-level densities are the extreme points of LDP."""

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from geotracs.core.budget import check_eps
from geotracs.core.mechanisms.lattice import (
    WORDS,
    at_least,
    blocks,
    cells_of,
    distinct,
    first_of_each,
    midpoints,
    take_or_scalar,
    threshold,
    uniform,
)
from geotracs.core.randomness import Source, of_rows, source, words
from geotracs.errors import InputError

SIDE = 2**31
"""Cells along each axis, so that those of the square fit in 64 bits."""
STRETCHES = np.array([1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1, 3 / 2, 2, 3, 4, 6, 8])
"""How many times wider, and as many times lower, a window may be made: all of these keep its number of cells..."""
MULTIPLE = 48
"""...where columns and rows are multiples of this."""
PLAIN = 6
"""The index of the unstretched window."""
NODES, WEIGHTS = (np.polynomial.legendre.leggauss(16)[i] for i in (0, 1))


class Window:
    """Report a point near the secret with high probability, and anywhere else in the unit square otherwise.

    Exactly ``eps``-LDP on a lattice of ``SIDE`` x ``SIDE`` cells: every secret has a window of exactly `cells` cells,
    a rectangle that holds it and stays inside the square (or wraps around a periodic axis); the report is uniform in
    the window with probability ``threshold / 2**64`` and uniform over the other cells otherwise.

    Parameters
    ----------
    eps : float, or array of floats
        Privacy parameter, in (0, 700). An array gives each location its own.
    width, height : float, or arrays of floats as long as ``eps``
        Sides of the window, as parts of the square's; it may cover at most half of it.
    periodic : (bool, bool)
        Which axes are circles.
    stretch : array of int, optional
        A square table over the unit square, column by column, of which of `STRETCHES` the windows of the secrets
        there have. It is public, and all windows have the same number of cells, so that it does not touch the promise.

    Examples
    --------
    >>> near = Window(4, 0.2, 0.2)
    >>> round(near.threshold / 2**64, 2)
    0.69
    >>> near.sample(np.array([[0.5, 0.5], [0.1, 0.9]])).shape
    (2, 2)
    """

    def __init__(
        self,
        eps: float | np.ndarray,
        width: float | np.ndarray,
        height: float | np.ndarray,
        *,
        periodic: tuple[bool, bool] = (False, False),
        stretch: np.ndarray | None = None,
    ) -> None:
        self.periodic, self.stretch = tuple(periodic), stretch
        self.eps: float | np.ndarray
        self.columns: int | np.ndarray
        self.rows: int | np.ndarray
        self.threshold: int | np.ndarray
        if np.ndim(eps) == 0:
            self.eps = check_eps(eps)
            self.columns, self.rows, self.threshold = _two_levels(self.eps, float(width), float(height))
        else:
            self.eps = np.asarray(eps, dtype=np.float64)
            asked, which = _asked(self.eps, width, height)
            levels = [_two_levels(check_eps(e), w, h) for e, w, h in asked.tolist()]
            self.columns, self.rows = (np.array([level[i] for level in levels], dtype=np.int64)[which] for i in (0, 1))
            self.threshold = np.array([level[2] for level in levels], dtype=np.uint64)[which]
        self.cells = self.columns * self.rows

    def __repr__(self) -> str:
        eps = f"{self.eps:g}" if np.ndim(self.eps) == 0 else f"{np.size(self.eps)} values"
        return f"<Window eps={eps} on the unit square>"

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n locations, without the secrets.

        Returns, in two rows, how many columns and rows after the first of its window each report lies, counted around
        the ends of the lattice, for windows that are not stretched.
        """
        if np.ndim(self.columns) and np.size(self.columns) != n:
            raise InputError(f"`eps` holds {np.size(self.columns)} values, but {n} draws were asked for.")
        sides = [np.asarray(side, dtype=np.uint64) for side in (self.columns, self.rows)]
        limit = np.asarray(self.threshold, dtype=np.uint64)
        draws = np.empty((2, n), dtype=np.uint32)
        for part in blocks(n):
            size, own = part.stop - part.start, [take_or_scalar(side, part) for side in sides]
            words_of_part = of_rows(rng, part)
            outside = at_least(take_or_scalar(limit, part), size, words_of_part)
            columns, rows = (take_or_scalar(side, outside) for side in own)
            elsewhere = _elsewhere(columns, rows, len(outside), of_rows(words_of_part, outside))
            for axis in (0, 1):
                draws[axis, part] = uniform(own[axis], size, words_of_part)
                draws[axis, part][outside] = elsewhere[axis]
        return draws

    def apply(self, x: np.ndarray, draws: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Turn secrets, an array of shape (n, 2), and draws into reports in (0, 1); nothing here is random."""
        reports = np.empty((2, len(x))).T if out is None else out
        cells = [cells_of(x[:, axis], SIDE) for axis in (0, 1)]
        sides = self._sides(cells)
        beyond: Sequence[np.ndarray] | np.ndarray = draws
        if self.stretch is not None:
            column, row = draws.astype(np.uint64)
            beyond = _in_order(_numbers(column, row, self.columns, self.rows), *sides)
        for axis in (0, 1):
            cell = (self._first(cells[axis], sides[axis], axis) + beyond[axis]) & np.uint32(SIDE - 1)
            reports[:, axis] = midpoints(cell, SIDE)
        return reports

    def sample(self, x: np.ndarray, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """Report each row of ``x``, which must lie in the unit square."""
        x = _unit(x)
        return self.apply(x, self.draw(len(x), source(rng)))

    @property
    def strata(self) -> tuple[float, ...]:
        """How likely a draw is inside the window, and outside it; for one eps."""
        inside = float(self.threshold / WORDS)
        return inside, 1 - inside

    def spread(self, stratum: int, u: np.ndarray) -> np.ndarray:
        """Return draws that stand for all of a stratum, for rows spread evenly over the unit square."""
        columns, rows = float(self.columns), float(self.rows)
        if stratum == 0:
            return np.floor(u * [columns, rows]).astype(np.uint32).T
        # Outside: the cells above the window, and those of the other columns.
        above, aside = columns * (SIDE - rows), (SIDE - columns) * SIDE
        share = above / (above + aside)
        lower = u[:, 0] < share
        column = np.where(lower, u[:, 0] / max(share, 1e-300) * columns, 0.0)
        column = np.where(lower, column, columns + (u[:, 0] - share) / (1 - share) * (SIDE - columns))
        row = np.where(lower, rows + u[:, 1] * (SIDE - rows), u[:, 1] * SIDE)
        return np.floor(np.minimum([column, row], SIDE - 1.0)).astype(np.uint32)

    def density(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the probability density of reporting ``y`` when the secret is ``x``, row by row."""
        y, x = np.broadcast_arrays(_unit(y), _unit(x))
        cells = [cells_of(x[:, axis], SIDE) for axis in (0, 1)]
        inside = np.ones(len(x), dtype=bool)
        for axis, side in enumerate(self._sides(cells)):
            beyond = cells_of(y[:, axis], SIDE) - self._first(cells[axis], side, axis)
            inside &= (beyond & np.uint32(SIDE - 1)) < side
        return np.where(inside, *self._heights)

    def densities(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the density of each of ``y`` for each of ``x``, one row per secret, for one epsilon; see `density`."""
        y, x = _unit(y), _unit(x)
        cells = [cells_of(x[:, axis], SIDE) for axis in (0, 1)]
        inside = np.ones((len(x), len(y)), dtype=bool)
        for axis, side in enumerate(self._sides(cells)):
            beyond = cells_of(y[:, axis], SIDE) - self._first(cells[axis], side, axis)[:, None]
            inside &= (beyond & np.uint32(SIDE - 1)) < np.reshape(side, (-1, 1))
        return np.where(inside, *self._heights)

    def rectangle(self, x: npt.ArrayLike) -> list[tuple[float, float]]:
        """Return where the window of one secret begins and ends, on each axis; around a circle beyond 0 and 1."""
        cells = [cells_of(_unit(x)[:, axis], SIDE) for axis in (0, 1)]
        ends = []
        for axis, side in enumerate(self._sides(cells)):
            first = int(self._first(cells[axis], side, axis).astype(np.int32)[0])
            ends.append((first / SIDE, (first + int(np.ravel(side)[0])) / SIDE))
        return ends

    def expected_error(self, x: np.ndarray | None = None, size: tuple[float, float] = (1.0, 1.0)) -> float | np.ndarray:
        """Return the mean distance between a report and its secret, for windows that are not stretched.

        Parameters
        ----------
        x : array of shape (n, 2), optional
            Secrets. Without them the mean over the whole square is returned.
        size : (float, float)
            Width and height of the region that the square stands for.

        Examples
        --------
        >>> round(float(Window(4, 0.3, 0.3).expected_error()), 4)
        0.1952
        """
        sides = np.array([self.columns, self.rows]) / SIDE * size
        inside, outside = (height / (size[0] * size[1]) for height in self._heights)
        if x is not None:
            places = [self._positions(_unit(x)[:, i] * size[i], sides[i], size[i], i) for i in (0, 1)]
            (column, across), (row, up) = places
            return outside * _around(across, up, size) + (inside - outside) * _around(column, row, sides)
        everywhere = [[(s / 2, 1.0)] if p else _spread(s) for s, p in zip(size, self.periodic, strict=True)]
        near = [  # near an end the window stands still and the secret is anywhere in it, elsewhere in its middle
            [(w / 2, 1.0)] if p else [(w / 2, 1 - w / s), *((at, c * w / s) for at, c in _spread(w))]
            for w, s, p in zip(sides, size, self.periodic, strict=True)
        ]
        return outside * _mean(everywhere, size) + (inside - outside) * _mean(near, sides)

    def _positions(self, x: np.ndarray, side: float, length: float, axis: int) -> tuple[np.ndarray, np.ndarray]:
        """Return where secrets lie in their window and in the region, from its beginning; around a circle, midway."""
        if self.periodic[axis]:
            return np.full_like(x, side / 2), np.full_like(x, length / 2)
        return x - np.clip(x - side / 2, 0, length - side), x

    def _sides(self, cells: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns and rows of the windows of these secrets: one for all, or one for each."""
        columns, rows = np.asarray(self.columns), np.asarray(self.rows)
        if self.stretch is None:
            return columns.astype(np.uint64), rows.astype(np.uint64)
        shift = np.uint32(SIDE.bit_length() - len(self.stretch).bit_length())
        which = self.stretch[cells[0] >> shift, cells[1] >> shift]
        widest = np.searchsorted(STRETCHES, SIDE / columns, side="right") - 1
        lowest = np.searchsorted(STRETCHES, rows / SIDE, side="left")
        times = STRETCHES[np.clip(which, lowest, widest)]
        return (columns * times).astype(np.uint64), (rows / times).astype(np.uint64)

    def _first(self, cells: np.ndarray, side: np.ndarray, axis: int) -> np.ndarray:
        """Return the first column or row of each window; below 0 they count down from 2**32."""
        half = (side // np.uint64(2)).astype(np.uint32)
        if not self.periodic[axis]:
            cells = np.clip(cells, half, (np.uint64(SIDE) - side).astype(np.uint32) + half)
        with np.errstate(over="ignore"):
            return cells - half

    @cached_property
    def _heights(self) -> tuple[float | np.ndarray, float | np.ndarray]:
        # In 64-bit words, 2**64 - T is -T.
        beyond = WORDS - self.threshold if np.ndim(self.threshold) == 0 else -self.threshold
        area = (self.columns / SIDE) * (self.rows / SIDE)
        return self.threshold / float(WORDS) / area, beyond / float(WORDS) / (1 - area)


@lru_cache(maxsize=4096)
def _two_levels(eps: float, width: float, height: float) -> tuple[int, int, int]:
    if not (0 <= width <= 1 and 0 <= height <= 1 and width * height < 0.5 + 1e-9):
        raise InputError(
            "`width` and `height` of a window must lie in [0, 1], and it may cover at most half of the square."
        )
    columns, rows = (MULTIPLE * max(1, int(side * (SIDE // MULTIPLE))) for side in (width, height))
    return columns, rows, threshold(eps, columns * rows, SIDE * SIDE)


def _asked(eps: np.ndarray, width: float | np.ndarray, height: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct windows that are asked for, as rows (eps, width, height), and which of them each is."""
    given = [eps, *(np.broadcast_to(side, eps.shape) for side in (width, height))]
    _, which = distinct(eps)
    first = first_of_each(which)
    # As a rule the sides depend on epsilon alone, and sorting rows takes twenty times as long as finding that out.
    if all(np.array_equal(values[first][which], values) for values in given[1:]):
        return np.column_stack([values[first] for values in given]), which
    rows, which = np.unique(np.column_stack(given), axis=0, return_inverse=True)
    return rows, which.reshape(-1)  # numpy 2.0 keeps a second axis


def _elsewhere(columns: np.ndarray, rows: np.ndarray, n: int, rng: Source) -> np.ndarray:
    """Return n cells uniform over the square without its first columns and rows: those inside are drawn again."""
    cells = words(rng, 2 * n, np.uint32).reshape(2, n) >> np.uint32(1)
    again = np.flatnonzero((cells[0] < columns) & (cells[1] < rows))
    while len(again):
        fresh = words(of_rows(rng, again), 2 * len(again), np.uint32)
        cells[:, again] = fresh.reshape(2, -1) >> np.uint32(1)
        again = again[
            (cells[0, again] < take_or_scalar(columns, again)) & (cells[1, again] < take_or_scalar(rows, again))
        ]
    return cells


def _numbers(column: np.ndarray, row: np.ndarray, columns: int | np.ndarray, rows: int | np.ndarray) -> np.ndarray:
    """Number the cells of the square: those of a window at its beginning, those above it, then the other columns."""
    columns, rows = np.asarray(columns, dtype=np.uint64), np.asarray(rows, dtype=np.uint64)
    side = np.uint64(SIDE)
    above = columns * rows + column * (side - rows) + (row - rows)
    return np.where(column >= columns, column * side + row, np.where(row < rows, column * rows + row, above))


def _in_order(numbers: np.ndarray, columns: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return column and row of the cells with these numbers, where the window has these columns and rows."""
    column = numbers // rows
    row = numbers - column * rows
    outside = np.flatnonzero(numbers >= columns * rows)
    numbers, columns, rows = numbers[outside], take_or_scalar(columns, outside), take_or_scalar(rows, outside)
    over, among = numbers - columns * rows, np.maximum(np.uint64(SIDE) - rows, np.uint64(1))
    aside = numbers >= columns * np.uint64(SIDE)
    column[outside] = np.where(aside, numbers // np.uint64(SIDE), over // among)
    row[outside] = np.where(aside, numbers % np.uint64(SIDE), rows + over % among)
    return column.astype(np.uint32), row.astype(np.uint32)


def _corner(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the integral of the distance from the corner over a rectangle of sides a and b."""
    a, b = np.maximum(a, 1e-300), np.maximum(b, 1e-300)
    return (2 * a * b * np.hypot(a, b) + a**3 * np.arcsinh(b / a) + b**3 * np.arcsinh(a / b)) / 6


def _around(x: np.ndarray, y: np.ndarray, size: tuple[float, float] | np.ndarray) -> np.ndarray:
    """Return the integral of the distance from (x, y) over the rectangle from (0, 0) to ``size``."""
    return sum((_corner(a, b) for a in (x, size[0] - x) for b in (y, size[1] - y)), start=np.zeros(()))


def _spread(length: float) -> list[tuple[float, float]]:
    """Return nodes and weights of a mean over ``[0, length]``."""
    return list(zip(length * (NODES + 1) / 2, WEIGHTS / 2, strict=True))


def _mean(places: list[list[tuple[float, float]]], size: tuple[float, float] | np.ndarray) -> float:
    """Return the mean of `_around` over weighted places on each axis."""
    (x, p), (y, q) = (np.array(axis).T for axis in places)
    return float(p @ _around(x[:, None], y[None, :], size) @ q)


def _unit(x: npt.ArrayLike) -> np.ndarray:
    x = np.atleast_2d(np.asarray(x, dtype=np.float64))
    if x.shape[1] != 2 or not np.all((x >= 0) & (x <= 1)):
        raise InputError("Points for a mechanism on the unit square must be rows of two numbers in [0, 1].")
    return x
