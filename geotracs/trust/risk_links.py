"""Linkage: whose track is it? By the places of two halves of a release, and by some points that are known."""

from dataclasses import dataclass

import numpy as np

from geotracs.answers.reader import Reader
from geotracs.answers.states import States
from geotracs.core.randomness import made_up

SIDE = 32
"""Cells along the longer side of the region."""
ROUNDS = 20
"""Rounds of EM for where a person usually is..."""
ANYWHERE = 0.1
"""...who is elsewhere with this probability."""
LEAST = 1e-9
SURE = 1e6
"""Equal reports tell more than any likelihood."""


@dataclass(frozen=True, eq=False, repr=False)
class Seen:
    """How much likelier each report is from each cell than from anywhere, and whose it is and of when.

    Attributes
    ----------
    ratios : array of shape (reports, states)
    person : array of int
        The number of the person, from 0 on.
    times : array
        In seconds.
    report : array of int, or None
        The number of each report, where equal ones are a person's in one place.
    """

    states: States
    ratios: np.ndarray
    person: np.ndarray
    times: np.ndarray
    report: np.ndarray | None = None

    @classmethod
    def of(cls, reader: Reader, person: np.ndarray) -> "Seen":
        """Return how a reader sees the reports."""
        states = reader.states(side=SIDE)
        likely = reader.likelihood(states, np.arange(len(reader.xy)))
        usual = likely @ states.prior
        ratios = (likely / np.maximum(usual, LEAST * max(usual.max(), 1e-300))[:, None]).astype(np.float32)
        times = np.arange(len(person), dtype=float) if reader.times is None else reader.times
        report = None if reader.observations is None else reader.observations.report
        return cls(states, ratios, person, times, report)


def halves(seen: Seen) -> np.ndarray:
    """Return whether each person of the earlier half of a release is found in the later one, by places alone.

    Each half of a person's reports counts as a release with labels of its own. Where a person of the first one usually
    is comes from EM; the person of the second whose reports are likeliest from there is taken for the same. Equal times
    or columns would give people away without any places: nothing protects those.
    """
    people = np.unique(seen.person)
    early, late, rows_of = [], [], []
    for one in people.tolist():
        rows = np.flatnonzero(seen.person == one)
        rows = rows[np.argsort(seen.times[rows], kind="stable")]
        if len(rows) >= 2:
            early.append(_usual(seen.ratios[rows[: len(rows) // 2]], seen.states.prior))
            late.append(seen.ratios[rows[len(rows) // 2 :]])
            rows_of.append(np.split(rows, [len(rows) // 2]))
    if len(early) < 2:
        return np.zeros(0, dtype=bool)
    usual = np.array(early).T
    scores = np.array([np.log(np.maximum(rows @ usual, LEAST)).mean(axis=0) for rows in late]).T
    if seen.report is not None:
        scores = scores + SURE * _shared(seen.report, rows_of)
    return scores.argmax(axis=1) == np.arange(len(usual.T))


def _shared(report: np.ndarray, halves: list[list[np.ndarray]]) -> np.ndarray:
    """Return which part of the reports of each later half each earlier half has, too."""
    early, late = ([report[half[number]] for half in halves] for number in (0, 1))
    return np.array([[np.isin(own, other).mean() for own in late] for other in early])


def _usual(ratios: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return where somebody usually is: the shares of the states, by EM."""
    share = prior.astype(np.float64)
    for _ in range(ROUNDS):
        likely = np.maximum(ratios @ share, LEAST)
        share *= ratios.T @ (1 / likely) / len(ratios)
        share /= share.sum()
    return (1 - ANYWHERE) * share + ANYWHERE * prior


def known(seen: Seen, truth: np.ndarray, points: int) -> np.ndarray:
    """Return whether each person is found by so many places and times at which somebody saw them.

    Of every person the report that is nearest in time to each of the points is compared with where the point was.
    """
    people, rng = np.unique(seen.person), made_up(0)
    if len(people) < 2:
        return np.zeros(0, dtype=bool)
    rows = [np.flatnonzero(seen.person == one) for one in people.tolist()]
    rows = [own[np.argsort(seen.times[own], kind="stable")] for own in rows]
    cells = seen.states.label(truth)
    hits = []
    for number, own in enumerate(rows):
        chosen = own[rng.choice(len(own), min(points, len(own)), replace=False)]
        chosen = chosen[cells[chosen] >= 0]
        scores = [np.log(seen.ratios[_nearest(seen.times, one, chosen), cells[chosen]] + LEAST).sum() for one in rows]
        hits.append(bool(len(chosen)) and int(np.argmax(scores)) == number)
    return np.array(hits)


def _nearest(times: np.ndarray, rows: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return which of some rows, in the order of time, is nearest in time to each of those that are asked for."""
    own, wanted = times[rows], times[asked]
    after = np.clip(np.searchsorted(own, wanted), 1, max(len(rows) - 1, 1))
    if len(rows) == 1:
        return np.repeat(rows, len(asked))
    return rows[np.where(wanted - own[after - 1] <= own[after] - wanted, after - 1, after)]
