"""Memoised reports: the same person in the same public cell gets the same report, however often.

The report of a person in a cell is drawn once, from the middle of the cell, with words that are a keyed pseudorandom
function of the release's secret key, the person and the cell. So the key decides it, not the order of the rows, the
batch or the partition.
"""

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

import geotracs.geo.tracks as frames
from geotracs.core.cells import Cells
from geotracs.core.notions import PURE
from geotracs.core.randomness import Key, Streams
from geotracs.errors import InputError, quoted
from geotracs.geo.people import distinct, text
from geotracs.geo.region import Region

SAME = "same"
CELL = 200.0
"""The side of a cell, in metres, if none is given."""
DEGREE = 111_320.0
"""How many metres a degree of latitude has."""


@dataclass(frozen=True)
class Repeat:
    """What is asked for: cells of a size, and whose rows are drawn together.

    Attributes
    ----------
    cell : float
        Side of a cell in metres.
    person : str or None
        The column that says whose row it is; None where all rows are one person's.
    """

    cell: float
    person: str | None

    @classmethod
    def of(cls, request: Any) -> "Repeat | None":
        """Return what a request asks for; None where every row is drawn by itself."""
        if request.repeat is None:
            return None
        person = request.trajectory if request.person is None else request.person
        return cls(CELL if request.cell is None else float(request.cell), person)

    def cells(self, region: Region) -> Cells:
        """Return the cells in the working CRS of a region."""
        if region.domain.in_degrees:
            return Cells(self.cell / DEGREE, in_degrees=True)
        return Cells(self.cell / float(region.crs.axis_info[0].unit_conversion_factor))

    def whose(self, table: pd.DataFrame, tracks: frames.Tracks, key: Key) -> "Whose":
        """Return whose locations these are, from the table that they are a part of."""
        present = np.flatnonzero(tracks.present)
        if self.person is None:
            if tracks.are_lines:
                raise InputError(
                    '`repeat="same"` needs to know whose lines these are; say which column tells it, with `person` or '
                    "`trajectory`."
                )
            return Whose(key, key.names([""]), np.zeros(len(present), dtype=np.int64))
        codes, labels = distinct(table[self.person].iloc[present], self.person, "drawn the same report")
        return Whose(key, key.names([text(label) for label in labels]), tracks.of_rows(codes))

    def to_record(self) -> dict[str, Any]:
        """Return what a reader of the release may know, as plain JSON values."""
        return {"cell": self.cell, "person": self.person}


@dataclass(frozen=True, repr=False)
class Whose:
    """Whose locations these are, and the secret by which their reports are drawn.

    Attributes
    ----------
    key : Key
        Of the whole release.
    names : array of uint8, shape (people, 32)
        A secret name for each person.
    codes : array of int
        The person of each location.
    """

    key: Key
    names: np.ndarray
    codes: np.ndarray

    def part(self, part: slice) -> "Whose":
        """Return whose a part of the locations are."""
        return replace(self, codes=self.codes[part])

    def pairs(self, cells: np.ndarray, eps: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first row of each distinct person and cell, and which of these each row has.

        Locations with another epsilon are another pair: two reports are drawn independently, or one for both.
        """
        which = self.codes
        for column in (*cells.T, *([eps] if np.ndim(eps) else [])):
            own, known = pd.factorize(column)
            which = pd.factorize(which * np.int64(len(known) + 1) + own)[0]
        _, first = np.unique(which, return_index=True)
        return first, which

    def streams(self, rows: np.ndarray, cells: np.ndarray, eps: float | np.ndarray) -> Streams:
        """Return the random words of some rows, by their people, cells and epsilons."""
        own = np.broadcast_to(np.asarray(eps, dtype="<f8"), len(self.codes))[rows]
        numbers = [np.ascontiguousarray(cells[rows], dtype="<i8"), np.ascontiguousarray(own)[:, None]]
        as_bytes = [part.view(np.uint8).reshape(len(rows), -1) for part in numbers]
        return self.key.streams(np.concatenate([self.names[self.codes[rows]], *as_bytes], axis=1))


def check(request: Any) -> None:
    """Raise unless the reports of a request can be repeated as it asks for."""
    if request.repeat is None:
        if request.cell is not None:
            raise InputError('`cell` is for repeated reports; give it with repeat="same".')
        return
    if request.repeat != SAME:
        raise InputError(f'`repeat` must be "same" or None, got {quoted(request.repeat)}.')
    cell = CELL if request.cell is None else request.cell
    if not isinstance(cell, Real) or isinstance(cell, bool) or not 1 <= float(cell) < math.inf:
        raise InputError(f"`cell` must be a number of metres, at least 1, such as 200, got {quoted(cell)}.")
    if request.unit != "location":
        raise InputError(
            'repeat="same" spends epsilon for each distinct cell, and how many cells somebody is in depends on where '
            f'they are: nothing may be shared over them. Use unit="location", got {quoted(request.unit)}.'
        )
    if request.recipe.privacy["kind"] != PURE:
        raise InputError(
            f"{request.method} promises less for locations that are near to each other, and a cell moves them apart; "
            'take another method for repeat="same", such as "joint".'
        )
    if request.recipe.sequential:
        raise InputError(
            f"{request.method} reports a location as it is seen from the report before it, which another row of the "
            'same place does not have; take a method that looks at each location by itself for repeat="same", such as '
            '"joint".'
        )
