"""What a map shows, whatever the view: on one map, on maps side by side, or over time."""

from dataclasses import dataclass, field
from typing import Any, cast

import folium
import geopandas as gpd
import numpy as np
import shapely
from branca.element import Figure, MacroElement
from folium.elements import JSCSSMixin
from folium.plugins import DualMap
from folium.template import Template

import geotracs.geo.region as regions
import geotracs.views.maps.layers as layers
import geotracs.views.maps.page as page
import geotracs.views.maps.sides as sides
from geotracs.views.maps.backdrop import Ground

REGION = {"color": "#333333", "weight": 2, "opacity": 0.9, "fill": False}
PLACES = {"color": "#666666", "radius": 2, "weight": 1, "opacity": 0.7, "fillOpacity": 0.5}
WINDOW = {"color": "#000000", "radius": 5, "weight": 1.5, "opacity": 0.9, "fillOpacity": 0.12}


@dataclass(frozen=True)
class Setting:
    """What stands around the layers of a page."""

    bounds: list[list[float]] | None = field(repr=False)
    legend: str | None = field(repr=False)
    caption: str | None
    title: str = page.TITLE
    ground: Ground = field(default_factory=list, repr=False)

    def annotate(self, captioned: folium.Map, explained: folium.Map, corner: str = "topleft") -> None:
        """Put the caption, and a guard, on one map and the legend into a corner of the same or another."""
        page.dress(captioned)
        if self.caption:
            page.Note(self.caption, "bottomleft", "caption").add_to(captioned)
            page.guard(captioned)
        if self.legend:
            page.Note(self.legend, corner, "legend").add_to(explained)

    def finish(self, *maps: folium.Map) -> None:
        """Show all of it on all maps of a page, beside their controls: they do the rest when the page is opened."""
        page.Ready(maps, self.bounds, self.title, self.ground).add_to(maps[0])

    def blank(self, options: dict[str, Any]) -> folium.Map:
        """Return a map without layers."""
        map_ = folium.Map(**options)
        cast(Figure, map_.get_root()).title = self.title
        return map_


@dataclass(frozen=True)
class Scene:
    """Tracks, what lies below them, and what stands around."""

    shown: list[sides.Side]
    roles: list[str]
    colours: list[str]
    notes: list[layers.Notes] = field(repr=False)
    style: dict[str, Any] = field(repr=False)
    public: list[layers.Shapes] = field(repr=False)
    setting: Setting

    def tracks(self, number: int) -> folium.FeatureGroup:
        """The tracks before (0) or after (1)."""
        return layers.tracks(self.shown[number], self.roles[number], self.colours, self.notes[number], self.style)

    def backdrop(self) -> list[folium.FeatureGroup]:
        """The layers below the tracks, made anew for each map."""
        return [layers.shapes(*layer) for layer in self.public]


def overlay(scene: Scene, m: folium.Map | None, bundled: bool, **options: Any) -> folium.Map:
    """Draw all sides on one map."""
    groups = scene.backdrop()
    if scene.roles == ["original", "perturbed"]:
        groups.append(layers.displacements(*scene.shown))
    groups += [scene.tracks(number) for number in reversed(range(len(scene.shown)))]
    return stack(groups, scene.setting, m, bundled, **options)


def stack(
    groups: list[folium.FeatureGroup], setting: Setting, m: folium.Map | None, bundled: bool, **options: Any
) -> folium.Map:
    """Draw layers on one map, a new one or the user's."""
    map_ = setting.blank(options) if m is None else m
    taken = [getattr(child, "layer_name", None) for child in map_._children.values()]
    for group in groups:
        names = [group.layer_name, *(f"{group.layer_name} {number}" for number in range(2, len(taken) + 3))]
        group.layer_name = next(name for name in names if name not in taken)  # the control knows layers by name
        group.add_to(map_)
    setting.annotate(map_, map_)
    if m is None:
        setting.finish(map_)
    controls = [name for name, child in map_._children.items() if isinstance(child, folium.LayerControl)]
    for name in controls:  # a control is drawn after the layers that it names
        map_._children.move_to_end(name)
    if not controls:
        folium.LayerControl(collapsed=False).add_to(map_)
    if bundled and m is None:
        page.inline(map_, map_)
    return map_


