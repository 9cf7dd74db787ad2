"""Tokens: the inequality in integers, the law by enumeration, and draws that follow it."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from geotracs import InputError
from geotracs.core.mechanisms.lattice import WORDS
from geotracs.core.mechanisms.tokens import MAX_TOKENS, Tokens, Windows
from tests.core.mechanisms.exact import EPSILONS, exp_bounds
from tests.helpers import FALSE_ALARM

SIZES = [(1, 2), (1, 10_000), (3, 7), (9_999, 10_000), (2**16, 2**32), (2**32 - 1, 2**32), (1, 2**32)]


def law(tokens, weights, taken):
    """P(report | window), exactly."""
    t = Fraction(tokens.threshold, WORDS)
    pairs = zip(weights, taken, strict=True)
    return [t * Fraction(int(u), tokens.k) + (1 - t) * Fraction(int(w), tokens.total) for w, u in pairs]


@pytest.mark.parametrize("eps", EPSILONS)
@pytest.mark.parametrize(("k", "total"), SIZES)
def test_threshold_is_the_largest_that_is_private(eps, k, total):
    """A value that is all in one window and not at all in another has the worst ratio, 1 + T W / ((2**64 - T) K)."""
    high = exp_bounds(eps)[1]
    t = Tokens(eps, k, total).threshold
    assert isinstance(t, int)
    assert 0 <= t < WORDS
    assert t * total <= (high - 1) * k * (WORDS - t)
    if t + 1 < WORDS:
        assert (t + 1) * total > (high - 1) * k * (WORDS - t - 1)


@pytest.mark.parametrize("eps", [1e-9, 0.5, 1.0, 4.0, 30.0, 600.0])
def test_every_ratio_of_any_two_windows_is_within_epsilon(eps):
    """All windows of 4 tokens over 4 values, one of them without any: 1,000 pairs, in integers."""
    weights, k = (3, 0, 2, 4), 4
    tokens = Tokens(eps, k, sum(weights))
    every = [u for u in itertools.product(*(range(w + 1) for w in weights)) if sum(u) == k]
    laws = [law(tokens, weights, u) for u in every]
    assert all(sum(one) == 1 for one in laws)
    most = exp_bounds(eps)[1]
    for one, other in itertools.product(laws, laws):
        assert all(p <= most * q for p, q in zip(one, other, strict=True))
    # One more word inside would be too many: value 0 is all in one window and out of another.
    tokens.threshold += 1
    if tokens.threshold < WORDS:
        here, there = law(tokens, weights, (3, 0, 1, 0)), law(tokens, weights, (0, 0, 0, 4))
        assert here[0] > exp_bounds(eps)[1] * there[0]


def test_pmf_is_the_law():
    weights, taken = np.array([3, 0, 2, 4]), np.array([1, 0, 0, 3])
    for eps in (1e-9, 0.3, 5.0, 600.0):
        tokens = Tokens(eps, 4, 9)
        exact = [float(p) for p in law(tokens, weights, taken)]
        assert tokens.pmf(weights, taken) == pytest.approx(exact, rel=1e-14, abs=0)


def test_draws_reach_every_token_once():
    """By enumeration: each member of a window as often as it gives tokens, each value as often as it has any."""
    weights, k = np.array([3, 0, 2, 4]), 4
    windows = Windows(np.array([0, 2, 3, 2]), np.array([3, 4, 7, 8]))
    assert windows.taken.tolist() == [3, 1, 3, 1]
    tokens = Tokens(1.0, k, 9)
    for row, taken in enumerate([[3, 0, 1, 0], [0, 0, 1, 3]]):
        reports = tokens.apply(weights, windows, np.full(k + 9, row), np.arange(k + 9))
        assert np.bincount(reports[:k], minlength=4).tolist() == taken
        assert np.bincount(reports[k:], minlength=4).tolist() == weights.tolist()


@pytest.mark.parametrize("eps", [0.1, 2.0])
def test_draws_follow_the_law(eps):
    """Chi-squared over all tokens, inside and outside, with a false alarm in a million."""
    tokens, n = Tokens(eps, 7, 20), 200_000
    inside = tokens.threshold / WORDS
    expected = n * np.r_[np.full(7, inside / 7), np.full(20, (1 - inside) / 20)]
    counts = np.bincount(tokens.draw(n, np.random.default_rng(1)), minlength=27)
    assert np.sum((counts - expected) ** 2 / expected) < chi2.isf(FALSE_ALARM, 26)


def test_draws_of_as_many_tokens_as_there_may_be():
    draws = Tokens(1.0, MAX_TOKENS, MAX_TOKENS).draw(10_000, np.random.default_rng(0))
    assert draws.min() >= 0
    assert draws.max() < 2 * MAX_TOKENS
    assert (draws >= MAX_TOKENS).any()


def test_epsilon_may_differ_per_draw():
    eps = np.array([0.5, 8.0, 0.5])
    tokens = Tokens(eps, 4, 10)
    assert [int(t) for t in tokens.threshold] == [Tokens(e, 4, 10).threshold for e in eps]
    assert tokens.draw(3, np.random.default_rng(0)).shape == (3,)


def test_no_draws():
    tokens = Tokens(1.0, 1, 1)
    draws = tokens.draw(0, np.random.default_rng(0))
    windows = Windows(np.array([0]), np.array([1]))
    assert len(tokens.apply(np.array([1]), windows, np.array([], dtype=int), draws)) == 0


@pytest.mark.parametrize(
    ("k", "total", "match"), [(0, 9, "`k`"), (10, 9, "`k`"), (1, 0, "`total`"), (1, 2**33, "`total`")]
)
def test_bad_numbers(k, total, match):
    with pytest.raises(InputError, match=match):
        Tokens(1.0, k, total)


@pytest.mark.parametrize("eps", [0, -1, float("nan"), 700])
def test_bad_epsilon(eps):
    with pytest.raises(InputError, match="`eps`"):
        Tokens(eps, 1, 2)
