"""Locations a table at a time: a file that is read in batches, and a release that is written in batches."""

import functools
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyproj

import geotracs.io.wkb as wkb
from geotracs.errors import InputError
from geotracs.io.troubles import told

READ = 2**16
"""How many rows are read at a time; several make a batch."""

Bounds = tuple[float, float, float, float]
_OUTER = (np.fmin, np.fmin, np.fmax, np.fmax)  # which ignore NaN, the bounds of nothing


@dataclass(frozen=True)
class Source:
    """A file, or a folder of files, that is read in Arrow tables, as often as it takes.

    A format derives its own from it and defines `pieces`.

    Attributes
    ----------
    schema : pyarrow.Schema
        Of the tables.
    geometry : str
        The column of the locations, in well-known binary.
    rows : int, or None
        How many there are, where the file says it.
    bounds : tuple, or None
        The extent of the locations, where the file says it. Private.
    index : list of str, or dict
        Columns that are the index of the frame; or what pandas says of a range.
    others : dict
        What GeoParquet says of other geometry columns.
    nullable : dict
        The types of pandas, such as Int64, that Arrow has no name for.
    """

    path: Path
    schema: pa.Schema = field(repr=False)
    geometry: str
    crs: pyproj.CRS | None = field(repr=False)
    rows: int | None
    bounds: Bounds | None = field(repr=False)
    index: list[str] | dict[str, Any] = field(default_factory=list, repr=False)
    others: dict[str, Any] = field(default_factory=dict, repr=False)
    nullable: dict[str, str] = field(default_factory=dict)

    def pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield the rows in tables of any size, about `READ` rows, with the columns of ``schema`` in its order."""
        raise NotImplementedError

    def split(self, rows: int) -> "list[Source]":
        """Return parts of about ``rows`` rows at most, as far as the file has any: each can be read by itself."""
        return [self]

    def reading(self) -> AbstractContextManager[None]:
        """Return the context in which tables are read; a library that writes warnings is kept quiet by it."""
        return nullcontext()

    def enter_thread(self) -> None:
        """Prepare the thread that reads."""

    def tables(self, rows: int, columns: Sequence[str | None] | None = None) -> Generator[pa.Table]:
        """Return tables of exactly ``rows`` rows, read ahead in a thread; the last may be shorter; at least one."""
        schema = pa.schema([f for f in self.schema if columns is None or f.name in columns])
        return _ahead(_sized(self._guarded(schema), rows, schema), self.enter_thread)

    def decode(self, table: pa.Table) -> wkb.Shapes | None:
        """Return the locations of a table as coordinates; None if only shapely can read them."""
        return wkb.decode(table[self.geometry])

    def frame(self, table: pa.Table) -> gpd.GeoDataFrame:
        """Return a table as a frame, with its index; its other geometry columns are of that type too."""
        with told(self.path, "read"):
            frame = table.to_pandas()
        for name in [self.geometry, *self.others]:
            if name in frame and pa.types.is_binary(table.schema.field(name).type):
                crs = self.crs if name == self.geometry else None
                frame[name] = gpd.GeoSeries(wkb.geometries(table[name]), index=frame.index, crs=crs)
        frame = gpd.GeoDataFrame(frame, geometry=self.geometry)
        return frame.set_index(self.index) if self.index and isinstance(self.index, list) else frame

    def _guarded(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Read, and raise a one-line error if the file is damaged."""
        with told(self.path, "read"):
            yield from self.pieces(schema)


@dataclass(frozen=True)
class Held(Source):
    """A table in memory."""

    table: pa.Table | None = field(default=None, repr=False)

    def pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield the table."""
        yield self.whole.select(schema.names)

    @property
    def whole(self) -> pa.Table:
        """The table."""
        return cast(pa.Table, self.table)


@dataclass(frozen=True)
class Chained(Source):
    """Several sources of the same columns, one after the other."""

    sources: tuple[Source, ...] = field(default=(), repr=False)

    def pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield the rows of one source after another."""
        for source in self.sources:
            yield from source.pieces(schema)


def chained(sources: Sequence[Source]) -> Source:
    """Return sources of the same columns as one."""
    if len(sources) == 1:
        return sources[0]
    known = {name: getattr(sources[0], name) for name in Source.__dataclass_fields__}
    return Chained(**known | {"rows": sum(source.rows or 0 for source in sources)}, sources=tuple(sources))


def held(frame: gpd.GeoDataFrame, path: Path) -> Source:
    """Return a frame in memory as a source, for formats that can only be read at once."""
    name = frame.geometry.name
    others = pa.Table.from_pandas(pd.DataFrame(frame.drop(columns=name)), preserve_index=False)
    # Columns one by one: without any, Arrow's table has no rows to add geometries to.
    table = pa.table({**{other: others[other] for other in others.column_names}, name: wkb.from_frame(frame)})
    return Held(path, table.schema, name, frame.crs, len(frame), tuple(frame.total_bounds), table=table)


