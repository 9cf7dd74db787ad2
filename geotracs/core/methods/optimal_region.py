"""The optimal method on a region: the smallest mean error that epsilon allows, by codebooks."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np
import shapely

from geotracs.core.domains import Disc, Domain, Transport
from geotracs.core.mechanisms.lattice import WORDS
from geotracs.core.methods import book_cache
from geotracs.core.methods.base import Method
from geotracs.core.methods.book import Book
from geotracs.core.methods.channels import Channel, Reports
from geotracs.core.methods.codebooks import LARGEST, MAX_ROUNDS, Progress, level
from geotracs.core.methods.joint import Joint
from geotracs.core.places import Places
from geotracs.core.randomness import Key, Source

Find = Callable[[float], Book]


@dataclass(frozen=True)
class OptimalRegion(Method):
    """Report one of the codewords nearest to the location with high probability, and any codeword otherwise.

    Notes
    -----
    Public: the codewords, fitted to points that the region spreads over itself or over its prior, and the table that
    gives every location its window of exactly k codewords. Paid for with all of epsilon: which window it is. Epsilons
    share the codewords of a `level`; each has its own exact threshold. Beyond epsilon 10, where `joint` is within 2.5%
    of the optimum, reports are those of `joint`.

    Reports are right for errors and wrong for maps: they stay off the border, and shrink to the middle of the region
    as epsilon falls.
    """

    name: ClassVar[str] = "optimal"

    @property
    def shares(self) -> dict[str, float]:
        """All of epsilon for the location."""
        return {"location": 1.0}

    def check(self, domain: Domain) -> None:
        """Accept every region: all can spread points over themselves."""

    def on(
        self,
        domain: Domain,
        places: Places | None = None,
        eps: float | np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> Channel:
        """Return the method bound to a region, with the codebooks of all epsilons that are given."""
        self.check(domain)
        return cast(Channel, OnCodebooks(self, domain, books(domain, () if eps is None else eps, progress)))

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        domain: Domain,
        rng: Source,
        before: np.ndarray | None = None,
    ) -> None:
        """Replace each location by its report; see `Method.report`."""
        _report(xy, eps, domain, lambda at: book_cache.book(domain, at), rng)

    def window_of(
        self, x: tuple[float, float], eps: float, domain: Domain, reference: tuple[float, float] | None = None
    ) -> tuple[shapely.Polygon, float]:
        """Return the hull of a location's window, and the probability of a report from it; see `Method.window_of`."""
        if eps > LARGEST:
            return Joint().window_of(x, eps, beyond(domain), reference)
        found = book_cache.book(domain, eps)
        window = found.windows_of(np.array([x], dtype=np.float64))[0]
        hull = shapely.MultiPoint(found.codewords[window]).convex_hull
        if not isinstance(hull, shapely.Polygon):
            hull = hull.buffer(1e-3 * found.space.extent if not found.space.sphere else 0.1)
        inside = int(found.mechanism(eps).threshold) / WORDS
        return hull, inside + (1 - inside) * found.k / found.m


def books(domain: Domain, eps: Any, progress: Progress | None = None) -> dict[float, Book]:
    """Return the codebooks of these epsilons by their levels; none for those beyond `LARGEST`.

    ``progress`` is told rounds; there are `n_rounds` in all.
    """
    return {at: book_cache.book(domain, at, progress) for at in levels(eps)}


def n_rounds(eps: Any) -> int:
    """Return how many rounds `books` tells its ``progress``.

    >>> n_rounds([0.5, 0.51, 600.0]) == MAX_ROUNDS
    True
    """
    return MAX_ROUNDS * len(levels(eps))


def levels(eps: Any) -> list[float]:
    """Return the levels of these epsilons.

    >>> levels([0.5, 0.51, 4.0, 600.0])
    [0.5, 4.0]
    """
    distinct = np.unique(np.asarray(eps, dtype=np.float64))
    return np.unique(level(distinct[distinct <= LARGEST])).tolist()


def beyond(domain: Domain) -> Domain:
    """Return the region as `joint` sees it beyond `LARGEST`: one without two coordinates gets a chart."""
    return Transport(domain) if isinstance(domain, Disc) else domain


@dataclass(frozen=True, eq=False, repr=False)
class OnCodebooks:
    """The method on a region, with its codebooks: they travel with it, and their tables are made where it is used."""

    method: OptimalRegion
    domain: Domain
    books: dict[float, Book] = field(default_factory=dict)
    over: ClassVar[str] = "region"

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        rng: Source,
        before: np.ndarray | None = None,
    ) -> None:
        """Replace locations by their reports; see `Channel.report`."""
        _report(xy, eps, self.domain, self.book, rng)

    def sample(self, xy: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, rng: Source) -> Reports:
        """Return what is reported of locations; see `Channel.sample`."""
        reports = np.asfortranarray(xy, dtype=np.float64).copy(order="F")
        self.report(reports, offsets, eps, Key.fresh(rng).stream(0))
        self.domain.project_inside(reports)
        return Reports(reports, None)

    def book(self, eps: float) -> Book:
        """Return the codebook of an epsilon up to `LARGEST`."""
        found = self.books.get(float(level(eps)))
        return book_cache.book(self.domain, eps) if found is None else found


def _report(xy: np.ndarray, eps: float | np.ndarray, domain: Domain, find: Find, rng: Source) -> None:
    """Replace each location by its report, those of a level together."""
    if np.ndim(eps) == 0:
        _report_level(xy, eps, float(eps), domain, find, rng)
        return
    eps = np.asarray(eps, dtype=np.float64)
    own = np.where(eps > LARGEST, np.inf, level(eps))
    for at in np.unique(own).tolist():
        rows = np.flatnonzero(own == at)
        if len(rows) == len(xy):
            _report_level(xy, eps, at, domain, find, rng)
            return
        some = np.empty((2, len(rows))).T
        for axis in (0, 1):
            some[:, axis] = xy[rows, axis]
        _report_level(some, eps[rows], at, domain, find, rng)
        for axis in (0, 1):
            xy[rows, axis] = some[:, axis]


def _report_level(xy: np.ndarray, eps: float | np.ndarray, at: float, domain: Domain, find: Find, rng: Source) -> None:
    if at > LARGEST:
        Joint().report(xy, np.array([0, len(xy)]), eps, beyond(domain), rng)
    else:
        find(at).report(xy, eps, rng)
