"""Answers on the command line: what the functions say, as layers and as JSON."""

import json
import re

import geopandas as gpd
import numpy as np
import pytest
import shapely
from geopandas.testing import assert_geodataframe_equal
from geotracs.places import Grid

import geotracs
from geotracs import files
from tests.helpers import quiet
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


class TestDensity:
    def test_a_layer_out_is_what_the_function_says(self, ask, run, release, tmp_path):  # noqa: F811
        said = ask("density", "out.parquet", "--cells", 3, 2, "--level", 0.8)
        same = quiet(release.tracs.density, Grid(nx=3, ny=2), level=0.8)
        found = files.read(tmp_path / "out.parquet")
        assert_geodataframe_equal(found, same.reset_index())
        assert found.attrs["tracs"]["answer"] == same.attrs["tracs"]["answer"]
        assert ": 6 rows, from joint, epsilon 6 per location." in said
        assert "costs no epsilon" in said
        assert run("map", tmp_path / "out.parquet", tmp_path / "density.html", "--offline")[0] == 0

    @pytest.mark.parametrize("ending", ["gpkg", "geojson", "shp", "fgb"])
    def test_any_format_that_perturb_writes(self, ask, folder, tmp_path, ending):
        ask("density", f"out.{ending}", "--zones", folder / "halves.gpkg")
        rows = files.read(tmp_path / f"out.{ending}")
        assert sorted(rows["district"]) == ["north", "south"]
        assert rows["share"].sum() == pytest.approx(1, abs=0.01)

    def test_json_and_a_table(self, ask, folder, release):
        arguments = ["--zones", folder / "halves.gpkg", "--prior", folder / "pois.gpkg"]
        same = quiet(release.tracs.density, zones=files.read(folder / "halves.gpkg"), prior=files.read(arguments[-1]))
        found = json.loads(ask("density", *arguments, "--json"))
        assert [row["share"] for row in found["rows"]] == pytest.approx(same["share"].tolist())
        assert found["answer"]["over"] == "zones"
        assert ask("density", *arguments).splitlines()[0].split()[:2] == ["district", "share"]

    def test_made_up_reports(self, ask, release):
        found = json.loads(ask("density", "--cells", 3, 2, "--robust", 0.02, "--speed", 15, "--json"))
        same = quiet(release.tracs.density, Grid(nx=3, ny=2), robust=0.02, speed=15)
        assert [row["high"] for row in found["rows"]] == pytest.approx(same["high"].tolist())
        assert [row["suspicious"] for row in found["rows"]] == same["suspicious"].tolist()
        assert found["answer"]["too_fast"] == same.attrs["tracs"]["answer"]["too_fast"]

    def test_a_file_is_read_in_one_pass_where_that_is_enough(self, run, folder, tmp_path, monkeypatch):  # noqa: F811
        columns = ["--domain", ",".join(map(str, BOX)), "--trajectory", "person", "--time", "t"]
        for name, more in (("steps", ["--method", "tracs-d"]), ("shared", ["--unit", "trajectory"])):
            private = tmp_path / f"{name}.gpkg"
            assert run("perturb", folder / "tracks.gpkg", private, "--eps", 50, *columns, *more)[0] == 0
            assert run("density", private, "--cells", 2, 1, "--json")[0] == 0
        monkeypatch.setattr(files, "read", None)
        assert run("density", folder / "private.gpkg", "--cells", 2, 1)[0] == 0

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ([], "Give one of `--cells`, `--zones` and `--places`, got none"),
            (["--cells", "3"], "Option '--cells' requires 2 arguments"),
            (["--cells", "0", "3"], "whole numbers of at least 1"),
            (["--cells", "2", "2", "--level", "2"], "`--level` must be a number between 0 and 1"),
            (["--cells", "2", "2", "--weight", "n"], "`--weight` is a column of `--prior`"),
            (["--cells", "2", "2", "--domain", "1,2,3,4"], "`--domain` is not the region"),
            (["--zones", "nowhere.gpkg"], "There is no file 'nowhere.gpkg'"),
        ],
    )
    def test_bad_input(self, run, folder, tmp_path, arguments, says):  # noqa: F811
        code, out, err = run("density", folder / "private.gpkg", tmp_path / "out.gpkg", *arguments)
        assert (code, out) == (2, "")
        assert says in err
        assert not (tmp_path / "out.gpkg").exists()

    def test_what_cannot_be_told_is_said_with_options(self, run, folder):  # noqa: F811
        code, _, err = run("density", folder / "private.gpkg", "--cells", 60, 60)
        assert code == 0
        assert re.search(r"can carry cells of about .*: --cells \d+ \d+", err)

    def test_what_is_no_release(self, run, folder, tmp_path):  # noqa: F811
        release = files.read(folder / "private.gpkg")
        moved = release.set_geometry(release.translate(0.001, 0))
        moved.attrs = release.attrs
        files.write(moved, tmp_path / "moved.parquet")
        code, _, err = run("density", tmp_path / "moved.parquet", "--cells", 2, 2)
        assert code == 2
        assert "not those that its record describes" in err
        assert run("density", folder / "private.gpkg", tmp_path / "out.gpkg", "--cells", 2, 2)[0] == 0
        code, _, err = run("density", tmp_path / "out.gpkg", "--cells", 2, 2)
        assert code == 2
        assert "is not the release itself" in err


