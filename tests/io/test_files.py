import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from geotracs import InputError, files
from tests.conftest import TOKYO


@pytest.fixture
def private(tracks):
    return geotracs.perturb(tracks, 4, domain=TOKYO, trajectory="person", time="t", keep=[]).reset_index(drop=True)


@pytest.mark.filterwarnings("ignore:Field t created as String:RuntimeWarning")
@pytest.mark.parametrize("name", ["p.gpkg", "p.parquet", "p.geojson", "p.shp", "p.fgb", "p.csv", "p.csv.gz", "p.tsv"])
def test_round_trip(private, tmp_path, name):
    files.write(private, tmp_path / name)
    back = files.read(tmp_path / name)
    assert len(back) == len(private)
    assert back.crs.to_epsg() == 4326
    assert sorted(back.geometry.x) == pytest.approx(sorted(private.geometry.x), abs=1e-6)
    assert set(back["person"]) == {"ann", "bob", "cleo"}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", ["p.gpkg", "p.parquet"])
def test_record_is_kept(private, tmp_path, name):
    files.write(private, tmp_path / name)
    assert files.read(tmp_path / name).tracs.guarantee == private.tracs.guarantee


def test_csv_coordinates_become_the_geometry_only(tmp_path):
    table = pd.DataFrame({"Lon": [139.7, None], "Lat": [35.7, 35.8], "who": ["a", "b"]})
    table.to_csv(tmp_path / "a.csv", index=False)
    frame = files.read(tmp_path / "a.csv")
    assert list(frame.columns) == ["who", "geometry"]
    assert frame.geometry.isna().tolist() == [False, True]
    table.rename(columns={"Lon": "e", "Lat": "n"}).to_csv(tmp_path / "b.csv", index=False)
    assert files.read(tmp_path / "b.csv", x="e", y="n", crs="EPSG:32654").crs.to_epsg() == 32654


def test_labels_of_a_large_csv_file_are_of_one_kind(tmp_path):
    """Were they numbers at first and texts in the end, a person would be two, each with all of epsilon."""
    n = 300_000
    table = pd.DataFrame({"person": np.arange(n) % 3, "lon": 139.7, "lat": 35.7}).astype({"person": str})
    table.loc[n - 1, "person"] = "x"
    table.to_csv(tmp_path / "in.csv", index=False)
    assert (
        files.read(tmp_path / "in.csv")["person"].value_counts().to_dict() == table["person"].value_counts().to_dict()
    )


def test_values_that_cannot_be_written_are_not_quoted(private, tmp_path):
    private["lat"] = [35.612345, *["north"] * (len(private) - 1)]
    with pytest.raises(InputError, match="holds values of several kinds") as caught:
        files.write(private, tmp_path / "p.parquet")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_bad_files(private, tmp_path):
    def csv(**columns):
        pd.DataFrame(columns).to_csv(tmp_path / "bad.csv", index=False)
        return tmp_path / "bad.csv"

    with pytest.raises(InputError, match="There is no file"):
        files.read(tmp_path / "nope.gpkg")
    with pytest.raises(InputError, match="no column that looks like x; name both coordinates with x="):
        files.read(csv(a=[1.0], b=[2.0]))
    with pytest.raises(InputError, match="does not say its CRS"):
        files.read(csv(x=[1.0], y=[2.0]))
    with pytest.raises(InputError, match="'lon' does not hold numbers only"):
        files.read(csv(lon=["east"], lat=[2.0]))
    with pytest.raises(InputError, match="There is no column 'e'"):
        files.read(csv(lon=[1.0], lat=[2.0]), x="e")
    (tmp_path / "latin.csv").write_bytes("lon,lat,who\n1,2,José\n".encode("latin-1"))
    with pytest.raises(InputError, match="save it as UTF-8"):
        files.read(tmp_path / "latin.csv")
    (tmp_path / "head.csv").write_text("7;139.7123;35.7123\n")
    with pytest.raises(InputError, match="no header line"):
        files.read(tmp_path / "head.csv", x="lon")
    files.write(private, tmp_path / "one.gpkg")
    with pytest.raises(InputError, match="no layer 'two'; it has one"):
        files.read(tmp_path / "one.gpkg", layer="two")
    (tmp_path / "broken.gpkg").write_bytes(b"not a geopackage")
    with pytest.raises(InputError, match="cannot be read"):
        files.read(tmp_path / "broken.gpkg")
    (tmp_path / "broken.parquet").write_bytes(b"not parquet")
    with pytest.raises(InputError, match="cannot be read"):
        files.read(tmp_path / "broken.parquet")
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "plain.parquet")
    with pytest.raises(InputError, match="cannot be read"):
        files.read(tmp_path / "plain.parquet")
    with pytest.raises(InputError, match="no ending that is known"):
        files.write(private, tmp_path / "p.xyz")
    for zipped in ("p.gpkg.zip", "p.shz"):
        with pytest.raises(InputError, match="zip the file yourself"):
            files.write(private, tmp_path / zipped)
    with pytest.raises(InputError, match="is not the name of a file"):
        files.write(private, ".", overwrite=True)
    (tmp_path / "texts.csv").write_text("Rue de la Paix 12,Zoe\n")
    with pytest.raises(InputError, match="There is no column 'lon' in the first line") as caught:
        files.read(tmp_path / "texts.csv", x="lon")
    assert "Paix" not in str(caught.value)
    with pytest.raises(InputError, match="There is no folder"):
        files.write(private, tmp_path / "nope" / "p.gpkg")
    line = gpd.GeoDataFrame(geometry=[shapely.LineString([(0, 0), (1, 1)])], crs=4326)
    with pytest.raises(InputError, match="can only hold points"):
        files.write(line, tmp_path / "line.csv")


def test_never_overwrites_unasked_and_leaves_no_half_file(private, tmp_path, monkeypatch):
    path = files.write(private, tmp_path / "p.gpkg")
    before = path.read_bytes()
    with pytest.raises(InputError, match="exists already"):
        files.write(private, path)

    def fail(self, target, *args, **kwargs):
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gpd.GeoDataFrame, "to_file", fail)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        files.write(private, path, overwrite=True)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["p.gpkg"]


def test_what_cannot_be_written_is_said_in_a_line(private, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="cannot be written: field type is not supported"):
        files.write(private.assign(pause=pd.Timedelta("1min")), tmp_path / "p.gpkg")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(InputError, match=r"p\.gpkg' cannot be written: Permission denied"):
        files.write(private, tmp_path / "p.gpkg")


def test_missing_geometries_in_csv(private, tmp_path):
    private.loc[0, "geometry"] = None
    files.write(private, tmp_path / "p.csv")
    assert files.read(tmp_path / "p.csv").geometry.isna().sum() == 1
    assert np.isclose(pd.read_csv(tmp_path / "p.csv")["lon"].iloc[1], private.geometry.x.iloc[1])


def test_gpx_tracks_are_read_unless_another_layer_is_named(tmp_path):
    path = tmp_path / "ride.gpx"
    path.write_text(
        '<gpx version="1.1" creator="me" xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="1" lon="2"/><trk><trkseg>'
        '<trkpt lat="35.7" lon="139.6"><time>2026-01-01T10:00:00Z</time></trkpt></trkseg></trk></gpx>'
    )
    frame = files.read(path)
    assert list(frame.columns) == ["trajectory", "segment", "time", "altitude", "geometry"]
    assert frame["trajectory"].tolist() == ["ride/0"]
    assert frame.geometry.x.tolist() == [139.6]
    assert files.read(f"{path}|layername=waypoints").geometry.x.tolist() == [2]
