"""Reports that no density can explain: somebody made them up, or they came through another channel.

Wherever people are, at most a part r of the reports that fall into a box and around it fall into the box itself: r is
the largest ratio of the two probabilities over all places, and a mixture of places cannot exceed it. So among the k
reports of box and surroundings those of the box are at most Binomial(k, r), whatever the density, and too many of them
are a test whose false alarms are known. It sees what is concentrated more than any blur allows. It does not see made-up
reports that are spread as honest ones are: nothing can.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree
from scipy.special import betainc

from geotracs.answers.operators import Observed, Operator

FALSE_ALARM = 0.01
"""At most this part of honest releases has any conspicuous box."""
SIDES = (24, 12)
"""Boxes along the longer side of all bins, in two sizes."""
REACHES = (1, 2, 4)
"""How many boxes around one, in each direction, are its surroundings."""
AT_ONCE = 256
"""Columns of tables that are computed at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Conspicuous:
    """Bins with more reports than any density can explain.

    Attributes
    ----------
    bins : array of bool
        Which bins are in a conspicuous box, of each `Observed` one row.
    boxes : int
        How many boxes were conspicuous.
    tests : int
        How many tests were made; each has its part of the false alarms.
    """

    bins: np.ndarray
    boxes: int
    tests: int


def conspicuous(
    observed: Sequence[Observed], finer: Sequence[Operator], xy: np.ndarray, false_alarm: float = FALSE_ALARM
) -> Conspicuous:
    """Return where reports are more concentrated than any density can explain.

    Parameters
    ----------
    observed : sequence of Observed
        Counts, one for each epsilon.
    finer : sequence of Operator
        The same channels over states half as wide: what is lost within a state shrinks by half, and so is known. The
        same operators again where states are points.
    xy : array of shape (bins, 2)
        Where bins are.
    false_alarm : float
        How often there may be any conspicuous box in honest reports.

    Examples
    --------
    >>> from geotracs.answers.operators import Dense
    >>> near = np.abs(np.subtract.outer(np.arange(24), np.arange(24))) < 4
    >>> channel, row = Dense(near / near.sum(axis=0)), np.column_stack([np.arange(24.0), np.zeros(24)])
    >>> counts = np.full(24, 40)
    >>> conspicuous([Observed(channel, counts)], [channel], row).boxes
    0
    >>> counts[9] = 200
    >>> conspicuous([Observed(channel, counts)], [channel], row).bins[0].nonzero()[0].tolist()  # a box has two of them
    [8, 9]
    """
    divisions = [_Boxes.of(xy, side) for side in SIDES]
    tests = len(observed) * len(REACHES) * sum(boxes.count for boxes in divisions)
    found, number = np.zeros((len(observed), len(xy)), dtype=bool), 0
    for row, (seen, fine) in enumerate(zip(observed, finer, strict=True)):
        for boxes in divisions:
            bad = boxes.bad(seen, fine, false_alarm / tests)
            found[row] |= bad[boxes.box]
            number += int(bad.sum())
    return Conspicuous(found, number, tests)


@dataclass(frozen=True, eq=False, repr=False)
class _Boxes:
    """Bins in boxes.

    Attributes
    ----------
    box : array of int
        The box of each bin.
    place : array of shape (boxes, 2)
        Column and row of each box.
    """

    box: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, xy: np.ndarray, side: int) -> "_Boxes":
        low = xy.min(axis=0)
        edge = max(float(np.ptp(xy, axis=0).max()) / side, 1e-300) * (1 + 1e-9)
        place, box = np.unique(np.floor((xy - low) / edge).astype(np.int64), axis=0, return_inverse=True)
        return cls(box.reshape(-1), place)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.place)

    def bad(self, seen: Observed, finer: Operator, chance: float) -> np.ndarray:
        """Return which boxes have too many of the reports around them; by chance with this probability each."""
        tree, every = cKDTree(self.place), np.arange(self.count)
        counts, bad = np.bincount(self.box, seen.counts, self.count), np.zeros(self.count, dtype=bool)
        for reach in REACHES:
            pairs = tree.query_ball_point(self.place, reach + 0.5, p=np.inf)
            sizes = [len(own) for own in pairs]
            around = csr_array((np.ones(sum(sizes)), (np.repeat(every, sizes), np.concatenate(pairs).astype(int))))
            together = around @ counts
            asked = np.flatnonzero((counts > 1) & (sizes > np.array(1)))
            most = np.ones(self.count)
            most[asked] = self._most(seen.operator, finer, around, asked)
            tail = betainc(np.maximum(counts, 1), together - counts + 1, most)
            bad |= (counts > 1) & (most < 1) & (tail < chance)
        return bad

    def _most(self, operator: Operator, finer: Operator, around: csr_array, asked: np.ndarray) -> np.ndarray:
        """Return the largest part of the reports in and around some boxes that may fall into them, over all places.

        A state is the mean over a cell, and a place in it may have a larger part: by about as much as halving cells
        gains.
        """
        member = csr_array((np.ones(len(self.box)), (self.box, np.arange(len(self.box)))))
        found = []
        for first in range(0, len(asked), AT_ONCE):
            some = asked[first : first + AT_ONCE]
            own, all_around = member[some].toarray().T, (around[some] @ member).toarray().T
            coarse, fine = (
                (table.adjoint(own) / np.maximum(table.adjoint(all_around), 1e-300)).max(axis=0)
                for table in (operator, finer)
            )
            found.append(np.minimum(fine + np.maximum(fine - coarse, 0), 1))
        return np.concatenate(found) if found else np.zeros(0)
