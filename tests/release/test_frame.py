"""The orchestrator: frames in and out, every CRS, every bad input."""

import json
import math
import warnings

import geopandas as gpd
import geopandas.testing
import numpy as np
import pandas as pd
import pyproj
import pytest
import shapely

import geotracs
from geotracs import CRSError, DomainError, GeotracsWarning, InputError, PrivacyWarning, methods
from geotracs.core.domains import Rectangle
from tests.conftest import CHICAGO, TOKYO
from tests.helpers import COLUMNS, perturb

METHODS = ["tracs-c", "tracs-d", "joint"]
EVERY = sorted(methods.METHODS)
OVER_PLACES = [name for name in EVERY if issubclass(methods.METHODS[name], methods.PlaceMethod)]
SHOPS = gpd.GeoDataFrame(
    {"name": [f"shop {i}" for i in range(80)]},
    geometry=gpd.points_from_xy(*np.random.default_rng(11).uniform(TOKYO[:2], TOKYO[2:], (80, 2)).T),
    crs=4326,
    index=[f"s{i}" for i in range(80)],
)


def places_for(method):
    """The places that a method needs, if it does."""
    return {"round_to": SHOPS} if method in OVER_PLACES else {}


def with_place(method, *columns):
    """The columns of a release, with that of the place before the geometry."""
    return [*columns[:-1], "place", columns[-1]] if method in OVER_PLACES else list(columns)


def release(frame, eps=4, method="tracs-c", **arguments):
    """`perturb` with the places that the method needs."""
    return perturb(frame, eps, method, **places_for(method) | arguments)


@pytest.fixture
def lines():
    rng = np.random.default_rng(1)
    geometry = [shapely.LineString(rng.uniform((139.6, 35.6), (139.8, 35.8), (k, 2))) for k in (2, 9, 4)]
    return gpd.GeoDataFrame({"name": ["a", "b", "c"]}, geometry=geometry, crs=4326, index=["u", "v", "w"])


@pytest.mark.parametrize("method", EVERY)
def test_frame_comes_back_as_it_was(tracks, method):
    before = tracks.copy(deep=True)
    private = release(tracks, method=method, **COLUMNS)
    geopandas.testing.assert_geodataframe_equal(tracks, before)
    assert private.index.equals(tracks.index)
    assert list(private.columns) == with_place(method, "person", "t", "geometry")
    assert private.crs == tracks.crs
    assert private["person"].equals(tracks["person"])
    assert private["t"].equals(tracks["t"])
    assert (private.geom_type == "Point").all()
    assert not private.geometry.geom_equals(tracks.geometry).any()
    xmin, ymin, xmax, ymax = private.total_bounds
    assert TOKYO[0] <= xmin
    assert TOKYO[1] <= ymin
    assert xmax <= TOKYO[2]
    assert ymax <= TOKYO[3]


@pytest.mark.parametrize("method", EVERY)
def test_accessor_is_the_function(tracks, method):
    with pytest.warns(PrivacyWarning):
        a = tracks.tracs.perturb(4, method, domain=TOKYO, keep=[], rng=7, **COLUMNS, **places_for(method))
    with pytest.warns(PrivacyWarning):
        b = geotracs.perturb(tracks, 4, method, domain=TOKYO, keep=[], rng=7, **COLUMNS, **places_for(method))
    geopandas.testing.assert_geodataframe_equal(a, b)
    assert a.attrs == b.attrs


@pytest.mark.parametrize("method", EVERY)
def test_lines(lines, method):
    private = release(lines, method=method)
    assert (private.geom_type == "LineString").all()
    assert shapely.get_num_coordinates(private.geometry.values).tolist() == [2, 9, 4]
    assert list(private.columns) == ["geometry"]
    assert private.index.tolist() == ["u", "v", "w"]
    assert private.tracs.guarantee.longest == 9
    assert release(lines, method=method, trajectory="name").columns.tolist() == ["name", "geometry"]


