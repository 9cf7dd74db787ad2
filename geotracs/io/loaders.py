"""Well-known movement data as they are downloaded: files in, a frame that is ready for `perturb` out.

Every loader returns a GeoDataFrame of points in EPSG:4326, in the order of the file, with the columns ``user`` or
``trajectory`` or both, ``time`` (UTC, unless said otherwise), and what else the file has. Lines without a location in
degrees, a time or a user are left out and counted in a warning; a file that is less than half usable raises an error.
Lines that repeat another one stay: ``drop_duplicates()`` removes them, before each costs another epsilon.

The other columns, such as ``venue``, often give the location away; `perturb` leaves them out unless asked.
"""

import csv
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
from tqdm import tqdm

import geotracs.io.files as files
from geotracs.errors import InputError, sealed, warn

FOURSQUARE = ["user", "venue", "category_id", "category", "lat", "lon", "tz_offset", "time"]
GOWALLA = ["user", "time", "lat", "lon", "venue"]
CHECKINS = ["user", "time", "lon", "lat", "venue"]
PLT = ["lat", "lon", "zero", "altitude", "days", "date", "clock"]
PLT_HEADER = 6
TAXI = ["user", "time", "lon", "lat"]
NO_ALTITUDE = -777
LABEL_TIME = "%Y/%m/%d %H:%M:%S"
MONTHS = {
    "Jan": "01", "Feb": "02", "Mar": "03", "Apr": "04", "May": "05", "Jun": "06",
    "Jul": "07", "Aug": "08", "Sep": "09", "Oct": "10", "Nov": "11", "Dec": "12",
}  # fmt: skip
FOOT = 0.3048

Bbox = tuple[float, float, float, float]


def foursquare(path: str | Path, *, bbox: Bbox | None = None) -> gpd.GeoDataFrame:
    """Read the Foursquare check-ins of Yang et al. (TSMC 2014), e.g. ``dataset_TSMC2014_TKY.txt``.

    Parameters
    ----------
    path : str or Path
        Text with tabs between user, venue, category id, category, latitude, longitude, offset of local time in minutes
        and UTC time ("Tue Apr 03 18:00:09 +0000 2012"). May be compressed.
    bbox : (west, south, east, north), optional
        Leave out what is outside, in degrees.

    Returns
    -------
    GeoDataFrame
        ``user``, ``venue``, ``category_id``, ``category``, ``tz_offset``, ``time``.
    """
    table = _table(path, FOURSQUARE, "\t", encoding="latin-1", dtype={"venue": str, "category_id": str, "time": str})
    return _frame(table, path, FOURSQUARE, bbox, _foursquare_times)


def gowalla(path: str | Path, *, bbox: Bbox | None = None) -> gpd.GeoDataFrame:
    """Read the Gowalla check-ins of Cho et al. (KDD 2011), ``loc-gowalla_totalCheckins.txt.gz``.

    Parameters
    ----------
    path : str or Path
        Text with tabs between user, UTC time ("2010-10-19T23:55:27Z"), latitude, longitude and venue. May be
        compressed.
    bbox : (west, south, east, north), optional
        Leave out what is outside, in degrees.

    Returns
    -------
    GeoDataFrame
        ``user``, ``time``, ``venue``.
    """
    return _frame(_table(path, GOWALLA, "\t", dtype={"time": str}), path, GOWALLA, bbox)


def checkins(path: str | Path, *, bbox: Bbox | None = None) -> gpd.GeoDataFrame:
    """Read check-ins from CSV with a header: user, time (UTC), lon, lat, venue, and any other columns.

    Parameters
    ----------
    path : str or Path
        May be compressed.
    bbox : (west, south, east, north), optional
        Leave out what is outside, in degrees.

    Returns
    -------
    GeoDataFrame
        ``user``, ``time``, ``venue``, and the other columns of the file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "city.csv")
    >>> _ = path.write_text("user,time,lon,lat,venue\\n1,2026-01-01 08:00:00,13.2,-20.3,market\\n")
    >>> list(checkins(path).columns)
    ['user', 'time', 'venue', 'geometry']
    """
    table = _table(path, None, ",", dtype={"time": str})
    missing = [name for name in CHECKINS if name not in table.columns]
    if missing:
        raise InputError(f"{str(path)!r} has no column {missing[0]!r}; its first line must name {','.join(CHECKINS)}.")
    return _frame(table, path, CHECKINS, bbox)


