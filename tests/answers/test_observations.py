"""Repeated reports are one observation: for densities, tracks, flows and attacks."""

import dask_geopandas
import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from geotracs.places import Grid

import geotracs
from geotracs import InputError
from geotracs.answers.estimate import FOLDS
from geotracs.answers.moments import Moments
from geotracs.answers.observations import Observations
from geotracs.answers.reader import Reader
from geotracs.trust.risk import made_up_case
from geotracs.trust.risk_stay import place
from tests.helpers import quiet

SQUARE = (0.0, 0.0, 20_000.0, 20_000.0)
COLUMNS = {"trajectory": "person", "time": "t"}


def standing(fixes, people=4):
    """People who stand still."""
    xy = np.repeat(np.random.default_rng(4).uniform(3000, 17_000, (people, 2)), fixes, axis=0)
    columns = {"person": np.repeat(np.arange(people), fixes), "t": np.tile(60 * np.arange(fixes), people)}
    return gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(*xy.T), crs=32654)


def released(tracks, eps=8, **arguments):
    given = {"domain": SQUARE, "keep": [], "rng": 1, "repeat": "same", **COLUMNS} | arguments
    return quiet(geotracs.perturb, tracks, eps, **given)


def in_batches(tracks, folder):
    tracks.to_parquet(folder / "in.parquet")
    given = {"domain": SQUARE, "keep": [], "rng": 1, "repeat": "same", "batch_rows": 700, **COLUMNS}
    quiet(geotracs.perturb_file, folder / "in.parquet", folder / "out.parquet", 8, **given)
    return geotracs.files.read(folder / "out.parquet")


def on_dask(tracks):
    given = {"domain": SQUARE, "keep": [], "rng": 1, "repeat": "same", **COLUMNS}
    return quiet(dask_geopandas.from_geopandas(tracks, npartitions=3).tracs.perturb, 8, **given).compute()


def posterior(reader):
    """Where each person is, by all of their reports."""
    return np.array([place(reader, np.arange(own.start, own.stop)) for own in reader.trajectories()])


def found(private):
    """Where each person is, by every attack on a stay: the reports' median, the posterior, and tracking."""
    reader = Reader.of(private)
    tracked = quiet(private.tracs.reconstruct, speed=15, cells=32, prior=None)
    return {
        "median": np.array([np.median(reader.xy[own], axis=0) for own in reader.trajectories()]),
        "posterior": posterior(reader),
        "tracking": tracked.groupby("person").geometry.first().get_coordinates().to_numpy(),
    }


def test_a_thousand_fixes_at_one_place_tell_an_attacker_what_one_fix_tells(tmp_path):
    """In memory, in batches and on dask the same: the release of the thousand rows is that of one of them, repeated."""
    many, one = standing(1000), standing(1)
    expected = released(one)
    truth = one.geometry.get_coordinates().to_numpy()
    by_one = found(expected)
    for private in (released(many), in_batches(many, tmp_path), on_dask(many)):
        reports = private.geometry.get_coordinates().to_numpy().reshape(len(one), 1000, 2)
        assert np.array_equal(reports, np.repeat(expected.geometry.get_coordinates().to_numpy()[:, None], 1000, axis=1))
    by_many = found(released(many))
    for name, xy in by_one.items():
        np.testing.assert_allclose(by_many[name], xy, atol=1e-6, err_msg=name)
    best = min(np.hypot(*(xy - truth).T).mean() for xy in by_one.values())
    independent = posterior(Reader.of(released(many, repeat=None)))
    assert np.hypot(*(independent - truth).T).mean() < best / 10  # what repeating protects from


def test_rows_of_one_person_with_one_report_are_one_observation():
    tracks = standing(3)
    tracks.loc[5, "geometry"] = tracks.geometry[0]
    reader = Reader.of(released(tracks))
    own = reader.observations
    assert own.of_row.tolist() == [0, 0, 0, 1, 1, 2, 3, 3, 3, 4, 4, 4]
    assert (reader.informative, own.count, reader.total) == (5, 5, 12)
    assert own.weight == pytest.approx(12 / (9 + 4 + 1 + 9 + 9))
    assert Reader.of(released(tracks, repeat=None)).observations is None


def test_without_the_column_of_people_equal_reports_are_one_observation():
    tracks = standing(5).assign(who="one")
    reader = Reader.of(released(tracks, person="who"))
    assert reader.informative == 4


def test_all_rows_of_an_observation_are_dealt_into_one_fold():
    own = Observations(np.repeat(np.arange(50), 4), np.repeat(np.arange(50), 4))
    folds = own.dealt(np.arange(200), np.repeat(np.arange(50), 4), 50)
    assert folds.shape == (50, FOLDS)
    assert (np.count_nonzero(folds, axis=1) == 1).all()
    assert folds.sum() == pytest.approx(50)  # 200 rows are worth 50 independent ones


