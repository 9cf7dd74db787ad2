"""The one orchestrator: frame in, frame out. The accessor and the command line only call it."""

import functools
import math
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.budget as budget
import geotracs.crs as crs_
import geotracs.frames as frames
import geotracs.methods as methods
import geotracs.randomness as randomness
import geotracs.regions as regions
from geotracs.advise import best_method
from geotracs.domains import Domain
from geotracs.errors import DomainError, InputError
from geotracs.rounding import Rounding, prepare

OUTSIDE = ("raise", "clip")
AUTO = "joint"
"""The method that stands for "auto" until the region is known."""
SAMPLE = 2000
"""How many places are tried when they decide where TraCS-D starts."""


def perturb(
    gdf: gpd.GeoDataFrame,
    eps: float,
    method: str = "joint",
    *,
    domain: Any = None,
    fit: str = "envelope",
    prior: Any = None,
    weight: str | None = None,
    trajectory: str | None = None,
    time: str | None = None,
    unit: str = "location",
    round_to: Any = None,
    place: str = "place",
    join: Sequence[str] = (),
    centroid: bool = False,
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
        Point rows, grouped by ``trajectory`` and ordered by ``time``, or LineString rows, one trajectory each unless
        ``trajectory`` groups them. Any CRS.
        Missing and empty geometries stay as they are; Z and M are dropped with a warning. Never changed.
    eps : float
        Privacy parameter, greater than 0 and less than 700: smaller is more private. See ``unit``.
    method : str
        "joint", the default, perturbs both coordinates at once; "tracs-c" one by one, and "tracs-d" the direction and
        distance from the previous report, both as in the paper; "nearest" works over the places of ``round_to``, where
        a location counts as its nearest place and is reported as one of the set. "auto" takes the one of these with
        the smallest expected error (see `geotracs.advise`), and the record says which. To compare with: "strawman" and
        "planar-laplace" on the region; "k-rr", "exponential", "l-srr", "ngram" and "atp" over the places. See the
        classes in `geotracs.methods`.
    domain : bbox, shapely geometry, GeoSeries, GeoDataFrame, or one of `geotracs.domains`
        The public region: a rectangle, a polygon or several, with holes; a `Parallelogram`, a `Disc`, the `Globe`. A
        bbox ``(xmin, ymin, xmax, ymax)`` and a geometry are in the frame's CRS; in degrees, xmin > xmax means across
        the antimeridian. None fits the bounding rectangle to the data, with a `PrivacyWarning`.
    fit : {"envelope", "oriented", "transport", "best"}
        How a polygon becomes a square to work in: by the rectangle around it along the axes, or the smallest rotated
        one, where what falls outside the polygon is projected to its nearest point; by a chart of the polygon itself
        ("transport", for "tracs-c" and "joint"); or the one of these with the smallest expected error. (TraCS-D works
        on a convex polygon directly.)
    prior : GeoDataFrame, GeoSeries, or (array, transform), optional
        Where locations are likely, from public information: points, areas such as census districts, or a raster with
        the six numbers (a, b, c, d, e, f) of its affine transform into the frame's CRS. The noise is short where the
        prior is dense; the promise does not depend on it. For "tracs-c" and "joint".
    weight : str, optional
        Column of the prior with the number of each point or area, e.g. its inhabitants; 1 each without it.
    trajectory, time : str, optional
        Column that says which trajectory a row belongs to, and column that orders its rows. Without ``trajectory``
        all points are one trajectory, and each line is one. Rows with equal times stay in row order.
    unit : {"location", "trajectory"}
        Whether ``eps`` is for each location, or shared evenly over the locations of each trajectory.
    round_to : GeoDataFrame, GeoSeries or `geotracs.places.Grid`, optional
        Public places to which every report is moved: the nearest point, the nearest point of the nearest line or area,
        or the middle of its cell. Of places equally near, the first of the layer is taken. Any CRS. A method over
        places reports these themselves, all of them, inside the region or not: points, cells by their middles, and with
        ``centroid`` lines and areas. There places at the same point are one, with the first label.
    place : str
        Name of the column that gets the label of each report's place: its index in the layer, or the number of the
        cell. (Not for lines, which hold many locations a row.)
    join : list of str
        Columns of the layer to carry over for each report's place.
    centroid : bool
        Round to the centroid of a line or area instead of its nearest point.
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
        Options of the method: for "tracs-c" and "tracs-d" ``window`` ("ogpm" or "r-sw"), and for "tracs-d" also
        ``direction_share``, ``start`` ("centre", "corner", "random", "places" or a public point) and ``reference``
        ("previous", "places" or a public point); for "strawman" these and ``k``; ``groups`` for "l-srr", ``reach`` for
        "ngram", ``k`` for "atp".

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
    recipe = methods.make(AUTO if method == "auto" else method, options)
    if round_to is None and (join or centroid):
        raise InputError("`join` and `centroid` are for places; give them with `round_to`.")
    if isinstance(recipe, methods.PlaceMethod) and round_to is None:
        raise InputError(f"{method} reports places of a public set; give it with `round_to`, a layer or a grid.")
    if isinstance(recipe, methods.PlaceMethod) and prior is not None:
        raise InputError(f"`prior` is for methods on a region, such as joint; {method} knows its places.")
    if outside not in OUTSIDE:
        raise InputError(f"`outside` must be one of {list(OUTSIDE)}, got {outside!r}.")
    tracks = frames.read(gdf, trajectory, time)
    epsilons = budget.per_location(eps, unit, tracks.lengths)
    columns = [name for name in (trajectory, time) if name is not None]
    kept = frames.kept_columns(gdf, keep, columns)
    source = randomness.source(rng)
    rounding = None
    if len(tracks.xy) == 0 and domain is None:
        region, xy = None, tracks.xy
    else:
        typical = float(np.median(epsilons)) if len(tracks.xy) else eps
        region = regions.resolve(
            domain, gdf.geometry, fit=fit, crs=crs, prior=prior, weight=weight, error=_error(recipe, typical)
        )
        if round_to is not None:
            _check_new_columns(place, join, [*kept, gdf.active_geometry_name], tracks)
            rounding = prepare(round_to, region, gdf.geometry, place=place, join=join, centroid=centroid)
        if method == "auto":
            recipe, region = best_method(region, rounding, typical)
        recipe.check(region.chart)
        recipe = in_working_crs(recipe, region, rounding, typical)
        inside = _into_domain(tracks.xy, region, outside)
        which, xy = _reports(recipe, inside, tracks.offsets, epsilons, region, rounding, source, progress)
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
        # Cells over a fitted region tell how large it is.
        places=None if rounding is None or region.record["fitted"] else rounding.places.count,
        over="places" if isinstance(recipe, methods.PlaceMethod) else "region",
        caveat=recipe.caveat,
        reproducible=rng is not None,
        version=version("geotracs"),
    )
    added = None
    if rounding is not None and not tracks.are_lines:
        added = rounding.attributes(tracks.in_frame_order(which))
    elif round_to is not None and region is None:
        added = pd.DataFrame(columns=[place, *join])
    return frames.output(gdf, tracks.rebuild(xy), kept, {"tracs": guarantee.to_attrs()}, added)


