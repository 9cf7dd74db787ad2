import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from geopandas.testing import assert_geodataframe_equal

import geotracs
import geotracs.answers.flows as module
import geotracs.answers.trips as trips
from geotracs.answers.flows import flows
from geotracs.errors import CRSError, GeotracsWarning, InputError
from tests.conftest import CHICAGO, TOKYO
from tests.helpers import quiet

WIDTH, HEIGHT = 30_000.0, 20_000.0
BOX = (0.0, 0.0, WIDTH, HEIGHT)
CRS = 32633


def people(n, each=4, seed=0):
    """Tracks around a few centres: people stay, go a few kilometres, or across the city."""
    rng = np.random.default_rng(seed)
    centres, spread = rng.random((5, 2)) * [WIDTH, HEIGHT], rng.uniform(400, 2500, 5)
    xy = np.empty((n, each, 2))
    for step in range(each):
        centre = rng.choice(5, n, p=rng.dirichlet(np.ones(5) * 5))
        xy[:, step] = centres[centre] + rng.normal(size=(n, 2)) * spread[centre, None]
        kind = rng.random(n)
        if step:
            near = xy[:, step - 1] + rng.normal(size=(n, 2)) * 1500
            xy[:, step] = np.where(kind[:, None] < 0.5, near, xy[:, step])
            xy[kind < 0.2, step] = xy[kind < 0.2, step - 1]
    xy = np.clip(xy, 1, [WIDTH - 1, HEIGHT - 1]).reshape(-1, 2)
    return gpd.GeoDataFrame(
        {"person": np.repeat(np.arange(n), each), "t": np.tile(np.arange(each) * 1800.0, n)},
        geometry=gpd.points_from_xy(*xy.T),
        crs=CRS,
    )


def grid(columns, rows, box=BOX, crs=CRS):
    x, y = (np.linspace(box[i], box[i + 2], n + 1) for i, n in ((0, columns), (1, rows)))
    boxes = [shapely.box(x[i], y[j], x[i + 1], y[j + 1]) for j in range(rows) for i in range(columns)]
    return gpd.GeoDataFrame({"name": [f"z{k}" for k in range(len(boxes))]}, geometry=boxes, crs=crs).set_index("name")


def release(tracks, eps=4.0, method="joint", **arguments):
    columns = {"trajectory": "person", "time": "t", "domain": BOX, "keep": [], "rng": 0}
    return quiet(geotracs.perturb, tracks, eps, method, **columns | arguments)


def counted(tracks, zones, pairs="consecutive"):
    """The share of pairs from each zone to each, of locations as they are."""
    tracks = tracks.sort_values(["person", "t"], kind="stable")
    zone = zones.sindex.nearest(tracks.geometry, return_all=False)[1]
    person = tracks["person"].to_numpy()
    first = np.flatnonzero(person[:-1] == person[1:])
    ends = zone[first], zone[first + 1]
    if pairs == "ends":
        change = np.flatnonzero(np.diff(person)) + 1
        ends = zone[np.append(0, change)], zone[np.append(change, len(person)) - 1]
    found = np.zeros((len(zones), len(zones)))
    np.add.at(found, ends, 1 / len(ends[0]))
    return found.ravel()


def divergence(p, q):
    """Jensen-Shannon, in bits."""
    m = (p + q) / 2
    return sum(0.5 * np.sum(a[a > 0] * np.log2(a[a > 0] / m[a > 0])) for a in (p, q))


@pytest.fixture
def roughly(monkeypatch):
    """Few states, where the quality of an estimate does not matter."""
    monkeypatch.setattr(module, "SQUARES", 10)
    monkeypatch.setattr(trips, "FINE", 20)
    monkeypatch.setattr(trips, "CELLS", (16, 4, 1))


@pytest.fixture(scope="module")
def tracks():
    return people(700)


@pytest.fixture(scope="module")
def private(tracks):
    return release(tracks)


@pytest.fixture(scope="module")
def zones():
    return grid(3, 2)


