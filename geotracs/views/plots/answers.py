"""Drawings of answers from a release: densities beside the truth, flows, and reconstructed tracks in their tubes."""

from typing import TYPE_CHECKING, Any, cast

import geopandas as gpd
import numpy as np
import shapely

import geotracs.geo.crs as crs_
import geotracs.geo.region as regions
import geotracs.views.shapes as shapes
from geotracs.core.guarantee import caption
from geotracs.errors import InputError, sealed
from geotracs.views.colours import COLOURS, stops
from geotracs.views.plots.canvas import (
    CAPTION,
    FIGURES,
    draw_basemap,
    draw_public,
    frame_axes,
    plain,
    pyplot,
    record_of,
    some_of,
    tracks_of,
    unwrapping,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_FLOWS = 60
"""How many flows are drawn at most: the largest."""
METRES = 111_320
"""In a degree of latitude."""
STYLES: dict[str, dict[str, Any]] = {
    "original": {"linestyle": "-", "linewidth": 2.2, "zorder": 4},
    "reports": {"linestyle": "", "marker": "x", "markersize": 3, "alpha": 0.4, "zorder": 2},
    "reconstructed": {"linestyle": (0, (1, 1.2)), "linewidth": 1.8, "marker": ".", "markersize": 4, "zorder": 5},
}


@sealed
def density(
    estimate: gpd.GeoDataFrame,
    release: gpd.GeoDataFrame | None = None,
    *,
    truth: gpd.GeoDataFrame | None = None,
    ax: "Axes | None" = None,
    domain: Any = None,
    places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
    cmap: Any = None,
    legend: bool = True,
    basemap: Any = None,
) -> "Axes | np.ndarray":
    """Draw an estimated density, and beside it that of the reports and of the originals, all on one scale.

    Parameters
    ----------
    estimate : GeoDataFrame
        What `density` or `popularity` returned. A dot marks a share with an interval that is wider than itself.
    release : GeoDataFrame, optional
        The release, of which the share of reports in each zone is drawn.
    truth : GeoDataFrame, optional
        The original tracks, likewise: the drawing is then confidential, and says so.
    ax : matplotlib Axes, optional
        Draw the estimate on this one, without the others.
    domain, places
        As for `plot`.
    cmap : list of colours such as "#ffffd9", or name of a matplotlib colour map, optional
        From little to much. Small shares are spread: the scale is one of square roots.
    legend : bool
        Show the scale, and say how many zones are unclear.
    basemap : optional
        As for `plot`.

    Returns
    -------
    matplotlib Axes, or several of them in an array

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> estimate = city.boundary.assign(share=1.0, low=0.98, high=1.0)[["share", "low", "high", "geometry"]]
    >>> density(estimate, truth=city.tracks)[0].get_title()
    'original'
    """
    plt = pyplot()
    shapes.check(estimate, shapes.ESTIMATES, release, truth)
    if ax is not None and not (release is None and truth is None):
        raise InputError("`ax` is for an estimate alone; leave it out to draw several densities side by side.")
    zones = shapes.drawable(estimate)
    panels = {
        name: shapes.naive(zones, tracks)
        for name, tracks in (("original", truth), ("reports", release))
        if tracks is not None
    }
    panels["estimated"] = shapes.numbers(zones, "share")
    top = max(float(shares.max(initial=0)) for shares in panels.values()) or 1.0
    axes: Any = [ax]
    if ax is None:
        size = {"figsize": (5.0 * len(panels) + 0.8, 5.2), "layout": "constrained"}
        axes = plt.subplots(1, len(panels), squeeze=False, sharex=True, sharey=True, **size)[1][0]
    scale = scale_of(top, cmap)
    for own, (name, shares) in zip(axes, panels.items(), strict=True):
        parts = draw_zones(own, zones, shares, scale, _region(estimate, domain), places)
        own.set_title(name)
        draw_basemap(own, zones.crs, basemap)
        if ax is None:
            own.label_outer()
    dots = shapes.unclear(zones)
    centres = shapely.get_coordinates(shapely.point_on_surface(np.asarray(parts.values)[dots]))
    axes[-1].plot(*centres.T, "o", color="#333333", markersize=2.2, markeredgecolor="white", markeredgewidth=0.4)
    note = f"{int(dots.sum()):,} of {shapes.counted(zones)} unclear" if legend and dots.any() else ""
    axes[-1].set_xlabel("\n".join(filter(None, [axes[-1].get_xlabel(), note])))
    if legend:
        bar = axes[0].figure.colorbar(scale, ax=list(axes), shrink=0.8, label="share of the locations")
        bar.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")
    if ax is None:
        _say(axes, estimate, FIGURES if truth is not None else "")
    return axes[0] if len(panels) == 1 else axes


@sealed
def flows(
    estimate: gpd.GeoDataFrame,
    *,
    ax: "Axes | None" = None,
    domain: Any = None,
    places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
    most: int = MAX_FLOWS,
    legend: bool = True,
    basemap: Any = None,
) -> "Axes":
    """Draw flows as arrows as wide as their shares, bent to the right; discs stay in their zone.

    Parameters
    ----------
    estimate : GeoDataFrame
        What `flows` returned. Flows with an interval that is wider than the share are left out; if all are, they are
        drawn hollow.
    most : int
        How many to draw at most.
    basemap : optional
        As for `plot`.

    Examples
    --------
    >>> import shapely
    >>> lines = [shapely.LineString([(0, 0), (1, 0)]), shapely.LineString([(1, 0), (0, 0)])]
    >>> moved = {"origin": ["a", "b"], "destination": ["b", "a"], "share": [0.7, 0.3], "low": 0.2, "high": [0.8, 0.4]}
    >>> len(flows(gpd.GeoDataFrame(moved, geometry=lines, crs=3857)).collections)
    1
    """
    plt = pyplot()
    shapes.check(estimate, shapes.FLOWS)
    lines = shapes.drawable(estimate)
    clear, vague = shapes.largest(lines, most)
    order = clear if len(clear) else vague
    share = shapes.numbers(lines, "share")
    xy = shapes.ends(lines.geometry.iloc[order])
    region = _region(estimate, domain)
    outline = None if region is None else region.outline(estimate.crs)
    unwrap = unwrapping(estimate.crs, outline, [xy])
    stretch = np.array([_shrink(estimate.crs, xy), 1.0])
    starts, ends = np.split(unwrap(xy) * stretch, 2)
    arrows = shapely.transform(shapes.arrows(starts, ends, share[order]), lambda plane: plane / stretch)
    stays = np.all(starts == ends, axis=1)
    ax = plt.subplots(figsize=(6.5, 5.8), layout="constrained")[1] if ax is None else ax
    draw_public(ax, outline, places, estimate.crs, unwrap)
    colours = np.where(stays, COLOURS[4], COLOURS[0])
    if len(order):
        style = {"alpha": 0.8, "edgecolor": "white", "linewidth": 0.5} if len(clear) else {"facecolor": "none"}
        own = {"color": colours.tolist()} if len(clear) else {"edgecolor": colours.tolist(), "linewidth": 0.8}
        gpd.GeoSeries(arrows, crs=estimate.crs).plot(ax=ax, aspect=None, zorder=3, **own, **style)
    frame_axes(ax, estimate.crs, [shapely.get_coordinates(arrows)], outline)
    draw_basemap(ax, estimate.crs, basemap)
    if legend:
        kind = "flows" if len(clear) else "flows, all unclear"
        words = f"{len(order):,} of {len(lines):,} {kind}, {share[order].sum():.0%} of the trips"
        ax.set_title("\n".join(filter(None, [_caption(estimate), words])), fontsize="small")
    return ax


@sealed
def tube(
    found: gpd.GeoDataFrame,
    release: gpd.GeoDataFrame | None = None,
    *,
    truth: gpd.GeoDataFrame | None = None,
    ax: "Axes | None" = None,
    trajectory: str | None = None,
    time: str | None = None,
    domain: Any = None,
    places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
    most: int = 4,
    legend: bool = True,
    basemap: Any = None,
) -> "Axes":
    """Draw reconstructed tracks in the tube of their radius, with the reports and the originals.

    Parameters
    ----------
    found : GeoDataFrame
        What `reconstruct` returned, with the column ``radius`` in metres.
    release, truth : GeoDataFrame, optional
        The release (crosses) and the original tracks (full lines): the drawing is then confidential, and says so.
    trajectory, time, domain, places, most, legend, basemap
        As for `plot`.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> tube(city.tracks.assign(radius=300.0), trajectory="person", time="t").get_xlabel()
    'longitude'
    """
    plt = pyplot()
    shapes.check(found, {"radius"}, release, truth)
    record = record_of(found)
    columns = (trajectory or record.get("trajectory"), time or record.get("time"))
    sides = {"reconstructed": found, "reports": release, "original": truth}
    tracks = {name: tracks_of(frame.to_crs(found.crs), *columns) for name, frame in sides.items() if frame is not None}
    chosen, note = some_of(list(tracks["reconstructed"]), most)
    region = _region(found, domain)
    outline = None if region is None else region.outline(found.crs)
    radius = tracks_of(found, *columns, column="radius")
    unwrap = unwrapping(found.crs, outline, [xy for side in tracks.values() for xy in side.values()])
    ax = plt.subplots(figsize=(6.5, 5.8), layout="constrained")[1] if ax is None else ax
    draw_public(ax, outline, places, found.crs, unwrap)
    shown = []
    for number, label in enumerate(chosen):
        colour = COLOURS[number % len(COLOURS)]
        xy = unwrap(tracks["reconstructed"][label])
        areas = shapes.tubes(xy, np.array([0, len(xy)]), _radii(found.crs, xy, radius[label]), outline)[0]
        for area, alpha in zip(areas, (0.2, 0.06), strict=True):
            if not area.is_empty:
                gpd.GeoSeries([area], crs=found.crs).plot(ax=ax, aspect=None, color=colour, alpha=alpha, zorder=1)
        for name, side in tracks.items():
            if label in side:
                shown.append(unwrap(side[label]))
                ax.plot(*shown[-1].T, color=colour, **STYLES[name])
    frame_axes(ax, found.crs, shown, outline)
    draw_basemap(ax, found.crs, basemap)
    words = [_caption(found), " ".join(filter(None, [note, CAPTION if truth is not None else ""]))]
    ax.set_title("\n".join(filter(None, words)), fontsize="small")
    if legend:
        _legend(ax, list(tracks), shapes.level_of(found))
    return ax


def _legend(ax: "Axes", names: list[str], level: str) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Line2D([], [], color="#777777", label=name, **STYLES[name]) for name in names]
    handles.append(Patch(color="#777777", alpha=0.2, label=level.replace("interval", "radius")))
    ax.legend(handles=handles, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=4)


