"""``tracs.explore``: before and after on one map, side by side, or over time."""

from collections.abc import Hashable, Sequence
from numbers import Integral, Real
from typing import Any

import folium
import geopandas as gpd
import numpy as np
import shapely
from folium.plugins import DualMap

import geotracs.geo.crs as crs_
import geotracs.geo.region as regions
import geotracs.views.compared as compared
import geotracs.views.maps.answers as answers
import geotracs.views.maps.comparison as comparison
import geotracs.views.maps.layers as layers
import geotracs.views.maps.over_time as over_time
import geotracs.views.maps.page as page
import geotracs.views.maps.people as people
import geotracs.views.maps.scene as scenes
import geotracs.views.maps.sides as sides
import geotracs.views.maps.words as words
import geotracs.views.shapes as shapes
from geotracs.answers.density import MIN_REPORTS
from geotracs.core.digest import OTHER
from geotracs.core.guarantee import recorded
from geotracs.errors import InputError, quoted, sealed
from geotracs.geo.tracks import check
from geotracs.utility.compare import standing
from geotracs.views.colours import colours
from geotracs.views.compared import Asked
from geotracs.views.maps.backdrop import Backdrop
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
    view: str = "auto",
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
    background: Any = None,
    cells: Any = None,
    zones: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
    at_least: float = 0,
    pick: Any = None,
    trajectory: str | None = None,
    time: str | None = None,
    trail: Any = None,
    sample: int | None = None,
    offline: bool = False,
) -> folium.Map | DualMap | Row:
    """Draw tracks before and after on a folium map, or their densities; or what a release answers.

    A few people are drawn as tracks, one colour per trajectory. More of them would be a ball of wool: then, or with
    ``view="density"``, hexagons show the share of locations in the originals and in the release, what a reader of the
    release estimates, and the difference, all on one scale and as layers of which one is shown at a time. A release
    alone is drawn as its estimated density, where it has enough reports.

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
    view : {"auto", "overlay", "density", "side-by-side", "density side-by-side", "time", "person"}
        Tracks or densities by how much there is; all tracks on one map; densities as layers; both on maps that move
        together; tracks with a time slider; or one person at a time, picked from a list, with time as colour. With
        what `reconstruct` found, the release and ``truth=`` the last one shows what an attacker finds.
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
    background : GeoDataFrame or GeoSeries, or a list of them, optional
        Layers of your own, such as districts and streets, drawn in greys below everything. Without tiles coarse land
        and borders (Natural Earth) are drawn, too; False leaves them out.
    cells : float or geotracs.places.Grid, optional
        Of densities: hexagons so many metres wide, or the cells of a grid. By default hexagons that suit the region
        and the noise.
    zones : GeoDataFrame or GeoSeries, optional
        Of densities: areas of your own instead.
    at_least : float
        Of densities: smaller counts are not shown.
    pick : row label, or (row label, number) for lines, optional
        A location whose window is drawn: where its report falls, before projection and rounding, with the stated
        probability.
    trajectory, time : str, optional
        As given to `perturb`; by default what the release records.
    trail : str, Timedelta or number, optional
        Of view="time": how long a trail lasts, such as "10min". By default a twentieth of the time.
    sample : int, optional
        How many locations to draw as tracks at most, by default 5,000, over time and one by one 50,000; beyond it
        every n-th trajectory is drawn, and the legend says so. Densities are of all locations. Of flows
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
    if sample is None:
        sample = people.MANY if view in ("person", "time") else MAX_LOCATIONS
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
    behind = Backdrop.of(background, offline or tiles is None)
    if answer is not None:
        look = answers.Look(
            view, m, color, cmap, tooltip, popup, legend, style_kwds or {}, region, places, (trajectory, time), sample,
            offline, behind, size, options,
        )  # fmt: skip
        return answers.draw(answer, gdf, perturbed, truth, look)
    _check_polar(gdf)
    asked = Asked(cells, zones, at_least, places)
    view = _chosen(view, gdf, perturbed, trajectory, pick, asked)
    if view in DENSITIES:
        view = "side-by-side" if view == DENSITIES[1] else "overlay"
        look = answers.Look(
            view, m, color, cmap, tooltip, popup, legend, style_kwds or {}, region, places, (trajectory, time), sample,
            offline, behind, size, options,
        )  # fmt: skip
        return _densities(gdf, perturbed, asked, look, domain)
    shown = sides.read(gdf, perturbed, trajectory, time, sample)
    picked = None if pick is None else window(gdf, perturbed, region, trajectory, time, pick)
    drawn = np.concatenate([side.lonlat for side in shown])
    public, bounds = scenes.public(drawn, region, places, picked, sample)
    roles = ["original", "perturbed"] if perturbed is not None else [shapes.role_of(gdf)]
    caption = page.CAPTION if perturbed is not None else None if record else page.UNKNOWN
    if record and perturbed is None and standing(gdf) == OTHER:
        caption = page.CHANGED
    said = [*words.of_release(*((None, gdf) if perturbed is None else (gdf, perturbed))), words.drawn(shown[0])]
    setting = Setting(bounds, page.legend(said, roles) if legend else None, caption, ground=behind.around(bounds))
    hues = colours(len(shown[0].offsets) - 1, color, cmap)
    bundled = offline or caption is not None  # no script of a third party beside originals
    if view in ("person", "time"):
        page_of: dict[str, Any] = {**size, **options}
        names = people.names_of(shown[0], trajectory)
        if view == "person":
            return people.draw(shown, roles, names, public, setting, bundled, **page_of)
        return over_time.draw(shown, roles, names, hues, public, setting, bundled, trail, **page_of)
    notes = [layers.Notes(side.values(tooltip), side.values(popup)) for side in shown]
    scene = Scene(shown, roles, hues, notes, style_kwds or {}, public, setting)
    options["prefer_canvas"] = 2 * sum(len(side.rows) for side in shown) > CANVAS
    if view == "side-by-side":
        return scenes.side_by_side(scene, bundled, **options)
    return scenes.overlay(scene, m, bundled, **size, **options)


DENSITIES = ("density", "density side-by-side")
VIEWS = ("auto", "overlay", "side-by-side", "time", "person", *DENSITIES)
POLAR, MERCATOR = 60, 85.05
"""In degrees: locations that are all beyond the first, and reach beyond the second, lie around a pole."""
MANY = 12
"""With more people `view="auto"` draws densities: colours would repeat, and tracks hide each other."""


def _chosen(
    view: str,
    gdf: gpd.GeoDataFrame,
    perturbed: gpd.GeoDataFrame | None,
    trajectory: str | None,
    pick: Any,
    asked: Asked,
) -> str:
    """Return the view that suits how much there is, where the user leaves it open."""
    if view != "auto":
        return view
    if pick is not None:
        return "overlay"
    if asked.cells is not None or asked.zones is not None or asked.at_least:
        return "density"
    released = perturbed is None and bool(recorded(gdf.attrs)) and shapes.role_of(gdf) == "perturbed"
    points = words.locations(gdf)
    if released and points >= MIN_REPORTS:
        return "density"
    people = gdf[trajectory].nunique() if trajectory in gdf.columns else 1
    return "density" if points > MAX_LOCATIONS or people > MANY else "overlay"


def _densities(
    gdf: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame | None, asked: Asked, look: answers.Look, domain: Any
) -> folium.Map | Row:
    """Draw the densities of originals and release, or of one of them."""
    if perturbed is None and recorded(gdf.attrs) and standing(gdf) != OTHER:
        original, release, caption = None, gdf, None
    else:
        original, release = gdf, perturbed
        caption = page.FIGURES if perturbed is not None else page.CHANGED if recorded(gdf.attrs) else page.UNKNOWN
    found = compared.compared(original, release, asked, look.region, domain)
    lines = [*words.of_release(original, release), words.counted(words.locations(gdf))]
    return comparison.draw(found, look, lines, caption, asked.at_least)


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
    if m is not None and (view not in ("auto", "overlay", "density") or offline):
        raise InputError("`m` is for all on one map, without `offline`: the map is already made.")
    if offline and not (tiles is None or tiles == TILES):
        raise InputError("`offline=True` draws no tiles; leave out `tiles`.")
    if isinstance(sample, bool) or not isinstance(sample, (int, np.integer)) or sample < 1:
        raise InputError(f"`sample` must be a whole number of at least 1, got {quoted(sample)}.")


def _check_polar(gdf: gpd.GeoDataFrame) -> None:
    """Raise for locations around a pole, which no map in Web Mercator shows."""
    xy = shapely.get_coordinates(np.asarray(gdf.geometry.dropna().values))
    latitude = np.abs(crs_.transform(xy, gdf.crs, crs_.parse(sides.DEGREES))[:, 1])
    if len(latitude) and latitude.min() > POLAR and latitude.max() > MERCATOR:
        raise InputError(
            "These locations lie around a pole, where web maps end (85 degrees). Draw them with plot(), in a polar CRS "
            "such as EPSG:3995 (north) or EPSG:3031 (south): tracks.to_crs(3995).tracs.plot(private)."
        )


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
