"""Points between Arrow and numpy, without an object for each: their well-known binary is 21 bytes."""

import geopandas as gpd
import numpy as np
import pyarrow as pa
import shapely
from shapely.errors import ShapelyError

from geotracs.errors import InputError

POINT = np.dtype([("order", "u1"), ("kind", "<u4"), ("x", "<f8"), ("y", "<f8")])
LITTLE, KIND = 1, 1


def encode(xy: np.ndarray, present: np.ndarray) -> pa.Array:
    """Return points as well-known binary, null in the rows that hold none.

    >>> shapely.from_wkb(encode(np.array([[1.0, 2.0]]), np.array([False, True])).to_pylist())
    array([None, <POINT (1 2)>], dtype=object)
    """
    values = np.empty(len(xy), dtype=POINT)
    values["order"], values["kind"] = LITTLE, KIND
    values["x"], values["y"] = xy[:, 0], xy[:, 1]
    ends = np.append(0, np.cumsum(present)).astype(np.int32) * POINT.itemsize
    valid = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(pa.binary(), len(present), [valid, pa.py_buffer(ends), pa.py_buffer(values)])


def decode(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the coordinates and which rows hold some; None if these are not all finite points of two coordinates."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([], pa.binary())
    if not pa.types.is_binary(array.type):
        array = array.cast(pa.binary())
    present = np.asarray(array.is_valid())
    _, ends, data = array.buffers()
    ends = np.frombuffer(ends, np.int32)[array.offset : array.offset + len(array) + 1] if ends else np.zeros(1, int)
    if not np.array_equal(np.diff(ends), present * POINT.itemsize):
        return None
    values = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]].view(POINT) if data else np.empty(0, POINT)
    if not (np.all(values["order"] == LITTLE) and np.all(values["kind"] == KIND)):
        return None
    xy = np.array([values["x"], values["y"]]).T
    return (xy, present) if np.isfinite(xy).all() else None


def geometries(column: pa.ChunkedArray) -> np.ndarray:
    """Return any geometries as objects."""
    try:
        return shapely.from_wkb(np.asarray(column.to_numpy(zero_copy_only=False), dtype=object))
    except ShapelyError:
        raise InputError("Some geometries of the file are not well-known binary; it is damaged.") from None


def from_frame(frame: gpd.GeoDataFrame) -> pa.Array:
    """Return the geometries of a frame."""
    return pa.array(shapely.to_wkb(np.asarray(frame.geometry.values)), pa.binary())