@pytest.fixture(scope="module")
def found(private, zones):
    return quiet(flows, private, zones, pairs="consecutive")


def test_flows_are_nearer_to_the_truth_than_the_reports(tracks, private, zones, found):
    truth, naive = counted(tracks, zones), counted(private, zones)
    assert divergence(truth, found["share"].to_numpy()) < 0.35 * divergence(truth, naive)


def test_intervals_hold_the_truth(tracks, zones, found):
    """36 flows, which depend on each other: at least the 78% that are promised."""
    truth = counted(tracks, zones)
    assert np.mean((found["low"] <= truth) & (truth <= found["high"])) >= 0.78
    assert np.all((found["low"] <= found["share"]) & (found["share"] <= found["high"]))
    assert found["clear"].equals(found["high"] - found["low"] < found["share"])


def test_what_comes_out(zones, found):
    assert list(found.columns) == ["origin", "destination", "share", "count", "low", "high", "clear", "geometry"]
    assert found["origin"].tolist() == np.repeat(zones.index, 6).tolist()
    assert found["destination"].tolist() == np.tile(zones.index, 6).tolist()
    assert found["share"].sum() == pytest.approx(1)
    assert found["count"].sum() == pytest.approx(700 * 3)
    assert found.crs == zones.crs
    assert found.attrs["tracs"]["answer"]["kind"] == "flows"
    assert found.tracs.guarantee.epsilon == 4


def test_lines_lead_from_zone_to_zone(zones, found):
    begin, end = (gpd.GeoSeries(shapely.get_point(found.geometry.values, at), crs=CRS) for at in (0, -1))
    assert begin.within(zones.loc[found["origin"]].reset_index().geometry).all()
    assert end.within(zones.loc[found["destination"]].reset_index().geometry).all()
    assert found.geometry.is_valid.all()
    inside = found["origin"] == found["destination"]
    assert found.geometry[inside].is_closed.all()
    assert not found.geometry[~inside].is_closed.any()


def test_the_accessor_calls_the_function_and_the_input_is_left_alone(private, zones, roughly):
    before = private.copy(), zones.copy()
    found = quiet(flows, private, zones, pairs="consecutive")
    assert_geodataframe_equal(quiet(private.tracs.flows, zones, pairs="consecutive"), found)
    assert_geodataframe_equal(private, before[0])
    assert_geodataframe_equal(zones, before[1])


def test_zones_may_be_in_another_crs_and_order(private, zones, roughly):
    found = quiet(flows, private, zones, pairs="consecutive")
    other = quiet(flows, private, zones[::-1].to_crs(4326), pairs="consecutive")
    assert other.crs == 4326
    both = found.merge(other, on=["origin", "destination"])
    assert np.abs(both["share_x"] - both["share_y"]).max() < 0.02


def test_rows_may_stand_in_any_order(private, zones, roughly):
    """Times say what follows what, and where locations are does not depend on it."""
    mixed = private.sample(frac=1, random_state=1)
    for pairs in ("ends", "consecutive"):
        shares = [quiet(flows, frame, zones, pairs=pairs)["share"] for frame in (private, mixed)]
        assert np.abs(shares[0] - shares[1]).max() < 0.02
    shares = [quiet(frame.tracs.density, zones=zones)["share"] for frame in (private, mixed)]
    assert np.abs(shares[0] - shares[1]).max() < 0.02


def test_ends_of_trips_are_pairs_too(tracks, private, zones, roughly):
    found = quiet(flows, private, zones)
    truth = counted(tracks, zones, "ends")
    assert found["count"].sum() == pytest.approx(700)
    assert divergence(truth, found["share"].to_numpy()) < 0.5 * divergence(truth, counted(private, zones, "ends"))


def test_one_zone_has_all_flows(private, roughly):
    found = quiet(flows, private, grid(1, 1), pairs="consecutive")
    assert found["share"].tolist() == pytest.approx([1])
    assert found["low"].iloc[0] > 0.9


