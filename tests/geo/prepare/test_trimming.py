import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

from geotracs import InputError
from geotracs.geo.prepare import trim
from tests.geo.prepare.frames import COLUMNS, walk


def steps(frame):
    """The steps that are left of each person."""
    return [sorted(own["step"]) for _, own in frame.groupby("person")]


@pytest.mark.parametrize(("by", "start", "end"), [("time", "3min", 120), ("fixes", 3, 2), ("distance", 299.0, 199.0)])
def test_the_beginning_and_the_end_of_every_trajectory_are_left_out(by, start, end):
    tracks = walk()
    before = tracks.copy()
    short = trim(tracks, start, end, by=by, **COLUMNS)
    assert steps(short) == [[3, 4, 5, 6, 7]] * 2
    assert short.index.tolist() == [label for label in tracks.index if label in set(short.index)]
    [mark] = short.attrs["tracs"]["prepared"]
    assert (mark["step"], mark["by"], mark["places"]) == ("trim", by, by == "distance")
    assert not before.attrs
    pd.testing.assert_frame_equal(pd.DataFrame(before), pd.DataFrame(tracks))


def test_what_is_shorter_is_left_out_and_nothing_is_trimmed_by_default():
    assert len(trim(walk(), "6min", "5min", **COLUMNS)) == 0
    assert len(trim(walk(), **COLUMNS)) == 20


def test_without_a_trajectory_all_rows_are_one_and_rows_keep_their_order_without_a_time():
    tracks = walk(people=1).sort_values("step")
    assert trim(tracks, 1, 1, by="fixes")["step"].tolist() == list(range(1, 9))


def test_rows_without_a_location_are_left_out_and_an_empty_frame_stays_empty():
    tracks = walk()
    tracks.loc[tracks["step"] == 4, "geometry"] = None
    assert steps(trim(tracks, "1min", **COLUMNS)) == [[1, 2, 3, 5, 6, 7, 8, 9]] * 2
    assert len(trim(tracks.iloc[:0], "1min", **COLUMNS)) == 0
    assert len(trim(tracks.iloc[:0], 1, by="distance", **COLUMNS)) == 0


def test_distances_are_metres_in_degrees():
    tracks = walk(people=1).to_crs(4326)
    assert steps(trim(tracks, 250, by="distance", **COLUMNS)) == [[3, 4, 5, 6, 7, 8, 9]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"by": "mood"}, "`by` must be one of"),
        ({"start": "soon"}, "`start` must be a duration"),
        ({"end": -1}, "`end` must be a duration"),
        ({"start": 1.5, "by": "fixes"}, "`start` must be a whole number"),
        ({"end": float("nan"), "by": "distance"}, "`end` must be a number of metres"),
        ({"start": 5, "time": None}, "`time` must name the column"),
        ({"trajectory": "nobody"}, "no column 'nobody'"),
    ],
)
def test_errors(arguments, words):
    with pytest.raises(InputError, match=words):
        trim(walk(), **(COLUMNS | arguments))


def test_lines_are_an_error():
    line = gpd.GeoDataFrame(geometry=gpd.GeoSeries.from_wkt(["LINESTRING (0 0, 1 1)"], crs=32654))
    with pytest.raises(InputError, match="give points"):
        trim(line, 1, by="fixes")


def test_the_way_is_measured_along_the_trajectory():
    there_and_back = walk(people=1)
    x = there_and_back.geometry.x.to_numpy()
    there_and_back = there_and_back.set_geometry(gpd.points_from_xy(np.minimum(x, 900 - x), x * 0, crs=32654))
    assert steps(trim(there_and_back, 350, by="distance", **COLUMNS)) == [[4, 5, 6, 7, 8, 9]]
