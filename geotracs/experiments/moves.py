"""How good flows from a release are: their divergence from the truth, beside that of the reports, and their intervals.

``python -m geotracs.experiments.moves [FOLDER]`` prints the table of `measured` for the sample city, and for the
check-ins in the folder; some minutes. The same function takes any tracks.
"""

import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geotracs.answers.flows import flows
from geotracs.errors import GeotracsWarning
from geotracs.experiments.report import markdown
from geotracs.experiments.synthesis import divergence
from geotracs.io.datasets import sample_city
from geotracs.release.frame import perturb

EPSILONS = (1.0, 2.0, 4.0, 8.0)
SIDE = 4
"""Zones along each side of the region."""


def measured(
    name: str,
    tracks: gpd.GeoDataFrame,
    epsilons: Sequence[float] = EPSILONS,
    *,
    trajectory: str = "person",
    time: str = "t",
    side: int = SIDE,
    draws: int = 3,
) -> pd.DataFrame:
    """Return how good flows between consecutive reports of "joint" are: means of several releases.

    Parameters
    ----------
    name : str
        Of the tracks, for the table.
    tracks : GeoDataFrame
        Points with labels and times, in any CRS; their box is the public region.
    side : int
        Zones along each side of the region.

    Returns
    -------
    DataFrame
        A row for each epsilon: ``raw`` is the Jensen-Shannon divergence (in bits) of counted reports from the true
        flows, ``estimated`` that of `flows`, ``ratio`` the second divided by the first, ``covered`` the part of flows
        whose 90% interval holds the truth, ``large`` the same of those larger than one in as many as there are, and
        ``clear`` how many have an interval narrower than the flow.
    """
    tracks = tracks.sort_values([trajectory, time]).reset_index(drop=True)
    zones = _zones(tracks, side)
    truth, rows = _counted(tracks, zones, tracks[trajectory]), []
    large = truth > 1 / side**4
    for eps in epsilons:
        found = []
        for draw in range(draws):
            with warnings.catch_warnings(action="ignore", category=GeotracsWarning):  # it may say that it cannot tell
                private = perturb(
                    tracks, eps, domain=zones.total_bounds, trajectory=trajectory, time=time, keep=[], rng=draw
                )
                answer = flows(private, zones, pairs="consecutive")
            share, low, high = (answer[column].to_numpy() for column in ("share", "low", "high"))
            raw = _counted(private, zones, tracks[trajectory])
            held = (low <= truth) & (truth <= high)
            apart = (divergence(truth, other) / np.log(2) for other in (raw, share))
            found.append([*apart, held.mean(), held[large].mean(), answer["clear"].sum()])
        raw_apart, ours, *others = np.mean(found, axis=0).tolist()
        pairs = len(tracks) - tracks[trajectory].nunique()
        rows.append([name, pairs, eps, raw_apart, ours, ours / raw_apart, *others])
    columns = ["city", "pairs", "epsilon", "raw", "estimated", "ratio", "covered", "large", "clear"]
    return pd.DataFrame(rows, columns=columns)


def _zones(tracks: gpd.GeoDataFrame, side: int) -> gpd.GeoDataFrame:
    """Return side x side zones that fill the box of some tracks, row by row."""
    xmin, ymin, xmax, ymax = tracks.total_bounds
    x, y = np.linspace(xmin, xmax, side + 1), np.linspace(ymin, ymax, side + 1)
    boxes = [shapely.box(x[i], y[j], x[i + 1], y[j + 1]) for j in range(side) for i in range(side)]
    return gpd.GeoDataFrame(geometry=boxes, crs=tracks.crs)


def _counted(tracks: gpd.GeoDataFrame, zones: gpd.GeoDataFrame, who: pd.Series) -> np.ndarray:
    """Return the shares of pairs of zones among consecutive locations of the same person, origin by origin."""
    side = round(np.sqrt(len(zones)))
    low, high = np.reshape(zones.total_bounds, (2, 2))
    column, row = np.clip((tracks.get_coordinates().to_numpy() - low) / (high - low) * side, 0, side - 1).astype(int).T
    zone, same = row * side + column, who.to_numpy()[1:] == who.to_numpy()[:-1]
    counts = np.bincount((zone[:-1] * len(zones) + zone[1:])[same], minlength=len(zones) ** 2)
    return np.asarray(counts / counts.sum())


def cities(folder: str | Path | None = None) -> Iterator[tuple[str, gpd.GeoDataFrame]]:
    """Yield people's rests in the sample city and, from a folder of the user's, check-ins in Tokyo and Chicago."""
    city = sample_city(people=300, seed=2).tracks
    yield "sample city", city[city["mode"] == "rest"]
    if folder is None:
        return
    for name in ("tky", "chi"):
        table = pd.read_csv(Path(folder) / f"{name}_checkins.csv.gz")
        columns = {"person": table["user"], "t": pd.to_datetime(table["time"])}
        yield name, gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(table["lon"], table["lat"]), crs=4326)


if __name__ == "__main__":
    for title, frame in cities(*sys.argv[1:2]):
        sys.stdout.write(f"{markdown(measured(title, frame))}\n\n")
        sys.stdout.flush()
