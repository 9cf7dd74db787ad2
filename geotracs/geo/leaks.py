"""Columns of a release that tell where its rows were: a courtesy, not a proof, and only for warnings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from shapely.geometry.base import BaseGeometry

import geotracs.geo.crs as crs_
from geotracs.errors import PrivacyWarning, warn
from geotracs.geo.originals import evenly

ROWS = 10_000
"""How many rows of a frame are looked at, evenly chosen..."""
READ = 1_000
"""...and how many of these are searched for numbers."""
EXPLAINED = 0.998
"""Numbers tell where rows are if an affine map of x and y explains this share of their variance..."""
BETTER = 10
"""...and leaves at most a tenth of what the order of the rows and their times leave unexplained."""
FITTING = 0.9
"""The share of the numbers that has to fit. Others may be typing errors, or stand for a missing value."""
FEW = 10
"""Fewer different numbers than this fit anything; they are only compared with the coordinates themselves."""
HUGE = 1e30
"""No coordinate is as large, whatever its unit; the digits of an identifier may be."""
ENDS, LONG = 8, 300
"""How many numbers are read at the beginning and at the end of a text, and in how many characters there."""
CELLS = 8
"""Labels are compared with a grid of this many columns and rows, all with equally many locations..."""
PINNED = 0.5
"""...and pin locations down if they do so for this share of the rows. Measured on real check-ins and simulated GPS
tracks, in any order of the rows: 0.99 for venues, 0.7 for squares of 200 m; 0.23 for trips, at most 0.05 for people."""
CURVES = ("hilbert_distance", "morton_distance", "geohash")
"""Names of columns that tell where a row is, and of the index that `spatial_shuffle` gives a dask frame."""

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_NUMPY = re.compile(r"np\.\w+\(")
_WKT = re.compile(r"\s*(SRID=\d+;)?\s*(MULTI)?(POINT|LINESTRING|POLYGON)\s*(Z|M|ZM)?\s*\(", re.IGNORECASE)
_HEX = re.compile(r"0[01][0-9A-F]{40,}$", re.IGNORECASE)


def warn_of_columns(
    gdf: gpd.GeoDataFrame, names: Sequence[str], trajectory: str | None = None, time: str | None = None
) -> None:
    """Warn of what a release with these columns, and with the frame's index, tells about the original locations.

    Every column and index level is searched for the coordinates of its rows. All but the trajectory and the time are
    also searched for labels that pin locations down, such as the id of a venue.
    """
    released: list[tuple[str, pd.Series, str | None]] = [
        (f"The kept column {name!r}", gdf[name], name) for name in names
    ]
    if not isinstance(gdf.index, pd.RangeIndex):
        levels = gdf.index.to_frame(index=False)
        released += [(f"The index level {name!r}", values, None) for name, values in levels.items()]
    if not released:
        return
    rows = Rows.of(gdf, trajectory, time)
    for what, values, name in released:
        label = name is None or name not in (trajectory, time)
        if holds_locations(rows, values, only_equal=not label and name == time):
            warn(
                f"{what} holds the original locations, so the release does too; leave it out, an index with "
                "reset_index(drop=True).",
                PrivacyWarning,
            )
        elif label and (share := pinned_share(rows, values)) >= PINNED:
            warn(
                f"{what} pins down the location of {int(100 * share)}% of the rows whose value occurs more than once: "
                f"each of these values is found in one cell only of a grid of {CELLS} by {CELLS} over the data. "
                "Whoever knows what a value stands for knows the place; leave it out, an index with "
                "reset_index(drop=True), or keep something coarser, such as the kind of place.",
                PrivacyWarning,
            )


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Where some rows of a frame are, to compare their other columns with.

    Attributes
    ----------
    which, read : arrays of int
        The rows that are looked at, all with a location; and those of them that are searched for numbers.
    places : list of arrays of shape (n, 2)
        Where all of them are; lines are at their first vertex, at their last one, and at their centroid.
    along : array of int
        The order trajectory after trajectory, each by its times.
    order : array
        The number of each row that is read and, if it is known, its time.
    written : array
        The coordinates of each row that is read in all CRSs in which someone may have written them down.
    bases : list of arrays of shape (n, 2)
        The same coordinates, without those that are nearly affine maps of others.
    """

    which: np.ndarray
    read: np.ndarray
    places: list[np.ndarray]
    along: np.ndarray
    order: np.ndarray
    written: np.ndarray
    bases: list[np.ndarray]

    @classmethod
    def of(cls, gdf: gpd.GeoDataFrame, trajectory: str | None = None, time: str | None = None) -> "Rows":
        """Look at some rows of a frame."""
        which = evenly(len(gdf), ROWS)
        geometry = np.asarray(gdf.geometry.values)[which]
        present = ~(shapely.is_missing(geometry) | shapely.is_empty(geometry))
        which, places = which[present], _places(geometry[present])
        finite = np.isfinite(np.column_stack(places)).all(axis=1)
        which, places = which[finite], [xy[finite] for xy in places]
        some = evenly(len(which), READ)
        own = np.zeros(len(which)) if trajectory is None else _codes(gdf[trajectory].iloc[which])
        times = np.zeros(len(which)) if time is None else _as_times(gdf[time].iloc[which])
        pairs = [xy[some] for xy in places]
        if len(some):
            others = crs_.common_crs(gdf.crs, pairs[0])
            pairs += [crs_.transform(xy, gdf.crs, other) for other in others for xy in pairs]
        pairs = [xy for xy in pairs if np.isfinite(xy).all()]
        return cls(
            which=which,
            read=which[some],
            places=places,
            along=np.lexsort((which, times, own)),
            order=np.column_stack([which, times])[some],
            written=np.column_stack(pairs),
            bases=_bases(pairs),
        )


