"""Epsilons that differ from location to location: those of a public column, and uneven shares of a trajectory's."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

import geotracs.core.budget as budget
import geotracs.geo.tracks as frames
from geotracs.core.budget import Allocation, Levels
from geotracs.errors import InputError
from geotracs.release.request import Request


@dataclass(frozen=True, eq=False)
class Budgets:
    """The epsilons of a release, where they are not all the same or shared evenly. All of it is public.

    Attributes
    ----------
    column : str or None
        The column that holds the epsilon of each row or trajectory; None where all have the same.
    smallest, largest : float
        Of these epsilons.
    levels : Levels
        The epsilons that single locations have.
    total : float or None
        The largest sum over the locations of a trajectory; None where it is not known.
    """

    column: str | None
    unit: str
    allocation: Allocation
    smallest: float
    largest: float
    levels: Levels
    total: float | None = None

    def own(self, table: pd.DataFrame, present: np.ndarray) -> np.ndarray | None:
        """Return the epsilon of each row that holds locations; None without a column."""
        return None if self.column is None else checked(table[self.column], present, self.column)

    def epsilons(
        self, tracks: frames.Tracks, own: np.ndarray | None, lengths: np.ndarray, earlier: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the epsilon of each location, in the order in which they are processed.

        Parameters
        ----------
        own : array, or None
            What `Budgets.own` returned.
        lengths : array of int
            How many locations each unit, such as a trajectory, has in the whole release.
        earlier : array of int, optional
            How many of them came before these.
        """
        eps = np.full(len(tracks.xy), self.largest) if own is None else tracks.of_rows(own)
        if self.unit != "location":
            if own is not None:
                check_alike(int(np.count_nonzero(_differing(tracks, own))), cast(str, self.column), self.unit)
            position = _positions(tracks)
            if earlier is not None:
                position = position + tracks.per_location(earlier)
            eps = self.allocation.share(eps, position, tracks.per_unit(lengths))
        return self.levels(eps)

    def to_record(self) -> dict[str, Any]:
        """Return what a reader of the release may know, as plain JSON values."""
        known: dict[str, Any] = {"steps": self.levels.steps}
        if self.column is not None:
            known |= {"column": self.column, "smallest": self.smallest, "largest": self.largest}
            known |= {"levels": len(self.levels.values), "total": self.total}
        return known


def of_locations(
    eps: float,
    unit: str,
    budgets: Budgets | None,
    tracks: frames.Tracks,
    own: np.ndarray | None,
    lengths: np.ndarray,
    earlier: np.ndarray | None = None,
) -> float | np.ndarray:
    """Return the epsilon of each location: one for all, an even share, or that of the budgets.

    ``own``, ``lengths`` and ``earlier`` are those of `Plan.reports`.
    """
    if budgets is not None:
        return budgets.epsilons(tracks, own, lengths, earlier)
    return eps if unit == "location" else tracks.per_unit(budget.even_share(eps, lengths))


def differ(request: Request) -> bool:
    """Return whether locations have epsilons that differ by more than an even share."""
    return isinstance(request.eps, str) or not request.shared.even


def of_tracks(request: Request, table: pd.DataFrame, tracks: frames.Tracks) -> Budgets | None:
    """Return the epsilons of a whole frame, whose locations are in the order of its rows; None if all are alike."""
    if not differ(request):
        return None
    if not isinstance(request.eps, str):
        return of_lengths(request, np.array([request.eps]), tracks.unit_lengths)
    own = checked(table[request.eps], tracks.present, request.eps)
    if request.unit == "location":
        each = own if tracks.counts is None else own * tracks.counts
        return of_levels(request, own, Levels.of(own), float(np.bincount(tracks.codes, each).max(initial=0)))
    check_alike(int(np.count_nonzero(_differing(tracks, own))), request.eps, request.unit)
    return of_lengths(request, _first(tracks, own), tracks.unit_lengths)


def of_lengths(request: Request, eps: np.ndarray, lengths: np.ndarray) -> Budgets:
    """Return the epsilons of a release with trajectories of these epsilons and lengths, over which they are shared."""
    return of_levels(request, eps, Levels.of(request.shared.shares(eps, lengths)))


