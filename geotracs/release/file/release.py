"""A release in pieces: a plan applied to one batch of rows after another."""

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyproj
import shapely

import geotracs.geo.columns as columns_
import geotracs.geo.tracks as frames
import geotracs.io.wkb as wkb
import geotracs.release.blocks as blocks
from geotracs.core.randomness import Key
from geotracs.errors import DomainError, InputError
from geotracs.geo.sharing import Unit
from geotracs.io.streams import Layout, Source
from geotracs.io.troubles import told
from geotracs.release.charging import Account, Meter, Share
from geotracs.release.file.counts import Counts, keys
from geotracs.release.file.tally import Tally
from geotracs.release.plan import Plan
from geotracs.release.request import Request

BATCH = 2**18
"""How many rows are looked at at a time."""
SAMPLE = 10_000
"""How many rows are looked at before a release is planned."""


class Release:
    """A file perturbed batch by batch, so that the result does not depend on the batches.

    Rows wait until their block of locations is complete: blocks are those of `Plan.cut`, the same as for a frame.

    Parameters
    ----------
    rows : int
        How many rows a batch has.
    lines : bool
        Whether the file holds lines, which get no column that says a place.
    counted : Counts, or None
        How many locations each unit has, if they share epsilon.
    advance : callable
        Told how many rows are done.
    account : Account or Share
        Where the release is charged: its rows must be those that are drawn.
    first : int
        How many rows come before these in a larger file, for messages.
    whole : bool
        Whether these are all rows that were ``counted``.
    """

    def __init__(
        self,
        source: Source,
        plan: Plan,
        key: Key,
        rows: int,
        lines: bool,
        counted: Counts | None,
        workers: int | None,
        advance: Callable[[int], Any],
        account: Account | Share,
        *,
        first: int = 0,
        whole: bool = True,
    ) -> None:
        self._source, self._plan, self._key, self._batch = source, plan, key, rows
        self._counted, self._workers, self._advance = counted, workers, advance
        self._first, self._whole = first, whole
        self._account, self._meter = account, account.meter()
        self._person = None if plan.repeat is None else plan.repeat.person
        self.tally = Tally()
        # Whether the order of the rows of a trajectory matters, and the key of the last one that was seen.
        self._along = plan.recipe.sequential or not (plan.budgets is None or plan.budgets.allocation.even)
        self._last: np.uint64 | None = None
        self._before: Any = None  # the last report, where the next piece continues a trajectory
        self.layout = layout_of(source, plan, lines=lines)

    def tables(self) -> Generator[pa.Table]:
        """Return the release, a table at a time."""
        columns = [*self.layout.schema.names, self._plan.trajectory, self._plan.time, *self._plan.sharing.columns]
        columns += [] if self._meter is None else self._meter.columns
        columns += [] if self._person is None else [self._person]
        waiting, enough = None, 0
        for table, last in _with_last(self._source.tables(self._batch, columns)):
            waiting = table if waiting is None else pa.concat_tables([waiting, table])
            if len(waiting) < enough and not last:
                continue
            before = self.tally.locations
            tracks = self._read(waiting, alone=last and not self.tally.rows)
            parts = self._plan.cut(tracks, before, self._before is not None)
            n = len(tracks.xy)
            done = n if last else blocks.finished(n, parts, before)
            if n and not done:
                enough = 2 * len(waiting)  # or small batches would be read repeatedly
                continue
            rows = _rows_of(tracks, done)
            continues = any(block.continues for block in parts if block.part.start == done)
            parts = [block for block in parts if block.part.start < done]
            yield self._perturbed(waiting.slice(0, rows), tracks.head(done, rows), parts, continues)
            waiting, enough = waiting.slice(rows), 0
        own = self.tally.kind == "LineString" and self._plan.trajectory is None  # lines that are a trajectory each
        seen = self.tally.seen if self._plan.sharing.by_trajectory else self.tally.units
        if self._counted is not None and self._whole and not own and not self._counted.equals(seen):
            raise InputError(
                f"The file changed while it was read: not every {self._plan.unit} has as many locations as it had. Try "
                "again."
            )
        self._account.check_same(self._meter)

    def _read(self, table: pa.Table, *, alone: bool) -> frames.Tracks:
        plan = self._plan
        first = self._first + self.tally.rows
        tracks = read(self._source, table, plan.trajectory, plan.time, plan.sharing, first=first)
        if len(tracks.xy):
            kind = "LineString" if tracks.are_lines else "Point"
            if self.tally.kind not in (None, kind):
                raise InputError("The geometries must be all Point or all LineString; this file mixes both.")
            self.tally.kind = kind
        if not self._along:
            return tracks
        grouped = tracks.grouped()
        if grouped.order is not None and not alone:
            raise InputError(self._unsorted())
        return grouped if plan.recipe.sequential else tracks

    def _perturbed(
        self, table: pa.Table, tracks: frames.Tracks, parts: list[blocks.Block], continues: bool
    ) -> pa.Table:
        """Return the release of complete blocks."""
        if self._meter is not None:
            self._meter.add(named(self._source, table, self._meter), tracks)
        labels = keys_of(tracks, table, self._plan.trajectory)
        lengths, earlier, own, whose = None, None, None, None
        if self._plan.repeat is not None:
            people = [] if self._person is None else [self._person]
            whose = self._plan.whose(table.select(people).to_pandas(), tracks, self._key)
        if self._plan.budgets is not None and self._plan.budgets.column is not None:
            column = self._plan.budgets.column
            own = self._plan.own(table.select([column]).to_pandas(), tracks)
        if labels is None:
            self.tally.longest = max(self.tally.longest, int(tracks.lengths.max(initial=0)))
        elif len(tracks.xy):
            new = labels[1:] if self._before is not None else labels
            if not self._plan.recipe.sequential:
                new = labels[1:] if labels[0] == self._last else labels
            if self._along and self.tally.seen.of(new).any():  # within a piece, `_read` sees it
                raise InputError(self._unsorted())
            self._last, earlier = labels[-1], self.tally.seen.of(labels)
            self.tally.seen.add(labels, tracks.lengths)
            lengths = None if self._counted is None else self._counted.of(labels)
        if not self._plan.sharing.by_trajectory and len(tracks.xy):
            lengths = self._of_people(table, tracks)
        try:
            xy, added, last = self._plan.reports(
                tracks,
                self._key,
                parts=parts,
                lengths=lengths,
                own=own,
                whose=whose,
                earlier=earlier,
                before=self._before,
                workers=self._workers,
            )
        except DomainError as error:
            first = self._first + self.tally.rows
            raise DomainError(f"In rows {first} to {first + len(table) - 1}: {error}") from None
        self._before = last if continues else None
        self.tally.add(xy, len(table))
        locations = encoded(tracks, xy, np.asarray(table[self.layout.geometry].is_valid()))
        self._advance(len(table))
        return assembled(self.layout, self._plan, table, locations, added, tracks.present)

    def _of_people(self, table: pa.Table, tracks: frames.Tracks) -> np.ndarray | None:
        """Count the locations of people, and return how many each has in the whole file."""
        people, units = unit_keys(tracks, table, self._plan.sharing)
        new = self.tally.units.of(units) == 0
        self.tally.periods.add(people[new], np.ones(np.count_nonzero(new), dtype=np.int64))
        self.tally.units.add(units, tracks.unit_lengths)
        return None if self._counted is None else self._counted.of(units)

    def _unsorted(self) -> str:
        columns = [repr(name) for name in (self._plan.trajectory, self._plan.time) if name is not None]
        why = f"{self._plan.recipe.name} looks back" if self._plan.recipe.sequential else "An uneven allocation looks"
        return (
            f"{why} along a trajectory, and the rows of this file are not in order: "
            "those of a trajectory must be together and in the order of their times. Use sort=True to sort "
            f"them on disk, or sort the file by {' and '.join(columns)} first."
        )


