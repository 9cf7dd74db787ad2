"""Trips and the cells that they visit: what synthesis is compared on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geotracs.io.datasets import sample_city

TRIPS_PER_DAY = 3.4
"""About how many trips a person of the sample city makes in a day, a little fewer than the mean..."""
DAYS = 5
"""...and for how many days each is followed."""
JUMP = 400.0
"""Nobody in the sample city gets so many metres far in the 20 seconds between two fixes."""


@dataclass(frozen=True, repr=False)
class Trips:
    """Trips one after the other.

    Attributes
    ----------
    xy : array of shape (n, 2)
        Their points.
    offsets : array of int
        Where each trip begins, and n at the end.

    Examples
    --------
    >>> trips = Trips(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [9.0, 9.0], [9.0, 9.0]]), np.array([0, 3, 5]))
    >>> trips.lengths, trips.diameters
    (array([10.,  0.]), array([5., 0.]))
    """

    xy: np.ndarray
    offsets: np.ndarray

    @property
    def count(self) -> int:
        """How many trips there are."""
        return len(self.offsets) - 1

    @property
    def number(self) -> np.ndarray:
        """Which trip each point belongs to."""
        return np.repeat(np.arange(self.count), np.diff(self.offsets))

    @cached_property
    def lengths(self) -> np.ndarray:
        """How long each trip is, from point to point."""
        steps = np.append(np.hypot(*np.diff(self.xy, axis=0).T), 0)
        steps[self.offsets[1:] - 1] = 0
        return np.add.reduceat(steps, self.offsets[:-1])

    @cached_property
    def diameters(self) -> np.ndarray:
        """The largest distance between two points of each trip."""
        parts = np.split(self.xy, self.offsets[1:-1])
        return np.array([np.hypot(*(part[:, None] - part).transpose(2, 0, 1)).max() for part in parts])

    @classmethod
    def of_lines(cls, lines: gpd.GeoSeries, step: float) -> Self:
        """Return trips from lines, with points at most ``step`` apart along them."""
        dense = shapely.segmentize(lines.to_numpy(), step)
        return cls(shapely.get_coordinates(dense), np.append(0, np.cumsum(shapely.get_num_coordinates(dense))))


@dataclass(frozen=True, repr=False)
class Cells:
    """A grid of side x side cells over a box.

    Examples
    --------
    >>> cells = Cells((0.0, 0.0, 3.0, 3.0), 3)
    >>> visits = cells.visits(Trips(np.array([[0.5, 0.5], [0.6, 0.5], [2.5, 1.5]]), np.array([0, 3])))
    >>> visits.cells  # numbered from west to east, then from south to north
    array([0, 4, 5])
    """

    box: tuple[float, float, float, float]
    side: int

    @property
    def count(self) -> int:
        """How many cells there are."""
        return self.side**2

    @property
    def size(self) -> np.ndarray:
        """Width and height of a cell."""
        return (np.array(self.box[2:]) - self.box[:2]) / self.side

    def label(self, xy: np.ndarray) -> np.ndarray:
        """Return the cell of each location; what is outside goes to the nearest cell."""
        column, row = np.clip(np.floor((xy - self.box[:2]) / self.size), 0, self.side - 1).astype(np.int64).T
        return row * self.side + column

    def points(self, cells: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a uniform point of each cell."""
        row, column = np.divmod(cells, self.side)
        return self.box[:2] + (np.column_stack([column, row]) + rng.random((len(cells), 2))) * self.size

    def visits(self, trips: Trips) -> "Visits":
        """Return the cells that trips go through, each other than the one before.

        Where the next cell does not touch the last one, those of a shortest way by diagonal and straight moves are put
        between.
        """
        cells, number = self.label(trips.xy), trips.number
        first = np.append(True, number[1:] != number[:-1])
        changed = first | np.append(True, cells[1:] != cells[:-1])
        cells, number, first = cells[changed], number[changed], first[changed]
        row, column = np.divmod(cells, self.side)
        way = np.where(first, 0, np.stack([np.diff(row, prepend=0), np.diff(column, prepend=0)]))
        moves = np.maximum(np.abs(way).max(axis=0), 1)
        which = np.repeat(np.arange(len(cells)), moves)
        made = np.arange(len(which)) - np.repeat(np.cumsum(moves) - moves, moves) + 1
        ahead = way[:, which] - np.clip(way[:, which], -made, made)
        cells = (row[which] - ahead[0]) * self.side + column[which] - ahead[1]
        return Visits(cells, np.append(0, np.cumsum(np.bincount(number[which], minlength=trips.count))))


@dataclass(frozen=True, repr=False)
class Visits:
    """The cells that trips visit, trip after trip.

    Attributes
    ----------
    cells : array of int
    offsets : array of int
        Where each trip begins, and how many visits there are in all at the end.
    """

    cells: np.ndarray
    offsets: np.ndarray

    @property
    def count(self) -> int:
        """How many trips there are."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """How many cells each trip visits, again or not."""
        return np.diff(self.offsets)

    @property
    def number(self) -> np.ndarray:
        """Which trip each visit belongs to."""
        return np.repeat(np.arange(self.count), self.lengths)


@dataclass(frozen=True, repr=False)
class CityTrips:
    """Trips of the sample city in metres, with the frame of their two ends that is perturbed, and its public box."""

    trips: Trips
    ends: gpd.GeoDataFrame
    box: tuple[float, float, float, float]


def city_trips(count: int, seed: int = 0) -> CityTrips:
    """Return trips of `geotracs.datasets.sample_city`: what a person does between two rests.

    People are followed for five days. Their fixes are cut where they rest (``mode`` says so); a run of fixes on the way
    is a trip. Those of a single fix are left out, and those where somebody set out before having arrived: the fixes of
    two trips alternate there, which shows in jumps of more than 400 m. The first ``count`` trips are taken, person
    after person. The city is projected to UTM, and its box is that of the public boundary.

    Returns
    -------
    CityTrips
        ``ends`` has two points for each trip, with the columns ``trip`` and ``t``.

    Examples
    --------
    >>> city = city_trips(20)
    >>> city.trips.count, len(city.ends)
    (20, 40)
    """
    city = sample_city(people=int(np.ceil(count / TRIPS_PER_DAY / DAYS)) + 2, days=DAYS, seed=seed)
    tracks = city.tracks
    moving = (tracks["mode"] != "rest").to_numpy()
    person = tracks["person"].to_numpy()
    begins = moving & np.append(True, ~moving[:-1] | (person[1:] != person[:-1]))
    number = np.cumsum(begins) - 1
    tracks = tracks.assign(trip=number)[moving]
    crs = city.boundary.estimate_utm_crs()
    tracks = tracks.to_crs(crs)[["trip", "t", "geometry"]]
    steps = tracks.geometry.distance(tracks.geometry.shift()).where(tracks["trip"].diff() == 0)
    by_trip = steps.groupby(tracks["trip"])
    tracks = tracks[(by_trip.transform("count") > 0) & ~(by_trip.transform("max") > JUMP)]
    tracks["trip"] = pd.factorize(tracks["trip"])[0]
    tracks = tracks[tracks["trip"] < count]
    offsets = np.append(np.flatnonzero(np.diff(tracks["trip"], prepend=-1)), len(tracks))
    ends = tracks.iloc[np.sort(np.append(offsets[:-1], offsets[1:] - 1))]
    west, south, east, north = city.boundary.to_crs(crs).total_bounds.tolist()
    return CityTrips(Trips(shapely.get_coordinates(tracks.geometry), offsets), ends, (west, south, east, north))