def walkers(seed, people=50, rows=100):
    """People with a home, a place of work and outings, and the share of rows in each quarter of the square."""
    rng = np.random.default_rng(seed)
    home, work = rng.normal(8000, 2500, (people, 2)), rng.normal(12_000, 1500, (people, 2))
    who = np.repeat(np.arange(people), rows)
    kind = rng.choice(3, (len(who), 1), p=[0.6, 0.25, 0.15])
    xy = np.where(kind == 0, home[who], np.where(kind == 1, work[who], rng.uniform(500, 19_500, (len(who), 2))))
    xy = np.clip(xy, 500, 19_500)
    columns = {"person": who, "t": np.tile(600 * np.arange(rows), people)}
    tracks = gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(*xy.T), crs=32654)
    return tracks, np.histogram2d(xy[:, 1], xy[:, 0], bins=3, range=[[0, 20_000]] * 2)[0].ravel() / len(xy)


def test_intervals_of_a_density_of_rows_cover_though_rows_share_reports():
    """Nominal 90% intervals hold at least 85% of the shares; taken for independent, rows would cover far less."""
    inside, repeats = [], 2
    for seed in range(repeats):
        tracks, truth = walkers(seed)
        shares = quiet(released(tracks, 7, rng=seed).tracs.density, Grid(nx=3, ny=3))
        inside.append((shares.low <= truth) & (truth <= shares.high))
        assert shares["count"].sum() == pytest.approx(len(tracks))
    assert np.mean(inside) >= 0.85
    assert shares.attrs["tracs"]["answer"]["reports"] < len(tracks) / 4


def test_a_density_of_few_observations_is_an_error():
    with pytest.raises(InputError, match="at least 100 reports, got 4"):
        released(standing(200)).tracs.density(Grid(nx=2, ny=2))


def test_answers_that_need_independent_reports_say_so(tmp_path):
    private = released(walkers(0, people=10, rows=120)[0])
    with pytest.raises(InputError, match="synthesize needs independent ones"):
        private.tracs.synthesize(10)
    with pytest.raises(InputError, match=r"density\(robust=...\) needs independent ones"):
        private.tracs.density(Grid(nx=2, ny=2), robust=True)
    private.to_parquet(tmp_path / "private.parquet")
    with pytest.raises(InputError, match="counts in bins are not enough"):
        geotracs.density(tmp_path / "private.parquet", Grid(nx=2, ny=2))
    places = gpd.GeoSeries(gpd.points_from_xy([1000, 9000, 18_000], [1000, 9000, 18_000]), crs=32654)
    over = released(walkers(0, people=10, rows=40)[0], method="nearest", round_to=places)
    halves = gpd.GeoSeries(gpd.points_from_xy([5000, 15_000], [10_000] * 2).buffer(4900), crs=32654)
    with pytest.raises(InputError, match="out of few places"):
        quiet(over.tracs.flows, halves, pairs="consecutive", round_to=places)


def test_flows_count_distinct_pairs_of_observations():
    own = Observations(np.array([0, 0, 1, 0, 1, 2]), np.array([0, 0, 1, 0, 1, 2]))
    ends = np.column_stack([np.arange(5), np.arange(1, 6)])
    assert own.distinct_pairs(ends).tolist() == [[1, 2], [2, 3], [4, 5]]


def test_visits_are_runs_of_one_observation_and_share_it_while_nobody_can_have_left():
    class Read:
        observations = Observations(np.array([0, 0, 1, 0, 0, 0, 2]), np.zeros(7))

    seconds = np.array([np.inf, 10, 10, 10, 10, 5000, np.inf])
    rows = Moments(np.array([0, 1, 2, 3, 4, 5, 6]), np.array([0, 0, 0, 0, 0, 0, 1]), seconds)
    visits = rows.visits(Read, horizon=100)
    assert visits.which.tolist() == [0, 0, 1, 2, 2, 2, 3]
    assert visits.share.tolist() == [0.5, 1, 0.5, 1]
    filled = Moments(np.array([0, -1, 1]), np.zeros(3, dtype=int), np.array([np.inf, 5, 5]))
    assert filled.visits(Read, horizon=1).which.tolist() == [0, 1, 2]


def test_an_attacker_links_halves_of_a_release_by_equal_reports_and_averages_nothing():
    tracks, _ = walkers(1, people=8, rows=60)
    tracks["t"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(tracks["t"], unit="s")
    risk = tracks.tracs.risk(released(tracks), speed=15, cells=16)
    assert risk["two releases"] == 1
    assert risk["home"] > risk["report"] / 3
    dense = tracks.tracs.risk(released(tracks, repeat=None), speed=15, cells=16)
    assert dense["home"] < risk["home"] / 2


def test_people_who_are_made_up_share_reports_over_their_trips():
    given = {"interval": 600, "people": 5, "fixes": 60, "cells": 16, "repeat": "same"}
    case = quiet(made_up_case, (139.5, 35.5, 139.8, 35.8), 8, **given)
    assert case.frame.attrs["tracs"]["repeat"]["person"] == "person"
    trips = case.frame.assign(report=case.frame.geometry.to_wkb()).drop_duplicates(["trip", "report"])
    assert trips["report"].duplicated().any()
