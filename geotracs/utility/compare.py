"""Frames before and after: what the perturbation cost in utility."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.core.digest as digest
import geotracs.geo.crs as crs_
import geotracs.geo.tracks as frames
import geotracs.utility.metrics as measures
from geotracs.core.guarantee import Guarantee, caption, recorded
from geotracs.core.places import Points, Shapes
from geotracs.errors import CRSError, InputError, PrivacyWarning, quoted, sealed, warn
from geotracs.geo.collections import as_frame
from geotracs.geo.filling import drawn

METRES = frozenset({"ae", "median", "p95", "max"})
DISPLACEMENT = ("ae", "median", "p95", "max", "rqp")
"""Metrics of single locations..."""


@dataclass(frozen=True, repr=False)
class Pair:
    """Locations and their reports on a plane, in metres, trajectory after trajectory.

    Attributes
    ----------
    before, after : array of shape (n, 2)
    offsets : array of int
        Where each trajectory begins, and n at the end.
    bounds : (xmin, ymin, xmax, ymax)
        Of the domain on record, or of everything.
    rows : array of int
        The row of the frame in which each trajectory begins.
    places : (array, array)
        The place of each location and of each report.
    """

    before: np.ndarray
    after: np.ndarray
    offsets: np.ndarray
    bounds: measures.Bounds
    rows: np.ndarray
    places: tuple[np.ndarray, np.ndarray]

    def __repr__(self) -> str:
        return f"<Pair of {len(self.before)} locations and their reports>"


@dataclass(frozen=True)
class Metric:
    """A metric of trajectories.

    Attributes
    ----------
    of : {"trajectory", "whole"}
        Whether there is a value for each trajectory, in their order, or one for all of them together.
    measure : callable
        Returns these from a `Pair`.
    """

    of: str
    measure: Callable[[Pair], Any] = field(repr=False)


METRICS: dict[str, Metric] = {
    "hausdorff": Metric("trajectory", lambda pair: measures.hausdorff(pair.before, pair.after, pair.offsets)),
    "frechet": Metric("trajectory", lambda pair: measures.frechet(pair.before, pair.after, pair.offsets)),
    "hotspots": Metric(
        "trajectory",
        lambda pair: measures.hotspot_count_difference(*pair.places, pair.offsets, measures.hotspots(pair.places[0])),
    ),
    "range_query": Metric(
        "whole",
        lambda pair: measures.range_query_error(pair.before, pair.after, measures.public_boxes(pair.bounds)),
    ),
    "grid": Metric("whole", lambda pair: measures.grid_divergence(pair.before, pair.after, pair.bounds)),
    "origin_destination": Metric(
        "whole",
        lambda pair: measures.origin_destination_divergence(pair.before, pair.after, pair.offsets, pair.bounds),
    ),
    "trip_length": Metric("whole", lambda pair: measures.trip_length_divergence(pair.before, pair.after, pair.offsets)),
}
"""...and of trajectories: a line here makes one known to `compare` and the command line."""
MESH = 33
"""Points along each side of a bounding box that is brought to a plane."""


def standing(frame: gpd.GeoDataFrame) -> str:
    """Return whether a frame still holds what its record is about: the "same" locations, a "part" of them, or "other".

    "unknown" where it cannot be told: without a record, for a release of dask's, and in another CRS.
    """
    known, frame = recorded(frame.attrs).get("digest") or {}, drawn(frame)
    if "crs" not in known or frame.crs is None or crs_.label(frame.crs) != known["crs"]:
        return digest.UNKNOWN
    return digest.compare(known, shapely.get_coordinates(np.asarray(frame.geometry.values)))


def promised(frame: gpd.GeoDataFrame) -> Guarantee:
    """Return what a perturbed frame promises, read from its attrs; warn if its locations have changed since."""
    guarantee = Guarantee.from_attrs(frame.attrs)
    if standing(frame) == digest.OTHER:
        warn(
            "The locations of this frame are not those that perturb() returned, which its record describes: it says "
            "nothing of these. Use the frame that perturb() returned.",
            PrivacyWarning,
        )
    return guarantee


@sealed
def displacement(original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame) -> pd.Series:
    """Return the distance in metres between each location and its report.

    One value a location, labelled with the index of its row; rows without a location have none.
    """
    before, after = aligned(original, perturbed)
    a, b = shapely.get_coordinates(before.geometry), shapely.get_coordinates(after.geometry)
    metres = crs_.metres_between(original.crs, a, crs_.transform(b, perturbed.crs, original.crs))
    counts = shapely.get_num_coordinates(before.geometry.values)
    return pd.Series(metres, index=before.index.repeat(counts), name="displacement")


def aligned(original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame) -> tuple[gpd.GeoDataFrame, gpd.GeoDataFrame]:
    """Return the rows that hold locations in both a frame and its release, in the order of the frame.

    Rows belong together by their index. Where that is only their number, as in most files, a release that was sorted is
    brought back into the order of the frame by its trajectories and times.
    """
    frames.check(perturbed, "perturbed frame")
    original, _, _ = as_frame(original, _record(perturbed).get("trajectory"), _record(perturbed).get("time"))
    frames.check(original, "original frame")
    original = _reported(original, perturbed)
    if not original.index.equals(perturbed.index):
        if not (original.index.is_unique and perturbed.index.is_unique):
            raise InputError("The frames differ in their index; compare a frame with its own release.")
        alike = len(original) == len(perturbed) and original.index.nlevels == perturbed.index.nlevels
        if not alike or not perturbed.index.isin(original.index).all():
            raise InputError("The frames differ in their index; select the same rows of both.")
        perturbed = perturbed.loc[original.index]
    elif isinstance(original.index, pd.RangeIndex):
        perturbed = _in_order(original, perturbed)
    before, after = (shapely.get_num_coordinates(frame.geometry.values) for frame in (original, perturbed))
    both = (before > 0) & (after > 0)
    if not np.array_equal(before[both], after[both]):
        raise InputError(
            "The frames differ in the number of locations of some rows; compare a frame with its own release."
        )
    return (original, perturbed) if both.all() else (original[both], perturbed[both])


def _reported(original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return the rows of a frame that a release has, if a schedule left out the others."""
    schedule = _record(perturbed).get("schedule") or {}
    if not schedule or schedule.get("fill") is not None or len(original) <= len(perturbed):
        return original
    same = original.index.is_unique and perturbed.index.isin(original.index).all()
    if same and not _is_numbered_anew(perturbed):
        return original.loc[perturbed.index]
    record = _record(perturbed)
    known = [cast(str, record[name]) for name in ("trajectory", "time") if record.get(name) is not None]
    names = [name for name in known if name in original and name in perturbed]
    here, there = (_hashes(frame, names) for frame in (original, perturbed))
    found = original[np.isin(here, there)] if names else original
    return found.set_axis(perturbed.index) if len(found) == len(perturbed) else original


