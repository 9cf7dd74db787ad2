"""Files of locations, read a batch of rows at a time, as often as it takes."""

import functools
import json
import re
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pyproj

import geotracs.geo.crs as crs_
import geotracs.io.files as files
import geotracs.release.blocks as blocks
import geotracs.release.file.wkb as wkb
from geotracs.errors import InputError
from geotracs.io.troubles import told

READ = 2**16
"""How many rows are read at a time; several make a batch."""

Bounds = tuple[float, float, float, float]
_NULLABLE = re.compile(r"(U?Int|Float)\d+$|boolean$")
_OUTER = (np.fmin, np.fmin, np.fmax, np.fmax)  # of numbers, where there are some

listen_to_gdal = getattr(getattr(pyogrio, "_err", None), "_register_error_handler", None)
"""pyogrio does this in the thread that imports it; in another one GDAL would write to stderr itself."""


@dataclass(frozen=True)
class Source:
    """A file, or a folder of GeoParquet files, that is read in Arrow tables.

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

    def tables(self, rows: int, columns: Sequence[str | None] | None = None) -> Generator[pa.Table]:
        """Return tables of exactly so many rows, but for the last, read ahead in a thread; one at least."""
        schema = pa.schema([f for f in self.schema if columns is None or f.name in columns])
        return _ahead(_sized(self._guarded(schema), rows, schema))

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
        """Read, and say in a line what is wrong with the file."""
        with told(self.path, "read"):
            yield from self._read(schema)

    def _read(self, schema: pa.Schema) -> Iterator[pa.Table]:
        raise NotImplementedError


def open_source(
    path: str | Path,
    *,
    layer: str | None = None,
    x: str | None = None,
    y: str | None = None,
    crs: Any = None,
    allow_remote: bool = False,
    progress: bool | None = False,
) -> Source:
    """Return a file ready to be read in batches; the arguments are those of `files.read`."""
    path, suffix = files.located(path, allow_remote)
    layer = layer or suffix
    given = None if crs is None else crs_.parse(crs)
    with told(path, "read"):
        if parts := files.parquet_parts(path):
            return _open_parquet(path, parts, given)
        if files.has_ending(path, files.CSV):
            return _open_csv(path, x, y, given, progress)
        return _open_layer(path, layer, given, allow_remote)


@dataclass(frozen=True)
class _Parquet(Source):
    parts: list[Path] = field(default_factory=list)
    encoding: str = "WKB"

    def _read(self, schema: pa.Schema) -> Iterator[pa.Table]:
        for part in self.parts:
            with pq.ParquetFile(part, pre_buffer=False) as file:  # or it would hold all that was read so far
                missing = [name for name in self.schema.names if name not in file.schema_arrow.names]
                if missing:
                    raise InputError(f"{str(part)!r} has no column {missing[0]!r}, which the first file has.")
                for batch in file.iter_batches(READ, columns=schema.names):
                    table = pa.Table.from_batches([batch]).select(schema.names)
                    yield _cast(self._plain(table).replace_schema_metadata(None), schema, part)

    def _plain(self, table: pa.Table) -> pa.Table:
        """Return the table with its locations in well-known binary."""
        if self.encoding == "WKB" or self.geometry not in table.column_names:
            return table
        position = table.column_names.index(self.geometry)
        marked = pa.field(self.geometry, table.schema.field(position).type).with_metadata(
            {"ARROW:extension:name": f"geoarrow.{self.encoding}"}
        )
        frame = gpd.GeoDataFrame.from_arrow(pa.table([table[self.geometry]], schema=pa.schema([marked])))
        return table.set_column(position, self.geometry, wkb.from_frame(frame))


def _open_parquet(path: Path, parts: list[Path], crs: pyproj.CRS | None) -> Source:
    schemas, about, rows = zip(*[_footer(part) for part in parts], strict=True)
    geos = [json.loads(metadata.get(b"geo", b"{}")) for metadata in about]
    for part, schema, geo in zip(parts, schemas, geos, strict=True):
        twice = [name for name in schema.names if schema.names.count(name) > 1]
        if twice:
            raise InputError(f"{str(part)!r} has several columns named {twice[0]!r}; rename all but one.")
        if "primary_column" not in geo:
            raise InputError(
                f"{str(part)!r} cannot be read: it is Parquet without geometry metadata, not GeoParquet; write it with "
                "GeoDataFrame.to_parquet."
            )
    name = geos[0]["primary_column"]
    own = [geo.get("columns", {}).get(name) for geo in geos]
    if name not in schemas[0].names or "encoding" not in (own[0] or {}):
        raise InputError(f"{str(path)!r} cannot be read: its geometry metadata do not fit its columns.")
    if any(column is None or column.get("crs") != own[0].get("crs") for column in own):
        raise InputError(f"The files of {str(path)!r} differ in their geometry column or its CRS.")
    pandas = json.loads(about[0].get(b"pandas", b"{}"))
    types = [(column["field_name"], column["numpy_type"]) for column in pandas.get("columns", [])]
    said = own[0].get("crs", "OGC:CRS84")  # which is what GeoParquet means when it says nothing
    boxes = [column.get("bbox") for column in own]
    hidden = own[0].get("covering", {}).get("bbox", {}).get("xmin", [None])[0]  # a column of the locations' extents
    fields = [f.remove_metadata() for f in schemas[0] if f.name != hidden]
    fields = [pa.field(name, pa.binary()) if f.name == name else f for f in fields]
    return _Parquet(
        path=path,
        schema=pa.schema(fields),
        geometry=name,
        crs=crs if said is None else crs_.parse(json.dumps(said) if isinstance(said, dict) else said),
        rows=sum(rows),
        bounds=_union(boxes) if all(box is not None and len(box) == 4 for box in boxes) else None,
        index=_index(pandas.get("index_columns", []), len(parts)),
        others={other: about for other, about in geos[0]["columns"].items() if other != name},
        nullable={name: kind for name, kind in types if _NULLABLE.match(kind)},
        parts=parts,
        encoding=own[0]["encoding"],
    )


def _footer(part: Path) -> tuple[pa.Schema, dict[bytes, bytes], int]:
    """Return schema, metadata and number of rows of a file; GDAL writes metadata beside the schema, not into it."""
    with told(part, "read"):
        footer = pq.read_metadata(part)
        return footer.schema.to_arrow_schema(), footer.metadata or {}, footer.num_rows


def _index(columns: list[Any], parts: int) -> list[str] | dict[str, Any]:
    ranges = [column for column in columns if isinstance(column, dict)]
    return ranges[0] if ranges and parts == 1 else [column for column in columns if isinstance(column, str)]


@dataclass(frozen=True)
class _Csv(Source):
    coordinates: tuple[str, str] = ("x", "y")
    types: dict[str, Any] = field(default_factory=dict, repr=False)

    def _read(self, schema: pa.Schema) -> Iterator[pa.Table]:
        names = [name for name in schema.names if name != self.geometry]
        for chunk in _chunks(self.path, dtype=self.types, usecols=[*names, *self.coordinates]):
            frame = files.from_table(chunk, *self.coordinates, self.crs)
            columns = {name: pa.array(frame[name], schema.field(name).type, from_pandas=True) for name in names}
            yield pa.table({**columns, self.geometry: wkb.from_frame(frame)}).select(schema.names)


def _open_csv(
    path: Path, x: str | None, y: str | None, crs: pyproj.CRS | None, progress: bool | None = False
) -> Source:
    """Go through the file once: what a column holds may show in its last row only."""
    types: dict[Any, Any] = {}
    boxes: list[Bounds] = []
    rows, frame = 0, None
    with blocks.bar(None, progress, " rows", "Looking at the columns") as advance:
        for chunk in _chunks(path):
            frame = files.from_table(chunk, x, y, crs)
            x, y, rows = *files.coordinates(chunk, x, y), rows + len(chunk)
            types = {name: _common(types.get(name, dtype), dtype) for name, dtype in chunk.dtypes.items()}
            boxes = [_union([*boxes, frame.total_bounds])]
            advance(len(chunk))
    if frame is None:
        raise InputError(f"{str(path)!r} cannot be read: it is empty.")
    types.pop("geometry", None)  # whose place the points take
    empty = frame.iloc[:0].drop(columns="geometry").astype({n: t for n, t in types.items() if n not in (x, y)})
    schema = (
        pa.Schema.from_pandas(empty, preserve_index=False).remove_metadata().append(pa.field("geometry", pa.binary()))
    )
    names = cast(tuple[str, str], (x, y))  # found in the first chunk
    return _Csv(path, schema, "geometry", frame.crs, rows, boxes[0], coordinates=names, types=types)


def _chunks(path: Path, **arguments: Any) -> Iterator[pd.DataFrame]:
    with pd.read_csv(path, sep=files.separator(path), chunksize=READ, low_memory=False, **arguments) as reader:
        yield from reader


def _common(one: Any, other: Any) -> Any:
    """Return the type of a column that looks like two types in two chunks."""
    if one == other and one.kind != "O":
        return one
    signs = {t.kind for t in (one, other)}
    return np.dtype(np.float64) if "f" in signs and signs <= set("fiu") else pd.StringDtype()  # as exact as any


@dataclass(frozen=True)
class _Layer(Source):
    layer: str | None = None
    stored: str = "geom"
    as_text: bool = False

    def _read(self, schema: pa.Schema) -> Iterator[pa.Table]:
        names, rows = [name for name in schema.names if name != self.geometry], 0
        given = {"layer": self.layer, "columns": names, "batch_size": READ, "use_pyarrow": True}
        if self.as_text:
            given["datetime_as_string"] = True
        with pyogrio.open_arrow(files.address(self.path), **given) as (_, reader):
            for batch in reader:
                rows += len(batch)
                table = pa.Table.from_batches([batch]).select([*names, self.stored])
                table = table.rename_columns([*names, self.geometry]).select(schema.names)
                for name in (f.name for f in schema if pa.types.is_string(f.type)):
                    table[name].validate(full=True)  # GDAL passes on what is not in the encoding that a file says
                table = _with_times(table, schema) if self.as_text else table
                yield _cast(table.replace_schema_metadata(None), schema, self.path)
        files.check_all_read(self.path, rows)


def _open_layer(path: Path, layer: str | None, crs: pyproj.CRS | None, allow_remote: bool) -> Source:
    if files.has_ending(path, files.GML) or (layer is None and files.has_ending(path, files.GPX)):
        return held(files.read(path, layer=layer, crs=crs, allow_remote=allow_remote), path)
    files.check_layer(path)
    layer = files.only_layer(path, layer)
    info = pyogrio.read_info(files.address(path), layer=layer)
    if info["geometry_type"] is None:
        raise InputError(f"{str(path)!r} has no geometries.")
    with pyogrio.open_arrow(files.address(path), layer=layer, batch_size=1, use_pyarrow=True) as (meta, reader):
        stored, fields = meta["geometry_name"] or "wkb_geometry", {f.name: f.type for f in reader.schema}
    as_text = False
    for name in info["fields"]:
        if pa.types.is_timestamp(fields[name]):
            zoned = _has_zone(path, layer, name)
            as_text |= zoned and fields[name].tz is None
            fields[name] = pa.timestamp(fields[name].unit, "UTC" if zoned else None)
    schema = pa.schema([(name, fields[name]) for name in info["fields"]]).append(pa.field("geometry", pa.binary()))
    fast = info["capabilities"]["fast_total_bounds"] and info["total_bounds"] is not None
    return _Layer(
        path=path,
        schema=schema,
        geometry="geometry",
        crs=crs if info["crs"] is None else crs_.parse(info["crs"]),
        rows=info["features"] if info["features"] >= 0 else None,
        bounds=info["total_bounds"] if fast else None,
        layer=layer,
        stored=stored,
        as_text=as_text,
    )


def _has_zone(path: Path, layer: str | None, name: str) -> bool:
    """Whether the times of a column have a zone, as a frame would: Arrow gives some without, and all with one."""
    given = {"layer": layer, "columns": [name], "read_geometry": False}
    few = pyogrio.read_dataframe(files.address(path), max_features=1000, **given)
    if few[name].isna().all():
        few = pyogrio.read_dataframe(files.address(path), where=f'"{name}" IS NOT NULL', max_features=1, **given)
    return getattr(few[name].dtype, "tz", None) is not None


def _with_times(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the times that came as text, which has their zone."""
    for position, own in enumerate(schema):
        if pa.types.is_timestamp(own.type):
            times = pd.to_datetime(table[own.name].to_pandas(), format="ISO8601", utc=own.type.tz is not None)
            table = table.set_column(position, own.name, pa.array(times, from_pandas=True))
    return table