def geolife(
    folder: str | Path, *, users: Iterable[str | int] | None = None, bbox: Bbox | None = None, progress: bool = False
) -> gpd.GeoDataFrame:
    """Read GeoLife (Zheng et al., 2008-2011): a folder with ``Data/000/Trajectory/*.plt``, or a part of it.

    Parameters
    ----------
    folder : str or Path
        Each .plt file has six lines of header, then latitude, longitude, 0, altitude in feet, days, date and time.
    users : iterable, optional
        Only these, such as "000" or 0; all by default, which are 25 million locations.
    bbox : (west, south, east, north), optional
        Leave out what is outside, in degrees.
    progress : bool
        Show a progress bar.

    Returns
    -------
    GeoDataFrame
        ``user``, ``trajectory`` (user/file), ``time``, ``altitude`` in metres, and ``mode`` of transport if any of the
        users has a ``labels.txt``.
    """
    paths = sorted(_folder(folder).rglob("Trajectory/*.plt"))
    if users is not None:
        wanted = {f"{user:03d}" if isinstance(user, (int, np.integer)) else str(user) for user in users}
        paths = [path for path in paths if _plt_user(path) in wanted]
    if not paths:
        raise InputError(f"{str(folder)!r} has no files 000/Trajectory/*.plt (of these users); give GeoLife's folder.")
    tables = [
        _table(path, PLT, ",", skiprows=PLT_HEADER, dtype={"date": str, "clock": str})
        for path in tqdm(paths, "GeoLife", unit="file", disable=not progress)
    ]
    names = pd.DataFrame({"user": [_plt_user(path) for path in paths]})
    names["trajectory"] = names["user"] + "/" + [path.stem for path in paths]
    of_file = np.repeat(np.arange(len(paths)), [len(part) for part in tables])
    table = _together(tables).join(names.iloc[of_file].reset_index(drop=True))
    altitude = pd.to_numeric(table["altitude"], errors="coerce")
    table["altitude"] = altitude.mask(altitude == NO_ALTITUDE) * FOOT
    table["time"] = table["date"] + " " + table["clock"]
    frame = _frame(table[["user", "trajectory", "time", "altitude", "lat", "lon"]], folder, PLT, bbox, ids=False)
    labels = sorted({path.parents[1] / "labels.txt" for path in paths})
    return _with_modes(frame, [path for path in labels if path.exists()])


def t_drive(path: str | Path, *, bbox: Bbox | None = None, progress: bool = False) -> gpd.GeoDataFrame:
    """Read T-Drive (Yuan et al., 2010): taxis of Beijing, a file or a folder with one for each, ``1.txt`` and so on.

    Parameters
    ----------
    path : str or Path
        Lines of taxi, local time ("2008-02-02 15:36:08"), longitude and latitude, with commas.
    bbox : (west, south, east, north), optional
        Leave out what is outside, in degrees.
    progress : bool
        Show a progress bar.

    Returns
    -------
    GeoDataFrame
        ``user`` (the taxi), ``time`` (local, without a zone).
    """
    paths = [Path(path)]
    if paths[0].is_dir():
        paths = sorted((p for p in paths[0].rglob("*.txt") if p.stem.isdigit()), key=lambda p: int(p.stem))
    if not paths:
        raise InputError(f"{str(path)!r} has no files such as 1.txt; give T-Drive's folder.")
    tables = [
        _table(part, TAXI, ",", dtype={"time": str})
        for part in tqdm(paths, "T-Drive", unit="file", disable=not progress)
    ]
    return _frame(_together(tables), path, TAXI, bbox, _local_times)


def gpx(path: str | Path, *, bbox: Bbox | None = None, progress: bool = False) -> gpd.GeoDataFrame:
    """Read the tracks of a GPX file, or of all in a folder.

    Parameters
    ----------
    path : str or Path
        Waypoints and routes in it are not read.
    bbox : (west, south, east, north), optional
        Leave out what is outside, in degrees.
    progress : bool
        Show a progress bar.

    Returns
    -------
    GeoDataFrame
        ``trajectory`` (file/number of the track), ``segment``, ``time`` (missing where the file has none),
        ``altitude`` in metres.
    """
    paths = [Path(path)]
    if paths[0].is_dir():
        paths = sorted(p for p in paths[0].rglob("*") if p.suffix.lower() == ".gpx")
    if not paths:
        raise InputError(f"{str(path)!r} has no .gpx files.")
    tracks = _together([files.read(part) for part in tqdm(paths, "GPX", unit="file", disable=not progress)])
    table = pd.DataFrame(tracks.drop(columns="geometry")).assign(lon=tracks.geometry.x, lat=tracks.geometry.y)
    return _frame(table, path, ["a <trk> with <trkpt lat=... lon=...>"], bbox, None, ids=False)


