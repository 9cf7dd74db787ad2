import json
import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from geotracs import CRSError, InputError
from geotracs.answers.reader import Reader
from geotracs.answers.synthesize import synthesize
from tests.helpers import quiet

CRS = "EPSG:32633"
BOX = (0.0, 0.0, 12_000.0, 12_000.0)
WEST, EAST, NORTH = np.array([[2500.0, 2500.0], [9500.0, 2500.0], [6000.0, 9500.0]])
TRIPS = 1000


def city(trips=TRIPS, reports=2, seed=0):
    """Trips with reports at even times: 70% from west to north in the morning, 30% from east to west in the evening."""
    rng = np.random.default_rng(seed)
    early = rng.random(trips) < 0.7
    a, b = np.where(early[:, None], WEST, EAST), np.where(early[:, None], NORTH, WEST)
    a, b = (np.clip(end + rng.normal(0, 500, (trips, 2)), 0, 12_000) for end in (a, b))
    part = np.linspace(0, 1, reports)
    xy = a[:, None] + (b - a)[:, None] * part[:, None]
    hours = np.where(early, 8, 18)[:, None] + rng.normal(0, 0.5, (trips, 1)) + part / 2
    times = pd.Timestamp("2026-03-02") + pd.to_timedelta(np.rint(hours.ravel() * 3600), unit="s")
    data = {"trip": np.repeat(np.arange(trips), reports), "t": times}
    return gpd.GeoDataFrame(data, geometry=gpd.points_from_xy(*xy.reshape(-1, 2).T), crs=CRS)


def release(frame, eps=8.0, **arguments):
    given = {"domain": BOX, "trajectory": "trip", "time": "t", "unit": "trajectory", "keep": [], "rng": 1}
    return quiet(geotracs.perturb, frame, eps, **given | arguments)


@pytest.fixture(scope="module")
def private():
    return release(city(), 12.0)


def ends(made):
    coordinates, which = shapely.get_coordinates(made.geometry.to_numpy(), return_index=True)
    first = np.flatnonzero(np.diff(which, prepend=-1))
    return coordinates[first], coordinates[np.append(first[1:], len(which)) - 1]


def near(xy, place, far=2500):
    return np.hypot(*(xy - place).T) < far


def test_origins_destinations_and_times_are_those_of_the_trips(private):
    """Six standard deviations of 4,000 trips are 0.045, and the estimate of 70% is as good from 1,000."""
    made = synthesize(private, 4000, seed=1)
    a, b = ends(made)
    north = near(a, WEST) & near(b, NORTH)
    west = near(a, EAST) & near(b, WEST)
    assert north.mean() == pytest.approx(0.7, abs=0.08)
    assert west.mean() == pytest.approx(0.3, abs=0.08)
    assert np.mean(near(a, EAST) & near(b, NORTH)) < 0.02  # nobody goes there
    assert made["begin"][north].dt.hour.median() in (7, 8)
    assert made["begin"][west].dt.hour.median() in (17, 18)
    minutes = (made["end"] - made["begin"]).dt.total_seconds() / 60
    assert minutes.median() == pytest.approx(30, abs=1)


def test_what_is_returned(private):
    made = synthesize(private, 300, seed=2)
    assert list(made.columns) == ["trip", "begin", "end", "geometry"]
    assert made["trip"].tolist() == list(range(300))
    assert made.crs == private.crs
    assert set(made.geom_type) == {"LineString"}
    assert made.geometry.within(shapely.box(*BOX)).all()
    record = made.attrs["tracs"]
    assert record["synthetic"] == {"trips": 300, "from": TRIPS, "between": False, "cells": 12, "ways": "straight"}
    assert json.loads(json.dumps(record)) == record
    assert "synthetic" not in private.attrs["tracs"]
    assert len(synthesize(private, seed=3, cells=4)) == TRIPS
    assert len(set(made["begin"]) & set(private["t"])) < 100  # they are moved


def test_the_same_seed_gives_the_same_trips(private):
    once, other = (synthesize(private, 50, seed=seed, cells=5) for seed in (4, None))
    again = private.tracs.synthesize(50, seed=4, cells=5)
    assert once.equals(again)
    assert not once.geometry.equals(other.geometry)


def test_made_up_trips_are_no_release(private):
    """Neither as they are nor in another CRS, in which nobody can tell by the locations."""
    made = synthesize(private, 200, cells=4, seed=6)
    assert "under pure 12-local differential privacy" in str(made.tracs.guarantee)
    assert str(made.tracs.guarantee).endswith("nobody made them. What it promises holds for them.")
    for frame in (made, made.to_crs(4326)):
        with pytest.raises(InputError, match="was computed from a release and is not the release itself"):
            Reader.of(frame)


