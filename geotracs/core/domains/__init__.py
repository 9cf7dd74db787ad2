"""Public regions, in planar coordinates (the globe: in degrees).

`Domain` says what a region must have. Every region says which locations it contains, clips others to its border, and
projects reports inside. Beyond that it has capabilities that methods ask for, or None: a Cartesian `chart`,
`half_planes` for TraCS-D, a `polar` chart of its own. `Transport` is another region with a chart that makes a public
density uniform.
"""

from geotracs.core.domains.base import Base, Domain
from geotracs.core.domains.disc import Disc
from geotracs.core.domains.globe import Globe
from geotracs.core.domains.parallelogram import Parallelogram
from geotracs.core.domains.polygon import Polygon
from geotracs.core.domains.rectangle import Rectangle
from geotracs.core.domains.transport import Transport

KINDS: tuple[type[Domain], ...] = (Rectangle, Parallelogram, Polygon, Disc, Globe, Transport)
"""The kinds of regions: each of them satisfies the protocol, which mypy checks here."""

__all__ = ["KINDS", "Base", "Disc", "Domain", "Globe", "Parallelogram", "Polygon", "Rectangle", "Transport"]
