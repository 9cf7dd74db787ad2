"""Rows that cannot be released, and files that change while they are read."""

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from geotracs import DomainError
from geotracs.release.file import perturb_file
from geotracs.release.file.survey import Survey
from tests.conftest import TOKYO
from tests.release.file.streamed import COLUMNS, refused

pytestmark = pytest.mark.slow


def test_a_file_that_changes_while_it_is_read(people, tmp_path, monkeypatch):
    """Were a trajectory longer than it was counted, its locations would have too much of epsilon together."""
    people.to_parquet(tmp_path / "in.parquet")

    look = Survey.of

    def count_then_grow(*arguments):
        counted = look(*arguments)
        longer = pd.concat([people, people[-3:]], ignore_index=True)
        longer.to_parquet(tmp_path / "in.parquet")
        return counted

    monkeypatch.setattr(Survey, "of", count_then_grow)
    refused(tmp_path, "changed while it was read", unit="trajectory", trajectory="person")
    shapes = [shapely.LineString([(139.7, 35.7), (139.8, 35.8)])] * len(people)
    people = people.set_geometry(gpd.GeoSeries(shapes, crs=4326))
    people.to_parquet(tmp_path / "in.parquet")
    refused(tmp_path, "changed while it was read", unit="trajectory", trajectory="person")


def test_bad_rows_are_named_by_number(people, tmp_path):
    people.loc[210, "geometry"] = shapely.Point(139.7, np.nan)
    people.to_parquet(tmp_path / "in.parquet")
    refused(tmp_path, r"1 row\(s\) have NaN or infinite coordinates, e.g. 210;")
    people.loc[210, "geometry"] = shapely.LineString([(139.7, 35.7), (139.71, 35.7)])
    people.to_parquet(tmp_path / "in.parquet")
    refused(tmp_path, "all Point or all LineString")
    people.loc[210, "geometry"] = shapely.Point(10, 10)
    people.to_parquet(tmp_path / "in.parquet")
    refused(tmp_path, "1 of .* locations lie outside the domain", error=DomainError)
    people.loc[210, "person"] = None
    people.to_parquet(tmp_path / "in.parquet")
    refused(tmp_path, "no value in the trajectory column 'person', e.g. 210;", **COLUMNS)


def test_mixed_types_in_different_batches(people, tmp_path):
    people = people.dropna().reset_index(drop=True)
    people.loc[400:, "geometry"] = shapely.LineString([(139.7, 35.7), (139.71, 35.7)])
    people.to_parquet(tmp_path / "in.parquet")
    refused(tmp_path, "all Point or all LineString")


def test_an_index_of_coordinates_is_warned_of(people, tmp_path):
    people = people.dropna().assign(lat=people.geometry.y, lon=people.geometry.x).set_index(["lat", "lon"])
    people.to_parquet(tmp_path / "in.parquet")
    with pytest.warns() as caught:
        perturb_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, domain=TOKYO, batch_rows=99)
    said = [str(warning.message) for warning in caught]
    assert any("index level 'lat' holds the original locations" in text for text in said)
    assert not any("left out" in text and "lat" in text for text in said)
