"""A file in batches is the frame at once, whatever the batches."""

import json
import os
import subprocess
import sys

import geopandas as gpd
import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely

import geotracs
from geotracs import InputError, PrivacyWarning, files
from geotracs.core.methods import METHODS
from geotracs.geo import originals
from geotracs.release import blocks
from geotracs.release.file import AT_ONCE, perturb_file
from tests.conftest import TOKYO
from tests.release.file.streamed import COLUMNS, PLACES, quiet, same

pytestmark = pytest.mark.slow


def places_for(method):
    return {"round_to": PLACES} if issubclass(METHODS[method], geotracs.methods.PlaceMethod) else {}


@pytest.mark.parametrize("method", METHODS)
def test_any_batch_size_is_the_frame_at_once(people, tmp_path, method):
    """Every other method with epsilons for trajectories; `test_golden` has all of them in batches of both units."""
    people.to_parquet(tmp_path / "in.parquet")
    unit, rows = (("location", 17), ("trajectory", 90))[list(METHODS).index(method) % 2]
    arguments = {**COLUMNS, "unit": unit, **places_for(method)}
    whole = quiet(geotracs.perturb, people, 4, method, **arguments)
    out = tmp_path / "out.parquet"
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


@pytest.mark.parametrize(
    ("method", "trajectory", "unit"),  # each two of the values together
    [
        ("tracs-c", None, "location"),
        ("tracs-c", "person", "trajectory"),
        ("tracs-d", None, "trajectory"),
        ("tracs-d", "person", "location"),
        ("atp", None, "location"),
        ("atp", "person", "trajectory"),
    ],
)
def test_lines(tmp_path, method, trajectory, unit):
    rng = np.random.default_rng(1)
    shapes = [shapely.LineString(rng.uniform((139.6, 35.6), (139.8, 35.8), (k, 2))) for k in rng.integers(2, 90, 16)]
    lines = gpd.GeoDataFrame({"person": np.arange(16) // 5}, geometry=shapes, crs=4326)
    lines.loc[[5, 15], "geometry"] = None
    lines.to_parquet(tmp_path / "in.parquet")
    arguments = {"trajectory": trajectory, "unit": unit, **places_for(method)}
    whole = quiet(geotracs.perturb, lines, 4, method, **arguments)
    for rows in (1, 6):
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


@pytest.mark.parametrize(("arguments", "match"), [
    ({"batch_rows": 0}, "`batch_rows` must be"),
    ({"batch_rows": 2.5}, "`batch_rows` must be"),
    ({"workers": 0}, "`workers` must be"),
    ({"trajectory": "nobody"}, "no column 'nobody'"),
    ({"eps": 0}, "`eps` must be"),
    ({"unit": "fortnight"}, "`unit` must be"),
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
    monkeypatch.setattr(originals.Originals, "near", None)
    monkeypatch.setattr(originals, "_union", None)
    arguments = {"domain": TOKYO, "keep": "all", "batch_rows": 70, "round_to": PLACES, "prior": PLACES, **COLUMNS}
    perturb_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, **arguments)


def test_venues_that_people_visited_are_public(people, tmp_path):
    """Every location is at one of the venues, of which there are more: only the whole file can tell."""
    visited = people.geometry.dropna()
    venues = gpd.GeoSeries([*visited, *visited.translate(0.001, 0).iloc[:100]], crs=4326)
    people.to_parquet(tmp_path / "in.parquet")
    arguments = {"domain": TOKYO, "keep": [], "batch_rows": 70, "round_to": venues}
    perturb_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, **arguments)


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
import sys, warnings, geotracs
from benchmarks.large import ARGUMENTS, peak_memory
warnings.simplefilter("ignore", geotracs.PrivacyWarning)  # of a fixed rng
geotracs.perturb_file(sys.argv[1], sys.argv[2], 4, "tracs-d", rng=1, **ARGUMENTS)
print(peak_memory() / 1e9)
"""


def test_more_rows_than_are_read_at_once(tmp_path, monkeypatch):
    """Bit for bit the frame at once, with blocks as they are, in less than 1 GB."""
    from benchmarks.large import ARGUMENTS, make

    monkeypatch.undo()
    make(tmp_path / "in.parquet", AT_ONCE + 10**5)
    command = [sys.executable, "-c", MEMORY, tmp_path / "in.parquet", tmp_path / "out.parquet"]
    peak = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout
    assert float(peak) < 1
    whole = quiet(geotracs.perturb, gpd.read_parquet(tmp_path / "in.parquet"), 4, "tracs-d", rng=1, **ARGUMENTS)
    out = gpd.read_parquet(tmp_path / "out.parquet")
    assert np.array_equal(shapely.get_coordinates(out.geometry.values), shapely.get_coordinates(whole.geometry.values))