def test_lines_that_share_a_label_are_one_trajectory(lines):
    lines["name"] = ["a", "b", "a"]
    assert release(lines, trajectory="name").tracs.guarantee.longest == 9
    lines["order"] = [2, 0, 1]
    private = release(lines, trajectory="name", time="order", unit="trajectory", method="tracs-d")
    assert shapely.get_num_coordinates(private.geometry.values).tolist() == [2, 9, 4]


def test_order_of_rows_does_not_matter_for_a_trajectory(tracks):
    """TraCS-D follows time, not rows: sorted and shuffled frames give the same reports."""
    ordered = tracks.sort_values(["person", "t"])
    a = release(ordered, method="tracs-d", **COLUMNS)
    shuffled = ordered.groupby("person", group_keys=False)[ordered.columns.tolist()].apply(
        lambda part: part.sample(frac=1, random_state=1)
    )
    b = release(gpd.GeoDataFrame(shuffled, crs=4326), method="tracs-d", **COLUMNS)
    geopandas.testing.assert_geoseries_equal(a.geometry, b.geometry.loc[a.index])


def test_equal_times_stay_in_row_order(tracks):
    ordered = tracks.sort_values(["person", "t"])
    tied = ordered.assign(t=0)
    a = release(ordered, method="tracs-d", **COLUMNS)
    b = release(tied, method="tracs-d", **COLUMNS)
    geopandas.testing.assert_geoseries_equal(a.geometry, b.geometry)


@pytest.mark.parametrize("kind", ["naive", "aware", "string", "integer", "float", "timedelta"])
def test_kinds_of_time(tracks, kind):
    seconds = (tracks["t"] - pd.Timestamp("2026-01-01")).dt.total_seconds()
    times = {
        "naive": tracks["t"],
        "aware": tracks["t"].dt.tz_localize("Asia/Tokyo"),
        "string": tracks["t"].dt.strftime("%Y-%m-%d %H:%M:%S"),
        "integer": seconds.astype(int),
        "float": seconds,
        "timedelta": pd.to_timedelta(seconds, unit="s"),
    }
    a = release(tracks, method="tracs-d", **COLUMNS)
    b = release(tracks.assign(t=times[kind]), method="tracs-d", **COLUMNS)
    geopandas.testing.assert_geoseries_equal(a.geometry, b.geometry)


def test_missing_and_empty_geometries_stay(tracks):
    tracks.loc[tracks.index[3], "geometry"] = None
    tracks.loc[tracks.index[5], "geometry"] = shapely.Point()
    private = release(tracks, **COLUMNS)
    assert private.geometry.isna().to_numpy().nonzero()[0].tolist() == [3]
    assert private.geometry.is_empty.to_numpy().nonzero()[0].tolist() == [5]
    assert private.tracs.guarantee.locations == len(tracks) - 2


@pytest.mark.parametrize("method", EVERY)
def test_empty_frame_all_missing_and_one_row(tracks, method):
    empty = release(tracks.iloc[:0], method=method, **COLUMNS)
    assert len(empty) == 0
    assert list(empty.columns) == with_place(method, "person", "t", "geometry")
    assert len(release(tracks.iloc[:0], method=method, domain=None)) == 0
    missing = tracks.assign(geometry=gpd.GeoSeries([None] * len(tracks), index=tracks.index, crs=4326))
    assert release(missing, method=method, **COLUMNS).geometry.isna().all()
    assert release(missing, method=method, domain=None).geometry.isna().all()
    one = release(tracks.iloc[:1], method=method, **COLUMNS)
    assert len(one) == 1
    assert one.geometry.iloc[0] != tracks.geometry.iloc[0]


def test_duplicated_index(tracks):
    tracks.index = [1] * len(tracks)
    private = release(tracks, **COLUMNS)
    assert private.index.tolist() == [1] * len(tracks)
    assert tracks.tracs.compare(private)["ae"] > 0


def test_other_geometry_name_and_other_geometry_columns(tracks):
    renamed = tracks.rename_geometry("place").assign(home=tracks.geometry)
    renamed = renamed.set_geometry("place")
    private = release(renamed, **COLUMNS)
    assert private.active_geometry_name == "place"
    assert list(private.columns) == ["person", "t", "place"]
    with pytest.warns(PrivacyWarning, match="'home' holds the original locations"):
        geotracs.perturb(renamed, 4, domain=TOKYO, keep=["home"])


