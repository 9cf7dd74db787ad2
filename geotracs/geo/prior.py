"""The ``prior=`` argument: from public points, areas or a raster to the weights of a grid over the region."""

from collections.abc import Sequence
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj
import shapely

import geotracs.geo.crs as crs_
from geotracs.core.domains import Domain
from geotracs.core.domains.border import SIDE
from geotracs.errors import CRSError, InputError, PrivacyWarning, warn
from geotracs.geo.originals import Originals, derived_from

TRIES = 3
"""Points along each side of a cell at which a raster is read."""


def weights(
    prior: Any, weight: str | None, domain: Domain, crs: pyproj.CRS, data: Originals
) -> tuple[np.ndarray, dict[str, Any]]:
    """Return how much of a public prior is in each cell of a grid over the region, column by column, and its record.

    Parameters
    ----------
    prior : GeoDataFrame, GeoSeries, or (array, transform)
        See `geotracs.perturb`.
    weight : str, optional
        Column of a layer.
    domain : Domain
        The region, in coordinates of ``crs``.
    data : Originals
        The private locations: their CRS is that of a raster, and a prior derived from them is warned of.
    """
    low, high = np.reshape(domain.outline.bounds, (2, 2))
    if isinstance(prior, tuple) and len(prior) == 2:
        if weight is not None:
            raise InputError("`weight` is a column of a layer; a raster has its own numbers.")
        return _of_raster(*prior, low, high, crs, data.crs), {"kind": "raster"}
    if not isinstance(prior, (gpd.GeoDataFrame, gpd.GeoSeries)):
        raise InputError(
            "`prior` must be a GeoDataFrame or GeoSeries of points or areas, or a raster as (array, transform), got "
            f"{type(prior).__name__}."
        )
    if prior.crs is None:
        raise CRSError("`prior` has no CRS; set it with prior.set_crs(...).")
    numbers = _numbers(prior, weight)
    present = ~(prior.geometry.isna() | prior.geometry.is_empty).to_numpy() & (numbers > 0)
    layer = prior.geometry[present]
    if derived_from(layer, data):
        warn(
            "`prior` has the coordinates of the private data, so it is not public: every report reveals something of "
            "it. Give public places, a census or a raster.",
            PrivacyWarning,
        )
    shapes = shapely.force_2d(np.asarray(layer.to_crs(crs).values))
    dimensions = set(shapely.get_dimensions(shapes).tolist())
    if dimensions == {0}:
        return _of_points(*_apart(shapes, numbers[present]), low, high), {"kind": "points"}
    if dimensions == {2}:
        return _of_areas(shapes, numbers[present], low, high), {"kind": "areas"}
    raise InputError("`prior` must hold points, or areas, all of one kind and not all empty; lines have no density.")


def points(prior: gpd.GeoDataFrame | gpd.GeoSeries, weight: str | None, crs: pyproj.CRS) -> tuple[np.ndarray, ...]:
    """Return where the points of a prior are, and the number of each: a prior of points that `weights` has taken."""
    numbers = _numbers(prior, weight)
    present = ~(prior.geometry.isna() | prior.geometry.is_empty).to_numpy() & (numbers > 0)
    return _apart(shapely.force_2d(np.asarray(prior.geometry[present].to_crs(crs).values)), numbers[present])


def _apart(shapes: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all points of some shapes, and the number of each; several of one shape share its number."""
    xy, which = shapely.get_coordinates(shapes, return_index=True)
    return xy, (numbers / shapely.get_num_coordinates(shapes))[which]


def _numbers(prior: gpd.GeoDataFrame | gpd.GeoSeries, weight: str | None) -> np.ndarray:
    if weight is None:
        return np.ones(len(prior))
    if isinstance(prior, gpd.GeoSeries) or weight not in prior.columns:
        raise InputError(f"`prior` has no column {weight!r} for `weight`.")
    numbers = pd.to_numeric(prior[weight], errors="coerce").fillna(0).to_numpy(dtype=np.float64)
    if not np.all((numbers >= 0) & np.isfinite(numbers)):
        raise InputError(f"The column {weight!r} for `weight` must hold finite numbers of at least 0.")
    return numbers


def _of_points(xy: np.ndarray, numbers: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    bins = [np.linspace(low[axis], high[axis], SIDE + 1) for axis in (0, 1)]
    return np.histogram2d(xy[:, 0], xy[:, 1], bins=bins, weights=numbers)[0]


def _of_areas(shapes: np.ndarray, numbers: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Spread the number of each area over the cells whose centre is in it; one without any counts as a point."""
    middles = _middles(low, high, 1)
    area, cell = shapely.STRtree(cast(np.ndarray, shapely.points(middles))).query(shapes, predicate="intersects")
    cells = np.prod((high - low) / SIDE)
    density = numbers / np.maximum(shapely.area(shapes), 1e-300)
    found = np.bincount(cell, weights=(density * cells)[area], minlength=SIDE * SIDE).reshape(SIDE, SIDE)
    missed = np.setdiff1d(np.arange(len(shapes)), area)
    at = shapely.get_coordinates(shapely.point_on_surface(shapes[missed]))
    return found + _of_points(at, numbers[missed], low, high)


def _of_raster(
    array: np.ndarray, transform: Sequence[float], low: np.ndarray, high: np.ndarray, crs: pyproj.CRS, own: pyproj.CRS
) -> np.ndarray:
    """Read a raster at points of each cell; NaN and what is beyond it count as 0."""
    try:
        array = np.asarray(array, dtype=np.float64)
        a, b, c, d, e, f = (float(number) for number in tuple(transform)[:6])
    except (TypeError, ValueError):
        raise InputError(
            "`prior` as a raster must be (array, transform) with the six numbers a, b, c, d, e, f."
        ) from None
    array = np.nan_to_num(array, nan=0.0, posinf=np.inf)
    if array.ndim != 2 or not np.all((array >= 0) & np.isfinite(array)) or a * e - b * d == 0:
        raise InputError(
            "`prior` as a raster must be of two dimensions, of numbers of at least 0, with an invertible transform."
        )
    x, y = crs_.transform(_middles(low, high, TRIES), crs, own).T
    column = np.floor((e * (x - c) - b * (y - f)) / (a * e - b * d))
    row = np.floor((a * (y - f) - d * (x - c)) / (a * e - b * d))
    inside = (column >= 0) & (column < array.shape[1]) & (row >= 0) & (row < array.shape[0])
    values = np.zeros(len(x))
    values[inside] = array[row[inside].astype(np.int64), column[inside].astype(np.int64)]
    return values.reshape(SIDE, TRIES, SIDE, TRIES).mean(axis=(1, 3))


def _middles(low: np.ndarray, high: np.ndarray, tries: int) -> np.ndarray:
    """Return points spread over the cells, column by column."""
    steps = [low[axis] + (np.arange(SIDE * tries) + 0.5) / (SIDE * tries) * (high - low)[axis] for axis in (0, 1)]
    return np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 2)
