"""Public locations between which the worst pair is looked for, and what is promised of each pair."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from geotracs.core.domains import Domain
from geotracs.core.notions import Metric
from geotracs.core.places import Places

CORNERS, INSIDE, PLACES = 8, 10, 36
"""How many locations are tried: at the border, inside, and of a public set of places."""
BASES = 3
"""Of metric privacy: from how many locations..."""
AWAY = (0.25, 1.0, 2.0)
"""...and how far from them, as multiples of the radius."""


@dataclass(frozen=True)
class Promise:
    """What is promised of two locations of a region: the same epsilon for all, or one that grows with the distance.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> region, two = Rectangle(0, 0, 900, 900), np.array([[0.0, 0.0], [400.0, 0.0]])
    >>> Promise(2.0, region).allowed(two).tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    >>> Promise(2.0, region, Metric(200.0, 0.5)).allowed(two).tolist()
    [[0.0, 4.0], [4.0, 0.0]]
    """

    eps: float
    domain: Domain
    metric: Metric | None = None
    box: tuple[float, float, float, float] | None = None
    """Where reports are, if not in the coordinates of the domain: xmin, ymin, xmax, ymax..."""
    leave: Callable[[np.ndarray], np.ndarray] | None = None
    """...and how locations get there."""

    def as_reported(self, xy: np.ndarray) -> np.ndarray:
        """Return locations in the coordinates of the reports."""
        return xy if self.leave is None else self.leave(np.asfortranarray(xy))

    @property
    def bounds(self) -> np.ndarray:
        """The lower left and the upper right corner of where reports are."""
        return np.reshape(self.domain.outline.bounds if self.box is None else self.box, (2, 2))

    def allowed(self, xy: np.ndarray) -> np.ndarray:
        """Return the epsilon that is promised of each two of some locations."""
        n = len(xy)
        if self.metric is None:
            return self.eps * (1 - np.eye(n))
        left, right = (index.ravel() for index in np.indices((n, n)))
        away = np.maximum(self.domain.distance(xy[left], xy[right]), self.metric.least)
        return (self.eps * away / self.metric.radius).reshape(n, n) * (1 - np.eye(n))


def candidates(promise: Promise, places: Places | None = None, most: int = PLACES) -> np.ndarray:
    """Return public locations among which the pair that is told apart best is looked for.

    Over places these are up to ``most`` of the places, and those at the border of the set. Otherwise they are corners,
    the middle, and points over the region; of metric privacy such that are near each other.
    """
    domain = promise.domain
    if places is not None:
        xy = places.sample(places.count)
        xy = np.concatenate([_corners(shapely.MultiPoint(xy)), _some(xy, most)])
    elif promise.metric is not None:
        bases = domain.spread(BASES)[:BASES]
        steps = [np.zeros((1, 2)), *(far * promise.metric.radius * np.array([[1.0, 0.0], [0.0, -1.0]]) for far in AWAY)]
        xy = (bases[:, None] + np.concatenate(steps)).reshape(-1, 2)
    else:
        xy = np.concatenate([_corners(domain.outline), [domain.centre], domain.spread(INSIDE)])
    return np.unique(domain.clip(np.asfortranarray(xy)), axis=0)


def _corners(shape: BaseGeometry) -> np.ndarray:
    return _some(np.unique(shapely.get_coordinates(shape.convex_hull), axis=0), CORNERS)


def _some(xy: np.ndarray, most: int) -> np.ndarray:
    return xy[np.unique(np.linspace(0, len(xy) - 1, min(len(xy), most)).astype(np.int64))]
