"""A release engine from file to file: the reports of one person, the rows of all others, and what else OUT holds."""

import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from scipy.stats import ks_2samp

import geotracs.io.files as files
from geotracs.core.randomness import public_stream, words
from geotracs.errors import GeotracsError, InputError
from geotracs.geo.region import Region
from geotracs.trust import scan
from geotracs.trust.draws import choose, log_ratio
from geotracs.trust.findings import Check
from geotracs.trust.pairs import Promise

Engine = Callable[[Path, Path, int], object]
"""Takes the path of a file of locations, the path to write a release to, and a seed that it may use."""

PEOPLE = 9
"""How many people are in the file in which one location differs."""
OFF = 1e-3
"""How far made-up locations are off public ones, so that no public number is taken for one of them."""
KIND = ".parquet"
"""The kind of file that goes in and out."""


@dataclass(frozen=True, repr=False)
class Files:
    """A folder in which made-up people are released again and again."""

    engine: Engine
    region: Region
    folder: Path

    def write(self, xy: np.ndarray, name: str) -> Path:
        """Write locations, one per person, and return the path of the file."""
        path = self.folder / "in" / f"{name}{KIND}"
        path.parent.mkdir(exist_ok=True)
        return files.write(self._frame(xy), path, overwrite=True)

    def release(self, source: Path, seed: int) -> gpd.GeoDataFrame:
        """Let the engine release a file, and return what it wrote."""
        target = self.folder / "out" / f"private{KIND}"
        target.parent.mkdir(exist_ok=True)
        target.unlink(missing_ok=True)
        try:
            with warnings.catch_warnings(action="ignore"):  # of the seed, and of what made-up data lack
                self.engine(source, target, seed)
        except GeotracsError:
            raise
        except Exception as error:
            raise InputError(f"`engine` raised {type(error).__name__} on a file of made-up locations.") from error
        if not target.exists():
            raise InputError("`engine` wrote nothing to the second path that it was given.")
        return files.read(target)

    def reports(self, frame: gpd.GeoDataFrame) -> np.ndarray:
        """Return the locations of a release, in the working CRS."""
        xy = shapely.get_coordinates(frame.geometry.array)
        if len(xy) != len(frame) or not np.isfinite(xy).all():
            raise InputError("`engine` must write one point for each row, and all coordinates must be finite.")
        return np.asarray(self.region.enter(np.asfortranarray(xy)))

    def originals(self, xy: np.ndarray) -> np.ndarray:
        """Return locations as the file holds them."""
        return self.region.leave(np.asfortranarray(xy).copy(order="F"))

    def _frame(self, xy: np.ndarray) -> gpd.GeoDataFrame:
        table = {"person": [f"p{row:06d}" for row in range(len(xy))], "t": pd.Timestamp("2026-01-01 08:00")}
        points = shapely.points(self.originals(xy))
        return gpd.GeoDataFrame({**table, "note": shapely.to_wkt(points)}, geometry=points, crs=self.region.data_crs)


