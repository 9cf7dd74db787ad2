"""The windows of places that own tokens: the nearest places up to exactly k tokens, the last of them in part."""

import numpy as np
from scipy.spatial import cKDTree

from geotracs.core.mechanisms.tokens import Windows

ENTRIES = 2**21
"""How many distances are held at a time."""
KEPT = 2**23
"""How many members of windows are kept for the other blocks of locations."""
MIN_LENGTH = 16
"""The search asks for at least this many neighbours."""
CLEARLY = 1 - 1e-9
"""A place is nearer than another beyond doubt up to this share of the other's squared distance. A tree may round
otherwise than a subtraction."""

Cut = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The row, the owner and the end of each member of some windows."""


class TokenWindows:
    """The windows of all places of a public set.

    Of places equally far, those that come first in the set are nearer. A place without tokens is in no window.

    Parameters
    ----------
    points : array of shape (m, dim)
        Where the places are.
    weights : array of int, shape (m,)
        The tokens of each place.
    k : int
        How many tokens a window holds, from 1 to their sum.

    Examples
    --------
    >>> windows = TokenWindows(np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]]), np.array([3, 1, 2]), 4)
    >>> found = windows.around(np.array([0, 2]))
    >>> found.members.tolist(), found.ends.tolist()
    ([0, 1, 2, 1, 0], [3, 4, 6, 7, 8])
    """

    def __init__(self, points: np.ndarray, weights: np.ndarray, k: int) -> None:
        self._points, self._k = points, k
        self._owners = np.flatnonzero(weights)
        self._tokens = weights[self._owners].astype(np.int64)
        self._tree = cKDTree(points[self._owners])
        self._kept: tuple[Windows, np.ndarray] | None = None
        self._typical = max(MIN_LENGTH, 2 * k * len(self._owners) // int(self._tokens.sum()))

    def __getstate__(self) -> dict[str, object]:
        """Travel without what can be found again."""
        return self.__dict__ | {"_kept": None}

    def parts(self, n: int) -> list[slice]:
        """Cut n windows into slices that fit in memory."""
        step = max(1, ENTRIES // min(self._typical, len(self._owners)))
        return [slice(first, min(first + step, n)) for first in range(0, n, step)]

    def around(self, secrets: np.ndarray) -> Windows:
        """Return the windows of some places."""
        if self._kept is None and 2 * len(secrets) >= len(self._points) and self._small():
            self._keep()
        if self._kept is None:
            return self._found(secrets)
        windows, bounds = self._kept
        begins, counts = bounds[secrets], np.diff(bounds)[secrets]
        flat = np.arange(counts.sum()) + np.repeat(begins - np.cumsum(counts) + counts, counts)
        shift = np.repeat((np.arange(len(secrets)) - secrets) * self._k, counts)
        return Windows(windows.members[flat], windows.ends[flat] + shift)

    def _small(self) -> bool:
        """Return whether all windows may be kept, judged by some."""
        some = np.linspace(0, len(self._points) - 1, min(len(self._points), 64)).astype(np.int64)
        return len(self._found(some).members) * len(self._points) <= KEPT * len(some)

    def _keep(self) -> None:
        every = np.arange(len(self._points))
        parts = [(self._found(every[part]), part.start) for part in self.parts(len(every))]
        members = np.concatenate([found.members for found, _ in parts])
        ends = np.concatenate([found.ends + first * self._k for found, first in parts])
        bounds = np.searchsorted(ends, np.arange(len(every) + 1) * self._k, side="left") + 1
        bounds[0] = 0
        self._kept = Windows(members, ends), bounds

    def _found(self, secrets: np.ndarray) -> Windows:
        """Look for longer and longer lists of neighbours until each holds a window."""
        rows, length, found = np.arange(len(secrets)), self._typical, []
        while len(rows):
            whole = 4 * length >= len(self._owners)
            step = max(1, ENTRIES // (len(self._owners) if whole else length))
            short = []
            for first in range(0, len(rows), step):
                own = rows[first : first + step]
                cut, safe = self._cut(own, *self._sorted(secrets[own], length, whole), whole)
                found.append(cut)
                short.append(own[~safe])
            rows, length = np.concatenate(short), 4 * length
        row, order, ends = (np.concatenate(column) for column in zip(*found, strict=True))
        back = np.argsort(row, kind="stable")
        return Windows(self._owners[order[back]], ends[back])

    def _cut(self, rows: np.ndarray, order: np.ndarray, square: np.ndarray, whole: bool) -> tuple[Cut, np.ndarray]:
        """Cut lists of neighbours where their windows end, and say which lists surely hold theirs."""
        length = order.shape[1]
        up_to = np.cumsum(self._tokens[order], axis=1)
        counts = (up_to < self._k).sum(axis=1) + 1
        edge = square[np.arange(len(rows)), np.minimum(counts, length) - 1]
        safe = np.full(len(rows), True) if whole else (counts <= length) & (edge <= CLEARLY * square[:, -1])
        inside = (np.arange(length) < counts[:, None]) & safe[:, None]
        ends = np.minimum(up_to, self._k) + rows[:, None] * self._k
        return (rows[np.nonzero(inside)[0]], order[inside], ends[inside]), safe

    def _sorted(self, secrets: np.ndarray, length: int, whole: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest owners by distance, then by number, and their squared distances."""
        at = self._points[secrets]
        if whole:
            near = np.broadcast_to(np.arange(len(self._owners)), (len(secrets), len(self._owners)))
        else:
            near = np.sort(self._tree.query(at, k=length)[1], axis=1)
        square = sum((at[:, axis, None] - x[self._owners][near]) ** 2 for axis, x in enumerate(self._points.T))
        order = np.argsort(square, axis=1, kind="stable")
        return np.take_along_axis(near, order, axis=1), np.take_along_axis(square, order, axis=1)
