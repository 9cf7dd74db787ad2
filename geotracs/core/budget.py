"""Epsilon: checking it and sharing it."""

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, cast

import numpy as np

from geotracs.errors import InputError, quoted

LARGEST = 700.0
UNITS = ("location", "trajectory", "person")
PERIODS = re.compile(r"hour|day|week|[+-]?[\d.]+ ?[A-Za-z]+")
"""Units that are a person and a period, such as "day" or "1W"."""
RULES = ("even", "ends", "water-filling")
ENDS = 4.0
"""How many times more the first and the last location of a trajectory count than others."""
E_FOLD = 3.0
"""How much epsilon divides the error of "joint" by e, where epsilon is large; water-filling reckons with it."""
RESERVED = 0.1
"""The part of epsilon that water-filling shares evenly, so that no location is left without any."""
BELOW = 1 - 2.0**-40
"""Shares are made smaller by this factor, which is more than all rounding can add to their sum."""
MAX_LEVELS = 512
"""With more distinct epsilons than this all are rounded down: methods make tables for each."""
STEPS = (64, 32, 16, 8, 4, 2, 1)
"""In how many steps, from the finest on, epsilon doubles where it is rounded down: 64 lose at most 1.1% of it."""
_WITHIN_OCTAVE = np.array([2.0 ** (step / STEPS[0]) for step in range(STEPS[0])])


def check_eps(eps: Any) -> float:
    """Return ``eps`` as a float in (0, 700), or raise.

    >>> check_eps(4)
    4.0
    """
    if isinstance(eps, (bool, np.bool_)) or not isinstance(eps, Real):
        raise InputError(f"`eps` must be one number, got {type(eps).__name__}.")
    number = float(eps)
    if not 0 < number < LARGEST:
        raise InputError(
            f"`eps` must be greater than 0 and less than {LARGEST:g}, got {number:g}. Typical values are 1 to 10."
        )
    return number


def billionths(eps: float) -> int:
    """Return an epsilon in whole billionths, rounded up, so that sums are exact and never too small.

    It is that of the decimal number that the user typed: ten times 0.1 is 1.

    >>> billionths(0.1), billionths(1 / 3)
    (100000000, 333333334)
    """
    return math.ceil(Decimal(repr(float(eps))).scaleb(9))


def check_share(share: float, name: str) -> float:
    """Return a share of epsilon, a number between 0 and 1 (neither included)."""
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:
        raise InputError(f"`{name}` must be a number between 0 and 1, neither included, got {quoted(share)}.")
    return float(share)


