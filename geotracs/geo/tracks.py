"""GeoDataFrame <-> arrays: locations in trajectory order, and back to rows."""

import gc
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.geo.columns as columns
import geotracs.geo.leaks as leaks
from geotracs.errors import CRSError, InputError, warn

POINT, LINE = 0, 1
GEOMETRY_TYPES = (
    "Point", "LineString", "LinearRing", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "Collection",
)  # fmt: skip
MONDAY = pd.Timestamp("1970-01-05")
"""Where weeks are counted from."""
SHOWN = 5
"""How many row labels an error names at most."""


@dataclass(frozen=True, repr=False)
class Tracks:
    """The locations of a frame, in the order of its rows or trajectory after trajectory.

    Attributes
    ----------
    xy : array of shape (n, 2)
        Locations in the frame's CRS; each coordinate is contiguous, which makes the arithmetic fast.
    codes : array of int
        The number of each row's trajectory, for the rows that hold locations: 0, 1, ... as they first appear.
    counts : array of int, or None
        How many locations each of these rows holds; None for points.
    times : array, or None
        The time of each of these rows.
    offsets : array of int, or None
        Where each trajectory begins, and n at the end; None when the locations are in the order of the rows.
    order : array of int, or None
        Which location of the frame each of `xy` is; None when they are in the frame's order.
    geometry : array of shapely geometries, or None
        The frame's geometries; missing and empty ones hold no location. None for those that come as coordinates.
    present : array of bool
        Which rows hold locations.
    units : array of int, or None
        The number of what shares an epsilon, such as a person, for each row that holds locations; None where that is
        its trajectory, or where nothing is shared.
    """

    xy: np.ndarray
    codes: np.ndarray
    counts: np.ndarray | None
    times: np.ndarray | None
    offsets: np.ndarray | None
    order: np.ndarray | None
    geometry: np.ndarray | None
    present: np.ndarray
    units: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"<Tracks of {len(self.xy)} locations>"

    @cached_property
    def lengths(self) -> np.ndarray:
        """Number of locations of each trajectory."""
        return np.diff(self.offsets) if self.offsets is not None else np.bincount(self.codes, self.counts).astype(int)

    @property
    def unit_codes(self) -> np.ndarray:
        """The number of the unit of each row that holds locations."""
        return self.codes if self.units is None else self.units

    @property
    def unit_lengths(self) -> np.ndarray:
        """Number of locations of each unit."""
        return self.lengths if self.units is None else np.bincount(self.units, self.counts).astype(int)

    @property
    def are_lines(self) -> bool:
        """Whether rows hold several locations."""
        return self.counts is not None

    @property
    def rows(self) -> np.ndarray:
        """Which row of the frame each of `xy` is in."""
        rows = np.flatnonzero(self.present)
        rows = rows if self.counts is None else np.repeat(rows, self.counts)
        return rows if self.order is None else rows[self.order]

    @property
    def row_starts(self) -> np.ndarray | None:
        """Where each row that holds locations begins in `xy`; None for points, which are rows of their own."""
        if self.counts is None:
            return None
        counts = self.counts if self.offsets is None else self.counts[self._row_order()]
        return np.append(0, np.cumsum(counts))[:-1]

    def grouped(self) -> "Tracks":
        """Return the locations trajectory after trajectory, each in the order of its times, then of its rows."""
        rows = _row_order(self.codes, self.times)
        codes, counts = self.codes, np.ones(len(self.codes), dtype=np.int64) if self.counts is None else self.counts
        order, xy = None, self.xy
        if rows is not None:
            order = _location_order(rows, counts)
            codes, counts, xy = codes[rows], counts[rows], np.asfortranarray(xy[order])
        first_rows = np.flatnonzero(np.diff(codes, prepend=-1))
        offsets = np.append(np.append(0, np.cumsum(counts))[first_rows], len(xy))
        return replace(self, xy=xy, order=order, offsets=offsets)

    def head(self, locations: int, rows: int) -> "Tracks":
        """Return the first locations, which are those of the first rows; only in the order of the frame."""
        present = self.present[:rows]
        few = np.count_nonzero(present)
        return replace(
            self,
            xy=self.xy[:locations],
            codes=self.codes[:few],
            counts=None if self.counts is None else self.counts[:few],
            times=None if self.times is None else self.times[:few],
            offsets=None if self.offsets is None else np.append(self.offsets[self.offsets < locations], locations),
            geometry=None if self.geometry is None else self.geometry[:rows],
            present=present,
            units=None if self.units is None else self.units[:few],
        )

    def per_unit(self, values: np.ndarray) -> np.ndarray:
        """Return the value of each location's unit."""
        return self.per_location(values) if self.units is None else self.of_rows(values[self.units])

    def per_location(self, values: np.ndarray) -> np.ndarray:
        """Return the value of each location's trajectory."""
        if self.offsets is not None:
            return np.repeat(values, self.lengths)
        return values[self.codes] if self.counts is None else np.repeat(values[self.codes], self.counts)

    def of_rows(self, values: np.ndarray) -> np.ndarray:
        """Return the value of each location's row, from one for each row that holds locations."""
        each = values if self.counts is None else np.repeat(values, self.counts)
        return each if self.order is None else each[self.order]

    def in_frame_order(self, values: np.ndarray) -> np.ndarray:
        """Return one value per location, in the order of the frame."""
        if self.order is None:
            return values
        moved = np.empty_like(values)
        moved[self.order] = values
        return moved

    def rebuild(self, xy: np.ndarray) -> np.ndarray:
        """Return the geometries with other coordinates; missing and empty ones stay as they are."""
        xy = self.in_frame_order(xy)
        geometry = self._geometry()
        if not self.are_lines and len(xy) == len(geometry):
            return _points(xy)
        rebuilt = geometry.copy()
        if not self.present.any():
            return rebuilt
        if self.are_lines:
            rebuilt[self.present] = shapely.set_coordinates(shapely.force_2d(geometry[self.present]), xy)
        else:
            rebuilt[self.present] = _points(xy)
        return rebuilt

    def _geometry(self) -> np.ndarray:
        """Return the frame's geometries; what was read as coordinates never needs them."""
        return cast(np.ndarray, self.geometry)

    def _row_order(self) -> np.ndarray | slice:
        rows = _row_order(self.codes, self.times)
        return slice(None) if rows is None else rows