def test_z_and_m_are_dropped_with_a_warning(tracks):
    flat = release(tracks, **COLUMNS)
    high = tracks.set_geometry(gpd.points_from_xy(tracks.geometry.x, tracks.geometry.y, z=7.0, crs=4326))
    with pytest.warns(PrivacyWarning, match="rng"), pytest.warns(GeotracsWarning, match="Z and M"):
        private = geotracs.perturb(high, 4, "tracs-c", domain=TOKYO, keep=[], rng=0, **COLUMNS)
    assert not private.has_z.any()
    geopandas.testing.assert_geoseries_equal(private.geometry, flat.geometry)
    line = gpd.GeoDataFrame(geometry=[shapely.LineString([(139.6, 35.6, 1), (139.7, 35.7, 2)])], crs=4326)
    with pytest.warns(GeotracsWarning, match="Z and M"):
        assert not geotracs.perturb(line, 4, domain=TOKYO).has_z.any()


def test_repeated_locations_are_each_perturbed(tracks):
    same = tracks.assign(geometry=[shapely.Point(139.7, 35.7)] * len(tracks)).set_crs(4326)
    for method in METHODS:
        private = release(same, method=method, **COLUMNS)
        assert private.geometry.to_wkb().nunique() == len(tracks)


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("unit", ["location", "trajectory"])
def test_every_method_with_missing_geometries_other_names_and_units(tracks, method, unit):
    tracks.loc[tracks.index[3], "geometry"] = None
    tracks.loc[tracks.index[5], "geometry"] = shapely.Point()
    renamed = tracks.rename_geometry("where")
    private = release(renamed, method=method, unit=unit, **COLUMNS)
    assert private.active_geometry_name == "where"
    assert private.geometry.isna().to_numpy().nonzero()[0].tolist() == [3]
    assert private.geometry.is_empty.to_numpy().nonzero()[0].tolist() == [5]
    guarantee = private.tracs.guarantee
    assert sum(guarantee.shares.values()) == pytest.approx(1)
    assert (guarantee.method, guarantee.locations, guarantee.unit) == (method, len(tracks) - 2, unit)
    assert json.loads(json.dumps(private.attrs)) == private.attrs


@pytest.mark.parametrize("method", EVERY)
def test_every_method_knows_more_at_a_larger_epsilon(tracks, method):
    many = pd.concat([tracks] * 20, ignore_index=True)
    errors = [many.tracs.compare(release(many, eps, method, **COLUMNS))["ae"] for eps in (0.01, 20)]
    assert errors[1] < 0.8 * errors[0]


# What is kept, what is said


def test_columns_are_dropped_and_that_is_said(tracks):
    with pytest.warns(GeotracsWarning, match="left out of the release: lat, lon, speed") as caught:
        private = geotracs.perturb(tracks, 4, domain=TOKYO, **COLUMNS)
    assert list(private.columns) == ["person", "t", "geometry"]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(geotracs.perturb(tracks, 4, domain=TOKYO, keep=["speed"]).columns) == [
            "speed",
            "geometry",
        ]


@pytest.mark.parametrize("crs", [4326, 32654])
def test_keeping_a_coordinate_warns(tracks, crs):
    domain = gpd.GeoSeries([shapely.box(*TOKYO)], crs=4326)
    tracks = tracks.to_crs(crs).assign(rounded=tracks["lat"].round(2), x=lambda f: f.geometry.x)
    for column in ("lat", "lon", "rounded", "x"):
        with pytest.warns(PrivacyWarning, match=f"{column!r} holds the original locations"):
            quieter = geotracs.perturb(tracks, 4, domain=domain, keep=[column])
        assert column in quieter
    with pytest.warns(PrivacyWarning):
        everything = geotracs.perturb(tracks, 4, domain=domain, keep="all")
    assert list(everything.columns) == list(tracks.columns)


