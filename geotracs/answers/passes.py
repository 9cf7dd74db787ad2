"""Releases larger than memory: one pass over a file or a dask frame counts the reports in each bin; that is enough."""

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pyproj

import geotracs.geo.crs as crs_
import geotracs.geo.tracks as frames
import geotracs.io.files as files
import geotracs.release.again as again
from geotracs.answers.bins import Bins
from geotracs.answers.operators import Observed
from geotracs.answers.reader import Reader
from geotracs.answers.states import States
from geotracs.core.guarantee import Guarantee
from geotracs.errors import InputError
from geotracs.release.file.release import read as read_table

ROWS = 2**18
"""How many rows of a file are in memory at a time."""

Counted = Callable[[np.ndarray], np.ndarray]


def read(data: Any, **layers: Any) -> Reader:
    """Read a release: a frame, a dask frame, or the path of a file; ``layers`` are those of `Reader.of`."""
    if isinstance(data, (str, Path)):
        return _of_file(data, **layers)
    if hasattr(data, "to_delayed") and hasattr(data, "_meta"):
        return _of_dask(data, **layers)
    return Reader.of(data, **layers)


@dataclass(frozen=True, eq=False, repr=False)
class Pass(Reader):
    """A release that is read by a pass over all of it whenever its reports are counted."""

    each: Callable[[Counted], Iterable[np.ndarray]] = lambda work: ()
    """Applies a function of coordinates to every part of the release, and returns the results."""
    crs: pyproj.CRS | None = None
    """That of the release."""

    def observed(self, states: States) -> list[Observed]:
        """Return how often each bin was reported, and how likely it is from each state."""
        bins = self.bins(states)
        work = functools.partial(_counts, self.setting, cast(pyproj.CRS, self.crs), bins)
        counts = sum(self.each(work), start=np.zeros(bins.count, dtype=np.int64))
        return [Observed(self._operator(states, bins, float(self.levels[0])), np.asarray(counts))]

    @functools.cached_property
    def total(self) -> int:
        """How many reports there are."""
        known = self.guarantee.locations
        return int(sum(int(count[0]) for count in self.each(_size))) if known is None else known


def _counts(setting: again.Setting, crs: pyproj.CRS, bins: Bins, xy: np.ndarray) -> np.ndarray:
    moved = np.ascontiguousarray(crs_.transform(xy, crs, setting.region.crs))
    return np.bincount(bins.label(setting.channel.release.known(moved)), minlength=bins.count)


def _size(xy: np.ndarray) -> np.ndarray:
    return np.array([len(xy)])


def _of_file(path: str | Path, **layers: Any) -> Pass:
    guarantee = Guarantee.from_attrs({"tracs": files.record(path)})
    source = files.open_source(path)

    def each(work: Counted) -> Iterator[np.ndarray]:
        with source.reading():
            for table in source.tables(ROWS, [source.geometry]):
                tracks = read_table(source, table, None)
                if len(tracks.xy):
                    yield work(tracks.xy)

    return _pass(guarantee, source.crs, each, layers)


def _of_dask(ddf: Any, **layers: Any) -> Pass:
    import dask

    guarantee = Guarantee.from_attrs(ddf._meta.attrs)

    def each(work: Counted) -> Iterable[np.ndarray]:
        parts = ddf[[ddf._meta.geometry.name]].to_delayed()
        found: Iterable[np.ndarray] = dask.compute(*[dask.delayed(_of_frame)(part, work) for part in parts])
        return found

    return _pass(guarantee, ddf.crs, each, layers)


def _of_frame(frame: gpd.GeoDataFrame, work: Counted) -> np.ndarray:
    return work(frames.read(frame, grouped=False).xy)


def _pass(guarantee: Guarantee, crs: Any, each: Callable[[Counted], Iterable[np.ndarray]], layers: Any) -> Pass:
    if crs is None:
        raise InputError("The release has no CRS; say which one its coordinates are in.")
    if guarantee.unit != "location" or guarantee.column is not None:
        raise InputError(
            "Of a release whose locations have epsilons of their own, counts in bins are not enough: read it into "
            "memory, e.g. with geotracs.files.read or compute()."
        )
    levels = np.array([guarantee.epsilon])
    setting = again.setting(guarantee, crs, levels, **layers)
    if setting.recipe.sequential:
        raise InputError(
            f"{setting.recipe.name} looks back at earlier reports, so that counts in bins are not enough: read some "
            "trajectories into memory, e.g. with geotracs.files.read or compute()."
        )
    nobody = frames.read(gpd.GeoDataFrame(geometry=[], crs=crs))
    return Pass(guarantee, setting, nobody, np.empty((0, 2)), guarantee.epsilon, each=each, crs=crs)
