"""Work in blocks over the cores, each block with a random stream of its own.

What comes out depends on the generator and the cuts, never on how many threads there were or which was first.
"""

import functools
import itertools
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from geotracs.core.mechanisms.lattice import BLOCK
from geotracs.errors import InputError, quoted
from geotracs.io.progress import bar


@dataclass(frozen=True)
class Block:
    """Some consecutive locations, and the number of their random stream.

    Attributes
    ----------
    continues : bool
        Whether the block begins inside a trajectory, where the block before it ended.
    """

    part: slice
    number: int
    continues: bool = False


class Handover:
    """Hands the last report of a block to the next one, which continues the same trajectory."""

    def __init__(self, before: Callable[[], Any]) -> None:
        self.receive = before
        self.sent: Future[Any] = Future()

    def send(self, after: Any) -> None:
        """Send what the next block waits for; until it needs that, it runs at the same time."""
        if not self.sent.done():
            self.sent.set_result(after)


Task = Callable[[Block, Handover], None]


def cut(
    n: int,
    starts: np.ndarray | None,
    rows: np.ndarray | None = None,
    *,
    inside: bool = False,
    first: int = 0,
    continues: bool = False,
) -> list[Block]:
    """Cut n locations into blocks of about ``BLOCK``.

    There is a cut in each stretch of ``BLOCK`` locations, counted from the first location of the release: at the first
    of ``starts`` in it or, where there is none, of ``rows``; with neither there is no cut. The number of a block is
    that of the stretch it begins in. So the blocks are the same whether a release is worked on at once or in pieces.

    Parameters
    ----------
    starts : array of int, or None
        Where what is best kept together begins, such as a trajectory; None for every location.
    rows : array of int, or None
        Where it may be cut if need be, and if ``inside`` allows it; None for every location.
    first : int
        How many locations of the release come before these. A cut must be there.
    continues : bool
        Whether these begin inside a trajectory.

    Examples
    --------
    >>> [(block.part.start, block.part.stop) for block in cut(300_005, np.array([0, 10, 300_000]))]
    [(0, 300000), (300000, 300005)]
    >>> [(block.part.start, block.part.stop) for block in cut(300_005, None)]
    [(0, 262144), (262144, 300005)]
    """
    if n == 0:
        return []
    stretches = np.arange(first // BLOCK + 1, (first + n - 1) // BLOCK + 1) * BLOCK - first
    cuts, strong = _first_at_or_after(starts, stretches, n)
    there = strong
    if inside:
        weak, possible = _first_at_or_after(rows, stretches, n)
        cuts, there = np.where(strong, cuts, weak), strong | possible
    ends = [0, *cuts[there].tolist(), n]
    go_on = [continues, *(~strong[there]).tolist()]
    return [
        Block(slice(a, b), (first + a) // BLOCK, whether)
        for (a, b), whether in zip(itertools.pairwise(ends), go_on, strict=True)
    ]


def check_workers(workers: Any) -> None:
    """Raise unless this is a number of threads."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, Integral) or workers < 1):
        raise InputError(f"`workers` must be a whole number of at least 1, got {quoted(workers)}.")


def finished(n: int, blocks: list[Block], first: int) -> int:
    """Return how many of the first n locations are in blocks that stay as they are when more locations follow."""
    if not blocks:
        return 0
    last = blocks[-1].part.start
    # A cut inside a trajectory stands once its whole stretch is known to hold no start.
    if blocks[-1].continues and len(blocks) > 1 and ((first + last) // BLOCK + 1) * BLOCK > first + n:
        return blocks[-2].part.start
    return last


def _first_at_or_after(starts: np.ndarray | None, stretches: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first of ``starts`` in each stretch, and whether there is one."""
    if starts is None:
        return stretches, np.ones(len(stretches), dtype=bool)
    found = np.append(starts, n)[np.searchsorted(starts, stretches)]
    return found, found < np.minimum(stretches + BLOCK, n)


def run(
    task: Task, blocks: list[Block], *, before: Any = None, progress: bool | None = False, workers: int | None = None
) -> Any:
    """Call ``task(block, handover)`` for every block, over the cores; return what the last one sent.

    A block that continues may ask ``handover.receive()`` for what the previous one sent, and the first for ``before``.
    """
    handovers: list[Handover] = []
    for block in blocks:
        earlier = handovers[-1].sent.result if handovers else lambda: before
        handovers.append(Handover(earlier if block.continues else lambda: None))

    def job(block: Block, handover: Handover) -> None:
        try:
            task(block, handover)
            handover.send(None)
        except BaseException as error:
            if not handover.sent.done():
                handover.sent.set_exception(error)
            raise

    # One more than there are cores: while one waits for the interpreter, another can work.
    workers = workers or _cores() + 1
    with bar(sum(block.part.stop - block.part.start for block in blocks), progress, " locations") as advance:
        if workers == 1 or len(blocks) < 2:
            for block, handover in zip(blocks, handovers, strict=True):
                job(block, handover)
                advance(block.part.stop - block.part.start)
        else:
            jobs = [_threads(workers, os.getpid()).submit(job, *both) for both in zip(blocks, handovers, strict=True)]
            try:
                for block, done in zip(blocks, jobs, strict=True):
                    done.result()
                    advance(block.part.stop - block.part.start)
            finally:
                wait([done for done in jobs if not done.cancel()])
    return handovers[-1].sent.result() if handovers else before


def _cores() -> int:
    """Return how many cores this process may use, which on a cluster are not all that there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _threads(workers: int, process: int) -> ThreadPoolExecutor:
    """Return threads that are kept, since pyproj prepares each anew; a forked process has none of its parent's."""
    return ThreadPoolExecutor(workers, "geotracs")
