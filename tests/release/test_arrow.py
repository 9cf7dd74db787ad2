"""Arrow in and out: what a frame would get, bit for bit, in the encoding that came."""

import json

import duckdb
import geopandas as gpd
import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from geopandas.testing import assert_geodataframe_equal

import geotracs
from geotracs import CRSError, InputError, files
from geotracs.io import geoarrow, tables
from tests.conftest import TOKYO
from tests.helpers import COLUMNS, quiet

ENCODINGS = {
    "WKB": {"geometry_encoding": "WKB"},
    "interleaved": {"geometry_encoding": "geoarrow", "interleaved": True},
    "separated": {"geometry_encoding": "geoarrow", "interleaved": False},
}


@pytest.fixture(scope="module")
def points():
    """People whose rows are mixed, with missing and empty locations."""
    rng, n = np.random.default_rng(5), 90
    frame = gpd.GeoDataFrame(
        {"person": rng.choice(["ann", "bob", "cleo"], n), "t": rng.permutation(n), "speed": rng.random(n)},
        geometry=gpd.points_from_xy(rng.uniform(139.6, 139.8, n), rng.uniform(35.6, 35.8, n)),
        crs=4326,
    )
    frame.loc[[0, 40, 41, n - 1], "geometry"] = None
    frame.loc[[7], "geometry"] = shapely.Point()
    return frame


@pytest.fixture(scope="module")
def lines():
    rng = np.random.default_rng(6)
    shapes = [shapely.LineString(rng.uniform((139.6, 35.6), (139.8, 35.8), (k, 2))) for k in rng.integers(2, 9, 20)]
    frame = gpd.GeoDataFrame({"person": np.arange(20) % 6, "speed": rng.random(20)}, geometry=shapes, crs=4326)
    frame.loc[[3], "geometry"] = None
    frame.loc[[8], "geometry"] = shapely.LineString()
    return frame


def arrow(frame, encoding="WKB"):
    return pa.table(frame.to_arrow(index=False, **ENCODINGS[encoding]))


def private(table, eps=4, method="tracs-c", **arguments):
    return quiet(geotracs.perturb_arrow, table, eps, method, **{"domain": TOKYO, "keep": [], "rng": 3} | arguments)


def whole(frame, eps=4, method="tracs-c", **arguments):
    return quiet(geotracs.perturb, frame, eps, method, **{"domain": TOKYO, "keep": [], "rng": 3} | arguments)


def reset(frame, encoding="WKB"):
    """Return a frame whose points come in this encoding, as geopandas reads it."""
    return gpd.GeoDataFrame.from_arrow(arrow(frame, encoding))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("joint", {"keep": ["speed"]}),
        ("tracs-d", {}),
        ("tracs-d", {"unit": "trajectory"}),
        ("tracs-c", {"eps": "speed"}),
    ],
)
def test_points_are_those_of_a_frame(points, encoding, method, arguments):
    table = arrow(points, encoding)
    release = private(table, method=method, **COLUMNS | arguments)
    expected = whole(points, method=method, **COLUMNS | arguments)
    assert_geodataframe_equal(gpd.GeoDataFrame.from_arrow(release), expected)
    assert release.schema.field("geometry").type == table.schema.field("geometry").type
    record = json.loads(release.schema.metadata[b"PANDAS_ATTRS"])["tracs"]
    assert record == json.loads(json.dumps(expected.attrs["tracs"]))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("method", ["joint", "tracs-d"])
def test_lines_are_those_of_a_frame(lines, encoding, method):
    for trajectory in (None, "person"):
        release = private(arrow(lines, encoding), method=method, trajectory=trajectory)
        expected = whole(lines, method=method, trajectory=trajectory)
        assert_geodataframe_equal(gpd.GeoDataFrame.from_arrow(release), expected)


def test_chunks_slices_and_pieces_change_nothing(points, lines, monkeypatch):
    expected = {id(frame): whole(frame) for frame in (points, lines)}
    monkeypatch.setattr(tables, "PIECE", 10)
    for frame in (points, lines):
        for encoding in ENCODINGS:
            table = arrow(frame, encoding)
            cut = pa.concat_tables([table.slice(0, 0), table.slice(0, 3), table.slice(3, 1), table.slice(4)])
            for one in (cut, pa.concat_tables([table, table]).slice(len(table)), cut.to_reader(7)):
                release = private(one)
                assert release["geometry"].num_chunks > 1
                back = gpd.GeoDataFrame.from_arrow(release)
                assert_geodataframe_equal(back, expected[id(frame)][["geometry"]])