class TestPopularity:
    def test_a_layer_out_is_what_the_function_says(self, ask, run, folder, release, tmp_path):  # noqa: F811
        some = files.read(folder / "pois.gpkg").iloc[::30]
        files.write(some, tmp_path / "some.gpkg")
        ask("popularity", "out.parquet", "--places", tmp_path / "some.gpkg")
        same = quiet(release.tracs.popularity, files.read(tmp_path / "some.gpkg"))
        found = files.read(tmp_path / "out.parquet")
        assert found["share"].tolist() == pytest.approx(same["share"].tolist())
        assert found["group"].tolist() == same["group"].tolist()
        ask("popularity", "out.csv", "--places", tmp_path / "some.gpkg")
        assert files.read(tmp_path / "out.csv")["best"].tolist() == same["best"].tolist()
        said = json.loads(ask("popularity", "--places", tmp_path / "some.gpkg", "--json"))
        assert said["answer"]["kind"] == "popularity"
        assert {"best", "worst", "group"} <= {*said["rows"][0]}
        for arguments, words in (([], "Missing option '--places'"), (["--places", folder / "halves.gpkg"], "points")):
            code, _, err = run("popularity", folder / "private.gpkg", *arguments)
            assert code == 2
            assert words in err


class TestSynthesize:
    @pytest.fixture
    def trips(self, folder, tmp_path):
        """A release of pairs: the first and the last location of 120 ways."""
        city = geotracs.datasets.sample_city(people=20, seed=2)
        pairs = city.tracks.iloc[np.arange(240) * len(city.tracks) // 240].assign(trip=np.arange(240) // 2)
        columns = {"trajectory": "trip", "unit": "trajectory", "keep": []}
        files.write(quiet(pairs.tracs.perturb, 12, domain=BOX, **columns), tmp_path / "trips.gpkg")
        return tmp_path / "trips.gpkg"

    def test_a_layer_out_is_what_the_function_says(self, run, folder, trips, tmp_path):  # noqa: F811
        shared = ["--n", 50, "--seed", 3, "--cells", 4]
        code, said, err = run("synthesize", trips, tmp_path / "out.parquet", *shared)
        assert code == 0, err
        same = files.read(trips).tracs.synthesize(50, seed=3, cells=4)
        assert_geodataframe_equal(files.read(tmp_path / "out.parquet"), same)
        assert ": 50 rows" in said
        assert "synthetic" in said
        said = run("synthesize", trips, tmp_path / "out.gpkg", *shared, "--places", folder / "pois.gpkg", "--json")[1]
        assert json.loads(said)["answer"]["kind"] == "synthesize"
        assert files.read(tmp_path / "out.gpkg").attrs["tracs"]["answer"]["kind"] == "synthesize"

    def test_bad_input(self, run, folder, trips, tmp_path):  # noqa: F811
        both = ["--network", folder / "halves.gpkg", "--places", folder / "pois.gpkg"]
        for arguments, words in (
            (["--n", "0"], "`--n` must be"),
            (["--cells", "99"], "`--cells` must be"),
            (both, "Give `--network` or `--places`, not both"),
            (["--network", folder / "halves.gpkg"], "`--network` must hold LineStrings"),
        ):
            code, out, err = run("synthesize", trips, tmp_path / "out.gpkg", *arguments)
            assert (code, out) == (2, "")
            assert words in err
        code, _, err = run("synthesize", folder / "private.gpkg", tmp_path / "out.gpkg")
        assert code == 2
        assert "at least 100 trajectories" in err


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
            (["--zones", folder / "pois.gpkg"], "`--zones` must be areas"),
            (["--zones", folder / "halves.gpkg", "--pairs", "all"], "`--pairs`"),
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
        for arguments, words in ((["--bins", "few"], "`--bins` must be"), (["--of", "colour"], "`--of` must be")):
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
        assert found["release"].items() >= {"method": "joint", "epsilon": 6.0, "unit": "location"}.items()
        assert "rows" not in found, "they are in the file"

    def test_lines_have_no_times_but_an_interval(self, run, folder, tmp_path):  # noqa: F811
        tracks = files.read(folder / "tracks.gpkg").sort_values(["person", "t"])
        groups = tracks.groupby("person").geometry
        lines = groups.apply(lambda each: shapely.LineString(list(each)))
        lines = gpd.GeoDataFrame(geometry=lines.values, crs=tracks.crs)
        files.write(lines, tmp_path / "lines.gpkg")
        box = ",".join(map(str, BOX))
        assert run("perturb", tmp_path / "lines.gpkg", tmp_path / "private.gpkg", "--eps", 6, "--domain", box)[0] == 0
        arguments = ["reconstruct", tmp_path / "private.gpkg", tmp_path / "out.gpkg", "--speed", 12, "--cells", 16]
        code, _, said = run(*arguments)
        assert code != 0
        assert "interval" in said
        assert run(*arguments, "--interval", 600)[0] == 0
        assert (files.read(tmp_path / "out.gpkg").geom_type == "LineString").all()

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
        assert "known to within" in page
        code, _, err = run("reconstruct", tmp_path / "out.gpkg", tmp_path / "again.gpkg", "--speed", 12)
        assert code == 2
        assert "is not the release itself" in err


class TestBadInput:
    def test_a_file_without_a_record(self, run, folder, release, tmp_path):  # noqa: F811
        files.write(release, tmp_path / "private.geojson")
        (tmp_path / "private.geojson.tracs.json").unlink()
        for source in (tmp_path / "private.geojson", folder / "tracks.gpkg"):
            code, out, err = run("reconstruct", source, tmp_path / "out.gpkg", "--speed", 12)
            assert (code, out) == (2, "")
            assert "holds no record of a perturbation" in err
            assert "with the .tracs.json beside it" in err

    def test_the_region_is_needed_unless_it_is_embedded(self, run, folder, tmp_path):  # noqa: F811
        corners = [(BOX[0], BOX[1]), (BOX[2], BOX[1]), (BOX[2], BOX[3])]
        files.write(gpd.GeoDataFrame(geometry=[shapely.Polygon(corners)], crs=4326), tmp_path / "half.gpkg")
        private, out = tmp_path / "private.parquet", tmp_path / "out.gpkg"
        shared = ["--eps", 6, "--domain", tmp_path / "half.gpkg", "--outside", "clip", "--time", "t", "--overwrite"]
        assert run("perturb", folder / "tracks.gpkg", private, *shared)[0] == 0
        code, _, err = run("reconstruct", private, out, "--speed", 12)
        assert code == 2
        assert "`--domain`" in err
        assert run("perturb", folder / "tracks.gpkg", private, *shared, "--embed")[0] == 0
        assert run("reconstruct", private, out, "--speed", 12, "--cells", 8)[0] == 0

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["--speed", "0"], "`--speed` must be"),
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
