"""What the methods with exponential weights share: how steeply these fall, calibrated or by the book."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from geotracs.core.lengths import diameter, distances
from geotracs.core.mechanisms.slopes import Slopes
from geotracs.core.methods.weighted import MAX_EPS, WeightedMethod
from geotracs.errors import InputError, quoted

CALIBRATIONS = ("exact", "textbook")
PAIRS = 2**27
"""Up to how many pairs of a secret and a report are compared; in larger sets stand-ins are compared for the secrets."""
MIN_STAND_INS = 64
"""How many stand-ins there are at least."""


@dataclass(frozen=True)
class CalibratedMethod(WeightedMethod):
    """Base of the methods whose weights fall exponentially with the distance.

    Parameters
    ----------
    calibration : {"exact", "textbook"}
        How steeply: as steeply as all of epsilon allows, calibrated over the public set; or by the classical factor 2
        of the exponential mechanism, which spends only about half of epsilon.
    """

    calibration: Any = "exact"

    def __post_init__(self) -> None:
        if self.calibration not in CALIBRATIONS:
            raise InputError(f"`calibration` must be one of {list(CALIBRATIONS)}, got {quoted(self.calibration)}.")

    @property
    def largest_eps(self) -> float:
        """See `Method.largest_eps`; by the book a weight has half of epsilon."""
        return MAX_EPS if self.calibration == "exact" else 2 * MAX_EPS

    def everywhere(self, places: np.ndarray) -> Slopes | None:
        """Return the calibrated slopes over all places; none by the book."""
        return over_all(places) if self.calibration == "exact" else None


def slopes_at(slopes: Slopes | None, eps: np.ndarray, contexts: np.ndarray | int = 0) -> np.ndarray | None:
    """Return the calibrated slope for each epsilon, in the context of each."""
    if slopes is None:
        return None
    levels, level = np.unique(eps, return_inverse=True)
    found = np.array([slopes.of(value) for value in levels.tolist()])
    return found[level, contexts]


def over_all(places: np.ndarray) -> Slopes:
    """Return the slopes over the whole set; they are kept for the next call with the same places."""
    return _over_all(np.ascontiguousarray(places, dtype=np.float64).tobytes())


@lru_cache(maxsize=4)
def _over_all(places: bytes) -> Slopes:
    return calibrate(np.frombuffer(places).reshape(-1, 2), PAIRS)


def calibrate(
    places: np.ndarray, pairs: int, allowed: Callable[[slice], np.ndarray] | None = None, most: int | None = None
) -> Slopes:
    """Return the slopes over places, from about that many pairs of a stand-in and a place; see `Slopes`."""
    few = max(MIN_STAND_INS, pairs // len(places))
    own, stand_ins, covering = divide(places, few if most is None else min(few, most))
    return Slopes(places, own, stand_ins, covering, diameter(places), distances, allowed)


def divide(places: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Divide places among at most that many stand-ins, by the cells of a grid.

    Returns
    -------
    array, array, array
        The number of the stand-in of each place; which place each stand-in is; how far its places are from it at most.

    Examples
    --------
    >>> own, stand_ins, covering = divide(np.array([[0.0, 0.0], [0.1, 0.0], [0.2, 0.0], [9.0, 9.0]]), most=3)
    >>> own, stand_ins, covering
    (array([0, 0, 0, 1]), array([2, 3]), array([0.2, 0. ]))
    """
    every = np.arange(len(places))
    if len(places) <= most:
        return every, every, np.zeros(len(places))
    side = finest = math.isqrt(most)
    while finest < 16 * side and _cells(places, finest + finest // 4 + 1)[0].max() < most:
        finest += finest // 4 + 1
    own, off_centre = _cells(places, finest)
    order = np.lexsort((off_centre, own))
    stand_ins = order[np.searchsorted(own[order], np.arange(own.max() + 1))]
    covering = np.zeros(len(stand_ins))
    np.maximum.at(covering, own, np.hypot(*(places - places[stand_ins[own]]).T))
    return own, stand_ins, covering


def _cells(places: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell of each place in a square grid, occupied ones only, and how far its middle is."""
    low, length = places.min(axis=0), max(float(np.ptp(places, axis=0).max()), 1e-300)
    cells = np.minimum((places - low) * (side / length), side - 1).astype(np.int64)
    _, own = np.unique(cells[:, 0] * side + cells[:, 1], return_inverse=True)
    return own, np.hypot(*(places - low - (cells + 0.5) * (length / side)).T)
