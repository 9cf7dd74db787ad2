"""Where trips begin and end: what a release says about each of them, and about all together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geotracs.answers.estimate import estimate as density
from geotracs.answers.operators import Dense, Observed
from geotracs.answers.pairs import Pairs, estimate, gravity, mixture
from geotracs.answers.reader import Reader
from geotracs.answers.states import States
from geotracs.answers.tables import operator

LEVELS = 4
"""Up to so many epsilons have tables of their own; with more, each trip has."""
MAX_BINS = 2**15
"""Up to so many bins have a table."""
FLOOR = 0.01
"""The part of what an estimate starts from that is spread evenly: what is nothing at first stays so."""
AT_ONCE = 2**24
"""How many numbers are drawn from at a time."""
MAX_APART = 8_000
"""Of trips that have tables of their own, so many are used to see which ends belong together."""


@dataclass(frozen=True, eq=False, repr=False)
class Ends:
    """Trips whose ends came through the same two channels, or each through its own.

    Attributes
    ----------
    first, last : arrays of shape (bins, states)
        How likely each bin is from each state, at the begin and at the end of a trip.
    one, other : arrays of int
        The bins of both ends of each trip.
    trips : array of int
        Which trips these are.
    """

    first: np.ndarray
    last: np.ndarray
    one: np.ndarray
    other: np.ndarray
    trips: np.ndarray

    @property
    def apart(self) -> bool:
        """Whether each trip has tables of its own."""
        return len(self.first) == len(self.one)

    def pairs(self, rng: np.random.Generator) -> Pairs:
        """Return the pairs of reports, at most `MAX_APART` of them where each has its own tables."""
        if self.apart and len(self.one) > MAX_APART:
            some = np.sort(rng.choice(len(self.one), MAX_APART, replace=False))
            bins = np.arange(MAX_APART)
            return Pairs.of(self.first[self.one[some]], self.last[self.other[some]], bins, bins)
        return Pairs.of(self.first, self.last, self.one, self.other)

    def draw(self, joint: np.ndarray, which: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw where some of the trips begin and end, given their reports and the joint distribution; shape (2, n)."""
        first, last = self.first[self.one[which]], self.last[self.other[which]]
        begin = choose(first * (last @ joint.T), rng)
        return np.stack([begin, choose(joint[begin] * last, rng)])


def joint_shares(groups: Sequence[Ends], states: States, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Return how likely each pair of states is to be begin and end of a trip, and how many nats say so.

    These are by how much it explains the reports better than trips from anywhere to anywhere.

    Where ends are is estimated first, whichever they are; then begins and ends, each alone; then which of them belong
    together. That starts from the mixture of short and long trips that explains the reports best, and goes on as long
    as trips that were set aside are predicted better.
    """
    pairs = [group.pairs(rng) for group in groups]
    either = [Observed(Dense(end.first), _counts(end)) for own in pairs for end in (own.end(0), own.end(1))]
    p = (1 - FLOOR) * density(either, states.prior).p + FLOOR * states.prior
    begins, ends = (estimate([own.end(side) for own in pairs], p[:, None])[:, 0] for side in (0, 1))
    kinds = gravity([begins, ends], np.hypot(*(states.xy[:, None] - states.xy).transpose(2, 0, 1)))
    start = np.tensordot(mixture(pairs, kinds), np.stack(kinds), axes=1)
    anywhere = np.outer(states.prior, states.prior)
    found = estimate(pairs, (1 - FLOOR) * start + FLOOR * anywhere)
    gain = sum(float(own.counts @ np.log(own.predict(found) / own.predict(anywhere))) for own in pairs)
    return found, gain


def _counts(end: Pairs) -> np.ndarray:
    """Return how often each bin of one end was reported."""
    return np.bincount(end.rows, end.counts, minlength=len(end.first))


def draw(groups: Sequence[Ends], joint: np.ndarray, which: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw begin and end of some trips, counted through all groups; shape (2, trips)."""
    number = np.repeat(np.arange(len(groups)), [len(group.trips) for group in groups])
    place = np.concatenate([np.arange(len(group.trips)) for group in groups])
    order = np.argsort(np.concatenate([group.trips for group in groups]))
    number, place = number[order[which]], place[order[which]]
    found = np.empty((2, len(which)), dtype=np.int64)
    for one, group in enumerate(groups):
        own = np.flatnonzero(number == one)
        for part in np.array_split(own, 1 + len(own) * len(joint) // AT_ONCE):
            found[:, part] = group.draw(joint, place[part], rng)
    return found


def of_levels(reader: Reader, states: States, first: np.ndarray, last: np.ndarray) -> list[Ends] | None:
    """Return trips by the epsilons of both ends; None where tables would be too many or too large.

    Parameters
    ----------
    first, last : arrays of int
        The first and the last report of each trip.
    """
    bins = reader.bins(states)
    if reader.channel.method.sequential or bins.count > MAX_BINS:
        return None
    eps = np.broadcast_to(np.asarray(reader.eps, dtype=np.float64), len(reader.xy))
    levels, which = np.unique(np.column_stack([eps[first], eps[last]]), axis=0, return_inverse=True)
    if len(np.unique(levels)) > LEVELS:
        return None
    tables = {
        level: np.maximum(operator(reader.channel, level, states, bins).dense(), 0)  # rounding errors may be below 0
        for level in np.unique(levels).tolist()
    }
    label, groups = bins.label(reader.reports), []
    for number, (one, other) in enumerate(levels.tolist()):
        own = np.flatnonzero(which.reshape(-1) == number)
        groups.append(Ends(tables[one], tables[other], label[first[own]], label[last[own]], own))
    return groups


def of_each(reader: Reader, states: States, first: np.ndarray, last: np.ndarray) -> Ends:
    """Return trips with likelihoods of their own."""
    own = np.arange(len(first))
    return Ends(reader.likelihood(states, first), reader.likelihood(states, last), own, own, own)


def choose(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column for each row, in proportion to its weights."""
    total = np.cumsum(weights, axis=1)
    return np.minimum((total <= rng.random((len(weights), 1)) * total[:, -1:]).sum(axis=1), weights.shape[1] - 1)