def read(
    gdf: gpd.GeoDataFrame, trajectory: str | None = None, time: str | None = None, *, grouped: bool = True
) -> Tracks:
    """Return the locations of a frame of points or lines.

    Points are grouped by the ``trajectory`` column (without one they are one trajectory) and ordered by the ``time``
    column (without one, or where times are equal, by row). Each line is a trajectory unless ``trajectory`` groups them.
    With ``grouped=False`` they stay in the order of the rows.
    """
    check(gdf)
    names = [name for name in (trajectory, time) if name is not None]
    columns.check(gdf, names)
    geometry = np.asarray(gdf.geometry.values)
    kinds = shapely.get_type_id(geometry)
    xy = _plain_points(geometry, kinds)
    if xy is not None:
        present, counts = np.ones(len(geometry), dtype=bool), None
    else:
        present = ~((kinds < 0) | shapely.is_empty(geometry))
        kind = _check_types(kinds[present])
        xy = np.asfortranarray(shapely.get_coordinates(geometry))
        counts = None if kind == POINT else shapely.get_num_coordinates(geometry[present]).astype(np.int64)
        _check_finite(xy, counts, gdf.index[present])
    if np.any(shapely.get_coordinate_dimension(geometry) > 2):
        warn("Z and M values are dropped: only x and y are perturbed, and the others may be private.")
    tracks = _tracks(gdf, trajectory, time, xy, counts, geometry, present)
    return tracks.grouped() if grouped else tracks


def read_coordinates(
    table: pd.DataFrame,
    xy: np.ndarray,
    present: np.ndarray,
    counts: np.ndarray | None,
    trajectory: str | None,
    time: str | None,
) -> Tracks:
    """Return points, or lines of ``counts`` locations, in the order of the rows; the table has the other columns."""
    _check_finite(xy, counts, table.index[present])
    return _tracks(table, trajectory, time, xy, counts, None, present)


def _tracks(
    table: pd.DataFrame,
    trajectory: str | None,
    time: str | None,
    xy: np.ndarray,
    counts: np.ndarray | None,
    geometry: np.ndarray | None,
    present: np.ndarray,
) -> Tracks:
    codes = _codes(table, trajectory, present, POINT if counts is None else LINE)
    own = None if time is None else times(table, time)[present]
    return Tracks(xy, codes, counts, own, None, None, geometry, present)


def check(gdf: gpd.GeoDataFrame, name: str = "frame") -> None:
    """Raise unless this is a GeoDataFrame with an active geometry and a CRS."""
    if not isinstance(gdf, gpd.GeoDataFrame):
        kind = f"{type(gdf).__module__.partition('.')[0]}.{type(gdf).__name__}"
        raise InputError(f"The {name} must be a GeoDataFrame of geopandas, got a {kind}.")
    if gdf.active_geometry_name is None or gdf.active_geometry_name not in gdf.columns:
        raise InputError(f"The {name} has no active geometry column; choose one with gdf.set_geometry(...).")
    if (gdf.columns == gdf.active_geometry_name).sum() > 1:
        raise InputError(f"The {name} has several columns named {gdf.active_geometry_name!r}; rename all but one.")
    if gdf.crs is not None and gdf.crs.is_geocentric:
        raise CRSError(
            f"The {name} is in a geocentric CRS, where x and y are not a place; use gdf.to_crs('EPSG:4326')."
        )
    if gdf.crs is None:
        raise CRSError(f"The {name} has no CRS; say which one its coordinates are in, e.g. gdf.set_crs('EPSG:4326').")


