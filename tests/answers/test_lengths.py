import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

import geotracs
import geotracs.answers.lengths as module
import geotracs.answers.trips as trips
from geotracs.answers.lengths import lengths
from geotracs.errors import GeotracsWarning, InputError
from tests.answers.test_flows import HEIGHT, WIDTH, divergence, people, release
from tests.helpers import quiet


def steps(tracks):
    """How far consecutive locations are apart."""
    tracks = tracks.sort_values(["person", "t"], kind="stable")
    same = tracks["person"].to_numpy()[:-1] == tracks["person"].to_numpy()[1:]
    return tracks.geometry.distance(tracks.geometry.shift(), align=False).to_numpy()[1:][same]


def shares(values, found):
    return np.histogram(values, np.append(found["start"], found["end"].iloc[-1]))[0] / len(values)


@pytest.fixture(scope="module")
def tracks():
    return people(600)


@pytest.fixture(scope="module")
def private(tracks):
    return release(tracks)


@pytest.fixture(scope="module")
def found(private):
    return quiet(lengths, private, pairs="consecutive", bins=6)


@pytest.fixture
def roughly(monkeypatch):
    monkeypatch.setattr(module, "SQUARES", 8)
    monkeypatch.setattr(trips, "FINE", 16)
    monkeypatch.setattr(trips, "CELLS", (16, 4, 1))


def test_lengths_are_nearer_to_the_truth_than_those_of_reports(tracks, private, found):
    truth, naive = shares(steps(tracks), found), shares(steps(private), found)
    assert divergence(truth, found["share"].to_numpy()) < 0.2 * divergence(truth, naive)
    mean, noisy = steps(tracks).mean(), steps(private).mean()
    assert abs(found.attrs["mean"]["value"] - mean) < 0.25 * abs(noisy - mean)


def towns(n, seed):
    """Everybody is in one of two towns, stays there or goes to the other: lengths of two kinds only."""
    rng = np.random.default_rng(seed)
    middle = rng.uniform(0.1, 0.9, (2, 2)) * [WIDTH, HEIGHT]
    xy = middle[rng.integers(2, size=4 * n)] + rng.normal(size=(4 * n, 2)) * 900
    tracks = people(n)
    return tracks.set_geometry(gpd.points_from_xy(*np.clip(xy, 1, [WIDTH - 1, HEIGHT - 1]).T), crs=tracks.crs)


@pytest.mark.slow
def test_intervals_hold_the_truth_in_every_bin(monkeypatch):
    """Nine cities of two kinds with draws of their own, six bins, the mean and the median: 7 of 9 at least (78%).

    Over 60 cities and epsilons they held 98% of the truth: then one of the eight fails in 0.5% of choices of seeds.
    With the 67% that the last bin had before, it fails in 61%.
    """
    monkeypatch.setattr(module, "SQUARES", 16)  # for speed
    held = []
    for seed in range(9):
        tracks = people(400, seed=seed) if seed % 2 else towns(400, seed)
        found = quiet(lengths, release(tracks, rng=seed), pairs="consecutive", bins=6)
        truth, values = shares(steps(tracks), found), (steps(tracks).mean(), np.median(steps(tracks)))
        inside = (found["low"] <= truth) & (truth <= found["high"])
        known = [found.attrs[name] for name in ("mean", "median")]
        held.append([*inside, *(one["low"] <= value <= one["high"] for one, value in zip(known, values, strict=True))])
    assert np.all(np.mean(held, axis=0) >= 0.77), np.mean(held, axis=0)


def test_intervals_are_around_the_estimate_and_say_something(found):
    assert np.all((found["low"] <= found["share"]) & (found["share"] <= found["high"]))
    assert (found["high"] - found["low"])[found["share"].idxmax()] < found["share"].max()
    for name in ("mean", "median"):
        known = found.attrs[name]
        assert known["low"] <= known["value"] <= known["high"]


def test_lengths_within_a_square_cannot_be_told_apart(tracks):
    """Everybody stays: whether that is 0 or 500 m nobody can tell, nor that it is not 900, and it says so."""
    still = tracks.set_geometry(tracks.geometry.groupby(tracks["person"]).transform("first"), crs=tracks.crs)
    with pytest.warns(GeotracsWarning, match=r"cannot tell how many pairs are in most bins.*Lengths below about"):
        found = lengths(release(still, 8), pairs="consecutive", bins=[0, 100, 800, 1500, 5000, 40_000])
    truth = shares(steps(still), found)
    assert truth[0] == 1
    assert np.all((found["low"] <= truth) & (truth <= found["high"]))
    assert found["low"][3:].max() == 0
    assert found.attrs["mean"]["low"] == 0
    assert found.attrs["tracs"]["answer"]["unclear"] >= 3