def side_by_side(scene: Scene, bundled: bool, **options: Any) -> DualMap:
    """Draw each side on a map of its own."""
    both = DualMap(**options)
    for number, map_ in enumerate((both.m1, both.m2)):
        for group in scene.backdrop():
            group.add_to(map_)
        scene.tracks(number).add_to(map_)
        folium.LayerControl(collapsed=False).add_to(map_)
    scene.setting.annotate(both.m1, both.m2, "bottomleft")
    scene.setting.finish(both.m1, both.m2)
    cast(Figure, both.get_root()).title = scene.setting.title
    if bundled:
        page.inline(both.m1, both, both.m1, both.m2)
    return both


class Row(JSCSSMixin, MacroElement):
    """Maps side by side that move together: folium's `DualMap` for any number of them."""

    _template = Template(
        """
        {% macro script(this, kwargs) %}
            {% for one in this.maps %}{% for other in this.maps %}{% if one is not sameas other %}
            {{ one.get_name() }}.sync({{ other.get_name() }});
            {% endif %}{% endfor %}{% endfor %}
        {% endmacro %}
        """
    )
    default_js = DualMap.default_js

    def __init__(self, count: int, **options: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # branca has no annotations there
        self._name = "Row"
        options |= {"width": f"{100 / count}%", "position": "absolute"}
        self.maps = [folium.Map(left=f"{100 * number / count}%", **options) for number in range(count)]
        figure = Figure()
        for part in (*self.maps, self):  # the last one names the others
            figure.add_child(part)

    def _repr_html_(self, **kwargs: Any) -> str:
        return str(cast(Figure, self.get_root())._repr_html_(**kwargs))


def row(panels: dict[str, list[folium.FeatureGroup]], setting: Setting, bundled: bool, **options: Any) -> Row:
    """Draw panels of layers side by side, each under its name; the last one explains them all."""
    maps = Row(len(panels), **options)
    for map_, (name, groups) in zip(maps.maps, panels.items(), strict=True):
        page.Note(page.text(name), "topright", "title").add_to(map_)
        for group in groups:
            group.add_to(map_)
        if map_ is maps.maps[-1]:
            folium.LayerControl(collapsed=False).add_to(map_)
    setting.annotate(maps.maps[0], maps.maps[-1], "bottomleft")
    setting.finish(*maps.maps)
    cast(Figure, maps.get_root()).title = setting.title
    if bundled:
        page.inline(maps.maps[0], maps, *maps.maps)
    return maps


def public(
    lonlat: np.ndarray,
    region: regions.Region | None,
    places: gpd.GeoDataFrame | gpd.GeoSeries | None,
    picked: tuple[gpd.GeoSeries, float] | None,
    most: int,
) -> tuple[list[layers.Shapes], list[list[float]] | None]:
    """Return the shapes below what is drawn, and the bounds (south-west, north-east) of all that is in view.

    Parameters
    ----------
    lonlat : array of shape (n, 2)
        What is drawn, in degrees.
    most : int
        How many places to show at most.
    """
    middle = float(lonlat[:, 0].min() + lonlat[:, 0].max()) / 2 if len(lonlat) else 0.0
    found: list[layers.Shapes] = []
    boxes = [[*lonlat.min(axis=0), *lonlat.max(axis=0)]] if len(lonlat) else []
    if region is not None:
        outline = layers.placed(gpd.GeoSeries([region.outline()], crs=region.data_crs), middle)
        found.append(("region", outline, REGION, "public region"))
        boxes += shapely.bounds(outline).tolist()
    if places is not None:
        spots = places.geometry.iloc[:: -(-len(places) // most) or 1]
        found.append(("places", layers.placed(spots, middle), PLACES, "public place"))
    if picked is not None:
        name = f"window ({picked[1]:.0%})"
        note = f"Before projection and rounding, the report of the picked location falls here with {picked[1]:.1%}."
        found.append((name, layers.placed(picked[0], middle), WINDOW, note))
    if not boxes:
        return found, None
    west, south, east, north = np.min(boxes, axis=0)[:2].tolist() + np.max(boxes, axis=0)[2:].tolist()
    return found, [[south, west], [north, east]]