@dataclass(frozen=True)
class _Held(Source):
    table: pa.Table | None = field(default=None, repr=False)

    def _read(self, schema: pa.Schema) -> Iterator[pa.Table]:
        yield cast(pa.Table, self.table).select(schema.names)


def held(frame: gpd.GeoDataFrame, path: Path) -> Source:
    """Return a frame in memory as a source, for what can only be read at once."""
    name = frame.geometry.name
    table = pa.Table.from_pandas(pd.DataFrame(frame.drop(columns=name)), preserve_index=False)
    table = table.replace_schema_metadata(None).append_column(name, wkb.from_frame(frame))
    return _Held(path, table.schema, name, frame.crs, len(frame), tuple(frame.total_bounds), table=table)


def _cast(table: pa.Table, schema: pa.Schema, path: Path) -> pa.Table:
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


def _ahead(items: Iterator[Any]) -> Generator[Any]:
    """Make the next item in a thread while this one is worked on."""
    with ThreadPoolExecutor(1, initializer=listen_to_gdal) as reader:
        read_next = functools.partial(next, items, None)
        pending = reader.submit(read_next)
        while (item := pending.result()) is not None:
            pending = reader.submit(read_next)
            yield item


def _union(boxes: list[Any]) -> Bounds:
    west, south, east, north = np.asarray(boxes, dtype=np.float64).reshape(-1, 4).T
    outer = (float(f.reduce(side)) for f, side in zip(_OUTER, (west, south, east, north), strict=True))
    return cast(Bounds, tuple(outer))
