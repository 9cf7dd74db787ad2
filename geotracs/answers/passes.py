"""Releases larger than memory: one pass over a file or a dask frame counts the reports in each bin; that is enough."""

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pyarrow.compute as pc
import pyproj

import geotracs.core.digest as digests
import geotracs.core.methods as methods
import geotracs.geo.crs as crs_
import geotracs.geo.tracks as frames
import geotracs.io.files as files
import geotracs.release.again as again
from geotracs.answers.bins import Bins
from geotracs.answers.operators import Observed
from geotracs.answers.reader import Reader
from geotracs.answers.states import States
from geotracs.core.digest import Digest
from geotracs.core.guarantee import Guarantee
from geotracs.errors import InputError
from geotracs.geo.filling import drawn
from geotracs.geo.schedule import FILLED
from geotracs.io.progress import bar, wanted
from geotracs.release.file.release import read as read_table

ROWS = 2**18
"""How many rows of a file are in memory at a time."""

Counted = Callable[[np.ndarray], tuple[np.ndarray, Digest]]


@dataclass(frozen=True)
class File:
    """A file with a release, and how it is read."""

    path: str | Path
    layer: str | None = None
    allow_remote: bool = False

    def guarantee(self) -> Guarantee:
        """Return its record, without reading its rows."""
        record = files.record(self.path, layer=self.layer, allow_remote=self.allow_remote)
        return Guarantee.from_attrs({"tracs": record})


def read(data: Any, **layers: Any) -> Reader:
    """Read a release: a frame, a dask frame, a file or its path; ``layers`` are those of `Reader.of`."""
    if isinstance(data, (str, Path, File)):
        return _of_file(data if isinstance(data, File) else File(data), **layers)
    if hasattr(data, "to_delayed") and hasattr(data, "_meta"):
        return _of_dask(data, **layers)
    return Reader.of(data, **layers)


def counts_suffice(guarantee: Guarantee) -> bool:
    """Return whether all that a release tells of a density is how many reports are in each bin."""
    alike = guarantee.unit == "location" and guarantee.column is None and not guarantee.repeat
    return alike and not methods.make(guarantee.method).sequential


@dataclass(frozen=True, eq=False, repr=False)
class Pass(Reader):
    """A release that is read by a pass over all of it whenever its reports are counted."""

    each: Callable[[Counted], Iterable[tuple[np.ndarray, Digest]]] = lambda work: ()
    """Applies a function of coordinates to every part of the release, and returns the results."""
    crs: pyproj.CRS | None = None
    """That of the release."""
    rows: int | None = None
    """How many rows it has, where that is known."""

    def observed(self, states: States) -> list[Observed]:
        """Return how often each bin was reported, and how likely it is from each state."""
        bins = self.bins(states)
        counts = self._counted(functools.partial(_counts, self.setting, cast(pyproj.CRS, self.crs), bins), bins.count)
        return [Observed(self._operator(states, bins, float(self.levels[0])), counts)]

    @functools.cached_property
    def total(self) -> int:
        """How many reports there are."""
        known = self.guarantee.locations
        return int(self._counted(_size, 1)[0]) if known is None or known != self.rows else known

    def _counted(self, work: Counted, size: int) -> np.ndarray:
        """Return the sum of counts over all parts; raise if these are not the locations of the record."""
        counts, found = np.zeros(size, dtype=np.int64), Digest()
        for part, own in self.each(work):
            counts, found = counts + part, found + own
        known = self.guarantee.digest or {}
        if (
            known.get("crs") == crs_.label(cast(pyproj.CRS, self.crs))
            and digests.compare_digest(known, found) == digests.OTHER
        ):
            raise InputError(
                "The locations of this release are not those that its record describes: nothing can be estimated from "
                "them. Use what perturb wrote, or some of its rows."
            )
        return np.asarray(counts)


def _counts(setting: again.Setting, crs: pyproj.CRS, bins: Bins, xy: np.ndarray) -> tuple[np.ndarray, Digest]:
    moved = np.ascontiguousarray(crs_.transform(xy, crs, setting.region.crs))
    return np.bincount(bins.label(setting.channel.release.known(moved)), minlength=bins.count), Digest.of(xy)


def _size(xy: np.ndarray) -> tuple[np.ndarray, Digest]:
    return np.array([len(xy)]), Digest.of(xy)


def _of_file(file: File, **layers: Any) -> Pass:
    guarantee = file.guarantee()
    source = files.open_source(file.path, layer=file.layer, allow_remote=file.allow_remote)

    filled = bool(guarantee.schedule.get("fill")) and FILLED in source.schema.names

    def each(work: Counted) -> Iterator[tuple[np.ndarray, Digest]]:
        with source.reading(), bar(source.rows, wanted(), " rows", "Counting") as advance:
            for table in source.tables(ROWS, [source.geometry, FILLED]):
                table = table if not filled else table.filter(pc.invert(pc.fill_null(table[FILLED], False)))
                tracks = read_table(source, table, None)
                if len(tracks.xy):
                    yield work(tracks.xy)
                advance(len(table))

    return replace(_pass(guarantee, source.crs, each, layers), rows=None if filled else source.rows)


def _of_dask(ddf: Any, **layers: Any) -> Pass:
    import dask

    guarantee = Guarantee.from_attrs(ddf._meta.attrs)

    def each(work: Counted) -> Iterable[tuple[np.ndarray, Digest]]:
        parts = ddf[[name for name in ddf.columns if name in (ddf._meta.geometry.name, FILLED)]].to_delayed()
        return cast(Any, dask.compute(*[dask.delayed(_of_frame)(part, work) for part in parts]))

    return _pass(guarantee, ddf.crs, each, layers)


def _of_frame(frame: gpd.GeoDataFrame, work: Counted) -> tuple[np.ndarray, Digest]:
    return work(frames.read(drawn(frame), grouped=False).xy)


def _pass(guarantee: Guarantee, crs: Any, each: Any, layers: Any) -> Pass:
    if guarantee.answer:
        raise InputError("This was computed from a release and is not the release itself; use what perturb wrote.")
    if crs is None:
        raise InputError("The release has no CRS; say which one its coordinates are in.")
    if guarantee.unit != "location" or guarantee.column is not None:
        raise InputError(
            "Of a release whose locations have epsilons of their own, counts in bins are not enough: read it into "
            "memory, e.g. with geotracs.files.read or compute()."
        )
    if guarantee.repeat:
        raise InputError(
            "Of a release whose rows share reports, counts in bins are not enough: read it into memory, e.g. with "
            "geotracs.files.read or compute()."
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