def test_no_rows_and_no_locations(points):
    for encoding in ENCODINGS:
        for rows in (0, 1):
            table = arrow(points, encoding).slice(0, rows)
            release = private(table, **COLUMNS)
            assert release.num_rows == release["geometry"].null_count == rows
            assert release.schema.field("geometry").type == table.schema.field("geometry").type


def test_whoever_speaks_arrow(points):
    table = arrow(points)
    expected = list(shapely.to_wkb(whole(points, **COLUMNS).geometry.values))
    frame, view = polars.DataFrame(table.to_pydict()), pa.binary_view()
    for one in (
        frame,
        duckdb.sql("SELECT * FROM frame"),
        table.to_reader(),
        table.set_column(3, pa.field("geometry", view), table["geometry"].cast(view)),
    ):
        release = private(one, input_crs="EPSG:4326", **COLUMNS)
        assert release["geometry"].to_pylist() == expected


def test_files_of_it_are_geoparquet(points, lines, tmp_path):
    for number, (frame, encoding) in enumerate([(points, "WKB"), (points, "separated"), (lines, "separated")]):
        path = tmp_path / f"{number}.parquet"
        release = private(arrow(frame, encoding), trajectory="person")
        pq.write_table(release, path)
        assert_geodataframe_equal(files.read(path), whole(frame, trajectory="person"))
        assert files.read(path).attrs == whole(frame, trajectory="person").attrs
        assert files.record(path) == files.read(path).attrs["tracs"]
    assert b"geo" not in private(arrow(points, "interleaved")).schema.metadata  # which GeoParquet does not know


def test_the_extent_of_rows_is_left_out(points, tmp_path):
    for encoding in ("WKB", "geoarrow"):
        path = tmp_path / f"{encoding}.parquet"
        points.to_parquet(path, write_covering_bbox=True, geometry_encoding=encoding)
        assert "bbox" in pq.read_schema(path).names
        release = private(pq.read_table(path), keep="all")
        assert release.column_names == ["person", "t", "speed", "geometry"]
        out = tmp_path / f"private-{encoding}.parquet"
        for rows in (None, 40):
            quiet(
                geotracs.perturb_file, path, out, 4, "tracs-c", domain=TOKYO, rng=3, keep="all", batch_rows=rows,
                encoding=encoding, overwrite=True,
            )  # fmt: skip
            assert pq.read_schema(out).names == ["person", "t", "speed", "geometry"]
            kind = pq.read_schema(out).field("geometry").type
            assert pa.types.is_struct(kind) == (encoding == "geoarrow")
            assert_geodataframe_equal(files.read(out), whole(points, keep="all"))


def test_lines_are_written_in_the_native_encoding(lines, tmp_path):
    lines.to_parquet(tmp_path / "in.parquet")
    quiet(
        geotracs.perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 4, domain=TOKYO, rng=3,
        batch_rows=6, encoding="geoarrow", keep=[],
    )  # fmt: skip
    assert pa.types.is_list(pq.read_schema(tmp_path / "out.parquet").field("geometry").type)
    assert_geodataframe_equal(files.read(tmp_path / "out.parquet"), whole(lines, method="joint"))
    with pytest.raises(InputError, match="Only GeoParquet has other encodings"):
        geotracs.perturb_file(tmp_path / "in.parquet", tmp_path / "out.gpkg", 4, domain=TOKYO, encoding="geoarrow")
    with pytest.raises(InputError, match="`encoding` must be one of"):
        geotracs.perturb_file(tmp_path / "in.parquet", tmp_path / "b.parquet", 4, domain=TOKYO, encoding="wkt")


def test_binary_that_only_shapely_reads(points):
    """Z, another byte order, an SRID: the same locations."""
    deep = points.set_geometry(shapely.force_3d(points.geometry.values, 3.0), crs=4326)
    expected = whole(points)
    for shapes in (
        shapely.to_wkb(deep.geometry.values),
        shapely.to_wkb(points.geometry.values, byte_order=0),
        shapely.to_wkb(shapely.set_srid(points.geometry.values, 4326), include_srid=True),
    ):
        release = private(pa.table({"geometry": pa.array(shapes, pa.binary())}), input_crs=4326)
        got = gpd.GeoDataFrame(geometry=shapely.from_wkb(release["geometry"].to_numpy()), crs=4326)
        assert_geodataframe_equal(got, expected[["geometry"]])


