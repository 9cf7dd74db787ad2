"""Maps of answers from a release: densities with their uncertainty, flows, and reconstructed tracks in their tubes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import folium
import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from shapely.geometry.base import BaseGeometry

import geotracs.geo.crs as crs_
import geotracs.views.maps.layers as layers
import geotracs.views.maps.page as page
import geotracs.views.maps.people as people
import geotracs.views.maps.scene as scenes
import geotracs.views.maps.sides as sides
import geotracs.views.maps.words as words
import geotracs.views.shapes as shapes
from geotracs.core.digest import OTHER
from geotracs.core.guarantee import recorded
from geotracs.errors import CRSError, InputError
from geotracs.geo.region import Region
from geotracs.geo.tracks import check
from geotracs.utility.compare import standing
from geotracs.views.colours import COLOURS, colours, on_scale, stops
from geotracs.views.maps.backdrop import Backdrop
from geotracs.views.maps.scene import Scene, Setting

MAX_FLOWS = 60
"""How many flows are drawn at most, and as many that are unclear: the largest."""
METRES = 111_320
"""In a degree of latitude."""
ZONE = {"color": "#777777", "weight": 0.5, "opacity": 0.6, "fillOpacity": 0.75}
PLACE = {"fill": True, "color": "#555555", "weight": 0.5, "opacity": 0.9, "fillOpacity": 0.85}
SPOT = {"radius": 1.8, "fill": True, "color": "#ffffff", "weight": 0.8, "opacity": 0.8, "fillOpacity": 0.9}
FLOW = {"color": "#ffffff", "weight": 0.7, "opacity": 0.9, "fillOpacity": 0.75}
UNCLEAR = {"weight": 1, "opacity": 0.6, "fillOpacity": 0.05}
TUBES = ({"opacity": 0.4, "fillOpacity": 0.2}, {"opacity": 0, "fillOpacity": 0.06})
"""Where a track is well known, and where it is not."""
FLOWING, STAYING = COLOURS[0], COLOURS[4]


@dataclass(frozen=True, repr=False)
class Look:
    """How the user wants the map of an answer: arguments of `explore`, checked."""

    view: str
    m: folium.Map | None
    color: str | None
    cmap: str | Sequence[str] | None
    tooltip: bool | int | str | Sequence[str]
    popup: bool | int | str | Sequence[str]
    legend: bool
    style: dict[str, Any]
    region: Region | None
    places: gpd.GeoDataFrame | gpd.GeoSeries | None
    columns: tuple[str | None, str | None]
    sample: int
    offline: bool
    backdrop: Backdrop = field(repr=False)
    size: dict[str, Any] = field(default_factory=dict)
    """``width`` and ``height``..."""
    options: dict[str, Any] = field(default_factory=dict)
    """...and what else folium is told."""


def kind_of(gdf: Any, perturbed: Any, truth: Any) -> str | None:
    """Return which answer a frame is, and check what is given with it; None for tracks."""
    answer = shapes.answer_of(gdf) if isinstance(gdf, gpd.GeoDataFrame) else None
    if answer is None:
        if truth is not None:
            raise InputError(
                "`truth` is for answers, such as density.tracs.explore(private, truth=tracks); for tracks before and "
                "after use tracks.tracs.explore(private)."
            )
        return None
    if gdf.crs is None:
        raise CRSError("The answer has no CRS; set it with gdf.set_crs(...).")
    if truth is not None:
        check(truth, "true frame")
        if recorded(truth.attrs):
            raise InputError("`truth` must be the original tracks; it carries the record of a perturbation.")
    if answer == "flows" and not (perturbed is None and truth is None):
        raise InputError("Flows are drawn alone: flows.tracs.explore(), without a release and without `truth`.")
    return answer


def draw(
    answer: str, frame: gpd.GeoDataFrame, release: gpd.GeoDataFrame | None, truth: gpd.GeoDataFrame | None, look: Look
) -> folium.Map | scenes.Row:
    """Draw an answer, with the release that it comes from and the original tracks if they are given."""
    view = "overlay" if look.view == "auto" else look.view
    if view == "person" and answer == "reconstruct":
        return _reconstructed(frame, release, truth, look)
    if view != "overlay" and (answer != "density" or view != "side-by-side"):
        raise InputError(
            '`view` must be "overlay" for this answer, or "side-by-side" for a density; "time" is for tracks.'
        )
    if answer == "density":
        return _density(frame, release, truth, look)
    return _flows(frame, look) if answer == "flows" else _reconstructed(frame, release, truth, look)


def _density(
    frame: gpd.GeoDataFrame, release: gpd.GeoDataFrame | None, truth: gpd.GeoDataFrame | None, look: Look
) -> folium.Map | scenes.Row:
    zones = shapes.drawable(frame)
    naive = {
        name: shapes.naive(zones, tracks)
        for name, tracks in (("original", truth), ("reports", release))
        if tracks is not None
    }
    share = shapes.numbers(zones, "share")
    top = max((float(part.max(initial=0)) for part in (share, *naive.values())), default=0.0)
    parts = layers.placed(zones.geometry, middle(zones))
    public, bounds = scenes.public(shapely.get_coordinates(parts), look.region, look.places, None, look.sample)
    if shapes.made_by(frame).get("over") == "cells":  # nobody is outside
        parts = _clipped(parts, public)
    estimated = [
        _choropleth("uncertainty", parts, shapes.width(zones), top, _notes(zones, look), look, show=False),
        _choropleth("estimated", parts, share, top, _notes(zones, look), look),
        _stipple(_centres(parts[shapes.unclear(zones)])),
    ]
    others = {
        name: _choropleth(name, parts, part, top, _notes(_with_share(zones, part), look), look)
        for name, part in naive.items()
    }
    setting = Setting(
        bounds,
        _density_legend(frame, zones, top, look),
        _density_caption(frame, truth),
        page.ANSWERS,
        look.backdrop.around(bounds),
    )
    bundled = look.offline or setting.caption is not None
    options = {**look.options, "prefer_canvas": len(zones) > look.sample}
    if look.view == "side-by-side":
        panels = {
            name: [*groups, *(layers.shapes(*layer) for layer in public)]
            for name, groups in ({name: [group] for name, group in others.items()} | {"estimated": estimated}).items()
        }
        return scenes.row(panels, setting, bundled, **options)
    for group in others.values():
        group.show = False
    groups = [*others.values(), *estimated, *(layers.shapes(*layer) for layer in public)]
    return scenes.stack(groups, setting, look.m, bundled, **look.size, **options)


def _choropleth(
    name: str, parts: np.ndarray, shares: np.ndarray, top: float, notes: layers.Notes, look: Look, show: bool = True
) -> folium.FeatureGroup:
    """Draw zones in the colours of their shares; places as discs that are as large, too."""
    group = folium.FeatureGroup(name, show=show)
    hues = on_scale(shares, top, look.cmap)
    points = shapely.get_type_id(parts) == shapely.GeometryType.POINT
    radius = np.round(2.5 + 13 * np.sqrt(np.clip(shares / (top or 1.0), 0, 1)), 1)
    own = [{"looks": {"radius": size}} if point else {} for size, point in zip(radius.tolist(), points, strict=True)]
    features = [
        _feature(part, hues[number], **own[number], **notes.of(number)) for number, part in enumerate(_rounded(parts))
    ]
    if features:
        looks = {**(PLACE if points.all() else ZONE), **look.style}
        layers.geojson(features, looks, notes.script()).add_to(group)
    return group


def _outline(public: list[layers.Shapes]) -> BaseGeometry | None:
    return next((parts[0] for name, parts, *_ in public if name == "region"), None)


def _clipped(parts: np.ndarray, public: list[layers.Shapes]) -> np.ndarray:
    """Return what of cells lies in the region, as far as this is known."""
    outline = _outline(public)
    if outline is None:
        return parts
    inside = shapely.intersection(parts, outline)
    return np.where(shapely.area(inside) > 0, inside, parts)


def _stipple(centres: np.ndarray) -> folium.FeatureGroup:
    """Draw a dot in each zone of which little is known."""
    group = folium.FeatureGroup("unclear")
    if len(centres):
        dots = [layers.feature("Point", where, "#333333") for where in layers.rounded(centres)]
        layers.geojson(dots, SPOT).add_to(group)
    return group


def _density_legend(frame: gpd.GeoDataFrame, zones: gpd.GeoDataFrame, top: float, look: Look) -> str | None:
    if not look.legend:
        return None
    unclear = shapes.unclear(zones)
    lines = words.of_release(None, frame)
    lines.append(f"share of the locations, {shapes.counted(zones)}")
    if unclear.any():
        lines.append(f"{int(unclear.sum()):,} unclear: the {shapes.level_of(frame)} is wider than the share")
    return page.legend(lines, ["unclear"] if unclear.any() else [], page.scale(stops(look.cmap), top))


def _density_caption(frame: gpd.GeoDataFrame, truth: gpd.GeoDataFrame | None) -> str | None:
    if truth is not None:
        return page.FIGURES
    return None if recorded(frame.attrs) else page.NO_RECORD


def _flows(frame: gpd.GeoDataFrame, look: Look) -> folium.Map:
    lines = shapes.drawable(frame)
    share = shapes.numbers(lines, "share")
    drawn = shapes.largest(lines, min(look.sample, MAX_FLOWS))
    order = np.concatenate(drawn)
    ends = shapes.ends(lines.geometry.iloc[order].to_crs(sides.DEGREES))
    starts, ends = np.split(_mercator(sides.in_one_piece(ends)), 2)
    parts = shapely.transform(shapes.arrows(starts, ends, share[order]), _from_mercator)
    public, bounds = scenes.public(shapely.get_coordinates(parts), look.region, look.places, None, look.sample)
    groups = [layers.shapes(*layer) for layer in public]
    clear = len(drawn[0])
    stays = np.all(starts == ends, axis=1)
    for vague, own in ((True, slice(clear, None)), (False, slice(clear))):
        notes = _notes(lines.iloc[order[own]], look)
        groups.append(_arrows(parts[own], stays[own], notes, look, vague=vague, show=not vague or clear == 0))
    legend = _flows_legend(frame, share, drawn, stays) if look.legend else None
    setting = Setting(
        bounds, legend, None if recorded(frame.attrs) else page.NO_RECORD, page.ANSWERS, look.backdrop.around(bounds)
    )
    bundled = look.offline or setting.caption is not None
    return scenes.stack(groups, setting, look.m, bundled, **look.size, **look.options)


def _arrows(
    parts: np.ndarray, stays: np.ndarray, notes: layers.Notes, look: Look, *, vague: bool, show: bool
) -> folium.FeatureGroup:
    """Draw flows as arrows, and as discs where they stay in a zone; hollow ones if they are unclear."""
    group = folium.FeatureGroup("unclear flows" if vague else "flows", show=show)
    features = [
        _feature(part, look.color or (STAYING if stays[number] else FLOWING), **notes.of(number))
        for number, part in enumerate(_rounded(parts))
    ]
    if features:
        layers.geojson(features, {**(UNCLEAR if vague else FLOW), **look.style}, notes.script()).add_to(group)
    return group


def _flows_legend(frame: gpd.GeoDataFrame, share: np.ndarray, drawn: list[np.ndarray], stays: np.ndarray) -> str:
    lines = words.of_release(None, frame)
    clear, vague = (len(rows) for rows in drawn)
    lines.append(f"{clear:,} of {len(share):,} flows, with {share[drawn[0]].sum():.0%} of the trips")
    if clear:
        lines.append(f"the largest: {share[drawn[0]].max():.1%}")
    if vague:
        lines.append(f"{vague:,} unclear ones: the {shapes.level_of(frame)} is wider than the share")
    rest = len(share) - clear - vague
    if rest:
        left = max(1 - share[drawn[0]].sum() - share[drawn[1]].sum() - (1 - share.sum()), 0.0)
        lines.append(f"{rest:,} smaller flows, together {left:.1%} of the trips, are not drawn")
    roles = ["flow"] + ["unclear flow"] * bool(vague) + ["within the zone"] * bool(stays.any())
    return page.legend(lines, roles)


def _reconstructed(
    frame: gpd.GeoDataFrame, release: gpd.GeoDataFrame | None, truth: gpd.GeoDataFrame | None, look: Look
) -> folium.Map:
    shown, roles = _tracks(frame, release, truth, look)
    radius = shapes.numbers(frame, "radius")[shown[0].rows]
    drawn = np.concatenate([side.lonlat for side in shown])
    public, bounds = scenes.public(drawn, look.region, look.places, None, look.sample)
    within = _outline(public)
    hues = colours(len(shown[0].offsets) - 1, look.color, look.cmap)
    caption_ = page.CAPTION if truth is not None else page.CHANGED if standing(frame) == OTHER else None
    legend = _tracks_legend(frame, shown[0], radius, roles) if look.legend else None
    setting = Setting(bounds, legend, caption_, page.ANSWERS, look.backdrop.around(bounds))
    bundled = look.offline or caption_ is not None
    if look.view == "person":
        names = people.names_of(shown[0], look.columns[0])
        return people.draw(shown, roles, names, public, setting, bundled, radius, **look.size, **look.options)
    notes = [layers.Notes(side.values(look.tooltip), side.values(look.popup)) for side in shown]
    scene = Scene(shown, roles, hues, notes, {"radius": 2, **look.style}, public, setting)
    tracks = [scene.tracks(number) for number in reversed(range(len(shown)))]
    for group in tracks:
        group.show = group.layer_name != "perturbed"  # lines all over what can be seen
    groups = [*scene.backdrop(), _tube(shown[0], radius, within, hues), *tracks]
    return scenes.stack(groups, setting, look.m, bundled, **look.size, **look.options)


def _tracks(
    frame: gpd.GeoDataFrame, release: gpd.GeoDataFrame | None, truth: gpd.GeoDataFrame | None, look: Look
) -> tuple[list[sides.Side], list[str]]:
    """Return the same trajectories of each frame, which may have other rows, and what they are."""
    trajectory, time = look.columns
    found = sides.read(frame, None, trajectory, time, look.sample)
    roles = ["reconstructed"]
    for role, other in (("perturbed", release), ("original", truth)):
        if other is None:
            continue
        missing = [name for name in (trajectory, time) if name is not None and name not in other.columns]
        if missing:
            raise InputError(f"The {role} frame has no column {missing[0]!r}; give `trajectory` and `time` of it.")
        if trajectory is not None:
            labels = frame[trajectory].iloc[found[0].rows].unique()
            other = other[other[trajectory].isin(labels)]
        found += sides.read(other, None, trajectory, time, look.sample)
        roles.append(role)
    return sides.unwrapped(found), roles


def _tube(side: sides.Side, radius: np.ndarray, within: Any, hues: list[str]) -> folium.FeatureGroup:
    """Draw the areas in which tracks lie, in their colours, paler where little is known."""
    high = radius / METRES
    wide = high / np.maximum(np.cos(np.radians(side.lonlat[:, 1])), 0.01)
    parts = shapes.tubes(side.lonlat, side.offsets, np.column_stack([wide, high]), within)
    features = [
        _feature(part, hue, looks=looks)
        for own, hue in zip(parts, hues, strict=True)
        for part, looks in zip(_rounded(own), TUBES, strict=True)
        if not part.is_empty
    ]
    group = folium.FeatureGroup("radius")
    if features:
        layers.geojson(features, {"weight": 1}).add_to(group)
    return group


def _tracks_legend(frame: gpd.GeoDataFrame, side: sides.Side, radius: np.ndarray, roles: list[str]) -> str:
    lines = words.of_release(None, frame)
    count = len(side.offsets) - 1
    lines.append(f"{count:,} of {side.trajectories:,} trajectories, {len(side.rows):,} of {side.total:,} locations")
    if len(radius):
        lines.append(f"half of the locations are known to within {words.distance(float(np.median(radius)))}")
    return page.legend(lines, ["radius", *roles])


def _feature(part: BaseGeometry, colour: str, **properties: Any) -> layers.Feature:
    geometry = part.__geo_interface__
    return {"type": "Feature", "properties": {"colour": colour, **properties}, "geometry": geometry}


def _rounded(parts: np.ndarray) -> np.ndarray:
    return np.asarray(shapely.set_precision(parts, 10.0**-layers.DIGITS, mode="pointwise"))


def _notes(frame: gpd.GeoDataFrame, look: Look) -> layers.Notes:
    """Return what zones and flows say: shares in percent, with their intervals."""
    return layers.Notes(*(_said(frame, sides.columns_of(frame, asked)) for asked in (look.tooltip, look.popup)))


def _said(frame: gpd.GeoDataFrame, columns: list[str]) -> tuple[list[str], list[list[str]]]:
    texts = []
    for name in columns:
        values = frame[name]
        if name in shapes.ESTIMATES and pd.api.types.is_numeric_dtype(values):
            texts.append(["" if np.isnan(value) else f"{value:.2%}" for value in values.to_numpy(dtype=np.float64)])
        elif name == "count" and pd.api.types.is_numeric_dtype(values):
            texts.append(["" if np.isnan(value) else f"{value:,.0f}" for value in values.to_numpy(dtype=np.float64)])
        else:
            texts.append([sides.shown(value) for value in values])
    return [page.text(name) for name in columns], [list(row) for row in zip(*texts, strict=True)]


def _with_share(zones: gpd.GeoDataFrame, share: np.ndarray) -> gpd.GeoDataFrame:
    """Return zones with another share, and without what belongs to the estimate."""
    return zones.drop(columns=[*shapes.ESTIMATES, *({"count"} & set(zones.columns))]).assign(share=share)


def middle(zones: gpd.GeoDataFrame) -> float:
    """Return the longitude in the middle of zones, which may lie on both sides of the antimeridian."""
    centres = _centres(np.asarray(zones.geometry.values))
    longitude = sides.in_one_piece(crs_.transform(centres, zones.crs, crs_.parse(sides.DEGREES)))[:, 0]
    return float(longitude.min() + longitude.max()) / 2 if len(longitude) else 0.0


def _centres(parts: np.ndarray) -> np.ndarray:
    return shapely.get_coordinates(shapely.point_on_surface(parts))


def _mercator(lonlat: np.ndarray) -> np.ndarray:
    """Return locations as the map shows them; longitudes may go on beyond 180 degrees."""
    longitude, latitude = np.radians(lonlat).T
    return np.column_stack([longitude, np.arcsinh(np.tan(latitude))])


def _from_mercator(xy: np.ndarray) -> np.ndarray:
    return np.degrees(np.column_stack([xy[:, 0], np.arctan(np.sinh(xy[:, 1]))]))