def _reports(
    recipe: methods.Method,
    xy: np.ndarray,
    offsets: np.ndarray,
    eps: float | np.ndarray,
    region: regions.Region,
    rounding: Rounding | None,
    source: randomness.Source,
    progress: bool,
) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the number of each report's place, if there are places, and where it is in the CRS of the data.

    ``xy`` is in the working CRS, inside the domain, and is overwritten.
    """
    if isinstance(recipe, methods.PlaceMethod):
        points = rounding.points()
        which = methods.choose(
            recipe, rounding.nearest(xy), offsets, eps, points, region.domain, source, progress=progress
        )
        return which, rounding.locate(which, region)
    methods.run(recipe, xy, offsets, eps, region.chart, source, out=xy, progress=progress)
    return (None, region.leave(xy)) if rounding is None else rounding.apply(xy, region)


def _into_domain(xy: np.ndarray, region: regions.Region, outside: str) -> np.ndarray:
    """Return the locations in the working CRS, inside the domain."""
    moved = region.enter(xy)
    strangers = len(xy) - np.count_nonzero(region.contains(xy, moved))
    nowhere = ~np.isfinite(moved).all(axis=1)
    if outside == "clip" and nowhere.any():
        quarter = crs_.turn(region.data_crs) / 4
        lost = np.count_nonzero(nowhere & ~(np.abs(xy[:, 1]) <= quarter))
        if lost or not region.data_crs.is_geographic:
            raise DomainError(f"{lost or nowhere.sum()} of {len(xy)} locations do not exist and cannot be moved.")
        moved[nowhere] = region.domain.centre  # on the other side of the Earth, without a nearest point
    if strangers and outside == "raise":
        raise DomainError(
            f"{strangers} of {len(xy)} locations lie outside the domain. {_why_outside(xy, region, strangers)}Give a "
            'larger public region, or outside="clip" to move them to its border.'
        )
    return region.domain.clip(moved)


def _why_outside(xy: np.ndarray, region: regions.Region, strangers: int) -> str:
    """Guess what is wrong when no location is inside: swapped axes, or another hemisphere."""
    if strangers < len(xy):
        return ""
    swapped = xy[:, ::-1]
    if region.contains(swapped, region.enter(swapped)).mean() > 0.5:
        return "With x and y swapped most would lie inside: check the order of the axes. "
    if region.shape is None or region.data_crs.geodetic_crs is None:
        return ""
    west, south, east, north = region.shape.bounds
    if not region.data_crs.is_geographic and -180 <= west < east <= 360 and -90 <= south < north <= 90:
        return "Its bounds look like degrees, but a bounding box or geometry is taken to be in the CRS of the data. "
    degrees = crs_.in_degrees(region.data_crs)
    centre = np.array([region.shape.centroid.coords[0][:2]])
    there, here = (crs_.transform(points, region.data_crs, degrees) for points in (centre, xy))
    for axis, names in ((1, ("southern", "northern")), (0, ("western", "eastern"))):
        signs = np.sign(here[:, axis])
        if np.all(signs == signs[0]) and signs[0] * there[0, axis] < 0:
            return (
                f"The domain lies in the {names[int(there[0, axis] > 0)]} hemisphere and all locations in the other. "
            )
    return ""


def _error(recipe: methods.Method, eps: float) -> Callable[[Domain], float]:
    """Return the expected error of a method on a domain, apart from where it starts."""
    if isinstance(recipe, methods.PlaceMethod):  # it works on its places, in whatever rectangle they are
        return lambda domain: 0.0
    plain = {name: value for name, value in recipe.record().items() if name not in recipe.public_points}
    plain = methods.make(recipe.name, plain)

    def error(domain: Domain) -> float:
        try:
            plain.check(domain)
        except DomainError:  # which the method itself will say when there is nothing better
            return math.inf
        return methods.expected_error(plain, eps, domain)

    return functools.cache(error)


def _check_new_columns(place: str, join: Sequence[str], taken: list[str], tracks: frames.Tracks) -> None:
    if not isinstance(place, str):
        raise InputError(f"`place` must be the name of a column, got {type(place).__name__}.")
    if join and tracks.are_lines:
        raise InputError("`join` is for points; a line holds many locations in a row, each with a place of its own.")
    if place in taken or place in join:
        raise InputError(f"The release would have two columns {place!r}; choose another name with `place`.")
    for name in join:
        if name in taken:
            raise InputError(f"The release would have two columns {name!r}; rename it in the layer.")


def in_working_crs(
    recipe: methods.Method, region: regions.Region, rounding: Rounding | None, eps: float
) -> methods.Method:
    """Bring the method's public points from the frame's CRS into the working CRS; choose those that places decide."""
    moved = {}
    for name in recipe.public_points:
        value = getattr(recipe, name)
        if value == "places":
            if rounding is None:
                raise InputError(f'`{name}="places"` needs places; give them with `round_to`.')
            moved[name] = recipe.best_start(rounding.places.some(SAMPLE), eps, region.domain)
        elif not isinstance(value, str):
            moved[name] = tuple(region.enter(np.array([value], dtype=float))[0].tolist())
            if not np.isfinite(moved[name]).all():
                raise InputError(f"`{name}` must be a point that exists in the CRS of the data.")
    return methods.make(recipe.name, {**recipe.record(), **moved}) if moved else recipe


def _plain(value: Any) -> Any:
    """Turn points and numpy values into plain ones."""
    if isinstance(value, shapely.Point) and not value.is_empty:
        return [value.x, value.y]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
