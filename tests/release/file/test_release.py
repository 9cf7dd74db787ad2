"""A file in batches is the frame at once, whatever the batches."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from geopandas.testing import assert_geodataframe_equal

import geotracs
from geotracs import DomainError, InputError, PrivacyWarning, files
from geotracs.core.methods import METHODS
from geotracs.release import blocks
from geotracs.release.file import perturb_file, release, sorting, sources
from tests.conftest import TOKYO

COLUMNS = {"trajectory": "person", "time": "t"}
PLACES = gpd.GeoDataFrame(
    {"name": [f"poi {i}" for i in range(40)]},
    geometry=gpd.points_from_xy(*np.random.default_rng(3).uniform(TOKYO[:2], TOKYO[2:], (40, 2)).T),
    crs=4326,
)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Blocks of 50 locations, and files read 30 rows at a time, so that little data has many of both."""
    monkeypatch.setattr(blocks, "BLOCK", 50)
    monkeypatch.setattr(sources, "READ", 30)


@pytest.fixture
def people():
    """Trajectories of 1 to 180 locations, sorted, with missing geometries here and there, and at both ends."""
    rng = np.random.default_rng(4)
    lengths = [1, 30, 180, 2, 60, 49, 50, 51, 7, 120]
    n = sum(lengths)
    frame = gpd.GeoDataFrame(
        {
            "person": np.repeat([f"p{i * 7 % 10}" for i in range(10)], lengths),
            "t": np.concatenate([pd.date_range("2026-01-01", periods=k, freq="min") for k in lengths]),
            "speed": rng.random(n),
            "stops": rng.integers(0, 9, n),
        },
        geometry=gpd.points_from_xy(rng.uniform(139.6, 139.8, n), rng.uniform(35.6, 35.8, n)),
        crs=4326,
    )
    frame.loc[[0, 77, 78, 300, n - 1], "geometry"] = None
    return frame


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **{"domain": TOKYO, "keep": [], "rng": 1, **kwargs})


def places_for(method):
    return {"round_to": PLACES} if issubclass(METHODS[method], geotracs.methods.PlaceMethod) else {}


def same(a, b):
    assert_geodataframe_equal(a, b)
    assert a.attrs == b.attrs


@pytest.mark.parametrize("unit", ["location", "trajectory"])
@pytest.mark.parametrize("method", METHODS)
def test_any_batch_size_is_the_frame_at_once(people, tmp_path, method, unit):
    people.to_parquet(tmp_path / "in.parquet")
    arguments = {**COLUMNS, "unit": unit, **places_for(method)}
    whole = quiet(geotracs.perturb, people, 4, method, **arguments)
    for rows in (17, 200):
        out = tmp_path / f"{rows}.parquet"
        guarantee = quiet(perturb_file, tmp_path / "in.parquet", out, 4, method, batch_rows=rows, **arguments)
        back = files.read(out)
        # Places are whole numbers here; where rows are missing pandas makes them floats.
        same(back.astype({"place": float}) if "place" in back else back, whole)
        assert guarantee.to_attrs() == whole.attrs["tracs"]


@pytest.mark.parametrize("arguments", [
    {"method": "tracs-d"},
    {"method": "tracs-d", "unit": "trajectory"},
    {"method": "tracs-d", "start": "random"},
    {"method": "strawman"},
    {"method": "tracs-c", "unit": "trajectory"},
])  # fmt: skip
def test_one_long_trajectory_is_handed_on_from_batch_to_batch(people, tmp_path, arguments):
    people.to_parquet(tmp_path / "in.parquet")
    method = arguments.pop("method")
    whole = quiet(geotracs.perturb, people, 4, method, **arguments)
    for rows in (13, 260):
        quiet(
            perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, method,
            batch_rows=rows, overwrite=True, **arguments,
        )  # fmt: skip
        same(files.read(tmp_path / "out.parquet"), whole)


