"""Geometry columns of Arrow tables: well-known binary, and GeoArrow's own points and lines, to coordinates and back.

GeoArrow has two layouts of coordinates: interleaved (a list of two numbers) and separated (a number each for x and y).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyproj

import geotracs.io.wkb as wkb
from geotracs.errors import InputError, warn
from geotracs.io.wkb import Shapes

NAME, ABOUT = b"ARROW:extension:name", b"ARROW:extension:metadata"
WKB, POINT, LINE = "WKB", "point", "linestring"
"""As GeoParquet calls them."""
NAMES = {b"geoarrow.wkb": WKB, b"ogc.wkb": WKB, b"geoarrow.point": POINT, b"geoarrow.linestring": LINE}
DROPPED = "Z and M values are dropped: only x and y are perturbed, and the others may be private."


@dataclass(frozen=True)
class Encoding:
    """How a column holds points or lines.

    Attributes
    ----------
    name : {"WKB", "point", "linestring"}
    kind : pyarrow.DataType
        Of the column.
    """

    name: str
    kind: pa.DataType

    @classmethod
    def of(cls, field: pa.Field) -> "Encoding":
        """Return the encoding of a column, by what it is called or, where it has no name, by its type.

        Examples
        --------
        >>> Encoding.of(pa.field("geometry", pa.list_(pa.float64(), 2))).name
        'point'
        >>> Encoding.of(pa.field("t", pa.timestamp("s")))
        Traceback (most recent call last):
            ...
        geotracs.errors.InputError: The column 't' holds no points or lines that can be read (timestamp[s]): ...
        """
        kind, name = field.type, (field.metadata or {}).get(NAME)
        if isinstance(kind, pa.BaseExtensionType):
            kind, name = kind.storage_type, kind.extension_name.encode()
        found = _by_type(kind)
        if found is None or (name is not None and NAMES.get(name) != found):
            said = kind if name is None else name.decode(errors="replace")
            raise InputError(
                f"The column {field.name!r} holds no points or lines that can be read ({said}): give well-known binary "
                "or GeoArrow's points or linestrings in doubles, e.g. with ST_AsWKB or geopandas' to_arrow."
            )
        return cls(found, kind)

    @property
    def interleaved(self) -> bool:
        """Whether both coordinates are in one list, which GeoParquet does not know."""
        return self.name != WKB and pa.types.is_fixed_size_list(self._locations)

    @property
    def released(self) -> pa.DataType:
        """The type of a release in this encoding: two coordinates, whatever there were."""
        if self.name == WKB:
            return self.kind if pa.types.is_large_binary(self.kind) else pa.binary()
        inner = self._locations
        if pa.types.is_fixed_size_list(inner):
            inner = pa.list_(inner.value_field, 2)
        else:
            inner = pa.struct([inner.field("x"), inner.field("y")])
        if self.name == POINT:
            return inner
        make = pa.large_list if pa.types.is_large_list(self.kind) else pa.list_
        return make(self.kind.value_field.with_type(inner))

    def decode(self, column: pa.Array | pa.ChunkedArray) -> Shapes | None:
        """Return the locations of a column; None for well-known binary that is not plain, which shapely reads."""
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        chunks = [chunk.storage if isinstance(chunk, pa.ExtensionArray) else chunk for chunk in chunks]
        if self.name == WKB:
            return wkb.decode(pa.chunked_array(chunks, self.kind))
        if not _is_flat(self._locations):
            warn(DROPPED)
        return wkb.joined([_native(chunk, lines=self.name == LINE) for chunk in chunks])

    def encode(self, xy: np.ndarray, shapes: Shapes, valid: np.ndarray) -> pa.Array:
        """Return a column with other locations, in the order of the rows; those that are not ``valid`` are null."""
        if self.name == WKB:
            return wkb.encode(xy, shapes.present, shapes.counts, valid).cast(self.released)
        kind, rows = self.released, len(valid)
        if self.name == POINT:
            if not shapes.present.all():
                full = np.full((2, rows), np.nan).T
                full[shapes.present] = xy
                xy = full
            return _coordinates(kind, xy, wkb.bits(valid))
        lengths = np.zeros(rows, dtype=np.int64)
        lengths[shapes.present] = 0 if shapes.counts is None else shapes.counts
        large = pa.types.is_large_list(kind)
        ends = np.append(0, np.cumsum(lengths)).astype(np.int64 if large else np.int32)
        inner = _coordinates(kind.value_type, xy, None)
        return pa.Array.from_buffers(kind, rows, [wkb.bits(valid), pa.py_buffer(ends)], children=[inner])

    @property
    def _locations(self) -> pa.DataType:
        return self.kind.value_type if self.name == LINE else self.kind


PLAIN = Encoding(WKB, pa.binary())
_PLACE = pa.struct([pa.field("x", pa.float64(), nullable=False), pa.field("y", pa.float64(), nullable=False)])
NATIVE = {
    "Point": Encoding(POINT, _PLACE),
    "LineString": Encoding(LINE, pa.list_(pa.field("vertices", _PLACE, nullable=False))),
}
"""GeoParquet's own encodings, by the kind of geometries: separated."""


