"""Remap: move every report to where its posterior is nearest on average, by a public table; post-processing only.

A reader who knows the channel and a public prior knows how likely every location is, given a report. Its geometric
median has the smallest mean error of all points that a report can be moved to. Tables of these medians are in
`remap_tables`; for methods over places see `place_remap`.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.methods.base import Method
from geotracs.core.methods.released import Release, Reports
from geotracs.core.methods.remap_levels import ByLevel
from geotracs.core.methods.remap_prior import Prior
from geotracs.core.methods.remap_tables import CHECKED, SURE, Posterior, Table, fitted
from geotracs.core.randomness import public_stream
from geotracs.errors import InputError

TRIED, LENGTH = 20_000, 100
"""How many fresh stand-ins say whether a remap wins, in trajectories of that length: by 3 standard errors it must."""
REFERENCES = 24
"""From how many points TraCS-D is taken to see a location, each as likely."""


@dataclass(frozen=True, eq=False, repr=False)
class Remap(ByLevel[Table]):
    """The public map that a release moves its reports by, before they are projected inside; see `ByLevel`.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> from geotracs.methods import TracsC
    >>> remap = Remap(TracsC(), Rectangle(0, 0, 1, 1), 0.5)
    >>> corner = np.array([[0.02, 0.02]])
    >>> remap(corner, 0.5)
    >>> corner.round(1)
    array([[0.5, 0.5]])
    """

    def check(self) -> None:
        """Raise for a method that reports places or has no density."""
        if self.method.over == "places":
            raise InputError(f"{self.method.name} reports places, which `PlaceRemap` moves.")
        reference = self.domain.centre if self.method.resumable and self.domain.half_planes is not None else None
        try:
            self.method.density(self.domain.spread(1), self.domain.spread(1), 1.0, self.domain, reference)
        except (InputError, NotImplementedError):
            raise InputError(
                f"`remap` needs the density of what a method reports, and {self.method.name} has none; leave it out."
            ) from None

    @property
    def record(self) -> dict[str, object]:
        """What a reader of the release may know, as plain JSON values.

        ``within`` is the share of the mean error by which a table costs at most, of those that are kept.
        """
        own = [table.costs / table.scale for table in self.tables.values() if table is not None]
        return super().record | ({"within": float(f"{max(own):.2g}")} if own else {})

    def __call__(self, xy: np.ndarray, eps: float | np.ndarray) -> None:
        """Move reports, each with its epsilon, in place."""
        for table, rows in self.by_table(eps):
            if rows is None:
                table(xy)
                continue
            own = xy[rows]
            table(own)
            xy[rows] = own

    def made(self, eps: float, largest: float) -> Table | None:
        """Return the table for an epsilon, if it wins."""
        prior = Prior(self.domain) if self.prior is None else self.prior
        return _winning(self.method, self.domain, eps, largest, prior, cast(Hashable, self.places))


@lru_cache(maxsize=32)
def _winning(method: Method, domain: Domain, eps: float, largest: float, prior: Prior, places: Any) -> Table | None:
    """Return the table for an epsilon, or nothing if it does not win up to the largest that it is for."""
    secrets = prior.fresh(TRIED)
    offsets = np.unique(np.append(np.arange(0, len(secrets), LENGTH), len(secrets)))
    release = Release(domain, places, method.leaves)

    def drawn(eps: float, stream: int) -> np.ndarray:
        reports = secrets.copy(order="F")
        method.report(reports, offsets, eps, domain, public_stream(stream))
        return reports

    def error(reports: np.ndarray) -> np.ndarray:
        return domain.distance(secrets, release(reports.copy(order="F")).xy)

    reports = drawn(eps, 2)
    scale = float(error(reports).mean())
    posterior = Posterior.of(method, domain, eps, prior, scale, _references(method, domain, reports))
    table = fitted(posterior, reports[:: max(1, len(reports) // CHECKED)])
    reports = drawn(largest, 3)
    before = error(reports)
    table(reports)
    gain = before - error(reports)
    return table if gain.mean() > SURE * gain.std() / np.sqrt(len(gain)) else None


def _references(method: Method, domain: Domain, reports: np.ndarray) -> list[tuple[float, float] | None]:
    """Return from where a method may see a location: from reports, if it looks back at them."""
    some = reports[np.linspace(1, len(reports) - 1, REFERENCES).astype(np.int64)] if method.resumable else reports[:1]
    some = domain.clip(some)
    release = Release(domain)
    found = [method.references(domain, Reports(one[None], None), release) for one in some]
    return list(dict.fromkeys(None if one is None else tuple(one) for each in found for one in each))
