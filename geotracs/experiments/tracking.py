"""How well people can be followed through a release: the error of reports, and of what `reconstruct` makes of them.

``python -m geotracs.experiments.tracking [FOLDER]`` prints the table of `tracking`; the folder holds the check-ins.
"""

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geotracs.answers.reconstruct import reconstruct
from geotracs.core.randomness import made_up
from geotracs.errors import GeotracsWarning
from geotracs.experiments.report import markdown
from geotracs.io.datasets import sample_city
from geotracs.release.frame import perturb

PLANE = 32654
"""A CRS in metres, for tracks that are made up."""
TOKYO = (139.47, 35.51, 139.92, 35.87)
SIDE = 30_000.0
METHODS = ("joint", "tracs-c", "tracs-d", "optimal")
WRONG = (0.25, 0.5, 2.0)
"""By which factors a speed is wrong."""
FEW = 600
"""How many rows of methods that take long for each report."""


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """Tracks in a public region, and how fast people are."""

    name: str
    tracks: gpd.GeoDataFrame
    domain: Any
    trajectory: str
    speed: float


def dense_tracks(
    trips: int = 2,
    minutes: float = 15,
    *,
    at_border: bool = False,
    side: float = SIDE,
    tops: Sequence[float] = (15.0,),
    seed: int = 0,
) -> tuple[gpd.GeoDataFrame, tuple[float, float, float, float]]:
    """Return made-up fixes 2 to 5 s apart, to 5 m, of cars that go straight on, turn and stop, and their region.

    Each lasts for about a minute. Trips begin in the middle of a square of 30 km and, if they are short, end there; or
    they begin within 2 km of its border. A car that comes to the border drives on along it or turns back. With
    ``tops``, the speeds of which trips have one after the other, some of them are not cars.

    Examples
    --------
    >>> tracks, square = dense_tracks(trips=1, minutes=1)
    >>> len(tracks), square
    (17, (0.0, 0.0, 30000.0, 30000.0))
    """
    rng = made_up(seed)
    frames = []
    for trip in range(trips):
        seconds = np.cumsum(rng.uniform(2, 5, int(minutes * 60 / 3.5)))
        place = rng.uniform(0.3, 0.7, 2) * side
        if at_border:
            place[rng.integers(2)] = abs(rng.integers(2) * side - rng.uniform(0, 2000))
        points = gpd.points_from_xy(*_drive(place, seconds, rng, tops[trip % len(tops)], side).T)
        frames.append(gpd.GeoDataFrame({"trip": trip, "t": seconds}, geometry=points, crs=PLANE))
    return gpd.GeoDataFrame(pd.concat(frames, ignore_index=True)), (0.0, 0.0, side, side)


def _drive(place: np.ndarray, seconds: np.ndarray, rng: np.random.Generator, top: float, side: float) -> np.ndarray:
    direction, speed, until, fixes = rng.uniform(0, 2 * np.pi), 0.0, 0.0, []
    for now, step in zip(seconds, np.diff(seconds, prepend=0.0), strict=True):
        if now >= until:
            until = now + rng.exponential(60)
            direction += rng.choice([0, np.pi / 2, -np.pi / 2])
            speed = 0.0 if rng.random() < 0.3 else rng.uniform(0.4, 1) * top
        place = np.clip(place + speed * step * np.array([np.cos(direction), np.sin(direction)]), 0, side)
        fixes.append(np.clip(place + rng.normal(0, 5, 2), 0, side))
    return np.array(fixes)


def check_ins(folder: str | Path, name: str, box: Sequence[float], rows: int = 5500) -> gpd.GeoDataFrame:
    """Return the first check-ins of a city in a box, of the people who made them."""
    table = pd.read_csv(Path(folder) / f"{name}_checkins.csv.gz", nrows=rows)
    columns = {"person": table["user"], "t": pd.to_datetime(table["time"])}
    frame = gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(table["lon"], table["lat"]), crs=4326)
    return frame.cx[box[0] : box[2], box[1] : box[3]]


def cases(seed: int, folder: str | Path | None = None) -> Iterator[Case]:
    """Yield the tracks that are followed."""
    city = sample_city(people=8, seed=seed)
    yield Case("city", city.tracks, city.boundary.total_bounds, "person", 12)
    yield Case("city, polygon", city.tracks, city.boundary, "person", 12)
    yield Case("dense", *dense_tracks(seed=seed), "trip", 15)
    yield Case("dense, at border", *dense_tracks(4, 120, at_border=True, seed=seed), "trip", 15)
    if folder is not None:
        yield Case("tky", check_ins(folder, "tky", TOKYO), TOKYO, "person", 10)


def tracking(folder: str | Path | None = None, *, seeds: int = 3, epsilons: Sequence[float] = (4, 8)) -> pd.DataFrame:
    """Return errors before and after for all tracks, methods and wrong speeds: means over seeds, and the worst of them.

    All methods follow the made-up city; the others are followed through ``joint``.
    """
    found = []
    for seed in range(seeds):
        for case in cases(seed, folder):
            for method in METHODS if case.name == "city" else METHODS[:1]:
                for eps in epsilons:
                    found.append(follow(case, method, eps, seed) | {"tracks": case.name, "method": method, "eps": eps})
            for factor in WRONG if case.name in ("city", "dense") else ():
                name = f"{case.name}, speed x {factor:g}"
                found.append(follow(case, "joint", 4, seed, factor) | {"tracks": name, "method": "joint", "eps": 4})
    return summary(pd.DataFrame(found))


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each kind of tracks, method and epsilon, from one for each seed."""
    groups = found.groupby(["tracks", "method", "eps"], sort=False)
    table = groups.agg(
        before=("before", "mean"),
        after=("after", "mean"),
        ratio=("ratio", "mean"),
        worst_ratio=("ratio", "max"),
        covered=("covered", "mean"),
        least_covered=("covered", "min"),
    )
    return table.round({"before": 0, "after": 0}).round(3).reset_index()


def follow(case: Case, method: str, eps: float, seed: int, factor: float = 1.0, **options: Any) -> dict[str, Any]:
    """Return the mean errors before and after, in metres, and how often the radius covers the truth."""
    tracks = case.tracks.iloc[:FEW] if method == "tracs-d" else case.tracks
    with warnings.catch_warnings(action="ignore", category=GeotracsWarning):
        private = perturb(
            tracks, eps, method, domain=case.domain, trajectory=case.trajectory, time="t", keep=[], rng=seed
        )
        found = reconstruct(private, speed=factor * case.speed, domain=case.domain, **options)
    before, after = errors(tracks, private), errors(tracks, found)
    covered = float((after <= found["radius"].to_numpy()).mean())
    return {"before": before.mean(), "after": after.mean(), "ratio": after.mean() / before.mean(), "covered": covered}


def errors(original: gpd.GeoDataFrame, found: gpd.GeoDataFrame) -> np.ndarray:
    """Return the distance of each location from the original, in metres."""
    crs = original.estimate_utm_crs()
    one, other = (np.asarray(frame.geometry.to_crs(crs).values) for frame in (original, found))
    return np.asarray(shapely.distance(one, other))


if __name__ == "__main__":
    sys.stdout.write(markdown(tracking(*sys.argv[1:2])) + "\n")
