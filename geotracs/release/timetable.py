"""The schedule of a release: which rows of a frame are reported, by public numbers and times only."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.geo.schedule as schedules
import geotracs.geo.tracks as frames
import geotracs.release.pace as paces
import geotracs.release.setting as settings
from geotracs.errors import InputError
from geotracs.geo.moments import Best
from geotracs.geo.originals import Originals
from geotracs.geo.schedule import FILLED, Schedule
from geotracs.geo.sharing import Unit
from geotracs.geo.trials import Setting
from geotracs.release.request import Request

INTERVAL = 60.0
"""How many seconds lie between two rows where nothing says it: no row follows another."""


@dataclass(frozen=True, repr=False)
class Timetable:
    """A schedule, and what it needs to know: what belongs together, and how many moments are best.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=2, seed=1)
    >>> request = Request.of(8, unit="trajectory", trajectory="person", time="t", at_most=3)
    >>> table = make(request, city.tracks, Originals.of(city.tracks.geometry))
    >>> int(table.rows(city.tracks).sum())
    6
    """

    schedule: Schedule
    sharing: Unit
    trajectory: str | None
    time: str | None
    best: Best | None = None
    layers: dict[str, Any] = field(default_factory=dict)
    """The public layers of the release, for whoever reads it to fill it."""

    def most(self, lengths: np.ndarray) -> np.ndarray:
        """Return how many rows are reported at most of units of these lengths."""
        if self.best is not None:
            return self.best.most(lengths)
        return np.full(len(lengths), cast(int, self.schedule.at_most))

    def read(self, frame: gpd.GeoDataFrame) -> frames.Tracks:
        """Return the locations of a frame with their units, in the order of its rows; raise where it cannot be."""
        tracks = self.sharing.group(frame, frames.read(frame, self.trajectory, self.time, grouped=False))
        self.check(tracks, [str(name) for name in frame.columns])
        return tracks

    def check(self, tracks: frames.Tracks, columns: list[str]) -> None:
        """Raise where a schedule has no meaning for locations."""
        if FILLED in columns and self.schedule.fill is not None:
            raise InputError(f"`fill` adds a column {FILLED!r}, and there is one already; rename it.")
        if tracks.are_lines:
            self._check_lines()
        elif self.time is None:
            raise InputError("`every` and `at_most` choose rows by time; say which column holds the times with `time`.")

    def _check_lines(self) -> None:
        if self.schedule.every is not None or self.schedule.auto:
            raise InputError(
                "`every` needs times, and the vertices of a line have none; use `at_most`, which counts them, or a row "
                "for each location."
            )
        if self.schedule.fill is not None:
            raise InputError("`fill` is for points: a line with fewer vertices is straight between them anyway.")
        if cast(int, self.schedule.at_most) < 2:
            raise InputError("`at_most` must be at least 2 for lines, which have two ends.")

    def rows(self, frame: gpd.GeoDataFrame) -> np.ndarray:
        """Return which rows are reported; all of lines, which lose vertices."""
        tracks = self.read(frame)
        if tracks.are_lines:
            return np.ones(len(frame), dtype=bool)
        chosen = np.zeros(len(frame), dtype=bool)
        chosen[np.flatnonzero(tracks.present)[self.chosen(tracks, self.slots(frame, tracks))]] = True
        return chosen

    def slots(self, table: pd.DataFrame, tracks: frames.Tracks) -> np.ndarray | None:
        """Return the period of each row that holds a location; None without periods."""
        if self.schedule.every is None:
            return None
        return self.schedule.every.numbers(table, cast(str, self.time))[tracks.present]

    def chosen(self, tracks: frames.Tracks, slots: np.ndarray | None) -> np.ndarray:
        """Return the numbers, among rows that hold locations, of those that are reported."""
        order = np.lexsort((cast(np.ndarray, tracks.times), tracks.unit_codes))
        codes = tracks.unit_codes[order]
        some = schedules.candidates(codes, None if slots is None else slots[order])
        order, codes = order[some], codes[some]
        if self.schedule.counts:
            order = order[schedules.reported(codes, np.bincount(codes), self.most)]
        return order

    def reduced(self, frame: gpd.GeoDataFrame, rows: np.ndarray) -> gpd.GeoDataFrame:
        """Return the rows that are reported, or lines with the vertices that are."""
        geometry = np.asarray(frame.geometry.values)
        there = ~(shapely.is_missing(geometry) | shapely.is_empty(geometry))
        if not (shapely.get_type_id(geometry[there]) == frames.LINE).any():
            return frame[rows]
        shorter = self.shorter(geometry)
        return frame.set_geometry(gpd.GeoSeries(shorter, index=frame.index, crs=frame.crs, name=frame.geometry.name))

    def shorter(self, lines: np.ndarray) -> np.ndarray:
        """Return lines with at most so many vertices, evenly by their number, the first and the last one included."""
        most, found = cast(int, self.schedule.at_most), np.array(lines, dtype=object)
        for number in np.flatnonzero(shapely.get_num_coordinates(lines) > most).tolist():
            xy = shapely.get_coordinates(lines[number])
            found[number] = shapely.linestrings(xy[np.rint(np.linspace(0, len(xy) - 1, most)).astype(np.int64)])
        return found

    def to_record(self) -> dict[str, Any]:
        """Return what a reader of the release may know, as plain JSON values."""
        known = self.schedule.to_record()
        if self.best is not None:
            known |= {"interval": self.best.interval, "speed": self.best.speed}
        return known


def make(request: Request, some: gpd.GeoDataFrame, data: Originals) -> Timetable | None:
    """Return the timetable of a release, from its request and its first rows; None if all rows are reported."""
    schedule = request.schedule
    if schedule is None:
        return None
    best = _best(request, schedule, some, data) if schedule.auto else None
    layers = {name: getattr(request, name) for name in ("domain", "round_to", "prior", "weight")}
    return Timetable(schedule, request.sharing, request.trajectory, request.time, best, layers)


def _best(request: Request, schedule: Schedule, some: gpd.GeoDataFrame, data: Originals) -> Best:
    """Return how many moments are best, from the region, the method and how quickly rows follow each other."""
    pace = paces.Pace.of(some, request.trajectory, request.time, request.sharing)
    interval = INTERVAL if pace is None else max(float(np.median(pace.gaps)), 1e-3)
    with warnings.catch_warnings(action="ignore"):  # the release itself will warn of the same
        setting = settings.make(replace(request, remap=False), data, np.array([1]), None)
    eps, public = cast(float, request.eps), Setting(setting.region, setting.rounding)
    return Best.of(public, setting.recipe, eps, interval, schedule.speed)
