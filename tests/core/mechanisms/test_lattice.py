import itertools
from fractions import Fraction

import numpy as np
import pytest

from geotracs.core.mechanisms import Piecewise
from geotracs.core.mechanisms.lattice import (
    CELLS,
    WORDS,
    at_least,
    cells_of,
    distinct,
    exp_lower_bound,
    midpoints,
    threshold,
    uniform,
)
from tests.core.mechanisms.exact import EPSILONS, Script, check_threshold, exp_bounds


def test_threshold_is_the_largest_that_is_private():
    for eps, window, periodic in itertools.product(EPSILONS, ("ogpm", "r-sw"), (False, True)):
        mechanism = Piecewise(eps, window, periodic=periodic)
        assert isinstance(mechanism.window, int)
        assert 1 <= mechanism.window < mechanism.cells == CELLS
        check_threshold(mechanism.threshold, eps, mechanism.window, CELLS)


def test_exp_lower_bound_is_below_and_close():
    for eps in EPSILONS:
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
    assert at_least(t, 5, Script(high, low)).tolist() == [1, 3, 4]


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


@pytest.mark.parametrize("levels", [0, 1, 2, 300, 1024, 5000])
def test_distinct_values_are_those_of_unique(levels):
    rng = np.random.default_rng(levels)
    values = 0.1 + rng.random(levels)[rng.integers(0, levels, 50_000)] if levels else np.empty(0)
    values[-1:] = 9.0  # which a sample misses
    for ours, numpys in zip(distinct(values), np.unique(values, return_inverse=True), strict=True):
        np.testing.assert_array_equal(ours, numpys)
