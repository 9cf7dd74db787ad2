"""Leave out the beginning and the end of every trajectory."""

from typing import Any

import geopandas as gpd
import numpy as np

from geotracs.errors import InputError, quoted, sealed
from geotracs.geo.prepare.rows import Rows, count, duration, number

BY = ("time", "distance", "fixes")


@sealed
def trim(
    gdf: gpd.GeoDataFrame,
    start: Any = 0,
    end: Any = 0,
    *,
    by: str = "time",
    trajectory: str | None = None,
    time: str | None = None,
) -> gpd.GeoDataFrame:
    """Leave out the beginning and the end of every trajectory, where people live and work.

    Parameters
    ----------
    gdf : GeoDataFrame
        Points; rows without a location are left out. Never changed.
    start, end
        How much is left out: durations such as "5min" or numbers of seconds; metres along the way with
        ``by="distance"``; numbers of rows with ``by="fixes"``.
    by : {"time", "distance", "fixes"}
        How it is measured. By time and fixes it does not depend on where somebody was. By distance it does: the rows
        that are left tell how far somebody had gone, and the guarantee of a release says that it does not cover this.
    trajectory, time : str, optional
        Column that says which trajectory a row belongs to, and column that orders its rows.

    Returns
    -------
    GeoDataFrame
        The other rows, in their order, with a mark of this in ``attrs``.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> short = trim(city.tracks, 2, 1, by="fixes", trajectory="person", time="t")
    >>> len(city.tracks) - len(short)
    9
    """
    if not isinstance(by, str) or by not in BY:
        raise InputError(f"`by` must be one of {list(BY)}, got {quoted(by)}.")
    rows = Rows.of(gdf, trajectory, time, needs_time=by == "time")
    along: np.ndarray
    if by == "time":
        first, last, along = duration("start", start), duration("end", end), rows.since
    elif by == "fixes":
        first, last, along = count("start", start), count("end", end), rows.number
    else:
        first, last, along = (*(number(name, n, "a number of metres") for name, n in _named(start, end)), rows.way)
    keep = (along >= first) & (rows.left(along) >= last)
    return rows.keep(keep, "trim", places=by == "distance", by=by, start=first, end=last)


def _named(start: Any, end: Any) -> list[tuple[str, Any]]:
    return [("start", start), ("end", end)]
