"""Pairs of reports of a release, what they say about small states, and the joint distribution of their true ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from scipy.sparse import csr_array

import geotracs.answers.pairs as pairs_
from geotracs.answers.bins import Bins, Cells
from geotracs.answers.estimate import estimate
from geotracs.answers.observations import check_independent
from geotracs.answers.operators import Dense, Observed, Operator
from geotracs.answers.pairs import Pairs
from geotracs.answers.products import Channels, Table
from geotracs.answers.reader import SEQUENTIAL, Reader
from geotracs.answers.states import CellStates, States
from geotracs.answers.tables import operator
from geotracs.core.methods import Reports
from geotracs.errors import InputError, quoted

PAIRS = ("ends", "consecutive")
MIN_PAIRS = 100
"""From fewer pairs nothing is estimated."""
PER_WINDOW = 4
"""How many report bins a window is wide."""
MIN_BINS, FINER = 16, 1.25
"""Report bins along the longer side of the region: at least so many, and at most so many times those of squares..."""
MAX_PLACES = 2**12
"""...unless reports are places, up to this many."""
FINE, FINE_SLOWLY = 80, 40
"""States along the longer side, and the same where a channel is not a product of small tables."""
CELLS = (64, 49, 36, 25, 16, 9, 4, 1)
"""Flows are estimated between about so many cells, the first number with which..."""
MAX_CELLS = 128
"""...zones do not divide them into more than these."""
MAX_LEVELS = 12
"""Reports with more epsilons than these are taken together with those of like ones."""
MAX_TABLES = 24
"""Where a table takes long to compute, there are no more than so many."""
MAX_CHANNELS = 4
"""The intervals use so many pairs of channels: those that tell most."""
FLOOR = 0.01
"""The part of the start of the estimate that is spread evenly: what is nothing at first stays so."""
RUN = 50
"""Pairs of a method that looks back are left out in runs of so many, since neighbours share a report."""


@dataclass(frozen=True, eq=False, repr=False)
class PlaceCells:
    """The cells in which the places of a release lie, as report bins."""

    count: int
    cells: np.ndarray

    def label(self, reports: Reports) -> np.ndarray:
        """Return the cell of each report's place."""
        return self.cells[np.asarray(reports.which)]


