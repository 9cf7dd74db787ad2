"""Stops and trips, found by MovingPandas. Needs the extra ``trips``."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.geo.prepare.rows as rows_
from geotracs.errors import InputError, MissingExtraError, quoted, sealed
from geotracs.geo.prepare.rows import Rows, marked, number

ROW, OWN, MOMENT = "row", "trajectory", "moment"
"""The columns of the frames that MovingPandas gets."""


@sealed
def stops(
    gdf: gpd.GeoDataFrame,
    *,
    time: str,
    trajectory: str | None = None,
    duration: Any = "5min",
    diameter: float = 100.0,
    until: str = "until",
) -> gpd.GeoDataFrame:
    """Return where people stayed, a row for each stop, as MovingPandas detects them.

    Parameters
    ----------
    gdf : GeoDataFrame
        Points with times; rows without a location, or at a time that the trajectory has already, are left out.
    time, trajectory : str
        Column that orders the rows, and column that says which trajectory a row belongs to.
    duration : str, Timedelta or float
        How long somebody stays at least; a number is seconds.
    diameter : float
        How large a stop is at most, in metres.
    until : str
        Name of the column for the time of the last row of the stop.

    Returns
    -------
    GeoDataFrame
        The median of the locations of each stop, its trajectory, the time of its first row and, in ``until``, of its
        last one, with a mark of this in ``attrs``: stops are found by where somebody was at many moments, and the
        guarantee of a release says that it does not cover this.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> found = stops(city.tracks, trajectory="person", time="t", duration="20min", diameter=200)
    >>> list(found.columns)
    ['person', 't', 'until', 'geometry']
    """
    names = [name for name in (trajectory, time) if name is not None]
    if until in (*names, gdf.active_geometry_name):
        raise InputError(f"There is a column {until!r} already; choose another name with `until`.")
    rows, longest = Rows.of(gdf, trajectory, time), _seconds("duration", duration)
    size = number("diameter", diameter, "a number of metres greater than 0", least=1e-9)
    with _movingpandas() as mpd:
        detector = mpd.TrajectoryStopDetector(_collection(mpd, rows))
        segments = detector.get_stop_segments(size / _metres(rows), pd.Timedelta(seconds=longest).to_pytimedelta())
        found = [segment.df[ROW].to_numpy() for segment in segments.trajectories]
    first, last = (np.array([own[at] for own in found], dtype=np.int64) for at in (0, -1))
    xy = rows.frame.geometry.get_coordinates().to_numpy()
    middles = np.array([np.median(xy[own], axis=0) for own in found]).reshape(-1, 2)
    out = rows.frame[names].iloc[first].reset_index(drop=True)
    out[until] = rows.frame[time].iloc[last].reset_index(drop=True)
    points = gpd.GeoSeries(gpd.points_from_xy(*middles.T), crs=gdf.crs, name=gdf.active_geometry_name)
    made = gpd.GeoDataFrame(out, geometry=points.rename("geometry"), crs=gdf.crs)
    if gdf.active_geometry_name != "geometry":
        made = made.rename_geometry(gdf.active_geometry_name)
    return marked(made, gdf, "stops", places=True, duration=longest, diameter=size)


@sealed
def trips(
    gdf: gpd.GeoDataFrame,
    *,
    time: str,
    trajectory: str | None = None,
    gap: Any = "30min",
    stop: Any = None,
    diameter: float = 100.0,
    trip: str = "trip",
) -> gpd.GeoDataFrame:
    """Divide trajectories into trips, at gaps in time and at stops, as MovingPandas does.

    Parameters
    ----------
    gdf : GeoDataFrame
        Points with times; rows without a location, or at a time that the trajectory has already, are left out.
    time, trajectory : str
        Column that orders the rows, and column that says which trajectory a row belongs to.
    gap : str, Timedelta or float
        A trip ends where nothing is known for longer than this; a number is seconds.
    stop : str, Timedelta or float, optional
        A trip ends, too, where somebody stays for so long within ``diameter``; the rows of the stop are left out.
    diameter : float
        How large a stop is at most, in metres.
    trip : str
        Name of the column for the number of the trip.

    Returns
    -------
    GeoDataFrame
        The rows of trips with at least two rows, in their order, and a mark of this in ``attrs``. Gaps depend on times
        only. With ``stop`` trips depend on where somebody was at many moments, and the guarantee of a release says that
        it does not cover this.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> divided = trips(city.tracks, trajectory="person", time="t", gap="2h")
    >>> divided.trip.nunique() >= 3
    True
    """
    if trip in gdf.columns:
        raise InputError(f"There is a column {trip!r} already; choose another name with `trip`.")
    rows, longest = Rows.of(gdf, trajectory, time), _seconds("gap", gap)
    size = number("diameter", diameter, "a number of metres greater than 0", least=1e-9)
    shortest = None if stop is None else _seconds("stop", stop)
    with _movingpandas() as mpd:
        pieces = mpd.ObservationGapSplitter(_collection(mpd, rows)).split(
            gap=pd.Timedelta(seconds=longest).to_pytimedelta()
        )
        if shortest is not None and len(pieces):
            least = pd.Timedelta(seconds=shortest).to_pytimedelta()
            pieces = mpd.StopSplitter(pieces).split(max_diameter=size / _metres(rows), min_duration=least)
        found = [piece.df[ROW].to_numpy() for piece in pieces.trajectories]
    numbers = np.full(len(rows.frame), -1, dtype=np.int64)
    for which, own in enumerate(found):
        numbers[own] = which
    out = rows.frame.iloc[np.flatnonzero(numbers >= 0)].copy()
    out[trip] = numbers[numbers >= 0]
    details = {"gap": longest} if shortest is None else {"gap": longest, "stop": shortest, "diameter": size}
    return marked(out, gdf, "trips", places=stop is not None, **details)


@contextmanager
def _movingpandas() -> Iterator[Any]:
    """Yield MovingPandas, without its warnings: they are about its own extras and dependencies."""
    with warnings.catch_warnings(action="ignore"):
        try:
            import movingpandas as mpd
        except ImportError as error:
            raise MissingExtraError(
                'Stops and trips need MovingPandas; install it with: pip install "geotracs[trips]"'
            ) from error
        yield mpd


def _collection(mpd: Any, rows: Rows) -> Any:
    """Return the rows as MovingPandas takes them: numbers of rows instead of columns, and times as dates."""
    moments = pd.to_datetime(np.asarray(rows.seconds), unit="s")
    columns = {ROW: np.arange(len(rows.frame)), OWN: rows.codes, MOMENT: moments}
    table = gpd.GeoDataFrame(columns, geometry=rows.frame.geometry.to_numpy(), crs=rows.frame.crs)
    return mpd.TrajectoryCollection(table.iloc[rows.order], traj_id_col=OWN, t=MOMENT)


def _metres(rows: Rows) -> float:
    """Return how many metres the unit of sizes is that MovingPandas takes: metres themselves in degrees."""
    crs = rows.frame.crs
    return 1.0 if crs.is_geographic else float(crs.axis_info[0].unit_conversion_factor)


def _seconds(name: str, value: Any) -> float:
    seconds = rows_.duration(name, value)
    if not seconds > 0:
        raise InputError(f"`{name}` must be greater than 0, got {quoted(value)}.")
    return seconds