def test_degrees_and_a_polygon():
    frame = city(400)
    outline = gpd.GeoSeries([shapely.Point(6000, 6000).buffer(5900)], crs=CRS)
    frame = frame.to_crs(4326)
    private = release(frame, domain=outline, outside="clip")
    made = synthesize(private, 400, seed=7, cells=6, domain=outline)
    assert made.crs == frame.crs
    a, b = ends(made.to_crs(CRS))
    slightly_larger = outline.iloc[0].buffer(5)
    assert shapely.contains_xy(slightly_larger, a).all()
    assert shapely.contains_xy(slightly_larger, b).all()


@pytest.mark.parametrize("kind", ["zone", "text", "seconds", "timedelta", "none"])
def test_kinds_of_times(kind):
    frame = city(150)
    if kind == "zone":
        frame["t"] = frame["t"].dt.tz_localize("Europe/Berlin")
    elif kind == "text":
        frame["t"] = frame["t"].dt.strftime("%Y-%m-%dT%H:%M:%S")
    elif kind == "seconds":
        frame["t"] = (frame["t"] - frame["t"].min()).dt.total_seconds()
    elif kind == "timedelta":
        frame["t"] = frame["t"] - frame["t"].min()
    made = synthesize(release(frame, time=None if kind == "none" else "t"), 100, seed=8)
    if kind == "none":
        assert list(made.columns) == ["trip", "geometry"]
        return
    assert (made["end"] > made["begin"]).all()
    if kind in ("zone", "text"):
        assert str(getattr(made["begin"].dt, "tz", None)) == ("Europe/Berlin" if kind == "zone" else "None")
        assert made["begin"].dt.date.unique().tolist() == [pd.Timestamp("2026-03-02").date()]
    else:
        assert made["begin"].dtype == frame["t"].dtype or kind == "timedelta"


def test_lines_are_trips():
    frame = city(150)
    lines = frame.dissolve("trip").geometry.apply(lambda points: shapely.LineString(points.geoms))
    private = release(gpd.GeoDataFrame(geometry=lines, crs=CRS), trajectory=None, time=None)
    assert len(synthesize(private, seed=9)) == 150


def test_reports_on_the_way_improve_the_estimate():
    """With epsilon 2 for each of eight reports, beside what the ends of the same release say if times are not known."""
    frame = city(600, reports=8)
    private = release(frame, 2.0, unit="location")
    blind = private.drop(columns="t")
    blind.attrs = {"tracs": {**private.attrs["tracs"], "time": None}}
    right = []
    for own in (private, blind):
        made = synthesize(own, 2000, seed=10, cells=8)
        assert made.attrs["tracs"]["synthetic"]["between"] == (own is private)
        a, b = ends(made)
        right.append(np.mean((near(a, WEST) & near(b, NORTH)) | (near(a, EAST) & near(b, WEST))))
    assert right[0] > right[1] + 0.03  # two standard deviations of 2,000 trips


def test_trips_of_any_number_of_reports():
    """Each number of reports has an epsilon of its own, which are more than have tables; some trips are one report."""
    rng = np.random.default_rng(11)
    frame = city(300, reports=9)
    kept = rng.random(len(frame)) < np.repeat(rng.uniform(0.1, 1, 300), 9)
    private = release(frame[kept])
    used = int((private.groupby("trip").size() > 1).sum())
    for time in ("t", None):
        own = private.copy()
        own.attrs["tracs"] = {**private.attrs["tracs"], "time": time}
        made = synthesize(own, 200, seed=12, cells=5)
        assert made.attrs["tracs"]["synthetic"]["from"] == used


def test_more_trips_than_are_looked_at(monkeypatch):
    monkeypatch.setattr("geotracs.answers.synthesize.MAX_APART", 120)
    made = synthesize(release(city(200, reports=3)), seed=13)
    assert len(made) == 200
    assert made.attrs["tracs"]["synthetic"]["from"] == 200


@pytest.mark.parametrize("places", [50, 400])
def test_methods_over_places(places):
    """Reports are places; up to 256 of them are ends themselves."""
    xy = np.random.default_rng(14).uniform(0, 12_000, (places, 2))
    layer = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*xy.T), crs=CRS)
    made = synthesize(release(city(400), method="nearest", round_to=layer), 400, seed=15, round_to=layer)
    a, b = ends(made)
    assert np.mean(near(a, WEST, 4000) & near(b, NORTH, 4000)) > 0.5
    exact = {tuple(row) for row in np.round(xy, 3).tolist()}
    assert all(tuple(row) in exact for row in np.round(a, 3).tolist()) == (places == 50)


def test_a_method_that_looks_back(monkeypatch):
    monkeypatch.setattr("geotracs.answers.synthesize.MAX_LOOKING_BACK", 110)
    made = synthesize(release(city(130), 12.0, method="tracs-d"), 100, seed=16, cells=4)
    a, b = ends(made)
    assert np.mean(near(a, WEST, 4000) & near(b, NORTH, 4000)) > 0.35


