"""Where codebooks are fitted: a plane, or the sphere, in coordinates without units."""

from dataclasses import dataclass

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.domains.globe import RADIUS
from geotracs.core.places import on_sphere

STEPS = 2.0**22
"""Points are rounded to this many steps of the region's extent: the last bit of a platform's sine decides nothing."""


@dataclass(frozen=True, repr=False)
class Space:
    """A region's coordinates without units: parts of its extent, or points of the unit sphere.

    Parameters
    ----------
    low : (float, float)
        Where the extent begins; without meaning on the sphere.
    extent : float
        How many metres (units of the working CRS) one unit has.
    sphere : bool
        Whether locations are longitudes and latitudes in degrees.

    Examples
    --------
    >>> space = Space((0.0, 0.0), 10.0)
    >>> space.embed(np.array([[5.0, 2.0]]))
    array([[0.5, 0.2]])
    """

    low: tuple[float, float]
    extent: float
    sphere: bool = False

    @classmethod
    def of(cls, domain: Domain, points: np.ndarray) -> "Space":
        """Return the space of a region that these points are spread over."""
        if domain.in_degrees:
            return cls((0.0, 0.0), RADIUS, sphere=True)
        low = points.min(axis=0)
        extent = float((points.max(axis=0) - low).max())
        return cls((float(low[0]), float(low[1])), extent or 1.0)

    def embed(self, xy: np.ndarray) -> np.ndarray:
        """Return locations without units, in two columns or, on the sphere, three."""
        return np.asarray(on_sphere(xy) if self.sphere else (xy - self.low) / self.extent)

    def locate(self, points: np.ndarray) -> np.ndarray:
        """Undo `embed`; rounded to 1 in `STEPS`."""
        if not self.sphere:
            return np.rint(points * STEPS) / STEPS * self.extent + self.low
        longitude = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
        latitude = np.degrees(np.arctan2(points[:, 2], np.sqrt(points[:, 0] ** 2 + points[:, 1] ** 2)))
        return np.rint(np.column_stack([longitude, latitude]) / 360 * STEPS) / STEPS * 360

    def lengths(self, squares: np.ndarray) -> np.ndarray:
        """Return distances, along the sphere if it is one, from the squares of straight ones."""
        straight = np.sqrt(squares)
        return 2 * np.arcsin(np.minimum(straight / 2, 1)) if self.sphere else straight

    def pull(self, points: np.ndarray, others: np.ndarray, soft: float) -> tuple[list[np.ndarray], np.ndarray]:
        """Return in which direction others lie, in steps of length 1, and 1 / how far; nothing is nearer than ``soft``.

        Coordinates are along the first axis of both, the rest is broadcast.
        """
        apart = [b - a for a, b in zip(points, others, strict=True)]
        square = sum(x * x for x in apart)
        if not self.sphere:
            inverse = 1 / np.sqrt(square + soft * soft)
            return [x * inverse for x in apart], inverse
        # The part of a chord along the surface: its length is the sine of the arc.
        inverse = 1 / np.maximum(np.sqrt(square * np.maximum(1 - square / 4, 0)), max(soft, 1e-9))
        directions = [(x + a * (square / 2)) * inverse for x, a in zip(apart, points, strict=True)]
        return directions, 1 / np.maximum(self.lengths(square), max(soft, 1e-9))

    def move(self, points: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Return points moved by these steps, back on the sphere if it is one."""
        moved = points + steps
        return moved / np.sqrt((moved * moved).sum(axis=1, keepdims=True)) if self.sphere else moved


def squares(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the squared straight distances between points, one row per point of the first set.

    >>> squares(np.array([[3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[25.,  0.]])
    """
    return np.asarray(sum((a[:, None] - b) ** 2 for a, b in zip(rows.T, columns.T, strict=True)))
