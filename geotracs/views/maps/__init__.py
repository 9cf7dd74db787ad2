"""Folium maps of tracks before and after."""

from geotracs.views.maps.explore import explore

__all__ = ["explore"]
