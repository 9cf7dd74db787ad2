"""Small twins of five kinds of files as people have them, through the command line without editing."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from geotracs import cli, files
from tests.helpers import quiet

N = 12
STEPS = np.arange(N)


@dataclass
class Kind:
    """A kind of file: what is in it, and what one types for it."""

    name: str
    content: bytes
    options: list[str]
    reading: dict = field(default_factory=dict)


def checkins():
    """Foursquare as it is downloaded: no header, tabs, Latin-1, dates in words."""
    times = pd.date_range("2012-04-03 18:00:09", periods=N, freq="5h").strftime("%a %b %d %H:%M:%S +0000 %Y")
    rows = [f"{n % 3}\tv{n}\tCaf\xe9\t{40.7 + n / 100}\t{-74 + n / 100}\t-240\t{times[n]}" for n in STEPS]
    columns = ["user", "venue", "category", "lat", "lon", "offset", "time"]
    form = "%a %b %d %H:%M:%S %z %Y"
    options = ["--columns", ",".join(columns), "--input-encoding", "latin-1", "--time", "time", "--time-format", form]
    return Kind(
        "dataset_TSMC2014_NYC.txt",
        "\n".join(rows).encode("latin-1"),
        ["--domain", "-74.3,40.5,-73.7,41", "--trajectory", "user", *options],
        {"columns": columns, "encoding": "latin-1", "time": "time", "time_format": form},
    )


def gps():
    """GPX: a track of points with heights and times."""
    points = "".join(
        f'<trkpt lat="{39.9 + n / 1000}" lon="{116.3 + n / 1000}"><ele>50</ele><time>2009-01-01T08:00:{n:02}Z</time>'
        "</trkpt>"
        for n in STEPS
    )
    text = f'<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>{points}</trkseg></trk></gpx>'
    return Kind("trace.gpx", text.encode(), ["--domain", "116,39.6,116.8,40.2", "--time", "time"])


def ships():
    """AIS: a byte order mark, days first."""
    times = pd.date_range("2026-03-12 23:50", periods=N, freq="3min").strftime("%d/%m/%Y %H:%M:%S")
    rows = [f"{times[n]},Class A,{2190000 + n % 2},{55.6 + n / 100},{12.5 + n / 100}" for n in STEPS]
    text = "\n".join(["# Timestamp,Type of mobile,MMSI,Latitude,Longitude", *rows])
    return Kind(
        "aisdk.csv",
        text.encode("utf-8-sig"),
        ["--domain", "disc:12.5,55.7,60000", "--method", "tracs-d", "--trajectory", "MMSI", "--time", "# Timestamp",
         "--dayfirst"],
        {"time": "# Timestamp", "dayfirst": True},
    )  # fmt: skip


def buses():
    """Bus positions from a spreadsheet: semicolons, decimal commas, milliseconds since 1970, a typo of a year."""
    times = [1_772_352_000_000 + 30_000 * n for n in range(N - 1)] + [10_461_571_200_000]  # 2301-07-08
    rows = [
        f"{n % 2};{times[n]};{str(13.4 + n / 100).replace('.', ',')};{str(52.5 + n / 100).replace('.', ',')}"
        for n in STEPS
    ]
    return Kind(
        "buses.csv",
        "\r\n".join(["bus;when;lng;lat", *rows]).encode(),
        ["--domain", "13,52.3,13.8,52.8", "--trajectory", "bus", "--time", "when", "--time-format", "ms"],
        {"time": "when", "time_format": "ms"},
    )


def pole():
    """Tracks around the South Pole, in degrees."""
    rows = [f"{n % 2},{-180 + 30 * n},{-89 + n / 2}" for n in STEPS]
    text = "\n".join(["seal,lon,lat", *rows])
    return Kind(
        "seals.csv", text.encode(), ["--domain", "-180,-90,180,-60", "--crs", "EPSG:3031", "--trajectory", "seal"]
    )


@pytest.mark.parametrize("make", [checkins, gps, ships, buses, pole])
def test_real_files_go_through_without_editing(make, tmp_path):
    kind = make()
    source, target = tmp_path / kind.name, tmp_path / "private.gpkg"
    source.write_bytes(kind.content)
    options = [*kind.options, "--eps", "4", "--keep", "none", "--seed", "1"]
    ran = quiet(CliRunner().invoke, cli.cli, ["perturb", str(source), str(target), *options])
    assert ran.exception is None, ran.exception
    private, before = files.read(target), quiet(files.read, source, **kind.reading)
    assert len(private) == len(before) == N
    assert private.tracs.guarantee.epsilon == 4
    time = kind.reading.get("time")
    assert time is None or private[time].dt.tz_localize(None).tolist() == before[time].dt.tz_localize(None).tolist()


def test_the_error_of_a_polar_region_names_the_crs(tmp_path):
    (tmp_path / "seals.csv").write_bytes(pole().content)
    arguments = ["perturb", str(tmp_path / "seals.csv"), str(tmp_path / "o.gpkg"), "--eps", "4", *pole().options[:2]]
    ran = quiet(CliRunner().invoke, cli.cli, arguments)
    assert "Around the south pole work in a polar CRS: crs='EPSG:3031'" in str(ran.exception)
    assert "--crs EPSG:3031" in cli._in_options(str(ran.exception))
