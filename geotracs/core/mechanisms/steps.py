"""A law by distance in whole numbers: the farther a step of the lattice from the secret's, the lighter its weight.

Everything that a proof needs is an integer here: the weights, their sums, the number of 64-bit words that report each
step, and the worst ratio of two such numbers.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from geotracs.core.mechanisms.lattice import WORDS

STEPS = 2**12
"""Steps of the unit interval, each of 2**20 cells: fine beside any noise whose scale is at least 1/700."""
PEAK = 2**50
"""The weight at distance 0, so that all sums stay below 2**63."""
LIGHTEST = 2**8
"""The smallest weight. Beyond a ratio of 2**42, about exp(29), the law is uniform, which is more private."""


@dataclass(frozen=True, repr=False, eq=False)
class Steps:
    """Report step j for a secret in step i with a probability in proportion to ``weights[distance(i, j)]``.

    Parameters
    ----------
    weights : array of int64
        Public whole numbers that never increase with the distance. On an interval of n steps there are n of them, on a
        circle n // 2 + 1, for an even n.
    periodic : bool
        True for the circle.

    Notes
    -----
    A 64-bit word u picks the weight with number ``floor(u * total / 2**64)``, counted from the first step. Of the
    2**64 words therefore ``floor(weight * 2**64 / total)`` report a step, or one more: nothing is rejected, so that
    the word can be drawn before the secret is known. On an interval the total depends on the secret.

    The worst ratio is found without trying all pairs. The weights never increase, so the total is smallest at the ends
    of the interval, and the likeliest report of all is the end that the secret lies at. Whatever step j and secret i,
    the same secret or its mirror image is at least as far from the first step as from j. So no report is less likely
    than the first step is for some secret, and the worst ratio is that of the first step.

    Examples
    --------
    >>> law = Steps(np.array([4, 2, 1]), periodic=False)
    >>> law.totals
    array([7, 8, 7])
    >>> [round(count / 2**64, 3) for count in law.counts(0)]
    [0.571, 0.286, 0.143]
    >>> round(float(law.worst_ratio()), 3)
    4.0
    """

    weights: np.ndarray
    periodic: bool

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return 2 * len(self.weights) - 2 if self.periodic else len(self.weights)

    @cached_property
    def totals(self) -> np.ndarray:
        """The sum of the weights of all steps, for a secret in each step."""
        if self.periodic:
            return np.full(self.steps, 2 * self.weights.sum() - self.weights[0] - self.weights[-1])
        return self.weights[0] + self._beside + self._beside[::-1]

    def worst_ratio(self) -> Fraction:
        """Return a bound, exact to one word of 2**64, of how much likelier a report can be for one secret than another.

        Where no word reports a step at all, the ratio is infinite and an error of division says so.
        """
        most = -(-int(self.weights[0]) * WORDS // int(self.totals[0]))
        if self.periodic:
            return Fraction(most, int(self.weights[-1]) * WORDS // int(self.totals[0]))
        # Doubles preselect: they are right to 2**-50, and all within 2**-40 of the smallest are compared exactly.
        shares = self.weights / self.totals
        near = np.flatnonzero(shares <= shares.min() * (1 + 2.0**-40))
        pairs = set(zip(self.weights[near].tolist(), self.totals[near].tolist(), strict=True))
        return Fraction(most, min(weight * WORDS // total for weight, total in pairs))

    def counts(self, secret: int) -> list[int]:
        """Return how many of the 2**64 words report each step for a secret in this one, exactly."""
        total, up_to = int(self.totals[secret]), int(self._begins[secret])
        counts = []
        for offset in range(-secret, self.steps - secret) if not self.periodic else self._turn:
            weight = int(self.weights[abs(offset)])
            begin = up_to - int(self._begins[secret])
            counts.append(-(-(begin + weight) * WORDS // total) + (-begin * WORDS // total))
            up_to += weight
        return counts if not self.periodic else np.roll(np.array(counts, object), secret + self._turn.start).tolist()

    def find(self, secrets: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Return the step that each 64-bit word reports for a secret in each step."""
        numbers = _high_half(words, self.totals[secrets].astype(np.uint64)) + self._begins[secrets]
        offsets = np.searchsorted(self._ends, numbers, side="right") + self._turn.start
        return (secrets + offsets) % self.steps

    def mean_error(self, x: np.ndarray, power: int) -> np.ndarray:
        """Return the mean of ``|report - x| ** power`` for reports that are uniform inside their step."""
        position = np.minimum(x * self.steps, np.nextafter(self.steps, 0))
        secrets = position.astype(np.int64)
        part = position - secrets
        if self.periodic:
            right = left = np.full(secrets.shape, len(self.weights) - 2)
        else:
            right, left = self.steps - 1 - secrets, secrets
        sums = self.weights[0] * (part ** (power + 1) + (1 - part) ** (power + 1)) / (power + 1)
        if self.periodic:
            half = self.steps / 2
            beyond = (half - part) ** (power + 1) + (half - 1 + part) ** (power + 1)
            sums = sums + self.weights[-1] * (2 * half ** (power + 1) - beyond) / (power + 1)
        # A step d to the right lies between d - part and d + 1 - part; its mean distance is a polynomial of d.
        for m in range(power + 1):
            moments, factor = self._moments(power - m), math.comb(power, m) / (m + 1)
            sums = sums + factor * moments[right] * ((1 - part) ** (m + 1) - (-part) ** (m + 1))
            sums = sums + factor * moments[left] * (part ** (m + 1) - (part - 1) ** (m + 1))
        return sums / self.totals[secrets] / float(self.steps) ** power

    @cached_property
    def _beside(self) -> np.ndarray:
        """The sum of the weights at distances 1 to n, for each n."""
        return np.concatenate([[0], np.cumsum(self.weights[1:])])

    @cached_property
    def _turn(self) -> range:
        """The offsets of a report from its secret, from left to right."""
        return range(1 - self.steps // 2, self.steps // 2 + 1) if self.periodic else range(1 - self.steps, self.steps)

    @cached_property
    def _ends(self) -> np.ndarray:
        """Up to which number the weights of each offset go."""
        return np.cumsum(self.weights[np.abs(self._turn)], dtype=np.uint64)

    @cached_property
    def _begins(self) -> np.ndarray:
        """The number of the first weight that is inside the domain, for a secret in each step."""
        begins = np.zeros(self.steps, dtype=np.int64) if self.periodic else self._beside[-1] - self._beside
        return begins.astype(np.uint64)

    def _moments(self, power: int) -> np.ndarray:
        distances = np.arange(len(self.weights), dtype=np.float64)
        return np.cumsum(np.where(distances > 0, self.weights * distances**power, 0.0))


def weights(exponents: np.ndarray) -> np.ndarray:
    """Return the whole weights nearest below ``PEAK * exp(-exponent)``, never below `LIGHTEST`.

    >>> weights(np.array([0.0, 1.0, 1000.0])) / PEAK
    array([1.00000000e+00, 3.67879441e-01, 2.27373675e-13])
    """
    whole = (PEAK * np.exp(-exponents)).astype(np.int64)
    # The proof of the worst ratio needs weights that never increase, whatever the last bit of an exponential.
    return np.minimum.accumulate(np.maximum(whole, LIGHTEST))


def _high_half(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return ``floor(a * b / 2**64)`` of 64-bit integers."""
    half, mask = np.uint64(32), np.uint64(2**32 - 1)
    low = (a & mask) * (b & mask)
    middle = (a >> half) * (b & mask) + (low >> half)
    other = (a & mask) * (b >> half) + (middle & mask)
    return (a >> half) * (b >> half) + (middle >> half) + (other >> half)
