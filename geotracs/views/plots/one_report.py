"""What a method does to one location: the exact density of its report."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

import geotracs.core.methods as methods
import geotracs.geo.crs as crs_
import geotracs.geo.region as regions
from geotracs.core.domains import Domain
from geotracs.core.domains.rectangle import two_numbers
from geotracs.core.randomness import public_stream
from geotracs.errors import InputError
from geotracs.geo.originals import Originals
from geotracs.views.colours import COLOURS
from geotracs.views.plots.canvas import draw_public, frame_axes, pyplot, unwrapping

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PIXELS = 400
DRAWS = 100_000
"""How many reports of one location are drawn to see which share of them a picture of the density cannot show."""


def mechanism(
    method: str,
    eps: float,
    domain: Any,
    at: tuple[float, float],
    *,
    crs: Any = None,
    fit: str = "envelope",
    ax: "Axes | None" = None,
    legend: bool = True,
    **options: Any,
) -> "Axes":
    """Draw the exact probability density with which a location is reported, over the region.

    From public information only, if ``at`` is: nothing else is private here.

    Parameters
    ----------
    method, eps, domain, fit
        As for `perturb`.
    at : (x, y)
        The location, in the CRS of the drawing.
    crs : optional
        CRS of ``at`` and of a domain that has none; by default that of the domain, and degrees otherwise.
    **options
        Options of the method. From ``reference``, a public point, TraCS-D sees the location; by default from the
        start of a trajectory.

    Notes
    -----
    Reports that fall outside a polygon are projected to its border. Their share is not in the density; the drawing
    says how large it is.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> ax = mechanism("tracs-d", 4, city.boundary, at=(13.24, -20.25))
    >>> ax.get_title().splitlines()
    ['tracs-d, epsilon 4', '51% in the window, ...% projected']
    """
    plt = pyplot()
    if fit == "best":
        raise InputError(
            '`fit` must be "envelope", "oriented" or "transport" here; `perturb` records which of them was best.'
        )
    given = getattr(domain, "crs", None)
    crs = crs_.parse(crs or given or "EPSG:4326")
    region = regions.resolve(domain, Originals.nobody(crs), fit=fit)
    moved = {name: tuple(_enter(region, value, name).tolist()) for name, value in options.items() if _is_point(value)}
    recipe = methods.make(method, {**options, **moved})
    here = _enter(region, at, "at")
    window, probability = recipe.window_of((here[0], here[1]), eps, region.chart)
    outline = region.outline()
    unwrap = unwrapping(crs, outline, [])
    ring = crs_.transform(shapely.get_coordinates(window), region.crs, crs)
    own = ax is None
    ax = plt.subplots(figsize=(6.5, 5.5), layout="constrained")[1] if ax is None else ax
    _draw_density(ax, recipe, here, eps, region, outline)
    _draw_window(ax, ring if region.domain.in_degrees else unwrap(ring), crs_.turn(crs))
    spot = unwrap(crs_.transform(here[None], region.crs, crs))
    ax.plot(*spot.T, "o", color=COLOURS[1], markeredgecolor="white", label="location")
    if recipe.public_points and region.domain.half_planes is not None:
        seen_from = cast(methods.TracsD, recipe).seen_from(region.domain)
        reference = unwrap(crs_.transform(seen_from[None], region.crs, crs))
        ax.plot(*reference.T, "X", color="white", markeredgecolor="black", label="reference")
    draw_public(ax, outline, None, crs, unwrap, fill="none")
    frame_axes(ax, crs, [] if region.domain.in_degrees else [unwrap(ring)], outline)
    shares = [f"{probability:.0%} in the window", *_unseen(recipe, here, eps, region.chart)]
    ax.set_title(f"{recipe.name}, epsilon {eps:g}\n{', '.join(shares)}", fontsize="medium")
    if legend and own:
        cast("Figure", ax.figure).legend(loc="outside lower center", ncols=3, fontsize="small")
    elif legend:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, fontsize="small", columnspacing=1)
    return ax


def _is_point(value: Any) -> bool:
    return isinstance(value, (tuple, list, np.ndarray, shapely.Point))


def _enter(region: regions.Region, point: Any, name: str) -> np.ndarray:
    """Bring one public point into the working CRS."""
    pair = two_numbers(point.coords[0][:2] if isinstance(point, shapely.Point) else point)
    if pair is None:
        raise InputError(f"`{name}` must be two finite numbers (x, y), or a point.")
    return region.enter(np.array([pair]))[0]


def _draw_window(ax: "Axes", ring: np.ndarray, turn: float) -> None:
    """Draw the window, on the globe on both sides of the antimeridian."""
    x, y = ring.T
    for shift in (0, turn) if x.max() > turn / 2 else (0,):
        ax.plot(x - shift, y, "--", color=COLOURS[1], linewidth=1.5, label=None if shift else "window")


def _draw_density(
    ax: "Axes", recipe: methods.Method, at: np.ndarray, eps: float, region: regions.Region, outline: BaseGeometry
) -> None:
    """Colour the region by the density of the report, per square kilometre."""
    from matplotlib.colors import LogNorm

    xmin, ymin, xmax, ymax = outline.bounds
    x, y = (low + (np.arange(PIXELS) + 0.5) / PIXELS * (high - low) for low, high in ((xmin, xmax), (ymin, ymax)))
    grid = np.array(np.meshgrid(x, y)).reshape(2, -1).T
    globe = region.domain.in_degrees
    kilometres = 1 if globe else region.crs.axis_info[0].unit_conversion_factor / 1000
    density = recipe.density(region.enter(grid), (at[0], at[1]), eps, region.chart) / kilometres**2
    density[~shapely.contains_xy(outline, *grid.T) | ~(density > 0)] = np.nan
    top = np.nanquantile(density, 0.999)
    norm = LogNorm(np.nanmin(density), max(top, np.nanmin(density) * 1.01))
    image = ax.pcolormesh(x, y, density.reshape(PIXELS, PIXELS), norm=norm, cmap="cividis", rasterized=True, zorder=0)
    more = "max" if np.nanmax(density) > top else "neither"
    ax.figure.colorbar(
        image, ax=ax, extend=more, shrink=0.85, label=f"probability density per {'degree²' if globe else 'km²'}"
    )


def _unseen(recipe: methods.Method, at: np.ndarray, eps: float, domain: Domain) -> list[str]:
    """Return which shares of the reports a density cannot show: what is projected, and what stays at the reference."""
    reports = np.repeat(at[:, None], DRAWS, axis=1).T
    recipe.report(reports, np.arange(DRAWS + 1), eps, domain, public_stream())
    release = recipe.on(domain).release
    on_border = release.atoms(release(reports)) >= 0
    stays = 0.0
    if recipe.public_points and domain.half_planes is not None:
        reference = cast(methods.TracsD, recipe).seen_from(domain)
        stays = float(np.mean(np.all(np.isclose(reports, reference, rtol=1e-12, atol=0), axis=1)))
    shares = {"projected": on_border.mean(), "at the reference itself": stays}
    return [f"{share:.1%} {where}" for where, share in shares.items() if share > 0.0005]
