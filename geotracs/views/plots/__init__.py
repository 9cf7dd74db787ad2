"""Drawings with matplotlib: before and after, what epsilon costs, and what a method does to one location.

matplotlib is imported where it is used; it comes with the extra ``plot``.
"""

from geotracs.views.plots.curves import displacement, error_curve
from geotracs.views.plots.density import mechanism
from geotracs.views.plots.tracks import plot

__all__ = ["displacement", "error_curve", "mechanism", "plot"]
