import inspect
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

import geotracs
from geotracs import cli, files
from geotracs.cli import ANSWERS, COMMANDS, TRUST, answers, commands, prepare, trust
from tests.conftest import CHICAGO, TOKYO

pytestmark = pytest.mark.slow


@pytest.fixture
def run(capfd, monkeypatch):
    """Run the command line in this process; return exit code, output and error output."""

    def call(*arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            with pytest.raises(SystemExit) as stop:
                cli.main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return stop.value.code, out, err

    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    return call


@pytest.fixture
def source(tracks, tmp_path):
    path = tmp_path / "tracks.gpkg"
    tracks.to_file(path)
    return path


def bbox(bounds):
    return ",".join(str(value) for value in bounds)


def test_perturb_and_compare(run, source, tmp_path):
    out = tmp_path / "private.gpkg"
    columns = ["--trajectory", "person", "--time", "t"]
    code, said, err = run("perturb", source, out, "--eps", 4, "--method", "tracs-d", "--domain", bbox(TOKYO), *columns)
    assert code == 0
    assert "60 locations" in said
    assert "pure 4-local differential privacy" in said
    assert "Columns left out of the release: lat, lon, speed" in err
    private = files.read(out)
    assert list(private.columns) == ["person", "t", "geometry"]
    assert private.tracs.guarantee.method == "tracs-d"
    code, said, _ = run("compare", source, out)
    assert code == 0
    assert "rqp_1000" in said
    code, said, _ = run("compare", source, out, "--by", "person", "--within", 250)
    assert code == 0
    assert "cleo" in said
    assert "rqp_250" in said


def test_compare_with_other_metrics(run, source, tmp_path):
    out, places = tmp_path / "private.gpkg", tmp_path / "places.gpkg"
    columns = ["--trajectory", "person", "--time", "t"]
    run("perturb", source, out, "--eps", 4, "--domain", bbox(TOKYO), *columns)
    gpd.GeoDataFrame(geometry=gpd.points_from_xy([139.65, 139.75], [35.7, 35.7]), crs=4326).to_file(places)
    code, said, err = run("compare", source, out, "--metric", "frechet", "--metric", "hotspots", "--places", places)
    assert (code, err) == (0, "")
    expected = geotracs.compare(
        files.read(source), files.read(out), metrics=["frechet", "hotspots"], places=files.read(places)
    )
    assert said == expected.to_string() + "\n"
    assert [line.split()[0] for line in said.splitlines()] == ["frechet", "hotspots"]
    code, said, err = run("compare", source, out, "--metric", "nope")
    assert code == 2
    assert "`metrics` must be some of ['ae'" in err


def test_gpx_in(run, tmp_path):
    path, out = tmp_path / "ride.gpx", tmp_path / "private.gpkg"
    points = "".join(f'<trkpt lat="35.7" lon="139.6{i}"><time>2026-01-01T10:00:0{i}Z</time></trkpt>' for i in range(3))
    path.write_text(
        f'<gpx version="1.1" creator="me" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>{points}</trkseg></trk></gpx>'
    )
    columns = ["--trajectory", "trajectory", "--time", "time"]
    code, said, _ = run("perturb", path, out, "--eps", 4, "--domain", bbox(TOKYO), *columns)
    assert code == 0
    assert "3 locations" in said
    assert files.read(out)["trajectory"].tolist() == ["ride/0"] * 3
    code, said, _ = run("compare", path, out, "--by", "trajectory", "--metric", "hausdorff")
    assert code == 0
    assert "ride/0" in said


def test_advise(run, tracks, tmp_path):
    code, out, _ = run("advise", "--domain", bbox(TOKYO), "--eps", 4, "--method", "joint", "--method", "tracs-c")
    assert code == 0
    expected = geotracs.advise(TOKYO, 4, methods=["joint", "tracs-c"])
    assert out == expected.round({"mean": 0, "median": 0, "p95": 0, "of_optimum": 2}).to_string() + "\n"
    code, out, _ = run("advise", "--domain", bbox(TOKYO), "--eps", 4, "--method", "joint", "--no-optimum")
    assert code == 0
    assert "NaN" in out
    code, out, _ = run("advise", "--domain", bbox(TOKYO), "--error", 5000, "--method", "joint")
    assert code == 0
    assert "eps" in out
    tracks[["speed", "geometry"]].to_file(tmp_path / "places.gpkg")
    more = ["--places", tmp_path / "places.gpkg", "--prior", tmp_path / "places.gpkg", "--weight", "speed"]
    code, out, _ = run("advise", "--domain", bbox(TOKYO), *more, "--method", "nearest", "--method", "joint")
    assert code == 0
    assert out.index("nearest") < out.index("joint")
    code, _, err = run("advise", "--domain", bbox(TOKYO), "--method", "nearest")
    assert code == 2
    assert "give it with `--places`" in err


def test_optimum(run):
    code, out, _ = run("optimum", "--domain", bbox(TOKYO), "--eps", 1)
    assert code == 0
    assert out == f"No eps-LDP method with epsilon 1 has a mean error below {geotracs.optimum(TOKYO, 1).error:.0f} m.\n"
    assert run("optimum", "--domain", bbox(TOKYO), "--eps", 0)[0] == 2


def test_perturb_with_a_prior(run, source, tmp_path):
    prior = tmp_path / "census.gpkg"
    gpd.GeoDataFrame({"people": [5, 1]}, geometry=gpd.points_from_xy([139.7, 139.6], [35.7, 35.6]), crs=4326).to_file(
        prior
    )
    arguments = ["--eps", 4, "--method", "joint", "--domain", bbox(TOKYO), "--prior", prior, "--weight", "people"]
    assert run("perturb", source, tmp_path / "o.gpkg", *arguments)[0] == 0
    guarantee = files.read(tmp_path / "o.gpkg").tracs.guarantee
    assert guarantee.domain["prior"] == {"kind": "points"}
    assert (
        run("perturb", source, tmp_path / "auto.gpkg", "--eps", 4, "--method", "auto", "--domain", bbox(TOKYO))[0] == 0
    )
    assert files.read(tmp_path / "auto.gpkg").tracs.guarantee.method == "joint"


def test_every_argument_of_perturb_has_an_option():
    given = {"gdf": "source", "rng": "seed", "progress": "source"}  # a bar is shown in terminals
    names = {given.get(name, name) for name in inspect.signature(geotracs.perturb).parameters}
    assert names <= {option.name for option in commands.perturb_command.params}


def test_another_prior_for_the_remap(run, source, tmp_path):
    out, prior = tmp_path / "private.gpkg", tmp_path / "prior.gpkg"
    gpd.GeoDataFrame(geometry=gpd.points_from_xy([139.7, 139.6], [35.7, 35.6]), crs=4326).to_file(prior)
    assert run("perturb", source, out, "--eps", 2, "--domain", bbox(TOKYO), "--remap-prior", prior)[0] == 0
    assert files.read(out).attrs["tracs"]["remap"]["prior"] == "points"


def test_command_line_is_the_function(run, source, tmp_path):
    out = tmp_path / "private.parquet"
    code, _, err = run(
        "perturb", source, out, "--eps", 2, "--method", "tracs-d", "--domain", bbox(TOKYO), "--seed", 5,
        "--keep", "speed", "--option", "start=corner", "--option", "direction_share=0.6",
    )  # fmt: skip
    assert code == 0
    assert "PrivacyWarning" in err
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = geotracs.perturb(
            gpd.read_file(source),
            2,
            "tracs-d",
            domain=TOKYO,
            rng=5,
            keep=["speed"],
            start="corner",
            direction_share=0.6,
        )
    assert files.read(out).geometry.geom_equals(same.geometry).all()
    assert files.read(out).attrs == same.attrs


def test_nothing_kept_and_nothing_said(run, source, tmp_path):
    out = tmp_path / "private.parquet"
    arguments = ["perturb", source, out, "--eps", 2, "--domain", bbox(TOKYO), "--overwrite"]
    assert "Columns left out" in run(*arguments)[2]
    code, _, err = run(*arguments, "--keep", "none")
    assert code == 0
    assert "left out" not in err
    assert files.read(out).columns.tolist() == ["geometry"]


def test_domain_from_a_file(run, source, tmp_path):
    import shapely

    gpd.GeoSeries([shapely.box(*TOKYO)], crs=4326).to_file(tmp_path / "city.geojson")
    code, _, _ = run("perturb", source, tmp_path / "p.geojson", "--eps", 1, "--domain", tmp_path / "city.geojson")
    assert code == 0


def test_rounding_and_fits(run, source, tmp_path):
    rng = np.random.default_rng(0)
    points = gpd.points_from_xy(rng.uniform(139.5, 139.9, 40), rng.uniform(35.55, 35.85, 40))
    gpd.GeoDataFrame({"name": [f"poi {i}" for i in range(40)]}, geometry=points, crs=4326).to_file(
        tmp_path / "pois.gpkg"
    )
    arguments = ["perturb", source, tmp_path / "p.parquet", "--eps", 4, "--domain", bbox(TOKYO), "--fit", "oriented"]
    code, _, _ = run(*arguments, "--round-to", tmp_path / "pois.gpkg", "--join", "name", "--place", "poi")
    assert code == 0
    assert list(files.read(tmp_path / "p.parquet").columns) == ["poi", "name", "geometry"]
    assert run(*arguments, "--overwrite", "--round-to", "grid:1000")[0] == 0
    assert files.read(tmp_path / "p.parquet")["place"].between(0, 45 * 45).all()
    code, _, err = run(*arguments, "--overwrite", "--round-to", "grid:big")
    assert code == 2
    assert "needs a number" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--eps", "0"], "`--eps` must be greater than 0"),
        (["--eps", "four"], "There is no column 'four'"),
        ([], "Missing option '--eps'"),
        (["--eps", "4", "--method", "laplace"], "`--method` must be one of"),
        (["--eps", "4", "--domain", "nowhere.gpkg"], "must be a file, file:column=value"),
        (["--eps", "4", "--domain", "10,10,11,11"], "60 of 60 locations lie outside"),
        (["--eps", "4", "--trajectory", "nope"], "There is no column 'nope'"),
        (["--eps", "4", "--option", "corner"], "must be NAME=VALUE"),
        (["--eps", "4", "--colour", "red"], "No such option"),
        (["--eps", "4", "--layer", "nope"], "has no layer 'nope'"),
        (["--eps", "4", "--option", "eps=5"], "'eps' is not an option of a method"),
        (["--eps", "4", "--round-to", "grid:-5"], "`--round-to grid:METRES` needs a number greater than 0"),
        (["--eps", "4", "--crs", "EPSG:4326"], "`--crs` must be a planar"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, source, tmp_path, arguments, says):
    if "--domain" not in arguments:
        arguments = [*arguments, "--domain", bbox(TOKYO)]
    code, out, err = run("perturb", source, tmp_path / "out.gpkg", *arguments)
    lines = [line for line in err.splitlines() if "Warning" not in line]
    assert code == 2
    assert out == ""
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    assert says in lines[0]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["tracks.gpkg"]


def test_a_folder_of_files(run, tmp_path, tracks):
    (tmp_path / "in").mkdir()
    tracks.to_parquet(tmp_path / "in" / "part.0.parquet")
    code, out, _ = run("perturb", tmp_path / "in", tmp_path / "out", "--eps", 4, "--domain", bbox(TOKYO))
    assert (code, "60 locations" in out) == (0, True)
    assert len(files.read(tmp_path / "out")) == 60


def test_never_overwrites_unasked(run, source, tmp_path):
    out = tmp_path / "out.gpkg"
    out.write_text("mine")
    arguments = ["perturb", source, out, "--eps", 4, "--domain", bbox(TOKYO)]
    code, _, err = run(*arguments)
    assert (code, out.read_text()) == (2, "mine")
    assert "--overwrite" in err
    assert run(*arguments, "--overwrite")[0] == 0
    assert len(files.read(out)) == 60
    code, _, err = run("perturb", source, source, "--eps", 4, "--domain", bbox(TOKYO), "--overwrite")
    assert code == 2
    assert "OUT is IN" in err


def test_options_stand_for_arguments_that_messages_name():
    """An entry whose words no message says any more would translate nothing, and no other names an option."""
    modules = [path for path in Path(geotracs.__file__).parent.rglob("*.py") if path.name != "photograph.py"]
    programs = ("cli", "experiments")  # they have options of their own, as a browser has
    source = "".join(path.read_text() for path in modules if path.parent.name not in programs)
    assert [argument for argument in cli.OPTIONS if argument not in source] == []
    assert re.findall(r"--[a-z{]\S*", source) == []


def test_private_values_of_a_bad_csv_are_not_printed(run, tmp_path):
    (tmp_path / "bad.csv").write_text("lon,lat,t\n139.7123456,35.7123456,noon\n139.7654321,35.7654321,2026-01-01\n")
    code, _, err = run(
        "perturb",
        tmp_path / "bad.csv",
        tmp_path / "o.csv",
        "--eps",
        1,
        "--domain",
        bbox(TOKYO),
        "--time",
        "t",
    )
    assert code == 2
    assert "7123456" not in err
    (tmp_path / "bad.csv").write_text("lon,lat\n139.7123456east,35.7123456\n")
    code, _, err = run("perturb", tmp_path / "bad.csv", tmp_path / "o.csv", "--eps", 1, "--domain", bbox(TOKYO))
    assert code == 2
    assert "7123456" not in err


@pytest.mark.parametrize("command", [[], ["perturb"], ["advise"], ["optimum"], ["compare"], ["map"], ["demo"]])
def test_help(run, command):
    code, out, _ = run(*command, "--help")
    assert code == 0
    assert "Usage: geotracs" in out


def test_several_layers(run, tracks, tmp_path):
    for layer in ("roads", "rails"):
        tracks.to_file(tmp_path / "two.gpkg", layer=layer)
    arguments = ["--eps", 4, "--domain", bbox(TOKYO)]
    code, _, err = run("perturb", tmp_path / "two.gpkg", tmp_path / "o.gpkg", *arguments)
    assert code == 2
    assert "several layers: roads, rails" in err
    assert run("perturb", f"{tmp_path / 'two.gpkg'}|layername=rails", tmp_path / "o.gpkg", *arguments)[0] == 0


def test_time_zones_are_no_trouble(run, tracks, tmp_path):
    tracks.assign(t=tracks["t"].dt.tz_localize("Asia/Tokyo")).to_file(tmp_path / "zoned.gpkg")
    code, _, err = run(
        "perturb", tmp_path / "zoned.gpkg", tmp_path / "o.gpkg", "--eps", 4, "--domain", bbox(TOKYO), "--time", "t"
    )
    assert code == 0
    assert "GDAL" not in err


class TestMap:
    @pytest.fixture
    def files(self, run, tracks, tmp_path):
        tracks.to_file(tmp_path / "in.gpkg")
        run("perturb", tmp_path / "in.gpkg", tmp_path / "out.gpkg", "--eps", 4, "--domain", bbox(TOKYO),
            "--trajectory", "person", "--time", "t")  # fmt: skip
        return tmp_path / "in.gpkg", tmp_path / "out.gpkg"

    def test_before_and_after(self, run, files, tmp_path):
        for view in ("overlay", "side-by-side", "time"):
            code, out, _ = run("map", *files, tmp_path / f"{view}.html", "--view", view, "--offline")
            assert code == 0
            assert out == f"Written: {tmp_path / f'{view}.html'}\n"
            page = (tmp_path / f"{view}.html").read_text()
            assert "keep it confidential" in page
            assert "joint, epsilon 4 per location" in page
            assert "3 trajectories, 60 locations" in page
            assert "https://cdn" not in page

    def test_a_release_alone_is_not_confidential(self, run, files, tracks, tmp_path):
        assert run("map", files[1], tmp_path / "publish.html", "--no-tiles")[0] == 0
        page = (tmp_path / "publish.html").read_text()
        assert "confidential" not in page
        assert "openstreetmap" not in page
        assert str(round(tracks.geometry.x.iloc[0], 6)) not in page

    def test_bad_input_writes_nothing(self, run, files, tmp_path):
        target = tmp_path / "map.html"
        assert "IN, PERTURBED and OUT" in run("map", target)[2]
        assert ".html" in run("map", *files, tmp_path / "map.gpkg")[2]
        assert "--overwrite" in run("map", *files, files[0].with_name("in.gpkg"))[2]
        code, _, err = run("map", *files, target, "--trajectory", "nobody")
        assert (code, "nobody" in err) == (2, True)
        assert not target.exists()


def test_demo(run, tmp_path):
    code, out, _ = run("demo", "--out", tmp_path / "demo", "--people", 4)
    assert code == 0
    assert "tracs-c" in out
    assert "pure 4-local differential privacy" in out
    assert sorted(p.name for p in (tmp_path / "demo").iterdir()) == [
        "city.gpkg",
        "joint.gpkg",
        "map.html",
        "tracks.gpkg",
        "tracs-c.gpkg",
    ]
    page = (tmp_path / "demo" / "map.html").read_text()
    assert "keep it confidential" in page
    assert "joint, epsilon 4 per location" in page
    (tmp_path / "file").write_text("")
    assert run("demo", "--out", tmp_path / "file")[0] == 2
    assert len(gpd.read_file(tmp_path / "demo" / "joint.gpkg")) > 100
    code, _, err = run("demo", "--out", tmp_path / "demo", "--people", 4)
    assert code == 2
    assert "--overwrite" in err


@pytest.mark.parametrize(("city", "bounds"), [("tky", TOKYO), ("chi", CHICAGO)])
@pytest.mark.parametrize("method", ["tracs-c", "tracs-d"])
def test_real_checkins_by_user_and_time(run, checkins, tmp_path, city, bounds, method):
    path, out = checkins(city), tmp_path / "private.parquet"
    code, _, _ = run(
        "perturb", path, out, "--eps", 6, "--method", method, "--domain", bbox(bounds),
        "--trajectory", "user", "--time", "time", "--outside", "clip",
    )  # fmt: skip
    assert code == 0
    private, table = files.read(out), pd.read_csv(path)
    assert len(private) == len(table)
    assert list(private.columns) == ["user", "time", "geometry"]
    assert private.tracs.guarantee.longest == table["user"].value_counts().max()
    frame = files.read(path)
    by = frame.tracs.compare(private, by="trajectory")
    assert len(by) == table["user"].nunique()
    overall = frame.tracs.compare(private)
    # Uniform noise over either city is about 20 km off.
    assert 2000 < overall["ae"] < 12_000
    again = frame.tracs.perturb(6, method, domain=bounds, trajectory="user", time="time", outside="clip", keep=[])
    assert frame.tracs.compare(again)["ae"] == pytest.approx(overall["ae"], rel=0.05)


def test_a_killed_run_leaves_no_file_under_the_name(tmp_path):
    n = 150_000
    rng = np.random.default_rng(0)
    pd.DataFrame({"lon": rng.uniform(139.5, 139.9, n), "lat": rng.uniform(35.55, 35.85, n)}).to_csv(tmp_path / "in.csv")
    out = tmp_path / "out.geojson"
    command = [
        sys.executable,
        "-m",
        "geotracs",
        "perturb",
        tmp_path / "in.csv",
        out,
        "--eps",
        "4",
        "--domain",
        bbox(TOKYO),
    ]
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not list(tmp_path.glob(".out.geojson.*/out.geojson")):
        time.sleep(0.01)
    assert process.poll() is None, "it was done before it could be killed"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not out.exists()


def test_the_list_of_commands_says_what_they_say():
    for name, said in COMMANDS.items():
        module = prepare if name == "prepare" else answers if name in ANSWERS else trust if name in TRUST else commands
        assert getattr(module, f"{name}_command").help.splitlines()[0] == said


def test_epsilons_of_a_column_and_uneven_shares(run, source, tmp_path):
    tracks = files.read(source)
    tracks["budget"] = np.where(tracks["person"] == tracks["person"].iloc[0], 2.0, 6.0)
    tracks.to_file(tmp_path / "budgets.gpkg")
    out = tmp_path / "private.gpkg"
    shared = ["--domain", bbox(TOKYO), "--trajectory", "person", "--time", "t", "--keep", "none", "--overwrite"]
    code, said, _ = run("perturb", tmp_path / "budgets.gpkg", out, "--eps", "budget", *shared)
    assert code == 0
    assert "from 2 to 6 (the public column 'budget')" in said
    assert list(files.read(out).columns) == ["person", "t", "budget", "geometry"]
    code, said, _ = run("perturb", source, out, "--eps", 9, "--unit", "trajectory", "--allocation", "3,1,3", *shared)
    assert code == 0
    assert "by the weights (3, 1, 3)" in said
    moments = ["--unit", "person", "--person", "person", "--fill", "interpolate", *shared]
    code, said, _ = run("perturb", source, out, "--eps", 9, "--every", "auto", "--speed", 15, *moments)
    assert code == 0
    assert "filled in from the reports (interpolate) and no observations" in said
    assert list(files.read(out).columns) == ["person", "t", "filled", "geometry"]
    code, _, err = run("perturb", source, out, "--eps", 9, "--at-most", 0, *moments)
    assert code != 0
    assert "`--at-most` must be a whole number" in err
    code, _, err = run("perturb", source, out, "--eps", 9, "--every", "auto", *shared)
    assert "each moment costs an epsilon of its own: use `--every` or `--at-most`" in err
    for wrong, words in (("nan", "`--eps` must be greater than 0"), ("bugdet", "no column 'bugdet'")):
        code, _, err = run("perturb", source, out, "--eps", wrong, *shared)
        assert code != 0
        assert words in err
