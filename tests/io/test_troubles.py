"""Errors about files say what is wrong and quote nothing of what is in them."""

import functools
import json
import subprocess
import sys
import threading
import traceback
import warnings
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from socketserver import StreamRequestHandler, ThreadingTCPServer

import geopandas as gpd
import pandas as pd
import pytest

import geotracs
from geotracs import InputError, files
from geotracs.cli import main
from geotracs.io import troubles
from tests.conftest import TOKYO

pytestmark = pytest.mark.slow

SECRETS = ("139.7123456", "35.612345", "Rue de la Paix")
STREAMED = {"domain": TOKYO, "keep": [], "batch_rows": 1}


def everything(error):
    """All that an exception holds, whoever prints it: its chain, suppressed or not, and what its frames say."""
    texts = []
    while error is not None:
        texts += [str(error), repr(error.args), *getattr(error, "__notes__", [])]
        error = error.__cause__ or error.__context__
    return " ".join(texts)


def geojson(path):
    path.write_text(
        '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"who": "a"}, "geometry": '
        '{"type": "Point", "coordinates": [139.7123456., 35.612345]}}]}'
    )


def gml(path):
    path.write_text(
        '<ogr:FeatureCollection xmlns:ogr="http://ogr.maptools.org/" xmlns:gml="http://www.opengis.net/gml/3.2">'
        "<ogr:featureMember><ogr:a><ogr:geometryProperty><gml:Point><gml:pos>35.612345 </gml:pos></gml:Point>"
        "</ogr:geometryProperty></ogr:a></ogr:featureMember></ogr:FeatureCollection>"
    )


def mif(path):
    gpd.GeoDataFrame({"a": [1]}, geometry=gpd.points_from_xy([139.7123456], [35.612345]), crs=4326).to_file(path)
    path.write_text(path.read_text().replace("Point 139.7123456 35.612345", "Point 139.7123456 35.612345 N"))


def latin(path):
    """Text of a .dbf in Latin-1, whose .cpg says UTF-8."""
    frame = gpd.GeoDataFrame(
        {"adresse": ["Rue de la Paix 12, Orléans"] * 3}, geometry=gpd.points_from_xy([139.7] * 3, [35.6] * 3), crs=4326
    )
    frame.to_file(path, encoding="ISO-8859-1")
    path.with_suffix(".cpg").write_text("UTF-8")


def table(path):
    path.write_text("lon,lat,who\n139.7123456,35.612345,a\n139.7123456,35.612345,Rue de la Paix,12\n")


def packed(path):
    path.write_bytes(b"\x1f\x8b\x08\x00" + b"139.7123456,35.612345" * 20)


@pytest.mark.parametrize("streamed", [False, True], ids=["memory", "streamed"])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("in.geojson", geojson),
        ("in.gml", gml),
        ("in.mif", mif),
        ("in.shp", latin),
        ("in.csv", table),
        ("in.csv.gz", packed),
        ("in.gpkg", lambda path: path.write_bytes(b"139.7123456")),
        ("in.parquet", lambda path: path.write_bytes(b"PAR1139.7123456PAR1")),
        ("in.fgb", lambda path: path.write_bytes(b"fgb\x03fgb\x00139.7123456, 35.612345")),
    ],
)
def test_errors_quote_nothing(tmp_path, capfd, name, make, streamed):
    path = tmp_path / name
    make(path)

    def run():
        if streamed:
            geotracs.perturb_file(path, tmp_path / "out.gpkg", 4, **(STREAMED | {"keep": "all"}))
        else:
            files.read(path)

    with pytest.raises(InputError) as caught:
        run()
    said = everything(caught.value) + "".join(traceback.format_exception(caught.value)) + "".join(capfd.readouterr())
    assert not [secret for secret in SECRETS if secret in said]
    assert caught.value.__context__ is None
    assert f"{name}' cannot be read: " in str(caught.value)