def test_what_comes_out(found):
    assert list(found.columns) == ["start", "end", "share", "count", "low", "high"]
    assert found["start"].iloc[0] == 0
    assert np.array_equal(found["end"][:-1], found["start"][1:])
    assert found["share"].sum() == pytest.approx(1)
    assert found["count"].sum() == pytest.approx(1800)
    assert found.attrs["tracs"]["answer"]["kind"] == "lengths"
    assert geotracs.Guarantee.from_attrs(found.attrs).epsilon == 4


def test_edges_may_be_given(private, roughly):
    found = quiet(private.tracs.lengths, pairs="consecutive", bins=[1000, 3000, 9000])
    assert found["start"].tolist() == [1000, 3000]
    assert found["end"].tolist() == [3000, 9000]
    assert 0 < found["share"].sum() < 1
    again = quiet(lengths, private, pairs="consecutive", bins=[1000, 3000, 9000])
    pd.testing.assert_frame_equal(again, found)
    whole = quiet(lengths, private, pairs="consecutive", bins=[0, 1e6])
    assert whole["share"].tolist() == pytest.approx([1])


def test_ends_of_trips(private, roughly):
    assert quiet(lengths, private, bins=3)["count"].sum() == pytest.approx(600)


def test_speeds(roughly):
    """Half of the people wait an hour before each way, the others half of it: speeds are lengths by these."""
    tracks = people(400)
    slow = tracks["person"] % 2 == 0
    tracks["t"] = tracks["t"] * np.where(slow, 2.0, 1.0)
    private = release(tracks, 8)
    found = quiet(lengths, private, of="speed", pairs="consecutive", bins=[0, 1, 2, 4, 8, 100])
    seconds = tracks.groupby("person")["t"].diff().dropna().to_numpy()
    truth = steps(tracks) / seconds
    assert found["count"].sum() == pytest.approx(1200)
    assert divergence(shares(truth, found), found["share"].to_numpy()) < 0.05
    assert found.attrs["mean"]["value"] == pytest.approx(truth.mean(), rel=0.25)


def test_hardly_any_noise_gives_the_truth(tracks):
    found = quiet(lengths, release(tracks, 30), pairs="consecutive", bins=[0, 2000, 5000, 10_000, 40_000])
    assert found["share"].to_numpy() == pytest.approx(shares(steps(tracks), found), abs=0.05)


def test_two_locations_in_a_square_are_apart(private, roughly):
    own = trips.Trips.of(geotracs.answers.reader.Reader.of(private), "consecutive", 8)
    away = module.Distances(own.survey(np.ones((1, own.states.count))))
    side = 30_000 / 8
    inside = np.diagonal(away.mean)
    assert np.all(inside > 0)
    assert inside.mean() == pytest.approx(0.52 * side, rel=0.35)  # of two points in a square
    assert away.below(np.array([0.0])).max() == 0
    assert away.below(np.array([away.longest * 1.01])).min() == 1


def test_round_numbers_are_edges(private, roughly):
    for bins in (1, 5, 12):
        found = quiet(lengths, private, bins=bins)
        assert len(found) == bins
        step = found["end"].iloc[0] if bins > 1 else 1
        assert bins == 1 or float(f"{step:.2g}") == step


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"of": "time"}, "`of` must be 'length' or 'speed', got 'time'"),
        ({"bins": 0}, "`bins` must be a number from 1 to 100, got 0"),
        ({"bins": [5]}, "`bins` must be a number, or edges that rise from 0 or more"),
        ({"bins": [0, 5, 5]}, "edges that rise"),
        ({"bins": [-1, 5]}, "edges that rise"),
        ({"level": 0}, "`level` must be a number between 0 and 1"),
        ({"pairs": 2}, "`pairs` must be one of 'ends', 'consecutive', got 2"),
    ],
)
def test_arguments_that_make_no_sense(private, roughly, arguments, words):
    with pytest.raises(InputError, match=words):
        lengths(private, **arguments)


def test_speeds_need_times(tracks, roughly):
    with pytest.raises(InputError, match="Speeds need the times of the release"):
        lengths(release(tracks, time=None), of="speed")
    still = release(tracks.assign(t=0.0))
    with pytest.raises(InputError, match="At least 100 pairs of reports must take some time, and 0 do"):
        lengths(still, of="speed")


def test_speeds_of_dates(tracks, roughly):
    dated = tracks.assign(t=pd.Timestamp("2026-01-01") + pd.to_timedelta(tracks["t"], unit="s"))
    found, same = (quiet(lengths, release(own), of="speed", bins=[0, 1, 100]) for own in (dated, tracks))
    assert found["share"].to_numpy() == pytest.approx(same["share"].to_numpy())
