"""Private locations where public ones, or none, should be: a courtesy, not a proof, and only for warnings."""

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from scipy.spatial import cKDTree
from shapely.geometry.base import BaseGeometry

import geotracs.crs as crs_

ALIKE = 2e-6
"""Places nearer than this part of the data's extent count as the same: last digits may have been rounded away..."""
NEARLY_ALL = 0.9
"""...and a layer with this share of the data's places, of so many tried, as made from them."""
TRIED = 1000
CURVES = ("hilbert_distance", "morton_distance", "geohash")
"""How columns are called, and the index that a dask frame gets from `spatial_shuffle`, that tell where a row is."""


def made_of(layer: gpd.GeoSeries, data: gpd.GeoSeries) -> bool:
    """Whether a layer that should be public looks as if it was made from the private data, in whatever CRS and order.

    That is, whether nearly all of the locations are in the layer, and nearly all of the layer is a location. Only for
    warnings: what depends on it must not be released.
    """
    if layer.empty or data.empty or layer.crs is None:
        return False
    theirs = shapely.get_coordinates(np.asarray(layer.to_crs(data.crs).values))
    mine = shapely.get_coordinates(np.asarray(data.values))
    mine, theirs = (xy[np.isfinite(xy).all(axis=1)] for xy in (mine, theirs))
    if len(mine) == 0 or len(theirs) == 0:
        return False
    slack = ALIKE * np.ptp(mine, axis=0).max()
    return _share_among(mine, theirs, slack) >= NEARLY_ALL and _share_among(theirs, mine, slack) >= NEARLY_ALL


def holds_locations(gdf: gpd.GeoDataFrame, values: pd.Series) -> bool:
    """Whether a column holds geometries, or (nearly) one of the coordinates in the frame's CRS or a usual one.

    Or is called like one that does. A geohash of another name or a street address goes unnoticed.
    """
    if values.name in CURVES or isinstance(values.dtype, gpd.array.GeometryDtype):
        return True
    sample = np.linspace(0, len(gdf) - 1, min(len(gdf), 10_000)).astype(int)
    values = values.iloc[sample]
    if pd.api.types.is_object_dtype(values) or pd.api.types.is_string_dtype(values):
        if any(isinstance(value, BaseGeometry) for value in values) or _is_binary(values):
            return True
        nested = [value if isinstance(value, (dict, list, tuple, np.ndarray)) else () for value in values]
        if any(len(value) for value in nested):  # such as the bounding box of each row
            parts = pd.DataFrame([value if isinstance(value, dict) else dict(enumerate(value)) for value in nested])
            return any(holds_locations(gdf.iloc[sample], part) for _, part in parts.items())
        if values.astype(str).str.match(r"\s*(SRID=\d+;)?\s*(MULTI)?(POINT|LINESTRING)\b", case=False).any():
            return True
        values = pd.to_numeric(values, errors="coerce")
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        return False
    geometry = np.asarray(gdf.geometry.values)[sample]
    points = (shapely.get_type_id(geometry) == shapely.GeometryType.POINT) & ~shapely.is_empty(geometry)
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)[points]
    if np.isnan(numbers).all():
        return False
    xy = shapely.get_coordinates(geometry[points])
    coordinates = np.column_stack([xy, *(crs_.transform(xy, gdf.crs, other) for other in crs_.usual(gdf.crs, xy))])
    coordinates = coordinates[:, np.isfinite(coordinates).all(axis=0)]
    spread = np.ptp(coordinates, axis=0)
    return bool(np.any(np.nanmedian(np.abs(coordinates - numbers[:, None]), axis=0) <= 0.02 * spread))


def _is_binary(values: pd.Series) -> bool:
    """Whether some values are geometries in well-known binary."""
    some = [bytes(value) for value in values if isinstance(value, (bytes, bytearray, memoryview))]
    return any(shape is not None for shape in shapely.from_wkb(np.array(some, dtype=object), on_invalid="ignore"))


def _share_among(some: np.ndarray, others: np.ndarray, slack: float) -> float:
    """Return which share of some of the places lie within ``slack`` of one of the others."""
    tried = some[np.linspace(0, len(some) - 1, min(len(some), TRIED)).astype(np.int64)]
    distance, _ = cKDTree(others, balanced_tree=False, compact_nodes=False).query(tried, distance_upper_bound=slack * 2)
    return float(np.mean(distance <= slack * 2))
