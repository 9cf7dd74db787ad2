"""What lies beside a file of a name outlives the file, and holds the locations of the former one."""

import os
import shutil
import sqlite3

import geopandas as gpd
import numpy as np
import pyogrio
import pytest

import geotracs
from geotracs import InputError, files
from tests.conftest import TOKYO

pytestmark = pytest.mark.slow


@pytest.fixture
def private(tracks):
    return geotracs.perturb(tracks, 4, domain=TOKYO, trajectory="person", time="t", keep=[]).reset_index(drop=True)


@pytest.fixture
def crashed(tracks, tmp_path):
    """A GeoPackage of the originals, as a program that crashed left it: its rows are in its write-ahead log."""
    folder, copy = tmp_path / "live", tmp_path / "out.gpkg"
    folder.mkdir()
    originals = tracks[["person", "geometry"]]
    originals.to_file(folder / "originals.gpkg")
    originals.iloc[:1].to_file(folder / "out.gpkg")
    live = sqlite3.connect(folder / "out.gpkg", isolation_level=None)
    live.execute("ATTACH ? AS theirs", [str(folder / "originals.gpkg")])
    live.execute("PRAGMA main.journal_mode = WAL")
    for (trigger,) in live.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'out'"
    ).fetchall():
        live.execute(f'DROP TRIGGER "{trigger}"')  # they call functions of GDAL's
    live.execute("INSERT INTO out (geom, person) SELECT geom, person FROM theirs.originals")
    for ending in ("", "-wal", "-shm"):
        shutil.copy(folder / f"out.gpkg{ending}", f"{copy}{ending}")
    live.close()
    return copy


def test_a_log_really_is_written_over_another_file(private, crashed, tracks):
    """The attack itself, so that the tests below test something."""
    private[["person", "geometry"]].to_file(crashed.with_name("fresh.gpkg"), layer="out")
    os.replace(crashed.with_name("fresh.gpkg"), crashed)
    assert np.isin(gpd.read_file(crashed).geometry.x, tracks.geometry.x).mean() > 0.9


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("journal", ["-wal", "-shm", "-journal"])
def test_journals_beside_a_database_are_refused(private, tmp_path, overwrite, journal):
    path = tmp_path / "out.gpkg"
    if overwrite:
        files.write(private, path)
    (tmp_path / f"out.gpkg{journal}").write_bytes(b"rows of a former file")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(InputError, match=rf"'out.gpkg{journal}' stands beside .* Close the program"):
        files.write(private, path, overwrite=overwrite)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_a_journal_that_is_a_link_to_nothing_is_refused(private, tmp_path):
    (tmp_path / "out.gpkg-wal").symlink_to(tmp_path / "later")
    with pytest.raises(InputError, match=r"'out\.gpkg-wal' stands beside"):
        files.write(private, tmp_path / "out.gpkg")


def test_a_release_is_not_written_where_a_program_crashed(private, crashed, tmp_path):
    private.to_parquet(tmp_path / "in.parquet")
    for name in ([], ["out.gpkg"]):
        for gone in name:
            (tmp_path / gone).unlink()
        with pytest.raises(InputError, match=r"out.gpkg-shm|out.gpkg-wal"):
            geotracs.perturb_file(
                tmp_path / "in.parquet", crashed, 4, domain=TOKYO, keep=[], overwrite=True, batch_rows=10
            )


def test_journals_that_appear_while_it_is_written_are_seen(private, tmp_path):
    path = tmp_path / "out.gpkg"

    def write():
        with files.complete(path) as unfinished:
            private.to_file(unfinished)
            (tmp_path / "out.gpkg-wal").write_bytes(b"rows of a former file")

    with pytest.raises(InputError, match=r"'out\.gpkg-wal' stands beside"):
        write()
    assert [p.name for p in tmp_path.iterdir()] == ["out.gpkg-wal"]


