"""How far secrets are from reports, and how little at least while both move a little: in the plane, on the sphere."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from geotracs.core.domains.globe import RADIUS


class Metric(Protocol):
    """What the bound must know of a distance: points are rows of `embed`, tangent vectors have two coordinates."""

    flat: ClassVar[bool]

    def embed(self, xy: np.ndarray) -> np.ndarray:
        """Return locations as the metric works with them."""

    def distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distances, one of the first points a row."""

    def pairs(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return distances, and at each first point the unit vector that leads away from each second."""

    def at_least(self, d: np.ndarray, along: np.ndarray, square: Any, loose: Any, rms: Any) -> tuple[Any, Any]:
        """Return a lower bound of the mean distance after the report moved, convex in the move, negated.

        Parameters
        ----------
        d : array
            Distance before.
        along : array
            The move's part away from the secret.
        square : float or array
            The move's squared length.
        loose : float or array
            How far report and secret may move together.
        rms : array
            Root mean square of the secret's moves, whose mean is 0.

        Returns
        -------
        bound : array
        far : bool or array
            Where the secret's moves no longer cancel out exactly.
        """


@dataclass(frozen=True, repr=False)
class Plane:
    """Straight distances. They are convex: a tangent is a lower bound, and moving secrets about adds to the mean."""

    flat: ClassVar[bool] = True

    def embed(self, xy: np.ndarray) -> np.ndarray:
        """Return locations as they are."""
        return np.asarray(xy, dtype=np.float64)

    def distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distances, one of the first points a row."""
        return np.hypot(a[:, :1] - b[:, 0], a[:, 1:] - b[:, 1])

    def pairs(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See `Metric.pairs`; where both are the same point, any vector is a subgradient, and 0 is taken."""
        x, y = a[:, :1] - b[:, 0], a[:, 1:] - b[:, 1]
        d = np.sqrt(x * x + y * y)
        per = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
        return d, np.multiply(x, per, out=x), np.multiply(y, per, out=y)

    def at_least(self, d: np.ndarray, along: np.ndarray, square: Any, loose: Any, rms: Any) -> tuple[Any, Any]:
        """See `Metric.at_least`."""
        return d + along, False


@dataclass(frozen=True, repr=False)
class Sphere:
    """Great circles, between longitudes and latitudes in degrees.

    Within a quarter of the circle distances are convex. Farther off, the distance from the antipode is at most what
    it would be in the plane (the hinge theorem), which is a norm and so convex, too.
    """

    radius: float = RADIUS
    flat: ClassVar[bool] = False

    def embed(self, xy: np.ndarray) -> np.ndarray:
        """Return locations as unit vectors."""
        lon, lat = np.radians(np.asarray(xy, dtype=np.float64)).T
        return np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])

    def distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distances, one of the first points a row."""
        # The chord is exact near 0, that to the antipode near half a turn.
        cosine = a @ b.T
        near = 2 * np.arcsin(np.minimum(np.sqrt(np.maximum(2 - 2 * cosine, 0)) / 2, 1))
        far = np.pi - 2 * np.arcsin(np.minimum(np.sqrt(np.maximum(2 + 2 * cosine, 0)) / 2, 1))
        return self.radius * np.where(cosine > 0, near, far)

    def pairs(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See `Metric.pairs`."""
        east, north = tangents(a)
        x, y = -(east @ b.T), -(north @ b.T)
        length = np.hypot(x, y)
        per = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
        return self.radius * np.arctan2(length, a @ b.T), x * per, y * per

    def at_least(self, d: np.ndarray, along: np.ndarray, square: Any, loose: Any, rms: Any) -> tuple[Any, Any]:
        """See `Metric.at_least`."""
        left = np.pi * self.radius - d
        hinge = np.sqrt(np.maximum(left * left - 2 * left * along + square, 0) + rms * rms)
        far = d + loose > self.radius * np.pi / 2
        return np.where(far, np.pi * self.radius - hinge, d + along), far


def tangents(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two unit vectors along the sphere at each point, at right angles to each other."""
    x, y, z = points.T
    level = np.hypot(x, y)
    pole = level < 1e-12
    safe = np.where(pole, 1.0, level)
    east = np.column_stack([np.where(pole, 0.0, -y / safe), np.where(pole, 1.0, x / safe), np.zeros_like(z)])
    return east, np.cross(points, east)
