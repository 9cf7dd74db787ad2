"""Locations from a release and a public model of motion: how near they come, and what they say of themselves."""

import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from geopandas.testing import assert_geodataframe_equal

import geotracs
from geotracs.answers.reconstruct import reconstruct
from geotracs.experiments.tracking import PLANE, dense_tracks, errors
from tests.conftest import TOKYO
from tests.helpers import COLUMNS, perturb, quiet


@pytest.fixture(scope="module")
def city():
    return geotracs.datasets.sample_city(people=4, seed=0)


@pytest.fixture(scope="module")
def private(city):
    return perturb(city.tracks, 4, "joint", domain=city.boundary.total_bounds, **COLUMNS)


@pytest.fixture
def released(tracks):
    """Sixty reports of three people in Tokyo, rows shuffled."""
    return perturb(tracks, 4, "joint", keep=["speed"], **COLUMNS)


def test_a_city(city, private):
    found = {motion: reconstruct(private, speed=12, motion=motion) for motion in ("box", "modes")}
    before, after, modes = (errors(city.tracks, one) for one in (private, found["box"], found["modes"]))
    assert after.mean() <= 0.30 * before.mean()
    assert (after <= found["box"]["radius"]).mean() >= 0.85
    assert modes.mean() < 0.9 * after.mean()  # people move by about a cell
    assert (modes <= found["modes"]["radius"]).mean() >= 0.85


@pytest.mark.parametrize("factor", [0.25, 2])
def test_a_wrong_speed(city, private, factor):
    found = reconstruct(private, speed=12 * factor)
    assert errors(city.tracks, found).mean() <= 0.5 * errors(city.tracks, private).mean()


@pytest.mark.parametrize("speed", [4, 15, 30])
def test_dense_tracks(speed):
    tracks, domain = dense_tracks()
    private = perturb(tracks, 4, "joint", domain=domain, trajectory="trip", time="t")
    found = reconstruct(private, speed=speed)
    before, after = errors(tracks, private), errors(tracks, found)
    assert after.mean() <= 0.15 * before.mean()
    assert (after <= found["radius"]).mean() >= 0.85


@pytest.mark.slow
def test_dense_tracks_that_stay_near_the_border():
    """Reports do not tell how far from it they are; without memory the radius would hold three of four."""
    tracks, domain = dense_tracks(2, 120, at_border=True, seed=1)
    private = perturb(tracks, 4, "joint", domain=domain, trajectory="trip", time="t")
    found = reconstruct(private, speed=15)
    before, after = errors(tracks, private), errors(tracks, found)
    assert after.mean() <= 0.15 * before.mean()
    assert (after <= found["radius"]).mean() >= 0.85


@pytest.mark.slow
def test_checkins(checkins):
    table = pd.read_csv(checkins("tky"), nrows=5500)
    points = gpd.points_from_xy(table["lon"], table["lat"])
    frame = gpd.GeoDataFrame({"person": table["user"], "t": pd.to_datetime(table["time"])}, geometry=points, crs=4326)
    frame = frame.cx[TOKYO[0] : TOKYO[2], TOKYO[1] : TOKYO[3]]
    private = perturb(frame, 4, "joint", **COLUMNS)
    found = reconstruct(private, speed=10)
    before, after = errors(frame, private), errors(frame, found)
    assert after.mean() <= 0.60 * before.mean()
    assert (after <= found["radius"]).mean() >= 0.85


@pytest.mark.parametrize("eps", [12, 20, 600])
def test_reports_with_little_noise_are_not_made_worse(city, eps):
    tracks = city.tracks.iloc[:200]
    private = perturb(tracks, eps, "joint", domain=city.boundary.total_bounds, **COLUMNS)
    found = reconstruct(private, speed=12)
    before, after = errors(tracks, private), errors(tracks, found)
    assert after.mean() <= 1.001 * before.mean() + 1e-3
    assert (after <= found["radius"] + 1e-3).mean() >= 0.85


def test_reports_that_say_nothing_give_the_prior(city):
    tracks = city.tracks.iloc[:50]
    box = city.boundary.total_bounds
    private = perturb(tracks, 1e-6, "joint", domain=box, **COLUMNS)
    found = reconstruct(private, speed=12, prior=None)
    middle = gpd.GeoSeries([shapely.box(*box).centroid], crs=4326)
    away = errors(found, gpd.GeoSeries(np.repeat(middle.values, 50), crs=4326).to_frame("geometry"))
    assert away.max() < 200
    assert found["radius"].min() > 4000