def chosen(reader: Reader, pairs: str) -> np.ndarray:
    """Return which reports are the ends of pairs, a row each, in the order of the trajectories."""
    if pairs not in PAIRS:
        raise InputError(f"`pairs` must be one of {', '.join(map(repr, PAIRS))}, got {quoted(pairs)}.")
    if reader.guarantee.trajectory is None and reader.tracks.counts is None:
        raise InputError(
            "The release has no trajectories, so that no two of its reports belong together. Name the column that says "
            "which trajectory a row belongs to when you perturb, e.g. trajectory='person'."
        )
    first, last = reader.offsets[:-1], reader.offsets[1:] - 1
    if not np.any(last > first):
        raise InputError("All trajectories of the release hold one location only; a pair needs two.")
    if pairs == "consecutive":
        first = np.setdiff1d(np.arange(len(reader.xy)), last)
        last = first + 1
    found = np.column_stack([first, last])[last > first]
    if reader.observations is not None:
        if reader.channel.over == "places" or reader.channel.tables():
            check_independent(reader.observations, "what is between two ends, out of few places or codewords,")
        found = reader.observations.distinct_pairs(found)
    if len(found) < MIN_PAIRS:
        raise InputError(
            f"At least {MIN_PAIRS} pairs of reports are needed, and the release has {len(found)}: nothing can be told "
            "from so few."
        )
    if reader.channel.method.sequential and len(found) > SEQUENTIAL // 2:
        every = -(-len(found) // (SEQUENTIAL // 2))
        found = found[np.arange(len(found)) // RUN % every == 0]
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Trips:
    """Pairs of reports of a release, and where their ends may have been.

    Attributes
    ----------
    reader : Reader
    states : States
        Where an end may have been, as finely as anything is asked.
    ends : array of int, shape (n, 2)
        Which reports the pairs consist of.
    side : int
        How many squares the region is divided into along each side, if it is square.
    """

    reader: Reader
    states: States
    ends: np.ndarray
    side: int

    @classmethod
    def of(cls, reader: Reader, pairs: str, side: int) -> "Trips":
        """Return the pairs of a release."""
        ends = chosen(reader, pairs)
        product = reader.channel.factors(float(reader.levels[0])) is not None
        return cls(reader, reader.states(side=FINE if product else FINE_SLOWLY), ends, side)

    @property
    def sequential(self) -> bool:
        """Whether each report has a likelihood of its own."""
        return self.reader.channel.method.sequential

    @cached_property
    def eps(self) -> np.ndarray:
        """The epsilon of each report."""
        return np.broadcast_to(np.asarray(self.reader.eps, dtype=np.float64), len(self.reader.xy))

    @cached_property
    def levels(self) -> np.ndarray:
        """The group of like epsilons that each report belongs to, a number from 0 on."""
        if len(self.reader.levels) <= MAX_LEVELS:
            return np.searchsorted(self.reader.levels, self.eps)
        logs = np.log(self.eps)
        steps = np.minimum((logs - logs.min()) / max(float(np.ptp(logs)), 1e-12) * MAX_LEVELS, MAX_LEVELS - 1)
        return np.unique(steps.astype(np.int64), return_inverse=True)[1].reshape(-1)

    @cached_property
    def bins(self) -> Bins:
        """What may have been reported."""
        release = self.reader.channel.release
        if release.places is not None and release.places.count <= MAX_PLACES:
            return self.reader.bins(self.states)
        shape = self.states.shape if isinstance(self.states, CellStates) else (FINE_SLOWLY, FINE_SLOWLY)
        part = min(1.0, float(np.clip(_narrow(self.reader), MIN_BINS, FINER * self.side)) / max(shape))
        cells = Cells(release, (int(np.ceil(shape[0] * part)), int(np.ceil(shape[1] * part))))
        if release.places is None:
            return cells
        places = release.places.sample(release.places.count)
        return PlaceCells(cells.count, cells.label(Reports(places, None)))

    @cached_property
    def labels(self) -> np.ndarray:
        """The bins of both ends of each pair."""
        if self.sequential:
            return np.searchsorted(np.unique(self.ends), self.ends)
        return self.bins.label(self.reader.reports)[self.ends]

    @cached_property
    def operators(self) -> list[list[tuple[float, Operator]]]:
        """How likely each bin is from each state, for each epsilon of each group, and how many reports have it."""
        if self.sequential:
            return [[(1.0, Dense(self.reader.likelihood(self.states, np.unique(self.ends))))]]
        return [self._operators(level) for level in range(int(self.levels.max()) + 1)]

    def _operators(self, level: int) -> list[tuple[float, Operator]]:
        channel = self.reader.channel
        values, counts = np.unique(self.eps[self.levels == level], return_counts=True)
        if len(self.reader.levels) > MAX_TABLES and channel.factors(float(values[0])) is None:
            values, counts = np.array([np.average(values, weights=counts)]), counts[:1]
        parts = (counts / counts.sum()).tolist()
        return [
            (part, operator(channel, eps, self.states, self.bins))
            for part, eps in zip(parts, values.tolist(), strict=True)
        ]

    @cached_property
    def groups(self) -> list[tuple[tuple[int, int], np.ndarray]]:
        """The levels of both ends, and which pairs have them."""
        if self.sequential:
            return [((0, 0), np.arange(len(self.ends)))]
        both, which = np.unique(self.levels[self.ends], axis=0, return_inverse=True)
        return [((int(a), int(b)), np.flatnonzero(which.reshape(-1) == k)) for k, (a, b) in enumerate(both)]

    def survey(self, shares: np.ndarray) -> "Survey":
        """Return what pairs say about squares inside zones; ``shares`` are the parts of states in zones.

        A state on the border of two zones is divided among squares on both sides.
        """
        zones, states = np.nonzero(shares)
        xy = self.states.xy
        cells = divided(zones, xy, states)
        number = self.side**2
        small = np.unique(cells * number + squares(xy, number)[states], return_inverse=True)[1].reshape(-1)
        area = shares[zones, states] * np.maximum(self.states.prior, 1e-300)[states]
        weights = csr_array((area, (states, small)), shape=(self.states.count, int(small.max()) + 1)).toarray()
        _, first = np.unique(small, return_index=True)
        prior = weights.sum(axis=0)
        return Survey(self, weights / prior, prior / prior.sum(), cells[first], zones[first])


@dataclass(frozen=True, eq=False, repr=False)
class Survey:
    """What pairs of reports say about squares, and cells that consist of squares.

    Attributes
    ----------
    trips : Trips
    weights : array of shape (states, squares)
        The distribution over states inside each square.
    prior : array of shape (squares,)
        How much of the region each square has.
    cells : array of int
        The cell that each square belongs to.
    zones : array of int
        The zone of each square.
    """

    trips: Trips
    weights: np.ndarray
    prior: np.ndarray
    cells: np.ndarray
    zones: np.ndarray

    @cached_property
    def shares(self) -> np.ndarray:
        """Which zone each square is in, a row for each zone."""
        return np.asarray(self.zones == np.arange(int(self.zones.max()) + 1)[:, None], dtype=np.float64)

    @cached_property
    def tables(self) -> list[np.ndarray]:
        """How likely each bin is from each square, for each level."""
        found = (sum(part * one.predict(self.weights) for part, one in own) for own in self.trips.operators)
        return [np.maximum(table, 0) for table in found]  # rounding errors may be below

    @cached_property
    def p(self) -> np.ndarray:
        """The distribution of all ends over squares."""
        seen = [np.zeros(len(table), dtype=np.int64) for table in self.tables]
        for numbers, own in self.trips.groups:
            for end, number in enumerate(numbers):
                seen[number] += np.bincount(self.trips.labels[own, end], minlength=len(seen[number]))
        observed = [Observed(Dense(table), counts) for table, counts in zip(self.tables, seen, strict=True)]
        return np.asarray((1 - FLOOR) * estimate(observed, self.prior).p + FLOOR * self.prior)

    @cached_property
    def within(self) -> np.ndarray:
        """The distribution inside each cell over its squares."""
        found = np.zeros((len(self.p), int(self.cells.max()) + 1))
        found[np.arange(len(self.p)), self.cells] = self.p
        return found / found.sum(axis=0)

    @cached_property
    def away(self) -> np.ndarray:
        """How far apart squares are, in metres."""
        reader, states = self.trips.reader, self.trips.states
        xy, n = self.weights.T @ states.xy, len(self.p)
        metres = 1.0 if reader.region.domain.in_degrees else reader.metres
        return metres * reader.region.domain.distance(np.repeat(xy, n, axis=0), np.tile(xy, (n, 1))).reshape(n, n)

    def pairs(self, some: np.ndarray | None, within: np.ndarray | None = None) -> list[Pairs]:
        """Return all pairs or some with what they say about squares, or about cells that consist of squares."""
        tables = self.tables if within is None else [table @ within for table in self.tables]
        return [Pairs.of(tables[a], tables[b], *self.trips.labels[own].T) for (a, b), own in self._groups(some)]

    def ends(self, groups: Sequence[Pairs], p: np.ndarray) -> list[np.ndarray]:
        """Return the distribution of the first and of the second ends, from that of both."""
        return [pairs_.estimate([group.end(end) for group in groups], p[:, None])[:, 0] for end in (0, 1)]

    def joint(
        self, some: np.ndarray | None = None, expected: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the joint distribution of both ends over cells, from all pairs or some.

        It starts from the mixture of staying, trips of several ranges, and going anywhere that explains the pairs best;
        how much of each is returned, too, and may be expected.
        """
        groups = self.pairs(some, self.within)
        ends = self.ends(groups, np.bincount(self.cells, self.p))
        kinds = pairs_.gravity(ends, self.within.T @ self.away @ self.within)
        weights = pairs_.mixture(groups, kinds, expected)
        start = np.asarray(np.tensordot(weights, np.stack(kinds), axes=1))
        return pairs_.estimate(groups, (1 - FLOOR) * start + FLOOR / start.size), weights

    def channels(self, some: np.ndarray | None = None) -> list[Channels]:
        """Return the pairs through those pairs of channels that tell most."""
        labels, ends = self.trips.labels, self.trips.ends
        tables = [Table(table, self.p) for table in self.tables]
        found = []
        for (a, b), own in self._groups(some):
            both = (tables[a], tables[b])
            if self.trips.sequential:
                both = (tables[0].seen(labels[own, 0]), tables[0].seen(labels[own, 1]))
            linked = np.append(ends[own[:-1], 1] == ends[own[1:], 0], False)
            found.append(Channels(both, (labels[own, 0], labels[own, 1]), linked))
        found.sort(key=lambda group: -group.total * group.tables[0].telling * group.tables[1].telling)
        return found[:MAX_CHANNELS]

    def _groups(self, some: np.ndarray | None) -> Sequence[tuple[tuple[int, int], np.ndarray]]:
        if some is None:
            return self.trips.groups
        part = [(numbers, own[some[own]]) for numbers, own in self.trips.groups]
        return [(numbers, own) for numbers, own in part if len(own)]


def divided(zones: np.ndarray, xy: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return the cell of some of the points ``xy``: the square of a coarse grid that they lie in, and their zone."""
    for number in CELLS:
        cells = np.unique(zones * number + squares(xy, number)[which], return_inverse=True)[1].reshape(-1)
        if cells.max() < MAX_CELLS:
            break
    return cast(np.ndarray, cells)


def _narrow(reader: Reader) -> float:
    """Return how many bins along the longer side of the region are narrow beside a window."""
    return PER_WINDOW * reader.size / max(reader.resolution(), 1e-6 * reader.size)


def squares(xy: np.ndarray, number: int) -> np.ndarray:
    """Return in which of at most ``number`` squares of a grid over all of them each point lies."""
    low, sides = xy.min(axis=0), np.maximum(np.ptp(xy, axis=0), 1e-9 * np.ptp(xy) + 1e-300)
    width = max(np.sqrt(sides.prod() / number), sides.max() / number)
    counts = np.maximum(np.floor(sides / width + 1e-9), 1)
    i, j = np.minimum((xy - low) / sides * counts, counts - 1).astype(np.int64).T
    return np.asarray(i * int(counts[1]) + j)
