"""Leave out what is in some areas, without a hole that shows where a secret place is."""

import math
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj
import shapely

import geotracs.core.randomness as randomness
import geotracs.geo.columns as columns
import geotracs.geo.crs as crs_
from geotracs.errors import InputError, sealed
from geotracs.geo.people import distinct, text
from geotracs.geo.prepare.rows import Rows, number

CORNERS = 32
"""Corners in a quarter of a circle."""


@sealed
def zones(
    gdf: gpd.GeoDataFrame,
    areas: Any,
    *,
    radius: float | None = None,
    person: str | None = None,
    rng: int | np.random.Generator | None = None,
) -> gpd.GeoDataFrame:
    """Leave out the rows that are in some areas.

    Parameters
    ----------
    gdf : GeoDataFrame
        Points; rows without a location are left out. Never changed.
    areas : GeoDataFrame, GeoSeries or shapely geometry
        Points or areas, in any CRS; a bare geometry is in that of the frame.
    radius : float, optional
        For secret places: rows within so many metres are left out, in discs whose middles and radii are random, so that
        a hole does not show the place; see `hidden`. Without it the areas are taken as they are, and their border shows
        in the rows that are left: for public ones, such as hospitals.
    person : str, optional
        Column of both frames: an area is only for the rows of its person, such as a home.
    rng : None, int or numpy Generator
        For the discs. None, the default, is ChaCha20 keyed by the operating system.

    Returns
    -------
    GeoDataFrame
        The other rows, in their order, with a mark of this in ``attrs``: that rows are missing depends on where
        somebody was, and the guarantee of a release says that it does not cover this.

    Notes
    -----
    Whoever sees several holes for one place finds it where all of them overlap. Make the discs once with `hidden`, keep
    them as secret as the place, and give them as ``areas`` each time.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> home = city.tracks.geometry.iloc[[0]]
    >>> fewer = zones(city.tracks, home, radius=300)
    >>> len(fewer) < len(city.tracks)
    True
    """
    rows = Rows.of(gdf, None, None)
    layer = _layer(areas, gdf.crs)
    if person is not None:
        columns.check(gdf, [person])
        if not isinstance(areas, gpd.GeoDataFrame) or person not in areas.columns:
            raise InputError(f"`areas` must have the column {person!r}, which says for whose rows an area is.")
    if radius is not None:
        layer = hidden(layer, radius, rng=rng)
    elif rng is not None:
        raise InputError("`rng` is for discs about secret places; give it with `radius`.")
    points = rows.frame.geometry.to_crs(layer.crs)
    row, area = layer.sindex.query(points.values, predicate="intersects")
    if person is not None:
        row = row[_labels(rows.frame[person], person)[row] == _labels(areas[person], person)[area]]
    inside = np.zeros(len(points), dtype=bool)
    inside[row] = True
    return rows.keep(~inside[rows.order], "zones", places=True, secret=radius is not None)


@sealed
def hidden(areas: Any, radius: float, *, rng: int | np.random.Generator | None = None) -> gpd.GeoSeries:
    """Return a disc about each secret place, with a random middle and radius, which hardly shows where the place is.

    All that is within ``radius`` of the place is in the disc. The disc is larger than that by once to twice ``radius``,
    at random, and its middle is uniformly distributed over all positions that this leaves.

    Parameters
    ----------
    areas : GeoDataFrame, GeoSeries
        Points or areas with a CRS.
    radius : float
        In metres: the part of the tracks about a place that is left out whatever is drawn.
    rng : None, int or numpy Generator
        None, the default, is ChaCha20 keyed by the operating system.

    Returns
    -------
    GeoSeries
        With the index and the CRS of the places. As secret as they are: two discs of one place tell more than one.

    Examples
    --------
    >>> home = gpd.GeoSeries.from_xy([139.7], [35.6], crs=4326)
    >>> disc = hidden(home, 200)
    >>> bool(disc.iloc[0].contains(home.iloc[0]))
    True
    """
    layer = _layer(areas, None)
    size = number("radius", radius, "a number of metres greater than 0", least=1e-9)
    source = randomness.source(rng)
    draws = randomness.words(source, 3 * len(layer), np.uint64).reshape(-1, 3) / 2.0**64
    discs = [_disc(shape, layer.crs, size, *own) for shape, own in zip(layer.values, draws.tolist(), strict=True)]
    return gpd.GeoSeries(discs, index=layer.index, crs=layer.crs)


def _labels(column: pd.Series, name: str) -> np.ndarray:
    """Return the labels of people as text: those of homes may come from another file."""
    codes, found = distinct(column, name, "hidden")
    return np.array([text(label) for label in found], dtype=object)[codes] if found else np.empty(0, dtype=object)


def _layer(areas: Any, crs: pyproj.CRS | None) -> gpd.GeoSeries:
    if isinstance(areas, shapely.Geometry) and crs is not None:
        areas = gpd.GeoSeries([areas], crs=crs)
    if not isinstance(areas, (gpd.GeoDataFrame, gpd.GeoSeries)):
        raise InputError(
            f"`areas` must be a GeoDataFrame or a GeoSeries of points or areas, got {type(areas).__name__}."
        )
    layer = areas.geometry
    if layer.crs is None:
        raise InputError("`areas` has no CRS; say which one it is in, e.g. gdf.set_crs('EPSG:4326').")
    if (layer.isna() | layer.is_empty).any():
        raise InputError(f"{int((layer.isna() | layer.is_empty).sum())} of `areas` are missing or empty; drop them.")
    return layer


def _disc(
    shape: shapely.Geometry, crs: pyproj.CRS, radius: float, larger: float, away: float, turn: float
) -> shapely.Geometry:
    """Return a disc that holds a place wherever in it; the three numbers are uniform in [0, 1)."""
    middle = np.array(shapely.minimum_bounding_circle(shape).centroid.coords)
    lon, lat = crs_.transform(middle, crs, pyproj.CRS(4326))[0].tolist()
    plane = pyproj.CRS.from_dict({"proj": "aeqd", "lon_0": lon, "lat_0": lat, "datum": "WGS84"})
    own = np.array(shapely.get_coordinates(shape))
    reach = float(np.hypot(*crs_.transform(own, crs, plane).T).max(initial=0.0))
    room, reach = radius * (1 + larger), reach + radius
    x, y = (room * math.sqrt(away) * step for step in (math.cos(2 * math.pi * turn), math.sin(2 * math.pi * turn)))
    # A polygon inside the circle: its sides must not cut off the place.
    disc = shapely.Point(x, y).buffer((reach + room) / math.cos(math.pi / (4 * CORNERS)), quad_segs=CORNERS)
    found = shapely.transform(disc, lambda xy: crs_.transform(xy, plane, crs))
    if not (shapely.is_valid(found) and shapely.covers(found, shape)):
        raise InputError("A place is too near to a pole or to where its CRS ends for a disc; use to_crs first.")
    return found
