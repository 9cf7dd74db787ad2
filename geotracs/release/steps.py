"""The steps of a release: one can read the promise off them.

A location enters (CRS, clip), is drawn, remapped, projected inside, rounded, and leaves (CRS). The draw is the only
step that is random, and the last that sees a secret: every later one holds public objects only.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, cast

import numpy as np

import geotracs.geo.crs as crs_
from geotracs.core.cells import Cells
from geotracs.core.domains import Domain
from geotracs.core.methods import Channel, Method, PlaceRemap, Remap
from geotracs.core.places import Places
from geotracs.core.randomness import Source
from geotracs.errors import DomainError
from geotracs.geo.region import Region
from geotracs.geo.rounding import Rounding
from geotracs.release.blocks import Handover
from geotracs.release.repeats import Whose
from geotracs.release.request import Request


@dataclass(repr=False)
class Batch:
    """The locations of one block on their way to becoming reports.

    Attributes
    ----------
    xy : array of shape (n, 2)
        Where they are: in the CRS of the data until they enter, in the working CRS until they leave.
    offsets : array of int
        Where each trajectory begins, and n at the end.
    eps : float, or array of shape (n,)
        Epsilon of each location.
    rng : Source
        The random stream of the block.
    handover : Handover
        Where the last report of a block goes that another one continues.
    whose : Whose, or None
        Whose locations these are, where reports are repeated.
    which : array of int, or None
        The numbers of the places that are reported, once they are known.
    n_outside : int
        How many locations were outside the region.
    refused : bool
        Whether the others must not be looked at for that.
    """

    xy: np.ndarray
    offsets: np.ndarray
    eps: float | np.ndarray
    rng: Source
    handover: Handover
    whose: Whose | None = None
    which: np.ndarray | None = None
    n_outside: int = 0
    refused: bool = False


class Step(Protocol):
    """One step of a release, for all locations of a block at once."""

    def __call__(self, batch: Batch) -> None:
        """Take the step."""


@dataclass(frozen=True)
class Enter:
    """Bring locations into the working CRS and inside the region; ``outside`` says what happens to others."""

    region: Region
    outside: str

    def __call__(self, batch: Batch) -> None:
        """Enter."""
        xy = batch.xy
        moved = self.region.enter(xy)
        batch.n_outside = len(xy) - int(np.count_nonzero(self.region.contains(xy, moved)))
        batch.refused = batch.n_outside > 0 and self.outside == "raise"
        nowhere = ~np.isfinite(moved).all(axis=1)
        if self.outside == "clip" and nowhere.any():
            moved[nowhere] = self._antipodes(xy, nowhere)
        batch.xy = self.region.domain.clip(moved)

    def _antipodes(self, xy: np.ndarray, nowhere: np.ndarray) -> tuple[float, float]:
        """Return where locations on the other side of the Earth go, which have no nearest point; raise for others."""
        quarter = crs_.turn(self.region.data_crs) / 4
        lost = np.count_nonzero(nowhere & ~(np.abs(xy[:, 1]) <= quarter))
        if lost or not self.region.data_crs.is_geographic:
            raise DomainError(f"{lost or nowhere.sum()} of {len(xy)} locations cannot be projected or clipped.")
        return self.region.domain.centre


@dataclass(frozen=True)
class Draw:
    """Report every location: the only step that sees a secret, and the only random one."""

    channel: Channel

    def __call__(self, batch: Batch) -> None:
        """Draw; a trajectory continues from the last report, before it is rounded."""
        if not self.channel.method.resumable:
            batch.which = self.channel.report(batch.xy, batch.offsets, batch.eps, batch.rng)
            return
        before = batch.handover.receive()
        batch.which = self.channel.report(batch.xy, batch.offsets, batch.eps, batch.rng, before)
        batch.handover.send(batch.xy[-1].copy())


@dataclass(frozen=True)
class DrawOnce:
    """Report every person in every cell once, from the middle of the cell: all rows there have this report.

    The secret of the draw is the cell, which depends on one location and a public rule. The draws of other people and
    cells are independent of it: each has words of its own.
    """

    channel: Channel
    region: Region
    cells: Cells

    def __call__(self, batch: Batch) -> None:
        """Draw once for each person and cell."""
        whose, cells = cast(Whose, batch.whose), self.cells.numbers(batch.xy)
        first, which = whose.pairs(cells, batch.eps)
        own = batch.eps[first] if isinstance(batch.eps, np.ndarray) and batch.eps.ndim else batch.eps
        xy = self.region.domain.clip(self.cells.middles(cells[first]))
        words = whose.streams(first, cells, batch.eps)
        places = self.channel.report(xy, np.array([0, len(xy)]), own, words)
        batch.which = None if places is None else places[which]
        batch.xy = np.asfortranarray(xy[which])


@dataclass(frozen=True)
class Move:
    """Move every report by a public table to where its location is nearest on average.

    Before it is projected inside: what a polygon's border hides, the report itself still tells.
    """

    remap: Remap

    def __call__(self, batch: Batch) -> None:
        """Remap."""
        self.remap(batch.xy, batch.eps)


@dataclass(frozen=True)
class MovePlaces:
    """Move every reported place by a public table to the place that is nearest on average."""

    remap: PlaceRemap
    places: Places = field(repr=False)

    def __call__(self, batch: Batch) -> None:
        """Remap."""
        if batch.which is not None:
            batch.which = self.remap.moved(batch.which, batch.eps)
            batch.xy = self.places.sample(self.places.count)[batch.which]


@dataclass(frozen=True)
class Project:
    """Move reports outside a polygon to its nearest point, and undo rounding at any border."""

    domain: Domain = field(repr=False)

    def __call__(self, batch: Batch) -> None:
        """Project inside."""
        self.domain.project_inside(batch.xy)


@dataclass(frozen=True)
class Round:
    """Move every report to the nearest public place, unless it is one already."""

    rounding: Rounding

    def __call__(self, batch: Batch) -> None:
        """Round."""
        if batch.which is None:
            batch.which, batch.xy = self.rounding.places.round(batch.xy)


@dataclass(frozen=True)
class Leave:
    """Bring reports back into the CRS of the data, places to where the layer has them."""

    region: Region
    rounding: Rounding | None

    def __call__(self, batch: Batch) -> None:
        """Leave."""
        if self.rounding is None or batch.which is None:
            batch.xy = self.region.leave(batch.xy)
        else:
            batch.xy = self.rounding.leave(batch.which, batch.xy, self.region)


@dataclass(frozen=True, repr=False)
class Setting:
    """The public things that the steps after the draw are made of.

    Attributes
    ----------
    request : Request
        What was asked for, without ``rng``.
    recipe : Method
        In the working CRS; of "auto" the one that was chosen.
    """

    request: Request
    recipe: Method
    region: Region
    rounding: Rounding | None
    remap: Remap | PlaceRemap | None = None


def _move(setting: Setting) -> Step | None:
    if setting.remap is None or not setting.remap.usable:
        return None
    if isinstance(setting.remap, Remap):
        return Move(setting.remap)
    return None if setting.rounding is None else MovePlaces(setting.remap, setting.rounding.places)


def _project(setting: Setting) -> Step | None:
    return None if setting.recipe.over == "places" else Project(setting.region.chart)  # places may lie outside


def _round(setting: Setting) -> Step | None:
    return None if setting.rounding is None else Round(setting.rounding)


AFTER_THE_DRAW: list[Callable[[Setting], Step | None]] = [_move, _project, _round]
"""What makes the steps between the draw and leaving, in their order; None where a release has no such step.

A new step is a frozen dataclass that holds public objects only, and a line here.
"""


def after_the_draw(setting: Setting) -> tuple[Step, ...]:
    """Return all steps after the draw: post-processing, which costs no epsilon."""
    found = [make(setting) for make in AFTER_THE_DRAW]
    return (*(step for step in found if step is not None), Leave(setting.region, setting.rounding))
