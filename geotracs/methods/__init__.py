"""Methods: recipes of a domain, a chart and exact mechanisms, and the share of epsilon that each part gets."""

from collections.abc import Callable
from typing import Any

import numpy as np

import geotracs.blocks as blocks
import geotracs.randomness as randomness
from geotracs.domains import Domain, distances
from geotracs.errors import InputError
from geotracs.methods.atp import ATP
from geotracs.methods.base import Method, PlaceMethod
from geotracs.methods.exponential import Exponential
from geotracs.methods.joint import Joint
from geotracs.methods.k_rr import KRR
from geotracs.methods.l_srr import LSRR
from geotracs.methods.nearest import Nearest
from geotracs.methods.ngram import NGram
from geotracs.methods.planar_laplace import PlanarLaplace
from geotracs.methods.strawman import Strawman
from geotracs.methods.tracs_c import TracsC
from geotracs.methods.tracs_d import TracsD
from geotracs.randomness import Source

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
        raise InputError(f"`method` must be one of {sorted(METHODS)}, got {name!r}.")
    known = METHODS[name].options()
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InputError(f"{name} has no option {unknown[0]!r}; its options are {known}.")
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
    reports[...] = xy

    def work(part: slice, offsets: np.ndarray, eps: float | np.ndarray, rng: Source) -> None:
        method.report(reports[part], offsets, eps, domain, rng)
        domain.finish(reports[part])

    _in_blocks(work, method, offsets, eps, rng, progress)
    return reports


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
    _, first, same = np.unique(places, axis=0, return_index=True, return_inverse=True)
    secrets = first[same.reshape(-1)[np.asarray(secrets, dtype=np.int64)]]
    first.sort()
    if len(first) == 1:
        return secrets
    tables = method.prepare(places[first], eps, domain)
    reports = np.searchsorted(first, secrets)

    def work(part: slice, offsets: np.ndarray, eps: float | np.ndarray, rng: Source) -> None:
        reports[part] = method.choose(reports[part], offsets, eps, tables, rng)

    _in_blocks(work, method, offsets, eps, rng, progress)
    return first[reports]


def _in_blocks(
    work: Callable[[slice, np.ndarray, float | np.ndarray, Source], None],
    method: Method,
    offsets: np.ndarray,
    eps: float | np.ndarray,
    rng: Source,
    progress: bool,
) -> None:
    """Call ``work(part, its offsets, its eps, its rng)`` for every block of trajectories, over the cores."""
    cuts = blocks.cuts(offsets, whole=method.sequential)
    streams = randomness.streams(rng, len(cuts) - 1)

    def task(part: slice, number: int) -> None:
        first, last = np.searchsorted(offsets, [part.start, part.stop])
        inside = np.clip(offsets[max(first - 1, 0) : last + 1], part.start, part.stop) - part.start
        work(part, np.unique(inside), eps if np.ndim(eps) == 0 else eps[part], streams[number])

    blocks.run(task, cuts, progress=progress)


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
    "expected_error",
    "make",
    "run",
]
