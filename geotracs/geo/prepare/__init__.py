"""What is done to tracks before the draw: trim them, leave out zones, coarsen times, thin rows, find stops and trips.

A step that looks at where somebody was at several moments, or beside private areas, is not covered by epsilon: the
frame carries a mark, ``attrs["tracs"]["prepared"]``, and the guarantee of what is made from it says so.
"""

from geotracs.geo.prepare.detection import stops, trips
from geotracs.geo.prepare.thinning import coarsen_time, thin
from geotracs.geo.prepare.trimming import trim
from geotracs.geo.prepare.zones import hidden, zones

__all__ = ["coarsen_time", "hidden", "stops", "thin", "trim", "trips", "zones"]
