"""The ``remap=`` argument: from a public prior to the map that a release moves its reports by."""

from typing import Any

import geopandas as gpd
import numpy as np

import geotracs.geo.prior as priors
from geotracs.core.domains import Transport
from geotracs.core.methods import Method, PlaceRemap, Prior, Remap
from geotracs.errors import InputError
from geotracs.geo.originals import Originals
from geotracs.geo.region import Region
from geotracs.geo.rounding import Rounding


def check(remap: Any) -> None:
    """Raise unless this is a ``remap`` argument."""
    layer = isinstance(remap, (gpd.GeoDataFrame, gpd.GeoSeries)) or (isinstance(remap, tuple) and len(remap) == 2)
    if remap is not None and not layer and not isinstance(remap, (bool, np.bool_)):
        raise InputError(
            "`remap` must be True, False, or a public prior: a GeoDataFrame or GeoSeries of points or areas, or a "
            f"raster as (array, transform), got {type(remap).__name__}."
        )


def prepare(
    remap: Any,
    recipe: Method,
    region: Region,
    rounding: Rounding | None,
    levels: float | np.ndarray,
    data: Originals,
    *,
    more: bool = False,
) -> Remap | PlaceRemap | None:
    """Return the map that moves reports, or nothing if ``remap`` is False.

    Parameters
    ----------
    remap : bool, GeoDataFrame, GeoSeries, or (array, transform)
        See `geotracs.perturb`.
    levels : float or array
        The epsilons that locations have, as far as they are known.
    data : Originals
        The private locations, only to warn of a prior derived from them.
    more : bool
        Whether locations may have other epsilons, too.
    """
    if isinstance(remap, (bool, np.bool_)):
        if not remap:
            return None
        prior = None
    else:
        prior = _prior(remap, region, data)
    if recipe.over == "places" and rounding is not None:
        rounding.check_points()
        if prior is None and region.transport is not None:
            prior = _of_region(region)
        return PlaceRemap(recipe, region.domain, levels, prior, rounding.places, more)
    prior = _of_region(region) if prior is None else prior
    return Remap(recipe, region.chart, levels, prior, None if rounding is None else rounding.places, more)


def _of_region(region: Region) -> Prior:
    """Return the prior that the region itself has."""
    kind = region.record["prior"]["kind"] if region.transport is not None and "prior" in region.record else None
    return Prior(region.chart, kind or "uniform")


def _prior(layer: Any, region: Region, data: Originals) -> Prior:
    """Return the prior of a layer: points as they are, areas and rasters as cells."""
    if not region.domain.plane:
        raise InputError(f"`remap` on a {region.domain.kind} takes no layer; use remap=True.")
    weights, record = priors.weights(layer, None, region.domain, region.crs, data)
    if record["kind"] != "points":
        return Prior(Transport(region.domain, weights), record["kind"])
    xy = layer.geometry.to_crs(region.crs).get_coordinates().to_numpy()
    xy = xy[np.isfinite(xy).all(axis=1)]
    xy = xy[region.domain.contains(xy)]
    if not len(xy):
        raise InputError("`remap` has no point inside the domain; are both CRSs right?")
    return Prior(region.domain, "points", xy)
