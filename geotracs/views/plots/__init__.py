"""Drawings with matplotlib: before and after, what epsilon costs, what a method does to one location, and answers.

matplotlib is imported where it is used; it comes with the extra ``plot``.
"""

from geotracs.views.plots.answers import density, flows, tube
from geotracs.views.plots.charts import intervals, lengths
from geotracs.views.plots.curves import displacement, error_curve
from geotracs.views.plots.multiples import densities
from geotracs.views.plots.one_report import mechanism
from geotracs.views.plots.risks import attacks, risk
from geotracs.views.plots.tracks import plot

__all__ = [
    "attacks",
    "densities",
    "density",
    "displacement",
    "error_curve",
    "flows",
    "intervals",
    "lengths",
    "mechanism",
    "plot",
    "risk",
    "tube",
]
