"""Layers of a map: tracks before and after, displacements, region, places, and tracks over time."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import folium
import geopandas as gpd
import numpy as np
import shapely
from folium.utilities import JsCode

import geotracs.views.maps.page as page
from geotracs.views.maps.sides import DEGREES, Side

STROKES: dict[str, dict[str, Any]] = {
    "original": {"weight": 3, "opacity": 0.95},
    "perturbed": {"weight": 1.5, "opacity": 0.5, "dashArray": "4 6"},
    "synthetic": {"weight": 1.5, "opacity": 0.5},
    "reconstructed": {"weight": 2, "opacity": 0.95, "dashArray": "1 5"},
}
DOTS: dict[str, dict[str, Any]] = {
    "original": {"radius": 4, "weight": 1, "opacity": 1, "fill": True, "fillOpacity": 0.95},
    "perturbed": {"radius": 4, "weight": 2, "opacity": 0.9, "fill": True, "fillColor": "#ffffff", "fillOpacity": 0.9},
    "synthetic": {"radius": 2, "weight": 1, "opacity": 0.5, "fill": True, "fillColor": "#ffffff", "fillOpacity": 0.9},
    "reconstructed": {"radius": 2, "weight": 1, "opacity": 1, "fill": True, "fillOpacity": 1},
}
"""Full lines and full dots before, dashes and hollow dots after, dotted lines and small dots for what was found again:
told apart without colour."""
DIGITS = 6
"""Of a degree: a tenth of a metre."""

Feature = dict[str, Any]
Shapes = tuple[str, np.ndarray, dict[str, Any], str]
"""The name of a layer, its shapes in degrees, Leaflet's path options, and what they say on hover."""


class Notes:
    """What is shown on hover and on click: names of columns once, values for each location, all escaped."""

    def __init__(self, *parts: tuple[list[str], list[list[str]]]) -> None:
        self._parts = [(name, *part) for name, part in zip(("tip", "pop"), parts, strict=True) if part[0]]

    def of(self, number: int) -> dict[str, list[str]]:
        """Return what a location says, for its properties."""
        return {name: values[number] for name, _, values in self._parts}

    def script(self) -> JsCode:
        """Return the function that binds them to a shape."""
        heads = {name: heads for name, heads, _ in self._parts}
        return JsCode(
            f"""function (f, layer) {{
                const heads = {page.in_script(heads)};
                const row = (head, value) => "<tr><th>" + head + "</th><td>" + value + "</td></tr>";
                const table = (name) =>
                    "<table>" + heads[name].map((head, i) => row(head, f.properties[name][i])).join("") + "</table>";
                if (f.properties.tip) layer.bindTooltip(table("tip"), {{sticky: true}});
                if (f.properties.pop) layer.bindPopup(table("pop"), {{maxHeight: 300, maxWidth: 400}});
            }}"""
        )


def tracks(side: Side, role: str, colours: Sequence[str], notes: Notes, style: dict[str, Any]) -> folium.FeatureGroup:
    """Draw the tracks of a side: one line per trajectory, one dot per location.

    Parameters
    ----------
    style : dict
        Leaflet's path options that the user asked for.
    """
    owner = side.owner
    lines = _line_features(side, colours)
    dots = [
        feature("Point", where, colours[owner[number]], **notes.of(number))
        for number, where in enumerate(rounded(side.lonlat))
    ]
    group = folium.FeatureGroup(role)
    for features, looks in ((lines, STROKES[role]), (dots, DOTS[role])):
        if features:
            geojson(features, {**looks, **style}, notes.script()).add_to(group)
    return group


def displacements(before: Side, after: Side) -> folium.FeatureGroup:
    """Draw a thin line from each location to its report."""
    ends = np.stack([_array(before.lonlat), _array(after.lonlat)], axis=1).tolist()
    group = folium.FeatureGroup("displacement", show=False)
    if ends:
        looks = {"weight": 1, "opacity": 0.6}
        geojson([feature("LineString", pair, "#555555") for pair in ends], looks).add_to(group)
    return group


def placed(geometry: gpd.GeoSeries, middle: float) -> np.ndarray:
    """Return shapes in degrees, each moved by whole turns to where a middle longitude is nearest."""
    shapes = np.array(geometry[~(geometry.is_empty | geometry.isna())].to_crs(DEGREES).values)
    if not geometry.crs.is_geographic:  # what crossed the antimeridian came out torn
        west, _, east, _ = shapely.bounds(shapes).T.reshape(4, -1)
        for number in np.flatnonzero(east - west > 180):
            shapes[number] = shapely.transform(shapes[number], _unwrapped)
    turns = 360 * np.round((middle - shapely.get_x(shapely.centroid(shapes))) / 360)
    for turn in np.unique(turns[turns != 0]):
        moved = turns == turn
        shapes[moved] = shapely.transform(shapes[moved], partial(np.add, np.array([turn, 0])))
    return shapes


def shapes(name: str, parts: np.ndarray, looks: dict[str, Any], note: str) -> folium.FeatureGroup:
    """Draw shapes in degrees: the region, the places, the window of a location."""
    features = [
        {"type": "Feature", "properties": {"colour": looks["color"]}, "geometry": part.__geo_interface__}
        for part in shapely.set_precision(parts, 10.0**-DIGITS, mode="pointwise")
    ]
    group = folium.FeatureGroup(name)
    if features:
        script = JsCode(f"function (f, layer) {{ layer.bindTooltip({page.in_script(note)}, {{sticky: true}}); }}")
        geojson(features, looks, script).add_to(group)
    return group


def feature(kind: str, where: list[Any], colour: str, **properties: Any) -> Feature:
    """Return a shape of a track for GeoJSON."""
    geometry = {"type": kind, "coordinates": where}
    return {"type": "Feature", "properties": {"colour": colour, **properties}, "geometry": geometry}


def rounded(lonlat: np.ndarray) -> list[list[float]]:
    """Return locations as pairs with as many digits as are drawn."""
    return _array(lonlat).tolist()


def _line_features(side: Side, colours: Sequence[str]) -> list[Feature]:
    where = rounded(side.lonlat)
    return [
        feature("LineString", where[begin:end], colours[number])
        for number, (begin, end) in enumerate(zip(side.offsets[:-1], side.offsets[1:], strict=True))
        if end - begin > 1
    ]


def geojson(features: list[Feature], looks: dict[str, Any], script: JsCode | None = None) -> folium.GeoJson:
    """Draw features in their colours; Leaflet's path options are for all of them, and each may have its own."""
    for number, feature in enumerate(features):
        feature["id"] = number
    return folium.GeoJson(
        {"type": "FeatureCollection", "features": features},
        style_function=lambda feature: {
            "color": feature["properties"]["colour"],
            "fillColor": feature["properties"]["colour"],
            **looks,
            **feature["properties"].get("looks", {}),
        },
        marker=folium.CircleMarker(),
        on_each_feature=script,
    )


def _unwrapped(lonlat: np.ndarray) -> np.ndarray:
    return np.column_stack([np.unwrap(lonlat[:, 0], period=360), lonlat[:, 1]])


def _array(lonlat: np.ndarray) -> np.ndarray:
    return np.round(lonlat, DIGITS)