@pytest.mark.parametrize("arguments", [
    {"fit": "oriented", "domain": shapely.Polygon([(139.5, 35.55), (139.9, 35.5), (139.85, 35.87), (139.55, 35.85)])},
    {"round_to": PLACES, "join": ["name"], "place": "poi"},
    {"round_to": geotracs.places.Grid(cell=700)},
    {"keep": ["stops", "speed"]},
    {"keep": "all", "method": "auto"},
    {"crs": "EPSG:32654", "outside": "clip", "domain": (139.65, 35.65, 139.75, 35.75)},
])  # fmt: skip
def test_regions_places_and_columns(people, tmp_path, arguments):
    people.to_parquet(tmp_path / "in.parquet")
    arguments = {"method": "tracs-d", **COLUMNS, **arguments}
    whole = quiet(geotracs.perturb, people, 4, **arguments)
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, batch_rows=100, **arguments)
    back = files.read(tmp_path / "out.parquet")
    floats = [name for name in ("place", "poi") if name in back]
    same(back.astype(dict.fromkeys(floats, float)), whole)


@pytest.mark.parametrize("method", ["tracs-c", "tracs-d", "atp"])
@pytest.mark.parametrize("trajectory", [None, "person"])
@pytest.mark.parametrize("unit", ["location", "trajectory"])
def test_lines(tmp_path, method, trajectory, unit):
    rng = np.random.default_rng(1)
    shapes = [shapely.LineString(rng.uniform((139.6, 35.6), (139.8, 35.8), (k, 2))) for k in rng.integers(2, 90, 40)]
    lines = gpd.GeoDataFrame({"person": np.arange(40) // 7}, geometry=shapes, crs=4326)
    lines.loc[[5, 39], "geometry"] = None
    lines.to_parquet(tmp_path / "in.parquet")
    arguments = {"trajectory": trajectory, "unit": unit, **places_for(method)}
    whole = quiet(geotracs.perturb, lines, 4, method, **arguments)
    for rows in (1, 9):
        quiet(
            perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, method,
            batch_rows=rows, overwrite=True, **arguments,
        )  # fmt: skip
        same(files.read(tmp_path / "out.parquet"), whole)


def test_methods_that_do_not_look_back_take_rows_in_any_order(people, tmp_path):
    mixed = people.sample(frac=1, random_state=0).reset_index(drop=True)
    mixed.to_parquet(tmp_path / "in.parquet")
    for unit in ("location", "trajectory"):
        whole = quiet(geotracs.perturb, mixed, 4, unit=unit, **COLUMNS)
        out = tmp_path / f"{unit}.parquet"
        quiet(perturb_file, tmp_path / "in.parquet", out, 4, batch_rows=70, unit=unit, **COLUMNS)
        same(files.read(out), whole)


def swapped(frame):
    rows = frame.index.tolist()
    rows[150], rows[151] = rows[151], rows[150]
    return frame.loc[rows].reset_index(drop=True)


@pytest.mark.parametrize("rows", [20, 100])
@pytest.mark.parametrize("damage", [
    lambda frame: pd.concat([frame[40:], frame[:40]], ignore_index=True),  # a trajectory comes back at the end
    lambda frame: frame.sample(frac=1, random_state=0).reset_index(drop=True),
    swapped,
])  # fmt: skip
def test_rows_out_of_order_are_refused_or_sorted(people, tmp_path, rows, damage):
    mixed = damage(people)
    mixed.to_parquet(tmp_path / "in.parquet")
    with pytest.raises(InputError, match="--sort"):
        quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, "tracs-d", batch_rows=rows, **COLUMNS)
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
    quiet(
        perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, "tracs-d",
        batch_rows=rows, sort=True, keep=["speed"], **COLUMNS,
    )  # fmt: skip
    out = files.read(tmp_path / "out.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out.parquet"]
    found = mixed.set_index("speed").loc[out["speed"]].reset_index()[mixed.columns]
    assert sorted(out["speed"]) == sorted(mixed["speed"])
    assert out.groupby((out["person"] != out["person"].shift()).cumsum())["t"].is_monotonic_increasing.all()
    assert (out["person"] != out["person"].shift()).sum() == 10
    assert_geodataframe_equal(out, quiet(geotracs.perturb, found, 4, "tracs-d", keep=["speed"], **COLUMNS))


@pytest.mark.parametrize("rows", [70, 200])
def test_sorting_rows_without_a_label(people, tmp_path, rows):
    people["person"] = people["person"].str[1:].astype(int).astype("Int64")
    people.loc[[77, 78, 300], "person"] = pd.NA  # they have no location either
    mixed = people.sample(frac=1, random_state=0)
    (tmp_path / "in").mkdir()
    mixed.to_parquet(tmp_path / "in" / "part.0.parquet", index=False)
    quiet(perturb_file, tmp_path / "in", tmp_path / "sorting", 4, "tracs-d", sort=True, batch_rows=rows, **COLUMNS)
    assert len(files.read(tmp_path / "sorting")) == len(people)


@pytest.mark.parametrize("kind", ["gpkg", "csv", "geojson", "parquet"])
def test_sorting_any_kind_of_file(people, tmp_path, kind):
    ordered = people.dropna().sort_values(["person", "t"], ignore_index=True)
    path = files.write(ordered.sample(frac=1, random_state=0), tmp_path / f"in.{kind}")
    quiet(perturb_file, path, tmp_path / "out.parquet", 4, "tracs-d", sort=True, batch_rows=70, **COLUMNS)
    back = files.read(tmp_path / "out.parquet").groupby("person", sort=True)["t"]
    assert all(pd.to_datetime(times).is_monotonic_increasing for _, times in back)
    assert back.size().tolist() == ordered.groupby("person").size().tolist()


def test_an_order_that_tells_where_rows_are_is_warned_of(people, tmp_path):
    path = files.write(people.dropna(), tmp_path / "in.fgb")
    arguments = {"domain": TOKYO, "keep": [], "trajectory": "person"}
    with pytest.warns(PrivacyWarning, match="their order tells where they were"):
        perturb_file(path, tmp_path / "out.parquet", 4, **arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        perturb_file(path, tmp_path / "sorted.parquet", 4, sort=True, **arguments)
        perturb_file(path, tmp_path / "out.fgb", 4, **arguments)


def test_sorting_with_few_files_open(people, tmp_path, monkeypatch):
    """Ranges that are too large are dealt again, and rows that cannot be parted stay together."""
    monkeypatch.setattr(sorting, "MOST", 3)
    mixed = people.sample(frac=1, random_state=0)
    mixed["person"] = pd.Categorical(mixed["person"])
    mixed.to_parquet(tmp_path / "in.parquet", index=False)
    source = sources.open_source(tmp_path / "in.parquet")
    done = sorting.sort_out_of_core(source, "person", "t", tmp_path / "work", 40)
    assert len(done.ranges) == 3
    assert max(len(table) for table in done._read(done.schema)) <= 40 < max(done.ranges)
    found = pd.concat([table.to_pandas() for table in done.tables(100)])
    assert (found["person"] != found["person"].shift()).sum() == 10
    assert all(own.is_monotonic_increasing for _, own in found.groupby("person", observed=True)["t"])
    assert sorted(found["speed"]) == sorted(people["speed"])
    assert not [path for path in (tmp_path / "work").iterdir() if path.is_dir()]
    mixed.assign(person="one", t=1).to_parquet(tmp_path / "same.parquet", index=False)
    source = sources.open_source(tmp_path / "same.parquet")
    done = sorting.sort_out_of_core(source, "person", "t", tmp_path / "again", 40)
    assert pd.concat([table.to_pandas() for table in done.tables(100)])["speed"].tolist() == mixed["speed"].tolist()


@pytest.mark.parametrize("column", ["t", "person"])
@pytest.mark.parametrize("rows", [70, 1000])
def test_sorting_names_bad_rows_by_their_number_in_the_file(people, tmp_path, column, rows):
    people["t"] = people["t"].astype(object)
    people.loc[210, column] = None
    people.astype({"t": "datetime64[ns]"}).to_parquet(tmp_path / "in.parquet")
    with pytest.raises(InputError, match=f"no value in the .* column '{column}', e.g. 210;"):
        quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "o.parquet", 4, sort=True, batch_rows=rows, **COLUMNS)


def test_sorting_by_time_alone_and_by_nothing(people, tmp_path):
    mixed = people.sample(frac=1, random_state=0).assign(t=lambda f: np.random.default_rng(1).permutation(len(f)))
    mixed.to_parquet(tmp_path / "in.parquet", index=False)
    source = sources.open_source(tmp_path / "in.parquet")
    done = sorting.sort_out_of_core(source, None, "t", tmp_path / "work", 60)
    tables = list(done.tables(40))
    assert np.concatenate([table["t"] for table in tables]).tolist() == list(range(len(people)))
    assert len(done.ranges) > 5
    with pytest.raises(InputError, match="needs columns to sort by"):
        sorting.sort_out_of_core(source, None, None, tmp_path / "other", 60)


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


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo", "+09:00"])
@pytest.mark.parametrize(("kind", "out"), [("pq", "gpkg"), ("fgb", "parquet"), ("geojson", "fgb"), ("gpkg", "csv")])
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


def test_rows_that_were_selected_keep_their_unnamed_index(people, tmp_path):
    people[people["stops"] > 3].to_parquet(tmp_path / "in.parquet")
    whole = quiet(geotracs.perturb, gpd.read_parquet(tmp_path / "in.parquet"), 4, keep="all")
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, batch_rows=99, keep="all")
    same(files.read(tmp_path / "out.parquet"), whole)


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


