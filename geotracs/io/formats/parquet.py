"""GeoParquet: a file, or a folder of files."""

import base64
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj

import geotracs.io.metadata as metadata
import geotracs.io.streams as streams
import geotracs.io.wkb as wkb
from geotracs.errors import InputError
from geotracs.io.formats.base import Format, Reading, Writing, has_ending
from geotracs.io.geoarrow import NAME, NATIVE, Encoding
from geotracs.io.streams import Layout, Source, Stream, Summary
from geotracs.io.troubles import told

PART = 2**20
"""How many rows a file of a folder holds at most: a good size of a partition of dask's."""
COMMON = "_common_metadata"
"""What Parquet calls a file of the metadata that all files of a folder share: the record of a whole release."""
ATTRS = b"PANDAS_ATTRS"
"""Where pandas keeps the attrs of a frame."""
BESIDE = ("_metadata", "_success", ".crc")
"""What may lie beside GeoParquet files in their folder."""


class GeoParquet(Format):
    """GeoParquet. A name without an ending is a folder of files when it is written."""

    name = "GeoParquet"
    endings = (".parquet", ".geoparquet", ".pq")
    keeps_record = True

    def claims(self, path: Path) -> bool:
        """Return whether this is a GeoParquet file, or a folder that holds some."""
        if not path.is_dir():
            return has_ending(path, self.endings)
        return any(has_ending(part, self.endings) for part in path.iterdir()) or _has_files_deeper(path)

    def read(self, path: Path, reading: Reading) -> gpd.GeoDataFrame:
        """Return a file, or all files of a folder, as a frame."""
        parts = [_with_attrs(_checked(gpd.read_parquet(part)), part) for part in self.files(path)]
        if len(parts) == 1 and not (path / COMMON).exists():
            return parts[0]
        frame = pd.concat(parts, ignore_index=all(isinstance(part.index, pd.RangeIndex) for part in parts))
        if (path / COMMON).exists():
            frame.attrs["tracs"] = self.record(path, reading)
        return frame

    def record(self, path: Path, reading: Reading) -> dict[str, Any]:
        """Return the record of a file or a folder from its metadata: those of all files, or of the first one."""
        common = path / COMMON
        stored = pq.read_metadata(common if common.exists() else self.files(path)[0]).metadata or {}
        return metadata.record(stored)

    def open(self, path: Path, reading: Reading) -> Source:
        """Return a file or folder ready to be read in batches."""
        return _open(path, self.files(path), reading.crs)

    def write(self, frame: gpd.GeoDataFrame, path: Path, writing: Writing) -> None:
        """Write a frame to a file."""
        empty = frame.geometry.isna().all()  # of which geopandas does not know another encoding
        frame.to_parquet(path, geometry_encoding="WKB" if empty else writing.encoding)
        if frame.attrs and not _attrs(path):  # older versions of geopandas do not keep them
            table = pq.read_table(path)
            about = {**(table.schema.metadata or {}), ATTRS: json.dumps(frame.attrs).encode()}
            pq.write_table(table.replace_schema_metadata(about), path)

    def write_stream(self, stream: Stream, path: Path, writing: Writing) -> None:
        """Write a file, or a folder of files, a table at a time; metadata are added in the end."""
        layout, writers, encoding = stream.layout, list[pq.ParquetWriter](), "WKB"
        most, rows = math.inf if path.suffix else PART, 0
        if not path.suffix:
            path.mkdir()
        try:
            for table in stream.tables:
                if writing.encoding != "WKB":
                    own = NATIVE[stream.summary().kind or "Point"]
                    table, encoding = _native(table, layout.geometry, own), own.name
                if not writers or rows + len(table) > most:
                    part = path if path.suffix else path / f"part.{len(writers)}.parquet"
                    writers.append(pq.ParquetWriter(part, table.schema, store_schema=False))
                    rows = 0
                writers[-1].write_table(table)
                rows += len(table)
            about = metadata.of_release(layout, stream.summary(), encoding)
            # Readers such as dask-geopandas know only what is in the schema, and that is written in the end, too.
            schema = base64.b64encode(table.schema.with_metadata(about).serialize()).decode()
            for writer in writers:
                writer.add_key_value_metadata({**about, "ARROW:schema": schema})
        finally:
            for writer in writers:
                writer.close()

    def write_common(self, folder: Path, layout: Layout, summary: Summary, writing: Writing) -> None:
        """Write the metadata of a whole release beside its files, each of which knows only itself."""
        encoding = "WKB" if writing.encoding == "WKB" else NATIVE[summary.kind or "Point"].name
        about = metadata.of_release(layout, summary, encoding)
        pq.write_metadata(layout.schema.with_metadata(about), folder / COMMON)

    def files(self, path: Path) -> list[Path]:
        """Return the files of a folder in the order of their numbers, or the file that this is."""
        if not path.is_dir():
            return [path]
        if _has_files_deeper(path):
            raise InputError(
                f"{str(path)!r} has GeoParquet files in folders within it, such as key=value. Give one of them, or "
                "read all with dask_geopandas.read_parquet."
            )

        def numbers(part: Path) -> list[tuple[int, str]]:
            return [(int(word), "") if word.isdigit() else (-1, word) for word in re.split(r"(\d+)", part.name)]

        return sorted((part for part in path.iterdir() if has_ending(part, self.endings)), key=numbers)

    def is_folder(self, path: Path) -> bool:
        """Return whether a folder holds only GeoParquet files and what is written beside them; it may be empty."""
        return all(part.is_file() and has_ending(part, (*self.endings, *BESIDE)) for part in path.iterdir())


