"""Fewer rows, and coarser times."""

from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.geo.columns as columns
import geotracs.geo.tracks as frames
from geotracs.errors import InputError, quoted, sealed
from geotracs.geo.prepare.rows import Rows, count, duration, marked, number


@sealed
def thin(
    gdf: gpd.GeoDataFrame,
    *,
    every: Any = None,
    fixes: int | None = None,
    metres: float | None = None,
    trajectory: str | None = None,
    time: str | None = None,
) -> gpd.GeoDataFrame:
    """Keep the first row of every stretch of a trajectory.

    Parameters
    ----------
    gdf : GeoDataFrame
        Points; rows without a location are left out. Never changed.
    every : str, Timedelta or float, optional
        Stretches of a duration, such as "5min", counted from the first row of the trajectory; a number is seconds.
    fixes : int, optional
        Stretches of so many rows.
    metres : float, optional
        Stretches of a length along the way. Which rows are left then depends on where somebody was, and the guarantee
        of a release says that it does not cover this.
    trajectory, time : str, optional
        Column that says which trajectory a row belongs to, and column that orders its rows.

    Returns
    -------
    GeoDataFrame
        These rows, in their order, with a mark of this in ``attrs``.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=1, seed=1)
    >>> len(thin(city.tracks, fixes=10, time="t")) == -(-len(city.tracks) // 10)
    True
    """
    given = {
        name: value for name, value in (("every", every), ("fixes", fixes), ("metres", metres)) if value is not None
    }
    if len(given) != 1:
        raise InputError("Give one of `every`, `fixes` and `metres`.")
    rows = Rows.of(gdf, trajectory, time, needs_time=every is not None)
    if every is not None:
        size, along = duration("every", every), rows.since
    elif fixes is not None:
        size, along = float(count("fixes", fixes, 1)), rows.number.astype(np.float64)
    else:
        size, along = number("metres", metres, "a number of metres greater than 0", least=1e-9), rows.way
    if not size > 0:
        raise InputError(f"`every` must be greater than 0, got {quoted(every)}.")
    stretch = np.floor(along / size)
    new = np.append(True, np.diff(stretch) != 0) if len(stretch) else np.zeros(0, dtype=bool)
    new[rows.begins] = True
    return rows.keep(new, "thin", places=metres is not None, by=next(iter(given)), size=size)


@sealed
def coarsen_time(gdf: gpd.GeoDataFrame, every: Any = "1h", *, time: str) -> gpd.GeoDataFrame:
    """Round all times down to full hours, or to another step.

    Times are not perturbed by a release, so that this is what hides when exactly somebody was somewhere. Rows stay in
    their order, which still tells which came first; it depends on no place.

    Parameters
    ----------
    gdf : GeoDataFrame
        Never changed.
    every : str, Timedelta or float
        The step, such as "1h" or "15min"; a number is seconds. Dates are rounded by the clock of their time zone.
    time : str
        The column of times: dates, texts of dates, or numbers of seconds.

    Returns
    -------
    GeoDataFrame
        The same rows with other times, and a mark of this in ``attrs``.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> coarse = coarsen_time(city.tracks, "1h", time="t")
    >>> bool((coarse.t.dt.minute == 0).all())
    True
    """
    frames.check(gdf)
    columns.check(gdf, [time])
    step = duration("every", every)
    if not step > 0:
        raise InputError(f"`every` must be greater than 0, got {quoted(every)}.")
    frames.seconds(gdf, time)  # raises for what is no time
    out = gdf.copy()
    out[time] = _rounded(gdf[time], step)
    return marked(out, gdf, "coarsen_time", places=False, size=step)


def _rounded(column: pd.Series, step: float) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column):
        rounded = np.floor(column / step) * step
        return rounded.astype(column.dtype) if float(step).is_integer() else rounded
    every = pd.Timedelta(seconds=step)
    if pd.api.types.is_timedelta64_dtype(column):
        return column.dt.floor(every)
    if not pd.api.types.is_datetime64_any_dtype(column):
        column = pd.to_datetime(column, format="ISO8601")
    if column.dt.tz is None:
        return column.dt.floor(every)
    # By the clock; the hour that comes twice a year is the later one, and one that does not exist the next.
    standard = np.zeros(len(column), dtype=bool)
    return column.dt.floor(every, ambiguous=standard, nonexistent="shift_forward")
