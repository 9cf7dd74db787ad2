"""A digest of released locations: whether a frame still holds what was released, all of it or a part.

It is made of the reports only, so it tells nothing that they do not. It does not depend on the order of the rows, and
digests of pieces add up.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

SAME, PART, OTHER, UNKNOWN = "same", "part", "other", "unknown"
LOWEST = 256
"""How many of the smallest hashes are kept, to tell foreign locations by."""


@dataclass(frozen=True)
class Digest:
    """The number of locations, the sum of their hashes, and the smallest of these.

    Examples
    --------
    >>> reports = np.array([[139.7, 35.6], [139.8, 35.7], [139.9, 35.5]])
    >>> whole = Digest.of(reports[:2]) + Digest.of(reports[2:])
    >>> whole.compare(reports[::-1]), whole.compare(reports[:1]), whole.compare(reports + 0.1)
    ('same', 'part', 'other')
    """

    count: int = 0
    total: int = field(default=0, repr=False)
    lowest: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.uint64), repr=False)

    @classmethod
    def of(cls, xy: np.ndarray) -> Self:
        """Return the digest of locations, shape (n, 2)."""
        hashes = _hashes(xy)
        return cls(len(hashes), int(hashes.sum(dtype=np.uint64)), _lowest(hashes))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Read what `to_record` wrote; anything else raises a `ValueError`, `TypeError` or `KeyError`."""
        lowest = np.frombuffer(base64.b64decode(record["lowest"], validate=True), dtype="<u8").astype(np.uint64)
        return cls(int(record["count"]), int(record["sum"], 16), lowest)

    def to_record(self) -> dict[str, Any]:
        """Return the digest as plain JSON values."""
        lowest = base64.b64encode(self.lowest.astype("<u8").tobytes()).decode()
        return {"count": self.count, "sum": f"{self.total:016x}", "lowest": lowest}

    def __add__(self, other: "Digest") -> "Digest":
        lowest = _lowest(np.concatenate([self.lowest, other.lowest]))
        return Digest(self.count + other.count, (self.total + other.total) % 2**64, lowest)

    def compare(self, xy: np.ndarray) -> str:
        """Return whether these locations are the "same", a "part" of them, or "other" ones; "unknown" of too few.

        Foreign locations that are as many as one in 50 of the release pass as a part with a probability of 0.6%.
        """
        return self.compare_digest(Digest.of(xy))

    def compare_digest(self, other: "Digest") -> str:
        """Return the same for locations whose digest is known: those of pieces add up."""
        if (other.count, other.total) == (self.count, self.total):
            return SAME
        if other.count >= self.count:  # a part has fewer
            return OTHER
        every = self.count <= len(self.lowest)  # hashes that are not smaller than those kept say nothing
        telling = other.lowest if every else other.lowest[other.lowest <= self.lowest.max(initial=np.uint64(0))]
        if other.count and len(telling) == 0:
            return UNKNOWN
        return PART if np.isin(telling, self.lowest).all() else OTHER


def compare(record: Any, xy: np.ndarray) -> str:
    """Compare locations with the digest on record; "unknown" without one that can be read."""
    return compare_digest(record, Digest.of(xy))


def compare_digest(record: Any, found: Digest) -> str:
    """Compare locations, of which the digest is known, with the digest on record."""
    try:
        return Digest.from_record(record).compare_digest(found)
    except (KeyError, TypeError, ValueError, OverflowError):
        return UNKNOWN


def _lowest(hashes: np.ndarray) -> np.ndarray:
    few = hashes if len(hashes) <= LOWEST else np.partition(hashes, LOWEST - 1)[:LOWEST]
    return np.sort(few)


def _hashes(xy: np.ndarray) -> np.ndarray:
    """Return a 64-bit number for each location (the finaliser of splitmix64, twice)."""
    x, y = ((np.ascontiguousarray(axis, dtype=np.float64) + 0.0).view(np.uint64) for axis in np.asarray(xy).T)
    return _mixed(_mixed(x) + y)


def _mixed(words: np.ndarray) -> np.ndarray:
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words ^= words >> np.uint64(30)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words
