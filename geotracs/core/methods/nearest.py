"""The nearest places: two levels over the k nearest places of a public set."""

import threading
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial import cKDTree

from geotracs.core.domains import Domain
from geotracs.core.mechanisms.base import Seen
from geotracs.core.mechanisms.subset import Subset
from geotracs.core.methods.base import PlaceMethod
from geotracs.core.places import on_sphere
from geotracs.core.randomness import Source

ENTRIES = 2**21
"""How many distances are held at a time."""
KEPT = 2**26
"""How many neighbours are kept for the other blocks of locations."""
BY_TREE = 200
"""Up to this many neighbours are found through a tree, more by looking at all places."""


@dataclass(frozen=True)
class Nearest(PlaceMethod):
    """Report one of the k places nearest to the location with high probability, and any other place otherwise.

    Notes
    -----
    Public: the places, and the k that each epsilon gets: the one with the smallest expected error for a secret that is
    any of the places. Of places equally far, those that come first in the set are nearer, so that every neighbourhood
    has exactly k members. Paid for with all of epsilon: which neighbourhood it is. k-RR is k = 1.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> method, places = Nearest(), np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [5.0, 6.0]])
    >>> neighbourhoods = method.prepare(places, 1.0, Rectangle(0, 0, 9, 9))
    >>> neighbourhoods.size(1.0)
    2
    >>> method.pmf_of_one(3, None, 1.0, neighbourhoods).round(2)
    array([0.13, 0.13, 0.37, 0.37])
    """

    name: ClassVar[str] = "nearest"

    def prepare(self, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> "Neighbourhoods":
        """Return the neighbourhoods of these places; on the globe straight through it, which orders them alike."""
        return Neighbourhoods(on_sphere(places) if domain.in_degrees else places)

    def choose(
        self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, tables: "Neighbourhoods", rng: Source
    ) -> np.ndarray:
        """Return the reported place of each secret; see `PlaceMethod.choose`."""
        sizes = tables.size(eps)
        draws = Subset(eps, sizes, len(tables.places)).draw(len(secrets), rng)
        reports = np.empty(len(secrets), dtype=np.int64)
        for k in np.unique(sizes).tolist():
            rows = np.flatnonzero(np.broadcast_to(sizes == k, len(secrets)))
            rows = rows[np.argsort(secrets[rows], kind="stable")]
            distinct, which = np.unique(secrets[rows], return_inverse=True)
            for part in tables.parts(len(distinct)):
                begin, end = np.searchsorted(which, [part.start, part.stop])
                neighbours, own = tables.around(distinct[part], k), rows[begin:end]
                reports[own] = Subset.apply(Seen(neighbours, which[begin:end] - part.start), draws[own])
        return reports

    def pmf_of_one(self, secret: int, before: int | None, eps: float, tables: "Neighbourhoods") -> np.ndarray:
        """Return the probability of each place; see `PlaceMethod.pmf_of_one`."""
        k = int(tables.size(eps))
        return Subset(eps, k, len(tables.places)).pmf(tables.around(np.array([secret]), k)[0])


class Neighbourhoods:
    """The k nearest places of each place, and which k is best."""

    def __init__(self, places: np.ndarray) -> None:
        self.places = places
        self._tree = cKDTree(places)
        self._kept: dict[int, np.ndarray] = {}
        self._lock = threading.Lock()
        m = len(places)
        # Any of the places may be the secret; of a large set some stand for all.
        some = np.linspace(0, m - 1, min(m, max(16, ENTRIES // m))).astype(np.int64)
        sums = np.cumsum(np.sort(np.sqrt(self._squares(some)), axis=1), axis=1).mean(axis=0)
        self._anywhere = sums[-1]
        self._sizes = np.unique(np.round(2.0 ** np.arange(0, np.log2(max(m // 2, 1)) + 0.01, 0.25)).astype(np.int64))
        self._inside = sums[self._sizes - 1]

    def parts(self, n: int) -> list[slice]:
        """Cut n neighbourhoods into slices whose distances to all places fit in memory."""
        step = max(1, ENTRIES // len(self.places))
        return [slice(first, min(first + step, n)) for first in range(0, n, step)]

    def size(self, eps: float | np.ndarray) -> int | np.ndarray:
        """Return the size of the neighbourhoods with the smallest expected error."""
        distinct, which = np.unique(eps, return_inverse=True)
        odds = np.expm1(np.minimum(distinct, 200))[:, None]  # with more the smallest is best, and sums overflow
        errors = (self._anywhere + odds * self._inside) / (len(self.places) + odds * self._sizes)
        best = self._sizes[np.argmin(errors, axis=1)]
        return best[which] if np.ndim(eps) else int(best[0])

    def around(self, secrets: np.ndarray, k: int) -> np.ndarray:
        """Return the k places nearest to each of these, in the order of the set."""
        m = len(self.places)
        if 4 * len(secrets) < min(m, ENTRIES // m) or m * k > KEPT:
            return self._found(secrets, k)
        with self._lock:
            if k not in self._kept:
                every = [self._found(np.arange(m)[part], k).astype(np.int32) for part in self.parts(m)]
                self._kept = {k: np.concatenate(every)}
            kept = self._kept[k]
        return kept[secrets]

    def _found(self, secrets: np.ndarray, k: int) -> np.ndarray:
        if k > BY_TREE:
            square = self._squares(secrets)
            found = np.argpartition(square, k - 1, axis=1)[:, :k]
            last = np.take_along_axis(square, found[:, -1:], axis=1)
            tied = np.flatnonzero((square <= last).sum(axis=1) > k)
        else:
            distance, found = self._tree.query(self.places[secrets], k=k + 1)
            tied = np.flatnonzero(distance[:, k - 1] == distance[:, k])
        found = np.sort(found[:, :k], axis=1)
        found[tied] = self._by_number(secrets[tied], k)
        return found

    def _by_number(self, secrets: np.ndarray, k: int) -> np.ndarray:
        """Return the k nearest places where several are equally far: the first of these in the set."""
        square = self._squares(secrets)
        last = np.partition(square, k - 1, axis=1)[:, k - 1 : k]
        inside, tied = square < last, square == last
        inside |= tied & (np.cumsum(tied, axis=1) <= k - inside.sum(axis=1, keepdims=True))
        return np.nonzero(inside)[1].reshape(len(secrets), k)

    def _squares(self, secrets: np.ndarray) -> np.ndarray:
        return sum((x - x[secrets, None]) ** 2 for x in self.places.T)