def split(eps: float | np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Split epsilon in two parts whose exact sum never exceeds it.

    >>> first, rest = split(4.0, 0.75)
    >>> float(first), float(rest)
    (3.0, 1.0)
    """
    eps = np.asarray(eps, dtype=np.float64)
    first = eps * share
    rest = eps - first
    rounded_up = (eps - rest) - first < 0
    rest = np.where(rounded_up, np.nextafter(rest, 0), rest)
    if not np.all((first > 0) & (rest > 0)):
        raise InputError("`eps` is too small to be shared between two parts.")
    return first, rest[()]


def per_location(eps: float, unit: str, lengths: np.ndarray) -> float | np.ndarray:
    """Return the epsilon of each location: ``eps`` itself, or its even share of a trajectory's ``eps``.

    Parameters
    ----------
    lengths : array of int
        Number of locations of each trajectory.

    Examples
    --------
    >>> per_location(4, "location", np.array([2, 1]))
    4
    >>> per_location(4, "trajectory", np.array([2, 1])).round(6)
    array([2., 2., 4.])
    """
    check_unit(unit)
    if unit == "location":
        return eps
    lengths = lengths[lengths > 0]
    return np.repeat(even_share(eps, lengths), lengths)


def check_unit(unit: Any) -> None:
    """Raise for an unknown unit."""
    if not isinstance(unit, str) or not (unit in UNITS or PERIODS.fullmatch(unit)):
        raise InputError(
            f'`unit` must be one of {list(UNITS)}, or a period such as "day", "1D" or "1W", got {quoted(unit)}.'
        )


def even_share(eps: float | np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the epsilon of each location of trajectories of these lengths, which share ``eps``; never too much.

    >>> even_share(4.0, np.array([2, 1])).round(6)
    array([2., 4.])
    """
    return np.where(lengths == 1, eps, np.nextafter(eps / lengths, 0))


def typical(eps: float, unit: str, lengths: np.ndarray) -> float:
    """Return the epsilon of a typical location: of the middle one, from the shortest trajectory to the longest.

    >>> typical(4.0, "location", np.array([2, 1, 9]))
    4.0
    >>> round(typical(4.0, "trajectory", np.array([2, 1, 8])), 6)
    0.5
    """
    if unit == "location" or lengths.sum() == 0:
        return eps
    ordered = np.sort(lengths)
    middle = ordered[np.searchsorted(np.cumsum(ordered), lengths.sum() / 2)]
    return float(even_share(eps, middle))


@dataclass(frozen=True)
class Allocation:
    """A public rule that shares the epsilon of a trajectory over its locations, by their position alone.

    The sum over the locations of a trajectory never exceeds its epsilon. Single locations have different epsilons:
    those that get more are reported more exactly, and are protected less, than the others.

    Parameters
    ----------
    rule : {"even", "ends", "water-filling"} or sequence of numbers
        "ends" gives the first and the last location, origin and destination, four times the share of the others.
        "water-filling" minimises the mean error where those two count four times, for an error that falls as
        exp(-eps / 3): all have the same, and the two 4.16 more; where epsilon is too small for that, the two have all
        but a tenth, which is shared evenly. Numbers, such as (3, 1, 3), are weights from the first location to the
        last, interpolated between.

    Examples
    --------
    >>> Allocation("ends").share(10.0, np.arange(4), 4).round(6)
    array([4., 1., 1., 4.])
    >>> Allocation((3, 1)).share(8.0, np.arange(3), 3).round(6)
    array([4.      , 2.666667, 1.333333])
    """

    rule: str | tuple[float, ...] = "even"

    @classmethod
    def of(cls, given: Any) -> "Allocation":
        """Return the rule that a user asks for, or raise."""
        if isinstance(given, str) and given in RULES:
            return cls(given)
        numbers = [] if isinstance(given, str) or not isinstance(given, (Sequence, np.ndarray)) else list(given)
        right = all(
            isinstance(one, Real) and not isinstance(one, bool) and 1e-6 <= float(one) <= 1e6 for one in numbers
        )
        if len(numbers) < 2 or not right:
            raise InputError(
                f"`allocation` must be one of {list(RULES)}, or two or more weights from 1e-6 to 1e6, such as "
                f"(3, 1, 3), got {quoted(given)}."
            )
        return cls(tuple(float(one) for one in numbers))

    @property
    def even(self) -> bool:
        """Whether all locations of a trajectory have the same epsilon."""
        return self.rule == "even"

    def share(self, eps: float | np.ndarray, position: int | np.ndarray, length: int | np.ndarray) -> np.ndarray:
        """Return the epsilon of locations at these positions, from 0, in trajectories of these epsilons and lengths."""
        eps, position, length = np.broadcast_arrays(np.asarray(eps, dtype=np.float64), position, length)
        if self.even:
            return even_share(eps, length)
        ends = (position == 0) | (position == length - 1)
        if self.rule == "water-filling":
            own = _filled(eps, ends, length)
        elif self.rule == "ends":
            own = eps * np.where(ends, ENDS, 1.0) / (length + 2 * (ENDS - 1))
        else:
            own = eps * self._weights(position, length) / self._totals(length)
        if isinstance(self.rule, str):
            own = np.where(length == 2, eps / 2, own)  # both are ends
        own = np.where(length == 1, eps, own * BELOW)
        if not np.all(own > 0):
            raise InputError("`eps` is too small to be shared over the locations of a trajectory.")
        return own

    def shares(self, eps: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return all epsilons that locations of trajectories with these epsilons and lengths have, some repeatedly."""
        eps, lengths = np.broadcast_to(eps, lengths.shape)[lengths > 0], lengths[lengths > 0]
        if isinstance(self.rule, str):  # the first location, and one in the middle
            inner = lengths > 2
            return np.concatenate([self.share(eps, 0, lengths), self.share(eps[inner], 1, lengths[inner])])
        pairs = np.unique(np.column_stack([eps, lengths]), axis=0)
        every = [self.share(one, np.arange(int(length)), int(length)) for one, length in pairs.tolist()]
        return np.concatenate([np.empty(0), *every])

    def to_record(self) -> str | list[float]:
        """Return the rule as a plain JSON value."""
        return self.rule if isinstance(self.rule, str) else list(self.rule)

    def _weights(self, position: np.ndarray, length: np.ndarray) -> np.ndarray:
        numbers = cast(tuple[float, ...], self.rule)
        return np.interp(position / np.maximum(length - 1, 1), np.linspace(0, 1, len(numbers)), numbers)

    def _totals(self, length: np.ndarray) -> np.ndarray:
        distinct, which = np.unique(length, return_inverse=True)
        totals = [self._weights(np.arange(n), np.array(n)).sum() for n in distinct.tolist()]
        return np.array(totals)[which].reshape(length.shape)


def _filled(eps: np.ndarray, ends: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Pour epsilon over two ends that lie deeper than the locations between them."""
    poured, deeper = eps * (1 - RESERVED), E_FOLD * math.log(ENDS)
    level = np.maximum(poured - 2 * deeper, 0) / length
    return eps * RESERVED / length + np.where(ends, level + np.minimum(poured / 2, deeper), level)


def round_down(eps: np.ndarray, steps: int) -> np.ndarray:
    """Return the largest power ``2 ** (i / steps)`` with a whole i that does not exceed each epsilon.

    >>> round_down(np.array([4.0, 3.99]), 1)
    array([4., 2.])
    """
    every = STEPS[0] // steps
    mantissa, exponent = np.frexp(eps)
    step = np.searchsorted(_WITHIN_OCTAVE[::every], 2 * mantissa, side="right") - 1
    return np.ldexp(_WITHIN_OCTAVE[::every][step], exponent - 1)


@dataclass(frozen=True, eq=False)
class Levels:
    """The distinct epsilons of locations; where there are many, rounded down to few public ones.

    Levels of parts add up to those of the whole, however it is cut.

    Attributes
    ----------
    values : array
        The epsilons, in order.
    steps : int or None
        In how many steps they double, if they were rounded down.

    Examples
    --------
    >>> Levels.of(np.array([2.0, 1.0, 2.0])).values
    array([1., 2.])
    >>> len(Levels.of(np.linspace(1, 2, 10_000)).values)
    65
    """

    values: np.ndarray
    steps: int | None = None

    @classmethod
    def of(cls, eps: np.ndarray) -> "Levels":
        """Return the levels of these epsilons."""
        values = np.unique(eps)
        if len(values) <= MAX_LEVELS:
            return cls(values)
        return cls(np.unique(round_down(values, STEPS[0])), STEPS[0])

    def __add__(self, other: "Levels") -> "Levels":
        together = Levels.of(np.concatenate([self.values, other.values]))
        steps = self.steps or other.steps or together.steps
        return together if steps is None else Levels(np.unique(round_down(together.values, steps)), steps)

    def few(self) -> "Levels":
        """Return these levels, in larger steps if they are still too many."""
        if self.steps is None:
            return self
        for steps in STEPS:
            values = np.unique(round_down(self.values, steps))
            if len(values) <= MAX_LEVELS:
                break
        return Levels(values, steps)

    def __call__(self, eps: np.ndarray) -> np.ndarray:
        """Return the level of each epsilon, never above it."""
        return eps if self.steps is None else round_down(eps, self.steps)

    @functools.cached_property
    def typical(self) -> float:
        """The middle one."""
        return float(self.values[len(self.values) // 2])
