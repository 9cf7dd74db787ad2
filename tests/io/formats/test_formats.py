"""The registry of formats: a new one is an object with a name, and everything that files do works for it."""

import inspect
from dataclasses import dataclass

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyproj
import pytest
import shapely
from geopandas.testing import assert_geodataframe_equal

import geotracs
import tests.helpers as helpers
from geotracs import InputError, files
from geotracs.cli import main
from geotracs.io import siblings, sidecar, streams, wkb
from geotracs.io.formats import FORMATS, Format, format_named, format_of
from geotracs.io.streams import Source
from tests.conftest import TOKYO

STREAMED = {"domain": TOKYO, "keep": [], "rng": 1, "batch_rows": 7}


@dataclass(frozen=True)
class Lines(Source):
    def pieces(self, schema):
        for chunk in pd.read_csv(self.path, sep=" ", header=None, chunksize=streams.READ):
            points = wkb.encode(chunk.to_numpy(float), np.ones(len(chunk), dtype=bool))
            yield pa.table({"geometry": points}).select(schema.names)


class Xy(Format):
    """A line for each location: x, a space, y; with the box of all of them in a file beside it."""

    name = "XY"
    endings = (".xy",)
    parts = (".box",)

    def read(self, path, reading):
        return gpd.GeoDataFrame(geometry=gpd.points_from_xy(*np.loadtxt(path, ndmin=2).T), crs=reading.crs or 4326)

    def open(self, path, reading):
        schema = pa.schema([("geometry", pa.binary())])
        return Lines(path, schema, "geometry", reading.crs or pyproj.CRS(4326), None, None)

    def write(self, frame, path, writing):
        np.savetxt(path, shapely.get_coordinates(frame.geometry.array), fmt="%.17g")
        np.savetxt(path.with_suffix(".box"), frame.total_bounds)

    def write_stream(self, stream, path, writing):
        with path.open("a") as file:
            for frame in stream.frames():
                np.savetxt(file, shapely.get_coordinates(frame.geometry.array), fmt="%.17g")


class Npy(Format):
    """An array of numpy's, without a thought about large files."""

    name = "NPY"
    endings = (".npy",)

    def read(self, path, reading):
        return gpd.GeoDataFrame(geometry=gpd.points_from_xy(*np.load(path).T))

    def write(self, frame, path, writing):
        np.save(path, shapely.get_coordinates(frame.geometry.array))


TOYS = {".xy": [Lines, Xy], ".npy": [Npy]}


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    for toy in (Xy(), Npy()):
        monkeypatch.setitem(FORMATS, toy.name, toy)
    monkeypatch.setattr(streams, "READ", 5)


@pytest.fixture
def points(tracks):
    return tracks[["geometry"]].reset_index(drop=True)


@pytest.mark.parametrize("ending", TOYS)
def test_a_format_is_one_small_object(ending):
    assert sum(len(inspect.getsource(part).splitlines()) for part in TOYS[ending]) < 40
    assert type(format_of(f"tracks{ending.upper()}")) in TOYS[ending]


@pytest.mark.parametrize("ending", TOYS)
def test_a_new_format_is_read_streamed_and_written(points, tmp_path, ending):
    src, dst = files.write(points, tmp_path / f"in{ending}"), tmp_path / f"out{ending}"
    frame = files.read(src, crs=4326)
    assert_geodataframe_equal(frame, points)
    whole = helpers.quiet(geotracs.perturb, frame, 4, domain=TOKYO, keep=[], rng=1)
    told = helpers.quiet(geotracs.perturb_file, src, dst, 4, input_crs=4326, **STREAMED)
    assert told == whole.tracs.guarantee
    assert_geodataframe_equal(files.read(dst, crs=4326), whole)
    helpers.quiet(geotracs.perturb_file, src, tmp_path / "out.gpkg", 4, input_crs=4326, **STREAMED)
    helpers.quiet(geotracs.perturb_file, tmp_path / "out.gpkg", dst, 4, overwrite=True, **STREAMED)
    assert len(files.read(dst)) == len(points)


def test_the_command_line_knows_it(points, tmp_path, capsys):
    files.write(points, tmp_path / "in.xy")
    box = ",".join(map(str, TOKYO))
    arguments = ["perturb", str(tmp_path / "in.xy"), str(tmp_path / "out.xy"), "--eps", "4", "--domain", box]
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--keep", "none", "--batch-rows", "7"])
    assert stop.value.code in (0, None), capsys.readouterr().err
    assert len(files.read(tmp_path / "out.xy")) == len(points)


