"""The engine: the steps of a release, block by block over the cores."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import geotracs.release.blocks as blocks
from geotracs.core.methods import Channel, Reports
from geotracs.core.methods.channels import Recipe
from geotracs.core.randomness import Key, Source
from geotracs.release.repeats import Whose
from geotracs.release.steps import Batch, Draw, Project, Step


def run(
    steps: Sequence[Step],
    xy: np.ndarray,
    offsets: np.ndarray | None,
    eps: float | np.ndarray,
    key: Key,
    parts: list[blocks.Block],
    which: np.ndarray | None = None,
    *,
    before: Any = None,
    whose: Whose | None = None,
    progress: bool | None = False,
    workers: int | None = None,
) -> tuple[Any, int]:
    """Replace locations by what is released of them.

    Parameters
    ----------
    xy : array of shape (n, 2)
        Locations, in the order in which they are worked on; overwritten.
    offsets : array of int, or None
        Where each trajectory begins, and n at the end; None for methods that do not look along it.
    eps : float, or array of shape (n,)
        Epsilon of each location.
    parts : list of Block
        How they are cut; each block has a random stream of its own, by its number.
    which : array of int, shape (n,), optional
        For the numbers of the places.
    before
        The last report before these, if they begin inside a trajectory.
    whose : Whose, optional
        Whose locations these are, where reports are repeated.

    Returns
    -------
    before, n_outside
        What the next piece continues, and how many locations were outside the region.
    """
    outside: list[int] = []

    def work(block: blocks.Block, handover: blocks.Handover) -> None:
        part = block.part
        own = np.array([0, part.stop - part.start]) if offsets is None else slice_offsets(offsets, part)
        batch = Batch(xy[part], own, slice_eps(eps, part), key.stream(block.number), handover)
        batch.whose = None if whose is None else whose.part(part)
        for step in steps:
            step(batch)
            if batch.refused:
                break
        outside.append(batch.n_outside)
        if batch.refused:
            return
        xy[part] = batch.xy
        if which is not None:
            which[part] = batch.which

    last = blocks.run(work, parts, before=before, progress=progress, workers=workers)
    return last, sum(outside)


def report(
    channel: Channel,
    xy: np.ndarray,
    offsets: np.ndarray,
    eps: float | np.ndarray,
    rng: Source,
    *,
    out: np.ndarray | None = None,
    progress: bool | None = False,
    workers: int | None = None,
) -> Reports:
    """Return what is reported of locations of the domain, as `Channel.sample` does, but over the cores.

    With ``out``, an array with contiguous columns that may be ``xy`` itself, the reports are written there.

    Examples
    --------
    >>> from geotracs.core.domains import Rectangle
    >>> from geotracs.core.methods import make
    >>> rng = np.random.default_rng(0)
    >>> report(make("tracs-c").on(Rectangle(0, 0, 1, 1)), rng.random((10, 2)), np.array([0, 10]), 4.0, rng).xy.shape
    (10, 2)
    """
    reports = np.empty((2, len(xy))).T if out is None else out
    reports[:] = xy
    which = np.empty(len(xy), dtype=np.int64) if channel.over == "places" else None
    steps: list[Step] = [Draw(channel)] if channel.over == "places" else [Draw(channel), Project(channel.domain)]
    parts = cut(channel.method, len(xy), offsets)
    run(steps, reports, offsets, eps, Key.fresh(rng), parts, which, progress=progress, workers=workers)
    return Reports(reports, which)


def cut(
    method: Recipe,
    n: int,
    offsets: np.ndarray | None,
    rows: np.ndarray | None = None,
    *,
    first: int = 0,
    continues: bool = False,
) -> list[blocks.Block]:
    """Cut n locations into blocks as the method allows.

    Trajectories stay whole for a sequential method, but very long ones are cut where it is resumable. Rows of several
    locations, which begin at ``rows``, always stay whole. See `blocks.cut`.
    """
    if not method.sequential or offsets is None:
        return blocks.cut(n, rows, first=first)
    return blocks.cut(n, offsets[:-1], rows, inside=method.resumable, first=first, continues=continues)


def slice_offsets(offsets: np.ndarray, part: slice) -> np.ndarray:
    """Return where each trajectory of a part of the locations begins in it, and their number at the end."""
    first, last = np.searchsorted(offsets, [part.start, part.stop])
    return np.unique(np.clip(offsets[max(first - 1, 0) : last + 1], part.start, part.stop) - part.start)


def slice_eps(eps: float | np.ndarray, part: slice) -> float | np.ndarray:
    """Return the epsilon of a part of the locations."""
    return eps[part] if isinstance(eps, np.ndarray) and eps.ndim else eps