def _points(xy: np.ndarray) -> np.ndarray:
    """Make points; the garbage collector waits while millions of objects are made: it would scan them repeatedly."""
    collected = gc.isenabled()
    gc.disable()
    try:
        return np.asarray(shapely.points(xy))
    finally:
        if collected:
            gc.enable()


def output(
    gdf: gpd.GeoDataFrame,
    geometry: np.ndarray,
    kept: list[str],
    added: pd.DataFrame | None = None,
) -> gpd.GeoDataFrame:
    """Return a new frame with the given geometries, only the kept columns, added ones for its points, and no attrs."""
    active = gdf.active_geometry_name
    out = gdf[[column for column in gdf.columns if column in {*kept, active}]].copy()
    for column in kept:
        if isinstance(out[column].dtype, pd.CategoricalDtype):  # unused categories may name people who are not in it
            out[column] = out[column].cat.remove_unused_categories()
    if isinstance(out.index, pd.MultiIndex):
        out.index = out.index.remove_unused_levels()
    elif isinstance(out.index, pd.CategoricalIndex):
        out.index = out.index.remove_unused_categories()
    out[active] = gpd.GeoSeries(gpd.array.GeometryArray(geometry, crs=gdf.crs), index=out.index)
    if added is not None:
        rows = np.flatnonzero(~(shapely.is_missing(geometry) | shapely.is_empty(geometry)))
        aligned = added.set_axis(rows).reindex(range(len(out))).set_axis(out.index)
        for position, column in enumerate(added.columns, start=out.columns.get_loc(active)):
            out.insert(position, column, aligned[column])
    out.attrs = {}
    return out


def _plain_points(geometry: np.ndarray, kinds: np.ndarray) -> np.ndarray | None:
    """Return the coordinates if all rows hold points, without asking anything else; None for other geometries."""
    if not len(kinds) or np.any(kinds != POINT):
        return None
    xy = np.array([shapely.get_x(geometry), shapely.get_y(geometry)]).T
    return xy if np.isfinite(xy.sum()) else None


def _check_types(types: np.ndarray) -> int:
    kinds, counts = np.unique(types, return_counts=True)
    if len(kinds) == 0:
        return POINT
    if len(kinds) == 1 and kinds[0] in (POINT, LINE):
        return int(kinds[0])
    names = [GEOMETRY_TYPES[kind] for kind in kinds]
    found = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True))
    raise InputError(
        f"The geometries must be all Point or all LineString, got {found}. Use gdf.explode() for multi-part "
        "geometries, and gdf.boundary or gdf.centroid for areas."
    )


def _check_finite(xy: np.ndarray, counts: np.ndarray | None, index: pd.Index) -> None:
    if np.isfinite(xy.sum()) or np.isfinite(xy).all():
        return
    rows = np.repeat(np.arange(len(index)), 1 if counts is None else counts)
    bad = np.bincount(rows, ~np.isfinite(xy).all(axis=1)) > 0
    raise InputError(
        f"{bad.sum()} row(s) have NaN or infinite coordinates, e.g. {_labels(index, bad)}; set their geometry to None "
        "or drop them."
    )


def _codes(gdf: pd.DataFrame, trajectory: str | None, present: np.ndarray, kind: int) -> np.ndarray:
    """Return the number of each present row's trajectory."""
    if trajectory is None:
        return np.zeros(present.sum(), dtype=np.int64) if kind == POINT else np.arange(present.sum())
    return labels(gdf, trajectory, present, "trajectory")


def labels(gdf: pd.DataFrame, column: str, present: np.ndarray, what: str) -> np.ndarray:
    """Return the number of each present row's label: 0, 1, ... as they first appear."""
    try:
        codes, _ = pd.factorize(gdf[column])
    except TypeError:
        raise InputError(f"The {what} column {column!r} holds lists or the like; labels are needed.") from None
    missing = (codes < 0) & present
    if missing.any():
        raise InputError(
            f"{missing.sum()} row(s) have no value in the {what} column {column!r}, e.g. "
            f"{_labels(gdf.index, missing)}; fill them in or drop them."
        )
    return codes if present.all() else pd.factorize(codes[present])[0]


