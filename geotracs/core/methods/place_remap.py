"""Remap over places: each reported place is moved to the place with the smallest posterior error, by a public table."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
from scipy.spatial import cKDTree

import geotracs.core.cache as cache
from geotracs.core.domains import Domain
from geotracs.core.methods.base import Method
from geotracs.core.methods.channels import Channel
from geotracs.core.methods.remap import LENGTH, TRIED
from geotracs.core.methods.remap_levels import ByLevel
from geotracs.core.methods.remap_prior import Prior, lifted
from geotracs.core.methods.remap_tables import SURE, medians
from geotracs.core.places import Places
from geotracs.core.randomness import public_stream
from geotracs.errors import InputError

ENTRIES, FEWEST, MOST = 2**25, 64, 2**11
"""How many pairs of a place and a stand-in there are at most, and the fewest and most stand-ins."""
CANDIDATES = 16
"""A place is moved to itself, or to one of this many around the median of its posterior."""
ROWS = 256
"""How many places are worked on at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class PlaceRemap(ByLevel[np.ndarray]):
    """The public map that a release moves its reported places by; see `ByLevel`.

    Places are moved to places, so that what is released stays one of them. The prior is each place alike, by default.
    A method that looks at other reports of a trajectory is taken as if it reported one location.

    Examples
    --------
    A place beside two others is the better report for all of them:

    >>> from geotracs.core.places import Points
    >>> from geotracs.domains import Rectangle
    >>> from geotracs.methods import KRR
    >>> places = Points(np.array([[0.4, 0.5], [0.5, 0.5], [0.6, 0.5], [0.5, 0.6], [0.5, 0.4]]))
    >>> PlaceRemap(KRR(), Rectangle(0, 0, 1, 1), 0.1, places=places).moved(np.arange(5), 0.1)
    array([1, 1, 1, 1, 1])
    """

    def check(self) -> None:
        """Raise for a method on a region."""
        if self.method.over != "places" or self.places is None:
            raise InputError(f"{self.method.name} does not report places of a public set.")
        if self.method.both_ways:
            raise InputError(
                f"`remap` needs the probabilities of each report, and those of {self.method.name} depend on all others "
                "of a trajectory; leave it out."
            )

    def moved(self, which: np.ndarray, eps: float | np.ndarray) -> np.ndarray:
        """Return the places that reported ones are moved to, each with its epsilon."""
        found = which.copy()
        for table, rows in self.by_table(eps):
            if rows is None:
                return table[which]
            found[rows] = table[which[rows]]
        return found

    def made(self, eps: float, largest: float) -> np.ndarray | None:
        """Return where each place is moved, if that wins."""
        places = cast(Places, self.places)
        prior = Prior(self.domain, "places", places.sample(places.count)) if self.prior is None else self.prior
        return _winning(self.method, self.domain, eps, largest, prior, cast(Any, places))


@lru_cache(maxsize=32)
def _winning(
    method: Method, domain: Domain, eps: float, largest: float, prior: Prior, places: Any
) -> np.ndarray | None:
    """Return where each place is moved for an epsilon, or nothing if it does not win up to the largest it is for."""
    with cache.off():  # the region may have been fitted to private data
        own, largest_one = method.on(domain, places, eps), method.on(domain, places, largest)
    table = tabulated(own, places, prior)
    secrets, points = prior.fresh(TRIED), places.sample(places.count)
    offsets = np.unique(np.append(np.arange(0, len(secrets), LENGTH), len(secrets)))
    reported = cast(np.ndarray, largest_one.sample(secrets, offsets, largest, public_stream(3)).which)
    before, after = (domain.distance(secrets, points[which]) for which in (reported, table[reported]))
    gain = before - after
    return table if gain.mean() > SURE * gain.std() / np.sqrt(len(gain)) else None


def tabulated(channel: Channel, places: Places, prior: Prior) -> np.ndarray:
    """Return the place with the smallest mean error given each reported one, of those near its posterior's median."""
    stand_ins, masses = _stand_ins(prior, int(np.clip(ENTRIES // places.count, FEWEST, MOST)))
    try:
        likely = channel.density(np.arange(places.count), stand_ins)
    except NotImplementedError:
        raise InputError(
            f"`remap` needs the probabilities of what a method reports, and {channel.method.name} has none; leave it "
            "out."
        ) from None
    weights = (likely * masses[:, None]).T
    points, straight = lifted(prior.domain, places.sample(places.count)), lifted(prior.domain, stand_ins)
    tree, soft = cKDTree(points), 1e-6 * prior.domain.diameter
    table = np.arange(places.count)
    for first in range(0, places.count, ROWS):
        own = table[first : first + ROWS]
        some = weights[own]
        middle = medians(straight, some, soft)
        middle[~np.isfinite(middle).all(axis=1)] = 0.0  # of places that are never reported
        near = tree.query(middle, k=min(CANDIDATES, places.count))[1].reshape(len(own), -1)
        tried = np.column_stack([own, near])
        losses = np.column_stack([_losses(straight, some, points[at]) for at in tried.T])
        losses[:, 1:] *= 1 + 1e-9  # a place stays where nothing is gained
        table[first : first + ROWS] = tried[np.arange(len(own)), losses.argmin(axis=1)]
    return table


def _losses(points: np.ndarray, weights: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the mean distance of each row of ``at`` from the points under its weights, times their sum."""
    square = (at**2).sum(axis=1)[:, None] + (points**2).sum(axis=1) - 2 * at @ points.T
    return np.einsum("ij,ij->i", weights, np.sqrt(np.maximum(square, 0)))


def _stand_ins(prior: Prior, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return up to that many stand-ins of a prior, as near together as they can be, and how likely each is."""
    apart = prior.domain.diameter / 2**14
    while True:
        found, masses = prior.stand_ins(apart, 1)
        if len(found) <= most:
            return found, masses
        apart *= 2**0.5
