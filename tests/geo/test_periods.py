"""Public periods: by the clock on the wall, whatever the times are stored as."""

import datetime

import numpy as np
import pandas as pd
import pytest

from geotracs import InputError
from geotracs.geo.periods import Period


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("15min", 900), ("day", 86_400), ("1W", 7 * 86_400), (datetime.timedelta(hours=2), 7200), ("90s", 90)],
)
def test_lengths(given, seconds):
    assert Period.of(given, "every").seconds == seconds


@pytest.mark.parametrize("given", ["0min", "-15min", "15", 15, "1M", "a day", None, "", "nat", pd.NaT, 2.5, ["1D"]])
def test_what_is_no_length_of_time(given):
    with pytest.raises(InputError, match=r"`every` must be a length of time greater than 0, such as \"15min\""):
        Period.of(given, "every")


def test_days_begin_at_midnight_where_the_times_are_from():
    wall = pd.to_datetime(["2026-03-28 23:59:59", "2026-03-29 00:00:00", "2026-03-29 23:59:00", "2026-03-30 00:00:00"])
    for times in (wall, wall.tz_localize("Europe/Berlin"), wall.as_unit("s"), wall.strftime("%Y-%m-%dT%H:%M:%S")):
        found = Period.of("day", "unit").numbers(pd.DataFrame({"t": times}), "t")
        assert (found - found[0]).tolist() == [0, 1, 1, 2]


def test_weeks_begin_on_monday():
    days = pd.DataFrame({"t": pd.date_range("2026-03-02", periods=15, tz="Asia/Tokyo")})  # a Monday
    found = Period.of("1W", "unit").numbers(days, "t")
    assert np.diff(found).nonzero()[0].tolist() == [6, 13]


def test_numbers_and_durations_count_from_zero():
    seconds = np.array([-1, 0, 899, 900])
    for times in (seconds, seconds.astype(float), pd.to_timedelta(seconds, unit="s")):
        assert Period.of("15min", "every").numbers(pd.DataFrame({"t": times}), "t").tolist() == [-1, 0, 0, 1]
