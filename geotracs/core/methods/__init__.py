"""Methods: recipes of a domain, a chart and exact mechanisms, and the share of epsilon that each part gets."""

from typing import Any

import numpy as np

import geotracs.core.randomness as randomness
import geotracs.release.blocks as blocks
from geotracs.core.domains import Domain, distances
from geotracs.core.methods.atp import ATP
from geotracs.core.methods.base import Method, PlaceMethod
from geotracs.core.methods.exponential import Exponential
from geotracs.core.methods.joint import Joint
from geotracs.core.methods.k_rr import KRR
from geotracs.core.methods.l_srr import LSRR
from geotracs.core.methods.nearest import Nearest
from geotracs.core.methods.ngram import NGram
from geotracs.core.methods.planar_laplace import PlanarLaplace
from geotracs.core.methods.strawman import Strawman
from geotracs.core.methods.tracs_c import TracsC
from geotracs.core.methods.tracs_d import TracsD
from geotracs.core.randomness import Source
from geotracs.errors import InputError, quoted
from geotracs.release.blocks import Block, Relay

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (TracsC, TracsD, Joint, Nearest, Strawman, PlanarLaplace, KRR, Exponential, LSRR, NGram, ATP)
}


def make(name: str, options: dict[str, Any] | None = None) -> Method:
    """Return the method of that name with these options.

    >>> make("tracs-d", {"start": "corner"}).start
    'corner'
    """
    options = options or {}
    if not isinstance(name, str) or name not in METHODS:
        raise InputError(f"`method` must be one of {sorted(METHODS)}, got {quoted(name)}.")
    known = METHODS[name].options()
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InputError(f"{name} has no option {quoted(unknown[0])}; its options are {known}.")
    return METHODS[name](**options)


def run(
    method: Method,
    xy: np.ndarray,
    offsets: np.ndarray,
    eps: float | np.ndarray,
    domain: Domain,
    rng: Source,
    *,
    out: np.ndarray | None = None,
    progress: bool = False,
    workers: int | None = None,
) -> np.ndarray:
    """Return the report of each location, block by block over the cores; the arguments are those of `Method.report`.

    With ``out``, an array with contiguous columns that may be ``xy`` itself, the reports are written there.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> rng = np.random.default_rng(0)
    >>> reports = run(make("tracs-c"), rng.random((10, 2)), np.array([0, 10]), 4.0, Rectangle(0, 0, 1, 1), rng)
    >>> reports.shape
    (10, 2)
    """
    method.check(domain)
    reports = np.empty((2, len(xy))).T if out is None else out
    key = randomness.Key.fresh(rng)

    def work(block: Block, relay: Relay) -> None:
        part = block.part
        reports[part] = xy[part]
        report(method, reports[part], within(offsets, part), of(eps, part), domain, key.stream(block.number), relay)

    blocks.run(work, cut(method, len(xy), offsets), progress=progress, workers=workers)
    return reports


def report(
    method: Method,
    xy: np.ndarray,
    offsets: np.ndarray,
    eps: float | np.ndarray,
    domain: Domain,
    rng: Source,
    relay: Relay,
) -> None:
    """Replace the locations of one block by what is reported of them, inside the domain; see `Method.report`."""
    if method.carries:
        method.report(xy, offsets, eps, domain, rng, before=relay.wait())
        relay.tell(xy[-1].copy())  # before it is brought into a polygon: that is not where the method went on from
    else:
        method.report(xy, offsets, eps, domain, rng)
    domain.finish(xy)


def cut(
    method: Method,
    n: int,
    offsets: np.ndarray,
    rows: np.ndarray | None = None,
    *,
    first: int = 0,
    goes_on: bool = False,
) -> list[Block]:
    """Cut n locations into blocks as the method allows.

    Trajectories stay whole for a sequential method, but very long ones are cut where it carries its last report on.
    Rows of several locations, which begin at ``rows``, always stay whole. See `blocks.cut`.
    """
    if not method.sequential:
        return blocks.cut(n, rows, first=first)
    return blocks.cut(n, offsets[:-1], rows, inside=method.carries, first=first, goes_on=goes_on)


