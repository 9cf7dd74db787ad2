"""Methods: recipes of a domain, a chart and exact mechanisms, and the share of epsilon that each part gets."""

from typing import Any

import numpy as np

import geotracs.blocks as blocks
import geotracs.randomness as randomness
from geotracs.domains import Domain
from geotracs.errors import InputError
from geotracs.methods.base import Method
from geotracs.methods.tracs_c import TracsC
from geotracs.methods.tracs_d import TracsD
from geotracs.randomness import Source

METHODS: dict[str, type[Method]] = {method.name: method for method in (TracsC, TracsD)}


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
    cuts = blocks.cuts(offsets, whole=method.sequential)
    streams = randomness.streams(rng, len(cuts) - 1)

    def task(part: slice, number: int) -> None:
        first, last = np.searchsorted(offsets, [part.start, part.stop])
        inside = np.clip(offsets[max(first - 1, 0) : last + 1], part.start, part.stop) - part.start
        own = eps if np.ndim(eps) == 0 else eps[part]
        method.report(reports[part], np.unique(inside), own, domain, streams[number])
        domain.finish(reports[part])

    blocks.run(task, cuts, progress=progress)
    return reports


def expected_error(method: Method, eps: float, domain: Domain, n: int = 4000) -> float:
    """Return the mean displacement of locations spread evenly over a public domain, projection included.

    From public information only: the same points and draws every time.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> round(expected_error(make("tracs-c"), 4.0, Rectangle(0, 0, 1, 1)), 1)
    0.3
    """
    xy = domain.spread(n)
    reports = run(method, xy, np.arange(len(xy) + 1), eps, domain, randomness.public_stream())
    return float(np.hypot(*(reports - xy).T).mean())


__all__ = ["METHODS", "Method", "TracsC", "TracsD", "expected_error", "make", "run"]
