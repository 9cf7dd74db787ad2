"""Maps of densities: originals, reports, estimate and difference, as layers of one map or side by side."""

import folium
import geopandas as gpd
import numpy as np
import shapely

import geotracs.views.maps.layers as layers
import geotracs.views.maps.page as page
import geotracs.views.maps.scene as scenes
import geotracs.views.maps.sides as sides
import geotracs.views.shapes as shapes
from geotracs.views.colours import DIVERGING, diverging, on_scale, stops
from geotracs.views.compared import ESTIMATED, Compared
from geotracs.views.maps.answers import Look, middle

DIFFERENCE = "difference"
ZONE = {"color": "#777777", "weight": 0.4, "opacity": 0.6, "fillOpacity": 0.85}
HIDDEN = {"fillOpacity": 0.0}
SPOT = {"radius": 1.4, "fill": True, "color": "#ffffff", "fillColor": "#333333", "weight": 0.5, "fillOpacity": 1}
"""Where the interval is wider than the share."""
CORNERS = 60_000
"""Zones with more corners than these together are drawn more coarsely."""


def draw(
    found: Compared, look: Look, legend: list[str], caption: str | None, at_least: float
) -> folium.Map | scenes.Row:
    """Draw the layers of a comparison: on one map, of which one is shown at a time, or side by side."""
    parts, public, bounds = _placed(found.zones, look)
    groups = _groups(found, parts, look, at_least)
    words = (
        page.legend(
            [*legend, *_words(found, at_least)], ["unclear"] if found.unclear.any() else [], _scales(found, look)
        )
        if look.legend
        else None
    )
    title = page.TITLE if "original" in found.shares else page.ANSWERS
    setting = scenes.Setting(bounds, words, caption, title, look.backdrop.around(bounds))
    bundled = look.offline or caption is not None
    options = {**look.options, "prefer_canvas": len(found.zones) * len(groups) > look.sample}
    backdrop = [layer for layer in public if layer[0] != "places"]
    if look.view == "side-by-side" and len(groups) > 1:
        panels = {name: [group, *(layers.shapes(*layer) for layer in backdrop)] for name, group in groups.items()}
        return scenes.row(panels, setting, bundled, **options)
    shown = ESTIMATED if ESTIMATED in groups else next(iter(groups))
    for name, group in groups.items():
        group.overlay, group.show = look.m is not None, name == shown
    drawn = [*groups.values(), *(layers.shapes(*layer) for layer in public)]
    return scenes.stack(drawn, setting, look.m, bundled, **look.size, **options)


def _placed(zones: gpd.GeoDataFrame, look: Look) -> tuple[np.ndarray, list[layers.Shapes], list[list[float]] | None]:
    """Return zones as they are drawn, clipped by the region where this is known; what is public, and the bounds."""
    parts = layers.placed(zones.geometry, middle(zones))
    corners = shapely.get_coordinates(parts)
    if len(corners) > CORNERS:
        size = float(np.ptp(corners, axis=0).max())
        parts = shapely.simplify(parts, size / 2000)
        corners = shapely.get_coordinates(parts)
    public, bounds = scenes.public(corners, look.region, look.places, None, look.sample)
    outline = next((layer[1][0] for layer in public if layer[0] == "region"), None)
    if outline is not None:
        inside = shapely.intersection(parts, outline)
        parts = np.where(shapely.area(inside) > 0, inside, parts)
        west, south, east, north = shapely.bounds(outline).tolist()
        bounds = [[south, west], [north, east]]
    return parts, public, bounds


def _groups(found: Compared, parts: np.ndarray, look: Look, at_least: float) -> dict[str, folium.FeatureGroup]:
    """Return a layer for each way, and one for the difference."""
    tips = _tips(found, at_least)
    groups = {}
    for name, shares in found.shares.items():
        hues = on_scale(shares, found.top, look.cmap)
        vague = found.unclear if name == ESTIMATED else np.zeros(len(parts), dtype=bool)
        groups[name] = _layer(name, parts, hues, found.hidden(name, at_least), vague, tips, look)
    if found.difference is not None:
        values, name = found.difference
        hidden = found.hidden("original", at_least) & found.hidden(name, at_least)
        vague = found.unclear if name == ESTIMATED else np.zeros(len(parts), dtype=bool)
        hues = diverging(values, float(np.abs(values).max(initial=0)))
        groups[DIFFERENCE] = _layer(DIFFERENCE, parts, hues, hidden, vague, tips, look)
    return groups


def _layer(
    name: str,
    parts: np.ndarray,
    hues: list[str],
    hidden: np.ndarray,
    vague: np.ndarray,
    tips: tuple[list[str], list[list[str]]],
    look: Look,
) -> folium.FeatureGroup:
    """Draw zones in their colours: with a dot where little is known, empty where counts are hidden."""
    group = folium.FeatureGroup(name)
    notes = layers.Notes(tips, ([], []))
    features = []
    for number, part in enumerate(shapely.set_precision(parts, 10.0**-layers.DIGITS, mode="pointwise")):
        own: dict[str, object] = {"looks": HIDDEN} if hidden[number] else {}
        geometry = part.__geo_interface__
        properties = {"colour": "#777777" if hidden[number] else hues[number], **own, **notes.of(number)}
        features.append({"type": "Feature", "properties": properties, "geometry": geometry})
    if features:
        layers.geojson(features, {**ZONE, **look.style}, notes.script()).add_to(group)
    dots = shapely.get_coordinates(shapely.point_on_surface(parts[vague & ~hidden]))
    if len(dots):
        spots = [layers.feature("Point", where, "#333333") for where in layers.rounded(dots)]
        layers.geojson(spots, SPOT).add_to(group)
    return group


def _tips(found: Compared, at_least: float) -> tuple[list[str], list[list[str]]]:
    """Return what each zone says, on every layer: all shares and counts, and the interval."""
    heads = ["zone", *found.shares]
    columns = [[sides.shown(label) for label in found.zones.index]]
    for name, shares in found.shares.items():
        hidden = found.hidden(name, at_least)
        columns.append(
            [
                f"fewer than {at_least:g}" if few else f"{share:.2%} ({share * found.totals[name]:,.0f})"
                for share, few in zip(shares.tolist(), hidden.tolist(), strict=True)
            ]
        )
    if found.low is not None and found.high is not None:
        heads.append(f"{found.level:.0%} interval")
        ends = zip(found.low.tolist(), found.high.tolist(), found.hidden(ESTIMATED, at_least).tolist(), strict=True)
        columns.append(["" if few else f"{low:.2%} to {high:.2%}" for low, high, few in ends])
    return [page.text(head) for head in heads], [list(row) for row in zip(*columns, strict=True)]


def _words(found: Compared, at_least: float) -> list[str]:
    """Return what the legend says of the zones."""
    lines = [f"share of the locations, {shapes.counted(found.zones)}"]
    unclear = int(found.unclear.sum())
    if unclear:
        lines.append(f"{unclear:,} unclear: the {found.level:.0%} interval is wider than the share")
    if at_least > 0:
        lines.append(f"counts below {at_least:g} are not shown")
    return [*lines, *found.notes]


def _scales(found: Compared, look: Look) -> str:
    bars = page.scale(stops(look.cmap), found.top)
    if found.difference is None:
        return bars
    values, name = found.difference
    top = float(np.abs(values).max(initial=0))
    ticks = [f"-{top:.2%}", "0", f"+{top:.2%}"]
    return f"{bars}<div>difference: {page.text(name)} - original</div>{page.bar(DIVERGING, ticks)}"