def test_a_folder_of_files(people, tmp_path, monkeypatch):
    monkeypatch.setattr("geotracs.release.file.sinks.PART", 200)
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


# What bad input gets


def refused(tmp_path, match, name="in.parquet", out="out.parquet", error=InputError, **arguments):
    (tmp_path / out).write_text("the old file")
    with pytest.raises(error, match=match):
        quiet(perturb_file, tmp_path / name, tmp_path / out, 4, batch_rows=70, overwrite=True, **arguments)
    assert (tmp_path / out).read_text() == "the old file"
    assert not list(tmp_path.glob(".*"))


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


def test_a_folder_comes_back_when_replacing_it_is_stopped(people, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    people.to_parquet(tmp_path / "in" / "part.0.parquet")
    quiet(perturb_file, tmp_path / "in", tmp_path / "out", 4)
    before, rename = files.read(tmp_path / "out"), os.rename

    def stopped(source, target):
        if target == tmp_path / "out" and "replaced" not in str(source):
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "rename", stopped)
    with pytest.raises(KeyboardInterrupt):
        quiet(perturb_file, tmp_path / "in", tmp_path / "out", 4, rng=2, overwrite=True)
    same(files.read(tmp_path / "out"), before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


@pytest.mark.parametrize("rows", [None, 70])
def test_parts_of_shapefiles_are_not_replaced(people, tmp_path, rows):
    path = files.write(people.dropna().drop(columns="t"), tmp_path / "in.shp")
    for out, match in (("in.SHP", "a part of the shapefile IN"), ("in.dbf", "a part of the shapefile IN")):
        with pytest.raises(InputError, match=match):
            quiet(perturb_file, path, tmp_path / out, 4, batch_rows=rows, overwrite=True)
    (tmp_path / "out.dbf").write_text("a table")
    with pytest.raises(InputError, match=r"'out.dbf' is there and belongs to a former file 'out.shp'"):
        quiet(perturb_file, path, tmp_path / "out.shp", 4, batch_rows=rows)
    assert (tmp_path / "out.dbf").read_text() == "a table"
    assert len(files.read(path)) == len(people.dropna())


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

    def count_then_grow(*arguments):
        counted = release.count(*arguments)
        longer = pd.concat([people, people[-3:]], ignore_index=True)
        longer.to_parquet(tmp_path / "in.parquet")
        return counted

    monkeypatch.setattr("geotracs.release.file.count", count_then_grow)
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


@pytest.mark.parametrize(("arguments", "match"), [
    ({"batch_rows": 0}, "`batch_rows` must be"),
    ({"batch_rows": 2.5}, "`batch_rows` must be"),
    ({"workers": 0}, "`workers` must be"),
    ({"trajectory": "nobody"}, "no column 'nobody'"),
    ({"eps": 0}, "`eps` must be"),
    ({"unit": "person"}, "`unit` must be"),
    ({"colour": "red"}, "no option 'colour'"),
    ({"sort": True}, "needs columns to sort by"),
])  # fmt: skip
def test_bad_arguments(people, tmp_path, arguments, match):
    people.to_parquet(tmp_path / "in.parquet")
    arguments = {"eps": 4, "batch_rows": 70, **arguments}
    with pytest.raises(InputError, match=match):
        quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", **arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_domain_fitted_to_the_file(people, tmp_path):
    people.to_parquet(tmp_path / "in.parquet")
    arguments = {"batch_rows": 70, "keep": [], "overwrite": True}
    for domain in (None, tuple(people.total_bounds)):
        with pytest.warns(PrivacyWarning, match="`domain`"):
            guarantee = perturb_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, domain=domain, **arguments)
        assert guarantee.fitted == (domain is None)  # what was said, not what the data are
        assert ("bounds" in guarantee.domain) == (domain is not None)
    table = pq.read_table(tmp_path / "in.parquet")
    geo = json.loads(table.schema.metadata[b"geo"])
    del geo["columns"]["geometry"]["bbox"]
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), tmp_path / "silent.parquet")
    with pytest.raises(InputError, match="`domain` must be given"):
        perturb_file(tmp_path / "silent.parquet", tmp_path / "out.parquet", 4, **arguments)


