"""Formats of GDAL's whose damage GDAL does not tell."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from geotracs import InputError, files
from geotracs.release.file import perturb_file
from tests.conftest import TOKYO
from tests.release.file.streamed import quiet

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("ending", [".shp", ".dbf"])
@pytest.mark.parametrize("rows", [None, 70])
def test_a_truncated_shapefile(people, tmp_path, ending, rows):
    many = pd.concat([people.drop(columns="t")] * 20, ignore_index=True)
    path = files.write(many, tmp_path / "in.shp")
    cut = path.with_suffix(ending)
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    with pytest.raises(InputError, match="is cut short"):
        quiet(perturb_file, path, tmp_path / "out.gpkg", 4, batch_rows=rows)
    assert not (tmp_path / "out.gpkg").exists()


def test_a_shapefile_with_a_deleted_row(people, tmp_path):
    path = files.write(people.dropna().drop(columns="t"), tmp_path / "in.shp")
    table = bytearray(path.with_suffix(".dbf").read_bytes())
    table[int.from_bytes(table[8:10], "little")] = ord("*")
    path.with_suffix(".dbf").write_bytes(table)
    for rows in (None, 70):
        told = quiet(perturb_file, path, tmp_path / "out.gpkg", 4, batch_rows=rows, overwrite=True)
        assert told.locations == people.geometry.notna().sum() - 1


@pytest.mark.parametrize("rows", [None, 70])
@pytest.mark.parametrize("kind", ["fgb", "geojsonl", "gml"])
def test_a_file_truncated_anywhere(people, tmp_path, kind, rows):
    path = files.write(people.dropna(), tmp_path / f"in.{kind}")
    whole = path.read_bytes()
    for part in np.linspace(0.02, 0.98, 14):
        path.write_bytes(whole[: int(len(whole) * part)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(InputError, match=r"cannot be read|cut short"):
                perturb_file(path, tmp_path / "out.parquet", 4, domain=TOKYO, batch_rows=rows)
    path.write_bytes(whole)
    assert quiet(perturb_file, path, tmp_path / "out.parquet", 4, batch_rows=rows).locations == len(people.dropna())


def test_a_collection_named_like_a_sequence(people, tmp_path):
    path = files.write(people.dropna(), tmp_path / "in.geojson")
    text = json.dumps(json.loads(path.read_text()), indent=1)
    (tmp_path / "in.geojsonl").write_text(text)
    told = quiet(perturb_file, tmp_path / "in.geojsonl", tmp_path / "out.parquet", 4, batch_rows=70)
    assert told.locations == len(people.dropna())