def test_zones_may_leave_gaps(tracks, private, zones, roughly):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = flows(private, zones.iloc[:4], pairs="consecutive")
    assert any("`zones` leave 33.3% of the region's area open" in str(one.message) for one in said)
    truth = counted(tracks, zones).reshape(6, 6)[:4, :4].sum()
    assert found["share"].sum() == pytest.approx(truth, abs=0.1)


@pytest.mark.parametrize(("when", "names"), [("1h", [0, 3600]), (pd.Timedelta(minutes=30), [0, 1800, 3600])])
def test_time_windows_of_numbers(private, zones, roughly, when, names):
    found = quiet(flows, private, zones, pairs="consecutive", when=when)
    assert list(found.columns[:3]) == ["when", "origin", "destination"]
    assert found["when"].unique().tolist() == names
    assert found.groupby("when")["share"].sum().tolist() == pytest.approx([1] * len(names))
    assert found["count"].sum() == pytest.approx(2100)
    assert found.groupby("when")["count"].sum().iloc[0] == pytest.approx(1400 if when == "1h" else 700)


def test_time_windows_of_dates(tracks, zones, roughly):
    morning = pd.Timestamp("2026-03-02 08:15", tz="Europe/Berlin")
    dated = tracks[tracks["t"] <= 1800].assign(t=lambda frame: morning + pd.to_timedelta(frame["t"], unit="s"))
    private = release(dated)
    for when, name in (("1h", pd.Timestamp("2026-03-02 08:00")), ("hour", 8), ("weekday", 0)):
        found = quiet(flows, private, zones, pairs="consecutive", when=when)
        assert found["when"].unique().tolist() == [name]


def test_windows_with_few_pairs_are_left_out(tracks, zones, roughly):
    late = tracks["person"] < 50
    private = release(tracks.assign(t=tracks["t"] + 86_400.0 * late))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = flows(private, zones, pairs="ends", when="1D")
    assert any("1 of 2 time windows have fewer than 100 pairs" in str(one.message) for one in said)
    assert found["when"].unique().tolist() == [0]
    with pytest.raises(InputError, match="No time window of `when` has 100 pairs of reports; the fullest has 51"):
        flows(private[tracks["person"].between(1, 100)], zones, pairs="ends", when="1D")


def test_too_much_noise_is_said_in_words(tracks, roughly):
    private = release(tracks, 0.01)
    with pytest.warns(GeotracsWarning, match=r"The 90% intervals of \d of 36 flows are narrower"):
        found = flows(private, grid(3, 2), pairs="consecutive")
    assert np.all(found["high"] - found["low"] > found["share"])


def test_hardly_any_noise_gives_the_truth(tracks, zones, roughly):
    private = release(tracks, 40)
    found = quiet(flows, private, zones, pairs="consecutive")
    assert divergence(counted(tracks, zones), found["share"].to_numpy()) < 0.01


POLYGON = shapely.Polygon([(0, 0), (WIDTH, 0), (WIDTH, HEIGHT), (WIDTH / 2, HEIGHT / 2), (0, HEIGHT)])
STATIONS = gpd.GeoDataFrame(
    geometry=gpd.points_from_xy(*(np.random.default_rng(9).random((2, 80)) * [[WIDTH], [HEIGHT]])), crs=CRS
)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("tracs-c", {}),
        ("joint", {"unit": "trajectory"}),
        ("joint", {"domain": POLYGON, "outside": "clip"}),
        ("joint", {"round_to": STATIONS}),
        ("nearest", {"round_to": STATIONS}),
    ],
)
def test_other_methods_and_regions(tracks, roughly, method, arguments):
    """Better than the reports, whatever the method; a bound that holds with room, and not a statement of quality."""
    some = tracks[tracks["person"] < 400]
    private = release(some, 16 if "unit" in arguments else 4, method, **arguments)
    zones = grid(2, 2)
    layers = {name: arguments[name] for name in ("domain", "round_to") if name in arguments}
    found = quiet(flows, private, zones, pairs="consecutive", **layers)
    truth = counted(some, zones)
    share = found["share"].to_numpy()
    assert share.sum() == pytest.approx(1, abs=0.01)
    assert divergence(truth, share) < 0.7 * divergence(truth, counted(private, zones))
    assert np.mean((found["low"] <= truth) & (truth <= found["high"])) >= 0.75