def test_no_journal_whatever_the_environment_says(private, tmp_path, monkeypatch):
    pyogrio.set_gdal_config_options({"OGR_SQLITE_JOURNAL": "WAL"})
    try:
        files.write(private, tmp_path / "out.gpkg")
        private.to_parquet(tmp_path / "in.parquet")
        arguments = {"domain": TOKYO, "keep": [], "batch_rows": 10}
        geotracs.perturb_file(tmp_path / "in.parquet", tmp_path / "streamed.gpkg", 4, **arguments)
        assert pyogrio.get_gdal_config_option("OGR_SQLITE_JOURNAL") == "WAL"
    finally:
        pyogrio.set_gdal_config_options({"OGR_SQLITE_JOURNAL": None})
    for name in ("out.gpkg", "streamed.gpkg"):
        header = (tmp_path / name).read_bytes()[18:20]
        assert header == b"\x01\x01", "2 would be a write-ahead log"
    assert {p.name for p in tmp_path.iterdir()} == {"out.gpkg", "in.parquet", "streamed.gpkg"}


ESRI = (
    ".qix", ".sbn", ".sbx", ".shp.xml", ".idm", ".ind", ".person.atx", ".atx", ".ain", ".aih", ".fbn", ".fbx", ".ixs",
    ".mxs", ".cpg", ".qmd", ".shp.aux.xml", ".QIX",
)  # fmt: skip