def _is_numbered_anew(frame: gpd.GeoDataFrame) -> bool:
    """Return whether the index of a frame is only the number of each row."""
    return isinstance(frame.index, pd.RangeIndex) and frame.index.equals(pd.RangeIndex(len(frame)))


def _in_order(original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return the release in the order of the frame if it has the same trajectories and times in another one."""
    record = _record(perturbed)
    columns = [record.get(name) for name in ("trajectory", "time")]
    names = [name for name in columns if name is not None and name in original and name in perturbed]
    if not names:
        return perturbed
    here, there = (_hashes(frame, names) for frame in (original, perturbed))
    if np.array_equal(here, there):
        return perturbed
    one, other = (np.argsort(hashes, kind="stable") for hashes in (here, there))  # sorting keeps rows alike in order
    if not np.array_equal(here[one], there[other]):
        return perturbed
    rows = np.empty(len(one), dtype=np.int64)
    rows[one] = other
    return perturbed.iloc[rows].set_axis(original.index)


def _hashes(frame: gpd.GeoDataFrame, names: list[str]) -> np.ndarray:
    """Return a number for each row, the same for the same values in files of different kinds."""
    table = pd.DataFrame({name: frame[name] for name in names})
    for name, values in table.items():
        if pd.api.types.is_datetime64_any_dtype(values):
            table[name] = pd.to_datetime(values, utc=True).dt.as_unit("us")
        elif pd.api.types.is_numeric_dtype(values):
            table[name] = values.astype(np.float64)
    return pd.util.hash_pandas_object(table, index=False).to_numpy()


@sealed
def compare(
    original: gpd.GeoDataFrame,
    perturbed: gpd.GeoDataFrame,
    *,
    metrics: str | Sequence[str] = DISPLACEMENT,
    by: str | None = None,
    within: Sequence[float] = measures.WITHIN,
    places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
) -> pd.Series | pd.DataFrame:
    """Summarise what the perturbation cost.

    Parameters
    ----------
    original, perturbed : GeoDataFrame
        A frame and what `perturb` made of it.
    metrics : list of str
        Of the displacements, in metres: "ae" (their mean, the paper's average error), "median", "p95", "max", and
        "rqp" (range-query preservation: the share of reports within a distance). These five are the default.
        Of each trajectory, and on average: "hausdorff" and "frechet" (metres), "hotspots" (lost visits of the 20% most
        visited places). Of the whole: "range_query" (relative error of counts in boxes), and the divergences "grid" (of
        where locations are), "origin_destination" and "trip_length", from 0 for none to 1. `geotracs.metrics` defines
        them. A trajectory is what was one for `perturb`.
    by : str, optional
        "trajectory" for one row per trajectory (the column given to `perturb`, or each line), or a column of
        ``original``.
    within : sequence of float
        Distances in metres for "rqp".
    places : GeoDataFrame or GeoSeries, optional
        The places among which "hotspots" are; each location counts for the nearest. By default the cells of a grid.

    Returns
    -------
    Series or DataFrame
        A value for each metric ("rqp" has one for each distance), or a row of them for each group. The result is
        computed from the original locations: it is not covered by the guarantee. ``attrs["release"]`` of a series
        says method, epsilon and, where it is not pure eps-LDP, the kind of privacy.

    Notes
    -----
    Displacements are measured along the ellipsoid. The other metrics are measured on a plane, in a working CRS made
    for the domain on record or, if there is none, for the extent of both frames, over which grid and boxes are laid.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> private = city.tracks.tracs.perturb(
    ...     8, domain=city.boundary.total_bounds, trajectory="person", time="t", keep=[]
    ... )
    >>> list(compare(city.tracks, private).index)
    ['ae', 'median', 'p95', 'max', 'rqp_100', 'rqp_500', 'rqp_1000', 'rqp_5000']
    >>> compare(city.tracks, private, metrics=["ae", "hausdorff"], by="trajectory").shape
    (3, 2)
    """
    chosen = chosen_metrics(metrics)
    within = np.atleast_1d(within).tolist()
    original, perturbed = aligned(original, perturbed)
    metres = displacement(original, perturbed)
    planar = [name for name in chosen if name not in DISPLACEMENT]
    trajectory = _trajectory(original, perturbed, by, planar)
    pair = cast(Pair, _pair(original, perturbed, trajectory, places) if planar else None)
    if by is None:
        values = measures.summary(metres.to_numpy(), within) | {name: _overall(name, pair) for name in planar}
        result = pd.Series(values, name="metres" if METRES.issuperset(chosen) else "value")
        result = result[result_columns(chosen, values)]
        result.attrs = {"release": caption(recorded(perturbed.attrs))} if recorded(perturbed.attrs) else {}
        return result
    labels = _labels(original, perturbed, by)
    groups = metres.groupby(_of_locations(labels, original), sort=False, dropna=False)
    table = pd.DataFrame({label: measures.summary(part.to_numpy(), within) for label, part in groups}).T
    for name in planar:
        table[name] = pd.Series(METRICS[name].measure(pair), dtype=float).groupby(labels[pair.rows], sort=False).mean()
    table.index.name = by
    return table[result_columns(chosen, table.columns)]


def metric_names() -> list[str]:
    """Return the names of all metrics."""
    return [*DISPLACEMENT, *METRICS]


def chosen_metrics(metrics: str | Sequence[str]) -> list[str]:
    """Return the names of metrics, each once; raise on unknown names."""
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    known = metric_names()
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise InputError(f"`metrics` must be some of {known}, got {quoted(unknown[0] if unknown else names)}.")
    return list(dict.fromkeys(names))


def result_columns(chosen: Sequence[str], available: Iterable[str]) -> list[str]:
    """Return the names of the results, of which "rqp" has several."""
    return [column for name in chosen for column in available if column == name or column.startswith(f"{name}_")]


def _overall(name: str, pair: Pair) -> float:
    values = METRICS[name].measure(pair)
    if METRICS[name].of == "whole":
        return values
    return float(np.mean(values)) if len(values) else np.nan


def _trajectory(
    original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame, by: str | None, planar: Sequence[str]
) -> str | None:
    """Return the trajectory column: the one on record or, without one, ``by``; raise for other groups."""
    recorded = _record(perturbed).get("trajectory")
    if by is None or (by == "trajectory" and by not in original.columns) or not planar:
        own = recorded
    elif recorded is not None and by != recorded:
        raise InputError(f'{planar[0]!r} is a metric of whole trajectories; use by="trajectory", or leave `by` out.')
    else:
        own = by
    overall = [name for name in planar if METRICS[name].of == "whole"]
    if overall and by is not None:
        raise InputError(f"{overall[0]!r} is a metric of all trajectories together; leave `by` out.")
    return own


def _pair(original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame, trajectory: str | None, places: Any) -> Pair:
    """Bring both frames, rows aligned, to a plane, trajectory after trajectory."""
    flat = gpd.array.GeometryArray(shapely.force_2d(np.asarray(original.geometry.values)), crs=original.crs)
    record = _record(perturbed)
    time = record.get("time") if record.get("time") in original.columns else None
    tracks = frames.read(original.set_geometry(flat), trajectory, time)
    reports = shapely.get_coordinates(perturbed.geometry.values)
    reports = reports if tracks.order is None else reports[tracks.order]
    corners, crs = _recorded_extent(record.get("domain") or {})
    if corners is None:
        reported = crs_.transform(reports, perturbed.crs, original.crs)
        corners, crs = np.concatenate([tracks.xy, reported]), original.crs
    plane = crs_.metric_crs(crs, corners)
    a, b, corners = (
        _on_plane(xy, source, plane)
        for xy, source in ((tracks.xy, original.crs), (reports, perturbed.crs), (corners, crs))
    )
    bounds = (*corners.min(axis=0).tolist(), *corners.max(axis=0).tolist()) if len(corners) else (0.0, 0.0, 1.0, 1.0)
    visits = _visits(a, b, bounds, places, plane)
    offsets = cast(np.ndarray, tracks.offsets)  # they were read trajectory after trajectory
    return Pair(a, b, offsets, bounds, tracks.rows[offsets[:-1]], visits)


def _record(perturbed: gpd.GeoDataFrame) -> Mapping[str, Any]:
    return recorded(perturbed.attrs)


def _recorded_extent(domain: Mapping[str, Any]) -> tuple[np.ndarray | None, Any]:
    """Return points all over the bounding box on record, since its corners alone are not its extent on a plane."""
    if domain.get("kind") == "globe" or not {"bounds", "crs"} <= set(domain):
        return None, None
    crs = crs_.parse(domain["crs"])
    west, south, east, north = domain["bounds"]
    if west > east:  # across the antimeridian
        east += crs_.turn(crs)
    x, y = np.meshgrid(np.linspace(west, east, MESH), np.linspace(south, north, MESH))
    return np.column_stack([x.ravel(), y.ravel()]), crs


def _on_plane(xy: np.ndarray, crs: Any, plane: Any) -> np.ndarray:
    moved = crs_.transform(xy, crs, plane) * plane.axis_info[0].unit_conversion_factor
    nowhere = np.count_nonzero(~np.isfinite(moved).all(axis=1))
    if nowhere:
        raise CRSError(f"{nowhere} of {len(xy)} locations cannot be projected to the plane that metrics use.")
    return moved


def _visits(
    before: np.ndarray, after: np.ndarray, bounds: measures.Bounds, places: Any, plane: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the place of each location and of each report: the nearest, or the cell of a grid if none are given."""
    if places is None:
        return measures.grid_cells(before, bounds), measures.grid_cells(after, bounds)
    if not isinstance(places, (gpd.GeoDataFrame, gpd.GeoSeries)) or places.crs is None:
        raise InputError(f"`places` must be a GeoDataFrame or GeoSeries with a CRS, got {type(places).__name__}.")
    shapes = np.asarray(places.geometry.to_crs(plane).values)
    shapes = shapely.force_2d(shapes[np.isfinite(shapely.bounds(shapes)).all(axis=1)])  # NaN if missing or empty
    if len(shapes) == 0:
        raise InputError("`places` has no place with a geometry near the locations.")
    factor = plane.axis_info[0].unit_conversion_factor
    shapes = shapely.transform(shapes, lambda xy: xy * factor)
    points = np.all(shapely.get_type_id(shapes) == frames.POINT)
    nearest = Points(shapely.get_coordinates(shapes)) if points else Shapes(shapes)
    return nearest.round(before)[0], nearest.round(after)[0]


def group_labels(original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame, by: str) -> np.ndarray:
    """Return the group of each displacement."""
    original, perturbed = aligned(original, perturbed)
    return _of_locations(_labels(original, perturbed, by), original)


def _of_locations(labels: np.ndarray, frame: gpd.GeoDataFrame) -> np.ndarray:
    return np.repeat(labels, shapely.get_num_coordinates(frame.geometry.values))


def _labels(original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame, by: str) -> np.ndarray:
    if not isinstance(by, str):
        raise InputError(f"`by` must be the name of a column, got {type(by).__name__}.")
    if by == "trajectory" and by not in original.columns:
        recorded = _record(perturbed).get("trajectory")
        if recorded is None:
            if set(original.geom_type.dropna()) == {"LineString"}:
                return original.index.to_numpy()
            raise InputError(
                'by="trajectory" needs to know which column says it: the release has none on record. Give its name, '
                'e.g. by="person"; if the release lost its record, see geotracs.with_record.'
            )
        by = recorded
    if by not in original.columns:
        raise InputError(f'`by` must be "trajectory" or a column of the original frame, got {by!r}.')
    if isinstance(original[by].dtype, gpd.array.GeometryDtype):
        raise InputError(f"`by` must be a column of labels, and {by!r} holds locations, which the result would show.")
    return original[by].to_numpy()
