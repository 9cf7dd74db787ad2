"""GeoParquet files and folders of them: what they hold stays what it is, and damaged ones are refused."""

import json
import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from geopandas.testing import assert_geodataframe_equal

import geotracs
from geotracs import InputError, files
from geotracs.release.file import perturb_file
from tests.release.file.streamed import COLUMNS, quiet, refused, same

pytestmark = pytest.mark.slow


def test_nullable_numbers_stay_exact(people, tmp_path):
    people["number"] = pd.array([2**53 + 1, None] * (len(people) // 2), "Int64")
    people["yes"] = pd.array([True, None] * (len(people) // 2), "boolean")
    people.to_parquet(tmp_path / "in.parquet")
    whole = quiet(geotracs.perturb, people, 4, keep=["number", "yes"])
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, batch_rows=99, keep=["number", "yes"])
    same(files.read(tmp_path / "out.parquet"), whole)


def test_index_and_other_geometries_and_hidden_boxes(people, tmp_path):
    people = people.set_index(pd.Index(np.arange(len(people)) * 3, name="fix"))
    people["home"] = gpd.GeoSeries(gpd.points_from_xy(np.full(len(people), 139.7), 35.7), index=people.index, crs=4326)
    people.to_parquet(tmp_path / "in.parquet", write_covering_bbox=True)
    arguments = {"method": "tracs-d", "keep": "all", **COLUMNS}
    whole = quiet(geotracs.perturb, gpd.read_parquet(tmp_path / "in.parquet"), 4, **arguments)
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, batch_rows=99, **arguments)
    same(files.read(tmp_path / "out.parquet"), whole)
    assert "bbox" not in pq.read_schema(tmp_path / "out.parquet").names


def test_rows_that_were_selected_keep_their_unnamed_index(people, tmp_path):
    people[people["stops"] > 3].to_parquet(tmp_path / "in.parquet")
    whole = quiet(geotracs.perturb, gpd.read_parquet(tmp_path / "in.parquet"), 4, keep="all")
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, batch_rows=99, keep="all")
    same(files.read(tmp_path / "out.parquet"), whole)


def test_points_in_geoarrow(people, tmp_path):
    people.dropna().to_parquet(tmp_path / "in.parquet", geometry_encoding="geoarrow", index=False)
    whole = quiet(geotracs.perturb, gpd.read_parquet(tmp_path / "in.parquet"), 4, "tracs-d", **COLUMNS)
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, "tracs-d", batch_rows=99, **COLUMNS)
    same(files.read(tmp_path / "out.parquet"), whole)


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


def test_metadata_and_geometries_that_are_no_such_thing(people, tmp_path):
    people.to_parquet(tmp_path / "good.parquet")
    table = pq.read_table(tmp_path / "good.parquet")
    geo = json.loads(table.schema.metadata[b"geo"])
    for damage in ({"columns": {}}, {"primary_column": "nope"}, {"columns": {"geometry": {}}}):
        metadata = {"geo": json.dumps({**geo, **damage})}
        pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "in.parquet")
        refused(tmp_path, "its geometry metadata do not fit its columns")
    position = table.schema.get_field_index("geometry")
    bad = table.set_column(position, table.schema.field(position), pa.array([b"none"] * len(table), pa.binary()))
    pq.write_table(bad, tmp_path / "in.parquet")
    refused(tmp_path, "not well-known binary")
    refused(tmp_path, "There is no file", "n" * 300 + ".parquet")


def test_a_truncated_part_is_named_and_folders_within_a_folder_are_not_read(people, tmp_path):
    (tmp_path / "in" / "day=1").mkdir(parents=True)
    people.to_parquet(tmp_path / "in" / "day=1" / "part.0.parquet")
    refused(tmp_path, "in folders within it", "in")
    people.to_parquet(tmp_path / "in" / "part.0.parquet")
    refused(tmp_path, "in folders within it", "in")  # or a part of the data would be left out
    (tmp_path / "in" / "day=1" / "part.0.parquet").unlink()
    (tmp_path / "nothing").mkdir()
    refused(tmp_path, "is an empty folder", "nothing")
    (tmp_path / "in" / "part.1.parquet").write_bytes(b"PAR1")
    refused(tmp_path, "part.1.parquet' cannot be read", "in")


def test_two_columns_of_one_name(people, tmp_path):
    people.to_parquet(tmp_path / "in.parquet")
    table = pq.read_table(tmp_path / "in.parquet")
    pq.write_table(table.append_column("speed", table["speed"]), tmp_path / "in.parquet")
    refused(tmp_path, "several columns named 'speed'")


def test_a_part_that_differs(people, tmp_path):
    (tmp_path / "in").mkdir()
    people[:300].to_parquet(tmp_path / "in" / "part.0.parquet")
    people[300:].drop(columns="speed").to_parquet(tmp_path / "in" / "part.1.parquet")
    refused(tmp_path, "no column 'speed'", "in")
    people[300:].to_crs(32654).to_parquet(tmp_path / "in" / "part.1.parquet")
    refused(tmp_path, "differ in their geometry column or its CRS", "in")


@pytest.mark.parametrize("sort", [False, True])
def test_values_of_a_part_that_differs_are_not_quoted(people, tmp_path, sort):
    people["lat"] = people.geometry.y.fillna(0)
    (tmp_path / "in").mkdir()
    for first, second in (("int64", "float64"), ("float64", str)):
        people[:300].astype({"lat": first}).to_parquet(tmp_path / "in" / "part.0.parquet")
        other = people[300:].astype({"lat": second})
        if second is str:
            other["lat"] += " N"
        other.to_parquet(tmp_path / "in" / "part.1.parquet")
        with pytest.raises(InputError, match=r"'lat' \(.*, not .*\); make them alike") as caught:
            quiet(
                perturb_file,
                tmp_path / "in",
                tmp_path / "o.parquet",
                4,
                batch_rows=70,
                keep="all",
                sort=sort,
                **COLUMNS,
            )
        assert "35." not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__


@pytest.mark.parametrize("rows", [None, 50])
def test_texts_that_are_not_in_utf_8_are_refused_and_not_quoted(people, tmp_path, rows):
    """pandas decodes them when they are shown, and quotes what it cannot decode."""
    people["street"] = "Rue de la Paix"
    people.to_parquet(tmp_path / "in.parquet", compression="none")
    data = (tmp_path / "in.parquet").read_bytes()
    assert b"Rue de la Paix" in data
    (tmp_path / "in.parquet").write_bytes(data.replace(b"Rue de la Paix", b"Rue\xa0de la Paix"))
    arguments = {"keep": ["street"], "batch_rows": rows, **COLUMNS}
    for call in (files.read, lambda path: perturb_file(path, tmp_path / "out.parquet", 4, **arguments)):
        with pytest.raises(InputError, match="UTF-8") as caught, warnings.catch_warnings(action="ignore"):
            call(tmp_path / "in.parquet")
        assert "Paix" not in str(caught.value)