def streets(step=1000):
    at = np.arange(0, 12_001, step, dtype=float)
    along = [np.column_stack([at, np.full(len(at), y)]) for y in at]
    return gpd.GeoSeries([shapely.LineString(line) for line in (*along, *(line[:, ::-1] for line in along))], crs=CRS)


def test_trips_along_a_network(private):
    made = synthesize(private, 300, cells=4, seed=17, network=streets())
    assert made.attrs["tracs"]["synthetic"]["ways"] == "network"
    xy = made.geometry.get_coordinates().to_numpy()
    assert np.allclose(xy, np.round(xy, -3), atol=1e-6)  # every vertex is a crossing
    steps = np.abs(np.diff(xy, axis=0))[np.diff(made.geometry.get_coordinates().index) == 0]
    assert np.allclose(steps.sum(axis=1), 1000)  # from crossing to crossing along streets
    a, b = ends(made)
    length = np.maximum(np.abs(b - a).sum(axis=1), 1000)
    assert np.allclose(made.length, length)
    assert (made.length > 0).all()


def test_a_network_in_parts_or_far_away(private):
    island = gpd.GeoSeries([shapely.LineString([(i * 10 + 100, 105), (i * 10 + 110, 105)]) for i in range(40)], crs=CRS)
    with pytest.warns(geotracs.GeotracsWarning, match="in several parts; the largest one is used, which has 80% of"):
        synthesize(private, 50, cells=4, seed=18, network=pd.concat([streets(), island]))
    with pytest.warns(geotracs.GeotracsWarning, match="does not reach .*% of the ends"):
        synthesize(private, 50, cells=4, seed=19, network=streets().iloc[[0, 13]])
    with pytest.raises(InputError, match="`network` has nothing inside the region"):
        synthesize(private, 50, network=streets().translate(1e6))


def test_trips_from_place_to_place(private):
    xy = np.random.default_rng(20).uniform(0, 12_000, (300, 2))
    layer = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*xy.T), crs=CRS).to_crs(4326)
    made = synthesize(private, 200, cells=4, seed=21, places=layer)
    vertices = {tuple(row) for row in np.round(made.geometry.get_coordinates().to_numpy(), 2).tolist()}
    assert vertices <= {tuple(row) for row in np.round(xy, 2).tolist()}
    assert shapely.get_num_coordinates(made.geometry.to_numpy()).max() > 4


def test_bad_arguments(private):
    for n in (0, -1, 1.5, True, "10"):
        with pytest.raises(InputError, match="`n` must be a whole number of trips, 1 at least"):
            synthesize(private, n)
    for cells in (1, 33, 2.5, None, True):
        with pytest.raises(InputError, match="`cells` must be a whole number from 2 to 32"):
            synthesize(private, cells=cells)
    for seed in (-1, 0.5, "a", True):
        with pytest.raises(InputError, match="`seed` must be None or an integer"):
            synthesize(private, seed=seed)
    with pytest.raises(InputError, match="Give `network` or `places`, not both"):
        synthesize(private, network=streets(), places=streets())
    with pytest.raises(InputError, match="`network` must be a GeoDataFrame or a GeoSeries, got list"):
        synthesize(private, network=[1])
    with pytest.raises(CRSError, match="`network` has no CRS"):
        synthesize(private, network=gpd.GeoSeries(streets().to_numpy()))
    with pytest.raises(InputError, match="`places` must hold Points, got LineString"):
        synthesize(private, places=streets())


def test_bad_frames(private):
    with pytest.raises(InputError, match="carries no record of a perturbation"):
        synthesize(city(150))
    points = release(city(150), trajectory=None, time=None, unit="location")
    with pytest.raises(InputError, match="This release has no trajectories"):
        synthesize(points)
    with pytest.raises(InputError, match="at least 100 trajectories of two reports or more, and this release has 60"):
        synthesize(release(city(60)))
    single = city(150).groupby("trip").head(1)
    with pytest.raises(InputError, match="this release has 0"):
        synthesize(release(single))
    moved = private.copy()
    moved.geometry = moved.translate(1)
    with pytest.raises(InputError, match="not those that perturb"):
        synthesize(moved)


@pytest.mark.parametrize("eps", [1e-6, 600.0])
def test_extreme_epsilons(eps):
    """Where nothing can be told trips are uniform, and it says so; where all is, they begin and end where they did."""
    with warnings.catch_warnings(record=True, action="always") as said:
        made = synthesize(release(city(300), eps), 1000, seed=22)
    assert any("tell next to nothing" in str(one.message) for one in said) == (eps < 1)
    a, b = ends(made)
    if eps > 1:
        assert np.mean((near(a, WEST) & near(b, NORTH)) | (near(a, EAST) & near(b, WEST))) > 0.97
    else:
        assert np.abs(a.mean(axis=0) - 6000).max() < 1000
        assert a.std(axis=0) == pytest.approx(12_000 / np.sqrt(12), rel=0.15)
