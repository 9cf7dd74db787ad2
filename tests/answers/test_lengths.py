import numpy as np
import pandas as pd
import pytest

import geotracs
import geotracs.answers.lengths as module
import geotracs.answers.trips as trips
from geotracs.answers.lengths import lengths
from geotracs.errors import InputError
from tests.answers.test_flows import divergence, people, release
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
    return lengths(private, pairs="consecutive", bins=6)


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


def test_intervals_hold_the_truth(tracks, found):
    truth = steps(tracks)
    inside = (found["low"] <= shares(truth, found)) & (shares(truth, found) <= found["high"])
    assert inside.sum() >= 4  # of 6, which depend on each other
    assert np.all((found["low"] <= found["share"]) & (found["share"] <= found["high"]))
    for name, value in (("mean", truth.mean()), ("median", np.median(truth))):
        known = found.attrs[name]
        assert known["low"] <= value <= known["high"]
        assert known["low"] <= known["value"] <= known["high"]


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
    pd.testing.assert_frame_equal(lengths(private, pairs="consecutive", bins=[1000, 3000, 9000]), found)
    whole = lengths(private, pairs="consecutive", bins=[0, 1e6])
    assert whole["share"].tolist() == pytest.approx([1])


def test_ends_of_trips(private, roughly):
    assert lengths(private, bins=3)["count"].sum() == pytest.approx(600)


def test_speeds(roughly):
    """Half of the people wait an hour before each way, the others half of it: speeds are lengths by these."""
    tracks = people(400)
    slow = tracks["person"] % 2 == 0
    tracks["t"] = tracks["t"] * np.where(slow, 2.0, 1.0)
    private = release(tracks, 8)
    found = lengths(private, of="speed", pairs="consecutive", bins=[0, 1, 2, 4, 8, 100])
    seconds = tracks.groupby("person")["t"].diff().dropna().to_numpy()
    truth = steps(tracks) / seconds
    assert found["count"].sum() == pytest.approx(1200)
    assert divergence(shares(truth, found), found["share"].to_numpy()) < 0.05
    assert found.attrs["mean"]["value"] == pytest.approx(truth.mean(), rel=0.25)


def test_hardly_any_noise_gives_the_truth(tracks):
    found = lengths(release(tracks, 30), pairs="consecutive", bins=[0, 2000, 5000, 10_000, 40_000])
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
        found = lengths(private, bins=bins)
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
    found, same = (lengths(release(own), of="speed", bins=[0, 1, 100]) for own in (dated, tracks))
    assert found["share"].to_numpy() == pytest.approx(same["share"].to_numpy())