def test_attrs_are_plain_json_and_survive(tracks, tmp_path):
    tracks.attrs["secret"] = "input attrs are not carried over"
    private = release(tracks, method="tracs-d", start=(139.7, 35.7), **COLUMNS)
    assert set(private.attrs) == {"tracs"}
    assert json.loads(json.dumps(private.attrs)) == private.attrs
    record = private.attrs["tracs"]
    assert record["method"] == "tracs-d"
    assert record["epsilon"] == 4
    assert record["unit"] == "location"
    assert sum(record["shares"].values()) == pytest.approx(1)
    assert record["domain"] == {
        "kind": "rectangle",
        "bounds": list(TOKYO),
        "crs": "EPSG:4326",
        "fitted": False,
    }
    assert pyproj.CRS(record["crs"]).coordinate_operation.method_name == "Equidistant Cylindrical"
    assert record["options"]["start"] == [139.7, 35.7]
    private.to_parquet(tmp_path / "p.parquet")
    back = gpd.read_parquet(tmp_path / "p.parquet")
    assert back.attrs == private.attrs
    assert back.tracs.guarantee == private.tracs.guarantee
    assert pd.concat([private, private]).attrs == private.attrs


def test_guarantee_in_a_sentence(tracks):
    text = str(release(tracks, **COLUMNS).tracs.guarantee)
    assert "pure 4-local differential privacy" in text
    assert "longest trajectory (20 locations) has epsilon 80" in text
    assert "public rectangle with bounds (139.47, 35.51, 139.92, 35.87) in EPSG:4326" in text
    assert "Not protected: time stamps, the number of locations, trajectory labels" in text
    shared = release(tracks, unit="trajectory", **COLUMNS).tracs.guarantee
    assert "Each trajectory was reported" in str(shared)
    assert "(20 locations) has 0.2" in str(shared)
    assert (shared.per_location, shared.per_trajectory) == (4, 4)
    kept = release(tracks, keep=["speed"], **COLUMNS).tracs.guarantee
    assert "kept columns (speed)" in str(kept)
    with pytest.raises(InputError, match="carries no record"):
        tracks.tracs.guarantee  # noqa: B018


def test_unit_trajectory_shares_epsilon(tracks):
    tracks = tracks.assign(person=np.where(np.arange(len(tracks)) < 40, "ann", "bob"))
    private = release(tracks, 600, unit="trajectory", trajectory="person")
    by = tracks.tracs.compare(private, by="person")["ae"]
    assert by["ann"] > 3 * by["bob"]  # 15 each against 30 each


def test_unit_trajectory_on_many_locations():
    n = 10**5
    rng = np.random.default_rng(0)
    frame = gpd.GeoDataFrame(
        geometry=gpd.points_from_xy(rng.uniform(139.5, 139.9, n), rng.uniform(35.6, 35.8, n)), crs=4326
    )
    for method in METHODS:
        private = release(frame, 1, method=method, unit="trajectory")
        assert private.tracs.guarantee.longest == n
        assert abs(np.corrcoef(private.geometry.x, frame.geometry.x)[0, 1]) < 0.05


def test_randomness_is_fresh_unless_given(tracks):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a = geotracs.perturb(tracks, 4, domain=TOKYO, keep=[])
        b = geotracs.perturb(tracks, 4, domain=TOKYO, keep=[])
    assert not a.geometry.geom_equals(b.geometry).any()
    for rng in (3, np.random.default_rng(3)):
        with pytest.warns(PrivacyWarning, match="whoever learns it can undo"):
            geotracs.perturb(tracks, 4, domain=TOKYO, keep=[], rng=rng)
    geopandas.testing.assert_geodataframe_equal(release(tracks, rng=3), release(tracks, rng=3))


# Regions and CRSs


@pytest.mark.parametrize("crs", [4326, 32654, 3857, 6668, "EPSG:2263"])
@pytest.mark.parametrize("method", METHODS)
def test_any_crs(tracks, crs, method):
    """Degrees on two datums, metres, Web Mercator, and feet (of another continent, to be far off)."""
    moved = tracks.to_crs(crs)
    if crs == "EPSG:2263":
        moved = tracks.set_geometry(tracks.translate(-139.7 - 74.0, 40.7 - 35.7), crs=4326).to_crs(crs)
    bounds = moved.total_bounds
    private = release(moved, 8, method=method, domain=bounds, **COLUMNS)
    assert private.crs == moved.crs
    assert 100 < moved.tracs.compare(private)["ae"] < 10_000
    slack = 1e-6 * (bounds[2] - bounds[0])
    got = private.total_bounds
    assert (got[:2] >= bounds[:2] - slack).all()
    assert (got[2:] <= bounds[2:] + slack).all()


