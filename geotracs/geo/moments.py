"""How many moments are best reported for a total epsilon, with straight lines between them: from public numbers only.

Fewer reports are more exact each, and say less about what is between them. What is between is expected to be as far off
as somebody who turns after about two minutes.
"""

from dataclasses import dataclass

import numpy as np

import geotracs.core.methods as methods
from geotracs.core.budget import even_share
from geotracs.errors import InputError
from geotracs.geo.trials import FEW, Setting

WAY, TURNING = 0.25, 120.0
"""How far somebody is from a straight line between two reports, as a part of the way that they could have gone between
them, and after how many seconds they have turned, so that the way no longer leads away in proportion to time."""
LEVELS = 14
"""For how many epsilons the error of a report is computed; it is interpolated between."""
LOWEST = 0.05
"""With less than this a report tells nothing."""
CANDIDATES = 400
"""How many numbers of moments are tried at most."""
ENOUGH = 1.01
"""Of numbers of moments that are as good as the best but for a hundredth, the smallest is taken."""
SHARP = 6
"""How quickly the remapped error of a report turns from that of the report to that of the best constant point."""


@dataclass(frozen=True, eq=False, repr=False)
class Best:
    """How many moments of a track are best reported.

    Attributes
    ----------
    eps : float
        Of all moments together.
    interval : float
        Seconds between two fixes.
    speed : float
        How fast people are at most, in metres per second.
    levels, errors : array
        The mean error of a report in metres for some epsilons.
    cap : float
        The error of whoever knows nothing, in metres.
    """

    eps: float
    interval: float
    speed: float
    levels: np.ndarray
    errors: np.ndarray
    cap: float

    @classmethod
    def of(cls, setting: Setting, method: methods.Method, eps: float, interval: float, speed: float) -> "Best":
        """Compute the errors of a method in a public setting, with reports that are remapped where that wins."""
        levels = np.geomspace(min(LOWEST, eps / 2), min(eps, method.largest_eps), LEVELS)
        errors = np.array([_error(setting, method, float(level)) for level in levels])
        known = np.isfinite(errors)
        if not known.any():
            raise InputError(f"{method.name} cannot share an epsilon of {eps:g}; give another method or epsilon.")
        levels, errors = levels[known], np.minimum.accumulate(errors[known])
        cap = setting.unknown(FEW)
        return cls(eps, interval, speed, levels, _capped(errors, cap), cap)

    def report(self, eps: np.ndarray) -> np.ndarray:
        """Return the mean error of a report, in metres."""
        return np.interp(np.log(eps), np.log(self.levels), self.errors)

    def error(self, moments: np.ndarray, length: int) -> np.ndarray:
        """Return the mean error over a track of so many fixes, in metres, for numbers of reported moments.

        What a report tells is lost with the way between two of them; whoever is told nothing takes the middle.

        Examples
        --------
        >>> best = Best(100.0, 3.5, 15.0, np.array([1.0, 10.0, 100.0]), np.array([19e3, 2e3, 1.0]), 20e3)
        >>> best.error(np.array([1, 10, 1000]), 1000).round(-3)
        array([ 2000.,  3000., 19000.])
        """
        gap = self.interval * length / moments
        way = np.where(moments < length, WAY * self.speed * gap / np.sqrt(1 + gap / TURNING), 0.0)
        told = 1 - self.report(even_share(self.eps, moments)) / self.cap
        return self.cap * (1 - told * np.exp(-way / self.cap))

    def moments(self, length: int) -> int:
        """Return the best number of moments for a track of so many fixes."""
        tried = np.unique(np.geomspace(1, length, CANDIDATES).round().astype(np.int64))
        error = self.error(tried, length)
        return int(tried[np.argmax(error <= ENOUGH * error.min())])

    def most(self, lengths: np.ndarray) -> np.ndarray:
        """Return the best numbers of moments for tracks of these lengths."""
        distinct, which = np.unique(lengths, return_inverse=True)
        found = [self.moments(int(length)) if length else 0 for length in distinct.tolist()]
        return np.array(found, dtype=np.int64)[which.reshape(-1)]


def _error(setting: Setting, method: methods.Method, eps: float) -> float:
    """Return the mean error of a report; NaN for an epsilon that the method cannot use."""
    try:
        return float(setting.displacements(method, eps, FEW).mean())
    except InputError:
        return float("nan")


def _capped(errors: np.ndarray, cap: float) -> np.ndarray:
    """Return the errors of reports that are moved to the middle where they tell little; that of none is the cap."""
    capped = (errors**-SHARP + cap**-SHARP) ** (-1 / SHARP)
    return np.asarray(capped * cap / capped.max()) if capped.max() > 0.9 * cap else capped