def test_a_method_that_looks_back(tracks, roughly):
    some = tracks[tracks["person"] < 100]
    private = release(some, 5, "tracs-d")
    zones = grid(2, 2)
    found = quiet(flows, private, zones, pairs="consecutive")
    truth = counted(some, zones)
    assert divergence(truth, found["share"].to_numpy()) < divergence(truth, counted(private, zones))


def test_lines_are_trajectories(roughly):
    tracks = people(300, 3)
    lines = tracks.groupby("person")["geometry"].apply(lambda own: shapely.LineString(own.tolist()))
    private = quiet(geotracs.perturb, gpd.GeoDataFrame(geometry=lines, crs=CRS), 6, domain=BOX, rng=0)
    found = quiet(flows, private, grid(2, 1))
    assert found["count"].sum() == pytest.approx(300)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"pairs": "all"}, "`pairs` must be one of 'ends', 'consecutive', got 'all'"),
        ({"level": 1}, "`level` must be a number between 0 and 1, such as 0.9, got 1"),
        ({"level": "90%"}, "`level` must be a number"),
        ({"when": "soon"}, "`when` must be a duration longer than 0, such as '1h', or one of 'hour', 'weekday'"),
        ({"when": "-1h"}, "`when` must be a duration longer than 0"),
        ({"when": "hour"}, "needs dates, and the times of the release are numbers"),
    ],
)
def test_arguments_that_make_no_sense(private, zones, arguments, words):
    with pytest.raises(InputError, match=words):
        flows(private, zones, **{"pairs": "consecutive"} | arguments)


def test_releases_without_pairs(tracks, zones):
    with pytest.raises(InputError, match="The release has no trajectories"):
        flows(release(tracks, trajectory=None), zones)
    with pytest.raises(InputError, match="hold one location only"):
        flows(release(tracks[tracks["t"] == 0]), zones)
    with pytest.raises(InputError, match="At least 100 pairs of reports are needed, and the release has 99"):
        flows(release(tracks[tracks["person"] < 99]), zones)
    with pytest.raises(InputError, match="no record"):
        flows(tracks, zones)
    with pytest.raises(InputError, match="`when` needs the times of the release"):
        flows(release(tracks, time=None), zones, when="1h")


def test_zones_that_cannot_be_used(private, zones):
    with pytest.raises(InputError, match="`zones` may hold at most 128 areas, got 130"):
        flows(private, grid(13, 10), pairs="consecutive")
    with pytest.raises(CRSError, match="`zones` have no CRS"):
        flows(private, zones.set_crs(None, allow_override=True))
    with pytest.raises(InputError, match="1 of 6 `zones` lie outside the region"):
        flows(
            private,
            pd.concat([zones.iloc[:5], zones.iloc[:1].translate(1e6).to_frame("geometry").rename({"z0": "far"})]),
        )


@pytest.mark.slow
@pytest.mark.parametrize(("city", "box"), [("tky", TOKYO), ("chi", CHICAGO)])
def test_real_check_ins(checkins, city, box):
    """16 zones, consecutive check-ins, epsilon 4: a third of the naive divergence, and intervals that cover."""
    table = pd.read_csv(checkins(city), parse_dates=["time"])
    tracks = gpd.GeoDataFrame(
        {"person": table["user"], "t": table["time"]}, geometry=gpd.points_from_xy(table["lon"], table["lat"]), crs=4326
    ).clip(box)
    zones = grid(4, 4, box, 4326)
    private = release(tracks, domain=box)
    with warnings.catch_warnings(action="ignore"):
        found = flows(private, zones, pairs="consecutive")
        truth, naive = counted(tracks, zones), counted(private, zones)
    assert divergence(truth, found["share"].to_numpy()) < 0.35 * divergence(truth, naive)
    assert np.mean((found["low"] <= truth) & (truth <= found["high"])) >= 0.78