def test_domain_in_every_form(tracks):
    box = shapely.box(*TOKYO)
    reference = release(tracks)
    for domain in [
        list(TOKYO),
        np.array(TOKYO),
        box,
        Rectangle(*TOKYO),
        gpd.GeoSeries([box], crs=4326),
        gpd.GeoDataFrame({"name": ["city"]}, geometry=[box], crs=4326),
        gpd.GeoSeries([shapely.box(139.47, 35.51, 139.7, 35.87), shapely.box(139.7, 35.51, 139.92, 35.87)], crs=4326),
    ]:
        geopandas.testing.assert_geodataframe_equal(release(tracks, domain=domain), reference)
    other = release(tracks, domain=gpd.GeoSeries([shapely.box(350000, 3920000, 420000, 3980000)], crs=32654))
    assert not other.geometry.geom_equals(reference.geometry).any()
    assert other.tracs.guarantee.domain["kind"] == "polygon"


def test_working_crs_can_be_given(tracks):
    private = release(tracks, crs="EPSG:32654", domain=TOKYO)
    assert private.tracs.guarantee.crs == "EPSG:32654"
    assert private.crs == tracks.crs
    with pytest.raises(CRSError, match="`crs` is not a CRS"):
        release(tracks, crs="EPSG:nonsense")


def test_unused_categories_of_the_index_stay_behind(tracks):
    few = tracks.set_index(pd.CategoricalIndex(tracks["person"])).loc[["ann", "bob"]]
    assert list(release(few, time="t").index.categories) == ["ann", "bob"]


def test_fitted_domain_warns_and_is_not_recorded(tracks):
    with pytest.warns(PrivacyWarning, match="fitted to the data"):
        private = geotracs.perturb(tracks, 4, keep=[])
    assert private.attrs["tracs"]["domain"] == {"kind": "rectangle", "fitted": True}
    assert private.attrs["tracs"]["crs"] is None
    assert "its extent is not protected" in str(private.tracs.guarantee)


def test_across_the_antimeridian():
    rng = np.random.default_rng(0)
    x = rng.uniform(179.5, 180.5, 300)
    fiji = gpd.GeoDataFrame(geometry=gpd.points_from_xy((x + 180) % 360 - 180, rng.uniform(-18, -17, 300)), crs=4326)
    for method in METHODS:
        private = release(fiji, 8, method=method, domain=(179.4, -18.1, -179.4, -16.9))
        lon = private.geometry.x % 360
        assert lon.between(179.4, 180.6).all()
        assert fiji.tracs.compare(private)["ae"] < 30_000
    with pytest.raises(DomainError, match="more than half of the globe"):
        release(fiji, domain=None)


def test_country_scale_is_equal_area(tracks):
    private = release(tracks, domain=(128, 30, 146, 46))
    assert pyproj.CRS(private.tracs.guarantee.crs).coordinate_operation.method_name == "Lambert Azimuthal Equal Area"


def test_polar_region():
    rng = np.random.default_rng(0)
    arctic = gpd.GeoDataFrame(geometry=gpd.points_from_xy(rng.uniform(10, 30, 100), rng.uniform(80, 89, 100)), crs=4326)
    private = release(arctic, domain=(0, 78, 40, 90), method="tracs-d")
    assert private.geometry.is_valid.all()
    assert np.isfinite(private.total_bounds).all()


@pytest.mark.parametrize("outside", ["raise", "clip"])
def test_locations_outside(tracks, outside):
    small = (139.65, 35.65, 139.75, 35.75)
    count = int((~tracks.within(shapely.box(*small))).sum())
    if outside == "clip":
        private = release(tracks, domain=small, outside="clip")
        assert private.covered_by(shapely.box(*small).buffer(1e-9)).all()
        return
    with pytest.raises(DomainError, match=f"^{count} of 60 locations lie outside the domain"):
        release(tracks, domain=small)