@pytest.mark.parametrize("streamed", [False, True])
def test_overwriting_a_shapefile_removes_all_that_belongs_to_it(tracks, private, tmp_path, streamed):
    path = tmp_path / "out.shp"
    tracks[["person", "geometry"]].to_file(path, SPATIAL_INDEX="YES")
    assert path.with_suffix(".qix").exists()
    for ending in ESRI[1:]:
        (tmp_path / f"out{ending}").write_bytes(b"of the originals")
    (tmp_path / "other.qix").write_bytes(b"of another file")
    private = private[["person", "geometry"]]
    if streamed:
        private.to_parquet(tmp_path / "in.parquet")
        arguments = {"domain": TOKYO, "keep": "all", "batch_rows": 10}
        geotracs.perturb_file(tmp_path / "in.parquet", path, 4, overwrite=True, **arguments)
        (tmp_path / "in.parquet").unlink()
    else:
        files.write(private, path, overwrite=True)
    left = {p.name for p in tmp_path.iterdir()}
    endings = (".shp", ".shx", ".dbf", ".prj", ".cpg", ".shp.tracs.json")
    assert left == {"other.qix", *(f"out{ending}" for ending in endings)}
    assert (tmp_path / "out.cpg").read_bytes() != b"of the originals"
    assert len(files.read(path)) == len(private)


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("out.shp", "out.qix"),
        ("out.shp", "out.dbf"),
        ("out.tab", "out.map"),
        ("out.mif", "out.mid"),
        ("out.gml", "out.gfs"),
        ("out.gml", "out.xsd"),
        ("out.csv", "out.csvt"),
        ("out.csv.gz", "out.csvt"),
        ("out.csv", "out.prj"),
        ("out.gpkg", "out.gpkg.aux.xml"),
        ("out.fgb", "out.qmd"),
        ("out.geojson", "OUT.QMD"),
    ],
)
def test_parts_of_a_file_that_is_gone_are_refused(private, tmp_path, name, beside):
    (tmp_path / beside).write_bytes(b"of a former file")
    with pytest.raises(InputError, match=f"'{beside}' is there and belongs to a former file '{name}'"):
        files.write(private[["person", "geometry"]], tmp_path / name, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == [beside]


@pytest.mark.parametrize("name", ["out.tab", "out.mif", "out.gml", "out.csv", "out.tsv", "out.gpkg", "out.fgb"])
def test_overwriting_removes_what_belongs_to_the_former_file(private, tmp_path, name):
    private = private[["person", "geometry"]]
    files.write(private, tmp_path / name)
    written = {p.name for p in tmp_path.iterdir()}
    endings = {*files.format_of(name).parts, ".qmd"}
    for other in {*(f"out{ending}" for ending in endings), f"{name}.aux.xml", f"{name}.xml"} - written:
        (tmp_path / other).write_bytes(b"of the originals")
    files.write(private, tmp_path / name, overwrite=True)
    assert {p.name for p in tmp_path.iterdir()} == written


def test_files_of_other_kinds_with_the_same_stem_are_left_alone(private, tmp_path):
    private = private[["person", "geometry"]]
    for name in ("out.shp", "out.csv", "out.gpkg", "out.geojson", "out.gml"):
        files.write(private, tmp_path / name)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    for name in ("out.csv", "out.gpkg", "out.shp", "out.gml"):
        files.write(private, tmp_path / name, overwrite=True)
    assert {p.name for p in tmp_path.iterdir()} == set(before)
    assert (tmp_path / "out.prj").read_bytes() == before["out.prj"]
    (tmp_path / "out.qmd").write_bytes(b"of whichever")
    with pytest.raises(InputError, match=r"'out\.qmd' belongs to 'out\.geojson', too"):
        files.write(private, tmp_path / "out.gpkg", overwrite=True)


def test_what_was_there_comes_back_if_it_cannot_be_replaced(private, tmp_path, monkeypatch):
    private = private[["person", "geometry"]]
    files.write(private, tmp_path / "out.shp")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    replace, calls = os.replace, []

    def fail(old, new):
        calls.append(new)
        if len(calls) == 7:
            raise OSError(28, "No space left on device")
        replace(old, new)

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(InputError, match="No space left on device"):
        files.write(private.iloc[:3], tmp_path / "out.shp", overwrite=True)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("stop", range(1, 20))
def test_the_index_of_a_former_file_never_comes_back_beside_a_release(tracks, private, tmp_path, monkeypatch, stop):
    path = tmp_path / "out.shp"
    tracks[["person", "geometry"]].reset_index(drop=True).to_file(path, SPATIAL_INDEX="YES")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    replace, calls = os.replace, []

    def stopped(old, new):
        replace(old, new)
        calls.append(new)
        if len(calls) == stop:
            raise KeyboardInterrupt  # as by a signal, between two steps

    monkeypatch.setattr("os.replace", stopped)
    try:
        files.write(private[["person", "geometry"]], path, overwrite=True)
    except KeyboardInterrupt:
        after = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
        assert after == before or (after[path.name] != before[path.name] and not (tmp_path / "out.qix").exists())


@pytest.mark.parametrize("name", ["in.gml", "in.xml"])
def test_reading_gml_leaves_nothing_beside_it(private, tmp_path, name):
    private.attrs.clear()
    files.write(private[["person", "geometry"]], tmp_path / "in.gml")
    (tmp_path / "in.xsd").unlink()
    (tmp_path / "in.gml").rename(tmp_path / name)
    assert len(files.read(tmp_path / name)) == len(private)
    arguments = {"domain": TOKYO, "keep": [], "batch_rows": 10}
    geotracs.perturb_file(tmp_path / name, tmp_path / "out.gpkg", 4, **arguments)
    assert {p.name for p in tmp_path.iterdir()} == {name, "out.gpkg"}
    (tmp_path / "in.gfs").write_text("<GMLFeatureClassList/>")  # one that was there stays
    with pytest.raises(InputError):
        files.read(tmp_path / name)
    assert (tmp_path / "in.gfs").exists()


def test_geometries_are_found_again_in_every_kind(private, tmp_path):
    """Nothing above may break what is written."""
    private = private[["person", "geometry"]]
    for name in ("out.tab", "out.mif", "out.gml", "out.sqlite"):
        files.write(private, tmp_path / name)
        back = files.read(tmp_path / name)
        assert np.allclose(np.sort(back.geometry.x), np.sort(private.geometry.x), atol=1e-6)
    assert isinstance(back, gpd.GeoDataFrame)


def test_names_that_no_file_can_have(private, tmp_path):
    with pytest.raises(InputError, match="File name too long"):
        files.write(private, tmp_path / f"{'n' * 300}.gpkg")
    with pytest.raises(InputError, match="There is no file"):
        geotracs.perturb_file(tmp_path / f"{'n' * 300}.gml", tmp_path / "out.gpkg", 4, domain=TOKYO)