@pytest.mark.parametrize("method", ["tracs-c", "tracs-d", "optimal"])
def test_other_methods(city, method):
    tracks = city.tracks.iloc[:60]
    private = perturb(tracks, 6, method, domain=city.boundary.total_bounds, **COLUMNS)
    found = reconstruct(private, speed=12, cells=24)
    assert errors(tracks, found).mean() < 0.6 * errors(tracks, private).mean()


def test_a_polygon_with_a_budget_for_each_trajectory(city):
    tracks = city.tracks.query("person == 0")
    private = perturb(tracks, 500, "joint", domain=city.boundary, unit="trajectory", **COLUMNS)
    found = reconstruct(private, speed=12, domain=city.boundary, cells=24)
    assert errors(tracks, found).mean() < 0.5 * errors(tracks, private).mean()
    assert found.covered_by(city.boundary.geometry[0].buffer(1e-9)).all()


def test_reports_over_places(city):
    tracks = city.tracks.iloc[:200]
    private = perturb(
        tracks, 4, "nearest", domain=city.boundary.total_bounds, round_to=city.pois, place="place", **COLUMNS
    )
    found = reconstruct(private, speed=12, round_to=city.pois)
    assert errors(tracks, found).mean() < 0.7 * errors(tracks, private).mean()


def test_the_globe():
    rng = np.random.default_rng(0)
    way = np.cumsum(rng.normal(0, 0.5, (60, 2)), axis=0) + np.array([179, 20])  # across the antimeridian
    way[:, 0] = (way[:, 0] + 180) % 360 - 180
    frame = gpd.GeoDataFrame({"t": 3600.0 * np.arange(60)}, geometry=gpd.points_from_xy(*way.T), crs=4326)
    globe = geotracs.domains.Globe()
    private = perturb(frame, 4, "joint", domain=globe, time="t")
    found = reconstruct(private, speed=40, cells=32)
    before, after = (globe.distance(way, shapely.get_coordinates(one.geometry.values)) for one in (private, found))
    assert after.mean() < 0.4 * before.mean()
    assert (after <= found["radius"]).mean() >= 0.85


def test_a_layer_that_people_do_not_leave(city, private):
    street = shapely.LineString([city.tracks.geometry[0], city.tracks.geometry[40]])
    found = reconstruct(private.iloc[:41], speed=12, places=gpd.GeoSeries([street], crs=4326))
    crs = found.estimate_utm_crs()
    away = found.to_crs(crs).distance(gpd.GeoSeries([street], crs=4326).to_crs(crs).iloc[0])
    assert away.max() < 150  # half of a cell and a little


def test_a_public_prior_helps(city, private):
    near = city.tracks.iloc[:1].to_crs(city.tracks.estimate_utm_crs()).buffer(1000).to_crs(4326)
    one = private.iloc[:1]
    even = reconstruct(one, speed=12, prior=None)
    told = reconstruct(one, speed=12, prior=gpd.GeoSeries(near.values, crs=4326))
    assert told["radius"].iloc[0] < 0.7 * even["radius"].iloc[0]


# What comes out.


def test_the_frame_stays_what_it_was(released):
    before = released.copy(deep=True)
    found = reconstruct(released, speed=15)
    assert_geodataframe_equal(released, before)
    assert found.index.equals(released.index)
    assert list(found.columns) == [*released.columns, "radius"]
    assert found.crs == released.crs
    assert found.drop(columns=["geometry", "radius"]).equals(released.drop(columns="geometry"))
    assert (found["radius"] > 0).all()
    assert found.geometry.within(shapely.box(*TOKYO)).all()


def test_the_order_of_rows_does_not_matter(released):
    found = reconstruct(released, speed=15)
    sorted_first = reconstruct(released.sort_values(["person", "t"]), speed=15)
    apart = shapely.get_coordinates(found.geometry) - shapely.get_coordinates(sorted_first.loc[found.index].geometry)
    assert np.abs(apart).max() < 1e-5
    assert np.allclose(found["radius"], sorted_first.loc[found.index, "radius"], rtol=1e-3)


