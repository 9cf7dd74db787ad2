"""The limit: a certified lower bound on the mean error of *any* eps-LDP mechanism.

Let P be eps-LDP and m the largest measure below all P(. | x). Then m <= P(. | x) <= exp(eps) m, so that for every
function l of the secret

    mean error = E[l] - integral of E[(l - d(x, y)) P(dy | x)] >= E[l] - integral of g(y) m(dy),
    g(y) = E[l - d(x, y)] + (exp(eps) - 1) E[max(l - d(x, y), 0)].

If g(y) <= 0 for every report y, no mechanism has a mean error below E[l]: l is a *price* of each secret that proves
it. Projecting a report to the convex hull of the secrets brings it nearer to all of them, and so only raises g: in the
plane the hull is enough.

What is proved. Over finite places (given reports, or any): the bound itself, up to rounding in floating point, which is
allowed for. On a region with a prior: the bound for the *continuous* prior, not for stand-ins: prices are constant in
each cell of a partition, and `constraints` bounds g for all reports of a tile and all secrets of a cell by a finite
sum. Areas, centroids and great-circle means are computed in floating point. How prices are found (`prices`) proves
nothing and need not; `check` checks them again.

At large epsilon the optimum falls as exp(-eps / 3).
"""

from functools import lru_cache, partial
from typing import cast

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from geotracs.core.budget import check_eps
from geotracs.core.optimum.bound import Optimum, Problem, best, hull_of
from geotracs.core.optimum.cells import Cells, of_belt, of_points, of_region
from geotracs.core.optimum.checking import check
from geotracs.core.optimum.kept import kept
from geotracs.core.optimum.metric import Metric, Plane, Sphere
from geotracs.errors import InputError

KEPT = 64
"""How many bounds are remembered."""


def lower_bound(
    points: np.ndarray,
    weights: np.ndarray | None,
    eps: float,
    reports: np.ndarray | None = None,
    *,
    anywhere: bool = False,
    sphere: bool = False,
) -> Optimum:
    """Return a lower bound on the mean error of every eps-LDP mechanism over a finite set of secrets.

    Parameters
    ----------
    points : array of shape (n, 2)
        The secrets: public places, or stand-ins of a public prior.
    weights : array of shape (n,), optional
        Their prior; all alike without it.
    eps : float
    reports : array of shape (m, 2), optional
        What may be reported; the points without it.
    anywhere : bool
        Whether anything in the plane, or on the globe, may be reported; the bound is then smaller.
    sphere : bool
        Whether points are longitudes and latitudes, and errors metres around the globe.

    Examples
    --------
    Two places a metre apart: the best is to tell the truth with probability e / (1 + e).

    >>> round(lower_bound(np.array([[0.0, 0.0], [1.0, 0.0]]), None, 1.0).error, 4)
    0.2689
    """
    return solved(over_points(points, weights, eps, reports, anywhere=anywhere, sphere=sphere))


def over_points(
    points: np.ndarray,
    weights: np.ndarray | None,
    eps: float,
    reports: np.ndarray | None = None,
    *,
    anywhere: bool = False,
    sphere: bool = False,
) -> Problem:
    """Return the problem that `lower_bound` solves."""
    eps, metric = check_eps(eps), cast(Metric, Sphere() if sphere else Plane())
    xy = np.ascontiguousarray(points, dtype=np.float64)
    mass = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    cells = of_points(xy, mass, metric)
    given = np.unique(xy, axis=0)
    if reports is not None:
        rows = np.asarray(reports, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows) or not np.isfinite(rows).all():
            raise InputError("`reports` must be an array of shape (m, 2) of finite numbers, with at least one row.")
        given = np.unique(rows, axis=0)
    allowed = None if anywhere and reports is None else metric.embed(given)
    said = xy.tobytes(), None if mass is None else mass.tobytes(), None if allowed is None else allowed.tobytes()
    hull = None if sphere else hull_of(cells.points)
    return Problem(("points", *said, eps, bool(sphere)), lambda count: cells, eps, metric, allowed, hull)


def on_region(outline: BaseGeometry, eps: float, density: np.ndarray | None = None) -> Optimum:
    """Return a lower bound on the mean error of every eps-LDP mechanism on a planar region.

    Parameters
    ----------
    outline : shapely Polygon or MultiPolygon
        The region, with holes or in parts.
    eps : float
    density : array of shape (columns, rows), optional
        A public prior over a grid of the region's bounds; see `geotracs.core.optimum.cells.of_region`.

    Examples
    --------
    >>> round(on_region(shapely.box(0, 0, 1, 1), 1.0).error, 2)
    0.36
    """
    return solved(over_region(outline, eps, density))


def over_region(outline: BaseGeometry, eps: float, density: np.ndarray | None = None) -> Problem:
    """Return the problem that `on_region` solves."""
    eps, table = check_eps(eps), None if density is None else np.ascontiguousarray(density, dtype=np.float64)
    if table is not None and table.ndim != 2:
        raise InputError("`density` must have two dimensions: columns and rows of a grid.")
    said = shapely.to_wkb(outline), *((None, None) if table is None else (table.tobytes(), table.shape))
    cut = partial(of_region, outline, density=table)
    return Problem(("region", *said, eps), cut, eps, Plane(), hull=outline.convex_hull)


def on_globe(eps: float, south: float = -90.0, north: float = 90.0) -> Optimum:
    """Return a lower bound, in metres, on the mean error of every eps-LDP mechanism on a belt of the globe.

    >>> round(on_globe(1e-9).error / 1e6)
    10
    """
    return solved(over_belt(eps, south, north))


def over_belt(eps: float, south: float = -90.0, north: float = 90.0) -> Problem:
    """Return the problem that `on_globe` solves."""
    eps, cut = check_eps(eps), partial(of_belt, south=south, north=north)
    return Problem(("globe", eps, south, north), cut, eps, Sphere())


@lru_cache(maxsize=KEPT)
def solved(problem: Problem) -> Optimum:
    """Return the bound: as it is remembered or kept on disk, or found now."""
    return kept(problem.question, lambda: best(problem))


__all__ = [
    "Cells",
    "Optimum",
    "Problem",
    "check",
    "lower_bound",
    "on_globe",
    "on_region",
    "over_belt",
    "over_points",
    "over_region",
    "solved",
]
