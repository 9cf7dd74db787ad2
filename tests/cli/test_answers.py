"""Answers on the command line: what the functions say, as layers and as JSON."""

import json

import geopandas as gpd
import pytest
import shapely
from geopandas.testing import assert_geodataframe_equal

import geotracs
from geotracs import files
from tests.test_cli import run  # noqa: F401  (a fixture)

pytestmark = pytest.mark.slow

BOX = (13.16, -20.33, 13.28, -20.19)
"""Around the city."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A city with a release of it, as files."""
    folder = tmp_path_factory.mktemp("answers")
    city = geotracs.datasets.sample_city(people=8, seed=1)
    few = city.tracks[city.tracks.groupby("person").cumcount() % 8 == 0]
    private = few.tracs.perturb(6, domain=BOX, trajectory="person", time="t", keep=[])
    for name, frame in {"tracks": few, "private": private, "pois": city.pois}.items():
        files.write(frame, folder / f"{name}.gpkg")
    return folder


@pytest.fixture
def release(folder):
    return files.read(folder / "private.gpkg")


@pytest.fixture
def ask(run, folder, tmp_path):  # noqa: F811
    """Ask about the release; return what is printed."""

    def call(command, *arguments):
        names = [tmp_path / word if isinstance(word, str) and word.startswith("out.") else word for word in arguments]
        code, said, err = run(command, folder / "private.gpkg", *names)
        assert code == 0, err
        return said

    return call


class TestReconstruct:
    def test_a_layer_out_is_what_the_function_says(self, ask, release, tmp_path):
        said = ask("reconstruct", "out.parquet", "--speed", 12, "--cells", 16, "--motion", "modes")
        same = release.tracs.reconstruct(speed=12, cells=16, motion="modes")
        assert_geodataframe_equal(files.read(tmp_path / "out.parquet"), same)
        assert files.read(tmp_path / "out.parquet").attrs == same.attrs
        assert said.startswith(f"{tmp_path / 'out.parquet'}: {len(release)} rows, from joint, epsilon 6 per location.")
        assert "no epsilon was spent" in said

    def test_json_says_how_it_was_made(self, ask, folder):
        arguments = ["--prior", folder / "pois.gpkg", "--places", folder / "pois.gpkg", "--level", 0.5, "--stay", 0.2]
        said = ask("reconstruct", "out.parquet", "--speed", 12, "--cells", 16, "--json", *arguments)
        found = json.loads(said)
        assert found["answer"]["level"] == 0.5
        assert found["answer"]["stay"] == 0.2
        assert found["release"] == {"method": "joint", "epsilon": 6.0, "unit": "location"}
        assert "rows" not in found, "they are in the file"

    def test_rows_are_filled_in(self, ask, release, tmp_path):
        times = f"{release['t'].iloc[3]},{release['t'].iloc[4]}"
        for name, at in (("out.geojson", "1h"), ("out.gpkg", times)):
            ask("reconstruct", name, "--speed", 12, "--cells", 16, "--prior", "none", "--at", at)
            assert files.read(tmp_path / name)["filled"].any()

    def test_a_map_of_it_and_nothing_is_estimated_from_it_again(self, ask, run, folder, tmp_path):  # noqa: F811
        ask("reconstruct", "out.gpkg", "--speed", 12, "--cells", 16)
        code, _, err = run("map", tmp_path / "out.gpkg", tmp_path / "safe.html", "--no-tiles")
        assert (code, err) == (0, "")
        assert "confidential" not in (tmp_path / "safe.html").read_text()
        sources = [tmp_path / "out.gpkg", folder / "private.gpkg", tmp_path / "secret.html"]
        assert run("map", *sources, "--truth", folder / "tracks.gpkg", "--no-tiles")[0] == 0
        page = (tmp_path / "secret.html").read_text()
        assert "keep it confidential" in page
        assert "median radius" in page
        code, _, err = run("reconstruct", tmp_path / "out.gpkg", tmp_path / "again.gpkg", "--speed", 12)
        assert code == 2
        assert "is not the release itself" in err


class TestBadInput:
    def test_a_file_without_a_record(self, run, folder, release, tmp_path):  # noqa: F811
        files.write(release, tmp_path / "private.geojson")
        for source in (tmp_path / "private.geojson", folder / "tracks.gpkg"):
            code, out, err = run("reconstruct", source, tmp_path / "out.gpkg", "--speed", 12)
            assert (code, out) == (2, "")
            assert "holds no record of a perturbation" in err
            assert "GeoPackage or GeoParquet" in err

    def test_the_region_is_needed_unless_it_is_embedded(self, run, folder, tmp_path):  # noqa: F811
        corners = [(BOX[0], BOX[1]), (BOX[2], BOX[1]), (BOX[2], BOX[3])]
        files.write(gpd.GeoDataFrame(geometry=[shapely.Polygon(corners)], crs=4326), tmp_path / "half.gpkg")
        private, out = tmp_path / "private.parquet", tmp_path / "out.gpkg"
        shared = ["--eps", 6, "--domain", tmp_path / "half.gpkg", "--outside", "clip", "--time", "t", "--overwrite"]
        assert run("perturb", folder / "tracks.gpkg", private, *shared)[0] == 0
        code, _, err = run("reconstruct", private, out, "--speed", 12)
        assert code == 2
        assert "`domain`" in err
        assert run("perturb", folder / "tracks.gpkg", private, *shared, "--embed")[0] == 0
        assert run("reconstruct", private, out, "--speed", 12, "--cells", 8)[0] == 0

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["--speed", "0"], "`speed` must be"),
            ([], "Missing option '--speed'"),
            (["--speed", "12", "--prior", "nowhere.gpkg"], "There is no file 'nowhere.gpkg'"),
            (["--speed", "12", "--domain", "1,2,3,4"], "domain"),
            (["--speed", "12", "--at", "soon"], "`--at` must be"),
            (["--speed", "12", "--layer", "nope"], "has no layer 'nope'"),
        ],
    )
    def test_bad_input_is_one_line_and_exit_code_2(self, run, folder, tmp_path, arguments, says):  # noqa: F811
        code, out, err = run("reconstruct", folder / "private.gpkg", tmp_path / "out.gpkg", *arguments)
        assert (code, out) == (2, "")
        assert says in err
        assert len(err.splitlines()) == 1
        assert not (tmp_path / "out.gpkg").exists()

    def test_nothing_is_overwritten_unasked(self, run, folder, tmp_path):  # noqa: F811
        (tmp_path / "out.gpkg").write_text("mine")
        code, _, err = run("reconstruct", folder / "private.gpkg", tmp_path / "out.gpkg", "--speed", 12)
        assert (code, (tmp_path / "out.gpkg").read_text()) == (2, "mine")
        assert "--overwrite" in err
