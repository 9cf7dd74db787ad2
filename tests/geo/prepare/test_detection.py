import sys

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

from geotracs import InputError
from geotracs.errors import MissingExtraError
from geotracs.geo.prepare import stops, trips
from tests.geo.prepare.frames import COLUMNS, walk


def day(crs=32654):
    """Two people who walk for ten minutes, stay for twenty, walk on, and come back two hours later; rows shuffled."""
    x = np.concatenate([100.0 * np.arange(10), np.full(20, 1000.0), 1000 + 100.0 * np.arange(1, 11), [500, 400, 300]])
    minute = np.concatenate([np.arange(40), 200 + np.arange(3)])
    n = len(x)
    columns = {
        "person": np.repeat(["a", "b"], n),
        "t": pd.Timestamp("2026-03-02") + pd.to_timedelta(np.tile(minute, 2), unit="min"),
    }
    frame = gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(np.tile(x, 2), np.repeat([0, 5000], n)), crs=32654)
    return frame.iloc[np.random.default_rng(1).permutation(2 * n)].to_crs(crs)


@pytest.mark.parametrize("crs", [32654, 4326])
@pytest.mark.parametrize("numbers", [False, True])
def test_stops_are_where_people_stayed(crs, numbers):
    tracks = day(crs)
    if numbers:
        tracks["t"] = (tracks["t"] - pd.Timestamp("2026-03-02")).dt.total_seconds()
    found = stops(tracks, **COLUMNS, duration="15min", diameter=80)
    assert found["person"].tolist() == ["a", "b"]
    np.testing.assert_allclose(found.to_crs(32654).geometry.x, 1000, atol=1)
    stayed = found["until"] - found["t"]
    assert (stayed == (19 * 60 if numbers else pd.Timedelta("19min"))).all()
    assert found.crs == tracks.crs
    [mark] = found.attrs["tracs"]["prepared"]
    assert mark == {"step": "stops", "places": True, "duration": 900.0, "diameter": 80.0}


def test_trips_are_divided_at_gaps_and_stops():
    tracks = day()
    by_gap = trips(tracks, **COLUMNS, gap="1h")
    assert by_gap.groupby("trip").size().tolist() == [40, 3, 40, 3]
    assert by_gap.attrs["tracs"]["prepared"] == [{"step": "trips", "places": False, "gap": 3600.0}]
    assert by_gap.index.tolist() == tracks.index.tolist()
    by_stop = trips(tracks, **COLUMNS, gap="1h", stop="15min", diameter=80, trip="way")
    assert by_stop.groupby("way").size().tolist() == [11, 11, 3, 11, 11, 3]
    assert by_stop.attrs["tracs"]["prepared"][0]["places"]


def test_nothing_found_and_nothing_given():
    tracks = walk()
    assert len(stops(tracks, **COLUMNS)) == 0
    assert list(stops(tracks, **COLUMNS).columns) == ["person", "t", "until", "geometry"]
    assert len(stops(tracks.iloc[:0], **COLUMNS)) == 0
    assert len(trips(tracks.iloc[:0], **COLUMNS)) == 0
    alone = stops(day().rename_geometry("at").query("person == 'a'"), time="t", duration="15min", diameter=80)
    assert (list(alone.columns), len(alone)) == (["t", "until", "at"], 1)


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (stops, {"duration": 0}, "`duration` must be greater than 0"),
        (stops, {"diameter": 0}, "`diameter` must be a number"),
        (stops, {"until": "t"}, "There is a column 't' already"),
        (trips, {"gap": "often"}, "`gap` must be a duration"),
        (trips, {"stop": 0}, "`stop` must be greater than 0"),
        (trips, {"trip": "person"}, "There is a column 'person' already"),
        (trips, {"time": "when"}, "no column 'when'"),
    ],
)
def test_errors(function, arguments, words):
    with pytest.raises(InputError, match=words):
        function(walk(), **(COLUMNS | arguments))


def test_without_movingpandas_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "movingpandas", None)
    for function in (stops, trips):
        with pytest.raises(MissingExtraError, match=r"geotracs\[trips\]"):
            function(walk(), **COLUMNS)
