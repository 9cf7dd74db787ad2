"""A schedule for files of any size: rows that are not reported are left out where the file is read, and filled in last.

The rows of what belongs together, such as a trajectory, must be together and in the order of their times.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import shapely

import geotracs.geo.schedule as schedules
import geotracs.geo.tracks as frames
import geotracs.io.wkb as wkb
from geotracs.errors import InputError
from geotracs.geo.filling import Between
from geotracs.geo.region import Region
from geotracs.geo.schedule import FILLED, Before
from geotracs.io.progress import bar
from geotracs.io.streams import Layout, Source, Summary
from geotracs.release.file.counts import Counts
from geotracs.release.file.release import keys_of, read, unit_keys, used
from geotracs.release.timetable import Timetable


class Chooser:
    """Says which rows of one table after another are reported.

    Parameters
    ----------
    lengths : Counts, or None
        How many candidates each unit has, where that matters; without it they are counted.
    """

    def __init__(self, source: Source, table: Timetable, lengths: Counts | None = None) -> None:
        self._source, self._table, self._lengths = source, table, lengths
        self.counted, self._seen, self._rows = Counts(), Counts(), 0
        self._last: tuple[Any, Any] = (None, None)  # the key and the time of the last row
        self._before = Before(0, 0)

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        own = self._table
        units = [] if own.sharing.by_trajectory else own.sharing.columns
        names = (own.trajectory, own.time, *units, self._source.geometry)
        return list(dict.fromkeys(name for name in names if name is not None))

    def read(self, table: pa.Table) -> frames.Tracks:
        """Return the locations of a table, with their units."""
        own = self._table
        return read(self._source, table, own.trajectory, own.time, own.sharing, first=self._rows)

    def keys(self, tracks: frames.Tracks, table: pa.Table) -> np.ndarray:
        """Return the key of each unit."""
        if not self._table.sharing.by_trajectory:
            return unit_keys(tracks, table, self._table.sharing)[1]
        return cast(np.ndarray, keys_of(tracks, table, self._table.trajectory))

    def rows(self, table: pa.Table) -> np.ndarray:
        """Return which rows of the next table are reported."""
        tracks, chosen = self.read(table), np.zeros(len(table), dtype=bool)
        self._table.check(tracks, self._source.schema.names)
        self._rows += len(table)
        if tracks.are_lines or not len(tracks.xy):
            return tracks.present
        keys, codes = self.keys(tracks, table), tracks.unit_codes
        before = self._before if keys[0] == self._last[0] else None
        self._check_order(tracks, keys, before)
        times = table.select([name for name in self.columns if name != self._source.geometry]).to_pandas()
        slots = self._table.slots(times, tracks)
        some = schedules.candidates(codes, slots, before)
        counts = np.bincount(codes[some], minlength=len(keys))
        self.counted.add(keys, counts)
        if self._lengths is not None:
            some[some] = schedules.reported(codes[some], self._lengths.of(keys), self._table.most, before)
        earlier = before.candidates if before is not None and len(keys) == 1 else 0
        self._before = Before(0 if slots is None else int(slots[-1]), int(counts[-1]) + earlier)
        chosen[np.flatnonzero(tracks.present)[some]] = True
        return chosen

    def _check_order(self, tracks: frames.Tracks, keys: np.ndarray, before: Before | None) -> None:
        """Raise unless the rows of each unit are together and in the order of time."""
        codes, times = tracks.unit_codes, cast(np.ndarray, tracks.times)
        step = np.diff(codes)
        right = bool(np.all((step > 0) | ((step == 0) & (times[1:] >= times[:-1]))))
        new = keys if before is None else keys[1:]
        if not right or self._seen.of(new).any() or (before is not None and times[0] < self._last[1]):
            columns = list(dict.fromkeys(repr(name) for name in self.columns if name != self._source.geometry))
            raise InputError(
                "A schedule takes the rows of a file as they come, and they are not in order: those of one trajectory, "
                "or of one person where people share epsilon, must be together and in the order of their times. Use "
                f"sort=True to sort them on disk, or sort the file by {' and '.join(columns)} first."
            )
        self._seen.add(keys, np.bincount(codes, minlength=len(keys)))
        self._last = keys[-1], times[-1]


@dataclass(frozen=True)
class Scheduled(Source):
    """The rows of another source that are reported."""

    whole: Source | None = field(default=None, repr=False)
    table: Timetable | None = field(default=None, repr=False)
    lengths: Counts | None = field(default=None, repr=False)
    batch: int = 0

    @classmethod
    def of(cls, source: Source, table: Timetable, batch: int, progress: bool | None = None) -> "Scheduled":
        """Return what is reported of a source; it is read to count its rows where their number matters."""
        lengths = None
        if table.schedule.counts:
            chooser = Chooser(source, table)
            with bar(source.rows, progress, " rows", "Counting") as advance:
                for part in source.tables(batch, chooser.columns):
                    chooser.rows(part)
                    advance(len(part))
            lengths = chooser.counted
        known = {name: getattr(source, name) for name in Source.__dataclass_fields__} | {"rows": None}
        known["index"] = source.index if isinstance(source.index, list) else []  # rows are left out of a range
        return cls(**known, whole=source, table=table, lengths=lengths, batch=batch)

    def reading(self) -> AbstractContextManager[None]:
        """Return the context in which the other source is read."""
        return self._whole.reading()

    @property
    def _whole(self) -> Source:
        return cast(Source, self.whole)

    def chooser(self) -> Chooser:
        """Return what says once more which rows are reported."""
        return Chooser(self._whole, cast(Timetable, self.table), self.lengths)

    def pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield the rows that are reported; lines with fewer vertices."""
        chooser = self.chooser()
        for table in self._whole.tables(self.batch, [*schema.names, *chooser.columns]):
            rows = chooser.rows(table)
            yield self._shorter(table.filter(pa.array(rows)).select(schema.names))

    def _shorter(self, table: pa.Table) -> pa.Table:
        most = cast(Timetable, self.table).schedule.at_most
        if most is None or self.geometry not in table.schema.names:
            return table
        found = wkb.decode(table[self.geometry])
        if found is not None and found.counts is None:
            return table
        shapes = cast(Timetable, self.table).shorter(wkb.geometries(table[self.geometry]))
        column = pa.array(shapely.to_wkb(shapes), table.schema.field(self.geometry).type)
        return table.set_column(table.schema.get_field_index(self.geometry), self.geometry, column)


