"""Mechanisms whose density falls with the distance in many small steps: exact Laplace and Gaussian noise."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from geotracs.core.mechanisms.lattice import CELLS, exp_lower_bound, midpoints
from geotracs.core.mechanisms.steps import STEPS, Steps, weights
from geotracs.core.mechanisms.unit import OnUnit, check_unit
from geotracs.core.randomness import Source, words

Exponent = Callable[[np.ndarray, float], np.ndarray]
WITHIN = CELLS // STEPS
"""Cells of a step."""
HALVINGS = 44
"""How often the range of the size is halved when the largest is looked for."""
DRAWS = np.dtype([("word", np.uint64), ("cell", np.uint32)])
"""What is drawn for a location: a word that picks the step, and a cell of the step."""
SCATTER = 2.0**20 * (1 + 5**0.5)
"""Far more than there are steps: numbers that pick one step are scattered inside it."""
NODES, NODE_WEIGHTS = ((np.polynomial.legendre.leggauss(4)[0] + 1) / 2, np.polynomial.legendre.leggauss(4)[1] / 2)


class Stepped(OnUnit):
    """Report a number with a probability that falls with its distance from the secret, in 4096 steps.

    Exactly ``eps``-LDP on the lattice of 2**32 cells. The secret counts as anywhere in its step; a 64-bit word picks
    the step of the report from a table of whole weights (`Steps`), and the report is uniform among the 2**20 cells of
    that step. On an interval the weights are cut off at the ends, so that their sum depends on the secret. The size
    of the exponent is the largest for which the worst ratio of two probabilities, sums included, is at most exp(eps):
    computed in whole numbers, for all secrets and all reports. Weights below 2**-42 of the largest are raised to
    that before the check: from about epsilon 29 on the far tail is uniform.

    A named mechanism is a subclass that says its exponent.

    Parameters
    ----------
    eps : float, or array of floats
        Privacy parameter, in (0, 700). An array gives each location its own.
    periodic : bool
        True for the circle, where 0 and 1 are the same place.
    """

    per_location = ("size",)

    def __init__(self, eps: float | np.ndarray, *, periodic: bool = False) -> None:
        super().__init__(eps, periodic=periodic)
        fits = [_calibrate(self.exponent, value, self.periodic) for value in self._each.distinct]
        self.size: float | np.ndarray = self._each.spread([size for size, _ in fits])
        self._laws = [law for _, law in fits]

    @staticmethod
    def exponent(way: np.ndarray, size: float) -> np.ndarray:
        """Return minus the logarithm of the density at these parts of the largest distance, 0 where the part is 0.

        It must not decrease with the part, and must be all 0 where ``size`` is 0.
        """
        raise NotImplementedError

    @property
    def law(self) -> Steps:
        """The law in whole numbers; for one eps."""
        return self._laws[0]

    def worst_ratio(self) -> Fraction:
        """Return how much likelier a report can be for one secret than for another, at most; for one eps."""
        return self.law.worst_ratio()

    @property
    def strata(self) -> tuple[float, ...]:
        """All draws are alike: a word is a quantile."""
        return (1.0,)

    def spread(self, stratum: int, u: np.ndarray) -> np.ndarray:
        """Return draws that stand for all, for numbers spread evenly over [0, 1)."""
        draws = np.empty(u.shape, dtype=DRAWS)
        draws["word"] = (u * 2.0**64).astype(np.uint64)
        draws["cell"] = (u * SCATTER % 1 * WITHIN).astype(np.uint32)  # anywhere in the step, whichever it is
        return draws

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Draw all the randomness for n locations; the secrets are not needed for it."""
        self._each.check(n)
        draws = np.empty(n, dtype=DRAWS)
        draws["word"] = words(rng, n, np.uint64)
        draws["cell"] = words(rng, n, np.uint32) % np.uint32(WITHIN)  # a power of two: nothing is favoured
        return draws

    def apply(self, x: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Turn secrets and draws into reports, in (0, 1); nothing here is random."""
        secrets = _steps_of(np.asarray(x))
        steps = self._by_law(lambda law, own, word: law.find(own, word), secrets, draws["word"])
        return midpoints(steps * WITHIN + draws["cell"])

    def density(self, y: npt.ArrayLike, x: npt.ArrayLike) -> np.ndarray:
        """Return the probability density of reporting ``y`` when the secret is ``x``, right to 2**-52."""
        return self._by_law(_density, _steps_of(check_unit(y)), _steps_of(check_unit(x)))

    def expected_error(self, x: np.ndarray | None = None, power: int = 1) -> float | np.ndarray:
        """Return the mean of ``|report - x| ** power``, around the circle where there is one.

        Parameters
        ----------
        x : array, optional
            Secrets. Without them the mean over the whole domain is returned.
        power : int
            1 for the mean error, 2 for the mean squared error.
        """
        if x is not None:
            return self._by_law(lambda law, own: law.mean_error(own, power), check_unit(x))
        means = [_mean_over_secrets(law, power) for law in self._laws]
        return means[0] if self._each.which is None else self._each.spread(means)

    def _by_law(self, function: Any, *arrays: np.ndarray) -> np.ndarray:
        """Call the function with the law of each location, and their values."""
        if self._each.which is None:
            return function(self._laws[0], *arrays)
        values = np.broadcast_arrays(self._each.which, *arrays)[1:]
        results = None
        for index, rows in self._each.groups():
            part = function(self._laws[index], *(value[rows] for value in values))
            results = np.empty(self._each.which.shape, dtype=part.dtype) if results is None else results
            results[rows] = part
        return np.empty(0) if results is None else results


def _steps_of(x: np.ndarray) -> np.ndarray:
    return np.clip(x * STEPS, 0, STEPS - 1).astype(np.int64)


def _density(law: Steps, reports: np.ndarray, secrets: np.ndarray) -> np.ndarray:
    apart = np.abs(reports - secrets)
    apart = np.minimum(apart, STEPS - apart) if law.periodic else apart
    return law.weights[apart] / law.totals[secrets] * STEPS


def _mean_over_secrets(law: Steps, power: int) -> float:
    """Integrate over the secrets: on each step the error is a polynomial of degree ``power + 1``."""
    parts = [law.mean_error((np.arange(STEPS) + node) / STEPS, power).mean() for node in NODES]
    return float(np.dot(parts, NODE_WEIGHTS))


@lru_cache(maxsize=256)
def _calibrate(exponent: Exponent, eps: float, periodic: bool) -> tuple[float, Steps]:
    """Return the largest size of the exponent, up to eps, with which the worst ratio is at most exp(eps).

    Size 0 is the uniform law, which is always private; whatever is returned was checked.
    """
    most = exp_lower_bound(eps)
    way = np.linspace(0, 1, STEPS // 2 + 1 if periodic else STEPS)

    def law_of(size: float) -> Steps:
        return Steps(weights(exponent(way, size)), periodic)

    low, best, size = 0.0, law_of(0.0), eps
    high = eps
    for _ in range(HALVINGS):
        law = law_of(size)
        if law.worst_ratio() <= most:
            low, best = size, law
            if size == eps:
                break
        else:
            high = size
        size = (low + high) / 2
    return low, best
