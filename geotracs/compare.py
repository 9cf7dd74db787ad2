"""Frames before and after: what the perturbation cost in utility."""

from collections.abc import Sequence

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.crs as crs_
import geotracs.frames as frames
import geotracs.metrics as metrics
from geotracs.errors import InputError


def displacement(original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame) -> pd.Series:
    """Return the distance in metres between each location and its report.

    One value a location, labelled with the index of its row; rows without a location have none.
    """
    before, after = aligned(original, perturbed)
    a, b = shapely.get_coordinates(before.geometry), shapely.get_coordinates(after.geometry)
    metres = crs_.metres_between(original.crs, a, crs_.transform(b, perturbed.crs, original.crs))
    counts = shapely.get_num_coordinates(before.geometry.values)
    return pd.Series(metres, index=before.index.repeat(counts), name="displacement")


def aligned(original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame) -> tuple[gpd.GeoDataFrame, gpd.GeoDataFrame]:
    """Return the rows that hold locations in both a frame and its release, in the order of the frame."""
    frames.check(original, "original frame")
    frames.check(perturbed, "perturbed frame")
    if not original.index.equals(perturbed.index):
        if not (original.index.is_unique and perturbed.index.is_unique):
            raise InputError("The frames differ in their index; compare a frame with its own release.")
        if len(original) != len(perturbed) or not perturbed.index.isin(original.index).all():
            raise InputError("The frames differ in their index; select the same rows of both.")
        perturbed = perturbed.loc[original.index]
    before, after = (shapely.get_num_coordinates(frame.geometry.values) for frame in (original, perturbed))
    both = (before > 0) & (after > 0)
    if not np.array_equal(before[both], after[both]):
        raise InputError(
            "The frames differ in the number of locations of some rows; compare a frame with its own release."
        )
    return original[both], perturbed[both]


def compare(
    original: gpd.GeoDataFrame,
    perturbed: gpd.GeoDataFrame,
    *,
    by: str | None = None,
    within: Sequence[float] = metrics.WITHIN,
) -> pd.Series | pd.DataFrame:
    """Summarise how far the reports are from the locations, in metres.

    Parameters
    ----------
    original, perturbed : GeoDataFrame
        A frame and what `perturb` made of it.
    by : str, optional
        "trajectory" for a row a trajectory (the column given to `perturb`, or each line), or a column of
        ``original``.
    within : sequence of float
        Distances in metres for range-query preservation (RQP): the share of reports no farther than that.

    Returns
    -------
    Series or DataFrame
        ``ae`` (mean displacement, the paper's average error), ``median``, ``p95``, ``max``, and ``rqp_*``. The result
        is computed from the original locations: it is not covered by the guarantee.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> private = city.tracks.tracs.perturb(
    ...     8, domain=city.boundary.total_bounds, trajectory="person", time="t", keep=[]
    ... )
    >>> list(compare(city.tracks, private).index)
    ['ae', 'median', 'p95', 'max', 'rqp_100', 'rqp_500', 'rqp_1000', 'rqp_5000']
    >>> len(compare(city.tracks, private, by="trajectory"))
    3
    """
    within = np.atleast_1d(within).tolist()
    metres = displacement(original, perturbed)
    if by is None:
        return pd.Series(metrics.summary(metres.to_numpy(), within), name="metres")
    before, after = aligned(original, perturbed)
    labels = np.repeat(_labels(before, after, by), shapely.get_num_coordinates(before.geometry.values))
    groups = metres.groupby(labels, sort=False, dropna=False)
    table = pd.DataFrame({label: metrics.summary(part.to_numpy(), within) for label, part in groups}).T
    table.index.name = by
    return table


def _labels(original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame, by: str) -> np.ndarray:
    if not isinstance(by, str):
        raise InputError(f"`by` must be the name of a column, got {type(by).__name__}.")
    if by == "trajectory" and by not in original.columns:
        recorded = perturbed.attrs.get("tracs", {}).get("trajectory")
        if recorded is None:
            lines = set(original.geom_type.dropna()) == {"LineString"}
            return original.index.to_numpy() if lines else np.zeros(len(original), dtype=int)
        by = recorded
    if by not in original.columns:
        raise InputError(f'`by` must be "trajectory" or a column of the original frame, got {by!r}.')
    return original[by].to_numpy()
