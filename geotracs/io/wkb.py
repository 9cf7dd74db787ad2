"""Points and lines between well-known binary and numpy, without an object for each.

A point takes 21 bytes; a line 9 and 16 for each of its locations.
"""

from dataclasses import dataclass

import geopandas as gpd
import numpy as np
import pyarrow as pa
import shapely
from shapely.errors import ShapelyError

from geotracs.errors import InputError

POINT = np.dtype([("order", "u1"), ("kind", "<u4"), ("x", "<f8"), ("y", "<f8")])
HEADER = np.dtype([("order", "u1"), ("kind", "<u4"), ("count", "<u4")])
LOCATION = 16
LITTLE, KIND, LINE = 1, 1, 2


@dataclass(frozen=True, eq=False, repr=False)
class Shapes:
    """Points or lines as coordinates.

    Attributes
    ----------
    xy : array of shape (n, 2)
        All locations, row after row; each coordinate is contiguous.
    present : array of bool
        Which rows hold locations: not those that are missing or empty.
    counts : array of int, or None
        How many each of these rows has; None for points.
    """

    xy: np.ndarray
    present: np.ndarray
    counts: np.ndarray | None = None


def encode(
    xy: np.ndarray, present: np.ndarray, counts: np.ndarray | None = None, valid: np.ndarray | None = None
) -> pa.Array:
    """Return points, or lines of ``counts`` locations, as well-known binary.

    Rows without locations are null, or empty where ``valid`` says so. It is a large binary if it has to be.

    >>> shapely.from_wkb(encode(np.array([[1.0, 2.0]]), np.array([False, True])).to_pylist())
    array([None, <POINT (1 2)>], dtype=object)
    >>> line = encode(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([True]), np.array([2]))
    >>> shapely.from_wkb(line.to_pylist())
    array([<LINESTRING (1 2, 3 4)>], dtype=object)
    """
    valid = present if valid is None else valid
    if counts is None:
        values = np.empty(np.count_nonzero(valid), dtype=POINT)
        values["order"], values["kind"] = LITTLE, KIND
        for name, column in zip("xy", xy.T, strict=True):
            values[name] = column if len(values) == len(xy) else _spread(column, present[valid])
        data, sizes = values, valid * POINT.itemsize
    else:
        lengths = np.zeros(np.count_nonzero(valid), dtype=np.int64)
        lengths[present[valid]] = counts
        headers = np.empty(len(lengths), dtype=HEADER)
        headers["order"], headers["kind"], headers["count"] = LITTLE, LINE, lengths
        sizes = np.zeros(len(valid), dtype=np.int64)
        sizes[valid] = HEADER.itemsize + LOCATION * lengths
        data = np.empty(sizes.sum(), dtype=np.uint8)
        heads = _heads(sizes[valid], len(data))
        data[heads] = headers.view(np.uint8)
        data[~heads] = np.ascontiguousarray(xy).view(np.uint8).ravel()
    ends = np.append(0, np.cumsum(sizes))
    large = ends[-1] > np.iinfo(np.int32).max
    own = ends.astype(np.int64 if large else np.int32)
    return pa.Array.from_buffers(
        pa.large_binary() if large else pa.binary(), len(valid), [bits(valid), pa.py_buffer(own), pa.py_buffer(data)]
    )


def decode(column: pa.Array | pa.ChunkedArray) -> Shapes | None:
    """Return the locations of a column; None if it does not hold only plain points or only plain lines."""
    parts = [_decode(chunk) for chunk in (column.chunks if isinstance(column, pa.ChunkedArray) else [column])]
    return None if any(part is None for part in parts) else joined([part for part in parts if part is not None])


