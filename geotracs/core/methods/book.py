"""A fitted codebook: public codewords over a region, and the table that turns a location into its window of k."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from geotracs.core.mechanisms.codebook import CHUNK, Codebook
from geotracs.core.methods.spaces import Space, squares
from geotracs.core.randomness import Source

BINS = 2**14
"""Into how many equal bins each axis is cut; every cell of the table is some of them."""
BY_TREE = 48
"""Up to this many neighbours are found through a tree, more by looking at all codewords."""
ENTRIES = 2**18
"""How many distances are processed at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Book:
    """Codewords of a region and the windows of its locations; all of it is public.

    The table is made when it is first needed, and stays behind when a book is pickled. Whatever it holds, the promise
    is kept as long as every row names exactly k distinct codewords: see `check_windows`.

    Parameters
    ----------
    level : float
        The epsilon for which the codewords were fitted. Others may use them; each has its own exact threshold.
    k : int
        Size of the windows.
    codewords : array of shape (m, 2)
        Inside the region.
    space : Space
        How distances are measured.
    low, size : (float, float)
        The rectangle that the table covers; whatever is outside goes to the nearest cell.
    cuts : (array of int, array of int)
        In which of the `BINS` of its axis each column, or row, of the table begins.

    Examples
    --------
    >>> words = np.array([[1.0, 1.0], [3.0, 1.0], [5.0, 1.0]])
    >>> halves = (np.array([0, BINS // 2]), np.array([0]))
    >>> book = Book(2.0, 2, words, Space((0.0, 0.0), 6.0), (0.0, 0.0), (6.0, 2.0), halves)
    >>> book.windows_of(np.array([[0.5, 1.0], [5.9, 0.1]]))
    array([[0, 1],
           [1, 2]], dtype=int16)
    >>> book.pmf(np.array([[0.5, 1.0]]), 2.0).round(2)
    array([[0.47, 0.47, 0.06]])
    """

    level: float
    k: int
    codewords: np.ndarray
    space: Space
    low: tuple[float, float]
    size: tuple[float, float]
    cuts: tuple[np.ndarray, np.ndarray]

    @property
    def m(self) -> int:
        """How many codewords there are."""
        return len(self.codewords)

    @property
    def digest(self) -> str:
        """A digest of all that a reader needs, with codewords to the millionth part of the region's extent."""
        scale = 360.0 if self.space.sphere else self.space.extent
        at = np.rint((self.codewords - self.space.low) / scale * 2.0**20).astype("<i8")
        parts = [repr((self.level, self.k, self.m)).encode(), np.ascontiguousarray(at).tobytes()]
        parts += [cuts.astype("<i4").tobytes() for cuts in self.cuts]
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def mechanism(self, eps: float | np.ndarray) -> Codebook:
        """Return the exact mechanism for an epsilon, or one for each location."""
        return Codebook(eps, self.k, self.m)

    def report(self, xy: np.ndarray, eps: float | np.ndarray, rng: Source) -> None:
        """Replace each location by its report; the draws do not see the locations."""
        mechanism = self.mechanism(eps)
        draws = mechanism.draw(len(xy), rng)
        for part in chunks(len(xy)):
            numbers = mechanism.apply(self.windows, self.rows(xy[part]), draws[part])
            for axis in (0, 1):
                xy[part, axis] = self._columns[axis].take(numbers)

    def rows(self, xy: np.ndarray) -> np.ndarray:
        """Return the row of `windows` of each location."""
        row = np.zeros(len(xy), dtype=np.intp)
        for axis, numbers in enumerate(self._numbers):
            part = xy[:, axis] - self.low[axis]
            if self.space.sphere and axis == 0:
                part %= 360.0
            part *= BINS / self.size[axis]
            bins = np.clip(part, 0, BINS - 1, out=part).astype(np.intp)
            row += numbers.take(bins, mode="clip")
        return row

    def windows_of(self, xy: np.ndarray) -> np.ndarray:
        """Return the k codewords of each location."""
        return np.asarray(self.windows[self.rows(xy)])

    def pmf(self, xy: np.ndarray, eps: float) -> np.ndarray:
        """Return the probability of each codeword, in a row for each location."""
        mechanism = self.mechanism(eps)
        return np.array([mechanism.pmf(window) for window in self.windows_of(xy)]).reshape(len(xy), self.m)

    def expected_error(self, xy: np.ndarray, eps: float) -> np.ndarray:
        """Return how far the report of each location is from it on average, in metres."""
        errors = np.empty(len(xy))
        step = max(1, ENTRIES // self.m)
        for first in range(0, len(xy), step):
            some = xy[first : first + step]
            costs = self.space.lengths(squares(self.space.embed(some), self.space.embed(self.codewords)))
            errors[first : first + step] = self.mechanism(eps).expected_error(costs, self.windows_of(some))
        return errors * self.space.extent

    @cached_property
    def windows(self) -> np.ndarray:
        """The table: the k codewords nearest to the middle of each cell, in ascending order, column by column."""
        middles = [
            low + (cuts + np.append(cuts[1:], BINS)) * (size / (2 * BINS))
            for low, size, cuts in zip(self.low, self.size, self.cuts, strict=True)
        ]
        at = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, 2)
        found = nearest(self.space.embed(at), self.space.embed(self.codewords), self.k)
        return np.sort(found, axis=1).astype(np.int16 if self.m <= 2**15 else np.int32)

    @cached_property
    def tree(self) -> cKDTree:
        """Finds the codeword that a report is, where the space is embedded."""
        return cKDTree(self.space.embed(self.codewords))

    @cached_property
    def _numbers(self) -> list[np.ndarray]:
        """For each bin of an axis the number of its column, as a multiple of the rows, or of its row."""
        each = [np.repeat(np.arange(len(cuts)), np.diff(cuts, append=BINS)) for cuts in self.cuts]
        return [each[0] * len(self.cuts[1]), each[1]]

    @cached_property
    def _columns(self) -> list[np.ndarray]:
        return [np.ascontiguousarray(column) for column in self.codewords.T]

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def __repr__(self) -> str:
        return f"<Book of {self.m} codewords, {self.k} in a window, fitted for epsilon {self.level:g}>"


def chunks(n: int) -> list[slice]:
    """Cut n locations into slices that stay in the processor's cache."""
    return [slice(first, min(first + CHUNK, n)) for first in range(0, n, CHUNK)]


def nearest(points: np.ndarray, codewords: np.ndarray, k: int) -> np.ndarray:
    """Return the numbers of the k codewords nearest to each point, in a row of k distinct ones.

    >>> nearest(np.array([[0.1, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0], [9.0, 0.0]]), 1)
    array([[1]])
    """
    if k <= BY_TREE and k < len(codewords):
        return np.asarray(cKDTree(codewords).query(points, k=k)[1]).reshape(len(points), k)
    found = np.empty((len(points), k), dtype=np.intp)
    step = max(1, ENTRIES // len(codewords))
    for first in range(0, len(points), step):
        square = squares(points[first : first + step], codewords)
        found[first : first + step] = np.argpartition(square, k - 1, axis=1)[:, :k]
    return found
