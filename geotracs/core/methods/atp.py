"""ATP: places in the directions of reported neighbours, in two copies that are merged."""

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

import geotracs.core.mechanisms.exponential as mechanism
from geotracs.core.budget import split
from geotracs.core.domains import Domain
from geotracs.core.lengths import diameter, distances
from geotracs.core.mechanisms.krr import RandomizedResponse, check_k
from geotracs.core.mechanisms.slopes import Slopes
from geotracs.core.mechanisms.weighted import draw, probabilities
from geotracs.core.methods.calibrated import CalibratedMethod, slopes_at
from geotracs.core.methods.weighted import chunks
from geotracs.core.places import Points
from geotracs.core.randomness import Source
from geotracs.errors import InputError

DIRECTIONS = 0.75
"""The share of a copy's epsilon for the two directions, as published; the rest is for the place."""
MAX_HISTORIES = 2**12


class Tables(NamedTuple):
    """Where the places are, and what is known of them.

    Attributes
    ----------
    spread : float
        The largest distance between two places.
    orders : arrays of int
        The places from west to east, and from south to north.
    left_of : array of shape (k, m)
        How far each place lies to the left of a ray from the origin in the direction where each sector begins.
    index : Points
        Finds the place nearest to a point.
    slopes : Slopes or None
        Calibrated slopes over all places.
    """

    places: np.ndarray
    spread: float
    orders: tuple[np.ndarray, np.ndarray]
    left_of: np.ndarray
    index: Points  # type: ignore[assignment]  # hides tuple.index, which is not needed here
    slopes: Slopes | None