def test_where_a_file_is_wrong_is_said(tmp_path):
    table(tmp_path / "in.csv")
    with pytest.raises(InputError, match=r"line 3 has 4 columns, and the lines before it 3"):
        files.read(tmp_path / "in.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InputError, match="it is empty"):
        files.read(tmp_path / "empty.csv")
    (tmp_path / "quote.csv").write_text('lon,lat,who\n1,2,"never closed\n3,4,b\n')
    with pytest.raises(InputError, match="a quotation mark that is opened in row 1 is never closed"):
        files.read(tmp_path / "quote.csv")
    (tmp_path / "in.xyzzy").write_bytes(b"what?")
    with pytest.raises(InputError, match="of a kind that GDAL does not read"):
        files.read(tmp_path / "in.xyzzy")


def test_places_in_a_file_are_taken_from_the_end_of_a_message_only():
    assert "line 5" not in troubles.described(ValueError("could not convert 'bus at line 5, Shibuya' to float"))
    assert "(see line 5)" in troubles.described(ValueError("XML parsing failed: mismatched tag at line 5, column 12"))


def test_debugging_shows_what_was_said(tmp_path, monkeypatch):
    geojson(tmp_path / "in.geojson")
    monkeypatch.setenv("GEOTRACS_DEBUG", "1")
    with pytest.raises(
        InputError, match="GEOTRACS_DEBUG=1 shows what was said about it, which may quote private"
    ) as caught:
        files.read(tmp_path / "in.geojson")
    assert "139.7123456" in everything(caught.value)


def test_the_command_line_names_only_the_type_of_an_error_that_nobody_expects(tmp_path, monkeypatch, capsys, tracks):
    tracks.to_parquet(tmp_path / "in.parquet")
    command = ["compare", str(tmp_path / "in.parquet"), str(tmp_path / "in.parquet")]

    def fail(*args, **kwargs):
        raise ZeroDivisionError("139.7123456")

    monkeypatch.setattr("geotracs.cli.commands.compare", fail)
    with pytest.raises(SystemExit) as caught:
        main(command)
    said = capsys.readouterr().err
    assert caught.value.code == 1
    assert said.startswith("Error: ZeroDivisionError, which geotracs does not expect")
    assert "GEOTRACS_DEBUG=1 shows where it happened, and may show private data" in said
    assert "139.7" not in said
    monkeypatch.setenv("GEOTRACS_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(command)


def test_warnings_of_others_are_not_quoted_on_the_command_line(tmp_path):
    code = (
        "import sys, warnings, geotracs.cli as cli, geotracs.cli.commands as commands\n"
        "def advise(*args, **kwargs):\n"
        "    warnings.warn('bad value 139.7123456', RuntimeWarning)\n"
        "    raise commands.InputError('enough')\n"
        "commands.advise = advise\n"
        "cli.main(['advise', '--domain', '0,0,1,1'])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "RuntimeWarning: from" in run.stderr
    assert "139.7" not in run.stderr


def test_times_that_cannot_be_read_are_in_no_chain(tracks):
    tracks = tracks.assign(t=["Rue de la Paix 12", *["2026-01-01"] * (len(tracks) - 1)])
    with pytest.raises(InputError, match="does not hold times of one kind") as caught:
        geotracs.perturb(tracks, 4, "tracs-d", domain=TOKYO, trajectory="person", time="t", keep=[])
    assert "Paix" not in everything(caught.value)


@pytest.mark.parametrize("action", ["explore", "plot", "dask", "dask, later"])
def test_times_that_cannot_be_read_are_in_no_chain_of_other_functions(tracks, action):
    dask_geopandas = pytest.importorskip("dask_geopandas") if "dask" in action else None
    bad = tracks.assign(t=[*tracks["t"].astype(str)[:-1], "Rue de la Paix"]).reset_index(drop=True)
    columns = {"trajectory": "person", "time": "t"}
    with pytest.raises(InputError, match="does not hold times of one kind") as caught:  # noqa: PT012
        if dask_geopandas is None:
            getattr(bad.tracs, action)(**columns)
        else:
            frame = dask_geopandas.from_geopandas(bad, npartitions=1 if action == "dask" else 2)
            lazy = frame.tracs.perturb(4, "tracs-d", domain=TOKYO, keep=[], shuffle=True, **columns)
            lazy.compute()
    assert "Paix" not in everything(caught.value)


@pytest.mark.parametrize("content", ["vrt", "wfs", "pipeline", "zip", "seamless", "before an archive"])
def test_files_that_name_others_are_refused_unless_asked_for(tmp_path, tracks, content):
    tracks[["person", "geometry"]].to_file(tmp_path / "in.gpkg")
    layer = f"<OGRVRTLayer name='in'><SrcDataSource>{tmp_path / 'in.gpkg'}</SrcDataSource></OGRVRTLayer>"
    vrt = f"<OGRVRTDataSource>{layer}</OGRVRTDataSource>"
    path = tmp_path / "link.geojson"  # GDAL looks at what is in it, not at its name
    if content == "vrt":
        path.write_text(vrt)
    elif content == "wfs":
        path.write_text("<OGRWFSDataSource><URL>http://127.0.0.1:1/</URL></OGRWFSDataSource>")
    elif content == "pipeline":
        path.write_text(f'{{"type": "gdal_streamed_alg", "command_line": "gdal vector read {tmp_path / "in.gpkg"}"}}')
    elif content == "seamless":
        path = tmp_path / "link.tab"
        path.write_text(
            '!table\n!version 300\n!charset Neutral\nbegin_metadata\n"\\IsSeamless" = "TRUE"\nend_metadata\n'
        )
    elif content == "zip":
        path = tmp_path / "link.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("link.vrt", vrt)
    else:
        path.write_text(vrt)
        with zipfile.ZipFile(path, "a") as archive:  # which goes by the end of a file, GDAL by its beginning
            archive.writestr("a.txt", "nothing")
    for read in (files.read, lambda path: geotracs.perturb_file(path, tmp_path / "out.gpkg", 4, **STREAMED)):
        with pytest.raises(InputError, match=r"makes GDAL open other files, or addresses.* allow_remote=True"):
            read(path)
    if content in ("vrt", "zip"):
        assert len(files.read(path, allow_remote=True)) == len(tracks)
        geotracs.perturb_file(path, tmp_path / "out.gpkg", 4, allow_remote=True, **STREAMED)


@pytest.mark.parametrize(
    "name", ["/vsicurl/http://127.0.0.1:1/in.geojson", "https://127.0.0.1:1/in.gpkg", "s3://b/in.fgb"]
)
def test_addresses_are_refused_unless_asked_for(tmp_path, name):
    with pytest.raises(InputError, match="is not on this machine"):
        files.read(name)
    with pytest.raises(SystemExit):
        main(["perturb", name, str(tmp_path / "out.gpkg"), "--eps", "4", "--domain", "139,35,140,36"])


def test_addresses_are_read_where_that_is_asked_for(tmp_path, tracks):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    tracks[["person", "geometry"]].to_file(tmp_path / "in.geojson")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"/vsicurl/http://127.0.0.1:{server.server_port}/in.geojson"
        assert len(files.read(address, allow_remote=True)) == len(tracks)
        geotracs.perturb_file(address, tmp_path / "out.gpkg", 4, allow_remote=True, **STREAMED)
    finally:
        server.shutdown()
        server.server_close()
    assert len(files.read(tmp_path / "out.gpkg")) == len(tracks)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_nobody_is_asked_for_the_crs_of_a_file(tmp_path, tracks, scheme, monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    asked = []

    class Asked(StreamRequestHandler):
        def handle(self):
            asked.append(self.client_address)

    tracks = tracks[["person", "geometry"]].to_crs(4326)
    with ThreadingTCPServer(("127.0.0.1", 0), Asked) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        href = f"{scheme}://127.0.0.1:{server.server_address[1]}/crs"
        crs = {"type": "link", "properties": {"href": href, "type": "proj4"}}
        path = tmp_path / "in.geojson"
        path.write_text(json.dumps({**json.loads(tracks.to_json(drop_id=True)), "crs": crs}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(files.read(path, crs=4326)) == len(tracks)
            geotracs.perturb_file(path, tmp_path / "out.gpkg", 4, input_crs=4326, **STREAMED)
        server.shutdown()
    assert not asked


@pytest.mark.parametrize("streamed", [False, True])
def test_formulas_are_quoted_on_request(tmp_path, tracks, streamed):
    tracks = tracks.assign(person=tracks["person"].map({"ann": "=1+1", "bob": "@bob", "cleo": "cleo"}))
    tracks.to_parquet(tmp_path / "in.parquet")
    arguments = {"trajectory": "person", "time": "t", "domain": TOKYO, "keep": []}
    arguments |= {"batch_rows": 10} if streamed else {}
    for quote, labels in ((False, {"=1+1", "@bob", "cleo"}), (True, {"'=1+1", "'@bob", "cleo"})):
        out = tmp_path / f"{quote}.csv"
        geotracs.perturb_file(tmp_path / "in.parquet", out, 4, quote_formulas=quote, **arguments)
        back = pd.read_csv(out)
        assert set(back["person"]) == labels
        assert pd.to_datetime(back["t"]).notna().all()
        assert pd.api.types.is_float_dtype(back["lon"])