def test_another_geometry_name_missing_and_empty_locations(tracks):
    frame = tracks.rename_geometry("where")
    frame.loc[frame.index[3], "where"] = None
    frame.loc[frame.index[7], "where"] = shapely.Point()
    found = reconstruct(perturb(frame, 4, "joint", **COLUMNS), speed=15)
    assert found.geometry.name == "where"
    assert found["where"].isna().to_numpy().nonzero()[0].tolist() == [3]
    assert found["where"].is_empty.to_numpy().nonzero()[0].tolist() == [7]
    assert found["radius"].isna().to_numpy().nonzero()[0].tolist() == [3, 7]


def test_one_location(tracks):
    found = reconstruct(perturb(tracks.iloc[:1], 4, "joint", **COLUMNS), speed=15)
    assert len(found) == 1
    assert found["radius"].iloc[0] > 1000


def test_repeated_locations_and_equal_times(tracks):
    frame = tracks.assign(t=pd.Timestamp("2026-01-01"), geometry=tracks.geometry.iloc[0])
    found = reconstruct(perturb(frame, 4, "joint", **COLUMNS), speed=15)
    places = found.groupby("person")["radius"].agg(["min", "max"])
    assert (places["max"] < 1.2 * places["min"]).all()  # all twenty reports of a person are of one moment
    assert errors(frame, found).mean() < 2500


def test_the_guarantee_carries_on(released):
    found = reconstruct(released, speed=15)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guarantee = found.tracs.guarantee
    assert guarantee.epsilon == 4
    assert guarantee.answer["kind"] == "reconstruct"
    assert guarantee.answer["speed"] == 15
    assert "whoever has the release can compute them" in str(guarantee)
    assert not released.tracs.guarantee.answer


def test_the_record_is_written_and_read(released, tmp_path):
    reconstruct(released, speed=15).to_parquet(tmp_path / "found.parquet")
    assert "whoever has the release" in str(gpd.read_parquet(tmp_path / "found.parquet").tracs.guarantee)


# Rows between.


@pytest.mark.parametrize("at", ["30s", list(pd.date_range("2025-12-31 23:59:30", periods=60, freq="30s"))])
def test_rows_are_filled_in(released, at):
    found = reconstruct(released, speed=15, at=at)
    assert len(found) == 60 + 3 * 19
    assert found["filled"].sum() == 3 * 19
    assert found.index.equals(pd.RangeIndex(len(found)))
    for _, own in found.groupby("person"):
        assert (own["t"].diff().iloc[1:] == pd.Timedelta("30s")).all()
        assert own["filled"].tolist() == [False, True] * 19 + [False]
    without = reconstruct(released, speed=15)
    kept = found[~found["filled"]].sort_values(["person", "t"])
    apart = errors(kept, without.sort_values(["person", "t"]))
    assert apart.mean() < 1000  # a step in two halves is nearly the same


def test_times_of_no_trajectory_add_nothing(released):
    found = reconstruct(released, speed=15, at=[pd.Timestamp("2031-01-01")])
    assert len(found) == 60
    assert not found["filled"].any()


def test_numbers_as_times():
    tracks, domain = dense_tracks(1, 3)
    found = reconstruct(perturb(tracks, 4, "joint", domain=domain, time="t"), speed=15, at=[0.0, 20.5, 30.5])
    assert found.loc[found["filled"], "t"].tolist() == [20.5, 30.5]


# Bad input.


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"speed": 0}, "`speed` must be a finite number of metres per second"),
        ({"speed": -3.0}, "`speed`"),
        ({"speed": None}, "`speed`"),
        ({"speed": np.inf}, "`speed`"),
        ({"speed": np.nan}, "`speed`"),
        ({"stay": 1.0}, "`stay` must be a probability"),
        ({"level": 90}, "`level` must be a probability"),
        ({"motion": "car"}, r"`motion` must be one of \['auto', 'box', 'modes'\]"),
        ({"cells": 4}, "`cells` must be a whole number from 8 to 256"),
        ({"prior": "census"}, "`prior` must be"),
        ({"prior": 3}, "`prior` must be"),
        ({"places": "roads"}, "`places` must be a GeoDataFrame"),
        ({"places": gpd.GeoSeries([shapely.Point(0, 0)])}, "`places` has no CRS"),
        ({"places": gpd.GeoSeries([shapely.Point(0, 0)], crs=4326)}, "`places` does not touch the region"),
        ({"at": "often"}, "`at` must be a list of times"),
        ({"at": [3.5]}, "`at`"),
        ({"at": [pd.Timestamp("2026-01-01", tz="UTC")]}, "`at`"),
    ],
)
def test_bad_arguments(released, arguments, match):
    with pytest.raises(geotracs.InputError, match=match):
        reconstruct(released, **{"speed": 15, **arguments})


