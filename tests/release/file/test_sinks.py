"""What is written, and what is never replaced."""

import json

import geopandas as gpd
import pandas as pd
import pyarrow.parquet as pq
import pytest
from geopandas.testing import assert_geodataframe_equal

import geotracs
from geotracs import InputError, files
from geotracs.release.file import perturb_file
from tests.release.file.streamed import COLUMNS, quiet, same

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("ordered", [False, True])
def test_unused_categories_are_left_out(people, tmp_path, ordered):
    every = ["Jane Doe", *people["person"].unique(), "John Doe"]
    people["person"] = pd.Categorical(people["person"], every, ordered=ordered)
    people.to_parquet(tmp_path / "in.parquet")
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, batch_rows=99, trajectory="person")
    back = files.read(tmp_path / "out.parquet")["person"]
    assert back.astype(str).tolist() == people["person"].astype(str).tolist()
    assert set(back.cat.categories) == set(people["person"])
    assert b"Doe" not in (tmp_path / "out.parquet").read_bytes()


def test_the_schema_of_a_release_holds_its_metadata(people, tmp_path):
    """Where dask-geopandas looks for them; and geotracs itself also looks beside it, where GDAL writes them."""
    people.to_parquet(tmp_path / "in.parquet")
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, batch_rows=99)
    assert {b"geo", b"pandas", b"PANDAS_ATTRS"} <= pq.read_schema(tmp_path / "out.parquet").metadata.keys()
    table = pq.read_table(tmp_path / "in.parquet")
    with pq.ParquetWriter(tmp_path / "gdal.parquet", table.schema.remove_metadata()) as writer:
        writer.write_table(table.replace_schema_metadata(None))
        writer.add_key_value_metadata({"geo": table.schema.metadata[b"geo"].decode()})
    assert pq.read_schema(tmp_path / "gdal.parquet").metadata is None
    quiet(perturb_file, tmp_path / "gdal.parquet", tmp_path / "again.parquet", 4, batch_rows=99)
    same(files.read(tmp_path / "again.parquet"), files.read(tmp_path / "out.parquet"))


def test_a_folder_of_files(people, tmp_path, monkeypatch):
    monkeypatch.setattr("geotracs.io.formats.parquet.PART", 200)
    (tmp_path / "in").mkdir()
    for number in range(12):
        people[number * 50 : (number + 1) * 50].to_parquet(tmp_path / "in" / f"part.{number}.parquet", index=False)
    whole = quiet(geotracs.perturb, people, 4, "tracs-d", **COLUMNS)
    for repeat in range(2):
        quiet(
            perturb_file, tmp_path / "in", tmp_path / "out", 4, "tracs-d",
            batch_rows=70, overwrite=bool(repeat), **COLUMNS,
        )  # fmt: skip
        parts = sorted((tmp_path / "out").iterdir())
        assert len(parts) == 4
        back = pd.concat([gpd.read_parquet(part) for part in parts], ignore_index=True)
        assert_geodataframe_equal(back, whole)
        assert {json.dumps(gpd.read_parquet(part).attrs) for part in parts} == {json.dumps(whole.attrs)}
    quiet(perturb_file, tmp_path / "in", tmp_path / "one.parquet", 4, "tracs-d", batch_rows=70, **COLUMNS)
    same(files.read(tmp_path / "one.parquet"), whole)
    quiet(perturb_file, tmp_path / "in", tmp_path / "one.parquet", 4, "tracs-d", overwrite=True, **COLUMNS)
    same(files.read(tmp_path / "one.parquet"), whole)  # at once
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "one.parquet", "out"]


@pytest.mark.parametrize("folder", [False, True])
def test_the_original_is_never_replaced(people, tmp_path, folder):
    path = tmp_path / ("in" if folder else "in.parquet")
    if folder:
        path.mkdir()
    people.to_parquet(path / "part.0.parquet" if folder else path)
    with pytest.raises(InputError, match="the original locations would be lost"):
        quiet(perturb_file, path, path, 4, overwrite=True)
    same(files.read(path), people)


def test_folders_around_and_inside_each_other(people, tmp_path):
    (tmp_path / "all" / "in").mkdir(parents=True)
    people.to_parquet(tmp_path / "all" / "in" / "part.0.parquet")
    with pytest.raises(InputError, match="or holds it: the original locations would be lost"):
        quiet(perturb_file, tmp_path / "all" / "in", tmp_path / "all", 4, overwrite=True)
    for out in ("new.parquet", "part.0.parquet", "new"):
        with pytest.raises(InputError, match="inside the folder IN"):
            quiet(perturb_file, tmp_path / "all" / "in", tmp_path / "all" / "in" / out, 4, overwrite=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="holds other things than GeoParquet"):
        quiet(perturb_file, tmp_path / "all" / "in", tmp_path / "out", 4, overwrite=True)
    assert (tmp_path / "out" / "thesis.txt").exists()
    same(files.read(tmp_path / "all" / "in"), people)


@pytest.mark.parametrize("rows", [None, 70])
def test_parts_of_shapefiles_are_not_replaced(people, tmp_path, rows):
    path = files.write(people.dropna().drop(columns="t"), tmp_path / "in.shp")
    for out, match in (
        ("in.SHP", "a part of the same shapefile as IN"),
        ("in.dbf", "a part of the same shapefile as IN"),
    ):
        with pytest.raises(InputError, match=match):
            quiet(perturb_file, path, tmp_path / out, 4, batch_rows=rows, overwrite=True)
    (tmp_path / "out.dbf").write_text("a table")
    with pytest.raises(InputError, match=r"'out.dbf' is there and belongs to a former file 'out.shp'"):
        quiet(perturb_file, path, tmp_path / "out.shp", 4, batch_rows=rows)
    assert (tmp_path / "out.dbf").read_text() == "a table"
    assert len(files.read(path)) == len(people.dropna())
