import geopandas as gpd
import pytest
import shapely

from geotracs import files
from geotracs.geo.prepare.rows import marks
from tests.geo.prepare.frames import walk
from tests.test_cli import run  # noqa: F401  (a fixture)


@pytest.fixture
def source(tmp_path):
    files.write(walk(30), tmp_path / "tracks.gpkg")
    return tmp_path / "tracks.gpkg"


def test_all_steps_in_their_order(run, source, tmp_path):  # noqa: F811
    homes = gpd.GeoDataFrame({"person": ["a"]}, geometry=[shapely.Point(1500, 0)], crs=32654)
    files.write(homes, tmp_path / "homes.gpkg")
    given = ["--trajectory", "person", "--time", "t", "--trips", "1h", "--zones", tmp_path / "homes.gpkg"]
    given += ["--radius", 100, "--person", "person", "--trim-start", "2min", "--trim-end", 60, "--every", "2min"]
    code, out, _ = run("prepare", source, tmp_path / "ready.gpkg", *given, "--coarsen-time", "15min")
    assert code == 0
    assert "of 60 rows, with original locations: keep them confidential" in out
    ready = files.read(tmp_path / "ready.gpkg")
    assert [mark["step"] for mark in marks(ready)] == ["trips", "zones", "trim", "thin", "coarsen_time"]
    assert set(ready["t"].dt.minute) <= {0, 15, 30, 45}
    assert 15 not in set(ready.loc[ready["person"] == "a", "step"])


def test_rows_metres_and_stops(run, source, tmp_path):  # noqa: F811
    columns = ["--trajectory", "person", "--time", "t"]
    code, out, _ = run(
        "prepare", source, tmp_path / "a.gpkg", *columns, "--trim-by", "fixes", "--trim-start", 3, "--fixes", 9
    )
    assert (code, "6 of 60 rows" in out) == (0, True)
    assert run("prepare", source, tmp_path / "b.gpkg", *columns, "--metres", 1000)[0] == 0
    assert run("prepare", source, tmp_path / "c.gpkg", *columns, "--stops", "5min", "--diameter", 1000)[0] == 0
    assert marks(files.read(tmp_path / "c.gpkg"))[0]["step"] == "stops"


def test_a_file_that_cannot_hold_the_mark_has_it_beside(run, source, tmp_path):  # noqa: F811
    ready, out = tmp_path / "ready.geojson", tmp_path / "private.geojson"
    assert run("prepare", source, ready, "--metres", 200, "--time", "t", "--trajectory", "person")[0] == 0
    assert marks(files.read(ready))[0]["step"] == "thin"
    given = ["--domain=-5000,-5000,5000,5000", "--input-crs", 32654, "--keep", "none"]
    code, said, err = run("perturb", ready, out, "--eps", 4, *given, "--batch-rows", 5)
    assert code == 0, err
    assert "prepared by where somebody was" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "Nothing is asked for"),
        (["--stop", "5min"], "give it with `--trips`"),
        (["--radius", 5], "give them with `--zones`"),
        (["--trips", "5min"], "`--time` must name the column of times"),
        (["--trim-start", "5min"], "`--time` must name the column"),
        (["--fixes", 0], "`--fixes` must be a whole number"),
    ],
)
def test_errors_name_options(run, source, tmp_path, options, words):  # noqa: F811
    code, _, err = run("prepare", source, tmp_path / "ready.gpkg", *options)
    assert (code, words in err) == (2, True), err
    assert not (tmp_path / "ready.gpkg").exists()