@dataclass(frozen=True)
class ATP(CalibratedMethod):
    """Report each location twice, in turn as a pivot and by its directions from reported pivots, and merge the two.

    Parameters
    ----------
    calibration : {"exact", "textbook"}
        How steeply the weights of a pivot fall with the distance: as steeply as its epsilon allows, calibrated over the
        public set; or by the classical factor 2, which spends only about half of it.
    k : int
        In how many sectors the directions around a place are divided, at least 2; the paper's is 6.

    Notes
    -----
    Two copies of a trajectory have half of epsilon each. In the first, every second location is a pivot, in the
    second the others are. Pivots, and first and last locations, are reported by an exponential mechanism over all
    places. Then the others: the sectors in which a location is seen from the two *reported* pivots beside it, by k-RR
    with 3/8 of the copy's epsilon each, and with the last quarter a place among those in both reported sectors (among
    all places where there is none), by an exponential mechanism whose spread is the diagonal of the box around them.
    The two reports of a location are merged into the place nearest to the middle between them.

    Public: the places, the sectors (k equal ones from east, counter-clockwise; a pivot itself lies in all of its own),
    what was reported before. Paid for: which place the location belongs to, in four parts that add up to epsilon.
    Merging looks at reports only. Calibrated, the pivots' slope is that of `Exponential`. The candidates of the others
    are too many sets to calibrate over: there the last quarter keeps the classical factor 2.

    After Zhang, Ye, Chen, Hu and Han (2023), without their anchors. Published code centred the sectors on the secret
    direction, so that the candidates told it. It merged into the place with the smallest sum of distances to the two
    reports, which is always one of the two.

    Examples
    --------
    >>> method = ATP()
    >>> tables = method.prepare(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), 8.0, None)
    >>> method.pmf([0], [[0], [1], [2]], 8.0, tables).round(3)
    array([0.954, 0.046, 0.   ])
    """

    name: ClassVar[str] = "atp"
    sequential: ClassVar[bool] = True
    both_ways: ClassVar[bool] = True

    k: Any = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k, most=360)

    @property
    def largest_eps(self) -> float:
        """See `Method.largest_eps`; a copy has half of epsilon."""
        return 2 * super().largest_eps

    @property
    def shares(self) -> dict[str, float]:
        """Half of epsilon for each copy."""
        return {"first copy": 0.5, "second copy": 0.5}

    def prepare(self, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> Tables:
        """Return the places and what is known of them."""
        self.check_eps(eps)
        begins = 2 * math.pi / self.k * np.arange(self.k)[:, None]
        left_of = np.cos(begins) * places[:, 1] - np.sin(begins) * places[:, 0]
        orders = np.argsort(places[:, 0]), np.argsort(places[:, 1])
        slopes = self.everywhere(places)
        slopes_at(slopes, np.ravel(split(eps, 0.5)))
        return Tables(places, diameter(places), orders, left_of, Points(places), slopes)

    def weights(self, secrets: np.ndarray, befores: np.ndarray, eps: np.ndarray, tables: Tables) -> np.ndarray:
        """Return the weights of all places for a pivot; see `WeightedMethod.weights`."""
        own = mechanism.Exponential(eps, tables.spread, slopes_at(tables.slopes, eps))
        return own.weights(distances(tables.places[secrets], tables.places))

    def choose(
        self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, tables: Tables, rng: Source
    ) -> np.ndarray:
        """Return the reported place of each secret; see `PlaceMethod.choose`."""
        self.check_eps(eps)
        between = _between(offsets)
        copies = []
        for number, own in enumerate(split(np.broadcast_to(eps, len(secrets)), 0.5)):
            late = between[number]
            early = np.setdiff1d(np.arange(len(secrets)), late, assume_unique=True)
            reports = np.empty(len(secrets), dtype=np.int64)
            reports[early] = self.choose_apart(secrets[early], own[early], tables, rng)
            reports[late] = self._by_direction(secrets[late], reports, late, own[late], tables, rng)
            copies.append(reports)
        first, second = copies
        return _merge(first, second, tables)

    def _by_direction(
        self, secrets: np.ndarray, reports: np.ndarray, late: np.ndarray, eps: np.ndarray, tables: Tables, rng: Source
    ) -> np.ndarray:
        """Return reports of the locations ``late``, whose neighbours are reported."""
        to_directions, to_place = split(eps, DIRECTIONS)
        neighbours = reports[late - 1], reports[late + 1]
        sectors = []
        for pivots, own in zip(neighbours, split(to_directions, 0.5), strict=True):
            response = RandomizedResponse(own, self.k)
            seen = self._sectors(pivots, secrets, tables)
            sectors.append(response.apply(seen, response.draw(len(seen), rng)))
        chosen = np.empty(len(late), dtype=np.int64)
        for part in chunks(len(late), len(tables.places)):
            allowed = self._candidates([p[part] for p in neighbours], [s[part] for s in sectors], tables)
            weights = _weights_among(allowed, secrets[part], to_place[part], tables)
            chosen[part] = draw(weights, np.arange(len(weights)), rng)
        return chosen

    def _candidates(self, neighbours: list[np.ndarray], sectors: list[np.ndarray], tables: Tables) -> np.ndarray:
        """Return which places are in the reported sectors of both neighbours, one row per location; all if none is."""
        allowed = np.ones((len(sectors[0]), len(tables.places)), dtype=bool)
        for pivots, sector in zip(neighbours, sectors, strict=True):
            begin, end = sector, (sector + 1) % self.k
            inside = tables.left_of[begin] >= tables.left_of[begin, pivots][:, None]
            inside &= tables.left_of[end] < tables.left_of[end, pivots][:, None]
            inside[np.arange(len(pivots)), pivots] = True
            allowed &= inside
        allowed |= ~allowed.any(axis=1, keepdims=True)
        return allowed

    def _sectors(self, pivots: np.ndarray, places: np.ndarray, tables: Tables) -> np.ndarray:
        """Return the sector in which each place is seen from its pivot; the first where they are the same."""
        left = [side[places] >= side[pivots] for side in tables.left_of]
        sectors = np.zeros(len(places), dtype=np.int64)
        for sector in range(self.k):
            sectors[left[sector] & ~left[(sector + 1) % self.k]] = sector
        return sectors

    def pmf(self, secrets: np.ndarray, reports: np.ndarray, eps: float, tables: Tables) -> np.ndarray:
        """Return the probabilities of whole trajectories, by going through all that both copies can be."""
        self.check_eps(eps)
        m, length = len(tables.places), len(secrets)
        if m**length > MAX_HISTORIES:
            raise InputError(f"pmf of atp goes through all {m:,}**{length} trajectories of places, which are too many.")
        histories = np.array(list(itertools.product(range(m), repeat=length)))
        between = _between(np.array([0, length]))
        first, second = (
            self._pmf_of_copy(np.asarray(secrets), histories, between[number], float(own), tables)
            for number, own in enumerate(split(eps, 0.5))
        )
        one, other = np.indices((m, m)).reshape(2, -1)
        merged = _merge(one, other, tables).reshape(m, m)
        scale = m ** np.arange(length)[::-1]
        total = np.zeros(len(histories))
        for history, probability in zip(histories, first, strict=True):
            np.add.at(total, merged[history, histories] @ scale, probability * second)
        return total[np.asarray(reports) @ scale]

    def _pmf_of_copy(
        self, secrets: np.ndarray, histories: np.ndarray, late: np.ndarray, eps: float, tables: Tables
    ) -> np.ndarray:
        probability = np.ones(len(histories))
        for i in np.setdiff1d(np.arange(len(secrets)), late):
            probability *= self.pmf_of_one(secrets[i], None, eps, tables)[histories[:, i]]
        for i in late:
            pairs, which = np.unique(histories[:, [i - 1, i + 1]], axis=0, return_inverse=True)
            rows = np.array([self._pmf_by_direction(secrets[i], pair, eps, tables) for pair in pairs])
            probability *= rows[which.reshape(-1), histories[:, i]]
        return probability

    def _pmf_by_direction(self, secret: int, neighbours: np.ndarray, eps: float, tables: Tables) -> np.ndarray:
        """Return the probability of each place for a location between two reported neighbours."""
        to_directions, to_place = split(eps, DIRECTIONS)
        seen = self._sectors(neighbours, np.full(2, secret), tables)
        left, right = (
            RandomizedResponse(own, self.k).pmf(sector)
            for own, sector in zip(split(to_directions, 0.5), seen, strict=True)
        )
        sectors = np.array(list(itertools.product(range(self.k), repeat=2))).T
        pivots = [np.full(self.k**2, neighbour) for neighbour in neighbours]
        allowed = self._candidates(pivots, list(sectors), tables)
        weights = _weights_among(allowed, np.full(self.k**2, secret), np.full(self.k**2, to_place), tables)
        return (left[sectors[0]] * right[sectors[1]]) @ probabilities(weights)


def _between(offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the locations that each copy reports by direction: at even places of their trajectory, and at odd ones."""
    lengths = np.diff(offsets)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    inner = (place > 0) & (place < np.repeat(lengths, lengths) - 1)
    return np.flatnonzero(inner & (place % 2 == 0)), np.flatnonzero(inner & (place % 2 == 1))


def _weights_among(allowed: np.ndarray, secrets: np.ndarray, eps: np.ndarray, tables: Tables) -> np.ndarray:
    """Return the weights of public candidates, whose spread is at most the diagonal of the box around them."""
    sides = []
    for axis, order in zip(tables.places.T, tables.orders, strict=True):
        there = allowed[:, order]
        sides.append(axis[order[-1 - there[:, ::-1].argmax(axis=1)]] - axis[order[there.argmax(axis=1)]])
    spread = np.minimum(np.hypot(*sides), tables.spread)
    return mechanism.Exponential(eps, spread).weights(distances(tables.places[secrets], tables.places), allowed)


def _merge(first: np.ndarray, second: np.ndarray, tables: Tables) -> np.ndarray:
    """Return the place nearest to the middle between two reported ones; where they agree, that one."""
    merged = first.copy()
    apart = np.flatnonzero(first != second)
    merged[apart] = tables.index.nearest((tables.places[first[apart]] + tables.places[second[apart]]) / 2)
    return merged
