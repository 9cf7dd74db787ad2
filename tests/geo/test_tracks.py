"""Frames to arrays and back: errors without values, and every location in one trajectory."""

import warnings

import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from tests.conftest import TOKYO


@pytest.mark.parametrize("index", [
    lambda tracks: tracks.set_index(["lat", "lon"]),
    lambda tracks: tracks.set_index("35.1 " + tracks["lat"].astype(str)),
    lambda tracks: tracks.set_index(pd.Index(range(35_000_000, 35_000_000 + len(tracks)), name="hilbert_distance")),
])  # fmt: skip
def test_errors_name_rows_by_position_when_labels_could_be_coordinates(tracks, index):
    bad = index(tracks)
    bad.iloc[3, bad.columns.get_loc("person")] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(geotracs.InputError, match=r"e.g. row 3;") as error:
            geotracs.perturb(bad, 4, domain=TOKYO, keep=[], trajectory="person")
    assert "35" not in str(error.value)


def test_errors_do_not_chain_to_ones_that_quote_values(tracks):
    with pytest.raises(geotracs.InputError) as error:
        geotracs.perturb(tracks.assign(t="139.7671,35.6812"), 4, domain=TOKYO, keep=[], time="t")
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__


def test_unused_categories_and_levels_are_dropped(tracks):
    frame = tracks.assign(person=pd.Categorical(tracks["person"], categories=["ann", "bob", "cleo", "dan"]))
    private = geotracs.perturb(frame, 4, domain=TOKYO, keep=[], trajectory="person")
    assert list(private["person"].cat.categories) == ["ann", "bob", "cleo"]
    several = tracks.set_index(["person", "t"]).iloc[:5]
    private = geotracs.perturb(several, 4, domain=TOKYO, keep=[])
    assert len(private.index.levels[1]) <= 5


def test_every_location_is_in_one_trajectory(tracks):
    read = geotracs.geo.tracks.read(tracks, "person", "t")
    assert read.lengths.tolist() == [20, 20, 20]
    assert np.array_equal(np.sort(read.order), np.arange(60))
    assert np.array_equal(read.in_frame_order(read.xy), shapely.get_coordinates(tracks.geometry.values))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.dt.as_unit("ns"),
        lambda t: t.dt.as_unit("us"),
        lambda t: t.dt.as_unit("s").dt.tz_localize("Asia/Tokyo"),
        lambda t: t.astype(str),
        lambda t: t - t.min(),
        lambda t: (t - t.min()).dt.as_unit("s"),
        lambda t: (t - t.min()).dt.total_seconds(),
    ],
)
def test_times_in_seconds_whatever_they_are(tracks, change):
    frame = tracks.sort_values(["person", "t"])
    found = geotracs.geo.tracks.seconds(frame.assign(t=change(frame["t"])), "t")
    assert np.diff(found[:20]).tolist() == [60.0] * 19
