"""Folium maps of tracks before and after."""

import itertools
from collections.abc import Iterator

import folium
import geopandas as gpd
import numpy as np

import geotracs.crs as crs_
import geotracs.frames as frames

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
"""The palette of Okabe and Ito, told apart by the colour-blind."""
CAPTION = "This map contains original locations: keep it confidential."


def compare_map(
    original: gpd.GeoDataFrame,
    perturbed: gpd.GeoDataFrame,
    *,
    trajectory: str | None = None,
    time: str | None = None,
    most: int = len(COLOURS),
) -> folium.Map:
    """Draw tracks before (full lines) and after (dashed), a colour a trajectory.

    Parameters
    ----------
    trajectory, time : str, optional
        As given to `perturb`.
    most : int
        How many trajectories to draw; the first ones.
    """
    map_ = folium.Map(tiles="OpenStreetMap")
    before = folium.FeatureGroup("original").add_to(map_)
    after = folium.FeatureGroup("perturbed").add_to(map_)
    corners = []
    for colour, track in _tracks(original, trajectory, time, most):
        folium.PolyLine(track, color=colour, weight=4, opacity=0.9).add_to(before)
        corners += [track.min(axis=0), track.max(axis=0)]
    for colour, track in _tracks(perturbed, trajectory, time, most):
        folium.PolyLine(track, color=colour, weight=1.5, opacity=0.7, dash_array="4 6").add_to(after)
        corners += [track.min(axis=0), track.max(axis=0)]
    if corners:
        map_.fit_bounds([np.min(corners, axis=0).tolist(), np.max(corners, axis=0).tolist()])
    folium.LayerControl(collapsed=False).add_to(map_)
    map_.get_root().html.add_child(folium.Element(f'<div style="{_STYLE}">{CAPTION}</div>'))
    return map_


_STYLE = (
    "position: fixed; bottom: 24px; left: 50%; transform: translateX(-50%); z-index: 1000; padding: 4px 12px; "
    "background: #fff3cd; border: 1px solid #b8860b; border-radius: 4px; font: 14px sans-serif"
)


def _tracks(
    frame: gpd.GeoDataFrame, trajectory: str | None, time: str | None, most: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield a colour and (latitude, longitude) pairs of each of the first trajectories."""
    tracks = frames.read(frame, trajectory, time)
    degrees = crs_.transform(tracks.xy, frame.crs, crs_.parse("EPSG:4326"))[:, ::-1]
    for number, (begin, end) in enumerate(itertools.pairwise(tracks.offsets)):
        if number == most:
            return
        yield COLOURS[number % len(COLOURS)], degrees[begin:end]
