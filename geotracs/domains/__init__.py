"""Public regions and their charts, in planar coordinates (the globe: in degrees).

Every domain says which locations it contains, clips others to its border, and finishes reports: undoes rounding, or
projects them into a polygon. Those with a `frame` have a chart to the unit square for Cartesian methods, and `periodic`
says which axes are circles; those with `half_planes` are (or are fitted by) a convex polygon, for TraCS-D; `Disc` has a
polar chart of its own.
"""

from geotracs.domains.disc import Disc
from geotracs.domains.globe import Globe
from geotracs.domains.parallelogram import Parallelogram
from geotracs.domains.polygon import Polygon
from geotracs.domains.rectangle import Rectangle

Domain = Rectangle | Parallelogram | Polygon | Disc | Globe

__all__ = ["Disc", "Domain", "Globe", "Parallelogram", "Polygon", "Rectangle"]
