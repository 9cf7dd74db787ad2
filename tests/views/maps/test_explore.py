import html
import os
import re
from importlib.resources import files

import folium
import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from folium.plugins import DualMap, Fullscreen

import geotracs
from geotracs.cli import cli
from geotracs.errors import InputError
from geotracs.views.maps.explore import MAX_LOCATIONS
from geotracs.views.maps.page import CAPTION, CHANGED, UNKNOWN
from geotracs.views.maps.words import distance
from tests.conftest import TOKYO

pytestmark = pytest.mark.slow

VIEWS = ("overlay", "side-by-side", "time")
BUNDLED = sum(path.stat().st_size for path in files("geotracs.views.maps").joinpath("assets").iterdir())
LOADS = re.compile(r"<(?:script|link|iframe|img|object|embed)\b[^>]*?(?:src|href|data)\s*=[^>]*", re.IGNORECASE)
"""A tag that asks for something when the page is opened."""


def released(frame, eps=4, **arguments):
    return frame.tracs.perturb(eps, **{"domain": TOKYO, "keep": [], **arguments})


def html_of(map_):
    return map_.get_root().render()


def layer_names(map_):
    return [child.layer_name for child in map_._children.values() if isinstance(child, folium.FeatureGroup)]


@pytest.fixture
def private(tracks):
    return released(tracks, method="tracs-d", trajectory="person", time="t")


def as_lines(tracks):
    ordered = tracks.sort_values(["person", "t"])
    lines = ordered.groupby("person").geometry.apply(lambda points: shapely.LineString(points.tolist()))
    return gpd.GeoDataFrame(lines.reset_index(), geometry="geometry", crs=tracks.crs)


def test_originals_put_into_a_release_are_not_called_safe(tracks, private):
    swapped = private.set_geometry(tracks.geometry)
    assert CHANGED in html_of(swapped.tracs.explore())
    assert not LOADS.search(html_of(swapped.tracs.explore()))
    for safe in (private, private[private["person"] == "ann"], private.sample(frac=1, random_state=1)):
        page = html_of(safe.tracs.explore())
        assert not [caption for caption in (CAPTION, CHANGED, UNKNOWN) if caption in page]


def test_layers_legend_and_caption(tracks, private):
    places = gpd.GeoSeries(gpd.points_from_xy([139.7, 139.71], [35.7, 35.71]), crs=4326)
    first = tracks[tracks.person == "ann"].t.idxmin()
    map_ = tracks.tracs.explore(private, places=places, pick=first)
    assert isinstance(map_, folium.Map)
    names = layer_names(map_)
    assert names[:2] == ["region", "places"]
    assert re.fullmatch(r"window \(\d+%\)", names[2])
    assert names[3:] == ["displacement", "perturbed", "original"]
    page = html_of(map_)
    error = geotracs.compare(tracks, private)["ae"]
    for text in ("tracs-d, epsilon 4 per location", f"mean error {distance(error)}", CAPTION, "60 locations"):
        assert text in page


def test_a_trajectory_has_its_colour_before_and_after(tracks, private):
    map_ = tracks.tracs.explore(private)
    groups = {group.layer_name: group for group in map_._children.values() if isinstance(group, folium.FeatureGroup)}
    colours = {
        role: [
            [feature["properties"]["colour"] for feature in layer.data["features"]]
            for layer in groups[role]._children.values()
        ]
        for role in ("original", "perturbed")
    }
    assert colours["original"] == colours["perturbed"]
    assert [len(set(layer)) for layer in colours["original"]] == [3, 3]
    html_of(map_)  # fills the styles
    looks = [next(iter(groups[role]._children.values())).style_map for role in ("original", "perturbed")]
    assert "dashArray" not in str(looks[0])
    assert "dashArray" in str(looks[1])


def test_the_map_of_a_release_holds_no_original_coordinate(tracks):
    with pytest.warns(geotracs.PrivacyWarning):  # a fixed draw: reports may agree with originals by chance
        private = released(tracks, trajectory="person", time="t", rng=1)
    for page in (html_of(private.tracs.explore(view=view)) for view in ("overlay", "time")):
        assert CAPTION not in page
        assert UNKNOWN not in page
        for number in shapely.get_coordinates(tracks.geometry.values).ravel():
            assert f"{number:.6f}" not in page
        for number in shapely.get_coordinates(private.geometry.values)[:5].ravel():
            assert str(round(number, 6)) in page


