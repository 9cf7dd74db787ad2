import gzip

import numpy as np
import pandas as pd
import pytest

import geotracs
from geotracs import GeotracsWarning, InputError, loaders
from tests.conftest import CHICAGO, TOKYO

FOURSQUARE = (
    "470\t49bbd6c0f964a520f4531fe3\t4bf58dd8d48988d127951735\tArts & Crafts Store\t35.70\t139.60\t540\t"
    "Tue Apr 03 18:00:09 +0000 2012\n"
    '979\t4a43c0aef964a520c6a61fe3\t4bf58dd8d48988d1df941735\tCafé "Bridge"\t35.60\t139.71\t540\t'
    "Fri Dec 28 23:59:59 +0000 2012\n"
)
GOWALLA = "0\t2010-10-19T23:55:27Z\t30.2359\t-97.7951\t22847\n0\t2010-10-18T22:17:43Z\t59.91\t10.75\t420315\n"
PLT = "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n0,2,255,My Track,0,0,2,8421376\r\n0\r\n"
TAXI = "1,2008-02-02 15:36:08,116.51,39.92\r\n1,2008-02-02 15:46:08,116.52,39.93\r\n"
TRACK = '<trkpt lat="{}" lon="{}"><ele>4.5</ele><time>2026-01-01T10:00:{:02d}Z</time></trkpt>'