def check(
    engine: Engine,
    promise: Promise,
    region: Region,
    pair: np.ndarray,
    *,
    rows: int,
    releases: int,
    alarm: float,
    seed: int,
) -> list[Check]:
    """Return what releases of files show that differ in one location, or in the location of everybody."""
    domain = promise.domain
    public = np.concatenate([pair, domain.spread(4 * PEOPLE)])
    private = _moved_off(public, domain.centre)
    domain.project_inside(private)
    pair, others = private[:2], private[2:][:: max(1, (len(private) - 2) // PEOPLE)][: PEOPLE - 1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        own = Files(engine, region, Path(folder))
        found = [_crowd(own, promise, pair, rows, alarm / 2, seed)]
        found += _neighbours(own, pair, others, releases, alarm / 2, seed)
        return [*found, _scanned(own, np.concatenate([pair[:1], others]), seed)]


def _moved_off(xy: np.ndarray, centre: tuple[float, float]) -> np.ndarray:
    """Return locations a little nearer to the centre, with digits that nothing public has."""
    part = OFF * (1 + words(public_stream(), len(xy), np.uint64) / 2.0**64)
    return np.asfortranarray(xy + (np.array(centre) - xy) * part[:, None])


def _crowd(own: Files, promise: Promise, pair: np.ndarray, rows: int, alarm: float, seed: int) -> Check:
    """Everybody at the one location, or everybody at the other: each row is a draw."""
    reports = []
    sources = [own.write(np.repeat(xy[None], rows, axis=0), f"crowd{side}") for side, xy in enumerate(pair)]
    for number, source in enumerate((*sources, *sources)):
        one = own.reports(own.release(source, seed + number))
        if len(one) != rows:
            raise InputError(f"`engine` wrote {len(one):,} rows of a file that has {rows:,}.")
        reports.append(one)
    events = choose(reports[:2], promise, pair)
    best = 0.0
    for event, (first, second) in zip(events, ((2, 3), (3, 2)), strict=True):
        hits = [int(event(reports[side]).sum()) for side in (first, second)]
        best = max(best, log_ratio(hits[0], hits[1], rows, alarm / 2))
    allowed = float(promise.allowed(pair)[0, 1])
    tried = f"2 locations, {rows:,} rows each"
    return Check("file", "reports of a file, and of one with another location", best <= allowed, best, allowed, tried)


def _neighbours(
    own: Files, pair: np.ndarray, others: np.ndarray, releases: int, alarm: float, seed: int
) -> list[Check]:
    """One location differs: the rows of all other people, and the order of rows, may not depend on it."""
    target = len(others) // 2
    sources = [own.write(np.insert(others, target, pair[side], axis=0), f"one{side}") for side in (0, 1)]
    samples: list[list[np.ndarray]] = [[], []]
    orders: list[list[tuple[str, ...]]] = [[], []]
    for number in range(releases):
        for side in (0, 1):
            frame = own.release(sources[side], seed + number)
            order = tuple(frame["person"]) if "person" in frame else tuple(map(str, range(len(frame))))
            xy = own.reports(frame)[np.argsort(order, kind="stable")]
            if len(xy) != len(others) + 1:
                raise InputError(f"`engine` wrote {len(xy)} rows of a file that has {len(others) + 1}.")
            orders[side].append(order)
            samples[side].append(np.delete(xy, target, axis=0))
    same = all(np.array_equal(*both) for both in zip(*samples, strict=True))
    tried = f"{releases} releases of each of two files" + (", digit by digit the same" if same else "")
    ordered = Check("file", "order of the rows", orders[0] == orders[1], tried=f"{releases} releases of each")
    passed = same or _look_alike(np.array(samples[0]), np.array(samples[1]), alarm)
    return [Check("file", "rows of other people", passed, tried=tried), ordered]


def _look_alike(left: np.ndarray, right: np.ndarray, alarm: float) -> bool:
    """Return whether two samples of the rows of others have one distribution, by each coordinate and by their means."""
    views: Sequence[np.ndarray]
    views = [np.concatenate([side.reshape(len(side), -1), side.mean(axis=1)], axis=1) for side in (left, right)]
    tests = [ks_2samp(a, b).pvalue for a, b in zip(*(view.T for view in views), strict=True)]
    return bool(min(tests) > alarm / len(tests))


def _scanned(own: Files, xy: np.ndarray, seed: int) -> Check:
    """Look for originals in OUT and in all files beside it, in whatever way they may be stored."""
    frame = own.release(own.write(xy, "all"), seed)
    released, originals = shapely.get_coordinates(frame.geometry.array), own.originals(xy)
    inside = own.folder / "out"
    hits = scan.originals_in(inside, originals, released)
    count = sum(path.is_file() for path in inside.rglob("*"))
    passed = not hits and scan.same_locations(originals, released) == 0
    return Check("file", "original locations in the release and beside it", passed, tried=f"all bytes of {count} files")
