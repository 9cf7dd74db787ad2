import folium
import geopandas as gpd
import pytest
import shapely

from geotracs import CRSError, InputError
from geotracs.views.maps.page import CAPTION, CHANGED, FIGURES, NO_RECORD, UNKNOWN
from geotracs.views.maps.scene import Row
from tests.conftest import TOKYO
from tests.views import toys
from tests.views.maps.test_explore import HOSTILE, LOADS, TEMPLATES, html_of, layer_names

pytestmark = pytest.mark.slow

CAPTIONS = (CAPTION, CHANGED, FIGURES, NO_RECORD)


@pytest.fixture
def private(tracks):
    return toys.released(tracks, TOKYO)


@pytest.fixture
def density(tracks, private):
    return toys.density(toys.cells(TOKYO, 3), tracks, private)


@pytest.fixture
def found(tracks, private):
    return toys.reconstructed(tracks, private)


def groups(map_):
    return {child.layer_name: child for child in map_._children.values() if isinstance(child, folium.FeatureGroup)}


def features(group):
    parts = [layer.data for layer in group._children.values() if isinstance(layer, folium.GeoJson)]
    return [feature for part in parts for feature in part["features"]]


def test_answers_alone_are_safe_to_publish(density, found, private):
    for answer in (density, toys.flows(private), found):
        map_ = answer.tracs.explore()
        page = html_of(map_)
        assert not [caption for caption in CAPTIONS if caption in page]
        assert "joint, epsilon 4 per location" in page
        assert LOADS.search(page), "scripts of folium's usual servers"
        assert not LOADS.search(html_of(answer.tracs.explore(offline=True)))


def test_with_the_truth_a_page_is_confidential_and_loads_nothing(tracks, density, found, private):
    for answer, caption in ((density, FIGURES), (found, CAPTION)):
        page = html_of(answer.tracs.explore(private, truth=tracks))
        assert caption in page
        assert not LOADS.search(page)


def test_an_estimate_without_a_record_may_come_from_originals(density, private):
    for answer in (density, toys.flows(private)):
        answer.attrs.clear()
        page = html_of(answer.tracs.explore())
        assert NO_RECORD in page
        assert not LOADS.search(page)


def test_originals_put_into_a_reconstruction_are_not_called_safe(tracks, found):
    assert CHANGED in html_of(found.set_geometry(tracks.geometry).tracs.explore())


def test_made_up_trips_are_called_so(private):
    map_ = toys.synthetic(private).tracs.explore(offline=True)
    assert layer_names(map_) == ["region", "synthetic"]
    assert not [caption for caption in (*CAPTIONS, UNKNOWN) if caption in html_of(map_)]


