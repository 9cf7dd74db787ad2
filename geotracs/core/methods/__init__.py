"""Methods: recipes of a domain, a chart and exact mechanisms, and the share of epsilon that each part gets."""

from typing import Any

import numpy as np

import geotracs.core.randomness as randomness
from geotracs.core.domains import Domain
from geotracs.core.methods.atp import ATP
from geotracs.core.methods.base import Method, PlaceMethod
from geotracs.core.methods.channels import Channel
from geotracs.core.methods.exponential import Exponential
from geotracs.core.methods.geo_ind import GeoInd
from geotracs.core.methods.joint import Joint
from geotracs.core.methods.k_rr import KRR
from geotracs.core.methods.l_srr import LSRR
from geotracs.core.methods.nearest import Nearest
from geotracs.core.methods.ngram import NGram
from geotracs.core.methods.optimal import Optimal
from geotracs.core.methods.place_remap import PlaceRemap
from geotracs.core.methods.planar_laplace import PlanarLaplace
from geotracs.core.methods.released import Reports
from geotracs.core.methods.remap import Remap
from geotracs.core.methods.remap_prior import Prior
from geotracs.core.methods.strawman import Strawman
from geotracs.core.methods.tracs_c import TracsC
from geotracs.core.methods.tracs_d import TracsD
from geotracs.core.places import Points
from geotracs.errors import InputError, quoted

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        TracsC,
        TracsD,
        Joint,
        Optimal,
        Nearest,
        Strawman,
        PlanarLaplace,
        KRR,
        Exponential,
        LSRR,
        NGram,
        ATP,
        GeoInd,
    )
}


def make(name: str, options: dict[str, Any] | None = None) -> Method:
    """Return the method of that name with these options.

    >>> make("tracs-d", {"start": "corner"}).start
    'corner'
    """
    options = options or {}
    if not isinstance(name, str) or name not in METHODS:
        raise InputError(f"`method` must be one of {[*sorted(METHODS), 'auto']}, got {quoted(name)}.")
    known = METHODS[name].options()
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InputError(f"{name} has no option {quoted(unknown[0])}; its options are {known}.")
    return METHODS[name](**options)


def expected_error(
    method: Method, eps: float, domain: Domain, n: int = 4000, places: np.ndarray | None = None
) -> float:
    """Return the mean displacement of locations spread evenly over a public domain, projection included.

    Over ``places``, which a `PlaceMethod` needs, it is that of up to n of the places. From public information only: the
    same points and draws every time.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> round(expected_error(make("tracs-c"), 4.0, Rectangle(0, 0, 1, 1)), 1)
    0.3
    """
    if places is not None and method.over == "places":
        xy = places[np.linspace(0, len(places) - 1, min(len(places), n)).astype(np.int64)]
        channel = method.on(domain, Points(places), eps)
    else:
        xy, channel = domain.spread(n), method.on(domain)
    reports = channel.sample(xy, np.arange(len(xy) + 1), eps, randomness.public_stream()).xy
    return float(domain.distance(xy, reports).mean())


__all__ = [
    "ATP",
    "KRR",
    "LSRR",
    "METHODS",
    "Channel",
    "Exponential",
    "GeoInd",
    "Joint",
    "Method",
    "NGram",
    "Nearest",
    "Optimal",
    "PlaceMethod",
    "PlaceRemap",
    "PlanarLaplace",
    "Prior",
    "Remap",
    "Reports",
    "Strawman",
    "TracsC",
    "TracsD",
    "expected_error",
    "make",
]
