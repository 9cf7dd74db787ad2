import json
import re

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

from geotracs import InputError
from tests.conftest import TOKYO
from tests.views import toys
from tests.views.maps.test_explore import html_of

pytestmark = pytest.mark.slow


def data_of(page):
    return json.loads(re.search(r"tracs\.time\(map_\w+, (\{.*\})\);", page).group(1))


def drawn(times, **arguments):
    points = gpd.points_from_xy(139.6 + np.arange(len(times)) / 100, np.full(len(times), 35.7))
    frame = gpd.GeoDataFrame({"t": times}, geometry=points, crs=4326)
    private = frame.tracs.perturb(4, domain=TOKYO, keep=[], time="t")
    return data_of(html_of(frame.tracs.explore(private, view="time", **arguments)))


def test_each_side_has_its_trails(tracks):
    private = toys.released(tracks, TOKYO)
    data = data_of(html_of(tracks.tracs.explore(private, view="time", trail="10min")))
    assert data["roles"] == ["original", "perturbed"]
    assert data["trail"] == 600_000
    assert data["names"] == tracks.person.unique().tolist()
    assert len(set(data["colours"])) == 3
    for side in data["sides"]:
        assert len(side["xy"]) == len(side["times"]) == side["at"][-1] == len(tracks)
        for first, last in zip(side["at"][:-1], side["at"][1:], strict=True):
            assert sorted(side["times"][first:last]) == side["times"][first:last]
    assert data["first"] == tracks.t.min().value / 1e6
    assert data["last"] == tracks.t.max().value / 1e6


@pytest.mark.parametrize("times", [[3.0], [1, 1, 1], list(pd.to_datetime(["2024-01-01"] * 3))])
def test_one_moment_has_an_extent(times):
    data = drawn(times)
    assert data["last"] > data["first"]
    assert data["trail"] > 0


def test_numbers_durations_and_zones():
    assert drawn([0.0, 0.25, 0.5])["trail"] == 0.025
    assert drawn([0, 36], trail=7)["trail"] == 7
    seconds = drawn(pd.to_timedelta([0, 36, 72], unit="s"))
    assert (seconds["last"], seconds["zone"]) == (72, "s")
    tokyo = drawn(pd.to_datetime(["2024-01-01 09:00", "2024-01-01 10:00"]).tz_localize("Asia/Tokyo"))
    assert (tokyo["first"], tokyo["zone"]) == (pd.Timestamp("2024-01-01 09:00").value / 1e6, "Asia/Tokyo")
    assert drawn(pd.to_datetime(["2024-01-01", "2024-01-02"]))["zone"] == ""


@pytest.mark.parametrize("trail", ["soon", -1, "-5min", 10, [1], float("nan")])
def test_bad_trails(trail):
    with pytest.raises(InputError, match="`trail` must be a duration"):
        drawn(pd.to_datetime(["2024-01-01", "2024-01-02"]), trail=trail)


def test_times_that_are_none():
    frame = gpd.GeoDataFrame({"t": ["a", "b"]}, geometry=gpd.points_from_xy([139.6, 139.7], [35.7, 35.7]), crs=4326)
    with pytest.raises(InputError, match="times"):
        frame.tracs.explore(view="time", time="t")
