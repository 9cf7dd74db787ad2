"""Where each location was, given all reports of its trajectory: forward-backward over states, in bounded memory."""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from geotracs.answers.motion import Motion

Likelihood = Callable[[int, int], np.ndarray]
LEAST = 1e-12
"""No report rules a state out altogether: numbers stay in range, and one wrong report does not lose the track."""
AT_A_TIME = 2**20
"""How many likelihoods are asked for at a time."""
MEMORY = 2**26
"""How many bytes of distributions are kept at least: of what fits in there, nothing is computed twice."""


def smooth(likelihood: Likelihood, seconds: np.ndarray, motion: Motion) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the posterior over states of all rows, some rows at a time.

    Parameters
    ----------
    likelihood : callable
        ``likelihood(first, last)`` returns how likely the reports of the rows from ``first`` up to ``last`` are from
        each state, shape (rows, states), each row up to a factor.
    seconds : array
        Time since the row before, in the order of time; infinite where a trajectory begins.
    motion : Motion
        How one moves between two rows.

    Yields
    ------
    rows : slice
    posterior : array of shape (rows, states)
        In 32 bits; each row sums to 1.

    Notes
    -----
    Rows come by groups of whole trajectories. Of a long one the forward pass keeps every k-th distribution, and the
    backward pass computes those between again when it comes to them: of n rows about 2 sqrt(n) are in memory.

    Examples
    --------
    >>> from geotracs.answers.motion import Lattice
    >>> street = Lattice((3, 1), (100.0, 100.0), np.arange(3))
    >>> walk = Motion(street, np.full(3, 1 / 3), speed=1.0)
    >>> reports = np.array([[9.0, 1.0, 1.0], [1.0, 1.0, 1.0], [9.0, 1.0, 1.0]])
    >>> [(rows, posterior)] = smooth(lambda first, last: reports[first:last], np.array([np.inf, 20, 20]), walk)
    >>> posterior[1].round(2)
    array([0.97, 0.02, 0.01], dtype=float32)
    """
    most = max(1, MEMORY // motion.start.nbytes)
    room = np.empty((0, *motion.start.shape), dtype=np.float32)  # for all groups: fresh memory takes time
    for group in _groups(seconds, most):
        k = min(max(most, math.isqrt(group.stop - group.start) + 1), group.stop - group.start)
        room = room if len(room) >= k else np.empty((k, *motion.start.shape), dtype=np.float32)
        yield from _smooth_group(likelihood, seconds, motion, group, room[:k])


def _groups(seconds: np.ndarray, most: int) -> Iterator[slice]:
    """Yield rows of whole trajectories, together at most that many, or one trajectory that is longer."""
    begins = np.append(np.flatnonzero(np.isinf(seconds)), len(seconds)).tolist()
    first = 0
    for begin, end in pairwise(begins):
        if end - first > most and begin > first:
            yield slice(first, begin)
            first = begin
    if len(seconds):
        yield slice(first, len(seconds))


def _smooth_group(
    likelihood: Likelihood, seconds: np.ndarray, motion: Motion, group: slice, room: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the posterior of the rows of a group, the last ones first, as many at a time as there is room for."""
    k = len(room)
    parts = [slice(first, min(first + k, group.stop)) for first in range(group.start, group.stop, k)]
    begins = [motion.start]
    for part in parts[:-1]:
        _forward(_weights(likelihood, part), seconds[part], motion, begins[-1], room)
        begins.append(room[-1].copy())
    after, peak = np.ones_like(motion.start), 1.0
    for part in reversed(parts):
        found = _weights(likelihood, part)
        _forward(found, seconds[part], motion, begins.pop(), room)
        for row in range(len(found) - 1, -1, -1):
            joint = np.einsum("ij,ij->j", room[row], after)
            after *= found[row] / peak
            found[row] = joint / joint.sum()  # the likelihood of the row is not needed any more
            after = motion.backward(after, float(seconds[part.start + row]))
            peak = float(after.max())
        yield part, found


def _weights(likelihood: Likelihood, part: slice) -> np.ndarray:
    """Return the likelihoods of some rows in 32 bits, the largest of each row 1."""
    found: list[np.ndarray] = []
    first, few = part.start, 1
    while first < part.stop:
        last = min(first + few, part.stop)
        rows = likelihood(first, last)
        most = rows.max(axis=1, keepdims=True)
        scaled = np.divide(rows, most, out=np.ones_like(rows), where=most > 0)  # one from nowhere says nothing
        found.append(np.maximum(scaled, LEAST).astype(np.float32))
        first, few = last, max(1, AT_A_TIME // rows.shape[1])
    return np.concatenate(found)


def _forward(weights: np.ndarray, seconds: np.ndarray, motion: Motion, before: np.ndarray, found: np.ndarray) -> None:
    """Find the distribution of each row given the reports up to it, up to a factor, from the row before the first."""
    for row, likelihood in enumerate(weights):
        before = np.multiply(motion.forward(before, float(seconds[row])), likelihood, out=found[row])
