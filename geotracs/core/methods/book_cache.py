"""Where fitted codebooks are kept: in memory, and in the `cache` on disk.

Keys and contents are made of public things only. A file that is damaged, cut off or another region's is ignored and
written anew, and a folder that cannot be written is no error. Whatever a file holds, windows have exactly k distinct
codewords and thresholds are computed from k and m, so that no file can touch the promise.
"""

import hashlib
import json
import threading
from collections import OrderedDict
from functools import lru_cache
from typing import Any

import numpy as np

import geotracs.core.cache as cache
import geotracs.core.methods.codebooks as codebooks
from geotracs.core.domains import Domain
from geotracs.core.methods.book import BINS, Book
from geotracs.core.methods.codebooks import Progress, StandIns
from geotracs.core.methods.spaces import Space

MAGIC = b"geotracs codebook\n"
KEPT = 64
"""How many codebooks are kept in memory."""


def book(domain: Domain, eps: float, progress: Progress | None = None) -> Book:
    """Return the codebook of a region for an epsilon: from memory, from disk, or fitted.

    Parameters
    ----------
    eps : float
        Up to `codebooks.LARGEST`; it gets the codebook of its `codebooks.level`.
    progress : callable, optional
        Is told how many rounds were made, `codebooks.MAX_ROUNDS` in all.
    """
    at, advance = float(codebooks.level(eps)), _Advance(progress)
    shelf = _shelf(domain)
    with shelf.lock:
        if at not in shelf.books:
            shelf.books[at] = _found_or_fitted(domain, at, advance)
    advance.finish()
    return shelf.books[at]


def key(given: StandIns, at: float) -> str:
    """Return the name of a codebook: a digest of what it is fitted from."""
    digest = hashlib.sha256(repr((codebooks.FORMAT, at, given.points.shape, given.share, given.codewords)).encode())
    digest.update(np.ascontiguousarray(given.points, dtype="<f8").tobytes())
    return digest.hexdigest()


def pack(found: Book, name: str = "") -> bytes:
    """Return a codebook as bytes, with a digest of them; ``name`` says what it is kept for.

    >>> halves = (np.array([0, BINS // 2]), np.array([0]))
    >>> small = Book(2.0, 1, np.eye(2), Space((0.0, 0.0), 1.0), (0.0, 0.0), (1.0, 1.0), halves)
    >>> unpack(pack(small)).digest == small.digest
    True
    """
    space = found.space
    said = {
        "format": codebooks.FORMAT, "key": name, "level": found.level, "k": found.k, "m": found.m,
        "space": [*space.low, space.extent, space.sphere], "low": found.low, "size": found.size,
        "cuts": [cuts.tolist() for cuts in found.cuts],
    }  # fmt: skip
    content = json.dumps(said).encode() + b"\n" + np.ascontiguousarray(found.codewords, dtype="<f8").tobytes()
    return MAGIC + hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def unpack(content: bytes, name: str = "") -> Book | None:
    """Return the codebook that `pack` made into bytes for this ``name``; None if they are anything else."""
    magic, digest, rest = content[: len(MAGIC)], content[len(MAGIC) : len(MAGIC) + 64], content[len(MAGIC) + 65 :]
    if magic != MAGIC or hashlib.sha256(rest).hexdigest().encode() != digest:
        return None
    try:
        line, _, numbers = rest.partition(b"\n")
        said = json.loads(line)
        if said["format"] != codebooks.FORMAT or said["key"] != name:
            return None
        return _checked(said, np.frombuffer(numbers, dtype="<f8").astype(np.float64).reshape(-1, 2))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _checked(said: dict[str, Any], codewords: np.ndarray) -> Book | None:
    first, second = (np.asarray(cuts, dtype=np.int64) for cuts in said["cuts"])
    x, y, extent, sphere = said["space"]
    low, size = (tuple(map(float, said[name])) for name in ("low", "size"))
    whole = len(codewords) == said["m"] and 1 <= said["k"] <= said["m"] and np.isfinite(codewords).all()
    cut = all(len(c) and c[0] == 0 and c[-1] < BINS and np.all(np.diff(c) > 0) for c in (first, second))
    if not (whole and cut and extent > 0 and len(low) == len(size) == 2 and min(size) > 0):
        return None
    space = Space((float(x), float(y)), float(extent), bool(sphere))
    table = ((low[0], low[1]), (size[0], size[1]), (first, second))
    return Book(float(said["level"]), int(said["k"]), np.asfortranarray(codewords), space, *table)


class _Advance:
    """Counts rounds, so that what was not needed can be told at the end."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._made = progress, 0

    def __call__(self, made: int) -> None:
        self._made += made
        if self._progress is not None:
            self._progress(made)

    def finish(self) -> None:
        """Tell the rounds that were not needed."""
        if self._made < codebooks.MAX_ROUNDS:
            self(codebooks.MAX_ROUNDS - self._made)


class _Shelf:
    """The codebooks of one region; others wait for who fits one."""

    def __init__(self) -> None:
        self.lock, self.books = threading.Lock(), dict[float, Book]()


@lru_cache(maxsize=16)
def _shelf(domain: Domain) -> _Shelf:
    return _Shelf()


_memory: OrderedDict[str, Book] = OrderedDict()
_memory_lock = threading.Lock()


def forget() -> None:
    """Empty the memory; what is on disk stays."""
    _shelf.cache_clear()
    with _memory_lock:
        _memory.clear()


def _found_or_fitted(domain: Domain, at: float, progress: Progress) -> Book:
    given = codebooks.stand_ins(domain, at)
    name = key(given, at)
    with _memory_lock:
        found = _memory.get(name)
    if found is None or not _fits(found, domain, at):
        kept = cache.read(f"{name}.codebook")
        found = None if kept is None else unpack(kept, name)
    if found is None or not _fits(found, domain, at):
        found = codebooks.make(domain, given, at, progress)
        cache.write(f"{name}.codebook", pack(found, name))
    with _memory_lock:
        _memory[name] = found
        _memory.move_to_end(name)
        while len(_memory) > KEPT:
            _memory.popitem(last=False)
    return found


def _fits(found: Book, domain: Domain, at: float) -> bool:
    """Return whether a codebook is one for this epsilon, inside the region."""
    return found.level == at and bool(domain.contains(found.codewords).all())