def test_locations_on_the_border_are_inside(tracks):
    release(tracks, domain=tracks.total_bounds)
    release(tracks, domain=tracks.total_bounds, crs=3857)


# Bad input


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"eps": 0}, "`eps` must be greater than 0 and less than 700, got 0"),
        ({"eps": -1}, "`eps` must be greater than 0"),
        ({"eps": math.nan}, "`eps` must be greater than 0 and less than 700, got nan"),
        ({"eps": math.inf}, "`eps` must be greater than 0"),
        ({"eps": "4"}, "There is no column '4'"),
        ({"eps": np.array([1.0, 2.0])}, "`eps` must be one number, got ndarray"),
        ({"eps": 5e-324}, "too small to be shared"),
        ({"method": "laplace"}, r"`method` must be one of .*'tracs-c', 'tracs-d', 'auto'\], got 'laplace'"),
        ({"method": None}, "`method` must be one of"),
        ({"colour": 1}, "tracs-c has no option 'colour'"),
        ({"outside": "keep"}, "`outside` must be one of"),
        ({"unit": "people"}, "`unit` must be one of"),
        ({"fit": "tight"}, "`fit` must be one of"),
        ({"keep": "speed"}, r"use keep=\['speed'\]"),
        ({"keep": ["nope"]}, "There is no column 'nope'"),
        ({"trajectory": "nope"}, "There is no column 'nope'; the columns are"),
        ({"time": "nope"}, "There is no column 'nope'"),
        ({"trajectory": "geometry"}, "'geometry' is the geometry column"),
        ({"rng": -1}, "`rng` must be None, an integer >= 0"),
        ({"rng": "seed"}, "`rng` must be None, an integer >= 0"),
        ({"domain": "Tokyo"}, "`domain` must be a bounding box"),
        ({"domain": 3}, "`domain` must be a bounding box"),
        ({"domain": (1, 2, 3)}, "needs four numbers"),
        ({"domain": ("a", 1, 2, 3)}, "needs four numbers"),
        ({"domain": (139, 35, math.nan, 36)}, "NaN or infinite"),
        ({"domain": (139, 35, 139, 36)}, "has no area"),
        ({"domain": (139, 36, 140, 35)}, "has no area"),
        ({"domain": (139, 95, 140, 96)}, r"latitudes must lie in \[-90, 90\]"),
        ({"domain": shapely.Polygon()}, "`domain` is empty"),
        ({"domain": shapely.LineString([(0, 0), (1, 1)])}, "has no area"),
        ({"domain": shapely.Point(139, 35)}, "has no area"),
        ({"domain": gpd.GeoSeries([shapely.box(*TOKYO)])}, "`domain` has no CRS"),
        ({"domain": gpd.GeoSeries([], crs=4326)}, "`domain` is empty"),
    ],
)
def test_bad_arguments(tracks, arguments, match):
    with pytest.raises(InputError, match=match):
        release(tracks, **arguments)


def test_bad_frames(tracks):
    with pytest.raises(InputError, match=r"must be a GeoDataFrame of geopandas, got a pandas\.DataFrame"):
        release(pd.DataFrame({"a": [1]}))
    with pytest.raises(AttributeError, match="needs a GeoDataFrame"):
        pd.DataFrame({"a": [1]}).tracs  # noqa: B018
    with pytest.raises(InputError, match="no active geometry"):
        release(gpd.GeoDataFrame({"a": [1]}))
    with pytest.raises(CRSError, match="has no CRS; say which one"):
        release(tracks.set_crs(None, allow_override=True))
    polygons = tracks.set_geometry(shapely.buffer(tracks.geometry.values, 0.001))
    with pytest.raises(InputError, match="got 60 Polygon"):
        release(polygons)
    mixed = pd.concat([tracks, tracks.iloc[:2].set_geometry([shapely.LineString([(139.6, 35.6), (139.7, 35.7)])] * 2)])
    with pytest.raises(InputError, match="got 60 Point, 2 LineString"):
        release(gpd.GeoDataFrame(mixed, crs=4326))
    twice = pd.concat([tracks, tracks[["person"]]], axis=1)
    with pytest.raises(InputError, match="2 columns named 'person'"):
        release(twice, **COLUMNS)
    nan = tracks.copy()
    nan.loc[nan.index[4], "geometry"] = shapely.Point(math.nan, 35.7)
    with pytest.raises(InputError, match=rf"1 row\(s\) have NaN or infinite coordinates, e.g. {nan.index[4]}"):
        release(nan)


