"""The one orchestrator: frame in, frame out. The accessor and the command line only call it."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import geopandas as gpd
import numpy as np
import shapely

from geotracs import budget, frames, methods, randomness, regions
from geotracs import crs as crs_
from geotracs.errors import DomainError, InputError

OUTSIDE = ("raise", "clip")


def perturb(
    gdf: gpd.GeoDataFrame,
    eps: float,
    method: str = "tracs-c",
    *,
    domain: Any = None,
    fit: str = "envelope",
    trajectory: str | None = None,
    time: str | None = None,
    unit: str = "location",
    round_to: Any = None,
    crs: Any = None,
    outside: str = "raise",
    keep: str | Sequence[str] | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
    **options: Any,
) -> gpd.GeoDataFrame:
    """Report every location under pure ``eps``-local differential privacy over a public region.

    Parameters
    ----------
    gdf : GeoDataFrame
        Point rows, grouped by ``trajectory`` and ordered by ``time``, or LineString rows, one trajectory each. Any CRS.
        Missing and empty geometries stay as they are; Z and M are dropped with a warning. Never changed.
    eps : float
        Privacy parameter, greater than 0 and less than 700: smaller is more private. See ``unit``.
    method : {"tracs-c", "tracs-d"}
        "tracs-c" perturbs the coordinates, "tracs-d" the direction and distance from the previous report.
    domain : bbox, shapely geometry, GeoSeries, GeoDataFrame or `geotracs.domains.Rectangle`
        The public region. A bbox ``(xmin, ymin, xmax, ymax)``, a geometry and a Rectangle are in the frame's CRS;
        in degrees, xmin > xmax means across the antimeridian. None fits the bounding rectangle to the data, with a
        `PrivacyWarning`.
    fit : {"envelope"}
        How a rectangle is fitted to the domain.
    trajectory, time : str, optional
        Column that says which trajectory a row belongs to, and column that orders its rows. Without ``trajectory``
        all points are one trajectory, and each line is one. Rows with equal times stay in row order.
    unit : {"location", "trajectory"}
        Whether ``eps`` is for each location, or shared evenly over the locations of each trajectory.
    round_to
        Not available yet.
    crs : optional
        Planar CRS to work in. By default the frame's own if it is projected, and one that fits the domain otherwise.
    outside : {"raise", "clip"}
        What to do with locations outside the domain: refuse, or move them to its border before the draw.
    keep : list of str, or "all"
        Columns to carry over besides ``trajectory`` and ``time``. The others are left out: a forgotten ``lat``
        column would publish the secret.
    rng : None, int or numpy Generator
        None, the default, is ChaCha20 keyed by the operating system. Anything else warns: for tests and papers.
    progress : bool
        Show a progress bar.
    **options
        Options of the method: ``window`` ("ogpm" or "r-sw"), and for "tracs-d" also ``direction_share``, ``start``
        ("centre", "corner", "random" or a public point) and ``reference`` ("previous" or a public point).

    Returns
    -------
    GeoDataFrame
        Same index, row order, geometry name, geometry type and CRS; ``attrs["tracs"]`` records what was done.

    Examples
    --------
    >>> import geopandas as gpd, geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> private = geotracs.perturb(
    ...     city.tracks, 4, domain=city.boundary.total_bounds, trajectory="person", time="t", keep=[]
    ... )
    >>> list(private.columns)
    ['person', 't', 'geometry']
    >>> private.tracs.guarantee.epsilon
    4.0
    """
    eps = budget.check_eps(eps)
    options = {name: _plain(value) for name, value in options.items()}
    recipe = methods.make(method, options)
    if outside not in OUTSIDE:
        raise InputError(f"`outside` must be one of {list(OUTSIDE)}, got {outside!r}.")
    if round_to is not None:
        raise InputError("`round_to` is not available yet; leave it out.")
    tracks = frames.read(gdf, trajectory, time)
    epsilons = budget.per_location(eps, unit, tracks.lengths)
    columns = [name for name in (trajectory, time) if name is not None]
    kept = frames.kept_columns(gdf, keep, columns)
    source = randomness.source(rng)
    if len(tracks.xy) == 0 and domain is None:
        region, xy = None, tracks.xy
    else:
        region = regions.resolve(domain, gdf.geometry, fit=fit, crs=crs)
        recipe = _in_working_crs(recipe, gdf.crs, region.crs)
        xy = _report(tracks, recipe, epsilons, region, gdf.crs, outside, source, progress)
    guarantee = budget.Guarantee(
        method=recipe.name,
        epsilon=eps,
        unit=unit,
        shares=recipe.shares,
        options={**recipe.record(), **options},
        locations=len(xy),
        longest=int(tracks.lengths.max(initial=0)),
        domain=region.record if region else {},
        crs=crs_.label(region.crs) if region and not region.record["fitted"] else None,
        trajectory=trajectory,
        time=time,
        kept=[str(name) for name in kept if name not in columns],
        version=version("geotracs"),
    )
    return frames.output(gdf, tracks.rebuild(xy), kept, {"tracs": guarantee.to_attrs()})


def _report(tracks, recipe, epsilons, region, crs, outside, source, progress) -> np.ndarray:
    """Return the reports in the frame's CRS."""
    xy = _into_domain(tracks, region, crs, outside)
    reports = methods.run(recipe, xy, tracks.offsets, epsilons, region.domain, source, progress=progress)
    return crs_.transform(reports, region.crs, crs)


def _into_domain(tracks: frames.Tracks, region: regions.Region, crs: Any, outside: str) -> np.ndarray:
    """Return the locations in the working CRS, inside the domain."""
    xy = crs_.transform(tracks.xy, crs, region.crs)
    strangers = len(xy) - np.count_nonzero(region.domain.contains(xy))
    if strangers and outside == "raise":
        raise DomainError(
            f"{strangers} of {len(xy)} locations lie outside the domain. Give a larger public region, or "
            'outside="clip" to move them to its border.'
        )
    return region.domain.clip(xy)


def _in_working_crs(recipe: methods.Method, crs: Any, working: Any) -> methods.Method:
    """Bring the method's public points from the frame's CRS into the working CRS."""
    moved = {}
    for name in recipe.public_points:
        value = getattr(recipe, name)
        if not isinstance(value, str):
            moved[name] = tuple(crs_.transform(np.array([value], dtype=float), crs, working)[0].tolist())
    return methods.make(recipe.name, {**recipe.record(), **moved}) if moved else recipe


def _plain(value: Any) -> Any:
    """Turn points and numpy values into plain ones."""
    if isinstance(value, shapely.Point) and not value.is_empty:
        return [value.x, value.y]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
