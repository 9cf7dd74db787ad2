"""Public layers in the record of a release: recognised by a digest, or held whole, so that a reader has the same."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj
import shapely
from shapely.geometry.base import BaseGeometry

import geotracs.geo.crs as crs_
from geotracs.core.places import Grid
from geotracs.errors import InputError

STEP = 0.01
"""Coordinates are compared in steps of this many metres: the last digits depend on the version of PROJ..."""
DEGREES = 1e-7
"""...and in degrees by steps of about as much."""


def of_shape(shape: BaseGeometry, crs: pyproj.CRS, embed: bool = False) -> dict[str, Any]:
    """Return what recognises the shape of a region, in its CRS; with ``embed`` all of it.

    >>> of_shape(shapely.box(0, 0, 1, 1), pyproj.CRS("EPSG:4326"))
    {'digest': '...'}
    """
    known: dict[str, Any] = {"digest": _digest(np.array([shapely.normalize(shape)]), crs)}
    return known | ({"wkb": [_text(shapely.to_wkb(shape))]} if embed else {})


def of_layer(layer: Any, crs: pyproj.CRS, *, weight: str | None = None, embed: bool = False) -> dict[str, Any]:
    """Return what recognises a layer, a raster or a grid, whatever CRS it is given in.

    Parameters
    ----------
    layer : GeoDataFrame, GeoSeries, (array, transform) or Grid
    crs : pyproj.CRS
        That of the data, in which layers are compared.
    weight : str, optional
        A column that counts, too.
    embed : bool
        Whether to hold the geometries themselves, their labels and the weights.
    """
    if isinstance(layer, Grid):
        return {"grid": {"cell": layer.cell, "nx": layer.nx, "ny": layer.ny}}
    if isinstance(layer, tuple):
        array, transform = np.asarray(layer[0], dtype=np.float64), [float(number) for number in tuple(layer[1])[:6]]
        known = {"digest": hashlib.sha256(array.tobytes() + repr(transform).encode()).hexdigest()}
        raster = {"shape": list(array.shape), "transform": transform, "values": _text(array.astype("<f8").tobytes())}
        return known | ({"raster": raster} if embed else {})
    geometry = layer.geometry[~(layer.geometry.isna() | layer.geometry.is_empty).to_numpy()]
    numbers = None if weight is None else pd.to_numeric(layer[weight], errors="coerce").fillna(0).loc[geometry.index]
    found: dict[str, Any] = {"digest": _digest(np.asarray(geometry.to_crs(crs).values), crs, numbers)}
    if embed:
        found["crs"] = crs_.label(geometry.crs)
        found["wkb"] = [_text(wkb) for wkb in shapely.to_wkb(np.asarray(geometry.values))]
        labels = geometry.index.tolist()
        found["index"] = labels if all(isinstance(label, (int, str)) for label in labels) else list(range(len(labels)))
        if numbers is not None:
            found["weights"] = [float(number) for number in numbers]
    return found


def is_same(known: Mapping[str, Any], layer: Any, crs: pyproj.CRS, weight: str | None = None) -> bool:
    """Return whether a layer is the one on record."""
    given = of_layer(layer, crs, weight=weight)
    return all(known.get(name) == given[name] for name in given)


def restored(known: Mapping[str, Any]) -> Any:
    """Return the layer that a record holds whole; None if it only recognises it."""
    try:
        if "grid" in known:
            return Grid(**known["grid"])
        if "raster" in known:
            raster = known["raster"]
            values = np.frombuffer(base64.b64decode(raster["values"]), dtype="<f8")
            return values.reshape(raster["shape"]), tuple(raster["transform"])
        if "wkb" not in known:
            return None
        shapes = shapely.from_wkb([base64.b64decode(text) for text in known["wkb"]])
        if "crs" not in known:
            return shapes[0]
        columns = {"weight": known["weights"]} if "weights" in known else {}
        return gpd.GeoDataFrame(columns, geometry=shapes, crs=known["crs"], index=known.get("index"))
    except (KeyError, TypeError, ValueError, shapely.errors.ShapelyError):
        raise InputError("A layer in the record of this release is damaged; give it as an argument.") from None


def _digest(shapes: np.ndarray, crs: pyproj.CRS, numbers: Any = None) -> str:
    xy, which = shapely.get_coordinates(shapely.force_2d(shapes), return_index=True)
    step = DEGREES if crs.is_geographic else STEP / crs.axis_info[0].unit_conversion_factor
    parts = [np.rint(np.nan_to_num(xy, posinf=0, neginf=0) / step).astype("<i8"), np.bincount(which).astype("<i8")]
    if numbers is not None:
        parts.append(np.asarray(numbers, dtype="<f8"))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
