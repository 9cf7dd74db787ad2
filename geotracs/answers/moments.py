"""The rows of a reconstruction: the reports of a release in the order of time, and moments between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.geo.tracks as frames
from geotracs.answers.reader import Reader
from geotracs.errors import InputError, quoted

FILLED = "filled"
"""The column that says which rows were added."""


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Reports, and moments without one, trajectory after trajectory in the order of time.

    Attributes
    ----------
    report : array of int
        Which report of the release each is; -1 for one that is filled in.
    trajectory : array of int
        The number of its trajectory.
    seconds : array
        Time since the one before; infinite for the first of a trajectory.
    added : pandas Series or None
        The times of those that are filled in, as values of the time column; None where nothing was asked for.
    """

    report: np.ndarray
    trajectory: np.ndarray
    seconds: np.ndarray
    added: pd.Series | None = None

    def visits(self, reader: Reader, horizon: float) -> "Visits":
        """Return the rows with successive ones of one observation taken together: somebody was in one cell all along.

        An observation that comes again within the ``horizon``, in seconds, counts once for all of these visits:
        nobody has left its window in between.
        """
        known = np.asarray(reader.observations.of_row if reader.observations is not None else self.report)
        seen = np.where(self.report >= 0, known[self.report], -1 - np.arange(len(self.report)))
        begins = (np.diff(seen, prepend=seen[:1] - 1) != 0) | np.isinf(self.seconds)
        first, which = np.flatnonzero(begins), np.cumsum(begins) - 1
        clock = np.cumsum(np.where(np.isinf(self.seconds), 0.0, self.seconds))
        rows = Moments(self.report[first], self.trajectory[first], self.seconds[first])
        return Visits(rows, which, _shares(seen[first], self.trajectory[first], clock[first], horizon))


@dataclass(frozen=True, eq=False, repr=False)
class Visits:
    """Rows that share a report, one after the other, as one row.

    Attributes
    ----------
    rows : Moments
        The first row of each visit.
    which : array of int
        The visit of each row.
    share : array
        Which part of what its report tells each visit counts.
    """

    rows: Moments
    which: np.ndarray
    share: np.ndarray


def _shares(seen: np.ndarray, trajectory: np.ndarray, clock: np.ndarray, horizon: float) -> np.ndarray:
    """Return 1 for a visit that is alone, and parts of 1 for those of an observation that are near in time."""
    groups = np.unique(np.column_stack([trajectory, seen]), axis=0, return_inverse=True)[1].reshape(-1)
    apart = groups * (clock.max(initial=0.0) + 2 * horizon + 1) + clock
    order = np.argsort(apart, kind="stable")
    ordered = apart[order]
    near = np.searchsorted(ordered, ordered + horizon, "right") - np.searchsorted(ordered, ordered - horizon, "left")
    share = np.empty(len(seen))
    share[order] = 1 / near
    return share


def read(
    frame: gpd.GeoDataFrame, reader: Reader, at: str | Sequence[Any] | None = None, interval: float | None = None
) -> Moments:
    """Return the rows of a release, and for each trajectory those of the times ``at`` that lie within it.

    With an ``interval`` in seconds between reports no times are needed, and each line is a trajectory of its own.
    """
    if interval is not None:
        return _even(reader, at, interval)
    if reader.tracks.are_lines:
        raise InputError(
            "The vertices of a line have no times; say how many seconds lie between two of them with `interval=`."
        )
    if reader.times is None:
        raise InputError(
            "This release has no times on record, so that nobody knows how far one got from report to report; release "
            "it with perturb(..., time=...), or say how many seconds lie between two reports with `interval=`."
        )
    lengths = np.diff(reader.offsets)
    trajectory, times = np.repeat(np.arange(len(lengths)), lengths), reader.times
    report, added = np.arange(len(times)), None
    if at is not None:
        own, added, moments = _between(frame, reader, at)
        report = np.append(report, np.full(len(own), -1))
        trajectory, times = np.append(trajectory, own), np.append(times, moments)
        order = np.lexsort((times, trajectory))
        added = added.iloc[order[order >= lengths.sum()] - lengths.sum()]
        report, trajectory, times = report[order], trajectory[order], times[order]
    seconds = np.diff(times, prepend=0.0)
    seconds[np.flatnonzero(np.diff(trajectory, prepend=-1))] = np.inf
    return Moments(report, trajectory, seconds, added)


