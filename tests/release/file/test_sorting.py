"""Sorting out of core: rows in any order become trajectories."""

import warnings

import numpy as np
import pandas as pd
import pytest
from geopandas.testing import assert_geodataframe_equal

import geotracs
from geotracs import InputError, PrivacyWarning, files
from geotracs.release.file import perturb_file, sorting
from tests.conftest import TOKYO
from tests.release.file.streamed import COLUMNS, quiet

pytestmark = pytest.mark.slow


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
    with pytest.raises(InputError, match="Use sort=True"):
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
    monkeypatch.setattr(sorting, "MAX_RANGES", 3)
    mixed = people.sample(frac=1, random_state=0)
    mixed["person"] = pd.Categorical(mixed["person"])
    mixed.to_parquet(tmp_path / "in.parquet", index=False)
    source = files.open_source(tmp_path / "in.parquet")
    done = sorting.sort_out_of_core(source, "person", "t", tmp_path / "work", 40)
    assert len(done.ranges) == 3
    assert max(len(table) for table in done.pieces(done.schema)) <= 40 < max(done.ranges)
    found = pd.concat([table.to_pandas() for table in done.tables(100)])
    assert (found["person"] != found["person"].shift()).sum() == 10
    assert all(own.is_monotonic_increasing for _, own in found.groupby("person", observed=True)["t"])
    assert sorted(found["speed"]) == sorted(people["speed"])
    assert not [path for path in (tmp_path / "work").iterdir() if path.is_dir()]
    mixed.assign(person="one", t=1).to_parquet(tmp_path / "same.parquet", index=False)
    source = files.open_source(tmp_path / "same.parquet")
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
    source = files.open_source(tmp_path / "in.parquet")
    done = sorting.sort_out_of_core(source, None, "t", tmp_path / "work", 60)
    tables = list(done.tables(40))
    assert np.concatenate([table["t"] for table in tables]).tolist() == list(range(len(people)))
    assert len(done.ranges) > 5
    with pytest.raises(InputError, match="needs columns to sort by"):
        sorting.sort_out_of_core(source, None, None, tmp_path / "other", 60)
