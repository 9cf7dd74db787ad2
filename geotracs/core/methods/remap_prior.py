"""The public prior of a remap, in stand-ins for locations."""

from dataclasses import dataclass
from typing import cast

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.places import on_sphere
from geotracs.core.randomness import public_stream, words

MAX_STAND_INS = 2**16
"""How many stand-ins for locations there are at most; a prior of points has as many as it takes."""


@dataclass(frozen=True, eq=False, repr=False)
class Prior:
    """Where locations are likely, from public information.

    Parameters
    ----------
    domain : Domain
        In the working CRS; without ``points`` the prior is what its `spread` says: uniform, or that of its chart.
    kind : str
        What the record calls it.
    points : array of shape (n, 2), optional
        All that locations can be, inside the domain.
    weights : array of shape (n,), optional
        How likely each is; all alike without them.
    """

    domain: Domain
    kind: str = "uniform"
    points: np.ndarray | None = None
    weights: np.ndarray | None = None

    def __hash__(self) -> int:
        return hash((self.domain, self.kind, None if self.points is None else self.points.tobytes()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prior) or (self.domain, self.kind) != (other.domain, other.kind):
            return False
        return all(np.array_equal(getattr(self, own), getattr(other, own)) for own in ("points", "weights"))

    def stand_ins(self, apart: float, least: int) -> tuple[np.ndarray, np.ndarray]:
        """Return locations that stand for all, about that far ``apart``, and how likely each is."""
        if self.points is None:
            area = self.domain.diameter**2 / 2
            found = self.domain.spread(int(np.clip(area / apart**2, least, MAX_STAND_INS)))
            return found, np.full(len(found), 1 / len(found))
        cells = np.floor((self.points - self.points.min(axis=0)) / (apart / unit(self.domain)))
        _, which = np.unique(cells, axis=0, return_inverse=True)
        masses = self._masses()
        sums = [np.bincount(which.reshape(-1), masses * axis) for axis in (np.ones(len(masses)), *self.points.T)]
        return np.column_stack([sums[1] / sums[0], sums[2] / sums[0]]), sums[0]

    def fresh(self, n: int) -> np.ndarray:
        """Return n others, in an order without a pattern."""
        random = words(public_stream(1), n, np.uint64)
        if self.points is None:
            spread = self.domain.spread(n)
            return np.asfortranarray(spread[np.argsort(random[: len(spread)])])
        ends = np.cumsum(self._masses())
        which = np.searchsorted(ends, random / 2.0**64 * ends[-1], side="right")
        return np.asfortranarray(self.points[np.minimum(which, len(self.points) - 1)])

    def _masses(self) -> np.ndarray:
        weights = np.ones(len(cast(np.ndarray, self.points))) if self.weights is None else self.weights
        return weights / weights.sum()


def lifted(domain: Domain, xy: np.ndarray) -> np.ndarray:
    """Return locations where straight distances order them as those of the domain do."""
    return on_sphere(xy) * (unit(domain) * 180 / np.pi) if domain.in_degrees else xy


def unit(domain: Domain) -> float:
    """Return how long a unit of the coordinates is, along a meridian."""
    return float(domain.distance(np.zeros((1, 2)), np.array([[0.0, 1.0]]))[0])
