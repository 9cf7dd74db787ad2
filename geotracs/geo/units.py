"""Lengths in metres become lengths in the unit of the working CRS."""

from dataclasses import replace

import pyproj

from geotracs.core.methods import Method


def in_working_units(method: Method, crs: pyproj.CRS) -> Method:
    """Return the method with its public lengths, which users give in metres, in the unit of the working CRS.

    Examples
    --------
    >>> from geotracs.methods import make
    >>> in_working_units(make("geo-ind", {"radius": 30.48}), pyproj.CRS("EPSG:2263")).radius.__round__(3)
    100.0
    """
    metres = crs.axis_info[0].unit_conversion_factor
    if not method.public_lengths or crs.is_geographic or metres == 1:
        return method
    return replace(method, **{name: getattr(method, name) / metres for name in method.public_lengths})