def _even(reader: Reader, at: Any, interval: float) -> Moments:
    if not isinstance(interval, Real) or isinstance(interval, bool) or not 0 < float(interval) < math.inf:
        raise InputError(f"`interval` must be a finite number of seconds, greater than 0, got {quoted(interval)}.")
    if at is not None:
        raise InputError("`at` needs a release with times; leave it out, or leave out `interval`.")
    if reader.times is not None and not reader.tracks.are_lines:
        raise InputError("This release has times on record; leave out `interval`.")
    starts = reader.tracks.row_starts
    begins = reader.offsets[:-1] if starts is None else starts
    count = len(reader.xy)
    seconds = np.full(count, float(interval))
    seconds[begins] = np.inf
    return Moments(np.arange(count), np.cumsum(np.isinf(seconds)) - 1, seconds)


def _between(frame: gpd.GeoDataFrame, reader: Reader, at: Any) -> tuple[np.ndarray, pd.Series, np.ndarray]:
    """Return trajectory, time and seconds of each moment that is asked for, and is not that of a report."""
    column, times = cast(str, reader.guarantee.time), cast(np.ndarray, reader.times)
    first, last = times[reader.offsets[:-1]], times[reader.offsets[1:] - 1]
    asked = _asked(frame[column], at, first.min(), last.max())
    moments = _seconds(frame[column], asked)
    inside = (first[:, None] < moments) & (moments < last[:, None])
    own, which = np.nonzero(inside)
    reported = pd.MultiIndex.from_arrays([np.repeat(np.arange(len(first)), np.diff(reader.offsets)), times])
    new = ~pd.MultiIndex.from_arrays([own, moments[which]]).isin(reported)
    return own[new], asked.iloc[which[new]], moments[which[new]]


def _asked(column: pd.Series, at: Any, first: float, last: float) -> pd.Series:
    """Return the times that are asked for, once each, as values of the time column."""
    numbers = pd.api.types.is_numeric_dtype(column)
    try:
        if isinstance(at, str):
            if numbers or not pd.api.types.is_datetime64_any_dtype(column):
                raise InputError("`at` as a frequency needs a column of dates; give a list of times.")
            begin, end = (pd.Timestamp(time, unit="s", tz=column.dt.tz) for time in (first, last))
            return pd.Series(pd.date_range(begin.ceil(at), end, freq=at)).astype(column.dtype)
        asked = pd.Series(list(at)).drop_duplicates().sort_values()
        if pd.api.types.is_numeric_dtype(asked) != numbers and len(asked):
            raise TypeError
        return asked.astype(np.float64) if numbers else asked.astype(column.dtype)
    except InputError:
        raise
    except (TypeError, ValueError):  # whatever pandas says of them
        raise InputError(
            f"`at` must be a list of times such as those of the column {column.name!r} ({column.dtype}), with the same "
            'time zone, or a frequency such as "5min".'
        ) from None


def _seconds(column: pd.Series, asked: pd.Series) -> np.ndarray:
    try:
        return frames.seconds(pd.DataFrame({column.name: asked}), str(column.name))
    except InputError:
        raise InputError(f"`at` holds times that the column {column.name!r} could not hold, or none.") from None


def output(
    frame: gpd.GeoDataFrame, reader: Reader, rows: Moments, xy: np.ndarray, radius: np.ndarray
) -> gpd.GeoDataFrame:
    """Return the frame with other locations, from those of the rows in its CRS, and the column ``radius``."""
    tracks, reported = reader.tracks, rows.report >= 0
    out = frames.output(frame, tracks.rebuild(xy[reported]), list(frame.columns))
    out["radius"] = np.nan
    each = tracks.in_frame_order(radius[reported])
    if tracks.counts is not None:
        each = np.maximum.reduceat(each, np.append(0, np.cumsum(tracks.counts))[:-1])
    out.loc[tracks.present, "radius"] = each
    if rows.added is None:
        return out
    trajectory, time = reader.guarantee.trajectory, cast(str, reader.guarantee.time)
    added = {
        time: rows.added.array,
        frame.active_geometry_name: shapely.points(xy[~reported]),
        "radius": radius[~reported],
    }
    if trajectory is not None:
        first = np.flatnonzero(tracks.present)[np.unique(tracks.codes, return_index=True)[1]]
        added[trajectory] = frame[trajectory].array.take(first[rows.trajectory[~reported]])
    more = gpd.GeoDataFrame(added, geometry=frame.active_geometry_name, crs=frame.crs)
    whole = gpd.GeoDataFrame(pd.concat([out, more], ignore_index=True), geometry=frame.active_geometry_name)
    whole[FILLED] = np.arange(len(whole)) >= len(out)
    codes = np.zeros(len(whole)) if trajectory is None else pd.factorize(whole[trajectory])[0]
    return whole.iloc[np.lexsort((frames.seconds(whole, time), codes))].reset_index(drop=True)