def without_bounds(path):
    """Take the extent out of the metadata of a file."""
    table = pq.read_table(path)
    geo = json.loads(table.schema.metadata[b"geo"])
    del geo["columns"]["geometry"]["bbox"]
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, b"geo": json.dumps(geo)}), path)


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("what", ["keep", "domain", "round_to", "prior"])
def test_what_was_derived_from_the_locations_is_warned_of(people, tmp_path, what, sort):
    people = people.assign(lat=people.geometry.y)
    places = people.geometry.dropna().sample(frac=1, random_state=0)
    arguments, said = {
        "keep": ({"keep": "all"}, "'lat' holds the original locations"),
        "domain": ({"domain": tuple(people.total_bounds)}, "`domain` has the extent of the private data"),
        "round_to": ({"round_to": places.to_crs(3857)}, "`round_to` has the coordinates of the private data"),
        "prior": ({"prior": places}, "`prior` has the coordinates of the private data"),
    }[what]
    people.to_parquet(tmp_path / "in.parquet")
    without_bounds(tmp_path / "in.parquet")
    arguments = {"domain": TOKYO, "keep": [], "batch_rows": 70, "sort": sort, **COLUMNS, **arguments}
    with pytest.warns(PrivacyWarning, match=said):
        perturb_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, **arguments)


