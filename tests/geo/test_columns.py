import warnings

import pytest

import geotracs.geo.columns as columns
from geotracs import InputError


def said(frame, **arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        columns.kept(frame, arguments.pop("keep", None), **arguments)
    return [str(one.message) for one in caught if "left out" in str(one.message)]


def test_what_is_left_out_is_said_once_a_frame(tracks):
    assert "lat, lon, speed" in said(tracks, trajectory="person", time="t")[0]
    assert said(tracks, trajectory="person", time="t") == []
    assert "t, lat, lon" in said(tracks, trajectory="person")[0], "other columns are"
    assert said(tracks.copy(), trajectory="person", time="t") != [], "another frame"
    assert said(tracks.copy(), keep=[]) == []


def test_columns_that_are_not_there(tracks):
    with pytest.raises(InputError, match="There is no column 'nobody'; the columns are"):
        columns.check(tracks, ["nobody"])
    with pytest.raises(InputError, match="is the geometry column"):
        columns.check(tracks, ["geometry"])