class TestDensity:
    def test_layers_and_legend(self, density):
        map_ = density.tracs.explore()
        assert layer_names(map_) == ["uncertainty", "estimated", "unclear", "region"]
        assert [group.show for group in groups(map_).values()] == [False, True, True, True]
        unclear = int((density.share < 0.2).sum())
        assert len(features(groups(map_)["unclear"])) == unclear
        assert f"{unclear} unclear: the 90% interval is wider than the share" in html_of(map_)
        assert f"{density.share.max():.2%}" in html_of(map_)

    def test_geopandas_draws_it_too(self, density):
        assert "share" in html_of(density.explore("share"))

    def test_colours_follow_the_shares_on_one_scale(self, tracks, private, density):
        row = density.tracs.explore(private, truth=tracks, view="side-by-side", cmap=["#000000", "#ffffff"])
        assert isinstance(row, Row)
        names = [next(name for name in groups(map_) if name in NAMES) for map_ in row.maps]
        assert names == NAMES
        colours = [
            [feature["properties"]["colour"] for feature in features(groups(map_)[name])]
            for map_, name in zip(row.maps, NAMES, strict=True)
        ]
        assert colours[0] == colours[2], "the toy's shares are the true ones"
        assert max(map(max, colours)) == "#ffffff"
        assert colours[1] != colours[0]
        assert all(f"{one.get_name()}.sync({row.maps[0].get_name()})" in html_of(row) for one in row.maps[1:])
        assert "<iframe" in row._repr_html_()

    def test_notes_are_in_percent_and_reports_have_no_interval(self, density, private):
        map_ = density.tracs.explore(private, tooltip=True)
        tips = {name: features(groups(map_)[name])[4]["properties"]["tip"] for name in ("estimated", "reports")}
        row = density.iloc[4]
        assert tips["estimated"] == [
            "zone 4", f"{row.share:.2%}", f"{row['count']:,.0f}", f"{row.low:.2%}", f"{row.high:.2%}"
        ]  # fmt: skip
        assert len(tips["reports"]) == 2
        assert not groups(map_)["reports"].show
        only = density.tracs.explore(tooltip=["share"], popup="name")
        assert features(groups(only)["estimated"])[4]["properties"]["pop"] == ["zone 4"]

    def test_places_are_discs(self, tracks, private):
        spots = gpd.GeoDataFrame(geometry=gpd.points_from_xy([139.65, 139.75], [35.7, 35.7]), crs=4326)
        map_ = toys.density(spots, tracks, private).tracs.explore()
        looks = [feature["properties"]["looks"]["radius"] for feature in features(groups(map_)["estimated"])]
        assert max(looks) == 15.5
        html_of(map_)

    def test_cells_end_where_the_region_does(self, tracks, private):
        zones = toys.cells((139.4, 35.4, 140, 36), 2)
        estimate = toys.answered(toys.density(zones, tracks, private), private, kind="density", over="cells")
        drawn = features(groups(estimate.tracs.explore(domain=TOKYO))["estimated"])
        assert shapely.union_all([shapely.geometry.shape(f["geometry"]) for f in drawn]).equals(shapely.box(*TOKYO))

    def test_nothing_and_missing_shapes(self, density):
        html_of(density.iloc[:0].tracs.explore())
        density.loc[density.index[0], "geometry"] = None
        assert len(features(groups(density.tracs.explore())["estimated"])) == 8

    def test_across_the_antimeridian(self, tracks, private):
        west, east = shapely.box(178, -19, 180, -15), shapely.box(-180, -19, -178, -15)
        zones = gpd.GeoDataFrame({"share": [0.5, 0.5], "low": 0.4, "high": 0.6}, geometry=[west, east], crs=4326)
        drawn = [shapely.geometry.shape(f["geometry"]) for f in features(groups(zones.tracs.explore())["estimated"])]
        assert drawn[0].touches(drawn[1])

    def test_on_a_map_of_the_users_own(self, density):
        own = folium.Map(tiles=None)
        assert density.tracs.explore(m=own) is own
        density.tracs.explore(m=own)
        assert "estimated 2" in layer_names(own)


NAMES = ["original", "reports", "estimated"]


class TestFlows:
    def test_arrows_discs_and_unclear_ones(self, private):
        map_ = toys.flows(private).tracs.explore()
        assert layer_names(map_) == ["region", "unclear flows", "flows"]
        assert [group.show for group in groups(map_).values()] == [True, False, True]
        drawn = features(groups(map_)["flows"])
        assert [feature["properties"]["tip"] for feature in drawn] == [
            ["a", "a", "50.00%", "50", "40.00%", "60.00%"],
            ["a", "b", "40.00%", "40", "30.00%", "50.00%"],
        ]
        stays, goes = (shapely.geometry.shape(feature["geometry"]) for feature in drawn)
        assert stays.centroid.distance(shapely.Point(139.6, 35.6)) < 1e-4
        assert goes.exterior.distance(shapely.Point(139.8, 35.8)) < 0.02
        page = html_of(map_)
        assert "2 of 4 flows, with 90% of the trips" in page
        assert "1 unclear ones: the 80% interval" in page

    def test_if_all_are_unclear_they_are_shown(self, private):
        map_ = toys.flows(private).assign(low=0.0, high=1.0).tracs.explore()
        assert groups(map_)["unclear flows"].show

    def test_across_the_antimeridian(self):
        line = shapely.LineString([(179, 0), (-179, 0)])
        columns = {"origin": "a", "destination": "b", "share": 1.0, "low": 0.9, "high": 1.0}
        map_ = gpd.GeoDataFrame(columns, geometry=[line], index=[0], crs=4326).tracs.explore()
        west, _, east, _ = shapely.geometry.shape(features(groups(map_)["flows"])[0]["geometry"]).bounds
        assert east - west < 2.5

    def test_they_are_drawn_alone(self, tracks, private):
        flows = toys.flows(private)
        with pytest.raises(InputError, match="drawn alone"):
            flows.tracs.explore(private)
        with pytest.raises(InputError, match="drawn alone"):
            flows.tracs.explore(truth=tracks)
        html_of(flows.iloc[:0].tracs.explore())