@sealed
def _table(path: str | Path, names: Sequence[str] | None, sep: str, **options: Any) -> pd.DataFrame:
    """Read a table as it is, with the given column names if the file has none."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no file {str(path)!r}.")
    if names is not None:
        options |= {"header": None, "names": names, "usecols": range(len(names)), "quoting": csv.QUOTE_NONE}
    try:
        return pd.read_csv(path, sep=sep, low_memory=False, **options)
    except pd.errors.EmptyDataError:
        return pd.DataFrame(columns=None if names is None else list(names))
    except Exception:  # whatever pandas and what unpacks the file can say of it
        raise _wrong(path, names or CHECKINS) from None


def _together(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([part for part in tables if len(part)] or tables[:1], ignore_index=True)


def _utc_times(text: pd.Series) -> pd.Series:
    return pd.to_datetime(text, format="ISO8601", utc=True, errors="coerce")


def _frame(
    table: pd.DataFrame,
    path: Any,
    expected: Sequence[str],
    bbox: Bbox | None,
    times: Callable[[pd.Series], pd.Series] | None = _utc_times,
    ids: bool = True,
) -> gpd.GeoDataFrame:
    """Return the usable lines of a table as points, and say how many are not."""
    bbox = _checked(bbox)
    x, y = (pd.to_numeric(table[name], errors="coerce") for name in ("lon", "lat"))
    usable = x.between(-180, 180) & y.between(-90, 90)
    if times is not None:
        table = table.assign(time=times(table["time"]))
        usable &= table["time"].notna()
    if "user" in table:
        usable &= table["user"].notna()
    if 2 * usable.sum() < len(table) or len(table) == 0:
        raise _wrong(path, expected)
    if not usable.all():
        warn(
            f"{(~usable).sum():,} of {len(table):,} lines of {str(path)!r} are left out: they have no location in "
            "degrees, no time or no user."
        )
    if bbox is not None:
        usable &= _inside(x, y, bbox)
    table = table[usable].drop(columns=["lon", "lat"]).reset_index(drop=True)
    if ids:
        table = table.assign(**{name: _ids(table[name]) for name in ("user", "venue") if name in table})
    return gpd.GeoDataFrame(table, geometry=gpd.points_from_xy(x[usable], y[usable]), crs="EPSG:4326")


def _wrong(path: Any, expected: Sequence[str]) -> InputError:
    return InputError(f"{str(path)!r} does not hold what was expected, lines of {', '.join(expected)}.")


def _checked(bbox: Any) -> Bbox | None:
    if bbox is None:
        return None
    bbox = tuple(bbox)
    if len(bbox) != 4 or not all(isinstance(edge, Real) for edge in bbox) or not bbox[1] < bbox[3]:
        raise InputError("`bbox` must be (west, south, east, north) in degrees, with south < north.")
    return bbox


def _inside(x: pd.Series, y: pd.Series, bbox: Bbox) -> pd.Series:
    west, south, east, north = bbox
    across = x.between(west, east) if west <= east else (x >= west) | (x <= east)  # or across the antimeridian
    return across & y.between(south, north)


def _local_times(text: pd.Series) -> pd.Series:
    return pd.to_datetime(text, format="%Y-%m-%d %H:%M:%S", errors="coerce")


def _foursquare_times(text: pd.Series) -> pd.Series:
    """Turn "Tue Apr 03 18:00:09 +0000 2012" into times, by way of a form that pandas reads seven times faster."""
    day = text.str[-4:] + "-" + text.str[4:7].map(MONTHS) + "-" + text.str[8:10]
    return _utc_times(day + "T" + text.str[11:19] + text.str[20:25])


def _ids(column: pd.Series) -> pd.Series:
    """Return whole numbers where all are, as they were in the file before a bad line made them something else."""
    try:
        numbers = pd.to_numeric(column)
    except (ValueError, TypeError):
        return column
    whole = pd.api.types.is_float_dtype(numbers) and numbers.notna().all() and (numbers % 1 == 0).all()
    return numbers.astype(np.int64) if whole else numbers


def _folder(folder: str | Path) -> Path:
    if not Path(folder).is_dir():
        raise InputError(f"There is no folder {str(folder)!r}.")
    return Path(folder)


def _plt_user(path: Path) -> str:
    return path.absolute().parts[-3]


def _with_modes(frame: gpd.GeoDataFrame, labels: Sequence[Path]) -> gpd.GeoDataFrame:
    """Add the mode of transport that users wrote down for parts of their time."""
    if not labels:
        return frame
    modes = pd.Series(pd.NA, index=frame.index, dtype="string")
    for path in labels:
        trips = _table(path, ["start", "end", "mode"], "\t", skiprows=1, dtype=str)
        ends = {name: pd.to_datetime(trips[name], format=LABEL_TIME, errors="coerce") for name in ("start", "end")}
        trips = trips.assign(**ends).dropna().sort_values("start", kind="stable")
        mine = frame["time"][frame["user"] == path.absolute().parts[-2]].dt.tz_localize(None)
        trip = np.searchsorted(trips["start"].to_numpy(), mine.to_numpy(), side="right") - 1
        labelled = trip >= 0
        labelled[labelled] = mine.to_numpy()[labelled] <= trips["end"].to_numpy()[trip[labelled]]
        modes[mine.index[labelled]] = trips["mode"].to_numpy()[trip[labelled]]
    frame.insert(frame.columns.get_loc("geometry"), "mode", modes)
    return frame
