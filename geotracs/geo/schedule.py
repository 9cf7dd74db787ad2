"""A public schedule of moments: which rows are reported instead of all; chosen by time and number, never by place."""

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from geotracs.core.following import SPEED
from geotracs.errors import InputError, quoted
from geotracs.geo.periods import Period

AUTO = "auto"
FILLS = ("hold", "interpolate", "reconstruct")
FILLED = "filled"
"""The column that says which rows are filled in, and are no observations."""

Most = Callable[[np.ndarray], np.ndarray]
"""How many moments are reported of units of these lengths."""


@dataclass(frozen=True)
class Schedule:
    """What is asked for: ``every``, ``at_most``, ``fill`` and ``speed`` of `geotracs.perturb`.

    Attributes
    ----------
    every : Period or None
        The first row of a unit in each period is reported.
    at_most : int or None
        So many rows of each unit are reported: the middle ones of as many parts of equal numbers of rows.
    auto : bool
        The same, with as many as are best for the unit's epsilon and number of rows.
    fill : str or None
        How the other rows are filled in; None where they are left out.
    """

    every: Period | None = None
    at_most: int | None = None
    auto: bool = False
    fill: str | None = None
    speed: float = field(default=SPEED, repr=False)

    @classmethod
    def of(cls, every: Any, at_most: Any, fill: Any, speed: Any) -> Self | None:
        """Return what is asked for, or raise; None where every row is reported."""
        auto = isinstance(every, str) and every == AUTO
        if fill is not None and (not isinstance(fill, str) or fill not in FILLS):
            raise InputError(f"`fill` must be one of {list(FILLS)} or None, got {quoted(fill)}.")
        right = isinstance(at_most, Integral) and not isinstance(at_most, bool) and int(at_most) >= 1
        if at_most is not None and not right:
            raise InputError(f"`at_most` must be a whole number of at least 1, such as 20, got {quoted(at_most)}.")
        right = isinstance(speed, Real) and not isinstance(speed, bool) and 0 < float(speed) < np.inf
        if speed is not None and not right:
            raise InputError(f"`speed` must be a number of metres per second, greater than 0, got {quoted(speed)}.")
        if speed is not None and not (auto or fill == "reconstruct"):
            raise InputError('`speed` is for every="auto" and fill="reconstruct"; give it with one of them.')
        if every is None and at_most is None:
            if fill is not None:
                raise InputError("`fill` is for rows that are not reported; give it with `every` or `at_most`.")
            return None
        if auto and at_most is not None:
            raise InputError('every="auto" chooses how many rows are reported; leave out `at_most`.')
        period = None if every is None or auto else Period.of(every, "every")
        top = SPEED if speed is None else float(speed)
        return cls(period, None if at_most is None else int(at_most), auto, fill, top)

    @property
    def counts(self) -> bool:
        """Whether it matters how many rows a unit has."""
        return self.auto or self.at_most is not None

    def to_record(self) -> dict[str, Any]:
        """Return what a reader of the release may know, as plain JSON values."""
        every = AUTO if self.auto else None if self.every is None else self.every.text
        return {"every": every, "at_most": self.at_most, "fill": self.fill}


@dataclass(frozen=True)
class Before:
    """Where rows continue a unit: the period of its last row, and how many of its rows may have been reported."""

    slot: int
    candidates: int


def candidates(codes: np.ndarray, slots: np.ndarray | None, before: Before | None = None) -> np.ndarray:
    """Return which rows are the first of their unit in a period; all of them without periods.

    Parameters
    ----------
    codes : array of int
        The unit of each row, in order: 0, 1, ...
    slots : array of int, or None
        The period of each row, in the order of time within a unit.
    before : Before, optional
        What came before, if the first unit continues.

    Examples
    --------
    >>> candidates(np.array([0, 0, 0, 1]), np.array([7, 7, 8, 8])).tolist()
    [True, False, True, True]
    """
    if slots is None or not len(codes):
        return np.ones(len(codes), dtype=bool)
    new = (np.diff(codes, prepend=-1) > 0) | (np.diff(slots, prepend=slots[:1]) != 0)
    if before is not None:
        new[0] = slots[0] != before.slot
    return new


def reported(codes: np.ndarray, lengths: np.ndarray, most: Most, before: Before | None = None) -> np.ndarray:
    """Return which of the candidates are reported, if there may be so many of each unit.

    Parameters
    ----------
    codes : array of int
        The unit of each candidate, in order; 0 is that of the first rows, which may have no candidate.
    lengths : array of int
        How many candidates each unit has, those that came before and come later included.

    Examples
    --------
    >>> reported(np.zeros(9, dtype=int), np.array([9]), lambda lengths: np.array([3])).nonzero()[0].tolist()
    [1, 4, 7]
    """
    if not len(codes):
        return np.zeros(0, dtype=bool)
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    position = np.arange(len(codes)) - np.repeat(starts, np.diff(np.append(starts, len(codes))))
    if before is not None:
        position = position + np.where(codes == 0, before.candidates, 0)
    return is_middle(position, lengths[codes], np.minimum(most(lengths), lengths)[codes])


def is_middle(position: np.ndarray, length: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return whether the positions 0, 1, ... in rows of this length are the middle ones of so many equal parts.

    >>> is_middle(np.arange(5), np.full(5, 5), np.full(5, 2)).tolist()
    [False, True, False, True, False]
    """
    part = -((length - 2 * parts * position) // (2 * length))  # the first whose middle is not before the position
    middle = ((2 * part + 1) * length) // (2 * parts)
    return np.asarray((middle == position) & (part >= 0) & (part < parts))
