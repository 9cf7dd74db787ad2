"""Tracks before and after."""

from typing import TYPE_CHECKING, Any, cast

import geopandas as gpd
import numpy as np

import geotracs.geo.region as regions
import geotracs.geo.tracks as frames
import geotracs.views.plots.answers as answers
from geotracs.errors import InputError, sealed
from geotracs.views.colours import COLOURS
from geotracs.views.plots.canvas import (
    CAPTION,
    Unwrap,
    describe,
    draw_basemap,
    draw_public,
    frame_axes,
    pyplot,
    record_of,
    some_of,
    tracks_of,
    unwrapping,
)
from geotracs.views.shapes import answer_of, role_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = {
    "original": {"linestyle": "-", "linewidth": 2.4, "marker": "o", "markersize": 4, "zorder": 3},
    "synthetic": {"linestyle": "-", "linewidth": 1.2, "marker": ".", "markersize": 4, "zorder": 2},
    "reconstructed": {"linestyle": (0, (1, 1.2)), "linewidth": 1.8, "marker": ".", "markersize": 4, "zorder": 3},
    "perturbed": {"linestyle": (0, (4, 2)), "linewidth": 0.7, "marker": "x", "markersize": 5, "zorder": 2},
}

POINTS = 2000
"""How many points that are not joined by a line are drawn at most."""


@sealed
def plot(
    original: gpd.GeoDataFrame,
    perturbed: gpd.GeoDataFrame | None = None,
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
) -> "Axes | np.ndarray":
    """Draw tracks before (full lines, dots) and after (dashes, crosses); a trajectory has the same colour in both.

    What `density`, `popularity`, `flows` and `reconstruct` return is drawn by `geotracs.plots.density`, `flows` and
    `tube`, which have more options.

    Parameters
    ----------
    original : GeoDataFrame
        As given to `perturb`. A release alone makes a drawing without any original location. Or an answer.
    perturbed : GeoDataFrame, optional
        What `perturb` made of it. Beside an answer, the release that it comes from.
    truth : GeoDataFrame, optional
        Beside an answer, the original tracks.
    ax : matplotlib Axes, optional
        Draw both on this one; by default side by side.
    trajectory, time : str, optional
        As given to `perturb`; by default what the release records. Points without either are not joined by a line.
    domain : optional
        The public region, as given to `perturb`. By default what the release records of it, which for a polygon is
        not its shape.
    places : GeoDataFrame or GeoSeries, optional
        Public places.
    most : int
        How many trajectories to draw at most, spread over all of them. Of points without trajectories 2,000 are drawn
        at most. The figure says so.
    legend : bool
        Say what the lines are, which method and epsilon, and the mean displacement.
    basemap : str, xyzservices.TileProvider or True, optional
        Tiles below, by contextily where it is installed: a URL or a provider, or True for its own. They tell the tile
        server the area shown.

    Returns
    -------
    matplotlib Axes, or two of them in an array
        As `GeoDataFrame.plot` does. A drawing of original locations says that it is confidential.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> private = city.tracks.tracs.perturb(6, domain=city.boundary, trajectory="person", time="t", keep=[])
    >>> left, right = city.tracks.tracs.plot(private, domain=city.boundary)
    >>> right.get_title()
    'perturbed'
    """
    plt = pyplot()
    frames.check(original)
    answer = answer_of(original)
    if answer is not None:
        looks: dict[str, Any] = {"ax": ax, "domain": domain, "places": places, "legend": legend, "basemap": basemap}
        tracks_only: dict[str, Any] = {"trajectory": trajectory, "time": time, "most": most}
        return _answer(answer, original, perturbed, truth, looks, tracks_only)
    if truth is not None:
        raise InputError("`truth` is for answers, such as density.tracs.plot(private, truth=tracks).")
    if perturbed is not None:
        frames.check(perturbed, "perturbed frame")
    releases = [frame for frame in (original, perturbed) if frame is not None and record_of(frame)]
    record = record_of(releases[-1]) if releases else {}
    known = {key: record.get(key) if record.get(key) in original.columns else None for key in ("trajectory", "time")}
    columns = [trajectory or known["trajectory"], time or known["time"]]
    layers = {role_of(original) if perturbed is None else "original": tracks_of(original, *columns)}
    if perturbed is not None:
        layers["perturbed"] = tracks_of(perturbed.to_crs(original.crs), *columns)
    region = regions.recorded(record, original.crs, domain)
    outline = None if region is None else region.outline(original.crs)
    unwrap = unwrapping(original.crs, outline, [xy for tracks in layers.values() for xy in tracks.values()])
    joined = columns != [None, None] or any(original.geom_type == "LineString")
    chosen, note = some_of(list(next(iter(layers.values()))), most)
    if not joined:
        layers, note = _thinned(layers)
    styles = {name: STYLES[name] if joined else {**STYLES[name], "linestyle": ""} for name in layers}
    fig: Any = None
    axes: Any = np.repeat(cast(Any, ax), len(layers))
    if ax is None:
        size = {"figsize": (5.5 * len(layers), 5.6), "layout": "constrained"}
        fig, axes = plt.subplots(1, len(layers), squeeze=False, sharex=True, sharey=True, **size)
        axes = axes[0]
    shown = [unwrap(tracks[label]) for tracks in layers.values() for label in chosen if label in tracks]
    for own, name in zip(axes, layers, strict=True):
        _draw(own, [layers[name].get(label) for label in chosen], styles[name], unwrap)
    for own in dict.fromkeys(axes):
        draw_public(own, outline, places, original.crs, unwrap)
        frame_axes(own, original.crs, shown, outline)
        draw_basemap(own, original.crs, basemap)
        if not shown:
            own.text(0.5, 0.5, "no locations", transform=own.transAxes, ha="center")
    _say(fig, axes, list(layers), " ".join(filter(None, [note, CAPTION if "original" in layers else ""])))
    if legend:
        _legend(fig, axes[0], styles, describe(record, original, perturbed))
    return axes[0] if len(layers) == 1 or fig is None else axes


