"""Charts: public bijections between a region and the unit square, on which mechanisms draw.

A rectangle, a parallelogram, the globe and a disc are charts of themselves and live with the domains. Here is what a
chart must have, and the charts that several regions share: `Polar` at a reference, `Tabulated` by a density.
"""

from geotracs.core.charts.base import Chart
from geotracs.core.charts.polar import Polar
from geotracs.core.charts.transport import Tabulated

__all__ = ["Chart", "Polar", "Tabulated"]
