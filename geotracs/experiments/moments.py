"""What a schedule of moments saves: one epsilon for a track, shared over all fixes, or over as many as are best.

``python -m geotracs.experiments.moments`` prints the table of `moments`, the one of ``docs/units.md``: mean errors over
all fixes, beside those of constant points, which tell nothing.
"""

import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geotracs.errors import GeotracsWarning
from geotracs.experiments.report import markdown
from geotracs.experiments.tracking import Case, dense_tracks, errors
from geotracs.geo.optimum import public_setting
from geotracs.geo.trials import FEW
from geotracs.io.datasets import sample_city
from geotracs.release.frame import perturb

SIDE, FIXES, STEP = 50_000.0, 1000, 3.5
"""Made-up tracks: how wide their square is in metres, how many fixes each has, and about how many seconds apart."""
EPSILONS = (0.5, 2, 8, 30, 100)
MOST = {"city": {8: 0.55, 30: 0.45, 100: 0.40}, "tracks": {8: 0.35, 30: 0.15, 100: 0.06}}
"""What part of the error of the even split the best schedule may have."""
FILLS = ("hold", "interpolate")


def cases(seed: int, people: int = 40, trips: int = 20) -> Iterator[Case]:
    """Yield a made-up city and made-up cars; the last number of a case is how fast they are."""
    city = sample_city(people=people, seed=seed)
    yield Case("city", city.tracks, city.boundary, "person", 15)
    yield Case("tracks", *dense_tracks(trips, FIXES * STEP / 60, side=SIDE, seed=seed), "trip", 15)


def moments(epsilons: Sequence[float] = EPSILONS, *, seeds: int = 2, people: int = 40, trips: int = 20) -> pd.DataFrame:
    """Return mean errors in metres: of all fixes, of the best number of moments, and of constant points."""
    found = [
        measured(case, float(eps), seed) | {"tracks": case.name, "eps": eps}
        for seed in range(seeds)
        for case in cases(seed, people, trips)
        for eps in epsilons
    ]
    table = pd.DataFrame(found).groupby(["tracks", "eps"], sort=False).mean().reset_index()
    for name in FILLS:
        table[f"{name} / even"] = (table[name] / table["even"]).round(3)
    table["interpolate / constant"] = (table["interpolate"] / table["constant"]).round(3)
    return table.round({"moments": 1, "even": 0, "constant": 0, "centre": 0, **dict.fromkeys(FILLS, 0)})


def measured(case: Case, eps: float, seed: int) -> dict[str, float]:
    """Return the mean errors of one draw of each release, and of points that are always the same."""
    own: dict[str, Any] = {"domain": case.domain, "trajectory": case.trajectory, "time": "t", "unit": "trajectory"}
    found = dict(zip(("constant", "centre"), constant(case), strict=True))
    with warnings.catch_warnings(action="ignore", category=GeotracsWarning):
        even = perturb(case.tracks, eps, **own, keep=[], rng=seed)
        found["even"] = float(errors(case.tracks, even).mean())
        for fill in FILLS:
            private = perturb(case.tracks, eps, **own, every="auto", fill=fill, speed=case.speed, keep=[], rng=seed)
            found[fill] = float(errors(case.tracks, private).mean())
    found["moments"] = float((~private["filled"]).sum() / case.tracks[case.trajectory].nunique())
    return found


def constant(case: Case) -> tuple[float, float]:
    """Return the mean distance from the best point of all, which only whoever has the tracks knows, and the middle.

    The middle is that of the public region: the point that is nearest on average, if nobody knows where people are.
    """
    crs = case.tracks.estimate_utm_crs()
    there = shapely.get_coordinates(case.tracks.geometry.to_crs(crs).values)
    region, _ = public_setting(case.domain, None, prior=None, weight=None, crs=case.tracks.crs)
    spread = region.chart.spread(FEW)
    public = gpd.GeoSeries(gpd.points_from_xy(*region.leave(spread).T), crs=case.tracks.crs).to_crs(crs)
    middle = median(shapely.get_coordinates(public.values))
    return tuple(float(np.hypot(*(there - point).T).mean()) for point in (median(there), middle))  # type: ignore[return-value]  # two


def median(xy: np.ndarray, rounds: int = 60) -> np.ndarray:
    """Return the geometric median of points, by Weiszfeld's iteration.

    >>> median(np.array([[0.0, 0.0], [1.0, 0.0], [10.0, 0.0]])).round(1).tolist()
    [1.0, 0.0]
    """
    point = np.median(xy, axis=0)
    for _ in range(rounds):
        weight = 1 / np.maximum(np.hypot(*(xy - point).T), 1e-3)
        point = (xy * weight[:, None]).sum(axis=0) / weight.sum()
    return np.asarray(point)


if __name__ == "__main__":
    sys.stdout.write(markdown(moments()) + "\n")
