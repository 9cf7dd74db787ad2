"""What all drawings share: colours, the region, true shapes, and longitudes in one piece."""

import itertools
import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj
import shapely
from shapely.geometry.base import BaseGeometry

import geotracs.geo.crs as crs_
import geotracs.geo.tracks as frames
from geotracs.core.guarantee import caption, recorded
from geotracs.errors import GeotracsWarning, InputError, MissingExtraError, quoted
from geotracs.utility.compare import compare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CAPTION = "Contains original locations: keep confidential."
FIGURES = "Shows shares of original locations: keep confidential."
Unwrap = Callable[[np.ndarray], np.ndarray]


def pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError('Drawings need matplotlib; install it with: pip install "geotracs[plot]"') from error
    return plt


def record_of(frame: gpd.GeoDataFrame) -> dict[str, Any]:
    """Return what a release records of itself; nothing for other frames."""
    return recorded(frame.attrs)


def plain(label: Any) -> str:
    """Return a label that matplotlib does not take for a formula."""
    return str(label).replace("$", r"\$")


def describe(record: dict[str, Any], original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame | None) -> str:
    """Return which method and epsilon, and the mean displacement."""
    words = []
    if record:
        words.append(plain(caption(record)))
    ae = math.nan if perturbed is None else float(cast(pd.Series, compare(original, perturbed))["ae"])
    return ", ".join(words if math.isnan(ae) else [*words, f"mean displacement {ae:,.0f} m"])


def unwrapping(crs: pyproj.CRS, outline: BaseGeometry | None, arrays: list[np.ndarray]) -> Unwrap:
    """Return a function that unwraps longitudes, so that what crosses the antimeridian is in one piece."""
    turn = crs_.turn(crs)
    if not crs.is_geographic:
        return lambda xy: xy
    if outline is not None:
        middle = (outline.bounds[0] + outline.bounds[2]) / 2
    else:
        x = np.concatenate([xy[:, 0] for xy in arrays]) if arrays else np.zeros(1)
        if len(x) == 0 or np.ptp(x) <= turn / 2 or np.ptp(x % turn) >= np.ptp(x):
            return lambda xy: xy
        middle = turn / 2
    return lambda xy: xy + np.outer(np.round((middle - xy[:, 0]) / turn), [turn, 0])


def draw_public(ax: "Axes", outline: Any, places: Any, crs: pyproj.CRS, unwrap: Unwrap, fill: str = "#f4f4f4") -> None:
    """Draw the region under everything else, and the places."""
    if outline is not None:
        border = {"facecolor": fill, "edgecolor": "#444444", "linewidth": 0.9}
        gpd.GeoSeries([outline], crs=crs).plot(ax=ax, aspect=None, zorder=0 if fill != "none" else 2, **border)
    if places is not None and len(places):
        geometry = shapely.transform(np.asarray(places.geometry.to_crs(crs).dropna()), unwrap)
        gpd.GeoSeries(geometry, crs=crs).plot(ax=ax, aspect=None, zorder=1, color="#aaaaaa", markersize=3)


def frame_axes(ax: "Axes", crs: pyproj.CRS, arrays: list[np.ndarray], outline: BaseGeometry | None) -> None:
    """Set limits around the tracks and the region, true shapes, and plain numbers."""
    names = ("longitude", "latitude") if crs.is_geographic else ("x", "y")
    ax.set_xlabel(names[0], fontsize="medium")
    ax.set_ylabel(names[1], fontsize="medium")
    half = crs_.turn(crs) / 2
    ax.xaxis.set_major_formatter(lambda x, _: f"{x if -half < x <= half else x - 2 * half * np.sign(x):.10g}")
    ax.yaxis.set_major_formatter(lambda y, _: f"{y:.10g}")
    ax.locator_params(nbins=5)
    corners = np.concatenate([*arrays, np.empty((0, 2)) if outline is None else np.reshape(outline.bounds, (2, 2))])
    corners = corners[np.isfinite(corners).all(axis=1)]
    if len(corners) == 0:
        return
    low, high = corners.min(axis=0), corners.max(axis=0)
    degrees = crs_.degrees_per_unit(crs) if crs.is_geographic else 0
    shrink = np.array([max(math.cos(math.radians((low[1] + high[1]) / 2 * degrees)), 0.01), 1])
    extent = (high - low) * shrink
    longest = extent.max() or (0.01 / degrees if degrees else 1000)
    margin = (0.04 * longest + np.maximum(0.35 * longest - extent, 0) / 2) / shrink
    ax.set(xlim=(low[0] - margin[0], high[0] + margin[0]), ylim=(low[1] - margin[1], high[1] + margin[1]))
    ax.set_aspect(1 / shrink[0])


def draw_basemap(ax: "Axes", crs: pyproj.CRS, basemap: Any) -> None:
    """Draw tiles below everything; where the longitudes are unwrapped beyond 180 degrees, there are none.

    Parameters
    ----------
    basemap : str, xyzservices.TileProvider, True or None
        Which tiles; True for those that contextily takes.
    """
    if basemap is None or basemap is False:
        return
    try:
        import contextily
    except ImportError as error:
        raise MissingExtraError("`basemap` needs contextily; install it with: pip install contextily") from error
    contextily.add_basemap(ax, crs=crs.to_string(), source=None if basemap is True else basemap, attribution_size=6)


def tracks_of(
    frame: gpd.GeoDataFrame, trajectory: str | None, time: str | None, column: str | None = None
) -> dict[Any, np.ndarray]:
    """Return the locations of each trajectory, or their numbers in a column, under a label that releases share."""
    with warnings.catch_warnings(action="ignore", category=GeotracsWarning):  # that Z is dropped is known
        tracks = frames.read(frame, trajectory, time)
    if trajectory is not None:
        codes, names = pd.factorize(frame[trajectory])
        labels = names[np.unique(codes[tracks.present])]
    elif tracks.are_lines:
        labels = (frame.index if frame.index.is_unique else np.arange(len(frame)))[tracks.present]
    else:
        labels = [0] * len(tracks.lengths)
    ends = itertools.pairwise(cast(np.ndarray, tracks.offsets))
    values = tracks.xy if column is None else frame[column].to_numpy(dtype=np.float64)[tracks.rows]
    return {label: values[begin:end] for label, (begin, end) in zip(labels, ends, strict=True)}


def some_of(labels: list[Any], most: int) -> tuple[list[Any], str]:
    """Return some trajectories, spread over all of them, and a sentence if there are more."""
    if not isinstance(most, int) or most < 1:
        raise InputError(f"`most` must be a whole number of at least 1, got {quoted(most)}.")
    if len(labels) <= most:
        return labels, ""
    chosen = np.unique(np.linspace(0, len(labels) - 1, most).astype(int))
    return [labels[i] for i in chosen], f"{len(chosen)} of {len(labels):,} trajectories."