def within(offsets: np.ndarray, part: slice) -> np.ndarray:
    """Return where each trajectory of a part of the locations begins in it, and their number at the end."""
    first, last = np.searchsorted(offsets, [part.start, part.stop])
    return np.unique(np.clip(offsets[max(first - 1, 0) : last + 1], part.start, part.stop) - part.start)


def of(eps: float | np.ndarray, part: slice) -> float | np.ndarray:
    """Return the epsilon of a part of the locations."""
    return eps if np.ndim(eps) == 0 else eps[part]


def choose(
    method: PlaceMethod,
    secrets: np.ndarray,
    offsets: np.ndarray,
    eps: float | np.ndarray,
    places: np.ndarray,
    domain: Domain,
    rng: Source,
    *,
    progress: bool = False,
) -> np.ndarray:
    """Return the number of the place that is reported for each location, as `run` does for methods on a region.

    Parameters
    ----------
    secrets : array of int
        The number of each location's own place.
    places : array of shape (m, 2)
        Where the public places are. Those at the same point count as one, the first of them; a set of one place is
        always reported, since it has nothing to hide.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> shops = np.array([[0.1, 0.1], [0.9, 0.2], [0.1, 0.1], [0.5, 0.8]])
    >>> choose(
    ...     make("k-rr"), [1, 2, 3], np.array([0, 3]), 600.0, shops, Rectangle(0, 0, 1, 1), np.random.default_rng(0)
    ... )
    array([1, 0, 3])
    """
    method.check(domain)
    chooser = Chooser(method, places, eps, domain)
    secrets, key = np.asarray(secrets, dtype=np.int64), randomness.Key.fresh(rng)
    reports = np.empty_like(secrets)

    def work(block: Block, relay: Relay) -> None:
        part = block.part
        reports[part] = chooser.choose(secrets[part], within(offsets, part), of(eps, part), key.stream(block.number))

    blocks.run(work, cut(method, len(secrets), offsets), progress=progress)
    return reports


class Chooser:
    """A method over places with its public tables, ready for any block of locations."""

    def __init__(self, method: PlaceMethod, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> None:
        _, first, same = np.unique(places, axis=0, return_index=True, return_inverse=True)
        self._method, self._first = method, np.sort(first)
        self._number = np.searchsorted(self._first, first[same.reshape(-1)])
        self._tables = method.prepare(places[self._first], eps, domain) if len(first) > 1 else None

    def choose(self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, rng: Source) -> np.ndarray:
        """Return the number of the place that is reported for each location of one block."""
        numbers = self._number[secrets]
        if self._tables is not None:
            numbers = self._method.choose(numbers, offsets, eps, self._tables, rng)
        return self._first[numbers]


def expected_error(
    method: Method, eps: float, domain: Domain, n: int = 4000, places: np.ndarray | None = None
) -> float:
    """Return the mean displacement of locations spread evenly over a public domain, projection included.

    Over ``places``, which a `PlaceMethod` needs, it is that of up to n of the places. From public information only: the
    same points and draws every time.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> round(expected_error(make("tracs-c"), 4.0, Rectangle(0, 0, 1, 1)), 1)
    0.3
    """
    if isinstance(method, PlaceMethod):
        secrets = np.linspace(0, len(places) - 1, min(len(places), n)).astype(np.int64)
        every = np.arange(len(secrets) + 1)
        chosen = choose(method, secrets, every, eps, places, domain, randomness.public_stream())
        return float(np.hypot(*(places[chosen] - places[secrets]).T).mean())
    xy = domain.spread(n)
    reports = run(method, xy, np.arange(len(xy) + 1), eps, domain, randomness.public_stream())
    return float(distances(domain, xy, reports).mean())


__all__ = [
    "ATP",
    "KRR",
    "LSRR",
    "METHODS",
    "Chooser",
    "Exponential",
    "Joint",
    "Method",
    "NGram",
    "Nearest",
    "PlaceMethod",
    "PlanarLaplace",
    "Strawman",
    "TracsC",
    "TracsD",
    "choose",
    "cut",
    "expected_error",
    "make",
    "of",
    "report",
    "run",
    "within",
]
