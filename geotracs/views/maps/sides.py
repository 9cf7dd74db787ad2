"""What a map shows of its frames: tracks in degrees, the same trajectories before and after, or a sample of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.geo.crs as crs_
import geotracs.geo.tracks as frames
import geotracs.views.maps.page as page
from geotracs.errors import InputError
from geotracs.utility.compare import aligned

DEGREES = "EPSG:4326"
FIRST = 10
"""How many columns are shown on hover, unless they are named."""
LONG = 80
"""How many letters of a value are shown."""


@dataclass(frozen=True)
class Side:
    """The tracks of one frame, before or after.

    Attributes
    ----------
    frame : GeoDataFrame
        Where they come from.
    lonlat : array of shape (n, 2)
        The locations drawn, trajectory after trajectory, in degrees.
    offsets : array of int
        Where each trajectory begins, and n at the end.
    rows : array of int
        Which row of the frame each location is in.
    times : array, optional
        When each was.
    are_lines : bool
        Whether rows hold several locations.
    total, trajectories : int
        How many locations and trajectories there are, drawn or not.
    """

    frame: gpd.GeoDataFrame = field(repr=False)
    lonlat: np.ndarray = field(repr=False)
    offsets: np.ndarray = field(repr=False)
    rows: np.ndarray = field(repr=False)
    times: np.ndarray | None = field(repr=False)
    are_lines: bool
    total: int
    trajectories: int

    @property
    def owner(self) -> np.ndarray:
        """The number of each location's trajectory."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def values(self, columns: bool | int | str | Sequence[str]) -> tuple[list[str], list[list[str]]]:
        """Return names of columns, and their values for each location, everything escaped for a page."""
        chosen = columns_of(self.frame, columns)
        if not chosen:  # whose rows older versions of pandas do not count
            return [], [[] for _ in self.rows]
        rows, which = np.unique(self.rows, return_inverse=True)
        table = self.frame[chosen].iloc[rows]
        texts = [[shown(value) for value in row] for row in table.itertuples(index=False, name=None)]
        return [page.text(column) for column in chosen], [texts[number] for number in which]


def columns_of(frame: gpd.GeoDataFrame, columns: bool | int | str | Sequence[str]) -> list[str]:
    """Return which columns are shown: the first ten, the first n, or those named that the frame has."""
    every = [column for column in frame.columns if column != frame.active_geometry_name]
    every = [column for column in every if not isinstance(frame[column], gpd.GeoSeries)]
    if columns is None or isinstance(columns, (bool, np.bool_)):
        return every[:FIRST] if columns else []
    if isinstance(columns, Integral):
        return every[:columns]
    chosen = [columns] if isinstance(columns, str) else list(cast(Sequence[str], columns))
    # A frame and its release share the list, and the release has fewer columns.
    return [column for column in chosen if column in every]


def read(
    original: gpd.GeoDataFrame, perturbed: gpd.GeoDataFrame | None, trajectory: str | None, time: str | None, most: int
) -> list[Side]:
    """Return what is drawn of a frame, and of its release if there is one: the same trajectories of both."""
    if perturbed is None:
        return unwrapped([_thinned(_side(original, original, trajectory, time), most)])
    before, after = aligned(original, perturbed)
    columns = [column for column in (trajectory, time) if column is not None]
    missing = [column for column in columns if column not in before.columns]
    if missing:
        raise InputError(f"The original frame has no column {missing[0]!r}; give `trajectory` and `time` of it.")
    labelled = gpd.GeoDataFrame(before[columns], geometry=after.geometry.values, crs=after.crs)
    sides = [_side(before, before, trajectory, time), _side(after, labelled, trajectory, time)]
    return unwrapped([_thinned(side, most) for side in sides])


def _side(frame: gpd.GeoDataFrame, labelled: gpd.GeoDataFrame, trajectory: str | None, time: str | None) -> Side:
    tracks = frames.read(labelled, trajectory, time)
    rows = tracks.rows
    lonlat = crs_.transform(tracks.xy, labelled.crs, crs_.parse(DEGREES))
    times = None if time is None else labelled[time].to_numpy()[rows]
    offsets = cast(np.ndarray, tracks.offsets)  # they were read trajectory after trajectory
    return Side(frame, lonlat, offsets, rows, times, tracks.are_lines, len(rows), len(tracks.lengths))


def _thinned(side: Side, most: int) -> Side:
    """Keep at most ``most`` locations: every n-th trajectory and, within a longer one, every n-th location."""
    if side.total <= most:
        return side
    lengths = np.diff(side.offsets)
    step = 1
    while step < len(lengths) and lengths[::step].sum() > most:
        step += 1
    chosen = np.arange(len(lengths)) % step == 0
    kept = np.flatnonzero(chosen[side.owner])
    kept = kept[:: -(-len(kept) // most)]
    lengths = np.bincount(side.owner[kept], minlength=len(lengths))
    return replace(
        side,
        lonlat=side.lonlat[kept],
        offsets=np.append(0, np.cumsum(lengths[lengths > 0])),
        rows=side.rows[kept],
        times=None if side.times is None else side.times[kept],
    )


def unwrapped(sides: list[Side]) -> list[Side]:
    """Unwrap longitudes beyond 180 degrees where the locations lie on both sides of the antimeridian."""
    whole = in_one_piece(np.concatenate([side.lonlat for side in sides]))
    parts = np.split(whole, np.cumsum([len(side.lonlat) for side in sides])[:-1])
    return [replace(side, lonlat=part) for side, part in zip(sides, parts, strict=True)]


def in_one_piece(lonlat: np.ndarray) -> np.ndarray:
    """Return locations with longitudes unwrapped beyond 180 degrees if they lie on both sides of the antimeridian."""
    longitude = lonlat[:, 0]
    if len(longitude) == 0 or np.ptp(longitude) < 180 or np.ptp(longitude % 360) > 180:
        return lonlat
    return np.column_stack([longitude % 360, lonlat[:, 1]])


def shown(value: Any) -> str:
    """Return a value of a frame as text for a page."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    words = f"{value:.10g}" if isinstance(value, float) else str(value)
    return page.text(words if len(words) <= LONG else f"{words[:LONG]}…")
