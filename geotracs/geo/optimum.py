"""The smallest mean error that epsilon allows: a bound on every method, from public information only."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import geopandas as gpd

import geotracs.core.optimum as bounds
import geotracs.geo.crs as crs_
import geotracs.geo.region as regions
from geotracs.core.budget import check_eps
from geotracs.core.domains import Domain
from geotracs.core.places import Grid
from geotracs.errors import InputError, sealed
from geotracs.geo.originals import Originals
from geotracs.geo.rounding import Rounding, prepare

ROUNDED = 1e-12
"""By which share an error in metres may be rounded."""


@dataclass(frozen=True)
class Limit:
    """A certified lower bound on the mean error of every eps-LDP method.

    Attributes
    ----------
    error : float
        No method has a smaller mean error, in metres.
    eps : float
    certificate : geotracs.core.optimum.Optimum
        What proves it: the prior in cells, and a price of each; in the unit of the working CRS.
    metres : float
        How long that unit is.
    problem : geotracs.core.optimum.Problem
        The region or the places, and where reports may be.
    """

    error: float
    eps: float
    certificate: bounds.Optimum = field(repr=False, compare=False)
    metres: float = field(repr=False)
    problem: bounds.Problem = field(repr=False, compare=False)

    def check(self) -> float:
        """Check the certificate again, without anything of the search that found it, and return the error.

        Its cells must be those of the region, too. It takes seconds up to epsilon 4, and minutes where the certificate
        is large.

        Raises
        ------
        InputError
            If the certificate does not hold, is for another region, or proves less than this error.
        """
        bounds.check(self.certificate, self.eps, problem=self.problem)
        if not self.error <= self.certificate.error * self.metres * (1 + ROUNDED):
            raise InputError("The certificate does not hold: it proves a smaller error.")
        return self.error


@sealed
def optimum(
    domain: Any,
    eps: float,
    prior: Any = None,
    places: Any = None,
    *,
    weight: str | None = None,
    crs: Any = "EPSG:4326",
) -> Limit:
    """Return a lower bound on the mean error of *any* eps-LDP method, known or not, with a proof.

    The mean is over secrets that are spread evenly over the region; or as the prior is; or, with places and without a
    prior, evenly over the places. Reports are anywhere; or, in the last case, places. `geotracs.advise` measures
    methods in the same way, and says how many times the optimum each of them is.

    Parameters
    ----------
    domain : bbox, shapely geometry, GeoSeries, GeoDataFrame, or one of `geotracs.domains`
        The public region; see `geotracs.perturb`.
    eps : float
        Privacy parameter of each location. Up to 4 a region takes some seconds; at 8 it takes about a minute.
    prior, weight
        Where locations are likely; see `geotracs.perturb`.
    places : GeoDataFrame, GeoSeries or `geotracs.places.Grid`, optional
        Public places. Of lines and areas the centroids count.
    crs : optional
        CRS of a bbox or geometry; layers have their own.

    Returns
    -------
    Limit
        ``error`` in metres, ``eps``, the ``certificate``, and ``check()``, which checks it again.

    Notes
    -----
    The bound is remembered: the same question is answered at once. It is for distances in the working CRS, as all
    errors of `geotracs.advise` are.

    Examples
    --------
    In a region 39 km wide and high no method has a mean error below 13.9 km at epsilon 1:

    >>> import geotracs
    >>> limit = geotracs.optimum((139.47, 35.51, 139.90, 35.86), 1)
    >>> round(limit.error, -2)
    13900.0
    >>> limit.check() == limit.error
    True
    """
    eps = check_eps(eps)
    return limit(*public_setting(domain, places, prior=prior, weight=weight, crs=crs), eps)


def limit(region: regions.Region, rounding: Rounding | None, eps: float) -> Limit:
    """Return the bound for a region and its places."""
    problem = _problem(region, rounding, eps)
    found = bounds.solved(problem)
    metres = 1.0 if region.domain.in_degrees else float(region.crs.axis_info[0].unit_conversion_factor)
    return Limit(found.error * metres, eps, found, metres, problem)


def public_setting(
    domain: Any,
    places: Any,
    *,
    prior: Any,
    weight: str | None,
    crs: Any,
    fit: str = "envelope",
    error: Callable[[Domain], float] | None = None,
) -> tuple[regions.Region, Rounding | None]:
    """Return the public region and places, without any data; see `regions.resolve`."""
    layer = isinstance(domain, (gpd.GeoSeries, gpd.GeoDataFrame)) and domain.crs is not None
    nobody = Originals.nobody(domain.crs if layer else crs_.parse(crs))
    region = regions.resolve(domain, nobody, fit=fit, prior=prior, weight=weight, error=error)
    if places is None:
        return region, None
    centroid = not isinstance(places, Grid)
    return region, prepare(places, region, nobody, place="place", join=(), centroid=centroid)


def _problem(region: regions.Region, rounding: Rounding | None, eps: float) -> bounds.Problem:
    own = region.domain
    if rounding is not None and region.transport is None:
        rounding.check_points()
        xy = rounding.places.sample(rounding.places.count)
        return bounds.over_points(own.clip(xy), None, eps, xy, sphere=own.in_degrees)
    if own.in_degrees:
        _, south, _, north = own.outline.bounds
        return bounds.over_belt(eps, south, north)
    return bounds.over_region(own.outline, eps, None if region.transport is None else region.transport.prior)
