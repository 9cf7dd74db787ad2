"""What may be asked about the private locations, and what was derived from them; only for warnings."""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import geopandas as gpd
import numpy as np
import pyproj
import shapely
from scipy.spatial import cKDTree

ALIKE = 4e-6
"""Places nearer than this part of the data's extent count as the same: last digits may have been rounded away..."""
PRECISE = 1e-10
"""...or another CRS may have changed them by this part of their size..."""
NEARLY_ALL = 0.9
"""...and a layer with this share of the data's places, among the number tried, counts as derived from them."""
TRIED = 1000
MEASURED = 9
"""Bounds with this many digits, or nearly as many as the data's, were computed: nobody types them."""

Bounds = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False, repr=False)
class Originals:
    """What may be asked about the private locations: to warn of what was derived from them, or to fit a region.

    Attributes
    ----------
    crs : pyproj.CRS
        Of the locations, and of all that follows.
    sample : array of shape (n, 2)
        Some of the locations.
    each : callable
        Applies a function of coordinates to every part of the data, and returns the results. It may take a pass over
        files or partitions, so it is used only where the sample gives a reason to.
    bounds : tuple, or None
        The extent of all locations, where it is known without a pass.
    """

    crs: pyproj.CRS
    sample: np.ndarray
    each: Callable[[Callable[[np.ndarray], np.ndarray]], Iterable[np.ndarray]]
    bounds: Bounds | None

    @classmethod
    def of(cls, data: gpd.GeoSeries) -> "Originals":
        """Return what is known of locations in memory: everything."""
        return cls.held(data.crs, coordinates(data))

    @classmethod
    def held(cls, crs: pyproj.CRS, xy: np.ndarray) -> "Originals":
        """Return the same for finite coordinates."""
        low, high = xy.min(axis=0, initial=np.inf), xy.max(axis=0, initial=-np.inf)
        bounds = (*low.tolist(), *high.tolist()) if len(xy) else (np.nan,) * 4
        return cls(crs, sample=xy[evenly(len(xy), TRIED)], each=lambda work: [work(xy)], bounds=bounds)

    @classmethod
    def nobody(cls, crs: pyproj.CRS) -> "Originals":
        """Return what is known where there are no private locations."""
        return cls.of(gpd.GeoSeries([], crs=crs))

    def have_extent(self, bounds: Bounds) -> bool:
        """Return whether a region has the bounds of the locations, up to last digits; a pass if they look computed."""
        own = self.bounds
        if own is None and _look_computed(bounds, self.sample):
            own = _union(self.each(_bounds))
        if own is None or not np.isfinite(own).all():
            return False
        slack = 1e-9 * np.ptp(np.reshape(own, (2, 2)), axis=0).max()  # a million random points come within 1e-6
        return bool(np.allclose(bounds, own, rtol=0, atol=slack))

    def near(self, points: np.ndarray, distance: float) -> np.ndarray:
        """Return which points lie within a distance of any of the locations; this takes a pass."""
        return np.any([*self.each(functools.partial(_are_near, points, distance))], axis=0)


def derived_from(layer: gpd.GeoSeries, data: Originals) -> bool:
    """Return whether a layer that should be public looks derived from the private data, in any CRS and order.

    That is, whether nearly all of the locations are in the layer, and nearly all of the layer is a location: real
    check-ins are at public venues, but not at nearly all of them. The second question may take a pass over the data,
    and is only asked after the first. Only for warnings: what depends on it must not be released.
    """
    if layer.empty or len(data.sample) == 0 or layer.crs is None:
        return False
    theirs = coordinates(layer.to_crs(data.crs))
    distance = max(ALIKE * np.ptp(data.sample, axis=0).max(), PRECISE * np.abs(data.sample).max())
    if len(theirs) == 0 or _are_near(data.sample, distance, theirs).mean() < NEARLY_ALL:
        return False
    return bool(data.near(theirs[evenly(len(theirs), TRIED)], distance).mean() >= NEARLY_ALL)


def coordinates(layer: gpd.GeoSeries) -> np.ndarray:
    """Return all finite coordinates of a layer."""
    xy = shapely.get_coordinates(np.asarray(layer.values))
    return xy[np.isfinite(xy).all(axis=1)]


def some_coordinates(layer: gpd.GeoSeries) -> np.ndarray:
    """Return at most `TRIED` coordinates, from all over a layer."""
    xy = coordinates(layer.iloc[evenly(len(layer), TRIED)])
    return xy[evenly(len(xy), TRIED)]


def evenly(count: int, most: int) -> np.ndarray:
    """Return at most that many positions, evenly chosen."""
    return np.linspace(0, count - 1, min(count, most)).astype(np.int64)


def _are_near(points: np.ndarray, distance: float, others: np.ndarray) -> np.ndarray:
    """Return which points lie within a distance of one of the others."""
    if len(others) == 0:
        return np.zeros(len(points), dtype=bool)
    tree = cKDTree(others, balanced_tree=False, compact_nodes=False)
    return tree.query(points, distance_upper_bound=np.nextafter(distance, np.inf))[0] <= distance


def _bounds(xy: np.ndarray) -> np.ndarray:
    return np.append(xy.min(axis=0, initial=np.inf), xy.max(axis=0, initial=-np.inf))


def _union(boxes: Iterable[np.ndarray]) -> Bounds:
    west, south, east, north = np.transpose([*boxes])
    return west.min(), south.min(), east.max(), north.max()


def _look_computed(bounds: Bounds, sample: np.ndarray) -> bool:
    """Return whether bounds have more digits than anybody types: `MEASURED`, or nearly as many as the locations."""
    typical = np.median([_digits(number) for number in sample.ravel()]) if len(sample) else MEASURED
    return min(_digits(number) for number in bounds) >= min(MEASURED, typical - 1)


def _digits(number: float) -> int:
    return len(f"{number:.14e}".lstrip("-").partition("e")[0].replace(".", "").rstrip("0"))