@dataclass(frozen=True)
class Layout:
    """What the tables of a release are like.

    Attributes
    ----------
    index : list of str, or dict
        Columns that are the index of the frame; or what pandas says of a range.
    others : dict
        What GeoParquet says of other geometry columns.
    nullable : dict
        The types of pandas that Arrow has no name for.
    """

    schema: pa.Schema = field(repr=False)
    geometry: str
    crs: pyproj.CRS = field(repr=False)
    index: list[str] | dict[str, Any] = field(repr=False)
    others: dict[str, Any] = field(repr=False)
    nullable: dict[str, str]

    def columns(self, *, index: bool) -> pa.Schema:
        """Return the schema for files that know no index: with its named columns, or without."""
        named = self.index if isinstance(self.index, list) else []
        dropped = [name for name in named if not index or name.startswith("__index_level_")]
        return pa.schema([field for field in self.schema if field.name not in dropped])


@dataclass
class Summary:
    """What is known of a release only in the end.

    Attributes
    ----------
    kind : str, or None
        "Point" or "LineString"; None for a release without locations.
    record : dict, or None
        What readers may know of the release, for ``attrs["tracs"]``.
    """

    kind: str | None = None
    rows: int = 0
    bounds: Bounds | None = None
    record: dict[str, Any] | None = None


@dataclass(frozen=True)
class Stream:
    """A release that comes one table at a time; there is at least one.

    Attributes
    ----------
    summary : callable
        Says what is known by now: its kind after the first table, all of it after the last.
    """

    layout: Layout
    tables: Iterator[pa.Table] = field(repr=False)
    summary: Callable[[], Summary] = field(repr=False)

    def frames(self, *, index: bool = False) -> Iterator[gpd.GeoDataFrame]:
        """Yield each table as a frame without an index; the columns of a named one are there if ``index``."""
        layout = self.layout
        names = layout.columns(index=index).names
        for table in self.tables:
            frame = table.select(names).to_pandas(integer_object_nulls=True)
            for other in layout.others.keys() & set(names):
                frame[other] = wkb.geometries(table[other])
            points = gpd.GeoSeries(wkb.geometries(table[layout.geometry]), index=frame.index, crs=layout.crs)
            frame[layout.geometry] = points
            yield gpd.GeoDataFrame(frame, geometry=layout.geometry)


def fitted(table: pa.Table, schema: pa.Schema, path: Path) -> pa.Table:
    """Return a table with the types of a schema; the error of one that does not fit names columns and types only."""
    try:
        return table.cast(schema)
    except (ValueError, NotImplementedError):
        both = [
            (f.name, f.type, schema.field(f.name).type) for f in table.schema if f.type != schema.field(f.name).type
        ]
        found = ", ".join(f"{name!r} ({kind}, not {first})" for name, kind, first in both)
        raise InputError(
            f"{str(path)!r} has columns that do not fit what the first rows say: {found}; make them alike first."
        ) from None  # Arrow quotes the values


def union(boxes: list[Any]) -> Bounds:
    """Return the box around boxes.

    >>> union([(0, 0, 1, 1), (float("nan"),) * 4, (-1, 0, 0, 2)])
    (-1.0, 0.0, 1.0, 2.0)
    """
    west, south, east, north = np.asarray(boxes, dtype=np.float64).reshape(-1, 4).T
    outer = (float(f.reduce(side)) for f, side in zip(_OUTER, (west, south, east, north), strict=True))
    return cast(Bounds, tuple(outer))


def _sized(tables: Iterator[pa.Table], rows: int, schema: pa.Schema) -> Iterator[pa.Table]:
    """Cut and join tables to the same size."""
    waiting, count, some = [], 0, False
    for table in tables:
        waiting.append(table)
        count += len(table)
        while count >= rows:
            joined = pa.concat_tables(waiting)
            yield joined.slice(0, rows)
            some, waiting, count = True, [joined.slice(rows)], count - rows
    if count or not some:
        yield pa.concat_tables([*waiting, schema.empty_table()])


def _ahead(items: Iterator[Any], enter_thread: Callable[[], None]) -> Generator[Any]:
    """Make the next item in a thread while this one is worked on."""
    with ThreadPoolExecutor(1, initializer=enter_thread) as reader:
        read_next = functools.partial(next, items, None)
        pending = reader.submit(read_next)
        while (item := pending.result()) is not None:
            pending = reader.submit(read_next)
            yield item
