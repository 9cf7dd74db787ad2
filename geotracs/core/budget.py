"""Epsilon: checking it and sharing it."""

from numbers import Real
from typing import Any

import numpy as np

from geotracs.errors import InputError, quoted

LARGEST = 700.0
UNITS = ("location", "trajectory")


def check_eps(eps: Any) -> float:
    """Return ``eps`` as a float in (0, 700), or say what is wrong with it.

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
    """Refuse a unit that there is not."""
    if not isinstance(unit, str) or unit not in UNITS:
        raise InputError(f"`unit` must be one of {list(UNITS)}, got {quoted(unit)}.")


def even_share(eps: float, lengths: np.ndarray) -> np.ndarray:
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