def test_a_frame_without_a_record_is_captioned_as_confidential(tracks):
    assert UNKNOWN in html_of(tracks.tracs.explore())


HOSTILE = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "${alert(3)}", "'\"`{{7*7}}", "a&b"]
TEMPLATES = ["{{ 7654321 * 3 }}", "{{ cycler.__init__.__globals__.os.getcwd() }}", "{% raw %}", "{# gone #}"]
"""folium compiles what it has rendered once more: such values would run Python on the analyst's machine."""


@pytest.mark.parametrize("view", VIEWS)
def test_templates_in_the_data_are_text(tracks, view):
    frame = tracks.assign(person=np.resize(TEMPLATES[:3], len(tracks)), note=np.resize(TEMPLATES, len(tracks)))
    frame = frame.rename(columns={"note": TEMPLATES[0]})
    private = released(frame, trajectory="person", time="t", keep=[TEMPLATES[0]])
    private.attrs["tracs"] |= {"method": TEMPLATES[1], "unit": TEMPLATES[0]}
    page = html_of(frame.tracs.explore(private, view=view, popup=True))
    assert "22962963" not in page
    assert os.getcwd() not in page
    for text in TEMPLATES if view != "time" else ():  # where names are text in a script, see test_people
        escaped = html.escape(text).replace("{", "&#123;").replace("}", "&#125;").replace("&", r"\u0026")
        assert escaped in page


@pytest.mark.parametrize("text", ["{{ 7 }}", "</script><script src=https://a.example/x.js></script>"])
@pytest.mark.parametrize("name", ["color", "cmap", "style_kwds"])
def test_no_templates_and_no_tags_in_colours(tracks, private, name, text):
    arguments = {name: {"color": text, "cmap": [text], "style_kwds": {"dashArray": text}}[name]}
    with pytest.raises(InputError, match="braces"):
        tracks.tracs.explore(private, **arguments)


@pytest.mark.parametrize(
    "record",
    [
        "text",
        [1],
        7,
        None,
        {"method": "tracs-c"},
        {"method": "tracs-c", "epsilon": "<b>"},
        {"method": 3, "epsilon": 4},
        {"method": "tracs-c", "epsilon": 4.0, "trajectory": ["person"]},
        {"method": "tracs-c", "epsilon": 4.0, "domain": "everywhere"},
        {"method": "tracs-c", "epsilon": 4.0, "domain": None},
        {"method": "tracs-c", "epsilon": float("nan")},
    ],
)
def test_a_record_that_is_not_ours_is_none(tracks, record):
    frame = tracks.copy()
    frame.attrs["tracs"] = record
    assert UNKNOWN in html_of(frame.tracs.explore())
    with pytest.raises(InputError, match="no record"):
        _ = frame.tracs.guarantee


ENGINEERING = 'ENGCRS["a",EDATUM["b"],CS[Cartesian,2],AXIS["x",east],AXIS["y",north],UNIT["m",1]]'


@pytest.mark.parametrize(
    "domain",
    [
        {},
        {"kind": "disc", "crs": "EPSG:4326"},
        {"kind": "globe", "crs": "EPSG:4326"},
        {"kind": "rectangle", "crs": "EPSG:4326", "bounds": [1, 2]},
        {"kind": "rectangle", "crs": "nowhere", "bounds": [1, 2, 3, 4]},
        {"kind": ["rectangle"], "crs": "EPSG:4326", "bounds": [1, 2, 3, 4]},
        {"kind": "rectangle", "crs": ENGINEERING, "bounds": [1, 2, 3, 4]},
    ],
)
def test_a_record_without_a_region_that_can_be_drawn(tracks, private, domain):
    private.attrs["tracs"]["domain"] = domain
    assert "region" not in layer_names(tracks.tracs.explore(private))