def test_what_lies_beside_it_goes_with_it(points, tmp_path):
    src, dst = files.write(points, tmp_path / "in.xy"), files.write(points, tmp_path / "out.xy")
    assert siblings.siblings(dst) == [tmp_path / "out.box"]
    with pytest.raises(InputError, match="exists already"):
        geotracs.perturb_file(src, dst, 4, **STREAMED)
    helpers.quiet(geotracs.perturb_file, src, dst, 4, overwrite=True, **STREAMED)
    assert {path.name for path in tmp_path.iterdir()} == {"in.xy", "in.box", "out.xy", "out.xy.tracs.json"}
    (tmp_path / "new.box").write_text("of the originals")
    with pytest.raises(InputError, match=r"'new\.box' is there and belongs to a former file 'new\.xy'"):
        files.write(points, tmp_path / "new.xy")
    with pytest.raises(InputError, match="`dst` is a part of the same XY as `src`"):
        geotracs.perturb_file(src, tmp_path / "in.box", 4, **STREAMED)


def test_it_is_complete_or_not_there_and_no_error_quotes_it(points, tmp_path, monkeypatch):
    src, dst = files.write(points, tmp_path / "in.xy"), files.write(points, tmp_path / "out.xy")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*arguments, **options):
        raise ValueError("139.7123456 is not a number")

    monkeypatch.setattr(np, "savetxt", fail)
    for write in (
        lambda: files.write(points, dst, overwrite=True),
        lambda: helpers.quiet(geotracs.perturb_file, src, dst, 4, overwrite=True, **STREAMED),
    ):
        with pytest.raises(InputError, match=r"out\.xy' cannot be written: something went wrong") as caught:
            write()
        assert "139.7" not in str(caught.value)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    src.write_text("139.7123456 35.612345\n139.7123456 north\n")
    for read in (
        lambda: files.read(src),
        lambda: helpers.quiet(geotracs.perturb_file, src, tmp_path / "new.gpkg", 4, **(STREAMED | {"batch_rows": 1})),
    ):
        with pytest.raises(InputError, match=r"in\.xy' cannot be read") as caught:
            read()
        assert "139.7" not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None


def test_names_and_endings_are_those_of_one_format():
    assert [kind.name for kind in FORMATS.values()] == list(FORMATS)
    endings = [ending for kind in FORMATS.values() for ending in kind.endings]
    assert len(endings) == len(set(endings))
    for kind in FORMATS.values():
        for ending in kind.endings:
            assert format_named(f"tracks{ending.upper()}") is kind
            assert ending == ending.lower()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [name for name, kind in FORMATS.items() if name not in ("GDAL", "GPX")])
def test_formats_say_whether_they_keep_the_record(points, tmp_path, name):
    kind = FORMATS[name]
    private = points.tracs.perturb(4, domain=TOKYO, keep=[]).assign(number=np.arange(len(points)))
    path = files.write(private, tmp_path / f"out{kind.endings[0]}")
    assert files.read(path).attrs["tracs"]["epsilon"] == 4
    assert sidecar.beside(path).exists() != kind.keeps_record
    helpers.quiet(
        geotracs.perturb_file, path, tmp_path / f"again{kind.endings[0]}", 4, **(STREAMED | {"keep": ["number"]})
    )
    assert files.read(tmp_path / f"again{kind.endings[0]}").attrs["tracs"]["epsilon"] == 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["GeoPackage", "GeoJSON", "GeoJSON sequence", "FlatGeobuf", "CSV", "GeoParquet"])
def test_formats_say_whether_their_order_tells(points, tmp_path, name):
    kind = FORMATS[name]
    path = files.write(points.assign(number=np.arange(len(points))), tmp_path / f"out{kind.endings[0]}")
    assert files.read(path)["number"].is_monotonic_increasing != kind.order_tells


def test_a_folder_is_known_by_what_is_in_it(points, tmp_path):
    assert format_of(tmp_path).name == "GDAL"
    points.to_parquet(tmp_path / "part.0.parquet")
    assert format_of(tmp_path).name == "GeoParquet"
    assert format_named(tmp_path / "nowhere.gpkg").name == "GeoPackage"
