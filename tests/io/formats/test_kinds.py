"""What a file holds stays what it is, from every format to every other."""

import warnings

import numpy as np
import pandas as pd
import pytest
from geopandas.testing import assert_geodataframe_equal

import geotracs
from geotracs import files
from geotracs.release.file import perturb_file
from tests.release.file.streamed import quiet, refused

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
