"""Work in blocks over the cores, each block with a random stream of its own.

What comes out depends on the generator and the cuts, never on how many threads there were or which was first.
"""

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from geotracs.mechanisms.lattice import BLOCK

Task = Callable[[slice, int], None]


def cuts(offsets: np.ndarray, *, whole: bool) -> np.ndarray:
    """Return where the blocks of about ``BLOCK`` locations begin, and the number of locations at the end.

    Parameters
    ----------
    offsets : array of int
        Where each trajectory begins, and the number of locations at the end.
    whole : bool
        Whether a trajectory must stay in one piece.

    Examples
    --------
    >>> cuts(np.array([0, 10, 300_000, 300_005]), whole=True)
    array([     0, 300000, 300005])
    >>> cuts(np.array([0, 10, 300_000, 300_005]), whole=False)
    array([     0, 262144, 300005])
    """
    n = int(offsets[-1])
    even = np.arange(0, n, BLOCK)
    if whole:
        even = offsets[np.searchsorted(offsets, even)]
    return np.unique(np.append(even, n))


def run(task: Task, cuts: np.ndarray, *, progress: bool = False, workers: int | None = None) -> None:
    """Call ``task(part, number)`` for every block, over the cores."""
    parts = [slice(int(a), int(b)) for a, b in itertools.pairwise(cuts)]
    # One more than there are cores: while one waits for the interpreter, another can work.
    workers = workers or min(len(parts), (os.cpu_count() or 1) + 1)
    with bar(int(cuts[-1]), progress, " locations") as advance:
        if workers < 2:
            for number, part in enumerate(parts):
                task(part, number)
                advance(part.stop - part.start)
            return
        with ThreadPoolExecutor(workers) as pool:
            try:
                for part, _ in zip(parts, pool.map(task, parts, range(len(parts))), strict=True):
                    advance(part.stop - part.start)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


@contextmanager
def bar(total: int, progress: bool | None, unit: str) -> Iterator[Callable[[int], Any]]:
    """A progress bar, or nothing; None shows it where someone is looking."""
    if not (_somebody_looks() if progress is None else progress):
        yield lambda _: None
        return
    from tqdm.auto import tqdm  # here, because it complains at import in a notebook without widgets

    with tqdm(total=total, unit=unit, unit_scale=True) as shown:
        yield shown.update


def _somebody_looks() -> bool:
    """Whether this is a terminal, or a notebook that can draw the bar."""
    return sys.stderr.isatty() or ("ipykernel" in sys.modules and find_spec("ipywidgets") is not None)
