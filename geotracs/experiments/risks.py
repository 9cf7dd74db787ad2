"""What a release tells about a person: made-up GPS traces as dense as real ones, attacked, beside published figures.

``python -m geotracs.experiments.risks`` prints two tables: `figures`, and `estimates`, which compares the closed form
that `perturb` warns by with simulations.

The measured figures are those of real traces in Beijing, 2 to 5 s apart. The regions here are squares, as wide as makes
the error of a report the same: 38.3 km at epsilon 8 and 30.6 km at epsilon 4.
"""

import sys
import warnings
from collections.abc import Sequence

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.trust.risk as risks
from geotracs.core.following import followed
from geotracs.core.randomness import made_up
from geotracs.errors import GeotracsWarning, PrivacyWarning
from geotracs.experiments.report import markdown
from geotracs.experiments.tracking import PLANE, dense_tracks
from geotracs.release.frame import perturb
from geotracs.trust.risk_attacks import attacks
from geotracs.trust.risk_found import Found
from geotracs.trust.risk_people import Habits, way

SIDES = {8: 38_300.0, 4: 30_600.0}
"""How wide the square is at each epsilon."""
TOPS = (2.0, 15.0, 15.0)
"""The speeds of people on foot and by car: which of them the real traces are of is not known."""
TRACES, STOP, STILL = "traces", "stop of 121 fixes", "standing still, 100 reports"
CASES = [
    (TRACES, 8, ("report", "averaging", "tracking")),
    (STOP, 8, ("stays",)),
    (STILL, 8, ("stays",)),
    (TRACES, 4, ("report", "averaging", "tracking")),
]
"""What is attacked, at which epsilon, and how."""
MEASURED = {
    (TRACES, 8, "report"): (1925, "mean"),
    (TRACES, 8, "averaging"): (246, "typical"),
    (STOP, 8, "stay, median"): (221, "mean"),
    (STILL, 8, "stay, median"): (250, "mean"),
    (TRACES, 4, "report"): (5101, "mean"),
    (TRACES, 4, "tracking"): (280, "mean"),
}
"""What was measured, in metres, by tracks, epsilon and attack, and what it is of all locations."""


def standing(people: int, reports: int, side: float, seed: int = 0) -> gpd.GeoDataFrame:
    """Return people who stand still in the middle of a square, located every 2 to 5 s to 5 m."""
    rng = made_up(seed)
    xy = np.repeat(rng.uniform(0.3, 0.7, (people, 2)) * side, reports, axis=0) + rng.normal(0, 5, (people * reports, 2))
    seconds = np.cumsum(rng.uniform(2, 5, (people, reports)), axis=1).ravel()
    columns = {"trip": np.repeat(np.arange(people), reports), "t": seconds}
    return gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(*xy.T), crs=PLANE)


def attacked(
    kind: str, eps: int, kinds: Sequence[str], *, people: int = 9, minutes: float = 30, seed: int = 0
) -> list[Found]:
    """Return what attacks find in a release of some kind of tracks by `joint`."""
    side = SIDES[eps]
    if kind == TRACES:
        tracks, _ = dense_tracks(people, minutes, side=side, tops=TOPS, seed=seed)
    else:
        tracks = standing(10 * people, 121 if kind == STOP else 100, side, seed)
    with warnings.catch_warnings(action="ignore", category=GeotracsWarning):
        square = (0.0, 0.0, side, side)
        private = perturb(tracks, eps, domain=square, trajectory="trip", time="t", keep=[], rng=seed)
        return list(attacks(risks.case(tracks, private), kinds))