@pytest.mark.parametrize("view", VIEWS)
def test_column_values_and_names_are_escaped(tracks, view):
    frame = tracks.assign(person=np.resize(HOSTILE[:3], len(tracks)), note=np.resize(HOSTILE, len(tracks)))
    frame = frame.rename(columns={"note": "<b onclick=alert(4)>"})
    private = released(frame, trajectory="person", time="t", keep=["<b onclick=alert(4)>"])
    page = html_of(frame.tracs.explore(private, view=view, popup=True))
    for text in ("<script>alert", "<img src=x", "<b onclick"):
        assert text not in page
    assert "alert(1)" in page  # as text


@pytest.mark.parametrize("view", VIEWS)
def test_large_data_is_sampled_and_says_so(view):
    n, people = 20_000, 200
    rng = np.random.default_rng(0)
    frame = gpd.GeoDataFrame(
        {"person": np.repeat(np.arange(people), n // people), "t": np.tile(np.arange(n // people), people)},
        geometry=gpd.points_from_xy(rng.uniform(139.5, 139.9, n), rng.uniform(35.6, 35.8, n)),
        crs=4326,
    )
    private = released(frame, trajectory="person", time="t")
    page = html_of(frame.tracs.explore(private, view=view, sample=MAX_LOCATIONS))
    assert f"sample: 50 of 200 trajectories, {MAX_LOCATIONS:,} of 20,000 locations" in page
    assert len(page) < 5_000_000
    one = html_of(frame.tracs.explore(released(frame), view="overlay", sample=100))
    assert "sample: 1 of 1 trajectories, 100 of 20,000 locations" in one
    assert len(one) < 200_000 + BUNDLED


CASES = {
    "lines": lambda t: as_lines(t),
    "one trajectory": lambda t: t[t.person == "ann"],
    "one point": lambda t: t.iloc[:1],
    "empty": lambda t: t.iloc[:0],
    "missing": lambda t: t.set_geometry(t.geometry.where(np.arange(len(t)) % 3 > 0)),
    "all missing": lambda t: t.set_geometry(gpd.GeoSeries([None] * len(t), index=t.index, crs=t.crs)),
    "other name": lambda t: t.rename_geometry("where"),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("case", CASES)
def test_ragged_frames(tracks, case, view):
    frame = CASES[case](tracks)
    before = frame.copy()
    time = None if case == "lines" else "t"
    private = released(frame, trajectory="person", time=time)
    page = html_of(frame.tracs.explore(private, view=view))
    html_of(private.tracs.explore(view=view) if view != "side-by-side" else private.tracs.explore())
    locations = len(shapely.get_coordinates(frame.geometry.values))
    assert {0: "no locations", 1: "1 location"}.get(locations, f"{locations} locations") in page
    pd.testing.assert_frame_equal(pd.DataFrame(frame), pd.DataFrame(before))


def test_projected_crs_and_other_crs_of_the_release(tracks):
    frame = tracks.to_crs(32654)
    box = gpd.GeoSeries([shapely.box(*TOKYO)], crs=4326)
    private = released(frame, domain=box, trajectory="person", time="t")
    map_ = frame.tracs.explore(private.to_crs(3857), domain=box)
    (south, west), (north, east) = _fitted(map_)
    assert (west, south, east, north) == pytest.approx(TOKYO, abs=0.01)


def _fitted(map_):
    return next(child for child in map_._children.values() if child._name == "Ready").bounds


@pytest.mark.parametrize("view", VIEWS)
def test_across_the_antimeridian_in_one_piece(view):
    lon = np.array([179.2, 179.9, -179.8, -179.1])
    frame = gpd.GeoDataFrame({"t": range(4)}, geometry=gpd.points_from_xy(lon, [-17, -17.1, -17.2, -17.3]), crs=4326)
    private = released(frame, domain=(178, -18, -178, -16), time="t")
    map_ = frame.tracs.explore(private, view=view)
    (south, west), (north, east) = _fitted(map_.m1 if view == "side-by-side" else map_)
    assert (west, south, east, north) == pytest.approx((178, -18, 182, -16))


def test_the_globe_is_drawn_whole():
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy([-170, 0, 170], [-60, 0, 60]), crs=4326)
    private = released(frame, domain=geotracs.domains.Globe())
    (south, west), (north, east) = _fitted(frame.tracs.explore(private))
    assert (west, south, east, north) == (-180, -90, 180, 90)


@pytest.mark.parametrize("view", [*VIEWS, "density", "person"])
def test_around_a_pole_a_plot_is_proposed(view):
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy([0, 4e5, -4e5], [-4e5, 1e5, 1e5]), crs=3995)
    private = released(frame, domain=shapely.Point(0, 0).buffer(8e5))
    with pytest.raises(InputError, match="around a pole"):
        frame.tracs.explore(private, view=view)


def test_disc_is_drawn(tracks):
    disc = geotracs.domains.Disc((139.7, 35.7), 30_000)
    private = released(tracks, method="tracs-d", domain=disc, trajectory="person", time="t")
    assert "region" in layer_names(tracks.tracs.explore(private, pick=tracks.index[0]))


def test_draws_on_a_given_map(tracks, private):
    map_ = folium.Map()
    assert tracks.tracs.explore(private, m=map_) is map_
    assert "original" in layer_names(map_)


class TestNothingIsLoadedBesideOriginals:
    @pytest.mark.parametrize("tiles", ["OpenStreetMap", None])
    @pytest.mark.parametrize("view", VIEWS)
    def test_no_tag_of_the_page_loads_anything(self, tracks, private, view, tiles):
        map_ = tracks.tracs.explore(private, view=view, tiles=tiles, popup=True)
        page = html_of(map_)
        assert LOADS.findall(page) == []
        assert LOADS.findall(html.unescape(map_._repr_html_()).replace("<iframe srcdoc=", "<iframe ")) == []
        addresses = set(re.findall(r"""(?:src|href|url)\s*[=(:]\s*\\?["']?(https?://[^"'\s)>\\]+)""", page))
        assert {address.split("/")[2] for address in addresses} <= {"www.openstreetmap.org", "leafletjs.com"}  # links
        assert ("tile.openstreetmap.org" in page) == (tiles is not None)

    @pytest.mark.parametrize("view", ["overlay", "time"])
    def test_the_same_for_a_frame_without_a_record(self, tracks, view):
        page = html_of(tracks.tracs.explore(view=view))
        assert UNKNOWN in page
        assert LOADS.findall(page) == []

    @pytest.mark.parametrize("view", VIEWS)
    def test_the_same_for_the_command_line(self, tracks, private, view, tmp_path):
        paths = [tmp_path / name for name in ("tracks.gpkg", "private.gpkg", "map.html")]
        geotracs.files.write(tracks, paths[0])
        geotracs.files.write(private, paths[1])
        cli.main(["map", *map(str, paths), "--view", view], standalone_mode=False)
        page = paths[2].read_text()
        assert CAPTION in page
        assert LOADS.findall(page) == []

    def test_a_release_alone_keeps_the_scripts_of_folium(self, private):
        assert any("leaflet@" in tag for tag in LOADS.findall(html_of(private.tracs.explore())))
        assert LOADS.findall(html_of(private.tracs.explore(offline=True))) == []

    def test_a_map_of_the_users_own_warns_when_it_is_written(self, tracks, private):
        own = tracks.tracs.explore(private, m=folium.Map())
        with pytest.warns(geotracs.PrivacyWarning, match=r"scripts or styles from .*cdn\.jsdelivr\.net.*`m`"):
            html_of(own)
        alone = private.tracs.explore()
        html_of(alone)
        with pytest.warns(geotracs.PrivacyWarning, match="original locations"):
            html_of(tracks.tracs.explore(private, m=alone))

    def test_a_release_on_any_map_does_not_warn(self, tracks, private):
        html_of(private.tracs.explore(m=folium.Map()))
        assert LOADS.findall(html_of(private.tracs.explore(m=tracks.tracs.explore(private)))) == []

    @pytest.mark.parametrize(
        "added",
        [
            Fullscreen(),
            folium.Element('<script async src="//a.example/x.js"></script>'),
            folium.Element("<link rel=stylesheet href=http://a.example/x.css>"),
        ],
    )
    def test_a_plugin_added_to_it_warns(self, tracks, private, added):
        map_ = tracks.tracs.explore(private)
        folium.CircleMarker([35.7, 139.7], tooltip="mine").add_to(map_)
        html_of(map_)
        added.add_to(map_ if isinstance(added, Fullscreen) else map_.get_root().header)
        with pytest.warns(geotracs.PrivacyWarning, match=r"from (a\.example|cdn\.jsdelivr\.net):"):
            html_of(map_)


def test_a_control_comes_after_the_layers_that_it_names(tracks, private):
    map_ = tracks.tracs.explore(private)
    other = tracks.tracs.explore(released(tracks, trajectory="person", time="t"), m=map_)
    assert isinstance(list(other._children.values())[-1], folium.LayerControl)
    assert sum(isinstance(child, folium.LayerControl) for child in other._children.values()) == 1


def test_wide_tables_and_long_texts_are_cut(tracks, private):
    wide = tracks.assign(**{f"column {i}": "x" * 200 for i in range(30)})
    page = html_of(wide.tracs.explore(private))
    assert "column 4" in page
    assert "column 5" not in page
    assert "x" * 80 in page
    assert "x" * 81 not in page


def test_side_by_side_is_a_dual_map(tracks, private):
    map_ = tracks.tracs.explore(private, view="side-by-side")
    assert isinstance(map_, DualMap)
    assert "original" in layer_names(map_.m1)
    assert "original" not in layer_names(map_.m2)


def test_colours(tracks, private):
    assert '"#123456"' in html_of(tracks.tracs.explore(private, color="#123456"))
    assert '"gold"' in html_of(tracks.tracs.explore(private, cmap=["gold", "navy"]))
    assert '"#440154"' in html_of(tracks.tracs.explore(private, cmap="viridis"))
    assert '"weight": 9' in html_of(tracks.tracs.explore(private, style_kwds={"weight": 9}))


def test_tooltip_and_popup_choose_columns(tracks, private):
    page = html_of(tracks.tracs.explore(private, tooltip=["speed"], popup="lat"))
    assert 'const heads = {"tip": ["speed"], "pop": ["lat"]}' in page
    none = html_of(tracks.tracs.explore(private, tooltip=False))
    assert set(re.findall(r"const heads = (.*?);", none)) == {"{}"}
    assert '"tip":' not in none


class TestPick:
    def test_the_window_holds_the_location_and_most_reports(self, tracks):
        from geotracs.views.maps.window import window

        label = tracks[tracks.person == "ann"].t.idxmin()
        for method in ("tracs-c", "tracs-d"):
            private = released(tracks, 6, method=method, trajectory="person", time="t")
            region = geotracs.geo.region.recorded(private.attrs["tracs"], private.crs)
            shapes, probability = window(tracks, private, region, "person", "t", label)
            shape, dot = shapes.to_crs(4326)
            assert dot.distance(tracks.geometry.loc[label]) < 1e-9
            assert shape.buffer(1e-9).covers(dot)
            copies = tracks.loc[[label] * 400].assign(person=range(400))
            with pytest.warns(geotracs.PrivacyWarning):
                again = released(copies, 6, method=method, trajectory="person", rng=3)
            inside = again.covered_by(shape).mean()
            # 400 draws: five standard errors, a false alarm in 10^6 runs of another seed
            assert abs(inside - probability) < 5 * np.sqrt(probability * (1 - probability) / 400)

    def test_a_later_location_is_seen_from_the_report_before_it(self, tracks, private):
        from geotracs.views.maps.window import window

        ann = tracks[tracks.person == "ann"].sort_values("t").index
        region = geotracs.geo.region.recorded(private.attrs["tracs"], private.crs)
        shapes, _ = window(tracks, private, region, "person", "t", ann[5])
        seen_from = private.geometry.to_crs(region.crs).loc[ann[4]]
        # An annular sector about the reference: its straight sides point there.
        corners = shapely.get_coordinates(shapes.iloc[0]) - np.array(seen_from.coords[0])
        angles = np.sort(np.arctan2(corners[:, 1], corners[:, 0]))
        gaps = np.diff(angles, append=angles[0] + 2 * np.pi)  # the largest is what the sector leaves open
        assert (gaps > 0.5).sum() == 1
        angles = np.roll(angles, -1 - gaps.argmax())
        assert np.isclose(angles[0], angles[1])

    def test_across_the_antimeridian_in_one_piece(self):
        lon = np.array([179.5, 179.9, -179.9, -179.5])
        frame = gpd.GeoDataFrame({"t": range(4)}, geometry=gpd.points_from_xy(lon, [-17.5] * 4), crs=4326)
        private = released(frame, domain=(179.2, -18.6, -179.2, -17), time="t")
        map_ = frame.tracs.explore(private, pick=2)
        (group,) = [c for c in map_._children.values() if getattr(c, "layer_name", "").startswith("window")]
        shape, dot = [f["geometry"] for f in next(iter(group._children.values())).data["features"]]
        west, _, east, _ = shapely.geometry.shape(shape).bounds
        assert 179 < west < dot["coordinates"][0] < east < 181

    def test_lines_take_a_pair(self, tracks):
        lines = as_lines(tracks)
        private = released(lines)
        assert len(layer_names(lines.tracs.explore(private, pick=(0, 3)))) == 5
        with pytest.raises(InputError, match="has 20"):
            lines.tracs.explore(private, pick=(0, 20))

    def test_what_cannot_be_picked(self, tracks, private):
        with pytest.raises(InputError, match="label of a row"):
            tracks.tracs.explore(private, pick="nobody")
        with pytest.raises(InputError, match="original frame"):
            private.tracs.explore(pick=private.index[0])
        city = gpd.GeoSeries([shapely.Point(139.7, 35.7).buffer(0.15)], crs=4326)
        polygon = released(tracks, domain=city, outside="clip")
        with pytest.raises(InputError, match="`domain`"):
            tracks.tracs.explore(polygon, pick=tracks.index[0])
        grid = geotracs.places.Grid(cell=500)
        rounded = released(tracks, method="tracs-d", round_to=grid)
        with pytest.raises(InputError, match="moved afterwards"):
            tracks.tracs.explore(rounded, pick=tracks.index[3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"view": "3d"}, "`view` must be one of"),
        ({"sample": 0}, "`sample` must be"),
        ({"offline": True, "tiles": "CartoDB positron"}, "leave out `tiles`"),
        ({"m": folium.Map(), "view": "time"}, "`m` is for"),
        ({"color": "red", "cmap": ["red"]}, "not both"),
        ({"cmap": "no such map"}, "`cmap` must be"),
        ({"cmap": [3]}, "must be colours"),
        ({"color": "person"}, "`trajectory` names the column"),
        ({"tooltip": ["nothing"]}, "names of columns"),
        ({"tooltip": 1.5}, "names of columns"),
        ({"places": [1]}, "`places` must be"),
        ({"style_kwds": {"weight": {1}}}, "path options"),
        ({"trajectory": "nobody"}, "no column 'nobody'"),
    ],
)
def test_bad_arguments(tracks, private, arguments, message):
    with pytest.raises(InputError, match=message):
        tracks.tracs.explore(private, **arguments)


def test_frames_that_do_not_belong_together(tracks, private):
    with pytest.raises(InputError, match="swap them"):
        private.tracs.explore(tracks)
    with pytest.raises(InputError, match="must be a GeoDataFrame"):
        tracks.tracs.explore("private.gpkg")
    with pytest.raises(InputError, match="index"):
        tracks.tracs.explore(private.iloc[:5])
    with pytest.raises(InputError, match="side-by-side"):
        tracks.tracs.explore(view="side-by-side")


@pytest.mark.parametrize("view", VIEWS)
def test_an_offline_page_links_to_nothing(tracks, private, view):
    page = html_of(tracks.tracs.explore(private, view=view, offline=True))
    assert not re.findall(r'(?:src|href)="https?:[^"]*(?:js|css)"', page)
    assert "tile.openstreetmap" not in page
    assert "L.Map=" in page or "L.map=" in page or 'version="1.9' in page