def _attrs(path: Path) -> dict[str, Any]:
    """Return the attrs of the frame that a file holds."""
    found = json.loads((pq.read_metadata(path).metadata or {}).get(ATTRS, b"{}"))
    return found if isinstance(found, dict) else {}


def _with_attrs(frame: gpd.GeoDataFrame, path: Path) -> gpd.GeoDataFrame:
    """Return the frame of a file with its attrs, which older versions of geopandas do not read."""
    frame.attrs = frame.attrs or _attrs(path)
    return frame


def _checked(frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return the frame, if its texts are in UTF-8: pandas decodes them when they are shown, and quotes what fails."""
    if isinstance(frame, gpd.GeoDataFrame):
        columns = pd.DataFrame(frame.drop(columns=frame.geometry.name)).reset_index()
        for _, column in columns.items():
            if isinstance(column.dtype, pd.StringDtype):
                pa.chunked_array(pa.array(column)).validate(full=True)
    return frame


def _native(table: pa.Table, geometry: str, encoding: Encoding) -> pa.Table:
    """Return a table of a release with its locations in GeoParquet's own encoding."""
    valid, shapes = np.asarray(table[geometry].is_valid()), cast(wkb.Shapes, wkb.decode(table[geometry]))
    locations = encoding.encode(shapes.xy, shapes, valid)
    return table.set_column(table.column_names.index(geometry), geometry, locations)


def _has_files_deeper(path: Path) -> bool:
    deeper = [part.relative_to(path).parts for part in path.rglob("*.parquet")]
    return any(len(parts) > 1 and not parts[0].startswith((".", "_")) for parts in deeper)


@dataclass(frozen=True)
class _Files(Source):
    parts: list[Path] = field(default_factory=list)
    encoding: str = "WKB"
    stamps: list[tuple[int, int]] = field(default_factory=list, repr=False)
    groups: list[int] | None = None

    def split(self, rows: int) -> list[Source]:
        """Return runs of row groups, each within one file."""
        return [part for at in range(len(self.parts)) for part in self._split(at, rows)]

    def _split(self, at: int, rows: int) -> Iterator[Source]:
        footer = _read_footer(self.parts[at])
        counts = [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]
        group: list[int] = []
        for number, count in enumerate(counts):
            if group and sum(counts[other] for other in group) + count > rows:
                yield self._part(at, group, counts)
                group = []
            group.append(number)
        if group:
            yield self._part(at, group, counts)

    def _part(self, at: int, group: list[int], counts: list[int]) -> Source:
        own = sum(counts[number] for number in group)
        return replace(self, parts=[self.parts[at]], stamps=[self.stamps[at]], groups=group, rows=own)

    def pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield the rows of one file after another."""
        for part, stamp in zip(self.parts, self.stamps, strict=True):
            _check_same(part, stamp)
            with pq.ParquetFile(part, pre_buffer=False) as file:  # or it would hold all that was read so far
                missing = [name for name in self.schema.names if name not in file.schema_arrow.names]
                if missing:
                    raise InputError(f"{str(part)!r} has no column {missing[0]!r}, which the first file has.")
                for batch in file.iter_batches(streams.READ, row_groups=self.groups, columns=schema.names):
                    batch.validate(full=True)
                    table = pa.Table.from_batches([batch]).select(schema.names)
                    yield streams.fitted(self._plain(table).replace_schema_metadata(None), schema, part)
            _check_same(part, stamp)

    def _plain(self, table: pa.Table) -> pa.Table:
        """Return the table with its locations in well-known binary."""
        if self.encoding == "WKB" or self.geometry not in table.column_names:
            return table
        column = table[self.geometry]
        said = {NAME: f"geoarrow.{self.encoding}"}
        encoding = Encoding.of(pa.field(self.geometry, column.type, metadata=said))
        shapes = cast(wkb.Shapes, encoding.decode(column))
        locations = wkb.encode(shapes.xy, shapes.present, shapes.counts, np.asarray(column.is_valid()))
        return table.set_column(table.column_names.index(self.geometry), self.geometry, locations)


def _open(path: Path, parts: list[Path], crs: pyproj.CRS | None) -> Source:
    stamps = [_stamp(part) for part in parts]
    schemas, about, rows = zip(*[_footer(part) for part in parts], strict=True)
    geos = [json.loads(footer.get(b"geo", b"{}")) for footer in about]
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
    boxes = [column.get("bbox") for column in own]
    hidden = metadata.hidden(own[0])
    fields = [f.remove_metadata() for f in schemas[0] if f.name != hidden]
    fields = [pa.field(name, pa.binary()) if f.name == name else f for f in fields]
    return _Files(
        path=path,
        schema=pa.schema(fields),
        geometry=name,
        crs=metadata.crs(own[0], crs),
        rows=sum(rows),
        bounds=streams.union(boxes) if all(box is not None and len(box) == 4 for box in boxes) else None,
        others={other: about for other, about in geos[0]["columns"].items() if other != name},
        **metadata.of_pandas(about[0], alone=len(parts) == 1),
        parts=parts,
        encoding=own[0]["encoding"],
        stamps=stamps,
    )


def _footer(part: Path) -> tuple[pa.Schema, dict[bytes, bytes], int]:
    """Return schema, metadata and number of rows of a file; GDAL writes metadata beside the schema, not into it."""
    with told(part, "read"):
        footer = _read_footer(part)
        return footer.schema.to_arrow_schema(), footer.metadata or {}, footer.num_rows


def _read_footer(part: Path) -> pq.FileMetaData:
    with told(part, "read"):
        return pq.read_metadata(part)


def _stamp(part: Path) -> tuple[int, int]:
    """Return what changes when a file is replaced: its size, and when it was written."""
    with told(part, "read"):
        known = part.stat()
    return known.st_size, known.st_mtime_ns


def _check_same(part: Path, stamp: tuple[int, int]) -> None:
    if _stamp(part) != stamp:
        raise InputError(f"{str(part)!r} changed while it was read. Try again.")
