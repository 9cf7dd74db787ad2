"""L-SRR: staircase randomized response over all places, in groups by distance."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.lengths import distances
from geotracs.core.mechanisms.staircase import Stairs
from geotracs.core.methods.weighted import WeightedMethod
from geotracs.errors import InputError, quoted, warn

MAX_PLACES = 2**17
"""How many places can be compared with each other in a few minutes."""


class Tables(NamedTuple):
    """Where the places are, how far each group reaches, and the calibrated weights."""

    places: np.ndarray
    bounds: np.ndarray
    stairs: Stairs


@dataclass(frozen=True)
class LSRR(WeightedMethod):
    """Report a place of a near group with a large weight and of a far one with a small one.

    Parameters
    ----------
    groups : sequence of float
        How far each group but the last reaches, as parts of the region's longest side, in increasing order; the
        paper's are 0.3 and 0.6.

    Notes
    -----
    Public: the places, the groups around each of them, and the weights, calibrated over all places so that the worst
    ratio of any two of them is exp(eps). Paid for with all of epsilon: which place the location belongs to, by one
    staircase randomized response (Wang, Hong, Qin and Hong, 2022). Calibration compares every place with every other,
    once a call; published code did not calibrate, and its ratios exceed exp(eps) where group sizes differ.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> method = LSRR()
    >>> tables = method.prepare(np.array([[0.0, 0.0], [5.0, 0.0], [9.0, 0.0]]), 2.0, Rectangle(0, 0, 10, 10))
    >>> method.pmf([0], [[0], [1], [2]], 2.0, tables).round(3)
    array([0.587, 0.333, 0.079])
    """

    name: ClassVar[str] = "l-srr"

    groups: Any = (0.3, 0.6)

    def __post_init__(self) -> None:
        parts: Sequence[float] = self.groups if isinstance(self.groups, (list, tuple)) else ()
        numbers = all(isinstance(part, Real) and 0 < part < np.inf for part in parts)
        if not parts or not numbers or sorted(set(parts)) != list(parts):
            raise InputError(
                f"`groups` must be increasing parts of the longest side, e.g. [0.3, 0.6], got {quoted(self.groups)}."
            )

    def prepare(self, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> Tables:
        """Return the places, how far the groups reach, and the staircase, calibrated for every epsilon there is."""
        self.check_eps(eps)
        if len(places) > MAX_PLACES:
            raise InputError(
                f"l-srr compares every place with every other and takes at most {MAX_PLACES:,} of them, got "
                f"{len(places):,}; take fewer places or a coarser grid."
            )
        bounds = domain.longest_side * np.asarray(self.groups, dtype=np.float64)
        stairs = Stairs(
            lambda rows, columns: _groups(places[rows], places[columns], bounds), len(places), len(bounds) + 1
        )
        if stairs.flat:
            warn(
                "l-srr: all places are in one group, so that each is reported with the same probability, whatever the "
                "location; take smaller `groups`, or a smaller domain."
            )
        for value in np.unique(eps).tolist():
            stairs.weights(value)
        return Tables(places, bounds, stairs)

    def weights(self, secrets: np.ndarray, befores: np.ndarray, eps: np.ndarray, tables: Tables) -> np.ndarray:
        """Return the weights of all places; see `WeightedMethod.weights`."""
        levels, level = np.unique(eps, return_inverse=True)
        stairs = np.array([tables.stairs.weights(value) for value in levels.tolist()])
        return stairs[level[:, None], _groups(tables.places[secrets], tables.places, tables.bounds)]


def _groups(rows: np.ndarray, columns: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return the group of some places as seen from others, the nearest 0; the same both ways."""
    away = distances(rows, columns)
    groups = np.zeros(away.shape, dtype=np.int8)
    for bound in bounds:
        groups += away > bound
    return groups