def test_public_things_are_not_warned_of_and_take_no_pass(people, tmp_path, monkeypatch):
    people.to_parquet(tmp_path / "in.parquet")
    without_bounds(tmp_path / "in.parquet")
    monkeypatch.setattr(geotracs.geo.originals.Originals, "near", None)
    monkeypatch.setattr(geotracs.originals, "_union", None)
    arguments = {"domain": TOKYO, "keep": "all", "batch_rows": 70, "round_to": PLACES, "prior": PLACES, **COLUMNS}
    perturb_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, **arguments)


def test_venues_that_people_visited_are_public(people, tmp_path):
    """Every location is at one of the venues, of which there are more: only the whole file can tell."""
    visited = people.geometry.dropna()
    venues = gpd.GeoSeries([*visited, *visited.translate(0.001, 0).iloc[:100]], crs=4326)
    people.to_parquet(tmp_path / "in.parquet")
    arguments = {"domain": TOKYO, "keep": [], "batch_rows": 70, "round_to": venues}
    perturb_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, **arguments)


def limited_to_64_kilobytes_a_file():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, 2**16))


@pytest.mark.parametrize("kind", ["parquet", "gpkg", "geojson", "csv", "fgb"])
def test_a_disk_that_fills_up(people, tmp_path, kind):
    """A limit to the size of a file stands for it: writing fails in the middle."""
    pd.concat([people.dropna()] * 20, ignore_index=True).to_parquet(tmp_path / "in.parquet")
    out = tmp_path / f"out.{kind}"
    out.write_text("the old file")
    command = [sys.executable, "-m", "geotracs", "perturb", "in.parquet", out.name, "--eps", "4", "--overwrite"]
    command += ["--domain", ",".join(map(str, TOKYO)), "--batch-rows", "2000", "--keep", "all"]
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=limited_to_64_kilobytes_a_file
    )
    assert run.returncode == 2
    assert f"'{out.name}' cannot be written" in run.stderr
    assert out.read_text() == "the old file"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", out.name]


