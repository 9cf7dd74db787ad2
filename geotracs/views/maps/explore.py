"""``tracs.explore``: before and after on one map, side by side, or over time."""

from collections.abc import Hashable, Sequence
from numbers import Integral, Real
from typing import Any

import folium
import geopandas as gpd
import numpy as np
import pandas as pd
from folium.plugins import DualMap

import geotracs.geo.region as regions
import geotracs.views.maps.answers as answers
import geotracs.views.maps.layers as layers
import geotracs.views.maps.page as page
import geotracs.views.maps.scene as scenes
import geotracs.views.maps.sides as sides
import geotracs.views.shapes as shapes
from geotracs.core.digest import OTHER
from geotracs.core.guarantee import caption, following, recorded
from geotracs.errors import InputError, quoted, sealed
from geotracs.geo.tracks import check
from geotracs.utility.compare import compare, standing
from geotracs.views.colours import colours
from geotracs.views.maps.scene import Row, Scene, Setting
from geotracs.views.maps.window import window

MAX_LOCATIONS = 5000
"""How many locations are drawn of each frame, unless `sample` says otherwise."""
CANVAS = 4000
"""From how many shapes on they are drawn on a canvas, which is faster than a page element for each."""
TILES = "OpenStreetMap"


@sealed
def explore(
    gdf: gpd.GeoDataFrame,
    perturbed: gpd.GeoDataFrame | None = None,
    *,
    truth: gpd.GeoDataFrame | None = None,
    view: str = "overlay",
    m: folium.Map | None = None,
    tiles: Any = TILES,
    attr: str | None = None,
    color: str | None = None,
    cmap: str | Sequence[str] | None = None,
    tooltip: bool | int | str | Sequence[str] = True,
    popup: bool | int | str | Sequence[str] = False,
    legend: bool = True,
    width: str | int = "100%",
    height: str | int = "100%",
    style_kwds: dict[str, Any] | None = None,
    domain: Any = None,
    places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
    pick: Any = None,
    trajectory: str | None = None,
    time: str | None = None,
    sample: int = MAX_LOCATIONS,
    offline: bool = False,
) -> folium.Map | DualMap | Row:
    """Draw tracks before and after on a folium map, one colour per trajectory; or what a release answers.

    Full lines and dots are the originals, dashes and hollow dots the reports. Each kind is a layer that can be
    switched on and off: original, perturbed, displacement (off at first), region, places, window.

    A map that holds originals says so and must be kept confidential; ``perturbed.tracs.explore()`` holds none and is
    safe to publish, as long as the frame is what `perturb` returned or a part of it: what you put into it later is
    shown too. Other locations than those on record are noticed, in the CRS of the release, and the map says so.

    What `density`, `popularity`, `flows` and `reconstruct` return is drawn as what it is: zones in the colours of their
    shares, with a dot where a share is unclear and a layer of the widths of the intervals; arrows as wide as flows,
    hollow where they are unclear; tracks in the tube of their radius. All this comes from the release alone and is as
    safe to publish, until you draw the original tracks beside it with ``truth``.

    With originals on it a page loads no script from elsewhere: Leaflet is written into it, and tiles are its only
    request. They tell the tile server where the data is: take ``offline=True`` for confidential work. The page of a
    release alone loads its scripts from folium's usual servers, unless ``offline=True``.

    Parameters
    ----------
    gdf : GeoDataFrame
        The original tracks; or a release alone, without ``perturbed``; or an answer.
    perturbed : GeoDataFrame, optional
        What `perturb` made of it. Beside a density or a reconstruction, the release that it comes from.
    truth : GeoDataFrame, optional
        Beside a density or a reconstruction, the original tracks.
    view : {"overlay", "side-by-side", "time"}
        All on one map, maps that move together (a density: original, reports, estimate), or one map with a time slider.
    m : folium.Map, optional
        A map to draw on, for the overlay. A map of folium's loads scripts from third parties, who could read
        originals that are drawn on it: a `PrivacyWarning` says so when it is shown or saved.
    tiles, attr : str, xyzservices.TileProvider or None
        Background and, for tiles of your own, their attribution, as for `GeoDataFrame.explore`. An attribution is
        HTML: the logo that some servers put into theirs is one more request.
    color : str, optional
        One colour for all, instead of one a trajectory.
    cmap : list of colours, or name of a matplotlib colour map, optional
        Colours of the trajectories; by default seven that the colour-blind can tell apart, cycled. Of a density, the
        scale from little to much.
    tooltip, popup : bool, int, str or list of str
        Columns to show on hover and on click: the first ten, the first n (an integer), or the named ones.
    legend : bool
        Whether to show method, epsilon, average error (AE) and what the strokes mean.
    width, height : str or int
        Size of the map (not side by side).
    style_kwds : dict, optional
        Leaflet path options for the tracks, e.g. ``{"weight": 5}``.
    domain : optional
        The public region, as given to `perturb`. By default what the release records of it, which for a polygon is
        not its shape.
    places : GeoDataFrame or GeoSeries, optional
        The public places, as given to ``round_to``.
    pick : row label, or (row label, number) for lines, optional
        A location whose window is drawn: where its report falls, before projection and rounding, with the stated
        probability.
    trajectory, time : str, optional
        As given to `perturb`; by default what the release records.
    sample : int
        How many locations to draw at most; beyond it every n-th trajectory is drawn, and the legend says so. Of flows
        the 60 largest are drawn at most, and as many that are unclear.
    offline : bool
        Leave out tiles, and write the scripts into the page of a release alone too: a file that draws without any
        request.

    Returns
    -------
    folium.Map; for ``view="side-by-side"`` folium.plugins.DualMap, or a row of maps
        Shown by a notebook; ``.save("map.html")`` writes it.

    Notes
    -----
    What you add to a map with originals should bring no scripts. `folium.GeoJson`, `folium.CircleMarker` and
    `folium.PolyLine`, with tooltips, bring none; give them ``control=False``, since the layer control is already made.
    A plugin loads its scripts from third parties, and a `PrivacyWarning` says so when the map is shown or saved.
    `folium.Marker`, `folium.Icon` and `folium.Popup` need pictures and scripts that the page does not have: draw on a
    map of your own, with ``m``, if you want them and trust the servers that they come from.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> private = city.tracks.tracs.perturb(4, domain=city.boundary, trajectory="person", time="t", keep=[])
    >>> city.tracks.tracs.explore(private, domain=city.boundary)
    <folium.folium.Map object at ...>
    >>> private.tracs.explore(offline=True).save("safe-to-publish.html")  # doctest: +SKIP
    """
    answer = answers.kind_of(gdf, perturbed, truth)
    _check(gdf, perturbed, answer, m, offline, view=view, tiles=tiles, sample=sample)
    _check_looks(gdf, perturbed, color, cmap, style_kwds, (tooltip, popup), places, (width, height))
    record = recorded((gdf if perturbed is None or answer else perturbed).attrs)
    trajectory, time = (
        record.get(key) if name is None and record.get(key) in gdf.columns else name
        for name, key in ((trajectory, "trajectory"), (time, "time"))
    )
    region = regions.recorded(record, gdf.crs, domain)
    options = {"tiles": None if offline else tiles, "attr": attr, "zoomSnap": 0.25}
    size = {"width": width, "height": height}
    if answer is not None:
        look = answers.Look(
            view, m, color, cmap, tooltip, popup, legend, style_kwds or {}, region, places, (trajectory, time), sample,
            offline, size, options,
        )  # fmt: skip
        return answers.draw(answer, gdf, perturbed, truth, look)
    shown = sides.read(gdf, perturbed, trajectory, time, sample)
    picked = None if pick is None else window(gdf, perturbed, region, trajectory, time, pick)
    drawn = np.concatenate([side.lonlat for side in shown])
    public, bounds = scenes.public(drawn, region, places, picked, sample)
    roles = ["original", "perturbed"] if perturbed is not None else [shapes.role_of(gdf)]
    caption = page.CAPTION if perturbed is not None else None if record else page.UNKNOWN
    if record and perturbed is None and standing(gdf) == OTHER:
        caption = page.CHANGED
    setting = Setting(bounds, _legend(gdf, perturbed, shown[0], record, roles) if legend else None, caption)
    notes = [layers.Notes(side.values(tooltip), side.values(popup)) for side in shown]
    hues = colours(len(shown[0].offsets) - 1, color, cmap)
    scene = Scene(shown, roles, hues, notes, style_kwds or {}, public, setting)
    options["prefer_canvas"] = 2 * sum(len(side.rows) for side in shown) > CANVAS
    bundled = offline or caption is not None  # no script of a third party beside originals
    if view == "side-by-side":
        return scenes.side_by_side(scene, bundled, **options)
    draw = scenes.timeline if view == "time" else scenes.overlay
    return draw(scene, m, bundled, **size, **options)


