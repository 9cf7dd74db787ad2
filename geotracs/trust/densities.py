"""How much of epsilon a method uses, by its own exact density: the supremum over what is tried."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.methods.base import Method
from geotracs.core.methods.optimal import OnCodebooks
from geotracs.core.places import Places
from geotracs.core.randomness import public_stream
from geotracs.errors import InputError
from geotracs.trust.exact import log_ratio
from geotracs.trust.findings import Check
from geotracs.trust.pairs import Promise

DRAWS, SPREAD = 40, 400
"""At how many reports of each location, and at how many points over the region, densities are compared."""
REFERENCES = 3
"""From how many references, of a method that looks back."""
SLACK = 1e-9
"""What doubles may lose."""
TINY = 1e-290
"""What doubles cannot tell from 0."""


def check(method: Method, promise: Promise, places: Places | None, xy: np.ndarray) -> tuple[Check, float] | None:
    """Return the worst ratio of densities between some locations, and as a part of what is promised; None without any.

    The densities are those before what falls outside a region is projected into it: that adds nothing.
    """
    allowed, found = promise.allowed(xy), [(0.0, 0.0, promise.eps)]
    tried = 0
    try:
        for rows in _rows(method, promise.eps, promise.domain, places, xy):
            tried += rows.shape[1]
            if promise.metric is None:
                worst = log_ratio(rows)
                found.append((worst / promise.eps, worst, promise.eps))
            else:
                found += _by_pair(rows, allowed)
    except InputError:  # of a method that has no density, or none that can be said
        return None
    part, worst, of = max(found)
    what = f"ratios of {'probabilities' if places is not None else 'densities'}, to {SLACK:g}"
    row = Check("exact", what, part <= 1 + SLACK, worst, of, f"{len(xy)} locations, {tried:,} reports")
    return row, part


def _by_pair(rows: np.ndarray, allowed: np.ndarray) -> list[tuple[float, float, float]]:
    """Return the worst log-ratio of each two locations, as (part of what is allowed, found, allowed)."""
    found = []
    logs = np.log(np.maximum(rows, TINY))
    for i, j in np.argwhere(allowed > 0).tolist():
        seen = (rows[i] > TINY) & (rows[j] > TINY)  # where doubles can tell
        worst = float((logs[i, seen] - logs[j, seen]).max(initial=0.0))
        found.append((worst / float(allowed[i, j]), worst, float(allowed[i, j])))
    return found


def _rows(method: Method, eps: float, domain: Domain, places: Places | None, xy: np.ndarray) -> Iterator[np.ndarray]:
    """Return densities, one row per location, for each reference from which a location may be seen."""
    channel: Any = method.on(domain, places, eps)
    if places is not None and channel.over == "places":
        yield channel.density(np.arange(places.count), xy)
        return
    if isinstance(channel, OnCodebooks) and channel.books:
        yield channel.book(eps).pmf(xy, eps)
        return
    reports = np.repeat(xy, DRAWS, axis=0).copy(order="F")
    method.report(reports, np.arange(len(reports) + 1), eps, domain, public_stream())
    reports = np.concatenate([reports, domain.spread(SPREAD)])
    reports = reports[domain.contains(reports)]
    references = [None, *map(tuple, domain.spread(REFERENCES)[:REFERENCES])] if method.sequential else [None]
    for reference in references:
        yield method.density(reports, xy, eps, domain, reference)