def write(path, text, encoding="utf-8"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


def gpx(*tracks):
    body = "".join(f"<trk><trkseg>{track}</trkseg></trk>" for track in tracks)
    return f'<gpx version="1.1" creator="me" xmlns="http://www.topografix.com/GPX/1/1">{body}</gpx>'


def xy(frame):
    return np.column_stack([frame.geometry.x, frame.geometry.y]).tolist()


def test_foursquare(tmp_path):
    frame = loaders.foursquare(write(tmp_path / "tky.txt", FOURSQUARE + "\n\n", "latin-1"))
    assert list(frame.columns) == [
        "user", "venue", "category_id", "category", "tz_offset", "time", "geometry",
    ]  # fmt: skip
    assert frame["user"].tolist() == [470, 979]
    assert frame["category"].tolist() == ["Arts & Crafts Store", 'Café "Bridge"']
    assert frame["time"].tolist() == [
        pd.Timestamp("2012-04-03 18:00:09", tz="UTC"),
        pd.Timestamp("2012-12-28 23:59:59", tz="UTC"),
    ]
    assert xy(frame) == [[139.60, 35.70], [139.71, 35.60]]
    assert frame.crs.to_epsg() == 4326


def test_gowalla_compressed_and_by_region(tmp_path):
    path = tmp_path / "loc-gowalla_totalCheckins.txt.gz"
    path.write_bytes(gzip.compress(GOWALLA.encode()))
    frame = loaders.gowalla(path)
    assert frame["venue"].tolist() == [22847, 420315]
    assert frame["time"].iloc[0] == pd.Timestamp("2010-10-19 23:55:27", tz="UTC")
    assert xy(loaders.gowalla(path, bbox=(10, 59, 11, 60))) == [[10.75, 59.91]]
    assert xy(loaders.gowalla(path, bbox=(170, -90, -90, 90))) == [[-97.7951, 30.2359]]  # across the antimeridian
    assert len(loaders.gowalla(path, bbox=(0, 0, 1, 1))) == 0
    for bbox in ((1, 2, 3), (0, 5, 1, 4), (0, "a", 1, 2)):
        with pytest.raises(InputError, match="`bbox` must be"):
            loaders.gowalla(path, bbox=bbox)


BAD_LINES = (
    "1\t2010-10-19T23:55:27Z\t405.1\t-97.7\t1\n"  # no latitude
    "1\tyesterday\t30.1\t-97.7\t1\n"
    "1\t2010-10-19T23:55:27Z\n"  # cut short
    "\t2010-10-19T23:55:27Z\t30.1\t-97.7\t1\n"  # nobody
)


def test_bad_lines_are_left_out_and_counted_and_repeated_ones_stay(tmp_path):
    path = write(tmp_path / "ugly.txt", GOWALLA + BAD_LINES + GOWALLA + "   \n\n")
    with pytest.warns(GeotracsWarning, match="4 of 8 lines") as caught:
        frame = loaders.gowalla(path)
    assert "405.1" not in str(caught[0].message)
    assert "97.7" not in str(caught[0].message)
    assert frame["user"].tolist() == [0, 0, 0, 0]
    assert frame["user"].dtype == np.int64
    assert frame["venue"].tolist() == [22847, 420315] * 2
    assert frame.index.tolist() == [0, 1, 2, 3]
    with pytest.raises(InputError, match="does not hold what was expected, lines of user, time, lat, lon, venue"):
        loaders.gowalla(write(tmp_path / "worse.txt", GOWALLA + BAD_LINES))  # less than half is usable


def test_checkins(tmp_path):
    text = (
        "user,time,lon,lat,venue,category\n"
        '1,2012-04-07 23:33:08,139.805,35.749,4b396b34f964a5204f5c25e3,"Train, Station"\n'
        "1,2012-04-08 00:03:35,139.767,35.669,4b305a74f964a5201ef924e3,Subway\n"
    )
    frame = loaders.checkins(write(tmp_path / "city.csv", text))
    assert list(frame.columns) == ["user", "time", "venue", "category", "geometry"]
    assert frame["category"].iloc[0] == "Train, Station"
    with pytest.raises(InputError, match="no column 'venue'; its first line must name user,time,lon,lat,venue"):
        loaders.checkins(write(tmp_path / "other.csv", "user,time,lon,lat\n1,2,3,4\n"))


@pytest.mark.parametrize(("city", "rows"), [("tky", 29_114), ("chi", 36_094)])
def test_real_checkins_are_ready_for_perturb(checkins, city, rows):
    frame = loaders.checkins(checkins(city))
    assert len(frame) == rows
    domain = {"tky": TOKYO, "chi": CHICAGO}[city]
    private = frame.tracs.perturb(4, domain=domain, trajectory="user", time="time", outside="clip", keep=[])
    assert list(private.columns) == ["user", "time", "geometry"]


@pytest.fixture
def geolife(tmp_path):
    """Two users: one with labels and an empty file, one with a bad line."""
    lines = [f"39.9{i},116.3{i},0,{492 if i else -777},39744.12,2008-10-23,02:53:{i:02d}\r\n" for i in range(5)]
    folder = tmp_path / "Geolife Trajectories 1.3" / "Data"
    write(folder / "010" / "Trajectory" / "20081023025300.plt", PLT + "".join(lines))
    write(folder / "010" / "Trajectory" / "20081024000000.plt", PLT)
    write(folder / "010" / "Trajectory" / "20081025000000.plt", "")
    write(folder / "011" / "Trajectory" / "20081023025300.plt", PLT + lines[0] + lines[0] + "400.2" + lines[1] + "\n")
    labels = "2008/10/23 02:53:03\t2008/10/23 02:53:09\ttrain\r\n2008/10/23 02:53:00\t2008/10/23 02:53:01\twalk\r\n"
    write(folder / "010" / "labels.txt", "Start Time\tEnd Time\tTransportation Mode\r\n" + labels)
    return folder.parent


@pytest.mark.filterwarnings("ignore:1 of 8 lines:geotracs.GeotracsWarning")
def test_geolife(geolife):
    frame = loaders.geolife(geolife)
    assert list(frame.columns) == ["user", "trajectory", "time", "altitude", "mode", "geometry"]
    assert frame["trajectory"].tolist() == ["010/20081023025300"] * 5 + ["011/20081023025300"] * 2
    assert frame["user"].tolist() == ["010"] * 5 + ["011"] * 2
    assert frame["mode"].fillna("").tolist() == ["walk", "walk", "", "train", "train", "", ""]
    assert frame["altitude"].isna().tolist() == [True, False, False, False, False, True, True]
    assert frame["altitude"].iloc[1] == pytest.approx(492 * 0.3048)
    assert frame["time"].iloc[4] == pd.Timestamp("2008-10-23 02:53:04", tz="UTC")
    assert xy(frame)[1] == [116.31, 39.91]


def test_parts_of_geolife(geolife, tmp_path, capsys):
    whole = loaders.geolife(geolife, users=[10])
    assert loaders.geolife(geolife / "Data" / "010").equals(whole)
    assert capsys.readouterr().err == ""
    assert loaders.geolife(geolife / "Data", users=["010"], progress=True).equals(whole)
    assert "GeoLife" in capsys.readouterr().err
    assert len(loaders.geolife(geolife, users=[10], bbox=(116.3, 39.9, 116.315, 40))) == 2
    with pytest.warns(GeotracsWarning, match="1 of 3 lines"):
        assert "mode" not in loaders.geolife(geolife, users=[11])
    with pytest.raises(InputError, match=r"no files 000/Trajectory/\*.plt"):
        loaders.geolife(geolife, users=[12])
    with pytest.raises(InputError, match="There is no folder"):
        loaders.geolife(tmp_path / "nope")


def test_t_drive(tmp_path):
    write(tmp_path / "taxi" / "2.txt", TAXI.replace("1,2008", "2,2008") + "\r\n")
    write(tmp_path / "taxi" / "10.txt", "")
    write(tmp_path / "taxi" / "1.txt", TAXI + TAXI)
    write(tmp_path / "taxi" / "readme.txt", "Taxis")
    frame = loaders.t_drive(tmp_path / "taxi")
    assert list(frame.columns) == ["user", "time", "geometry"]
    assert frame["user"].tolist() == [1, 1, 1, 1, 2, 2]
    assert frame["time"].iloc[0] == pd.Timestamp("2008-02-02 15:36:08")
    assert xy(frame)[0] == [116.51, 39.92]
    assert xy(loaders.t_drive(tmp_path / "taxi" / "1.txt")) == xy(frame)[:4]
    with pytest.raises(InputError, match="no files such as"):
        loaders.t_drive(write(tmp_path / "other" / "a.txt", TAXI).parent)
    swapped = write(tmp_path / "3.txt", "3,2008-02-02 15:36:08,39.92,116.51\n")
    with pytest.raises(InputError, match="lines of user, time, lon, lat"):
        loaders.t_drive(swapped)


def test_gpx(tmp_path):
    first = TRACK.format(35.7, 139.6, 1) + TRACK.format(35.8, 139.7, 2) + "</trkseg><trkseg/><trkseg>"
    path = write(tmp_path / "rides" / "a.gpx", gpx(first + '<trkpt lat="35.9" lon="139.8"/>', TRACK.format(1, 2, 3)))
    frame = loaders.gpx(path)
    assert list(frame.columns) == ["trajectory", "segment", "time", "altitude", "geometry"]
    assert frame["trajectory"].tolist() == ["a/0", "a/0", "a/0", "a/1"]
    assert frame["segment"].tolist() == [0, 0, 2, 0]
    assert frame["time"].isna().tolist() == [False, False, True, False]
    assert frame["time"].iloc[1] == pd.Timestamp("2026-01-01 10:00:02", tz="UTC")
    assert xy(frame)[0] == [139.6, 35.7]
    write(tmp_path / "rides" / "more" / "b.GPX", gpx(TRACK.format(5, 6, 7), TRACK.format(95, 6, 7)))
    write(tmp_path / "rides" / "empty.gpx", gpx())
    with pytest.warns(GeotracsWarning, match="1 of 6 lines"):
        rides = loaders.gpx(tmp_path / "rides")
    assert rides["trajectory"].tolist() == ["a/0", "a/0", "a/0", "a/1", "b/0"]
    with pytest.raises(InputError, match="does not hold what was expected"):
        loaders.gpx(tmp_path / "rides" / "empty.gpx")
    with pytest.raises(InputError, match=r"no \.gpx files"):
        loaders.gpx(write(tmp_path / "none" / "a.txt", "").parent)


@pytest.mark.parametrize("load", [loaders.foursquare, loaders.gowalla, loaders.checkins, loaders.t_drive])
@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"35.70123,139.60123\n", b"35.70123\n" * 9, b"\x00\xff\xfe\x01" * 99]
)
def test_wrong_files_are_refused_without_a_word_of_what_is_in_them(tmp_path, load, content):
    for name in ("wrong.txt", "wrong.txt.gz"):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            load(path)
        assert "35.70123" not in str(caught.value)
        assert caught.value.__cause__ is None
    with pytest.raises(InputError, match="There is no file"):
        load(tmp_path / "nope.txt")


def test_cut_off_archive(tmp_path):
    whole = gzip.compress(GOWALLA.encode() * 1000)
    for data in (whole[:-20], whole[:30] + bytes(9) + whole[39:]):
        (tmp_path / "cut.gz").write_bytes(data)
        with pytest.raises(InputError, match="does not hold what was expected"):
            loaders.gowalla(tmp_path / "cut.gz")


def test_columns_fit_perturb(tmp_path):
    frame = loaders.t_drive(write(tmp_path / "1.txt", TAXI))
    private = geotracs.perturb(frame, 4, "tracs-d", domain=(116, 39, 117, 40), trajectory="user", time="time")
    assert list(private.columns) == ["user", "time", "geometry"]
    frame = loaders.gpx(write(tmp_path / "a.gpx", gpx(TRACK.format(35.7, 139.6, 1))))
    private = geotracs.perturb(frame, 4, domain=TOKYO, trajectory="trajectory", time="time", keep=[])
    assert private["trajectory"].tolist() == ["a/0"]
