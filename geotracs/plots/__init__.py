"""Drawings with matplotlib: before and after, what epsilon costs, and what a method does to one location.

matplotlib is imported where it is used; it comes with the extra ``plot``.
"""

from geotracs.plots.canvas import CAPTION, COLOURS
from geotracs.plots.curves import displacement, error_curve
from geotracs.plots.density import mechanism
from geotracs.plots.tracks import plot

__all__ = ["CAPTION", "COLOURS", "displacement", "error_curve", "mechanism", "plot"]