def _answer(
    answer: str,
    frame: gpd.GeoDataFrame,
    release: gpd.GeoDataFrame | None,
    truth: gpd.GeoDataFrame | None,
    looks: dict[str, Any],
    own: dict[str, Any],
) -> "Axes | np.ndarray":
    if answer == "density":
        return answers.density(frame, release, truth=truth, **looks)
    if answer == "reconstruct":
        return answers.tube(frame, release, truth=truth, **own, **looks)
    if not (release is None and truth is None):
        raise InputError("Flows are drawn alone: flows.tracs.plot(), without a release and without `truth`.")
    return answers.flows(frame, **looks)


def _thinned(layers: dict[str, dict[Any, np.ndarray]]) -> tuple[dict[str, dict[Any, np.ndarray]], str]:
    """Return some points, spread over all of them, and a sentence if there are more."""
    count = max((len(xy) for tracks in layers.values() for xy in tracks.values()), default=0)
    if count <= POINTS:
        return layers, ""
    rows = np.linspace(0, count - 1, POINTS).astype(int)
    thinned = {
        name: {label: xy[rows[rows < len(xy)]] for label, xy in tracks.items()} for name, tracks in layers.items()
    }
    return thinned, f"{POINTS:,} of {count:,} locations."


def _draw(ax: "Axes", tracks: list[np.ndarray | None], style: dict[str, Any], unwrap: Unwrap) -> None:
    """Draw trajectories, one colour each, with occasional markers."""
    for number, xy in enumerate(tracks):
        if xy is not None:
            every = max(1, len(xy) // 25) if style["linestyle"] else 1
            ax.plot(*unwrap(xy).T, color=COLOURS[number % len(COLOURS)], markevery=every, **style)


def _say(fig: Any, axes: np.ndarray, names: list[str], text: str) -> None:
    """Name the panels; remarks go above all of them."""
    if fig is None:
        axes[0].set_title(text, loc="left", fontsize="small")
        return
    for ax, name in zip(axes, names, strict=True):
        ax.set_title(name)
        ax.label_outer()
    fig.suptitle(text, fontsize="small")


def _legend(fig: Any, ax: "Axes", styles: dict[str, dict[str, Any]], how: str) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for name, style in styles.items():
        label = f"{name}: {how}" if name != "original" and how else name
        handles.append(Line2D([], [], color="#777777", label=label, **style))
    if fig is None:
        ax.legend(handles=handles, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.08))
    else:
        fig.legend(handles=handles, fontsize="small", loc="outside lower center", ncols=len(handles))
