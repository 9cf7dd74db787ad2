"""Folium maps of tracks before and after."""

from geotracs.maps.explore import explore

__all__ = ["explore"]
