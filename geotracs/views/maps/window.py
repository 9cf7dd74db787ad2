"""The window of one picked location: where its report falls with a stated probability."""

from numbers import Integral
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.core.budget as budget
import geotracs.core.methods as methods
import geotracs.geo.crs as crs_
import geotracs.geo.tracks as frames
from geotracs.core.domains import Domain
from geotracs.core.guarantee import Guarantee
from geotracs.errors import InputError, quoted
from geotracs.geo.region import Region
from geotracs.release.setting import in_working_crs

NEAR = 1e-6
"""Nearer to the border than this part of the region's size a report may have been projected there."""


def window(
    original: gpd.GeoDataFrame,
    perturbed: gpd.GeoDataFrame | None,
    region: Region | None,
    trajectory: str | None,
    time: str | None,
    pick: Any,
) -> tuple[gpd.GeoSeries, float]:
    """Return the window of a picked location with the location, and the probability that its report falls there.

    The probability is that before projection and rounding.

    Parameters
    ----------
    pick : row label, or (row label, number) for lines
        Which location.
    """
    if perturbed is None:
        raise InputError("`pick` shows the window of an original location; give the original frame and its release.")
    if region is None:
        raise InputError("`pick` needs the public region that the release was made with; give it with `domain`.")
    guarantee = Guarantee.from_attrs(perturbed.attrs)
    if guarantee.domain.get("fit") == "transport":
        raise InputError("`pick` cannot draw the window of a location under a transport chart or a prior.")
    tracks = frames.read(original, trajectory, time)
    number = _number(original, tracks, pick)
    uneven = guarantee.epsilons or guarantee.allocation != "even"
    if uneven or guarantee.unit not in ("location", "trajectory"):
        raise InputError("`pick` cannot draw the window of a location where locations have epsilons of their own.")
    all_eps = np.asarray(budget.per_location(guarantee.epsilon, guarantee.unit, tracks.lengths))
    eps = float(all_eps[number] if all_eps.ndim else all_eps)
    recipe = in_working_crs(methods.make(guarantee.method, guarantee.options), region, None, eps)
    offsets, reference = cast(np.ndarray, tracks.offsets), None
    if recipe.sequential and getattr(recipe, "reference", None) == "previous" and number not in offsets:
        reference = _previous_report(perturbed, tracks, number, region, rounded=guarantee.places is not None)
    here = region.enter(crs_.transform(tracks.xy[number : number + 1], original.crs, region.data_crs))
    shape, probability = recipe.window_of(tuple(region.domain.clip(here)[0]), eps, region.domain, reference)
    return gpd.GeoSeries([shape, shapely.Point(here[0])], crs=region.crs), probability


def _number(frame: gpd.GeoDataFrame, tracks: frames.Tracks, pick: Any) -> int:
    """Return the number, in track order, of a picked location."""
    label, number = pick if tracks.are_lines and isinstance(pick, tuple) and len(pick) == 2 else (pick, 0)
    try:
        row = frame.index.get_loc(label)
    except (KeyError, TypeError, ValueError, pd.errors.InvalidIndexError):  # which quote it
        raise InputError("`pick` must be the label of a row, or (label, number) for lines.") from None
    if not isinstance(row, int):
        raise InputError("`pick` needs a label that only one row has; use gdf.reset_index() first.")
    found = np.flatnonzero(tracks.rows == row)
    if not (isinstance(number, Integral) and 0 <= int(number) < len(found)):
        raise InputError(f"`pick` names location {quoted(number)} of a row that has {len(found)}.")
    return int(found[number])


def _previous_report(
    perturbed: gpd.GeoDataFrame, tracks: frames.Tracks, number: int, region: Region, *, rounded: bool
) -> tuple[float, float]:
    """Return the report that the picked location was seen from, where the release still tells it."""
    coordinates = shapely.get_coordinates(np.asarray(perturbed.geometry.values))
    before = number - 1 if tracks.order is None else tracks.order[number - 1]
    place = region.enter(crs_.transform(coordinates[before : before + 1], perturbed.crs, region.data_crs))
    if rounded or _may_be_projected(place, region.domain):
        raise InputError(
            "`pick`: this location was seen from a report that was moved afterwards, to a place or into the region, so "
            "its window is not known. Pick the first location of a trajectory."
        )
    return tuple(place[0].tolist())


def _may_be_projected(place: np.ndarray, domain: Domain) -> bool:
    if domain.convex or domain.border is None:
        return False
    return bool(domain.border.distance(place)[0] < NEAR * domain.diameter)
