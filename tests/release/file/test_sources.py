"""Files that are damaged or hold something else: refused, and nothing of what is in them is quoted."""

import json
import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from geotracs import DomainError, InputError, files
from geotracs.release.file import perturb_file
from geotracs.release.file.survey import Survey
from tests.conftest import TOKYO
from tests.release.file.streamed import COLUMNS, quiet, refused

pytestmark = pytest.mark.slow


def test_no_geometry(people, tmp_path):
    people.drop(columns="geometry").to_csv(tmp_path / "in.csv", index=False)
    refused(tmp_path, "no column that looks like x", "in.csv")
    pd.DataFrame(people.drop(columns="geometry")).to_parquet(tmp_path / "in.parquet")
    refused(tmp_path, "without geometry metadata")
    (tmp_path / "empty.csv").write_text("")
    refused(tmp_path, "cannot be read", "empty.csv")
    refused(tmp_path, "There is no file", "nowhere.csv")


@pytest.mark.parametrize("kind", ["parquet", "gpkg", "csv.gz", "geojson", "geojsonl", "fgb"])
def test_a_file_truncated_in_the_middle(people, tmp_path, kind):
    many = pd.concat([people.dropna()] * 20, ignore_index=True)
    path = files.write(many, tmp_path / f"in.{kind}")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 - 20])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused(tmp_path, "cannot be read|cut short", path.name)


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


def test_a_header_of_coordinates_is_not_quoted(tmp_path):
    for line in ("p1,POINT (139.7123 35.6123)", "p1,139.7123E,35.6123N"):
        (tmp_path / "in.csv").write_text(f"{line}\n{line}\n")
        refused(tmp_path, "no header line", "in.csv", x="lon")


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


@pytest.mark.parametrize("rows", [None, 70])
def test_gdal_does_not_quote_coordinates(people, tmp_path, rows, capfd):
    path = files.write(people.dropna(), tmp_path / "in.geojson")
    collection = json.loads(path.read_text())
    for feature, bad in zip(collection["features"][300:], (["139.70012", 35.7], [139.70012]), strict=False):
        feature["geometry"]["coordinates"] = bad
    path.write_text(json.dumps(collection))
    with pytest.warns() as caught:
        perturb_file(path, tmp_path / "out.parquet", 4, domain=TOKYO, keep=[], batch_rows=rows)
    said = [str(warning.message) for warning in caught]
    assert any("GDAL gave" in text for text in said)
    assert "139.7" not in "".join([*said, *capfd.readouterr()])


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
