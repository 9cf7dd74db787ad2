"""Tables of anything that speaks Arrow: pyarrow, DuckDB, polars, GeoArrow."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyproj
import shapely

import geotracs.geo.crs as crs_
import geotracs.io.geoarrow as geoarrow
import geotracs.io.metadata as metadata
import geotracs.io.wkb as wkb
from geotracs.errors import CRSError, InputError, quoted
from geotracs.io.geoarrow import Encoding
from geotracs.io.streams import Held, Layout, Summary
from geotracs.io.troubles import told

NAME = Path("table")
"""What messages call it."""
LINE = shapely.GeometryType.LINESTRING
PIECE = 2**24
"""How many locations a piece of a column holds at most: well-known binary of more than 2 GB is of another type."""


@dataclass(frozen=True)
class Taken(Held):
    """A table in memory, whose locations have any encoding.

    Attributes
    ----------
    record : dict
        What its metadata say of an earlier release or preparation.
    """

    encoding: Encoding = geoarrow.PLAIN
    record: dict[str, Any] = field(default_factory=dict, repr=False)

    def decode(self, table: pa.Table) -> wkb.Shapes | None:
        """Return the locations of a table as coordinates; None if only shapely can read them."""
        return self.encoding.decode(table[self.geometry])

    def frame(self, table: pa.Table) -> gpd.GeoDataFrame:
        """Return some rows as a frame; a plan looks at the first ones."""
        shapes, column = self.decode(table), table[self.geometry]
        if shapes is not None:
            column = wkb.encode(shapes.xy, shapes.present, shapes.counts, np.asarray(column.is_valid()))
        return super().frame(table.set_column(table.column_names.index(self.geometry), self.geometry, column))

    def are_lines(self) -> bool:
        """Whether rows hold several locations."""
        shapes = self.decode(self.whole)
        if shapes is not None:
            return shapes.counts is not None
        return bool(np.any(shapely.get_type_id(wkb.geometries(self.whole[self.geometry])) == LINE))

    def encoded(self, shapes: wkb.Shapes, valid: np.ndarray) -> pa.ChunkedArray:
        """Return the column of a release, in the encoding of the table and in pieces."""
        pieces = [self.encoding.encode(part.xy, part, own) for part, own in _pieces(shapes, valid)]
        return pa.chunked_array(pieces, self.encoding.released)

    def marked(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema of a release, whose locations have the encoding of the table, by its name."""
        at = schema.get_field_index(self.geometry)
        return schema.set(at, geoarrow.marked(schema.field(at), self.encoding, cast(pyproj.CRS, self.crs)))

    def metadata(self, layout: Layout, summary: Summary) -> dict[str, str]:
        """Return the metadata of a release: the record, and those of GeoParquet where it can be one."""
        about = metadata.of_release(layout, summary, self.encoding.name)
        return {name: text for name, text in about.items() if name != "geo" or not self.encoding.interleaved}


def take(table: Any, geometry: str, crs: Any = None) -> Taken:
    """Return a table of anything that speaks Arrow, ready to be released.

    Parameters
    ----------
    table
        Anything with ``__arrow_c_stream__``.
    geometry : str
        The column of the locations.
    crs : optional
        Their CRS, for a table that does not say it.
    """
    if isinstance(table, (pd.DataFrame, gpd.GeoSeries)) or not hasattr(table, "__arrow_c_stream__"):
        raise InputError(
            "`table` must be an Arrow table, or anything else with __arrow_c_stream__, such as a result of DuckDB or a "
            f"frame of polars, got a {type(table).__name__}. For a GeoDataFrame use geotracs.perturb."
        )
    with told(NAME, "read"):
        held = pa.RecordBatchReader.from_stream(table).read_all()
    names = held.column_names
    if geometry not in names:
        raise InputError(f"There is no column {quoted(geometry)}; give `geometry`, one of {names}.")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"There are several columns named {twice[0]!r}; rename all but one.")
    about = held.schema.metadata or {}
    with told(NAME, "read"):
        columns = json.loads(about.get(b"geo", b"{}")).get("columns", {})
        own = columns.get(geometry, {"crs": None})
        known = metadata.of_pandas(about, alone=True) | {"record": metadata.record(about)}
        held = held.drop_columns([name for name in [metadata.hidden(own)] if name in names])
    own_field = held.schema.field(geometry)
    encoding = Encoding.of(own_field)
    said = geoarrow.crs_of(own_field)
    found = metadata.crs(own, None) if said is None else crs_.parse(said)
    found = crs_.parse(crs, "input_crs") if found is None and crs is not None else found
    if found is None:
        raise CRSError("The table does not say the CRS of its locations; give it, e.g. input_crs='EPSG:4326'.")
    held = held.set_column(names.index(geometry), geometry, _storage(held[geometry]))
    schema = pa.schema([field.remove_metadata() for field in held.schema])
    others = {name: about for name, about in columns.items() if name != geometry}
    held = held.cast(schema)
    return Taken(NAME, schema, geometry, found, len(held), None, others=others, table=held, encoding=encoding, **known)


def _pieces(shapes: wkb.Shapes, valid: np.ndarray) -> Iterator[tuple[wkb.Shapes, np.ndarray]]:
    """Cut the rows, so that each piece holds about `PIECE` locations at most."""
    if len(shapes.xy) <= PIECE:
        yield shapes, valid
        return
    counts = shapes.present.astype(np.int64)
    if shapes.counts is not None:
        counts[shapes.present] = shapes.counts
    ends, rows = np.append(0, np.cumsum(counts)), np.append(0, np.cumsum(shapes.present))
    cuts = np.searchsorted(ends, np.arange(0, ends[-1], PIECE)).tolist()
    for begin, end in itertools.pairwise(np.unique([*cuts, len(valid)]).tolist()):
        own = None if shapes.counts is None else shapes.counts[rows[begin] : rows[end]]
        yield wkb.Shapes(shapes.xy[ends[begin] : ends[end]], shapes.present[begin:end], own), valid[begin:end]


def _storage(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without the name of its type."""
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    return pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