def figures(seeds: int = 2, people: int = 9, minutes: float = 30) -> pd.DataFrame:
    """Return what attacks find, in metres: means over seeds, beside what was measured on real traces.

    Where a typical location was measured, the median is compared with it.
    """
    found = []
    for kind, eps, kinds in CASES:
        runs = [attacked(kind, eps, kinds, people=people, minutes=minutes, seed=seed) for seed in range(seeds)]
        for each in zip(*runs, strict=True):
            measured, what = MEASURED.get((kind, eps, each[0].attack), (np.nan, "mean"))
            ours = np.mean([one.typical if what == "typical" else one.value for one in each])
            row = {"tracks": kind, "eps": eps, "attack": each[0].attack, "of all": what, "measured": measured}
            guess = np.mean([one.baseline for one in each])
            found.append(row | {"ours": round(ours), "ratio": round(ours / measured, 2), "guess": round(guess)})
    return pd.DataFrame(found)


def check_ins(people: int = 20, reports: int = 30, side: float = 30_000.0, seed: int = 0) -> gpd.GeoDataFrame:
    """Return made-up check-ins of people, 2 to 12 hours apart, anywhere in a square."""
    rng = made_up(seed)
    seconds = np.cumsum(rng.uniform(2, 12, (people, reports)) * 3600, axis=1).ravel()
    points = gpd.points_from_xy(*rng.uniform(0, side, (2, people * reports)))
    return gpd.GeoDataFrame({"trip": np.repeat(np.arange(people), reports), "t": seconds}, geometry=points, crs=PLANE)


def warns(tracks: gpd.GeoDataFrame, eps: float, side: float) -> bool:
    """Return whether `perturb` warns that people can be followed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        perturb(tracks, eps, domain=(0.0, 0.0, side, side), trajectory="trip", time="t", keep=[])
    return any("follows a person" in str(one.message) for one in caught if one.category is PrivacyWarning)


def wandering(
    interval: float, trips: int, reports: int, *, side: float = 30_000.0, speed: float = 15.0, seed: int = 0
) -> gpd.GeoDataFrame:
    """Return people on their way in a square, who turn back at its border, so many seconds from fix to fix."""
    rng, frames = made_up(seed), []
    for trip in range(trips):
        seconds = interval * (np.arange(reports) + rng.uniform(-0.4, 0.4, reports))
        xy = rng.uniform(0.2, 0.8, 2) * side + way(seconds - seconds[0], Habits(interval, speed, 0.3, 1, reports), rng)
        xy = side - np.abs(np.mod(xy, 2 * side) - side)
        points = gpd.points_from_xy(*xy.T)
        frames.append(gpd.GeoDataFrame({"trip": trip, "t": seconds}, geometry=points, crs=PLANE))
    return gpd.GeoDataFrame(pd.concat(frames, ignore_index=True))


def estimates(
    epsilons: Sequence[float] = (1, 2, 4, 8),
    intervals: Sequence[float] = (3, 10, 30, 100, 300, 1000, 3600),
    *,
    trips: int = 6,
    reports: int = 100,
) -> pd.DataFrame:
    """Return the error of whoever follows people, simulated and by the closed form, for the same error of reports."""
    found, side = [], 30_000.0
    for interval in intervals:
        tracks = wandering(interval, trips, reports)
        for eps in epsilons:
            with warnings.catch_warnings(action="ignore", category=GeotracsWarning):
                square = (0.0, 0.0, side, side)
                private = perturb(tracks, eps, domain=square, trajectory="trip", time="t", keep=[], rng=1)
                kinds = ("report", "tracking")
                report, simulated = (one.value for one in attacks(risks.case(tracks, private), kinds))
            gaps, counts = np.full(reports, float(interval)), np.full(reports, reports)
            row = {"interval": interval, "eps": eps, "report": round(report), "simulated": round(simulated)}
            found.append(row | {"estimated": round(followed(report, float(eps), gaps, counts))})
    table = pd.DataFrame(found)
    table["ratio"] = (table["estimated"] / table["simulated"]).round(2)
    return table


if __name__ == "__main__":
    sys.stdout.write(markdown(figures()) + "\n\n" + markdown(estimates()) + "\n")
    for name, tracks in (("traces", dense_tracks(5)[0]), ("check-ins", check_ins())):
        sys.stdout.write(f"\nperturb warns of {name} at epsilon 8: {warns(tracks, 8, 30_000.0)}")
    sys.stdout.write("\n")
