"""A first pass through a file: how many locations share an epsilon, and which epsilons there are."""

import numpy as np

import geotracs.release.budgets as budgets
from geotracs.core.budget import LARGEST, Levels
from geotracs.geo.tracks import Tracks
from geotracs.io.progress import bar
from geotracs.io.streams import Source
from geotracs.release.charging import Bill, Meter
from geotracs.release.file.counts import Counts
from geotracs.release.file.release import keys_of, named, read, unit_keys
from geotracs.release.request import Request


class Survey:
    """What one pass through a file says about its trajectories, before any location is perturbed.

    Attributes
    ----------
    lengths : Counts
        How many locations each unit has, such as a trajectory.
    """

    def __init__(self, request: Request) -> None:
        self._request, self.lengths = request, Counts()
        self._sums, self._low, self._high = Counts(), Counts(np.minimum), Counts(np.minimum)
        self._troubles, self._levels = np.zeros(4, dtype=np.int64), Levels(np.empty(0))

    @classmethod
    def of(
        cls, source: Source, request: Request, rows: int, progress: bool | None = None, *, first: int = 0
    ) -> "Survey":
        """Go through a file, or a part of one with ``first`` rows before it."""
        survey, trajectory, column = cls(request), request.trajectory, request.budget_column
        with bar(source.rows, progress, " rows", "Counting") as advance:
            sharing = request.sharing
            units = [] if sharing.by_trajectory else sharing.columns
            for number, table in enumerate(source.tables(rows, [source.geometry, trajectory, column, *units])):
                begin = first + number * rows
                tracks = read(source, table, trajectory, None, sharing, first=begin)
                labels = keys_of(tracks, table, trajectory) if sharing.by_trajectory else None
                if not sharing.by_trajectory:
                    _, labels = unit_keys(tracks, table, sharing)
                if labels is None:
                    labels = np.arange(len(tracks.lengths), dtype=np.uint64) + np.uint64(begin)
                if len(tracks.xy):
                    survey.lengths.add(labels, tracks.unit_lengths)
                    if column is not None:
                        own = budgets.read(table.select([column]).to_pandas()[column], tracks.present, column)
                        survey._look(tracks, labels, own)
                advance(len(table))
        return survey

    def include(self, other: "Survey") -> None:
        """Add what another part of the file says."""
        for mine, theirs in (
            (self.lengths, other.lengths), (self._sums, other._sums), (self._low, other._low), (self._high, other._high)
        ):  # fmt: skip
            mine.include(theirs)
        self._troubles += other._troubles
        self._levels += other._levels

    def budgets(self) -> budgets.Budgets | None:
        """Return the epsilons of the file; None if all locations have the same, or an even share of the same."""
        request, column = self._request, self._request.budget_column
        if not budgets.differ(request):
            return None
        if column is None:
            return budgets.of_lengths(request, np.array([request.eps]), self.lengths.all())
        budgets.raise_for(self._troubles, column)
        low, high = self._low.all(), -self._high.all()
        if request.sharing.shares:
            budgets.check_alike(int(np.count_nonzero(low != high)), column, request.unit)
            return budgets.of_lengths(request, low, self.lengths.all())
        ends = np.concatenate([low, high])
        return budgets.of_levels(request, ends, self._levels, float(self._sums.all().max(initial=0)))

    def _look(self, tracks: Tracks, labels: np.ndarray, own: np.ndarray) -> None:
        """Take the epsilons of some rows into account."""
        self._troubles += budgets.troubles(own)
        right = (own > 0) & (own < LARGEST)
        own, labels = own[right], labels[tracks.unit_codes[right]]
        if not len(own):
            return
        self._low.add(labels, own)
        self._high.add(labels, -own)
        if self._request.unit == "location":
            self._levels += Levels.of(own)
            self._sums.add(labels, own if tracks.counts is None else own * tracks.counts[right])


def bill(source: Source, meter: Meter | None, request: Request, rows: int, progress: bool | None = None) -> Bill | None:
    """Go through a file and return what its release costs each person; None without a ledger."""
    if meter is None:
        return None
    first, columns = 0, [source.geometry, request.time, *meter.columns]
    with bar(source.rows, progress, " rows", "Charging") as advance:
        for table in source.tables(rows, columns):
            tracks = read(source, table, request.trajectory, request.time, first=first)
            meter.add(named(source, table, meter), tracks)
            first += len(table)
            advance(len(table))
    return meter.bill()