def of_levels(request: Request, eps: np.ndarray, levels: Levels, total: float | None = None) -> Budgets:
    """Return the epsilons of a release; ``eps`` holds those of the column, or the smallest and the largest of them."""
    column = request.eps if isinstance(request.eps, str) else None
    if not len(eps):
        raise InputError(f"The epsilon column {column!r} has no value: there is no location. Give `eps` as a number.")
    levels = levels.few() if len(levels.values) else Levels(eps[:1])
    # Sums depend on their order in the last digits, and files are read in batches.
    total = None if total is None else float(f"{total:.12g}")
    return Budgets(column, request.unit, request.shared, float(eps.min()), float(eps.max()), levels, total)


def checked(values: pd.Series, present: np.ndarray, column: str) -> np.ndarray:
    """Return the epsilons of the rows that hold locations; raise with the number of invalid ones."""
    numbers = read(values, present, column)
    raise_for(troubles(numbers), column)
    return numbers


def read(values: pd.Series, present: np.ndarray, column: str) -> np.ndarray:
    """Return the numbers of the rows that hold locations, NaN for missing ones."""
    values = values[present]
    real = pd.api.types.is_numeric_dtype(values) and values.dtype.kind not in "bc"
    if not real and not values.isna().all():
        raise InputError(
            f"The epsilon column {column!r} must hold numbers, got {values.dtype}; convert it first, e.g. with "
            "pd.to_numeric."
        )
    if not real:
        return np.full(len(values), np.nan)
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def troubles(numbers: np.ndarray) -> np.ndarray:
    """Return how many numbers there are, and how many are missing, too small, and too large."""
    return np.array(
        [
            len(numbers),
            np.count_nonzero(np.isnan(numbers)),
            np.count_nonzero(numbers <= 0),
            np.count_nonzero(numbers >= budget.LARGEST),
        ]
    )


def raise_for(counts: np.ndarray, column: str) -> None:
    """Raise if some numbers are not valid epsilons."""
    rows, *wrong = counts.tolist()
    if not any(wrong):
        return
    kinds = ("missing", "zero or negative", f"{budget.LARGEST:g} or more")
    found = ", ".join(f"{count:,} {kind}" for count, kind in zip(wrong, kinds, strict=True) if count)
    raise InputError(
        f"The epsilon column {column!r} must hold numbers greater than 0 and less than {budget.LARGEST:g}; of {rows:,} "
        f"rows with locations, these are not: {found}. Fill them in or drop the rows."
    )


def check_alike(several: int, column: str, unit: str = "trajectory") -> None:
    """Raise if trajectories, or other units, have several epsilons that should have one each."""
    if several:
        whose = {"trajectory": "trajectories", "person": "people"}.get(unit, "people and periods")
        raise InputError(
            f"{several:,} {whose} have several values in the epsilon column {column!r}; unit={unit!r} needs "
            "one for each. Make them alike, e.g. the smallest of each, or use unit='location' for one per row."
        )


def _first(tracks: frames.Tracks, own: np.ndarray) -> np.ndarray:
    """Return the value of the first row of each unit, such as a trajectory."""
    return own[np.unique(tracks.unit_codes, return_index=True)[1]]


def _differing(tracks: frames.Tracks, own: np.ndarray) -> np.ndarray:
    """Return for each unit whether its rows have several values."""
    if not len(own):
        return np.zeros(0, dtype=bool)
    return np.bincount(tracks.unit_codes, own != _first(tracks, own)[tracks.unit_codes]) > 0


def _positions(tracks: frames.Tracks) -> np.ndarray:
    """Return the position of each location in its trajectory, by time, then by row."""
    grouped = tracks.grouped() if tracks.offsets is None else tracks
    offsets = cast(np.ndarray, grouped.offsets)
    position = np.arange(len(tracks.xy)) - np.repeat(offsets[:-1], np.diff(offsets))
    return position if tracks.offsets is not None else grouped.in_frame_order(position)
