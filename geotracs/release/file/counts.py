"""How many locations each trajectory has, however many trajectories there are."""

import numpy as np
import pandas as pd


def keys(labels: pd.Series | pd.DataFrame) -> np.ndarray:
    """Return a 64-bit number for each label, or row of labels, the same for equal ones.

    Two of a hundred million labels share one with probability 3e-4. Then both count as one longer trajectory: less of
    epsilon is spent on each, never more.
    """
    return pd.util.hash_pandas_object(labels, index=False).to_numpy()


class Counts:
    """Counts by key, in 16 bytes per trajectory; with ``how=np.minimum`` the smallest value of each.

    Examples
    --------
    >>> counts = Counts()
    >>> counts.add(np.array([7, 9], dtype=np.uint64), np.array([1, 2]))
    >>> counts.add(np.array([9], dtype=np.uint64), np.array([5]))
    >>> counts.of(np.array([9, 8], dtype=np.uint64))
    array([7, 0])
    """

    def __init__(self, how: np.ufunc = np.add) -> None:
        self._how, self._none = how, 0 if how is np.add else np.inf
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, keys: np.ndarray, counts: np.ndarray) -> None:
        """Add these numbers of locations to the counts."""
        self._parts.append(_gathered(keys, counts, self._how))
        # Parts of at least twice the size of the next: there are few of them, and each is merged a few times only.
        while len(self._parts) > 1 and len(self._parts[-2][0]) < 2 * len(self._parts[-1][0]):
            self._merge()

    def include(self, other: "Counts") -> None:
        """Add the counts of another part."""
        for labels, counts in other._parts:
            self.add(labels, counts)

    def of(self, keys: np.ndarray) -> np.ndarray:
        """Return the counts of these keys, 0 (or infinity) for one that is not known."""
        total = np.full(len(keys), self._none)
        for known, counts in self._parts:
            at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            total = self._how(total, np.where(known[at] == keys, counts[at], self._none))
        return total

    def all(self) -> np.ndarray:
        """Return the counts of all trajectories."""
        while len(self._parts) > 1:
            self._merge()
        return self._parts[0][1] if self._parts else np.zeros(0, dtype=np.int64)

    def equals(self, other: "Counts") -> bool:
        """Return whether both counted the same."""
        mine, theirs = self.all(), other.all()
        same_keys = not self._parts or not other._parts or np.array_equal(self._parts[0][0], other._parts[0][0])
        return same_keys and np.array_equal(mine, theirs)

    def _merge(self) -> None:
        (a, m), (b, n) = self._parts.pop(), self._parts.pop()
        self._parts.append(_gathered(np.concatenate([a, b]), np.concatenate([m, n]), self._how))


def _gathered(keys: np.ndarray, counts: np.ndarray, how: np.ufunc) -> tuple[np.ndarray, np.ndarray]:
    distinct, which = np.unique(keys, return_inverse=True)
    if how is np.add:
        return distinct, np.bincount(which, counts, minlength=len(distinct)).astype(counts.dtype)
    found = np.full(len(distinct), np.inf)
    how.at(found, which, counts)
    return distinct, found
