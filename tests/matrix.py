"""What must hold with any version of what geotracs needs, and without extras; see `tools.matrix`."""

import json

import pytest
from click.testing import CliRunner

import geotracs
from geotracs import cli, files
from tests.golden import HASHES, cases, in_batches, in_memory
from tests.helpers import quiet

KNOWN = json.loads(HASHES.read_text())
CASES = {name: arguments for name, arguments in cases() if "oriented" not in name}
"""Without those whose rectangle GEOS fits, and fits to other last digits in older versions."""


@pytest.fixture(scope="module")
def city():
    return geotracs.datasets.sample_city(people=4, seed=1)


@pytest.fixture(scope="module")
def private(city):
    return quiet(
        city.tracks.tracs.perturb, 6, domain=city.boundary, trajectory="person", time="t", keep=[], embed=True, rng=1
    )


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_releases_are_the_same(name, lines):
    assert in_memory(lines, CASES[name]) == KNOWN[name]["lines" if lines else "points"]["memory"]


@pytest.mark.parametrize("name", list(CASES)[::10])
def test_releases_in_batches_are_the_same(name, tmp_path):
    assert in_batches(False, CASES[name], tmp_path) == KNOWN[name]["points"]["memory"]


@pytest.mark.parametrize("ending", ["parquet", "gpkg", "csv", "geojson", "fgb"])
def test_files_keep_locations_and_record(private, ending, tmp_path):
    path = quiet(files.write, private, tmp_path / f"private.{ending}")
    again = files.read(path)
    assert again.tracs.guarantee == private.tracs.guarantee
    assert len(again) == len(private)


def test_answers(private):
    shares = quiet(private.tracs.density, geotracs.places.Grid(nx=3, ny=3))
    assert shares["share"].sum() == pytest.approx(1)
    assert (shares["low"] <= shares["high"]).all()
    found = quiet(private.tracs.reconstruct, speed=15, cells=16)
    assert (found["radius"] > 0).all()


def test_comparisons_maps_and_commands(city, private, tmp_path):
    assert quiet(city.tracks.tracs.compare, private)["median"] > 0
    page = quiet(city.tracks.tracs.explore, private, offline=True)
    assert "leaflet" in page.get_root().render().lower()
    files.write(city.tracks, tmp_path / "tracks.gpkg")
    files.write(city.boundary, tmp_path / "city.gpkg")
    names = [str(tmp_path / name) for name in ("tracks.gpkg", "private.parquet", "city.gpkg")]
    ran = quiet(
        CliRunner().invoke, cli.cli, ["perturb", *names[:2], "--eps", "4", "--domain", names[2], "--keep", "none"]
    )
    assert ran.exception is None, ran.exception
    assert files.read(names[1]).tracs.guarantee.epsilon == 4
