"""Every byte that a release leaves behind, in every format and on every path: no original location is among them."""

import base64
import gzip
import io
import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely

from geotracs import InputError, files, perturb_file
from geotracs.trust import scan
from tests.fuzz import private
from tests.helpers import COLUMNS, TERMINAL, prepared, quiet

pytestmark = pytest.mark.slow

KINDS = (
    "gpkg", "parquet", "geojson", "geojsonl", "shp", "fgb", "csv", "csv.gz", "tsv", "gml", "tab", "mif", "sqlite",
)  # fmt: skip
RELEASE = {"domain": private.DOMAIN, "keep": [], "rng": 1, **COLUMNS}
NOWHERE = np.empty((0, 2))


@pytest.fixture
def secrets():
    """Forty points in a region so large that the first six digits of a report are those of an original in 1 of 100
    cases; these are left out, and the seeds are fixed."""
    return private.make(np.random.default_rng(7), rows=40)


@pytest.fixture
def out(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def saved(secrets, path):
    secrets.frame.to_parquet(path)
    return path


def reports(path):
    return shapely.get_coordinates(quiet(files.read, path, crs=4326).geometry.array)


def check(folder, path, secrets):
    """No file of a folder holds an original, and all rows are there."""
    assert path.is_file() or not path.suffix
    with tempfile.TemporaryDirectory() as copy:  # reading may change or remove what is beside a file
        released = reports(Path(shutil.copytree(folder, copy, dirs_exist_ok=True)) / path.name)
    assert len(released) == len(secrets.xy)
    assert scan.same_locations(secrets.xy, released) == 0
    assert scan.originals_in(folder, secrets.xy, released) == []


# The scanner finds what is there


def well_known_binary(secrets):
    return shapely.to_wkb(secrets.frame.geometry.array)


PLANTED = {
    "all digits": lambda s: "\n".join(f"{x} {y}" for x, y in s.xy).encode(),
    "six digits": lambda s: "\n".join(f"{x:.3f} {y:.4f}" for x, y in s.xy).encode(),
    "six digits cut off": lambda s: "\n".join(f"{str(x)[:7]} {str(y)[:7]}" for x, y in s.xy).encode(),
    "text of 16 bits": lambda s: "\n".join(f"{x} {y}" for x, y in s.xy).encode("utf-16"),
    "text of 32 bits": lambda s: "\n".join(f"{x} {y}" for x, y in s.xy).encode("utf-32"),
    "doubles": lambda s: s.xy.astype("<f8").tobytes(),
    "big-endian doubles": lambda s: s.xy.astype(">f8").tobytes(),
    "singles": lambda s: s.xy.astype("<f4").tobytes(),
    "big-endian singles": lambda s: s.xy.astype(">f4").tobytes(),
    "singles rounded down": lambda s: np.nextafter(s.xy.astype("<f4"), np.float32(-np.inf)).tobytes(),
    "singles rounded up": lambda s: np.nextafter(s.xy.astype("<f4"), np.float32(np.inf)).tobytes(),
    "boxes of an R-tree": lambda s: b"".join(struct.pack("<q4f", n, x, x, y, y) for n, (x, y) in enumerate(s.xy)),
    "E7": lambda s: np.round(s.xy * 1e7).astype("<i4").tobytes(),
    "E6": lambda s: np.floor(s.xy * 1e6).astype(">i4").tobytes(),
    "long E7": lambda s: np.round(s.xy * 1e7).astype("<i8").tobytes(),
    "E7 as text": lambda s: "\n".join(f"{x * 1e7:.0f},{y * 1e7:.0f}" for x, y in s.xy).encode(),
    "well-known binary": lambda s: b"".join(well_known_binary(s)),
    "hexadecimal": lambda s: b" ".join(wkb.hex().encode() for wkb in well_known_binary(s)),
    "hexadecimal within a run": lambda s: b"a" + b"".join(well_known_binary(s)).hex().upper().encode(),
    "base64": lambda s: b" ".join(base64.b64encode(wkb) for wkb in well_known_binary(s)),
    "base64 one byte later": lambda s: b" ".join(base64.b64encode(b"a" + wkb) for wkb in well_known_binary(s)),
    "base64 within a run": lambda s: b"ab" + base64.b64encode(b"".join(well_known_binary(s))),
}


PACKED = ("six digits", "text of 16 bits", "doubles", "hexadecimal", "base64")


@pytest.mark.parametrize(
    ("name", "packed"),
    [(name, "plain") for name in PLANTED]
    + [(name, packed) for name in PACKED for packed in ("gzip", "gzip cut short", "zip")],
)
def test_every_form_is_found(secrets, tmp_path, name, packed):
    """Between random bytes, of which nothing is found."""
    noise = np.random.default_rng(3).bytes(5000)
    data = noise + b"\n" + PLANTED[name](secrets) + b"\n" + noise
    if packed.startswith("gzip"):
        data = gzip.compress(data)[: -20 if "short" in packed else None]
    if packed == "zip":
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("inside", data)
        data = archive.getvalue()
    (tmp_path / "planted").write_bytes(data)
    found = scan.originals_in(tmp_path, secrets.xy, NOWHERE)
    assert {hit.row for hit in found} == set(range(len(secrets.xy)))


def test_nothing_is_found_where_nothing_is(secrets, tmp_path):
    """A double is in such noise with probability 1e-12, eight digits with 1e-12, a pair of singles with 1e-8."""
    rng = np.random.default_rng(4)
    (tmp_path / "noise").write_bytes(rng.bytes(2**18))
    other = private.make(rng, rows=40)
    quiet(other.frame.to_parquet, tmp_path / "other.parquet")
    assert scan.originals_in(tmp_path, secrets.xy, other.xy) == []


@pytest.mark.parametrize("compression", ["snappy", "zstd", "none"])
def test_columns_and_statistics_of_parquet(secrets, tmp_path, compression):
    x, y = secrets.xy.T
    tables = {
        "numbers": pa.table({"a": x, "b": y}),
        "geometry": pa.table({"a": well_known_binary(secrets)}),
        "text": pa.table({"a": pa.array([f"{a} {b}" for a, b in secrets.xy]).dictionary_encode()}),
        "metadata": pa.table({"a": [1]}).replace_schema_metadata({"geo": str(secrets.xy.tolist())}),
    }
    for name, table in tables.items():
        (tmp_path / name).mkdir()
        pq.write_table(table, tmp_path / name / "a.parquet", compression=compression)
        found = scan.originals_in(tmp_path / name, secrets.xy, NOWHERE)
        assert {hit.row for hit in found} == set(range(len(secrets.xy))), name


@pytest.mark.parametrize("kind", KINDS)
def test_originals_are_found_in_every_format(secrets, out, kind):
    """MapInfo scales coordinates to the bounds of the layer: there they show when the file is read."""
    path = out / f"originals.{kind}"
    quiet(files.write, secrets.frame, path)
    assert scan.same_locations(secrets.xy, reports(path)) == len(secrets.xy)
    if kind != "tab":
        rows = {hit.row for hit in scan.originals_in(out, secrets.xy, NOWHERE)}
        assert rows == set(range(len(secrets.xy)))


# Releases hold none


def in_memory(secrets, source, path):
    quiet(files.write, quiet(secrets.frame.tracs.perturb, 4, "tracs-c", **RELEASE), path)


def at_once(secrets, source, path):
    quiet(perturb_file, source, path, 4, "tracs-c", **RELEASE)


def in_batches(secrets, source, path):
    quiet(perturb_file, source, path, 4, "tracs-d", batch_rows=7, **RELEASE)


def sorted_first(secrets, source, path):
    quiet(perturb_file, source, path, 4, "tracs-d", batch_rows=7, sort=True, **RELEASE)


def over_the_originals(secrets, source, path):
    former(secrets, path)
    quiet(perturb_file, source, path, 4, "tracs-c", overwrite=True, **RELEASE)


def over_the_originals_in_batches(secrets, source, path):
    former(secrets, path)
    quiet(perturb_file, source, path, 4, "tracs-c", overwrite=True, batch_rows=7, **RELEASE)


def former(secrets, path):
    """A file of the originals where the release will be, with a spatial index where the format has one."""
    options = {"SPATIAL_INDEX": "YES"} if path.suffix in (".shp", ".gpkg", ".sqlite", ".fgb") else {}
    if files.format_of(path).name in ("CSV", "GeoParquet"):
        quiet(files.write, secrets.frame, path)
    else:
        quiet(pyogrio.write_dataframe, secrets.frame, path, **options)


WAYS = (in_memory, in_batches, over_the_originals)
BOTH = [(kind, way) for kind in KINDS for way in WAYS]
BOTH += [
    (kind, way)
    for kind in ("gpkg", "parquet", "shp", "gml", "sqlite", "csv")
    for way in (at_once, sorted_first, over_the_originals_in_batches)  # which write as one of the others does
]


@pytest.mark.parametrize(("kind", "way"), BOTH, ids=lambda of: getattr(of, "__name__", of))
def test_no_original_is_in_a_release(secrets, tmp_path, out, kind, way):
    source, path = saved(secrets, tmp_path / "in.parquet"), out / f"private.{kind}"
    way(secrets, source, path)
    check(out, path, secrets)
    if path.suffix in (".gpkg", ".sqlite"):  # what another program's opening would replay
        with closing(sqlite3.connect(path)) as base:
            base.execute("vacuum")
        check(out, path, secrets)


@pytest.mark.parametrize("ending", ["parquet", "gpkg", "shp"])
def test_no_original_is_in_a_release_of_lines(tmp_path, out, ending):
    secrets = private.make(np.random.default_rng(8), rows=30, lines=True)
    source, path = saved(secrets, tmp_path / "in.parquet"), out / f"private.{ending}"
    given = {"domain": private.DOMAIN, "keep": [], "rng": 1}
    quiet(perturb_file, source, path, 4, "tracs-d", batch_rows=7, **given)
    check(out, path, secrets)


def test_no_original_is_in_a_folder(secrets, tmp_path, out):
    source, path = tmp_path / "in", out / "private"
    for folder in (source, path):
        folder.mkdir()
        secrets.frame.iloc[:20].to_parquet(folder / "part.0.parquet")
        secrets.frame.iloc[20:].to_parquet(folder / "part.1.parquet")
    quiet(perturb_file, source, path, 4, overwrite=True, batch_rows=7, **RELEASE)
    check(out, path, secrets)


def test_no_original_is_in_what_dask_writes(secrets, out):
    dask_geopandas = pytest.importorskip("dask_geopandas")
    import geotracs.release.dask  # noqa: F401  (registers the accessor)

    ddf = dask_geopandas.from_geopandas(secrets.frame, npartitions=3)
    ddf.calculate_spatial_partitions()  # the hulls of the originals
    quiet(lambda: ddf.tracs.perturb(4, shuffle=False, **RELEASE).to_parquet(out / "private"))
    check(out, out / "private", secrets)


def test_no_original_is_in_a_map_of_a_release(secrets, out):
    private_frame = quiet(secrets.frame.tracs.perturb, 4, "tracs-c", **RELEASE)
    page = quiet(private_frame.tracs.explore, offline=True)
    files.write_page(page, out / "page.html")
    xy = shapely.get_coordinates(private_frame.geometry.array)
    bounds = np.array(
        [[*xy.min(axis=0)], [*xy.max(axis=0)], [*xy.mean(axis=0)], [*(xy.min(axis=0) + xy.max(axis=0)) / 2]]
    )
    assert scan.originals_in(out, secrets.xy, np.vstack([xy, bounds])) == []


# What a former file left beside OUT


def refusal(source, path, **options):
    """Perturb a file; return why it was refused, or None."""
    try:
        quiet(perturb_file, source, path, 4, "tracs-c", **options, **RELEASE)
    except InputError as error:
        return str(error)
    return None


SIBLINGS = {
    "shp": (".qix", ".sbn", ".shp.xml", ".atx", ".cpg", ".qpj", ".SBN"),
    "gml": (".gfs", ".xsd"),
    "csv": (".csvt", ".prj"),
    "tab": (".ind",),
    "mif": (".mid",),
    "gpkg": (".gpkg.aux.xml",),
    "geojson": (".geojson.aux.xml",),
    "fgb": (".fgb.aux.xml",),
    "sqlite": (".sqlite-journal", ".sqlite-wal"),
}


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize(("kind", "ending"), [(kind, ending) for kind, all_ in SIBLINGS.items() for ending in all_])
def test_siblings_of_a_former_file_go_or_are_refused(secrets, tmp_path, out, kind, ending, overwrite):
    """They are replaced with the file, or nothing is written; never do they stand beside a release."""
    source, path = saved(secrets, tmp_path / "in.parquet"), out / f"private.{kind}"
    if overwrite:
        former(secrets, path)
    (out / f"private{ending}").write_text("\n".join(f"{x} {y}" for x, y in secrets.xy))
    before = sorted(p.name for p in out.iterdir())
    message = refusal(source, path, overwrite=overwrite)
    if message is None:
        check(out, path, secrets)
    else:
        assert f"private{ending}" in message
        assert sorted(p.name for p in out.iterdir()) == before


def test_the_spatial_index_of_a_former_shapefile_goes(secrets, tmp_path, out):
    source, path = saved(secrets, tmp_path / "in.parquet"), out / "private.shp"
    former(secrets, path)
    assert (out / "private.qix").exists()
    quiet(perturb_file, source, path, 4, "tracs-c", overwrite=True, **RELEASE)
    check(out, path, secrets)


WRITE_AND_CRASH = """
import os, sqlite3, sys
base = sqlite3.connect(sys.argv[1])
base.execute("pragma journal_mode = wal")
base.execute("pragma wal_autocheckpoint = 0")
for (trigger,) in base.execute("select name from sqlite_master where type = 'trigger'").fetchall():
    base.execute(f'drop trigger "{trigger}"')
base.execute("update private set name = name || '!'")
base.commit()
os._exit(0)
"""


@pytest.mark.parametrize("main_file", [True, False])
@pytest.mark.parametrize("batch_rows", [None, 7])
def test_the_log_of_a_former_geopackage_is_never_replayed(secrets, tmp_path, out, batch_rows, main_file):
    """A program crashed that was writing to a file of originals; then that file may have been removed, or not."""
    source, path = saved(secrets, tmp_path / "in.parquet"), out / "private.gpkg"
    former(secrets, path)
    subprocess.run([sys.executable, "-c", WRITE_AND_CRASH, path], check=True)
    assert (out / "private.gpkg-wal").exists()
    if not main_file:
        path.unlink()
    message = refusal(source, path, overwrite=main_file, batch_rows=batch_rows)
    if message is None:
        check(out, path, secrets)
    else:
        assert "private.gpkg-" in message
        assert path.exists() == main_file


# Runs that are stopped

STOPPED = """
import sys, time
import geotracs.cli, geotracs.io.files as files
from geotracs.io.streams import Stream
write = files.write_stream
def slowly(stream, path, writing):
    def first_then_wait():
        yield next(stream.tables)
        print("written", flush=True)
        time.sleep(600)
    write(Stream(stream.layout, first_then_wait(), stream.summary), path, writing)
files.write_stream = slowly
geotracs.cli.main(sys.argv[1:])
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])  # others do the same: `test_stopped`
def test_a_stopped_run_leaves_no_original_beside_out(secrets, tmp_path, out, number):
    (tmp_path / "in").mkdir()
    source, path = saved(secrets, tmp_path / "in" / "in.parquet"), out / "private.parquet"
    box = ",".join(map(str, private.DOMAIN))
    arguments = [
        "perturb",
        source,
        path,
        "--eps",
        "4",
        "--domain",
        box,
        "--sort",
        "--batch-rows",
        "7",
        "--keep",
        "none",
    ]
    arguments += ["--trajectory", "person", "--time", "t", "--method", "tracs-c"]
    process = subprocess.Popen(
        prepared(TERMINAL, "-c", STOPPED, *arguments), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    with process.stdout as said:
        begun = said.readline()
        process.send_signal(number)
        process.wait()
    assert begun == "written\n"
    assert scan.originals_in(out, secrets.xy, NOWHERE) == []
    if number != signal.SIGKILL:
        assert list(out.iterdir()) == []
        assert list((tmp_path / "in").iterdir()) == [source]
    quiet(perturb_file, source, path, 4, "tracs-c", batch_rows=7, sort=True, **RELEASE)
    check(out, path, secrets)
