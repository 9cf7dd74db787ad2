"""Public regions and their charts, in planar coordinates (the globe: in degrees).

Every domain says which locations it contains, clips others to its border, and finishes reports: undoes rounding, or
projects them into a polygon. Those with a `frame` have a chart to the unit square for Cartesian methods, and `periodic`
says which axes are circles; those with `half_planes` are (or are fitted by) a convex polygon, for TraCS-D; `Disc` has a
polar chart of its own. `Transport` is another region with a chart that makes a public density uniform.
"""

import numpy as np

from geotracs.core.domains.disc import Disc
from geotracs.core.domains.globe import Globe
from geotracs.core.domains.parallelogram import Parallelogram
from geotracs.core.domains.polygon import Polygon
from geotracs.core.domains.rectangle import Rectangle
from geotracs.core.domains.transport import Transport

Domain = Rectangle | Parallelogram | Polygon | Disc | Globe | Transport
WithFrame = Rectangle | Parallelogram | Polygon | Globe | Transport
"""Domains on which Cartesian methods work; they refuse others before they ask for the frame."""
WithHalfPlanes = Rectangle | Parallelogram | Polygon
"""Domains on which TraCS-D sees every location from its reference; the frame of each has vertices."""


def distances(domain: Domain, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the distance between each pair of locations: straight in the plane, in metres around the globe.

    >>> distances(Rectangle(0, 0, 9, 9), np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([5.])
    """
    return domain.distance(a, b) if isinstance(domain, Globe) else np.hypot(*(b - a).T)


__all__ = [
    "Disc",
    "Domain",
    "Globe",
    "Parallelogram",
    "Polygon",
    "Rectangle",
    "Transport",
    "WithFrame",
    "WithHalfPlanes",
    "distances",
]