def layout_of(source: Source, plan: Plan, *, lines: bool) -> Layout:
    """Return what the tables of a release are like; lines get no column that says a place."""
    places = [] if lines else _place_fields(plan)
    index = source.index if isinstance(source.index, list) else []
    fields = []
    for field in source.schema:
        if field.name == source.geometry:
            fields += [*places, field]
        elif field.name in plan.kept or field.name in index:
            fields.append(field)
    fields = [f.with_type(_unordered(f.type)) for f in fields]
    crs = cast(pyproj.CRS, source.crs)  # a source without one has raised already
    return Layout(pa.schema(fields), source.geometry, crs, source.index, source.others, source.nullable)


def _place_fields(plan: Plan) -> list[pa.Field]:
    rounding = plan.rounding
    if rounding is None:
        return []
    none = rounding.attributes(np.arange(0 if isinstance(rounding.table, str) else len(rounding.table)))
    return list(pa.Schema.from_pandas(none, preserve_index=False).remove_metadata())


def assembled(
    layout: Layout,
    plan: Plan,
    table: pa.Table,
    locations: pa.Array | pa.ChunkedArray,
    added: pd.DataFrame | None,
    present: np.ndarray,
) -> pa.Table:
    """Return the rows of a release: other locations, what places add, and the kept columns."""
    columns = []
    for field in layout.schema:
        if field.name == layout.geometry:
            columns.append(locations)
        elif field.name in plan.added:
            if added is None:
                columns.append(pa.nulls(len(table), field.type))
                continue
            where = np.cumsum(present) - 1
            values = pa.array(added[field.name].array, field.type, from_pandas=True)
            columns.append(values.take(pa.array(where, mask=~present)))
        else:
            columns.append(used(table[field.name]) if pa.types.is_dictionary(field.type) else table[field.name])
    return pa.table(columns, schema=layout.schema)


