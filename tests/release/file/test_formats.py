"""What a file holds stays what it is, in every format."""

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from geopandas.testing import assert_geodataframe_equal

import geotracs
from geotracs import InputError, files
from geotracs.release.file import perturb_file
from tests.conftest import TOKYO
from tests.release.file.streamed import COLUMNS, quiet, same

pytestmark = pytest.mark.slow

KINDS = ["gpkg", "geojson", "fgb", "csv", "csv.gz", "tsv", "shp"]


@pytest.mark.filterwarnings("ignore:Field t created as String:RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "out"), [(f"in.{kind}", "out.parquet") for kind in KINDS] + [("in.csv", f"out.{kind}") for kind in KINDS]
)
def test_kinds_of_files(people, tmp_path, name, out):
    people = people.dropna().astype({"t": str}).reset_index(drop=True)
    files.write(people, tmp_path / name)
    frame = files.read(tmp_path / name)
    arguments = {"trajectory": "person", "keep": ["stops"]}
    if not name.endswith(".fgb"):  # which has an order of its own
        arguments |= {"method": "tracs-d"}
    whole = quiet(geotracs.perturb, frame, 4, **arguments)
    files.write(whole, tmp_path / f"whole{out[3:]}")
    quiet(perturb_file, tmp_path / name, tmp_path / out, 4, batch_rows=100, **arguments)
    expected, back = files.read(tmp_path / f"whole{out[3:]}"), files.read(tmp_path / out)
    assert_geodataframe_equal(back, expected, check_dtype=False)
    assert back.attrs == expected.attrs
    assert {c: k.kind for c, k in back.dtypes.items() if c != "geometry"} == {
        c: k.kind for c, k in expected.dtypes.items() if c != "geometry"
    }


def test_times_keep_their_zone_or_have_none(people, tmp_path):
    for zone in (None, "UTC"):
        people["t"] = people["t"].dt.tz_localize(None).dt.tz_localize(zone)
        path = files.write(people, tmp_path / f"{zone}.gpkg")
        quiet(perturb_file, path, tmp_path / f"{zone}-out.gpkg", 4, "tracs-d", batch_rows=90, **COLUMNS)
        assert files.read(tmp_path / f"{zone}-out.gpkg")["t"].equals(files.read(path)["t"])


ZONES = [None, "UTC", "Asia/Tokyo", "+09:00"]
FROM_TO = [("pq", "gpkg"), ("fgb", "parquet"), ("geojson", "fgb"), ("gpkg", "csv")]


@pytest.mark.parametrize(
    ("kind", "out", "zone", "late"),
    [(*kinds, zone, True) for kinds in FROM_TO for zone in ZONES]
    + [(*kinds, zone, False) for kinds, zone in zip(FROM_TO, ZONES, strict=True)],
)
def test_instants_stay_whatever_their_zone(people, tmp_path, kind, out, zone, late):
    """Also where the first thousand rows have no time."""
    people = people.dropna().sort_values(["person", "t"], ignore_index=True)
    people["t"] = people["t"].dt.tz_localize(zone)
    people["number"] = np.arange(len(people))
    if late:
        people = pd.concat([people.iloc[[0] * 1100].assign(number=-1), people], ignore_index=True)
        people.loc[people["number"] < 0, "t"] = pd.NaT
    path = files.write(people, tmp_path / f"in.{kind}")
    quiet(perturb_file, path, tmp_path / f"out.{out}", 4, batch_rows=400, keep=["t", "number"])
    back = pd.to_datetime(files.read(tmp_path / f"out.{out}").set_index("number")["t"], format="ISO8601").dropna()
    assert (back.dt.tz is None) == (zone is None)
    there = people[people["number"] >= 0].set_index("number")["t"]
    assert len(back) == len(there)
    assert (back == there.loc[back.index]).all()


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


def test_an_index_of_coordinates_is_warned_of(people, tmp_path):
    people = people.dropna().assign(lat=people.geometry.y, lon=people.geometry.x).set_index(["lat", "lon"])
    people.to_parquet(tmp_path / "in.parquet")
    with pytest.warns() as caught:
        perturb_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, domain=TOKYO, batch_rows=99)
    said = [str(warning.message) for warning in caught]
    assert any("index level 'lat' holds the original locations" in text for text in said)
    assert not any("left out" in text and "lat" in text for text in said)


def test_rows_that_were_selected_keep_their_unnamed_index(people, tmp_path):
    people[people["stops"] > 3].to_parquet(tmp_path / "in.parquet")
    whole = quiet(geotracs.perturb, gpd.read_parquet(tmp_path / "in.parquet"), 4, keep="all")
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, batch_rows=99, keep="all")
    same(files.read(tmp_path / "out.parquet"), whole)


def test_a_column_without_values_and_one_with_other_geometries(people, tmp_path):
    people["nothing"], people["home"] = None, people.geometry
    people.to_parquet(tmp_path / "in.parquet")

    def streamed(name, **arguments):
        quiet(perturb_file, tmp_path / "in.parquet", tmp_path / name, 4, batch_rows=99, **arguments)
        return files.read(tmp_path / name)

    assert streamed("out.gpkg", keep=["nothing"])["nothing"].isna().all()
    assert streamed("out.csv", keep=["home"])["home"][1] == str(people["home"][1])
    with pytest.raises(InputError, match="'home' would be a second"):
        streamed("two.gpkg", keep=["home"])


def test_points_in_geoarrow(people, tmp_path):
    people.dropna().to_parquet(tmp_path / "in.parquet", geometry_encoding="geoarrow", index=False)
    whole = quiet(geotracs.perturb, gpd.read_parquet(tmp_path / "in.parquet"), 4, "tracs-d", **COLUMNS)
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, "tracs-d", batch_rows=99, **COLUMNS)
    same(files.read(tmp_path / "out.parquet"), whole)


def test_a_csv_column_that_shows_what_it_is_at_the_end(people, tmp_path):
    table = files.to_table(people.dropna()).astype({"person": str, "stops": object})
    table.iloc[-1, table.columns.get_loc("stops")] = "many"
    table["person"] = [label[1:] for label in table["person"]]
    table.to_csv(tmp_path / "in.csv", index=False)
    whole = quiet(geotracs.perturb, files.read(tmp_path / "in.csv"), 4, "tracs-d", keep=["stops"], **COLUMNS)
    files.write(whole, tmp_path / "whole.csv")
    quiet(
        perturb_file, tmp_path / "in.csv", tmp_path / "out.csv", 4, "tracs-d", batch_rows=60, keep=["stops"], **COLUMNS
    )
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "whole.csv").read_text()


def test_csv_columns_of_flags_with_gaps_of_geometries_and_of_large_numbers(people, tmp_path):
    table = files.to_table(people.dropna())
    table["flag"] = np.where(np.arange(len(table)) % 3 == 1, "", "True")
    table["person"] = np.arange(len(table), dtype=np.uint64) // 40 + np.uint64(2**63 - 6)
    table["geometry"] = "POINT (139.70012 35.70012)"
    table.to_csv(tmp_path / "in.csv", index=False)
    arguments = {"trajectory": "person", "keep": ["flag"]}
    whole = quiet(geotracs.perturb, files.read(tmp_path / "in.csv"), 4, **arguments)
    files.write(whole, tmp_path / "whole.csv")
    told = quiet(perturb_file, tmp_path / "in.csv", tmp_path / "out.csv", 4, batch_rows=60, **arguments)
    assert told.longest == 40
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "whole.csv").read_text()
