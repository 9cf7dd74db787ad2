"""What an audit found: coordinates hide in more than numeric columns."""

import pandas as pd
import pytest

import geotracs
from geotracs import PrivacyWarning
from tests.conftest import TOKYO


@pytest.mark.parametrize(
    "disguise",
    [
        lambda f: f["lat"].astype(str),
        lambda f: f.geometry.to_wkt(),
        lambda f: pd.Series(list(f.geometry), index=f.index, dtype=object),
        lambda f: f["lon"].round(3),
        lambda f: f.to_crs(32654).geometry.x,
        lambda f: f.to_crs(3857).geometry.y,
        lambda f: f.geometry.to_wkb(),
        lambda f: f.geometry.bounds.apply(lambda row: row.to_dict(), axis=1),
        lambda f: pd.Series([(0, point.x, point.y) for point in f.geometry], index=f.index),
        lambda f: pd.Series([{"at": [point.x, point.y]} for point in f.geometry], index=f.index),
    ],
    ids=["string", "wkt", "geometries", "rounded", "utm", "mercator", "wkb", "box", "tuple", "nested"],
)
def test_disguised_coordinates_warn(tracks, disguise):
    frame = tracks.assign(hidden=disguise(tracks))
    with pytest.warns(PrivacyWarning, match="'hidden' holds the original locations"):
        geotracs.perturb(frame, 4, domain=TOKYO, keep=["hidden"])


def test_index_and_trajectory_columns_are_looked_at_too(tracks):
    with (
        pytest.warns(PrivacyWarning, match="index level 'lat' holds"),
        pytest.warns(PrivacyWarning, match="'lon' holds"),
    ):
        geotracs.perturb(tracks.set_index(["lat", "lon"]), 4, domain=TOKYO, keep=[])
    with pytest.warns(PrivacyWarning, match="'lat' holds"):
        geotracs.perturb(tracks, 4, domain=TOKYO, keep=[], trajectory="lat")
