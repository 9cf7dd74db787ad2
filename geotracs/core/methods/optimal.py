"""The optimal method: the smallest mean error that epsilon allows, by codebooks or over places."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import shapely

import geotracs.core.methods.book_cache as book_cache
from geotracs.core.domains import Domain, Transport
from geotracs.core.mechanisms.lattice import WORDS
from geotracs.core.methods.base import Method
from geotracs.core.methods.book import Book
from geotracs.core.methods.channels import NODES, Channel, only_eps
from geotracs.core.methods.codebooks import FORMAT, LARGEST, MAX_ROUNDS, Progress, level
from geotracs.core.methods.joint import Joint
from geotracs.core.methods.on_region import OnRegion
from geotracs.core.methods.released import PlaceMap, ReportMap
from geotracs.core.methods.weighted_nearest import WeightedNearest
from geotracs.core.places import Places
from geotracs.core.randomness import Source, of_rows

Find = Callable[[float], Book]
SAME = 1e-6
"""How far a report may be from its codeword, as a part of the region's extent: a projection there and back."""


@dataclass(frozen=True)
class Optimal(Method):
    """Report one of the codewords nearest to the location with high probability, and any codeword otherwise.

    With places it is `WeightedNearest`, which reports these.

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
    travels: ClassVar[bool] = True

    @property
    def shares(self) -> dict[str, float]:
        """All of epsilon for the location."""
        return {"location": 1.0}

    def check(self, domain: Domain) -> None:
        """Accept every region: all can spread points over themselves."""

    def with_places(self) -> Method:
        """Return the method that reports places."""
        return WeightedNearest()

    def on(
        self,
        domain: Domain,
        places: Places | None = None,
        eps: float | np.ndarray | None = None,
        progress: Progress | None = None,
        remap: ReportMap | PlaceMap | None = None,
    ) -> Channel:
        """Return the method bound to its public things, with the codebooks of all epsilons that are given.

        ``progress`` is told rounds of the fits; there are `rounds` in all.
        """
        if places is not None:
            return self.with_places().on(domain, places, eps, progress, remap)
        self.check(domain)
        return OnCodebooks(self, domain, eps, progress)

    def rounds(self, eps: float | np.ndarray) -> int:
        """Return how many rounds the fits for these epsilons take.

        >>> Optimal().rounds([0.5, 0.51, 600.0]) == MAX_ROUNDS
        True
        """
        return MAX_ROUNDS * len(levels(eps))

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

    def quadrature(
        self,
        x: np.ndarray,
        eps: float,
        domain: Domain,
        nodes: int,
        reference: tuple[float, float] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return all that can be reported: the codewords of the window, then all of them; see `Method.quadrature`."""
        if eps > LARGEST:
            return Joint().quadrature(x, eps, beyond(domain), nodes, reference)
        found = book_cache.book(domain, eps)
        inside = int(found.mechanism(eps).threshold) / WORDS
        own = found.codewords[found.windows_of(x)]
        every = np.broadcast_to(found.codewords, (len(x), *found.codewords.shape))
        weights = np.repeat([inside / found.k, (1 - inside) / found.m], [found.k, found.m])
        return np.concatenate([own, every], axis=1), weights

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


def levels(eps: npt.ArrayLike) -> list[float]:
    """Return the levels of these epsilons; those beyond `LARGEST` have none.

    >>> levels([0.5, 0.51, 4.0, 600.0])
    [0.5, 4.0]
    """
    distinct = np.unique(np.asarray(eps, dtype=np.float64))
    return np.unique(level(distinct[distinct <= LARGEST])).tolist()


def beyond(domain: Domain) -> Domain:
    """Return the region as `joint` sees it beyond `LARGEST`: one without two coordinates gets a chart."""
    return Transport(domain) if domain.chart is None else domain


class OnCodebooks(OnRegion):
    """The method on a region, with its codebooks: they travel with it, and their tables are made where it is used."""

    def __init__(
        self,
        method: Optimal,
        domain: Domain,
        eps: float | np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(method, domain, None, eps)
        self.books = {at: book_cache.book(domain, at, progress) for at in levels([] if eps is None else eps)}

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

    def density(
        self,
        reports: np.ndarray,
        secrets: np.ndarray,
        *,
        eps: float | None = None,
        before: npt.ArrayLike | None = None,
        nodes: int = NODES,
    ) -> np.ndarray:
        """Return the probability of each report, which is a codeword: 0 for anything else; see `Channel.density`."""
        eps = only_eps(self._eps, eps)
        if eps > LARGEST:
            return Joint().on(beyond(self.domain)).density(reports, secrets, eps=eps, nodes=nodes)
        found, xy = self.book(eps), self.release.known(reports).xy
        away, which = found.tree.query(found.space.embed(xy))
        secrets = np.atleast_2d(np.asarray(secrets, dtype=np.float64))
        return np.where(away <= SAME, found.pmf(secrets, eps)[:, which], 0.0)

    def book(self, eps: float) -> Book:
        """Return the codebook of an epsilon up to `LARGEST`."""
        found = self.books.get(float(level(eps)))
        return book_cache.book(self.domain, eps) if found is None else found

    def tables(self) -> dict[str, Any]:
        """Return what a reader needs to fit the same codebooks again, and to see that they are the same."""
        own = [{"level": at, "k": book.k, "m": book.m, "digest": book.digest} for at, book in self.books.items()]
        return {"kind": "codebook", "format": FORMAT, "books": own}


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
        part = np.empty((2, len(rows))).T
        for axis in (0, 1):
            part[:, axis] = xy[rows, axis]
        _report_level(part, eps[rows], at, domain, find, of_rows(rng, rows))
        for axis in (0, 1):
            xy[rows, axis] = part[:, axis]


def _report_level(xy: np.ndarray, eps: float | np.ndarray, at: float, domain: Domain, find: Find, rng: Source) -> None:
    if at > LARGEST:
        Joint().report(xy, np.array([0, len(xy)]), eps, beyond(domain), rng)
    else:
        find(at).report(xy, eps, rng)