def _region(frame: gpd.GeoDataFrame, domain: Any) -> regions.Region | None:
    return regions.recorded(record_of(frame), frame.crs, domain)


def _caption(frame: gpd.GeoDataFrame) -> str:
    record = record_of(frame)
    return plain(caption(record)) if record else ""


def _say(axes: Any, frame: gpd.GeoDataFrame, note: str) -> None:
    """Say above all panels what they come from."""
    words = " ".join(f"{part}." if part and not part.endswith(".") else part for part in (_caption(frame), note))
    axes[0].figure.suptitle(words.strip(), fontsize="small")


def scale_of(top: float, cmap: Any) -> Any:
    """Return a scale of shares up to the largest, by square roots."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    return ScalarMappable(PowerNorm(0.5, 0, top), LinearSegmentedColormap.from_list("shares", stops(cmap)))


def draw_zones(
    ax: "Axes", zones: gpd.GeoDataFrame, shares: np.ndarray, scale: Any, region: regions.Region | None, places: Any
) -> gpd.GeoSeries:
    """Colour zones by their shares, with places as discs that are as large, too; return what is drawn."""
    outline = None if region is None else region.outline(zones.crs)
    coordinates = shapely.get_coordinates(np.asarray(zones.geometry.values))
    unwrap = unwrapping(zones.crs, outline, [coordinates])
    parts = gpd.GeoSeries(shapely.transform(np.asarray(zones.geometry.values), unwrap), crs=zones.crs)
    if outline is not None and shapes.made_by(zones).get("over") == "cells":  # nobody is outside
        inside = parts.intersection(outline)
        parts = inside.where(~inside.is_empty, parts)
    draw_public(ax, outline, places, zones.crs, unwrap)
    look = {"edgecolor": "#999999", "linewidth": 0.3}
    if len(parts) and np.all(parts.geom_type == "Point"):
        look["markersize"] = 6 + 150 * shares / (scale.norm.vmax or 1.0)
    if len(parts):
        parts.plot(ax=ax, aspect=None, color=scale.to_rgba(shares), zorder=1, **cast(Any, look))
    draw_public(ax, outline, None, zones.crs, unwrap, fill="none")
    frame_axes(ax, zones.crs, [unwrap(coordinates)], outline)
    return parts


def _shrink(crs: Any, xy: np.ndarray) -> float:
    """Return how much narrower a degree of longitude is than one of latitude, at the middle; 1 in a plane."""
    if not crs.is_geographic or len(xy) == 0:
        return 1.0
    middle = (xy[:, 1].min() + xy[:, 1].max()) / 2 * crs_.degrees_per_unit(crs)
    return max(float(np.cos(np.radians(middle))), 0.01)


def _radii(crs: Any, xy: np.ndarray, metres: np.ndarray) -> np.ndarray:
    """Return the radius along x and y in units of the CRS."""
    if not crs.is_geographic:
        radius = metres / crs.axis_info[0].unit_conversion_factor
        return np.column_stack([radius, radius])
    high = metres / METRES / crs_.degrees_per_unit(crs)
    latitude = np.radians(xy[:, 1] * crs_.degrees_per_unit(crs))
    return np.column_stack([high / np.maximum(np.cos(latitude), 0.01), high])