def joined(parts: list[Shapes]) -> Shapes | None:
    """Return the locations of all parts of a column; None if some hold points and others lines."""
    present = np.concatenate([part.present for part in parts]) if parts else np.zeros(0, dtype=bool)
    some = [part for part in parts if part.counts is not None or len(part.xy)]
    if len({part.counts is None for part in some}) > 1:
        return None
    xy = some[0].xy if len(some) == 1 else np.concatenate([part.xy.T for part in some], axis=1).T if some else _NONE
    counts = [part.counts for part in some if part.counts is not None]
    return Shapes(xy, present, np.concatenate(counts) if counts else None)


def bits(valid: np.ndarray) -> pa.Buffer | None:
    """Return what Arrow says of the rows of a column that are not null; None if all are."""
    return None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))


def geometries(column: pa.ChunkedArray) -> np.ndarray:
    """Return any geometries as objects."""
    try:
        return shapely.from_wkb(np.asarray(column.to_numpy(zero_copy_only=False), dtype=object))
    except ShapelyError:
        raise InputError("Some geometries of the file are not well-known binary; it is damaged.") from None


def from_frame(frame: gpd.GeoDataFrame) -> pa.Array:
    """Return the geometries of a frame."""
    return pa.array(shapely.to_wkb(np.asarray(frame.geometry.values)), pa.binary())


_NONE = np.empty((2, 0)).T


def _decode(array: pa.Array) -> Shapes | None:
    valid = np.asarray(array.is_valid())
    if not (pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type)):
        array = array.cast(pa.large_binary())
    array = array if array.null_count == 0 else array.drop_null()  # there may be bytes under a null
    _, ends, data = array.buffers()
    if not len(array):
        return Shapes(_NONE, np.zeros(len(valid), dtype=bool))
    kind = np.int32 if pa.types.is_binary(array.type) else np.int64
    ends = np.frombuffer(ends, kind)[array.offset : array.offset + len(array) + 1]
    values = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] if data else np.zeros(0, dtype=np.uint8)
    sizes = np.diff(ends)
    return _points(values, valid) if np.all(sizes == POINT.itemsize) else _lines(values, sizes, valid)


def _points(data: np.ndarray, valid: np.ndarray) -> Shapes | None:
    values = data.view(POINT)
    if not (np.all(values["order"] == LITTLE) and np.all(values["kind"] == KIND)):
        return None
    return points(np.array([values["x"], values["y"]]).T, valid)


def points(xy: np.ndarray, valid: np.ndarray) -> Shapes:
    """Return the points of the valid rows; empty ones have no numbers."""
    if np.isfinite(xy.sum()):
        return Shapes(xy, valid)
    full, present = ~np.isnan(xy).all(axis=1), valid.copy()
    present[valid] = full
    return Shapes(np.asfortranarray(xy[full]), present)


def _lines(data: np.ndarray, sizes: np.ndarray, valid: np.ndarray) -> Shapes | None:
    if np.any(sizes < HEADER.itemsize):
        return None
    heads = _heads(sizes, len(data))
    values = data[heads].view(HEADER)
    plain = np.all(values["order"] == LITTLE) and np.all(values["kind"] == LINE)
    if not (plain and np.array_equal(sizes, HEADER.itemsize + LOCATION * values["count"].astype(np.int64))):
        return None
    return lines(np.asfortranarray(data[~heads].view("<f8").reshape(-1, 2)), values["count"].astype(np.int64), valid)


def lines(xy: np.ndarray, lengths: np.ndarray, valid: np.ndarray) -> Shapes:
    """Return the lines of the valid rows; empty ones have no locations."""
    present = valid.copy()
    present[valid] = lengths > 0
    return Shapes(xy, present, lengths[lengths > 0])


def _heads(sizes: np.ndarray, total: int) -> np.ndarray:
    """Return which bytes of lines of these sizes are their headers."""
    heads = np.zeros(total, dtype=bool)
    heads[((np.cumsum(sizes) - sizes)[:, None] + np.arange(HEADER.itemsize)).ravel()] = True
    return heads


def _spread(column: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return the values of the rows that are there, and NaN for the others."""
    out = np.full(len(present), np.nan)
    out[present] = column
    return out