def crs_of(field: pa.Field) -> Any:
    """Return the CRS that a column of GeoArrow says, as pyproj takes it; None if it says none."""
    about = (field.metadata or {}).get(ABOUT)
    if isinstance(field.type, pa.BaseExtensionType):
        about = field.type.__arrow_ext_serialize__()
    try:
        known = json.loads(about or b"{}")
    except ValueError:
        return None
    crs = known.get("crs") if isinstance(known, dict) else None
    return json.dumps(crs) if isinstance(crs, dict) else crs


def marked(field: pa.Field, encoding: Encoding, crs: pyproj.CRS) -> pa.Field:
    """Return the field of a release: its encoding has GeoArrow's name, and says the CRS."""
    known = json.dumps({"crs": crs.to_json_dict(), "crs_type": "projjson"})
    about = {NAME: f"geoarrow.{encoding.name.lower()}", ABOUT: known}
    return pa.field(field.name, encoding.released, metadata=about)


def _by_type(kind: pa.DataType) -> str | None:
    """Return the encoding that a type can be."""
    types = pa.types
    view = getattr(types, "is_binary_view", lambda _: False)
    if types.is_binary(kind) or types.is_large_binary(kind) or view(kind):
        return WKB
    if _are_locations(kind):
        return POINT
    return LINE if (types.is_list(kind) or types.is_large_list(kind)) and _are_locations(kind.value_type) else None


def _are_locations(kind: pa.DataType) -> bool:
    if pa.types.is_fixed_size_list(kind):
        return kind.list_size in (2, 3, 4) and kind.value_type == pa.float64()
    if not pa.types.is_struct(kind):
        return False
    names = [field.name for field in kind]
    doubles = all(field.type == pa.float64() for field in kind)
    return doubles and names[:2] == ["x", "y"] and names[2:] in ([], ["z"], ["m"], ["z", "m"])


def _is_flat(kind: pa.DataType) -> bool:
    return (kind.list_size if pa.types.is_fixed_size_list(kind) else kind.num_fields) == 2


def _native(array: pa.Array, *, lines: bool) -> Shapes:
    valid = np.asarray(array.is_valid())
    array = array if array.null_count == 0 else array.drop_null()
    if not lines:
        return wkb.points(_numbers(array), valid)
    ends = array.offsets.to_numpy().astype(np.int64)
    return wkb.lines(_numbers(array.values[ends[0] : ends[-1]]), np.diff(ends), valid)


def _numbers(array: pa.Array) -> np.ndarray:
    """Return coordinates; missing ones are NaN."""
    if pa.types.is_fixed_size_list(array.type):
        size = array.type.list_size
        values = array.values.to_numpy(zero_copy_only=False)[array.offset * size : (array.offset + len(array)) * size]
        return np.array(values.reshape(-1, size)[:, :2], order="F")  # never the table's own memory
    columns: list[Callable[..., np.ndarray]] = [array.field(name).to_numpy for name in "xy"]
    return np.array([read(zero_copy_only=False) for read in columns]).T


def _coordinates(kind: pa.DataType, xy: np.ndarray, valid: pa.Buffer | None) -> pa.Array:
    if pa.types.is_fixed_size_list(kind):
        children = [pa.array(np.ascontiguousarray(xy).ravel())]
    else:
        children = [pa.array(np.ascontiguousarray(column)) for column in xy.T]
    return pa.Array.from_buffers(kind, len(xy), [valid], children=children)
