import numpy as np
import pandas as pd
import pytest

from geotracs import InputError
from geotracs.geo.prepare import coarsen_time, thin
from tests.geo.prepare.frames import COLUMNS, walk


@pytest.mark.parametrize(
    ("arguments", "places"), [({"every": "3min"}, False), ({"fixes": 3}, False), ({"metres": 290.0}, True)]
)
def test_the_first_row_of_every_stretch_is_kept(arguments, places):
    few = thin(walk(), **arguments, **COLUMNS)
    assert [sorted(own["step"]) for _, own in few.groupby("person")] == [[0, 3, 6, 9]] * 2
    assert few.attrs["tracs"]["prepared"][0]["places"] == places


def test_stretches_without_a_row_are_left_out():
    tracks = walk()
    few = thin(tracks[~tracks["step"].isin([3, 4, 5])], every="3min", **COLUMNS)
    assert sorted(few["step"]) == [0, 0, 6, 6, 9, 9]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "Give one of"),
        ({"every": "1min", "fixes": 2}, "Give one of"),
        ({"fixes": 0}, "`fixes` must be a whole number"),
        ({"metres": 0}, "`metres` must be a number"),
        ({"every": 0}, "`every` must be greater than 0"),
        ({"every": "1min", "time": None}, "`time` must name"),
    ],
)
def test_errors(arguments, words):
    with pytest.raises(InputError, match=words):
        thin(walk(), **(COLUMNS | arguments))


def test_times_are_rounded_down_and_rows_stay():
    tracks = walk(minutes=17)
    coarse = coarsen_time(tracks, "1h", time="t")
    assert coarse.index.tolist() == tracks.index.tolist()
    assert (coarse["t"] == tracks["t"].dt.floor("1h")).all()
    assert coarse.attrs["tracs"]["prepared"] == [{"step": "coarsen_time", "places": False, "size": 3600.0}]
    assert not (coarse["t"] == tracks["t"]).all()


@pytest.mark.parametrize("kind", ["numbers", "whole numbers", "durations", "texts", "zones"])
def test_every_kind_of_times_is_rounded(kind):
    tracks = walk(minutes=17)
    since = tracks["t"] - tracks["t"].min()
    seconds = since.dt.total_seconds()
    given = {
        "numbers": seconds,
        "whole numbers": seconds.astype(int),
        "durations": since,
        "texts": tracks["t"].dt.strftime("%Y-%m-%dT%H:%M:%S"),
        "zones": tracks["t"].dt.tz_localize("Asia/Kathmandu"),
    }[kind]
    coarse = coarsen_time(tracks.assign(t=given), "1h", time="t")["t"]
    found = coarse if kind in ("numbers", "whole numbers") else coarse - coarse.min()
    hours = found / 3600 if kind in ("numbers", "whole numbers") else found / pd.Timedelta("1h")
    assert np.array_equal(hours, np.floor(seconds / 3600))
    assert kind != "zones" or (coarse.dt.minute == 0).all()  # by the clock, a quarter past for the rest of the world


def test_the_hour_that_comes_twice_and_the_one_that_does_not_exist():
    times = pd.to_datetime(["2026-10-25 00:30", "2026-10-25 01:30", "2026-03-29 01:10"], utc=True)
    tracks = walk(rows=3, people=1).assign(t=times.tz_convert("Europe/Berlin"))
    assert coarsen_time(tracks, "2h", time="t")["t"].notna().all()


def test_wrong_steps_and_times():
    for wrong in ("1ME", "often", 0, None):
        with pytest.raises(InputError, match="`every` must be"):
            coarsen_time(walk(), wrong, time="t")
    with pytest.raises(InputError, match="no column 'when'"):
        coarsen_time(walk(), time="when")
