"""What the exact tests of mechanisms share: thresholds in whole numbers, and scripted random words."""

from fractions import Fraction

import numpy as np

from geotracs.core.mechanisms.lattice import WORDS
from geotracs.trust.counting import exp_bounds

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


class Script:
    """A generator that returns given words, one at a time."""

    def __init__(self, *words):
        self.words = [np.asarray(word) for word in words]

    def integers(self, low, high, n, dtype, endpoint):
        word = self.words.pop(0)
        assert len(word) == n
        return word.astype(dtype)