def test_bad_trajectories_and_times(tracks):
    label = tracks.index[7]
    lost = tracks.copy()
    lost.loc[label, "person"] = None
    with pytest.raises(InputError, match=rf"1 row\(s\) have no value in the trajectory column 'person', e.g. {label}"):
        release(lost, **COLUMNS)
    late = tracks.copy()
    late.loc[label, "t"] = pd.NaT
    with pytest.raises(InputError, match=rf"1 row\(s\) have no value in the time column 't', e.g. {label}"):
        release(late, **COLUMNS)
    zones = tracks["t"].dt.tz_localize("UTC").astype(object)
    zones.iloc[0] = zones.iloc[0].tz_convert("Asia/Tokyo")
    naive = tracks["t"].astype(object)
    naive.iloc[0] = naive.iloc[0].tz_localize("UTC")
    for times in (zones, naive, tracks["t"].astype(str) + ["+09:00", "+00:00"] * 30, "noon", True):
        with pytest.raises(InputError, match="The time column 't'"):
            release(tracks.assign(t=times), **COLUMNS)


def test_identical_locations_without_a_domain(tracks):
    same = tracks.assign(geometry=[shapely.Point(139.7, 35.7)] * len(tracks)).set_crs(4326)
    for frame in (same, tracks.iloc[:1]):
        with pytest.raises(DomainError, match="cannot be fitted: the locations span no area"):
            release(frame, domain=None)


@pytest.mark.parametrize("eps", [1e-9, 600])
@pytest.mark.parametrize("method", METHODS)
def test_extreme_eps(tracks, eps, method):
    private = release(tracks, eps, method=method, **COLUMNS)
    ae = tracks.tracs.compare(private)["ae"]
    assert ae > 5000 if eps < 1 else ae < 0.01
    assert not private.geometry.geom_equals(tracks.geometry).any()


# Nothing leaks by accident


def numbers_in(text):
    import re

    return {float(match) for match in re.findall(r"-?\d+\.\d{4,}", str(text))}


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("domain", [TOKYO, None])
def test_no_private_coordinate_in_attrs_reprs_and_messages(tracks, method, domain):
    """Scan all that is said for any number within a metre of a private coordinate."""
    said = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        private = geotracs.perturb(
            tracks, 4, method, domain=domain, keep=["lat"], rng=0, **COLUMNS, **places_for(method)
        )
    said += [str(warning.message) for warning in caught]
    said += [
        json.dumps(private.attrs),
        str(private.tracs.guarantee),
        repr(private.tracs.guarantee),
        repr(private.tracs),
    ]
    for bad in (
        {"domain": (139.65, 35.65, 139.75, 35.75)},
        {"domain": (10, 10, 11, 11)},
        {"time": "person", "trajectory": "t"},
        {"trajectory": "nope"},
        {"domain": CHICAGO, "method": "tracs-d", "start": (0, 0)},
    ):
        arguments = {"eps": 4, "domain": TOKYO, "trajectory": "person", "keep": []} | bad
        with pytest.raises(InputError) as error:
            geotracs.perturb(tracks, **arguments)
        chain = error.value
        while chain is not None:
            said += [str(chain), repr(chain)]
            chain = chain.__cause__ or chain.__context__
    working = tracks.to_crs(32654)
    secrets = np.concatenate([shapely.get_coordinates(f.geometry.values).ravel() for f in (tracks, working)])
    secrets = np.append(secrets, [*tracks.total_bounds, *working.total_bounds])
    for text in said:
        for number in numbers_in(text):
            assert np.abs(secrets - number).min() > 1e-5, text