def holds_locations(rows: Rows, values: pd.Series, only_equal: bool = False) -> bool:
    """Return whether a column holds geometries, or numbers that tell a coordinate of each row.

    Its numbers are looked at, or those in its texts, lists and dicts. They tell a coordinate if they (nearly) equal
    one, in the frame's CRS or a common one, or if they are an affine map of x and y: negated, shifted, scaled, rotated.

    Whatever grows with the rows or with time, such as a running number or an odometer, is an affine map of x, too, if
    somebody moves straight on. So numbers count only if x and y explain them much better than the order does; and
    for the time itself, which is always released, only equality counts (``only_equal``).
    """
    if values.name in CURVES or isinstance(values.dtype, gpd.array.GeometryDtype):
        return True
    values = values.iloc[rows.read]
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype)
    if values.dtype.kind in "bmM":  # yes or no, and times
        return False
    if values.dtype.kind in "iuf":
        return _tell(rows, values.to_numpy(dtype=np.float64, na_value=np.nan), only_equal)
    objects = values.tolist()
    return _are_geometries(objects) or any(_tell(rows, found, only_equal) for found in _numbers_in(objects))


def pinned_share(rows: Rows, values: pd.Series) -> float:
    """Return the share of rows whose label tells the place: its value occurs in only one cell of a grid.

    Among the rows whose value occurs at least twice, not counting what follows itself along a trajectory: the number
    of a trip, or the fixes of a minute, lie together without telling where. 0 for what is no label (fractions, times),
    where few values occur twice, and where so many rows lie in one cell that any labels would seem to tell.
    """
    values = values.iloc[rows.which]
    if not _are_labels(values):
        return 0.0
    codes = _codes(values)[rows.along]
    shuffled = np.random.default_rng(0).permutation(len(codes))
    shares = [0.0]
    for xy in rows.places:
        cells = _cells(xy)[rows.along]
        share, by_chance = (_share_in_one_cell(codes, where) for where in (cells, cells[shuffled]))
        shares.append(share if share >= 2 * by_chance else 0.0)
    return max(shares)


def _places(geometry: np.ndarray) -> list[np.ndarray]:
    kinds = set(shapely.get_type_id(geometry).tolist())
    where = [geometry if kinds == {shapely.GeometryType.POINT} else shapely.centroid(geometry)]
    if kinds == {shapely.GeometryType.LINESTRING}:
        where += [shapely.get_point(geometry, end) for end in (0, -1)]
    return [np.column_stack([shapely.get_x(points), shapely.get_y(points)]) for points in where]


def _bases(pairs: list[np.ndarray]) -> list[np.ndarray]:
    bases: list[np.ndarray] = []
    for xy in pairs:
        known = any(max(_unexplained(xy[:, axis], base) for axis in (0, 1)) < (1 - EXPLAINED) / 100 for base in bases)
        bases += [] if known else [xy]
    return bases


def _tell(rows: Rows, numbers: np.ndarray, only_equal: bool) -> bool:
    """Return whether numbers tell a coordinate of the rows."""
    present = np.abs(numbers) < HUGE
    numbers = numbers[present]
    if not numbers.any():
        return False
    if _equal(numbers, rows.written[present]):
        return True
    if only_equal:
        return False
    left = min(_unexplained(numbers, xy[present]) for xy in rows.bases)
    if left > 1 - EXPLAINED:
        return False
    return max(left, 1e-12) * BETTER <= _unexplained(numbers, rows.order[present])


def _equal(numbers: np.ndarray, written: np.ndarray) -> bool:
    """Return whether most numbers are one of the coordinates, but for what rounding takes away."""
    low, middle, high = np.quantile(written, [0.25, 0.5, 0.75], axis=0)
    slack = np.maximum(0.04 * (high - low), 1e-5 * np.abs(middle))
    return bool(np.any(np.median(np.abs(written - numbers[:, None]), axis=0) <= slack))


def _unexplained(numbers: np.ndarray, by: np.ndarray) -> float:
    """Return the share of the variance that no affine map explains, without the numbers that fit it worst."""
    if len(numbers) < FEW:
        return 1.0
    by = by - by.mean(axis=0)
    scale = by.std(axis=0)
    design = np.column_stack([np.ones(len(by)), by[:, scale > 0] / scale[scale > 0]])
    numbers = numbers - np.median(numbers)
    fitting = np.arange(len(numbers))
    for _ in range(3):
        solution = np.linalg.lstsq(design[fitting], numbers[fitting], rcond=None)[0]
        residuals = np.abs(numbers - design @ solution)
        fitting = np.argsort(residuals, kind="stable")[: int(np.ceil(FITTING * len(numbers)))]
    if len(np.unique(numbers[fitting])) < FEW:
        return 1.0
    return float(np.mean(residuals[fitting] ** 2) / np.var(numbers[fitting]))


