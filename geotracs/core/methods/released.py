"""What is released of reports: projected inside and rounded, by public maps only."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from geotracs.core.domains import Domain
from geotracs.core.domains.border import Border
from geotracs.core.places import Places
from geotracs.errors import InputError

PIECES = 512
"""Into how many pieces a border is cut: on each, what is released there has one density."""
UNKNOWN, SPREAD = 64, 2**15
"""How many reports stand for those remapped to one release, and from how many over the region they are taken."""
ON_BORDER, ON_OUTLINE = 1e-9, 1e-5
"""How far from the border, as a part of the region's size, a released location counts as projected to it; the second
where the outline is only nearly the border, as that of a disc."""


class Reports(NamedTuple):
    """Where the reports are and, if they are places, the numbers of these."""

    xy: np.ndarray
    which: np.ndarray | None


class ReportMap(Protocol):
    """A public map of reports, such as `Remap`."""

    def __call__(self, xy: np.ndarray, eps: float | np.ndarray) -> None:
        """Move reports, each with its epsilon, in place."""


class PlaceMap(Protocol):
    """A public map of reported places, such as `PlaceRemap`."""

    def moved(self, which: np.ndarray, eps: float | np.ndarray) -> np.ndarray:
        """Return the places that reported ones are moved to, each with its epsilon."""


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """The public map from a report to what is released of it, in the working CRS.

    Attributes
    ----------
    domain : Domain
        Reports are projected inside it.
    places : Places or None
        Reports are rounded to these.
    leaves : bool
        Whether reports may fall outside a region whose chart they would otherwise stay in.
    remap : ReportMap or None
        Reports are moved by it before they are projected inside.
    """

    domain: Domain
    places: Places | None = None
    leaves: bool = False
    remap: ReportMap | None = None

    def __call__(self, xy: np.ndarray, eps: float | np.ndarray | None = None) -> Reports:
        """Return what is released of reports, each with its epsilon; ``xy`` is overwritten."""
        if self.remap is not None and eps is not None:
            self.remap(xy, eps)
        self.domain.project_inside(xy)
        if self.places is None:
            return Reports(xy, None)
        which, xy = self.places.round(xy)
        return Reports(xy, which)

    def alike(self, given: Reports, eps: float) -> np.ndarray:
        """Return reports that are released as one that is given, or nearest to it, with one epsilon."""
        spread = self.domain.spread(SPREAD)
        xy, which = self(np.asfortranarray(spread.copy()), eps)
        if which is not None and given.which is not None and np.any(which == given.which[0]):
            found = spread[which == given.which[0]]
            return found[:: -(-len(found) // UNKNOWN)]
        to = given.xy if self.places is None or given.which is None else self.places.sample(self.count)[given.which]
        return spread[np.argsort(self.domain.distance(xy, np.broadcast_to(to[:1], xy.shape)))[:UNKNOWN]]

    @cached_property
    def border(self) -> Border | None:
        """The border to which reports may be projected; none where they are inside already, or rounded."""
        if self.places is not None:
            return None
        return self.domain.border or (Border(self.domain.outline) if self.leaves else None)

    def atoms(self, reports: Reports) -> np.ndarray:
        """Return the place, or the piece of the border, that each release is; -1 inside the region."""
        if reports.which is not None:
            return reports.which
        found = np.full(len(reports.xy), -1)
        if self.border is not None:
            size = np.ptp(np.reshape(self.domain.outline.bounds, (2, 2)), axis=0).max()
            near = np.flatnonzero(~self.border.surely_covers(reports.xy))
            slack = (ON_OUTLINE if self.domain.border is None else ON_BORDER) * size + 10 * self.border.hair
            near = near[self.border.distance(reports.xy[near]) <= slack]
            part = self.border.position(reports.xy[near]) / self.border.length
            found[near] = np.clip((part * PIECES).astype(np.int64), 0, PIECES - 1)
        return found

    @property
    def count(self) -> int:
        """How many places or pieces of the border there are."""
        if self.places is not None:
            return self.places.count
        return 0 if self.border is None else PIECES

    def size(self) -> float:
        """Return the length of a piece of the border; 1 for a place, which counts as a whole."""
        return 1.0 if self.border is None else self.border.length / PIECES

    def are_several(self, before: npt.ArrayLike | None) -> bool:
        """Return whether these are several releases, not one: (x, y), or the number of a place."""
        given = np.asarray(before)
        number = self.places is not None and np.issubdtype(given.dtype, np.integer)
        return before is not None and given.ndim > (0 if number else 1)

    def known(self, reports: np.ndarray) -> Reports:
        """Return released values as they were given: locations, or the numbers of places."""
        reports = np.asarray(reports)
        if reports.ndim == 1 and np.issubdtype(reports.dtype, np.integer) and self.places is not None:
            if not np.all((reports >= 0) & (reports < self.places.count)):
                raise InputError(f"Places are numbered from 0 to {self.places.count - 1}.")
            return Reports(np.empty((len(reports), 2)), reports)
        if reports.ndim != 2 or reports.shape[1] != 2:
            raise InputError("Reports must be rows (x, y) in the working CRS, or the numbers of places.")
        reports = reports.astype(np.float64)
        return Reports(reports, None if self.places is None else self.places.round(reports)[0])