def test_speed_is_needed(released):
    with pytest.raises(TypeError, match="speed"):
        reconstruct(released)


def test_a_frame_without_a_record(tracks):
    with pytest.raises(geotracs.InputError, match="carries no record"):
        reconstruct(tracks, speed=15)


def test_a_frame_with_other_locations(released):
    moved = released.set_geometry(released.geometry.translate(0.01, 0))
    with pytest.raises(geotracs.InputError, match="not those that perturb"):
        reconstruct(moved, speed=15)


def test_what_was_reconstructed_is_no_release(released):
    with pytest.raises(geotracs.InputError, match="is not the release itself"):
        reconstruct(reconstruct(released, speed=15).drop(columns="radius"), speed=15)


def test_a_release_without_times(tracks):
    with pytest.raises(geotracs.InputError, match="no times on record"):
        reconstruct(perturb(tracks, 4, "joint", trajectory="person"), speed=15)


def test_missing_times(released):
    released.loc[released.index[2], "t"] = pd.NaT
    with pytest.raises(geotracs.InputError, match="1 row"):
        reconstruct(released, speed=15)


@pytest.fixture(scope="module")
def lines():
    """Two made-up trips of cars as lines, and one row without a line."""
    tracks, domain = dense_tracks(2, 5)
    made = [shapely.LineString(own.geometry.values) for _, own in tracks.groupby("trip")]
    return gpd.GeoDataFrame({"name": ["a", "b", "c"]}, geometry=[made[0], None, made[1]], crs=PLANE), domain


def test_lines(lines):
    frame, domain = lines
    private = perturb(frame, 4, "joint", domain=domain, keep=["name"])
    found = reconstruct(private, speed=15, interval=3.5)
    assert found.geometry.geom_type.dropna().tolist() == ["LineString", "LineString"]
    assert found["name"].tolist() == ["a", "b", "c"]
    assert found["radius"].isna().tolist() == [False, True, False]
    for row in (0, 2):
        truth, before, after = (shapely.get_coordinates(one.geometry.iloc[row]) for one in (frame, private, found))
        apart = [np.hypot(*(one - truth).T) for one in (before, after)]
        assert len(apart[1]) == len(apart[0])
        assert apart[1].mean() < 0.3 * apart[0].mean()
        assert (apart[1] <= found["radius"].iloc[row]).mean() > 0.85


def test_each_line_is_as_points_would_be(lines):
    frame, domain = lines
    private = perturb(frame.iloc[[2]], 4, "joint", domain=domain)
    found = reconstruct(private, speed=15, interval=4)
    points = frame.iloc[[2]].explode().extract_unique_points().explode()
    same = gpd.GeoDataFrame(geometry=points.values, crs=PLANE)
    single = reconstruct(perturb(same, 4, "joint", domain=domain), speed=15, interval=4)
    assert np.allclose(shapely.get_coordinates(found.geometry.iloc[0]), shapely.get_coordinates(single.geometry))
    assert found["radius"].iloc[0] == pytest.approx(single["radius"].max())


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({}, "say how many seconds lie between two of them"),
        ({"interval": 0}, "`interval` must be a finite number of seconds"),
        ({"interval": np.nan}, "`interval` must be"),
        ({"interval": "1s"}, "`interval` must be"),
        ({"interval": 3, "at": [4.0]}, "`at` needs a release with times"),
    ],
)
def test_lines_with_bad_arguments(lines, arguments, match):
    frame, domain = lines
    with pytest.raises(geotracs.InputError, match=match):
        reconstruct(perturb(frame, 4, "joint", domain=domain), speed=15, **arguments)


def test_an_interval_beside_times(released):
    with pytest.raises(geotracs.InputError, match="has times on record"):
        reconstruct(released, speed=15, interval=60)


def test_a_column_of_that_name(released):
    with pytest.raises(geotracs.InputError, match="column 'radius' already"):
        reconstruct(released.assign(radius=3), speed=15)


def test_accessor(released):
    assert_geodataframe_equal(released.tracs.reconstruct(speed=15), reconstruct(released, speed=15))


def test_no_warning_quotes_anything(released):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        quiet(reconstruct, released, speed=15)
    assert not caught
