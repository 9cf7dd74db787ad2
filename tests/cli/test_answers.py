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
"""Around the city..."""
SOUTH, NORTH = shapely.box(13.16, -20.33, 13.28, -20.26), shapely.box(13.16, -20.26, 13.28, -20.19)
"""...and its halves."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A city with a release of it, as files."""
    folder = tmp_path_factory.mktemp("answers")
    city = geotracs.datasets.sample_city(people=8, seed=1)
    few = city.tracks[city.tracks.groupby("person").cumcount() % 8 == 0]
    private = few.tracs.perturb(6, domain=BOX, trajectory="person", time="t", keep=[])
    halves = gpd.GeoDataFrame({"district": ["south", "north"]}, geometry=[SOUTH, NORTH], crs=4326)
    for name, frame in {"tracks": few, "private": private, "pois": city.pois, "halves": halves}.items():
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


class TestFlows:
    def test_a_layer_out_is_what_the_function_says(self, ask, run, folder, release, tmp_path):  # noqa: F811
        shared = ["--zones", folder / "halves.gpkg", "--name", "district", "--pairs", "consecutive"]
        said = ask("flows", "out.parquet", *shared)
        zones = files.read(folder / "halves.gpkg").set_index("district")
        same = release.tracs.flows(zones, pairs="consecutive")
        assert_geodataframe_equal(files.read(tmp_path / "out.parquet"), same)
        assert ": 4 rows, from joint, epsilon 6 per location." in said
        assert run("map", tmp_path / "out.parquet", tmp_path / "flows.html", "--offline")[0] == 0
        assert "of 4 flows" in (tmp_path / "flows.html").read_text()
        assert "north" in ask("flows", *shared)

    def test_json_for_each_hour(self, ask, folder):
        arguments = ["--zones", folder / "halves.gpkg", "--pairs", "consecutive", "--when", "12h", "--level", 0.5]
        found = json.loads(ask("flows", *arguments, "--json"))
        assert found["answer"]["level"] == 0.5
        assert len(found["rows"]) == found["count"]
        assert {*found["rows"][0]} >= {"origin", "destination", "when", "share", "count", "low", "high"}

    def test_bad_input(self, run, folder):  # noqa: F811
        for arguments, words in (
            (["--zones", folder / "halves.gpkg", "--name", "ward"], "The zones have no column 'ward'"),
            (["--zones", folder / "pois.gpkg"], "`zones` must be areas"),
            (["--zones", folder / "halves.gpkg", "--pairs", "all"], "`pairs`"),
            ([], "Missing option '--zones'"),
        ):
            code, out, err = run("flows", folder / "private.gpkg", *arguments)
            assert (code, out) == (2, "")
            assert words in err


class TestLengths:
    def test_a_table_or_json(self, ask, release):
        arguments = ["--pairs", "consecutive", "--bins", "0,2000,5000,20000"]
        same = release.tracs.lengths(pairs="consecutive", bins=[0, 2000, 5000, 20000])
        said = ask("lengths", *arguments)
        assert said.splitlines()[0].split() == ["start", "end", "share", "count", "low", "high"]
        assert said.splitlines()[-2].startswith("mean ")
        found = json.loads(ask("lengths", *arguments, "--json"))
        assert [row["share"] for row in found["rows"]] == pytest.approx(same["share"].tolist())
        assert found["median"]["value"] == pytest.approx(same.attrs["median"]["value"])
        assert found["answer"]["kind"] == "lengths"

    def test_bad_input(self, run, folder):  # noqa: F811
        for arguments, words in ((["--bins", "few"], "`--bins` must be"), (["--of", "colour"], "`of` must be")):
            code, _, err = run("lengths", folder / "private.gpkg", *arguments)
            assert code == 2
            assert words in err


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
