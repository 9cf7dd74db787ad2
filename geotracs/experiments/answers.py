"""How good densities from a release are: tables of their divergence from the truth, and of how often intervals hold it.

``python -m geotracs.experiments.answers [FOLDER]`` prints both for made-up cities, and for those whose check-ins are in
the folder (see `geotracs.experiments.cities`). The same functions take any locations: `City.of_frame`.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.io.datasets as datasets
from geotracs.answers.density import density
from geotracs.core.places import Grid
from geotracs.core.randomness import made_up
from geotracs.errors import GeotracsWarning, InputError
from geotracs.experiments.report import markdown
from geotracs.experiments.synthesis import divergence
from geotracs.release.frame import perturb

CRS = "EPSG:3857"
"""Cities are planar, in metres; which CRS it is does not matter."""
SIDE = 20_000.0
SITES = 1500
"""Made-up cities have so many places, of very different popularity."""
KINDS = ("one centre", "two towns", "line", "uniform")


@dataclass(frozen=True, eq=False, repr=False)
class City:
    """Public locations to try things on, in metres, and the public places among which they are.

    Attributes
    ----------
    name : str
    xy : array of shape (n, 2)
        Locations.
    box : (xmin, ymin, xmax, ymax)
        The public region.
    places : array of shape (m, 2)
        Public places, without how often they are visited.
    """

    name: str
    xy: np.ndarray
    box: tuple[float, float, float, float]
    places: np.ndarray

    @classmethod
    def of_frame(cls, name: str, frame: gpd.GeoDataFrame, places: gpd.GeoDataFrame | None = None) -> "City":
        """Return the city of any frame of points; its region is their box.

        >>> City.of_frame("few", gpd.GeoDataFrame(geometry=gpd.points_from_xy([1, 4], [1, 2]), crs=3857)).box
        (1.0, 1.0, 4.0, 2.0)
        """
        if frame.crs is None:
            raise InputError("The frame has no CRS.")
        planar = frame.crs if frame.crs.is_projected else frame.estimate_utm_crs()
        own = frame.geometry.to_crs(planar)
        xy = own.get_coordinates().to_numpy()
        sites = xy if places is None else places.geometry.to_crs(planar).get_coordinates().to_numpy()
        xmin, ymin, xmax, ymax = np.append(xy.min(axis=0), xy.max(axis=0)).tolist()
        return cls(name, xy, (xmin, ymin, xmax, ymax), np.unique(sites, axis=0))

    def sample(self, count: int, seed: int) -> gpd.GeoDataFrame:
        """Return some of the locations, in any order; all of them if there are not so many."""
        some = self.xy[made_up(seed).permutation(len(self.xy))[:count]]
        return gpd.GeoDataFrame(geometry=gpd.points_from_xy(*some.T), crs=CRS)

    def shares(self, xy: np.ndarray, cells: int) -> np.ndarray:
        """Return the shares of cells x cells, numbered as `density` numbers them; what is outside does not count."""
        low, high = np.reshape(self.box, (2, 2))
        inside = xy[np.all((xy >= low) & (xy <= high), axis=1)]
        column, row = np.minimum((inside - low) / (high - low) * cells, cells - 1).astype(int).T
        return np.bincount(row * cells + column, minlength=cells**2) / len(inside)


def made_up_city(kind: str, count: int = 20_000, seed: int = 0) -> City:
    """Return locations at and around the places of a city that does not exist.

    Parameters
    ----------
    kind : str
        One of `KINDS`: places lie around one centre, in two towns far apart, along a line, or anywhere.
    """
    rng = made_up(seed)
    if kind == "one centre":
        sites = rng.normal(0.45, 0.08, (SITES, 2))
    elif kind == "two towns":
        sites = np.where(rng.random((SITES, 1)) < 0.7, [0.15, 0.2], [0.85, 0.75]) + rng.normal(0, 0.04, (SITES, 2))
    elif kind == "line":
        sites = rng.uniform(0, 1, (SITES, 1)) * [0.9, 0.6] + [0.05, 0.2] + rng.normal(0, 0.01, (SITES, 2))
    elif kind == "uniform":
        sites = rng.uniform(0, 1, (SITES, 2))
    else:
        raise InputError(f"`kind` must be one of {list(KINDS)}, got {kind!r}.")
    sites = np.clip(sites, 0, 1) * SIDE
    popular = np.exp(rng.normal(0, 1.5, SITES))
    visited = sites[rng.choice(SITES, count, p=popular / popular.sum())]
    xy = np.clip(visited + rng.normal(0, 30, (count, 2)), 0, SIDE)
    return City(kind, xy, (0.0, 0.0, SIDE, SIDE), sites)


def cities(folder: str | Path | None = None) -> Iterator[City]:
    """Yield made-up cities, the sample city and, from a folder of the user's, Tokyo and Chicago."""
    yield from (made_up_city(kind) for kind in KINDS)
    sample = datasets.sample_city(people=60, seed=1)
    yield City.of_frame("sample city", sample.tracks, sample.pois)
    if folder is None:
        return
    for name in ("tky", "chi"):
        rows = pd.read_csv(Path(folder) / f"{name}_checkins.csv.gz", usecols=["lon", "lat"])
        yield City.of_frame(name, gpd.GeoDataFrame(geometry=gpd.points_from_xy(rows.lon, rows.lat), crs=4326))