class TestReconstructed:
    def test_tube_track_reports_and_truth(self, tracks, private, found):
        map_ = found.tracs.explore(private, truth=tracks)
        assert layer_names(map_) == ["region", "radius", "original", "perturbed", "reconstructed"]
        assert not groups(map_)["perturbed"].show
        tubes = [shapely.geometry.shape(feature["geometry"]) for feature in features(groups(map_)["radius"])]
        assert len(tubes) == 3
        dots = features(groups(map_)["reconstructed"])
        hues = [feature["properties"]["colour"] for feature in features(groups(map_)["radius"])]
        assert hues == [feature["properties"]["colour"] for feature in dots[:3]], "its track's colour"
        for person, tube in zip(found.person.unique(), tubes, strict=True):
            own = found[found.person == person].geometry
            assert own.within(tube).all()
            metres = gpd.GeoSeries([tube.boundary], crs=4326).to_crs(32654).distance(own.to_crs(32654).iloc[0])
            assert metres[0] > 480, "a circle of 24 corners lies within"
        assert "known to within 500 m" in html_of(map_)

    def test_filled_rows_and_few_trajectories(self, tracks, private, found):
        filled = found.sort_values(["person", "t"]).iloc[::2].reset_index(drop=True)
        filled.attrs = found.attrs
        map_ = filled.tracs.explore(private, truth=tracks, sample=12)
        assert "1 of 3 trajectories, 10 of 30 locations" in html_of(map_)
        assert len(features(groups(map_)["radius"])) == 1
        for name in ("original", "perturbed"):
            people = {
                feature["properties"]["tip"][0]
                for feature in features(groups(map_)[name])
                if "tip" in feature["properties"]
            }
            assert people == {"ann"}

    def test_a_column_that_another_frame_lacks(self, tracks, private, found):
        with pytest.raises(InputError, match="original frame has no column 't'"):
            found.tracs.explore(truth=tracks.drop(columns="t"))


def test_hostile_strings_are_inert(density, private):
    density["name"] = (HOSTILE + TEMPLATES)[:9]
    flows = toys.flows(private)
    flows["origin"] = TEMPLATES
    for answer in (density, flows):
        answer.attrs["tracs"] |= {"method": TEMPLATES[1], "unit": TEMPLATES[0]}
        page = html_of(answer.tracs.explore(popup=True))
        assert "<script>alert" not in page
        assert "22962963" not in page
        assert "{{" not in page


def test_bad_input(tracks, private, density, found):
    with pytest.raises(InputError, match="`truth` is for answers"):
        private.tracs.explore(truth=tracks)
    with pytest.raises(InputError, match="must be the original tracks"):
        density.tracs.explore(truth=private)
    with pytest.raises(InputError, match="`view` must be"):
        density.tracs.explore(view="time")
    with pytest.raises(InputError, match="`view` must be"):
        found.tracs.explore(private, view="side-by-side")
    with pytest.raises(CRSError, match="no CRS"):
        density.set_crs(None, allow_override=True).tracs.explore()
    with pytest.raises(InputError, match="`cmap` of shares"):
        density.tracs.explore(cmap=["red", "blue"])
