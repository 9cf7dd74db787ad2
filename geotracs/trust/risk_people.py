"""Made-up people on a public region: what a release is tried on before any data is touched."""

import math
from dataclasses import dataclass

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geotracs.answers.motion import LASTING
from geotracs.core.domains.globe import RADIUS
from geotracs.core.randomness import made_up
from geotracs.geo.region import Region

PERSON, TRIP, TIME = "person", "trip", "time"
"""The columns of made-up tracks."""
DAY = 86_400.0
SESSIONS = ((2.0, 0.25, 4.0), (8.0, 0.5, 2.0), (11.0, 0.25, 5.0))
"""When a night at home, a way and a time at work begin, which share of a day's fixes each has,
at most so many hours."""
DAYS = 2
"""At least so many days, so that one can be compared with another."""
JITTER = 0.4
"""Fixes are this part of the interval earlier or later."""
GPS = 5.0
"""How well somebody is located, in metres."""


@dataclass(frozen=True)
class Habits:
    """How made-up people are located and move.

    Attributes
    ----------
    interval : float
        Seconds between two fixes, on average.
    speed : float
        How fast people are at most, in metres per second.
    stay : float
        Which part of the time they rest on their way.
    people, fixes : int
        How many there are, and about how many fixes each has.
    """

    interval: float
    speed: float
    stay: float
    people: int
    fixes: int


def tracks(region: Region, habits: Habits, seed: int = 0) -> gpd.GeoDataFrame:
    """Return the fixes of people who have a home, a place of work and ways, all of them made up.

    Homes and places of work are spread over the region, or as its public prior is. Each day has a night at home, a way
    that leads anywhere, straight on for about a minute at a time, and a time at work; each is a trip.

    Examples
    --------
    >>> from geotracs.geo.optimum import public_setting
    >>> region, _ = public_setting((139.5, 35.5, 139.8, 35.8), None, prior=None, weight=None, crs="EPSG:4326")
    >>> made = tracks(region, Habits(interval=600, speed=10, stay=0.3, people=3, fixes=50))
    >>> made["person"].nunique(), list(made.columns)
    (3, ['person', 'trip', 'time', 'geometry'])
    """
    rng, domain = made_up(seed), region.domain
    ends = region.chart.spread(max(4096, 4 * habits.people))
    ends = ends[rng.permutation(len(ends))[: 2 * habits.people]]
    parts, trip = [], 0
    midnight = pd.Timestamp("2026-03-02")
    counts = [
        max(1, round(min(share * habits.fixes / DAYS, hours * 3600 / habits.interval))) for _, share, hours in SESSIONS
    ]
    for person in range(habits.people):
        home, work = ends[person], ends[person + habits.people]
        for day in range(max(DAYS, math.ceil(habits.fixes / sum(counts)))):
            for session, ((hour, _, _), count) in enumerate(zip(SESSIONS, counts, strict=True)):
                seconds = habits.interval * (np.arange(count) + rng.uniform(-JITTER, JITTER, count))
                where = np.zeros((count, 2)) if session != 1 else way(seconds - seconds[0], habits, rng)
                xy = (work if session == 2 else home) + _units(where + rng.normal(0, GPS, where.shape), home, region)
                begin = day * DAY + 3600 * hour
                parts.append((person, trip, begin + seconds, xy))
                trip += 1
    lengths = [len(seconds) for _, _, seconds, _ in parts]
    moved = domain.clip(np.asfortranarray(np.concatenate([xy for *_, xy in parts])))
    columns = {
        PERSON: np.repeat([person for person, *_ in parts], lengths),
        TRIP: np.repeat([trip for _, trip, *_ in parts], lengths),
        TIME: midnight + pd.to_timedelta(np.concatenate([seconds for _, _, seconds, _ in parts]), unit="s"),
    }
    return gpd.GeoDataFrame(columns, geometry=shapely.points(region.leave(moved)), crs=region.data_crs)


def way(seconds: np.ndarray, habits: Habits, rng: np.random.Generator) -> np.ndarray:
    """Return where somebody is at these times, in metres from where they began.

    They rest or keep a velocity for about a minute, and then turn, or do not.
    """
    legs = 4 + 2 * math.ceil(float(seconds[-1]) / LASTING)
    until = np.cumsum(rng.exponential(LASTING, legs))
    while until[-1] < seconds[-1]:
        until = np.append(until, until[-1] + rng.exponential(LASTING))
    count = len(until)
    turns = rng.choice([0.0, np.pi / 2, -np.pi / 2], count)
    direction = rng.uniform(0, 2 * np.pi) + np.cumsum(turns)
    speed = np.where(rng.random(count) < habits.stay, 0.0, habits.speed * rng.uniform(0.4, 1.0, count))
    steps = (speed * np.diff(until, prepend=0.0))[:, None] * np.column_stack([np.cos(direction), np.sin(direction)])
    corners, times = np.vstack([[0.0, 0.0], np.cumsum(steps, axis=0)]), np.append(0.0, until)
    return np.column_stack([np.interp(seconds, times, corners[:, axis]) for axis in (0, 1)])


def _units(metres: np.ndarray, where: np.ndarray, region: Region) -> np.ndarray:
    """Return steps in metres in units of the working CRS."""
    if region.domain.in_degrees:
        degree = RADIUS * np.pi / 180
        return metres / np.array([degree * max(math.cos(math.radians(float(where[1]))), 0.05), degree])
    return metres / float(region.crs.axis_info[0].unit_conversion_factor)