class Filler:
    """Puts the rows that were not reported back between those that were.

    Parameters
    ----------
    reported : iterator of tables
        The release of a `Scheduled` source.
    layout : Layout
        Of these tables.
    added : list of str
        The columns that places add, which rows without a report do not have.
    """

    def __init__(
        self, source: Scheduled, reported: Iterator[pa.Table], layout: Layout, added: list[str], region: Region
    ) -> None:
        self._source, self._reported, self._region = source, reported, region
        self._added, self._inner = added, layout
        schema = layout.schema.append(pa.field(FILLED, pa.bool_()))
        self.layout = Layout(schema, layout.geometry, layout.crs, layout.index, layout.others, layout.nullable)
        self._waiting = self._last = layout.schema.empty_table()
        self._rows, self._corners = 0, np.empty((0, 2))

    def tables(self) -> Iterator[pa.Table]:
        """Yield all rows, a table at a time."""
        source, chooser = self._source, self._source.chooser()
        names = [name for name in self._inner.schema.names if name not in self._added]
        for table in cast(Source, source.whole).tables(source.batch, [*names, *chooser.columns]):
            rows = chooser.rows(table)
            yield self._filled(table, rows, self._take(int(rows.sum())), chooser)

    def summary(self, reported: Callable[[], Summary]) -> Callable[[], Summary]:
        """Return what says what is known of all rows, from what is known of those that were reported."""

        def known() -> Summary:
            corners = self._corners
            bounds = (*corners.min(axis=0).tolist(), *corners.max(axis=0).tolist()) if len(corners) else None
            return replace(reported(), rows=self._rows, bounds=bounds)

        return known

    def _take(self, count: int) -> pa.Table:
        """Return the next reports; one more is then known, if there is one."""
        while len(self._waiting) <= count and (more := next(self._reported, None)) is not None:
            self._waiting = pa.concat_tables([self._waiting, more]).unify_dictionaries()
        taken, self._waiting = self._waiting.slice(0, count), self._waiting.slice(count)
        return taken

    def _filled(self, table: pa.Table, rows: np.ndarray, taken: pa.Table, chooser: Chooser) -> pa.Table:
        """Return a table with reports in some rows, and all others with locations filled in."""
        here, following = self._last.slice(max(len(self._last) - 1, 0)), self._waiting.slice(0, 1)
        geometry = self._inner.geometry
        around = [part.select(chooser.columns) for part in (here, table, following)]
        whole = pa.concat_tables(around, promote_options="permissive").unify_dictionaries()
        tracks = chooser.read(whole)
        units = chooser.keys(tracks, whole)[tracks.unit_codes]
        known = np.concatenate([np.ones(len(here), bool), rows, np.ones(len(following), bool)])[tracks.present]
        time = cast(str, cast(Timetable, self._source.table).time)
        seconds = frames.seconds(whole.select([time]).to_pandas(), time)[tracks.present]
        reports = [wkb.decode(part[geometry]) for part in (here, taken, following)]
        xy = np.full((len(known), 2), np.nan)
        xy[known] = np.concatenate([cast(wkb.Shapes, found).xy for found in reports])
        kind = cast(str, cast(Timetable, self._source.table).schedule.fill)
        xy[~known] = Between.of(units, seconds, known).take(~known).places(kind, xy, self._region)
        inner = slice(len(here), len(xy) - len(following))
        self._rows += len(table)
        corners = np.concatenate([self._corners, xy[inner]])
        self._corners = np.array([corners.min(axis=0), corners.max(axis=0)]) if len(corners) else corners
        self._last = taken.slice(len(taken) - 1) if len(taken) else self._last
        present = tracks.present[len(here) : len(here) + len(table)]
        valid = np.asarray(table[geometry].is_valid())
        locations = wkb.encode(np.asfortranarray(xy[inner]), present, None, valid)
        return self._assembled(table, rows, taken, locations, present)

    def _assembled(
        self, table: pa.Table, rows: np.ndarray, taken: pa.Table, locations: pa.Array, present: np.ndarray
    ) -> pa.Table:
        numbers = pa.array(np.cumsum(rows) - 1, mask=~rows)
        columns = []
        for own in self._inner.schema:
            if own.name == self._inner.geometry:
                columns.append(locations)
            elif own.name in self._added:
                columns.append(taken[own.name].take(numbers) if len(taken) else pa.nulls(len(table), own.type))
            else:
                columns.append(used(table[own.name]) if pa.types.is_dictionary(own.type) else table[own.name])
        return pa.table([*columns, pa.array(present & ~rows)], schema=self.layout.schema)
