"""What the exact tests of mechanisms share: rational bounds of exp(eps), and scripted random words."""

import functools
from fractions import Fraction

import numpy as np

from geotracs.core.mechanisms.lattice import WORDS

EPSILONS = (
    1e-300, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 3.3, 4.0, 7.5, 10.0, 20.0, 44.0, 45.0, 100.0, 300.0, 600.0, 699.9,
)  # fmt: skip


def check_threshold(t, eps, inside, cells):
    """Check that of 2**64 words the t that report one of some cells are as many as epsilon allows, exactly."""
    low, high = exp_bounds(eps)
    outside = cells - inside
    assert isinstance(t, int), (eps, inside, cells)
    assert 0 < t < WORDS, (eps, inside, cells)
    assert Fraction(t, inside) <= low * Fraction(WORDS - t, outside), (eps, inside, cells)
    assert Fraction(t + 1, inside) > high * Fraction(WORDS - t - 1, outside), (eps, inside, cells)
    # The other way round: a cell elsewhere is never likelier than epsilon allows either.
    assert Fraction(WORDS - t, outside) <= low * Fraction(t, inside), (eps, inside, cells)


@functools.cache
def exp_bounds(eps):
    """Rational bounds of exp(eps), by the Taylor series of exp(eps / 2**k) and squaring: not as the library does."""
    halvings = max(0, int(eps).bit_length() + 8)
    x = Fraction(eps) / 2**halvings
    term, low = Fraction(1), Fraction(1)
    for k in range(1, 60):
        term = term * x / k
        low += term
    high = low + 2 * term
    precision = 10**400
    for _ in range(halvings):
        low, high = low * low, high * high
        low = Fraction(int(low * precision), precision)
        high = Fraction(int(high * precision) + 1, precision)
    return low, high


class Script:
    """A generator that returns given words, one at a time."""

    def __init__(self, *words):
        self.words = [np.asarray(word) for word in words]

    def integers(self, low, high, n, dtype, endpoint):
        word = self.words.pop(0)
        assert len(word) == n
        return word.astype(dtype)