def released(city: City, eps: float, reports: int, cells: int, draw: int) -> tuple[np.ndarray, gpd.GeoDataFrame]:
    """Return true shares of cells, and a release of "joint"."""
    some = city.sample(reports, draw)
    with warnings.catch_warnings(action="ignore", category=GeotracsWarning):  # public locations, and a fixed seed
        private = perturb(some, eps, domain=city.box, keep=[], rng=draw)
    return city.shares(some.get_coordinates().to_numpy(), cells), private


def divergences(
    city: City, epsilons: Sequence[float] = (4.0, 8.0), *, reports: int = 10_000, cells: int = 20, draws: int = 4
) -> pd.DataFrame:
    """Return how far estimates are from the truth: Jensen-Shannon divergences in bits, means of several draws.

    Returns
    -------
    DataFrame
        A row for each epsilon: ``raw`` is the histogram of the reports, ``estimated`` that of `density`, ``ratio`` the
        second divided by the first, ``prior`` that of the public places alone and ``with_prior`` that of `density`
        with them as prior.
    """
    places = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*city.places.T), crs=CRS)
    alone, rows = city.shares(city.places, cells), []
    for eps in epsilons:
        found = []
        for draw in range(draws):
            truth, private = released(city, eps, reports, cells, draw)
            naive = city.shares(private.get_coordinates().to_numpy(), cells)
            estimates = (_shares(private, cells, prior)["share"].to_numpy() for prior in (None, places))
            found.append([divergence(truth, other) / np.log(2) for other in (naive, *estimates, alone)])
        raw, estimated, with_prior, prior = np.mean(found, axis=0).tolist()
        rows.append([city.name, eps, raw, estimated, estimated / raw, prior, with_prior])
    return pd.DataFrame(rows, columns=["city", "epsilon", "raw", "estimated", "ratio", "prior", "with_prior"])


def coverage(
    city: City,
    epsilons: Sequence[float] = (0.5, 1.0, 2.0, 4.0, 8.0),
    *,
    reports: int = 10_000,
    cells: int = 4,
    draws: int = 20,
    level: float = 0.9,
) -> pd.DataFrame:
    """Return how often intervals of `density` hold the truth, over all cells and several draws.

    Returns
    -------
    DataFrame
        A row for each epsilon: ``covered`` is the part of cells whose interval holds the true share, ``large`` the same
        of the largest cells, which hold half of all locations together, ``width`` the median of interval by share of
        these.
    """
    rows = []
    for eps in epsilons:
        held, large, width = [], [], []
        for draw in range(draws):
            truth, private = released(city, eps, reports, cells, draw)
            found = _shares(private, cells, None, level)
            low, high = found["low"].to_numpy(), found["high"].to_numpy()
            order = np.argsort(-truth)
            most = order[np.cumsum(truth[order]) - truth[order] < 0.5]
            inside = (low <= truth) & (truth <= high)
            held.append(inside.mean())
            large += inside[most].tolist()
            width += ((high - low)[most] / truth[most]).tolist()
        numbers = [float(np.mean(held)), float(np.mean(large)), float(np.median(width))]
        rows.append([city.name, eps, reports, cells, *numbers])
    return pd.DataFrame(rows, columns=["city", "epsilon", "reports", "cells", "covered", "large", "width"])


def _shares(
    private: gpd.GeoDataFrame, cells: int, prior: gpd.GeoDataFrame | None, level: float = 0.9
) -> gpd.GeoDataFrame:
    with warnings.catch_warnings(action="ignore", category=GeotracsWarning):  # it may say that it cannot tell
        return density(private, Grid(nx=cells, ny=cells), prior=prior, level=level)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m geotracs.experiments.answers", description=__doc__)
    parser.add_argument("folder", nargs="?", help="with tky_checkins.csv.gz and chi_checkins.csv.gz")
    parser.add_argument("--table", choices=["divergences", "coverage"], help="only this one")
    parser.add_argument("--draws", type=int, help="how many, instead of 4 and 20")
    parser.add_argument("--cells", type=int, help="along each side, instead of 20 and 4")
    parser.add_argument("--reports", type=int, default=10_000)
    parser.add_argument("--epsilons", type=float, nargs="+")
    parser.add_argument("--cities", nargs="+", help="only these")
    asked = parser.parse_args(arguments)
    options = {name: getattr(asked, name) for name in ("draws", "cells", "reports") if getattr(asked, name)}
    epsilons = () if asked.epsilons is None else (asked.epsilons,)
    for name, table in (("divergences", divergences), ("coverage", coverage)):
        if asked.table in (None, name):
            for city in cities(asked.folder):
                if asked.cities is None or city.name in asked.cities:
                    sys.stdout.write(f"{markdown(table(city, *epsilons, **options))}\n\n")
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
