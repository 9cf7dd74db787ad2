"""Files written a table at a time; what is known only in the end is added in the end."""

import base64
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import geopandas as gpd
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pyproj

import geotracs.io.files as files
import geotracs.release.file.wkb as wkb
from geotracs.errors import InputError

PART = 2**20
"""How many rows a file of a folder holds at most: a good size of a partition of dask's."""


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
    """What is known of a release only in the end."""

    kind: str | None = None
    rows: int = 0
    bounds: tuple[float, float, float, float] | None = None
    record: dict[str, Any] | None = None


def write(
    path: Path,
    layout: Layout,
    tables: Iterator[pa.Table],
    summary: Callable[[], Summary],
    *,
    quote_formulas: bool = False,
) -> None:
    """Write all tables, and what ``summary`` says after the last; see `files.write`."""
    if files.has_ending(path, files.PARQUET) or not path.suffix:
        _to_parquet(path, layout, tables, summary)
    elif files.has_ending(path, files.CSV):
        _to_csv(path, layout, tables, quote_formulas)
    else:
        _to_layer(path, layout, tables, summary)


def _to_parquet(path: Path, layout: Layout, tables: Iterator[pa.Table], summary: Callable[[], Summary]) -> None:
    writers: list[pq.ParquetWriter] = []
    most = math.inf if path.suffix else PART
    rows = 0
    if not path.suffix:
        path.mkdir()
    try:
        for table in tables:
            if not writers or rows + len(table) > most:
                part = path if path.suffix else path / f"part.{len(writers)}.parquet"
                writers.append(pq.ParquetWriter(part, layout.schema, store_schema=False))
                rows = 0
            writers[-1].write_table(table)
            rows += len(table)
        metadata = _parquet_metadata(layout, summary())
        # Readers such as dask-geopandas know only what is in the schema, and that is written in the end, too.
        schema = base64.b64encode(layout.schema.with_metadata(metadata).serialize()).decode()
        for writer in writers:
            writer.add_key_value_metadata({**metadata, "ARROW:schema": schema})
    finally:
        for writer in writers:
            writer.close()


def _parquet_metadata(layout: Layout, summary: Summary) -> dict[str, str]:
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


def _to_csv(path: Path, layout: Layout, tables: Iterator[pa.Table], quote_formulas: bool) -> None:
    names = layout.columns(index=False).names
    for number, table in enumerate(tables):
        frame = table.select(names).to_pandas(integer_object_nulls=True)
        points = gpd.GeoSeries(wkb.geometries(table[layout.geometry]), index=frame.index, crs=layout.crs)
        for other in layout.others.keys() & set(names):
            frame[other] = wkb.geometries(table[other])  # as text
        frame = files.to_table(gpd.GeoDataFrame(frame.drop(columns=layout.geometry), geometry=points), quote_formulas)
        frame.to_csv(path, sep=files.separator(path), index=False, mode="a", header=number == 0)


def _to_layer(path: Path, layout: Layout, tables: Iterator[pa.Table], summary: Callable[[], Summary]) -> None:
    schema = layout.columns(index=True)
    others = [name for name in schema.names if name in layout.others]
    if others:
        raise InputError(
            f"{path.name!r} can hold one geometry column, and {others[0]!r} would be a second: leave it out of `keep`, "
            "or write GeoParquet."
        )
    fields = [field.with_type(_plain(field.type)) for field in schema]
    trouble: list[BaseException] = []

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            for table in first_and_others:
                yield from table.select(schema.names).cast(pa.schema(fields)).to_batches()
        except BaseException as error:  # which would come out at the other side of GDAL as another one
            trouble.append(error)
            raise

    first = next(tables)
    first_and_others = _chain(first, tables)
    try:
        with files.configured(files.WRITING):
            pyogrio.write_arrow(
                pa.RecordBatchReader.from_batches(pa.schema(fields), batches()),
                path,
                geometry_name=layout.geometry,
                geometry_type=summary().kind or "Unknown",
                crs=layout.crs.to_wkt(),
            )
    except Exception:
        if trouble:
            raise trouble[0] from None
        raise
    if files.is_geopackage(path):
        _add_metadata(path, layout, {"tracs": json.dumps(summary().record)})


def _add_metadata(path: Path, layout: Layout, metadata: dict[str, str]) -> None:
    nothing = gpd.GeoDataFrame({layout.geometry: []}, geometry=layout.geometry, crs=layout.crs)
    with files.configured(files.WRITING):
        pyogrio.write_dataframe(nothing, path, append=True, layer_metadata=metadata, geometry_type="Unknown")


def _chain(first: pa.Table, others: Iterator[pa.Table]) -> Iterator[pa.Table]:
    yield first
    yield from others


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_null(kind):  # a column without any value
        return pa.string()
    if pa.types.is_timestamp(kind) and kind.tz is not None:  # GDAL knows no other by name
        return pa.timestamp(kind.unit, "UTC")
    return kind.value_type if pa.types.is_dictionary(kind) else kind