def _are_geometries(values: list[Any]) -> bool:
    """Return whether some values are geometries: objects, well-known text, or well-known binary as bytes or digits."""
    binary: list[bytes | str] = [bytes(value) for value in values if isinstance(value, (bytes, bytearray, memoryview))]
    texts = [value for value in values if isinstance(value, str)]
    if any(isinstance(value, BaseGeometry) for value in values) or any(_WKT.match(text) for text in texts):
        return True
    binary += [text for text in texts if _HEX.match(text)]
    shapes = shapely.from_wkb(np.array(binary, dtype=object), on_invalid="ignore")
    return any(shape is not None for shape in shapes)


def _numbers_in(values: list[Any]) -> Iterator[np.ndarray]:
    """Return the first number of each value, the second one, ... and the last ones; also degrees with minutes."""
    texts = [_text(value) for value in values]
    readings = [texts]
    if not any("." in text for text in texts) and any(_DECIMAL_COMMA.search(text) for text in texts):
        readings.append([_DECIMAL_COMMA.sub(".", text) for text in texts])
    for reading in readings:
        first = [_NUMBER.findall(text[:LONG])[:ENDS] for text in reading]
        last = [_NUMBER.findall(text[-LONG:])[: -ENDS - 1 : -1] for text in reading]
        counts = {len(found) for found in first}
        for found in [first] if len(counts) == 1 and max(counts) < ENDS else [first, last]:
            table = _table(found)
            yield from table.T
            if found is first:
                yield from _with_minutes(table)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return value if isinstance(value, str) else _NUMPY.sub("", str(value))


def _table(found: list[list[str]]) -> np.ndarray:
    """Return texts of numbers as columns, with NaN where there are fewer."""
    width = max(map(len, found), default=0)
    return np.array([[*map(float, row), *[np.nan] * (width - len(row))] for row in found]).reshape(len(found), width)


def _with_minutes(table: np.ndarray) -> Iterator[np.ndarray]:
    """Return numbers that follow each other as degrees, minutes and seconds; or as degrees and minutes."""
    for first in range(table.shape[1] - 1):
        degrees, minutes, seconds = (np.pad(np.abs(table), ((0, 0), (0, 1))).T[first + part] for part in range(3))
        sign = np.where(np.signbit(table[:, first]), -1, 1)
        for small in (minutes / 60, minutes / 60 + seconds / 3600):
            yield np.where((minutes < 60) & (seconds < 60), sign * (degrees + small), np.nan)


def _are_labels(values: pd.Series) -> bool:
    if values.dtype.kind == "f":  # as whole numbers are where some are missing
        return bool((values.dropna() % 1 == 0).all())
    return values.dtype.kind in "iuO"


def _share_in_one_cell(codes: np.ndarray, cells: np.ndarray) -> float:
    """Return the share of rows whose value is in only one cell, among repeated values; -1 is a missing value."""
    begins = codes[np.diff(codes, prepend=-1) != 0]
    codes, cells = codes[codes >= 0], cells[codes >= 0]
    rows = np.bincount(codes)
    repeated = np.bincount(begins[begins >= 0], minlength=len(rows)) > 1
    seen = np.unique(codes * CELLS**2 + cells) // CELLS**2
    alone = np.bincount(seen, minlength=len(rows)) == 1
    total = rows[repeated].sum()
    return float(rows[repeated & alone].sum() / total) if total >= FEW else 0.0


def _cells(xy: np.ndarray) -> np.ndarray:
    """Return the cell of each location, in a grid with as many locations in each column, and in each row."""
    if len(xy) == 0:
        return np.zeros(0, dtype=np.int64)
    parts = np.arange(1, CELLS) / CELLS
    column, row = (np.searchsorted(np.quantile(along, parts), along, side="right") for along in xy.T)
    return column * CELLS + row


def _codes(values: pd.Series) -> np.ndarray:
    """Number the values; -1 where one is missing."""
    try:
        return pd.factorize(values)[0].astype(np.int64)
    except (TypeError, NotImplementedError):  # lists and dicts, also Arrow's
        return pd.factorize(values.map(_text, na_action="ignore"))[0].astype(np.int64)


def _as_times(values: pd.Series) -> np.ndarray:
    """Return times as numbers where possible; only their order and differences matter."""
    if not (pd.api.types.is_numeric_dtype(values) or pd.api.types.is_timedelta64_dtype(values)):
        values = pd.to_datetime(values, errors="coerce", format="ISO8601", utc=True)
        values = values - values.min()
    if not pd.api.types.is_numeric_dtype(values):
        values = values.dt.total_seconds()
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isfinite(numbers), numbers, 0.0)