def read(
    source: Source,
    table: pa.Table,
    trajectory: str | None,
    time: str | None = None,
    sharing: Unit | None = None,
    *,
    first: int = 0,
) -> frames.Tracks:
    """Return the locations of a table in the order of its rows, of which ``first`` came before."""
    units = [] if sharing is None or sharing.by_trajectory else sharing.columns
    columns = list(dict.fromkeys(name for name in (trajectory, time, *units) if name is not None))
    with told(source.path, "read"):
        frame = table.select(columns).to_pandas()
    frame.index = pd.RangeIndex(first, first + len(table))
    found = source.decode(table)
    if found is not None:
        tracks = frames.read_coordinates(frame, found.xy, found.present, found.counts, trajectory, time)
    else:
        shapes = gpd.GeoSeries(wkb.geometries(table[source.geometry]), index=frame.index, crs=source.crs)
        tracks = frames.read(gpd.GeoDataFrame(frame, geometry=shapes), trajectory, time, grouped=False)
    return tracks if sharing is None else sharing.group(frame, tracks)


def first_rows(source: Source, request: Request) -> gpd.GeoDataFrame:
    """Return the first rows, which have the columns that are asked for."""
    with closing(source.tables(SAMPLE)) as tables:
        sample = source.frame(next(tables))
    frames.check(sample)
    columns_.check(sample, request.columns)
    return sample


def contents(source: Source, plan: Plan) -> np.ndarray:
    """Return a digest of all that decides what is drawn for rows: other rows must not get the same draws."""
    digest = hashlib.blake2b(digest_size=32)
    column = None if plan.budgets is None else plan.budgets.column
    names = [source.geometry, plan.trajectory, plan.time, column, *plan.sharing.columns]
    with closing(source.tables(BATCH, names)) as tables:
        for table in tables:
            tracks = read(source, table, plan.trajectory, plan.time, plan.sharing)
            own = None if column is None else table[column].to_numpy()
            for array in (tracks.xy, tracks.codes, tracks.counts, tracks.times, tracks.units, own):
                if array is not None:
                    digest.update(repr((array.shape, array.dtype.str)).encode() + array.tobytes())
    return np.frombuffer(digest.digest(), np.uint8)


def named(source: Source, table: pa.Table, meter: Meter) -> pd.DataFrame:
    """Return the columns of a table that say whom its rows are charged to."""
    with told(source.path, "read"):
        return table.select(meter.columns).to_pandas()


def keys_of(tracks: frames.Tracks, table: pa.Table, trajectory: str | None) -> np.ndarray | None:
    """Return the key of each trajectory of a table; None for lines that are one each."""
    if trajectory is None:
        return None if tracks.are_lines else np.zeros(len(tracks.lengths), dtype=np.uint64)
    _, first = np.unique(tracks.codes, return_index=True)
    return keys(table[trajectory].take(pa.array(np.flatnonzero(tracks.present)[first])).to_pandas())


def unit_keys(tracks: frames.Tracks, table: pa.Table, sharing: Unit) -> tuple[np.ndarray, np.ndarray]:
    """Return the key of each unit's person, and the key of each unit: of the person, or the person and period."""
    _, first = np.unique(tracks.unit_codes, return_index=True)
    some = table.select(sharing.columns).take(pa.array(np.flatnonzero(tracks.present)[first]))
    people = keys(some[sharing.column].to_pandas())
    if sharing.period is None:
        return people, people
    return people, keys(pd.DataFrame({"whose": people, "period": sharing.numbers(some.to_pandas())}))


def _rows_of(tracks: frames.Tracks, locations: int) -> int:
    """Return how many rows hold the first locations; rows without any go with those before them."""
    if locations == len(tracks.xy):
        return len(tracks.present)
    starts = tracks.row_starts
    return int(np.flatnonzero(tracks.present)[locations if starts is None else np.searchsorted(starts, locations)])


def encoded(tracks: frames.Tracks, xy: np.ndarray, valid: np.ndarray) -> pa.Array:
    """Return well-known binary of the rows with other locations; those that are ``valid`` but hold none stay empty."""
    if tracks.geometry is None:
        return wkb.encode(tracks.in_frame_order(xy), tracks.present, tracks.counts, valid)
    return pa.array(shapely.to_wkb(tracks.rebuild(xy)), pa.binary())


def _unordered(kind: pa.DataType) -> pa.DataType:
    """Return the type of categories without an order: that would have to name them all, and they come in pieces."""
    return pa.dictionary(kind.index_type, kind.value_type) if pa.types.is_dictionary(kind) else kind


def used(column: pa.ChunkedArray) -> pa.Array:
    """Return a column of categories without those it does not use, which may name people who are not in it."""
    array = column.unify_dictionaries().combine_chunks()
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) and array.num_chunks else array
    if len(array) == 0:
        return pa.nulls(0, _unordered(array.type))
    used = pa.array(np.unique(array.indices.drop_null().to_numpy()), array.type.index_type)
    indices = pc.index_in(array.indices, value_set=used).cast(array.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, array.dictionary.take(used))


def _with_last(items: Iterator[Any]) -> Iterator[tuple[Any, bool]]:
    """Say of each item whether it is the last."""
    before = next(items)
    for item in items:
        yield before, False
        before = item
    yield before, True
