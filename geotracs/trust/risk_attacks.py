"""The attacks: what somebody who has a release finds out about its people, beside what they could guess without it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.trust.risk_links as links
import geotracs.trust.risk_stay as stay_
from geotracs.answers.reader import Reader
from geotracs.answers.reconstruct import reconstruct
from geotracs.io.progress import step
from geotracs.trust.risk_found import Found, of_errors, of_hits, of_shares

WINDOW = 101
"""How many reports a rolling median is taken of..."""
BREAK = 10.0
"""...all of them before or after a pause that is so many times as long as the usual one."""
STAY_RADIUS, STAY_REPORTS = 100.0, 10
"""A stay is so many reports or more, of locations that are this near to the first, in metres."""
NIGHT, DAY = (22, 6), (9, 17)
"""When people are at home, and at work, by the hours of the time column."""
MIN_THERE = 3
"""From so many reports on a home or a place of work is looked for."""


@dataclass(frozen=True, eq=False, repr=False)
class Attacked:
    """A release, and the truth behind it, row by row in the order of its reader.

    Attributes
    ----------
    frame : GeoDataFrame
        The release.
    reader : Reader
        The release, as an attacker reads it.
    truth : array of shape (n, 2)
        Where people were, in the working CRS.
    person : array of int
        The number of the person of each row, from 0 on.
    hour : array or None
        The hour of the day, if the times have one.
    speed, stay, within, known, cells
        See `geotracs.risk`.
    layers : dict
        The public layers that a reader needs.
    """

    frame: gpd.GeoDataFrame
    reader: Reader
    truth: np.ndarray
    person: np.ndarray
    hour: np.ndarray | None
    speed: float
    stay: float
    within: float
    known: int
    cells: int
    layers: dict[str, object]

    def metres(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distance of each pair of locations of the working CRS, in metres."""
        domain = self.reader.region.domain
        return domain.distance(a, b) * (1.0 if domain.in_degrees else self.reader.metres)

    def away(self, found: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return how far what was found is from the truth, in metres."""
        return self.metres(self.truth[rows], found)

    def guess(self, truth: np.ndarray) -> np.ndarray:
        """Return the errors of the best guess that is the same for everybody: nothing of a release is needed for it."""
        one = stay_.geometric_median(truth)
        return self.metres(truth, np.broadcast_to(one, truth.shape).copy())

    @cached_property
    def baseline(self) -> np.ndarray:
        """The errors of the best guess that is the same for all locations."""
        return self.guess(self.truth)

    @cached_property
    def followed(self) -> np.ndarray:
        """Where each location was likely to be, by all reports of its trajectory, in the working CRS."""
        found = reconstruct(self.frame, speed=self.speed, stay=self.stay, cells=self.cells, **self.layers)  # type: ignore[arg-type]
        tracks, region = self.reader.tracks, self.reader.region
        points = found.geometry.to_crs(region.crs)[tracks.present]
        xy = np.column_stack([points.x, points.y])
        return xy if tracks.order is None else xy[tracks.order]

    @cached_property
    def plane(self) -> np.ndarray:
        """The truth on a plane, in metres."""
        if not self.reader.region.domain.in_degrees:
            return self.truth * self.reader.metres
        degree = self.reader.metres
        return self.truth * degree * np.column_stack([np.cos(np.radians(self.truth[:, 1])), np.ones(len(self.truth))])

    @cached_property
    def begins(self) -> np.ndarray:
        """Where a trajectory begins."""
        found = np.zeros(len(self.truth), dtype=bool)
        found[self.reader.offsets[:-1]] = True
        return found


def attacks(case: Attacked, kinds: Iterable[str] | None = None) -> Iterator[Found]:
    """Yield what each attack finds, or each of some kinds."""
    for kind in KINDS if kinds is None else kinds:
        step(f"Attacking: {kind}")
        yield from KINDS[kind](case)


def _report(case: Attacked) -> Iterator[Found]:
    yield of_errors("report", case.away(case.reader.xy), case.person, case.baseline)


def _averaging(case: Attacked) -> Iterator[Found]:
    yield of_errors("averaging", case.away(_rolling(case)), case.person, case.baseline)


def _tracking(case: Attacked) -> Iterator[Found]:
    yield of_errors("tracking", case.away(case.followed), case.person, case.baseline)


def _home_and_work(case: Attacked) -> Iterator[Found]:
    yield from _usual_place(case, "home", NIGHT)
    yield from _usual_place(case, "work", DAY)


def _linkage(case: Attacked) -> Iterator[Found]:
    seen = links.Seen.of(case.reader, case.person)
    for name, hits in (
        ("two releases", links.halves(seen)),
        ("known points", links.known(seen, case.truth, case.known)),
    ):
        if len(hits):
            yield of_hits(name, hits, 1 / len(hits))


def _within(case: Attacked) -> Iterator[Found]:
    chance = stay_.densest_share(case.plane, case.within)[1]
    for name, found in (("within, report", case.reader.xy), ("within, tracking", case.followed)):
        yield of_shares(name, case.away(found) <= case.within, case.person, chance)


def _rolling(case: Attacked) -> np.ndarray:
    """Return the median of the reports around each row, up to where nothing was reported for long."""
    times = cast(np.ndarray, case.reader.times)  # without times nothing is attacked
    seconds = np.diff(times, prepend=0.0)
    pause = BREAK * np.median(seconds[~case.begins]) if not case.begins.all() else 0.0
    groups = pd.DataFrame(case.reader.xy).groupby(np.cumsum(case.begins | (seconds > pause)), sort=False)
    return groups.rolling(WINDOW, center=True, min_periods=1).median().to_numpy()


def _stays(case: Attacked) -> Iterator[Found]:
    """Yield how well stays are found by the median of their reports, and by their posterior."""
    found = stay_.stays(case.plane, case.begins, STAY_RADIUS, STAY_REPORTS)
    if not found:
        return
    truth = np.array([case.truth[rows].mean(axis=0) for rows in found])
    person, baseline = case.person[[rows[0] for rows in found]], case.guess(truth)
    median = np.array([np.median(case.reader.xy[rows], axis=0) for rows in found])
    posterior = np.array([stay_.place(case.reader, rows) for rows in found])
    yield of_errors("stay, median", case.metres(truth, median), person, baseline)
    yield of_errors("stay, posterior", case.metres(truth, posterior), person, baseline)


def _usual_place(case: Attacked, name: str, hours: tuple[int, int]) -> Iterator[Found]:
    """Yield how well the place is found where people are at some hours of the day."""
    if case.hour is None:
        return
    first, last = hours
    there = (case.hour >= first) & (case.hour < last) if first < last else (case.hour >= first) | (case.hour < last)
    people, counts = np.unique(case.person[there], return_counts=True)
    people = people[counts >= MIN_THERE]
    if not len(people):
        return
    rows = [np.flatnonzero(there & (case.person == one)) for one in people]
    truth = np.array([np.median(case.truth[own], axis=0) for own in rows])
    found = np.array([stay_.place(case.reader, own) for own in rows])
    yield of_errors(name, case.metres(truth, found), people, case.guess(truth))


KINDS: dict[str, Callable[[Attacked], Iterator[Found]]] = {
    "report": _report,
    "averaging": _averaging,
    "stays": _stays,
    "tracking": _tracking,
    "home and work": _home_and_work,
    "linkage": _linkage,
    "within": _within,
}
"""All kinds of attacks; another one is a function here, and words for it in `risk_result`."""