def _legend(
    gdf: gpd.GeoDataFrame,
    perturbed: gpd.GeoDataFrame | None,
    side: sides.Side,
    record: dict[str, Any],
    roles: list[str],
) -> str:
    lines = []
    if record:
        lines += [caption(record), *following(record)]
    if perturbed is not None:
        error = compare(gdf, perturbed)["ae"]
        if pd.notna(error):
            lines.append(f"average error (AE): {error:,.0f} m")
    count = len(side.offsets) - 1
    if side.total == 0:
        lines.append("no locations")
    elif side.total > len(side.rows):
        lines.append(
            f"sample: {count:,} of {side.trajectories:,} trajectories, {len(side.rows):,} of {side.total:,} locations"
        )
    else:
        whole = "trajectory" if count == 1 else "trajectories"
        lines.append(f"{count:,} {whole}, {side.total:,} {'location' if side.total == 1 else 'locations'}")
    return page.legend(lines, roles)


VIEWS = ("overlay", "side-by-side", "time")


def _check(
    gdf: gpd.GeoDataFrame,
    perturbed: gpd.GeoDataFrame | None,
    answer: str | None,
    m: folium.Map | None,
    offline: bool,
    *,
    view: str,
    tiles: Any,
    sample: int,
) -> None:
    if answer is None:
        check(gdf, "frame")
    if perturbed is not None:
        check(perturbed, "perturbed frame")
        if recorded(gdf.attrs) and answer is None and not recorded(perturbed.attrs):
            raise InputError("The first frame carries the record of a perturbation and the second none: swap them.")
    if view not in VIEWS:
        raise InputError(f"`view` must be one of {list(VIEWS)}, got {quoted(view)}.")
    if view == "side-by-side" and perturbed is None and answer is None:
        raise InputError('view="side-by-side" needs a frame and its release: tracks.tracs.explore(perturbed, ...).')
    if m is not None and (view != "overlay" or offline):
        raise InputError('`m` is for view="overlay" without `offline`: the map is already made.')
    if offline and not (tiles is None or tiles == TILES):
        raise InputError("`offline=True` draws no tiles; leave out `tiles`.")
    if isinstance(sample, bool) or not isinstance(sample, (int, np.integer)) or sample < 1:
        raise InputError(f"`sample` must be a whole number of at least 1, got {quoted(sample)}.")