def times(gdf: gpd.GeoDataFrame, time: str) -> np.ndarray:
    """Return the time column as sortable numbers."""
    column = gdf[time]
    if isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(column):
        raise InputError(f"The time column {time!r} must hold times or numbers, got {column.dtype}.")
    if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_timedelta64_dtype(column)):
        column = _parsed(column, time)
    missing = column.isna().to_numpy()
    if missing.any():
        raise InputError(
            f"{missing.sum()} row(s) have no value in the time column {time!r}, e.g. "
            f"{_labels(gdf.index, missing)}; fill them in or drop them."
        )
    return column.to_numpy() if pd.api.types.is_numeric_dtype(column) else column.astype("int64").to_numpy()


def seconds(gdf: pd.DataFrame, time: str) -> np.ndarray:
    """Return the time column in seconds: numbers as they are, durations, and dates since 1970.

    >>> dates = pd.DataFrame({"t": pd.to_datetime(["1970-01-01 00:01", "1970-01-01 00:02"]).as_unit("us")})
    >>> seconds(dates, "t").tolist()
    [60.0, 120.0]
    """
    numbers, column = times(gdf, time), gdf[time]
    if pd.api.types.is_numeric_dtype(column):
        return numbers.astype(np.float64)
    if not pd.api.types.is_timedelta64_dtype(column):
        column = _parsed(column, time).dt.as_unit("us")
        column = column - pd.Timestamp(0, tz=column.dt.tz).as_unit("us")
    return column.dt.total_seconds().to_numpy()


def clock(gdf: pd.DataFrame, time: str) -> np.ndarray:
    """Return the time column in seconds: numbers and durations as they are, and dates from a Monday on.

    Dates count by the clock on the wall, so that a day begins at midnight where the times are from.
    """
    numbers, column = times(gdf, time), gdf[time]
    if pd.api.types.is_numeric_dtype(column):
        return numbers.astype(np.float64)
    if pd.api.types.is_timedelta64_dtype(column):
        return column.dt.total_seconds().to_numpy()
    wall = _parsed(column, time).dt.tz_localize(None)
    return (wall - MONDAY).dt.total_seconds().to_numpy()


def _parsed(column: pd.Series, time: str) -> pd.Series:
    if pd.api.types.is_datetime64_any_dtype(column):
        return column
    try:
        parsed = pd.to_datetime(column, format="ISO8601")
    except pd.errors.OutOfBoundsDatetime:
        lost = (pd.to_datetime(column, format="ISO8601", errors="coerce").isna() & column.notna()).to_numpy()
        raise InputError(
            f"{lost.sum()} date(s) of the time column {time!r} are beyond the years 1678 to 2261 that can be held to "
            f"this precision, e.g. {_labels(column.index, lost)}; correct them, or drop the rows."
        ) from None  # pandas quotes the values
    except (ValueError, TypeError):
        raise InputError(
            f"The time column {time!r} does not hold times of one kind and time zone as of ISO 8601; convert it first, "
            f"e.g. pd.to_datetime(gdf[{time!r}], utc=True), or read the file with time_format=... or dayfirst=True."
        ) from None  # pandas quotes the values
    if not pd.api.types.is_datetime64_any_dtype(parsed):
        raise InputError(
            f"The time column {time!r} mixes time zones; convert it first, e.g. "
            f"pd.to_datetime(gdf[{time!r}], utc=True)."
        )
    return parsed.dt.as_unit("us")  # pandas would choose the unit by what it sees, and rows may come in batches


def _row_order(codes: np.ndarray, times: np.ndarray | None) -> np.ndarray | None:
    """Return the order by trajectory, then time, then row; None when the rows are in it already."""
    step = np.diff(codes)
    if times is None:
        return None if np.all(step >= 0) else np.argsort(codes, kind="stable")
    if np.all((step > 0) | ((step == 0) & (times[1:] >= times[:-1]))):
        return None
    return np.lexsort((times, codes))


def _location_order(rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the order of locations that puts rows of ``counts`` locations each in the order ``rows``."""
    if np.all(counts == 1):
        return rows
    begins = np.append(0, np.cumsum(counts))[rows]
    lengths = counts[rows]
    within = np.arange(lengths.sum()) - np.repeat(np.append(0, np.cumsum(lengths))[:-1], lengths)
    return np.repeat(begins, lengths) + within


def _labels(index: pd.Index, rows: np.ndarray) -> str:
    """Name a few rows: by label, or by position where labels could be coordinates themselves."""
    first = np.flatnonzero(rows)[:SHOWN]
    labels = index[first].tolist()
    if index.name not in leaks.CURVES and all(isinstance(label, int) for label in labels):
        return ", ".join(repr(label) for label in labels)
    return ", ".join(f"row {position}" for position in first)
