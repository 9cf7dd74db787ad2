"""What the reports between begin and end of a trip say about both."""

import numpy as np
from scipy.spatial import cKDTree

from geotracs.answers.reader import Reader
from geotracs.answers.states import States

FRACTIONS = 16
"""In how many steps from begin to end a report on the way is placed..."""
ASIDE = 1.5
"""...and how far from the straight way it may be, in widths of a cell..."""
ASTRAY = 0.05
"""...unless it is anywhere: people rest, and go round about."""


class Way:
    """Where one is on the straight way from each state to each other.

    Attributes
    ----------
    states : array of int, shape (FRACTIONS + 1, states, states)
        The state nearest to where one is after each part of the way.
    """

    def __init__(self, states: States) -> None:
        xy, tree = states.xy, cKDTree(states.xy)
        parts = np.linspace(0, 1, FRACTIONS + 1)
        self.states = np.stack([tree.query((1 - part) * xy[:, None] + part * xy)[1] for part in parts])
        width = np.median(tree.query(xy, k=2)[0][:, 1])
        near = np.hypot(*(xy[:, None] - xy).transpose(2, 0, 1)) <= ASIDE * width
        self._near = (1 - ASTRAY) * near / near.sum(axis=1, keepdims=True) + ASTRAY * states.prior

    def near(self, likely: np.ndarray) -> np.ndarray:
        """Return how likely reports are of somebody who is near each state, or astray."""
        return likely / likely.max(axis=1, keepdims=True) @ self._near.T


def likelihood(reader: Reader, states: States, ends: np.ndarray, rows: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Return how likely the reports on the way are, for candidates of begin and end of each trip.

    Whoever goes from one state to another is, after a part of the time, about that part of the straight way on.

    Parameters
    ----------
    ends : array of int, shape (2, trips, candidates)
        States where each trip may have begun and ended.
    rows : array of int, shape (2, trips)
        The first and the last report of each trip.
    seconds : array
        The time of each report.

    Returns
    -------
    array of shape (trips, candidates)
        Up to a factor for each trip: 1 for its best candidate.
    """
    (first, last), way, found = rows, Way(states), np.ones(ends.shape[1:])
    for ahead in range(1, int((last - first).max(initial=0))):
        some = np.flatnonzero(last - first > ahead)
        row, begin, end = first[some] + ahead, first[some], last[some]
        part = (seconds[row] - seconds[begin]) / np.maximum(seconds[end] - seconds[begin], 1e-9)
        step = np.rint(np.clip(part, 0, 1) * FRACTIONS).astype(np.int64)
        here = way.states[step[:, None], ends[0, some], ends[1, some]]
        found[some] *= np.take_along_axis(way.near(reader.likelihood(states, row)), here, axis=1)
        found[some] /= found[some].max(axis=1, keepdims=True)
    return found