def start(tmp_path, n=10**6):
    """A run that takes a while, once it has begun to write."""
    rng = np.random.default_rng(0)
    points = gpd.points_from_xy(rng.uniform(139.5, 139.9, 10**5), rng.uniform(35.55, 35.85, 10**5))
    (tmp_path / "in").mkdir()
    for part in range(n // 10**5):
        gpd.GeoDataFrame(geometry=points, crs=4326).to_parquet(tmp_path / "in" / f"{part}.parquet")
    (tmp_path / "out.parquet").write_text("the old file")
    command = [sys.executable, "-m", "geotracs", "perturb", "in", "out.parquet", "--eps", "4", "--overwrite"]
    command += ["--domain", ",".join(map(str, TOKYO)), "--batch-rows", "1000"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # these tests may run under nohup
    )  # fmt: skip
    while process.poll() is None and not list(tmp_path.glob(".out.parquet.*/out.parquet")):
        time.sleep(0.01)
    assert process.poll() is None, "it was done before it could be stopped"
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_run_that_is_stopped(people, tmp_path, number):
    process = start(tmp_path)
    process.send_signal(number)
    assert process.wait() == 130
    with process.stderr as said:
        assert "Stopped; temporary files were removed." in said.read()
    assert (tmp_path / "out.parquet").read_text() == "the old file"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out.parquet"]


def test_a_run_that_is_killed_and_the_next_says_how_to_clean_up(people, tmp_path):
    process = start(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    assert (tmp_path / "out.parquet").read_text() == "the old file"
    [left] = tmp_path.glob(".out.parquet.*")
    people.to_parquet(tmp_path / "in.parquet")
    with pytest.warns(geotracs.GeotracsWarning, match=f"left .*{left.name}.* behind") as caught:
        perturb_file(
            tmp_path / "in.parquet", tmp_path / "out.parquet", 4, domain=TOKYO, keep=[], overwrite=True, batch_rows=70
        )
    assert len(caught) == 1
    assert len(files.read(tmp_path / "out.parquet")) == len(people)


# Speed and size


def test_progress_shows_rows(people, tmp_path, capsys):
    people.to_parquet(tmp_path / "in.parquet")
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, batch_rows=70, progress=True)
    assert f"{len(people)}/{len(people)}" in capsys.readouterr().err
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.csv", 4, batch_rows=70)
    assert capsys.readouterr().err == ""


def test_progress_names_each_pass(people, tmp_path, capsys):
    files.write(people.dropna(), tmp_path / "in.csv")
    arguments = {"batch_rows": 70, "sort": True, "unit": "trajectory", "progress": True, **COLUMNS}
    quiet(perturb_file, tmp_path / "in.csv", tmp_path / "out.csv", 4, **arguments)
    said = capsys.readouterr().err
    for what in ("Looking at the columns", "Looking at the order", "Sorting", "Counting", "Perturbing"):
        assert f"{what}:" in said


def test_workers_are_so_many(people, tmp_path, monkeypatch):
    asked, threads = [], blocks._threads
    monkeypatch.setattr(blocks, "_threads", lambda n, process: asked.append(n) or threads(n, process))
    people.to_parquet(tmp_path / "in.parquet")
    for workers in (5, None):
        quiet(
            perturb_file, tmp_path / "in.parquet", tmp_path / "o.parquet", 4,
            workers=workers, batch_rows=170, overwrite=True,
        )  # fmt: skip
    assert set(asked) == {5, len(os.sched_getaffinity(0)) + 1}


def test_workers_do_not_matter(people):
    whole = [quiet(geotracs.perturb, people, 4, "tracs-d", workers=workers, **COLUMNS) for workers in (1, 2, 7, None)]
    for other in whole[1:]:
        same(whole[0], other)


MEMORY = """
import sys, geotracs
from benchmarks.large import ARGUMENTS, peak_memory
geotracs.perturb_file(sys.argv[1], sys.argv[2], 4, "tracs-d", **ARGUMENTS)
print(peak_memory() / 1e9)
"""


def test_two_million_rows(tmp_path, monkeypatch):
    """Bit for bit the frame at once, with blocks as they are, in less than 1 GB."""
    from benchmarks.large import make

    monkeypatch.undo()
    make(tmp_path / "in.parquet", 2 * 10**6)
    frame = gpd.read_parquet(tmp_path / "in.parquet")
    arguments = {"domain": TOKYO, "trajectory": "p", "time": "t"}
    whole = quiet(geotracs.perturb, frame, 4, "tracs-d", **arguments)
    quiet(perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, "tracs-d", **arguments)
    out = gpd.read_parquet(tmp_path / "out.parquet")
    assert np.array_equal(out.geometry.x, whole.geometry.x)
    assert np.array_equal(out.geometry.y, whole.geometry.y)
    command = [sys.executable, "-c", MEMORY, tmp_path / "in.parquet", tmp_path / "again.parquet"]
    peak = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout
    assert float(peak) < 1
