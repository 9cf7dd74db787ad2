"""What is known of a release that comes in pieces, and of its parts, which add up."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from geotracs.core.digest import Digest
from geotracs.core.guarantee import Guarantee
from geotracs.io.streams import Bounds, Summary
from geotracs.release.file.counts import Counts
from geotracs.release.plan import Plan


@dataclass(eq=False, repr=False)
class Tally:
    """What is known of the rows that were released so far.

    Attributes
    ----------
    longest : int
        How many locations the longest of the lines has that are a trajectory each.
    seen, units, periods : Counts
        Locations of each trajectory, those of people, and the periods of each person.
    corners : list of arrays
        The extent of each piece.
    whole : bool
        Whether this is all of a release: the periods of people do not add up.
    """

    rows: int = 0
    locations: int = 0
    longest: int = 0
    kind: str | None = None
    digest: Digest = field(default_factory=Digest)
    seen: Counts = field(default_factory=Counts)
    units: Counts = field(default_factory=Counts)
    periods: Counts = field(default_factory=Counts)
    corners: list[np.ndarray] = field(default_factory=list)
    whole: bool = True

    def add(self, xy: np.ndarray, rows: int) -> None:
        """Count the reports of some rows."""
        self.rows, self.locations = self.rows + rows, self.locations + len(xy)
        self.digest += Digest.of(xy)
        if (bounds := extent(xy)) is not None:
            self.corners.append(np.array([bounds[:2], bounds[2:]]))

    def __iadd__(self, other: Self) -> Self:
        self.rows, self.locations = self.rows + other.rows, self.locations + other.locations
        self.longest, self.kind = max(self.longest, other.longest), self.kind or other.kind
        self.digest += other.digest
        for mine, theirs in ((self.seen, other.seen), (self.units, other.units)):
            mine.include(theirs)
        self.corners += other.corners
        self.whole = False
        return self

    def guarantee(self, plan: Plan) -> Guarantee:
        """Return what was promised."""
        if plan.sharing.by_trajectory:
            longest = max(self.longest, int(self.seen.all().max(initial=0)))
            return plan.guarantee(self.locations, longest, self.digest)
        longest, periods = int(self.units.all().max(initial=0)), None
        if plan.sharing.period is not None and self.whole:
            periods = int(self.periods.all().max(initial=0))
        return plan.guarantee(self.locations, longest, self.digest, periods)

    def summary(self, plan: Plan) -> Summary:
        """Return what a file of the release says."""
        corners = np.concatenate(self.corners) if self.corners else np.empty((0, 2))
        return Summary(self.kind, self.rows, extent(corners), self.guarantee(plan).to_attrs())


def extent(xy: np.ndarray) -> Bounds | None:
    """Return the bounds of locations; None without any."""
    return (*xy.min(axis=0).tolist(), *xy.max(axis=0).tolist()) if len(xy) else None