def _check_looks(
    gdf: gpd.GeoDataFrame,
    perturbed: gpd.GeoDataFrame | None,
    color: Any,
    cmap: Any,
    style: Any,
    notes: Sequence[Any],
    places: Any,
    size: Sequence[Any],
) -> None:
    if not all(isinstance(side, (str, Real)) for side in size):
        raise InputError("`width` and `height` must be a number of pixels or a text such as '100%'.")
    columns = {*gdf.columns, *(() if perturbed is None else perturbed.columns)}
    if isinstance(color, str) and color in columns:
        raise InputError("`color` is one colour for all; `trajectory` names the column that gives each its own.")
    named = [value for value in (style or {}).values() if isinstance(value, str)]
    given = [color, *([cmap] if isinstance(cmap, str) else cmap or []), *named]
    if any(sign in value for value in given if isinstance(value, str) for sign in "{<"):
        raise InputError("Colours and styles must not hold braces or `<`: they are written into a script.")
    if not all(isinstance(value, (str, bool, int, float)) for value in (style or {}).values()):
        raise InputError("`style_kwds` must hold Leaflet's path options: numbers, words, True or False.")
    for asked in notes:
        if isinstance(asked, (bool, np.bool_, Integral)) or asked is None:
            continue
        names = asked if isinstance(asked, (list, tuple)) else [asked]
        missing = [name for name in names if not (isinstance(name, Hashable) and name in columns)]
        if missing:
            raise InputError(
                f"`tooltip` and `popup` must be True, a number or names of columns, got {quoted(missing[0])}."
            )
    if places is not None and (not isinstance(places, (gpd.GeoDataFrame, gpd.GeoSeries)) or places.crs is None):
        raise InputError(f"`places` must be a GeoDataFrame or GeoSeries with a CRS, got {type(places).__name__}.")
