"""GeoParquet: a file, or a folder of files."""

import base64
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import geopandas as gpd
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj

import geotracs.geo.crs as crs_
import geotracs.io.streams as streams
import geotracs.io.wkb as wkb
from geotracs.errors import InputError
from geotracs.io.formats.base import Format, Reading, Writing, has_ending
from geotracs.io.streams import Layout, Source, Stream, Summary
from geotracs.io.troubles import told

PART = 2**20
"""How many rows a file of a folder holds at most: a good size of a partition of dask's."""
BESIDE = ("_metadata", "_success", ".crc")
"""What may lie beside GeoParquet files in their folder."""
_NULLABLE = re.compile(r"(U?Int|Float)\d+$|boolean$")


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
        parts = [_checked(gpd.read_parquet(part)) for part in self.files(path)]
        if len(parts) == 1:
            return parts[0]
        return pd.concat(parts, ignore_index=all(isinstance(part.index, pd.RangeIndex) for part in parts))

    def record(self, path: Path, reading: Reading) -> dict[str, Any]:
        """Return the record of a file, or of the first file of a folder, from its metadata."""
        stored = pq.read_metadata(self.files(path)[0]).metadata or {}
        about = json.loads(stored.get(b"PANDAS_ATTRS", b"{}"))
        found = about.get("tracs", {}) if isinstance(about, dict) else {}
        return found if isinstance(found, dict) else {}

    def open(self, path: Path, reading: Reading) -> Source:
        """Return a file or folder ready to be read in batches."""
        return _open(path, self.files(path), reading.crs)

    def write(self, frame: gpd.GeoDataFrame, path: Path, writing: Writing) -> None:
        """Write a frame to a file."""
        frame.to_parquet(path)

    def write_stream(self, stream: Stream, path: Path, writing: Writing) -> None:
        """Write a file, or a folder of files, a table at a time; metadata are added in the end."""
        layout, writers = stream.layout, list[pq.ParquetWriter]()
        most, rows = math.inf if path.suffix else PART, 0
        if not path.suffix:
            path.mkdir()
        try:
            for table in stream.tables:
                if not writers or rows + len(table) > most:
                    part = path if path.suffix else path / f"part.{len(writers)}.parquet"
                    writers.append(pq.ParquetWriter(part, layout.schema, store_schema=False))
                    rows = 0
                writers[-1].write_table(table)
                rows += len(table)
            metadata = _metadata(layout, stream.summary())
            # Readers such as dask-geopandas know only what is in the schema, and that is written in the end, too.
            schema = base64.b64encode(layout.schema.with_metadata(metadata).serialize()).decode()
            for writer in writers:
                writer.add_key_value_metadata({**metadata, "ARROW:schema": schema})
        finally:
            for writer in writers:
                writer.close()

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


def _checked(frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return the frame, if its texts are in UTF-8: pandas decodes them when they are shown, and quotes what fails."""
    if isinstance(frame, gpd.GeoDataFrame):
        columns = pd.DataFrame(frame.drop(columns=frame.geometry.name)).reset_index()
        for _, column in columns.items():
            if isinstance(column.dtype, pd.StringDtype):
                pa.chunked_array(pa.array(column)).validate(full=True)
    return frame


def _has_files_deeper(path: Path) -> bool:
    deeper = [part.relative_to(path).parts for part in path.rglob("*.parquet")]
    return any(len(parts) > 1 and not parts[0].startswith((".", "_")) for parts in deeper)


@dataclass(frozen=True)
class _Files(Source):
    parts: list[Path] = field(default_factory=list)
    encoding: str = "WKB"

    def pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield the rows of one file after another."""
        for part in self.parts:
            with pq.ParquetFile(part, pre_buffer=False) as file:  # or it would hold all that was read so far
                missing = [name for name in self.schema.names if name not in file.schema_arrow.names]
                if missing:
                    raise InputError(f"{str(part)!r} has no column {missing[0]!r}, which the first file has.")
                for batch in file.iter_batches(streams.READ, columns=schema.names):
                    batch.validate(full=True)
                    table = pa.Table.from_batches([batch]).select(schema.names)
                    yield streams.fitted(self._plain(table).replace_schema_metadata(None), schema, part)

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


def _open(path: Path, parts: list[Path], crs: pyproj.CRS | None) -> Source:
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
    return _Files(
        path=path,
        schema=pa.schema(fields),
        geometry=name,
        crs=crs if said is None else crs_.parse(json.dumps(said) if isinstance(said, dict) else said),
        rows=sum(rows),
        bounds=streams.union(boxes) if all(box is not None and len(box) == 4 for box in boxes) else None,
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


def _metadata(layout: Layout, summary: Summary) -> dict[str, str]:
    own = {
        "encoding": "WKB",
        "crs": layout.crs.to_json_dict(),
        "geometry_types": [summary.kind] if summary.kind else [],
    }
    if summary.bounds is not None:
        own["bbox"] = list(summary.bounds)
    others = {name: about for name, about in layout.others.items() if name in layout.schema.names}
    geo = {"version": "1.0.0", "primary_column": layout.geometry, "columns": {layout.geometry: own, **others}}
    return {
        "geo": json.dumps(geo),
        "pandas": json.dumps(_pandas_metadata(layout, summary.rows)),
        "PANDAS_ATTRS": json.dumps({"tracs": summary.record}),
    }


def _pandas_metadata(layout: Layout, rows: int) -> dict[str, Any]:
    empty = layout.schema.empty_table().to_pandas()
    named = bool(layout.index) and isinstance(layout.index, list)
    if named:
        empty = empty.set_index(layout.index)
        empty.index.names = [None if name.startswith("__index_level_") else name for name in layout.index]
    # An index of no numbers is a range to pandas, which would not be a column.
    table = pa.Table.from_pandas(empty, preserve_index=True if named else None)
    metadata = json.loads(table.schema.metadata[b"pandas"])
    for column in metadata["columns"]:
        column["numpy_type"] = layout.nullable.get(column["field_name"], column["numpy_type"])
    for column in metadata["index_columns"]:
        if isinstance(column, dict):
            column |= layout.index if isinstance(layout.index, dict) else {}
            column["stop"] = column["start"] + rows * column["step"]
    return metadata
