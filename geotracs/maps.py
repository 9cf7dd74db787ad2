"""Folium maps of tracks before and after."""

import html
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
    region: gpd.GeoDataFrame | None = None,
    trajectory: str | None = None,
    time: str | None = None,
    most: int = len(COLOURS),
) -> folium.Map:
    """Draw tracks before (full lines) and after (thin dashes), a colour a trajectory.

    Parameters
    ----------
    region : GeoDataFrame, optional
        The public region, to draw its border.
    trajectory, time : str, optional
        As given to `perturb`.
    most : int
        How many trajectories to draw; the first ones.
    """
    map_ = folium.Map(zoomSnap=0.25)
    map_.get_root().title = "geotracs: before and after"
    corners = []
    if region is not None:
        outline = {"color": "#444444", "weight": 2, "fillOpacity": 0}
        border = folium.GeoJson(region.geometry.to_crs(4326).to_json(), name="region", style_function=lambda _: outline)
        border.add_to(map_)
        corners += np.reshape(region.to_crs(4326).total_bounds, (2, 2))[:, ::-1].tolist()
    for name, frame, style in (
        ("perturbed", perturbed, {"weight": 1, "opacity": 0.5, "dash_array": "3 6"}),
        ("original", original, {"weight": 4, "opacity": 0.95}),
    ):
        layer = folium.FeatureGroup(name).add_to(map_)
        for colour, track in _tracks(frame, trajectory, time, most):
            folium.PolyLine(track, color=colour, **style).add_to(layer)
            corners += [track.min(axis=0), track.max(axis=0)]
    if corners:
        map_.fit_bounds([np.min(corners, axis=0).tolist(), np.max(corners, axis=0).tolist()], padding=(50, 50))
    folium.LayerControl(collapsed=False).add_to(map_)
    for text, place in ((_legend(original, perturbed, trajectory, most), "top: 12px"), (CAPTION, "bottom: 24px")):
        map_.get_root().html.add_child(folium.Element(f'<div style="{place}; {STYLE}">{html.escape(text)}</div>'))
    return map_


STYLE = (
    "position: fixed; left: 50%; transform: translateX(-50%); z-index: 1000; padding: 4px 12px; max-width: 60%; "
    "background: #fff3cd; border: 1px solid #b8860b; border-radius: 4px; font: 14px sans-serif"
)


def _legend(original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame, trajectory: str | None, most: int) -> str:
    """Say what the lines are, in plain words."""
    count = len(frames.read(original, trajectory).lengths)
    shown = f"{most} of {count} trajectories" if count > most else f"{count} trajectories"
    record = perturbed.attrs.get("tracs", {})
    how = f" ({record['method']}, epsilon {record['epsilon']:g})" if record else ""
    return f"{shown}, a colour each. Full lines: original. Dashes: perturbed{how}."


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
