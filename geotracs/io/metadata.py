"""What GeoParquet's metadata say of a table, and those of a release."""

import json
import re
from typing import Any

import pyarrow as pa
import pyproj

import geotracs.geo.crs as crs_
from geotracs.io.streams import Layout, Summary

_NULLABLE = re.compile(r"(U?Int|Float)\d+$|boolean$")


def crs(column: dict[str, Any], given: pyproj.CRS | None) -> pyproj.CRS | None:
    """Return the CRS of a geometry column, or the one that was given if it says that it has none."""
    said = column.get("crs", "OGC:CRS84")  # which is what GeoParquet means when it says nothing
    return given if said is None else crs_.parse(json.dumps(said) if isinstance(said, dict) else said)


def hidden(column: dict[str, Any]) -> str | None:
    """Return the name of the column that holds the extent of each geometry, which is private."""
    name = column.get("covering", {}).get("bbox", {}).get("xmin", [None])[0]
    return name if isinstance(name, str) else None


def of_pandas(metadata: dict[bytes, bytes], *, alone: bool) -> dict[str, Any]:
    """Return what pandas says of a table, for a `Source`: its index, which a range is only ``alone``, and types."""
    known = json.loads(metadata.get(b"pandas", b"{}"))
    types = [(column["field_name"], column["numpy_type"]) for column in known.get("columns", [])]
    columns = known.get("index_columns", [])
    ranges = [column for column in columns if isinstance(column, dict)]
    index = ranges[0] if ranges and alone else [column for column in columns if isinstance(column, str)]
    return {"index": index, "nullable": {name: kind for name, kind in types if _NULLABLE.match(kind)}}


def record(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    """Return the record of a release or a preparation; empty without one."""
    about = json.loads(metadata.get(b"PANDAS_ATTRS", b"{}"))
    found = about.get("tracs", {}) if isinstance(about, dict) else {}
    return found if isinstance(found, dict) else {}


def of_release(layout: Layout, summary: Summary, encoding: str = "WKB") -> dict[str, str]:
    """Return the metadata of a release."""
    own = {
        "encoding": encoding,
        "crs": layout.crs.to_json_dict(),
        "geometry_types": [summary.kind] if summary.kind else [],
    }
    if summary.bounds is not None:
        own["bbox"] = list(summary.bounds)
    others = {name: about for name, about in layout.others.items() if name in layout.schema.names}
    geo = {
        "version": "1.0.0" if encoding == "WKB" else "1.1.0",
        "primary_column": layout.geometry,
        "columns": {layout.geometry: own, **others},
    }
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
