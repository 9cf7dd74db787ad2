"""The rows of a frame before the draw, in the order of their trajectories and times, and the mark of what is done."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.core.provisos as provisos
import geotracs.geo.crs as crs_
import geotracs.geo.tracks as frames
from geotracs.core.guarantee import recorded
from geotracs.errors import GeotracsWarning, InputError, quoted


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Rows that hold a point each; others are left out.

    Attributes
    ----------
    frame : GeoDataFrame
    codes : array of int
        The trajectory of each row.
    seconds : array, or None
        The time of each row.
    """

    frame: gpd.GeoDataFrame
    codes: np.ndarray
    seconds: np.ndarray | None

    @classmethod
    def of(cls, gdf: gpd.GeoDataFrame, trajectory: str | None, time: str | None, *, needs_time: bool = False) -> "Rows":
        """Read a frame of originals."""
        if needs_time and time is None:
            raise InputError("`time` must name the column that orders the rows, such as time='t'.")
        with warnings.catch_warnings(action="ignore", category=GeotracsWarning):  # nothing is dropped here
            tracks = frames.read(gdf, trajectory, time, grouped=False)
        if recorded(gdf.attrs):
            raise InputError("This frame is a release already; prepare the originals, and perturb them then.")
        if tracks.are_lines:
            raise InputError("Rows are prepared one by one, and a line holds many locations; give points.")
        there = gdf[tracks.present]
        return cls(there, tracks.codes, None if time is None else frames.seconds(there, time))

    @cached_property
    def order(self) -> np.ndarray:
        """The rows by trajectory, then time, then as they are."""
        if self.seconds is None:
            return np.argsort(self.codes, kind="stable")
        return np.lexsort((self.seconds, self.codes))

    @cached_property
    def begins(self) -> np.ndarray:
        """Where each trajectory begins in this order."""
        return np.flatnonzero(np.diff(self.codes[self.order], prepend=-1))

    @property
    def number(self) -> np.ndarray:
        """The number of each row in its trajectory, from 0 on, in this order."""
        return np.arange(len(self.order)) - self._first(np.arange(len(self.order)))

    @property
    def since(self) -> np.ndarray:
        """Seconds since the first row of the trajectory, in this order."""
        seconds = np.asarray(self.seconds)[self.order]
        return seconds - self._first(seconds)

    @property
    def way(self) -> np.ndarray:
        """Metres along the trajectory, in this order."""
        xy = shapely.get_coordinates(self.frame.geometry.values)[self.order]
        steps = np.append(0.0, crs_.metres_between(self.frame.crs, xy[:-1], xy[1:])) if len(xy) else np.zeros(0)
        steps[self.begins] = 0.0
        along = np.cumsum(steps)
        return along - self._first(along)

    def left(self, values: np.ndarray) -> np.ndarray:
        """Return how much of values that grow along a trajectory is left until its end."""
        ends = np.append(self.begins[1:], len(values))[: len(self.begins)] - 1
        return np.repeat(values[ends], np.diff(np.append(self.begins, len(values)))) - values

    def keep(self, which: np.ndarray, step: str, *, places: bool, **details: Any) -> gpd.GeoDataFrame:
        """Return some rows, of those in this order, as they stand in the frame, with the mark of a step."""
        chosen = np.sort(self.order[which])
        return marked(self.frame.iloc[chosen].copy(), self.frame, step, places=places, **details)

    def _first(self, values: np.ndarray) -> np.ndarray:
        return np.repeat(values[self.begins], np.diff(np.append(self.begins, len(values))))


def marked(
    frame: gpd.GeoDataFrame, before: gpd.GeoDataFrame, step: str, *, places: bool, **details: Any
) -> gpd.GeoDataFrame:
    """Give a frame the marks of the one it was made from, and that of a step; ``details`` are public numbers."""
    frame.attrs = {"tracs": {"prepared": [*marks(before), {"step": step, "places": places, **details}]}}
    return frame


def marks(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the marks of a frame that was prepared."""
    return read(frame.attrs.get("tracs"))


def read(record: Any) -> list[dict[str, Any]]:
    """Return the marks in what a file or a frame keeps; nothing if there are none, or if it is not one of ours."""
    found = record.get("prepared", []) if isinstance(record, dict) else []
    return [dict(mark) for mark in found] if isinstance(found, list) and provisos.are_marks(found) else []


def duration(name: str, value: Any) -> float:
    """Return a duration in seconds: a number, or a text such as "5min".

    >>> duration("every", "5min"), duration("every", 60)
    (300.0, 60.0)
    """
    try:
        number = isinstance(value, Real) and not isinstance(value, bool)
        seconds = float(value) if number else pd.Timedelta(value).total_seconds()
    except (TypeError, ValueError):
        seconds = np.nan
    if not 0 <= seconds < np.inf:
        raise InputError(f'`{name}` must be a duration, such as "5min", or a number of seconds, got {quoted(value)}.')
    return float(seconds)


def number(name: str, value: Any, what: str, *, least: float = 0.0) -> float:
    """Return a finite number that is large enough."""
    if not isinstance(value, Real) or isinstance(value, bool) or not least <= float(value) < np.inf:
        raise InputError(f"`{name}` must be {what}, got {quoted(value)}.")
    return float(value)


def count(name: str, value: Any, least: int = 0) -> int:
    """Return a whole number that is large enough."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"`{name}` must be a whole number of at least {least}, got {quoted(value)}.")
    return int(value)
