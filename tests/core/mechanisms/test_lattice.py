from fractions import Fraction

import numpy as np
import pytest

from geotracs.core.mechanisms import Piecewise
from geotracs.core.mechanisms.lattice import (
    CELLS,
    WORDS,
    cells_of,
    exp_lower_bound,
    midpoints,
    not_below,
    threshold,
    uniform,
)

EPSILONS = [
    1e-300,
    1e-12,
    1e-6,
    1e-3,
    0.1,
    0.5,
    1.0,
    2.0,
    3.3,
    4.0,
    7.5,
    10.0,
    20.0,
    44.0,
    45.0,
    100.0,
    300.0,
    600.0,
    699.9,
]


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


@pytest.mark.parametrize("eps", EPSILONS)
@pytest.mark.parametrize("window", ["ogpm", "r-sw"])
@pytest.mark.parametrize("periodic", [False, True])
def test_threshold_is_the_largest_that_is_private(eps, window, periodic):
    mechanism = Piecewise(eps, window, periodic=periodic)
    w, t = mechanism.window, mechanism.threshold
    low, high = exp_bounds(eps)
    assert isinstance(w, int)
    assert isinstance(t, int)
    assert 1 <= w < mechanism.cells == CELLS
    assert Fraction(t, w) <= low * Fraction(WORDS - t, CELLS - w)
    assert Fraction(t + 1, w) > high * Fraction(WORDS - t - 1, CELLS - w)
    # The other way round: the outside is never likelier than the inside.
    assert Fraction(t, w) >= Fraction(WORDS - t, CELLS - w)
    assert 0 < t < WORDS


@pytest.mark.parametrize("eps", EPSILONS)
def test_exp_lower_bound_is_below_and_close(eps):
    low, high = exp_bounds(eps)
    bound = exp_lower_bound(eps)
    assert 1 <= bound <= high
    assert 1 - bound / low < Fraction(1, 10**55)


def test_threshold_of_every_eps_of_an_array_is_that_of_the_number():
    eps = np.array([0.25, 4.0, 0.25, 9.0])
    many = Piecewise(eps)
    for i, one in enumerate(Piecewise(float(e)) for e in eps):
        assert int(many.threshold[i]) == one.threshold
        assert int(many.window[i]) == one.window


def test_cells_are_clipped_and_midpoints_are_inside():
    cells = cells_of(np.array([-1.0, 0.0, 0.5, 1.0 - 2**-40, 1.0, 7.0]))
    assert cells.tolist() == [0, 0, CELLS // 2, CELLS - 1, CELLS - 1, CELLS - 1]
    assert np.all((midpoints(cells) > 0) & (midpoints(cells) < 1))
    assert np.array_equal(cells_of(midpoints(cells)), cells)


def test_word_is_compared_with_all_of_the_threshold():
    t = np.uint64(0x1234_5678_9ABC_DEF0)
    high = [0x1233, 0x1235, 0x1234, 0x1234, 0x1234]
    low = np.array([0x5678_9ABC_DEEF, 0x5678_9ABC_DEF0, 0x5678_9ABC_DEF1], dtype=np.uint64) << np.uint64(16)
    assert not_below(t, 5, Script(high, low)).tolist() == [1, 3, 4]


@pytest.mark.parametrize("k", [1, 3, 1000, 2**31 - 1, 2**31 + 11, 3_000_000_019, 2**32 - 1])
def test_uniform_accepts_equally_many_words_for_every_result(k):
    """Lemire's method, exactly: of the words that lead to a result, 2**32 // k are accepted."""
    for result in sorted({0, 1 % k, k // 2, k - 1}):
        first, end = -(-result * CELLS // k), -(-(result + 1) * CELLS // k)
        surplus = CELLS % k
        if end - first <= 10**6:
            words = np.arange(first, end, dtype=np.uint64)
            accepted = np.count_nonzero(words * np.uint64(k) % np.uint64(CELLS) >= surplus)
        else:  # the accepted words are all but a few at the beginning
            rejected = sum(word * k % CELLS < surplus for word in range(first, first + 1000))
            accepted = end - first - rejected
        assert accepted == CELLS // k


def test_uniform_draws_again_what_it_rejects():
    k = 3_000_000_019
    surplus = CELLS % k
    bad = next(word for word in range(10**6) if word * k % CELLS < surplus)
    good = next(word for word in range(10, 10**6) if word * k % CELLS >= surplus)
    rng = Script([good, bad, good], [bad], [good])
    assert uniform(np.asarray(k, dtype=np.uint64), 3, rng).tolist() == [good * k // CELLS] * 3
    assert rng.words == []


def test_threshold_of_a_small_lattice_by_hand():
    # exp(log 3): inside three times as likely as outside, 1 cell against 3 -> one half.
    eps = float(np.log(3))
    t = threshold(eps, 1, cells=4)
    assert abs(t / WORDS - 0.5) < 1e-15