def test_z_is_dropped_with_a_warning(points):
    deep = points.set_geometry(shapely.force_3d(points.geometry.values, 3.0), crs=4326)
    for encoding in ("interleaved", "separated"):
        with pytest.warns(geotracs.GeotracsWarning, match="Z and M"), pytest.warns(geotracs.PrivacyWarning):
            release = geotracs.perturb_arrow(arrow(deep, encoding), 4, "tracs-c", domain=TOKYO, keep=[], rng=3)
        kind = release.schema.field("geometry").type
        assert (kind.list_size if encoding == "interleaved" else kind.num_fields) == 2
        assert_geodataframe_equal(gpd.GeoDataFrame.from_arrow(release), whole(points)[["geometry"]])


def test_nothing_of_the_originals_stays_under_a_null():
    """Arrow may hold values where a row is null."""
    secret = pa.array([139.7, 35.7, 139.71, 35.71])
    kind = pa.list_(pa.float64(), 2)
    hidden = pa.Array.from_buffers(kind, 2, [pa.py_buffer(b"\x01")], children=[secret])
    release = private(pa.table({"geometry": hidden}), input_crs=4326)
    column = release["geometry"].chunk(0)
    assert column.to_pylist()[1] is None
    assert np.isnan(column.values.to_numpy()[2:]).all()


@pytest.mark.parametrize(("column", "match"), [
    (pa.array(["POINT (1 2)"]), "holds no points or lines that can be read"),
    (pa.array([1.5]), "holds no points or lines that can be read"),
    (pa.array([{"x": 1.0}]), "holds no points or lines that can be read"),
    (pa.array([{"point": {"x": 1.0, "y": 2.0}}]), "holds no points or lines that can be read"),
    (pa.array([b"x"]).dictionary_encode(), "holds no points or lines that can be read"),
    (pa.array([b"nonsense"]), "not well-known binary"),
    (pa.array([{"x": 139.7, "y": None}], pa.struct([("x", pa.float64()), ("y", pa.float64())])), "NaN or infinite"),
    (pa.array([shapely.box(139.6, 35.6, 139.7, 35.7).wkb]), "must be all Point or all LineString"),
])  # fmt: skip
def test_other_columns_are_refused(column, match):
    with pytest.raises(InputError, match=match) as raised:
        geotracs.perturb_arrow(pa.table({"geometry": column}), 4, domain=TOKYO, input_crs=4326)
    assert "139" not in str(raised.value)


def test_wrong_arguments(points):
    table = arrow(points)
    with pytest.raises(InputError, match=r"use geotracs\.perturb"):
        geotracs.perturb_arrow(points, 4, domain=TOKYO)
    with pytest.raises(InputError, match="There is no column 'wkb_geometry'; give `geometry`, one of"):
        geotracs.perturb_arrow(table, 4, domain=TOKYO, geometry="wkb_geometry")
    with pytest.raises(InputError, match="no column 'vehicle'"):
        geotracs.perturb_arrow(table, 4, domain=TOKYO, trajectory="vehicle")
    with pytest.raises(CRSError, match="input_crs='EPSG:4326'"):
        geotracs.perturb_arrow(pa.table({"geometry": table["geometry"].cast(pa.binary())}), 4, domain=TOKYO)
    multi = table.schema.field("geometry").with_metadata({geoarrow.NAME: b"geoarrow.multipoint"})
    cut = table.cast(table.schema.set(table.schema.get_field_index("geometry"), multi))
    with pytest.raises(InputError, match=r"geoarrow\.multipoint"):
        geotracs.perturb_arrow(cut, 4, domain=TOKYO)
    twice = pa.table([table["geometry"]] * 2, schema=pa.schema([table.schema.field("geometry")] * 2))
    with pytest.raises(InputError, match="several columns named 'geometry'"):
        geotracs.perturb_arrow(twice, 4, domain=TOKYO)


def test_dictionaries_nested_columns_and_a_ledger(points, tmp_path):
    table = arrow(points)
    coded = table.set_column(0, "person", table["person"].dictionary_encode())
    nested = coded.append_column("tags", pa.array([["a"]] * len(coded)))
    release = private(nested, keep=["tags"], **COLUMNS)
    expected = whole(points, **COLUMNS)
    assert release["person"].to_pylist() == points["person"].tolist()
    assert release["tags"].to_pylist() == [["a"]] * len(coded)
    assert release["geometry"].to_pylist() == list(shapely.to_wkb(expected.geometry.values))
    with pytest.raises(InputError, match="lists or the like"):
        geotracs.perturb_arrow(nested, 4, domain=TOKYO, trajectory="tags", keep=[])
    ledger = geotracs.Ledger(tmp_path / "ledger.db", budget=10)
    arguments = {"ledger": ledger, "data": "d", "unit": "trajectory", "rng": 3, **COLUMNS}
    first, again = (private(table, **arguments) for _ in range(2))
    assert ledger.spent("ann") == 4
    assert first.equals(again)
