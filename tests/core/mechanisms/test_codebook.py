import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from geotracs import InputError
from geotracs.core.mechanisms.codebook import Codebook, check_windows, is_private, largest_threshold
from geotracs.core.mechanisms.lattice import WORDS, exp_lower_bound
from geotracs.core.randomness import public_stream
from tests.core.mechanisms.exact import EPSILONS, Script, exp_bounds
from tests.helpers import FALSE_ALARM

SIZES = [(1, 2), (3, 7), (18, 256), (128, 256), (18, 8192), (1, 2**31 - 1), (255, 256), (5, 5), (1, 1)]


def test_threshold_is_the_largest_that_is_private():
    for eps, (k, m) in itertools.product(EPSILONS, SIZES):
        t = Codebook(eps, k, m).threshold
        low, high = exp_bounds(eps)
        assert isinstance(t, int)
        assert 0 <= t < WORDS
        outside = Fraction(WORDS - t, m)
        assert Fraction(t, k) + outside <= low * outside, (eps, k, m)
        beyond = Fraction(WORDS - t - 1, m)
        assert Fraction(t + 1, k) + beyond > high * beyond, (eps, k, m)
        odds = (exp_lower_bound(eps) - 1) * k
        assert t == WORDS * odds // (odds + m)
        assert is_private(t, eps, k, m)
        assert not is_private(t + 1, eps, k, m)


def test_smaller_thresholds_are_private_too():
    limit = largest_threshold(3.0, 18, 256)
    assert all(is_private(t, 3.0, 18, 256) for t in (0, 1, limit // 2, limit - 1))
    assert not is_private(-1, 3.0, 18, 256)
    assert not is_private(WORDS, 3.0, 18, 256)


def test_no_epsilon_is_too_small():
    book = Codebook(1e-300, 3, 7)
    assert book.threshold == 0
    assert book.pmf(np.array([0, 1, 2])).tolist() == [1 / 7] * 7
    draws = book.draw(1000, public_stream())
    assert draws.min() >= 3
    assert Codebook(600.0, 3, 7).threshold == WORDS - 1


def test_the_words_that_decide():
    """A word is inside if it is below the threshold; the last 48 bits are asked for only where the first 16 tie."""
    book = Codebook(2.0, 4, 10)
    top, rest = divmod(book.threshold, 2**48)
    first = np.array([0, top - 1, top, top, top + 1, 65535])
    ties = np.array([rest - 1, rest], dtype=np.uint64) << np.uint64(16)
    inside, anywhere = np.arange(6) * 2**30 + 5, np.array([1, 2**31 + 1, 2**32 - 1])
    assert book.draw(6, Script(first, ties, inside % 2**32, anywhere)).tolist() == [0, 1, 2, 4 + 0, 4 + 5, 4 + 9]


def test_draws_reach_the_window_and_every_codeword():
    book, window = Codebook(1.0, 3, 8), np.array([[6, 2, 5]], dtype=np.int16)
    every = np.arange(3 + 8, dtype=np.uint16)
    reports = book.apply(window, np.zeros(11, dtype=int), every)
    assert reports.tolist() == [6, 2, 5, *range(8)]


def test_apply_uses_the_row_of_each_secret():
    rng = np.random.default_rng(0)
    windows = np.array([rng.permutation(50)[:6] for _ in range(40)]).astype(np.int16)
    which, draws = rng.integers(0, 40, 1000), rng.integers(0, 56, 1000).astype(np.uint16)
    expected = [windows[w, d] if d < 6 else d - 6 for w, d in zip(which, draws.tolist(), strict=True)]
    assert Codebook(1.0, 6, 50).apply(windows, which, draws).tolist() == expected


@pytest.mark.parametrize(("k", "m"), [(4, 12), (12, 12), (1, 12)])
def test_pmf_and_sampler(k, m):
    book, n = Codebook(1.5, k, m), 200_000
    window = np.random.default_rng(3).permutation(m)[:k]
    pmf = book.pmf(window)
    assert pmf.sum() == pytest.approx(1, abs=1e-12)
    assert pmf.max() / pmf.min() <= np.exp(1.5) * (1 + 1e-12)
    reports = book.apply(window[None], np.zeros(n, dtype=int), book.draw(n, np.random.default_rng(1)))
    counts = np.bincount(reports, minlength=m)
    assert np.sum((counts - n * pmf) ** 2 / (n * pmf)) < chi2.isf(FALSE_ALARM, m - 1)


def test_many_codewords_need_wider_draws():
    book = Codebook(8.0, 20, 2**17)
    draws = book.draw(5000, public_stream())
    assert draws.dtype == np.uint32
    assert draws.max() < 20 + 2**17
    assert (draws >= 2**16).any()


def test_epsilons_may_differ_per_draw():
    eps = np.array([0.5, 600.0, 0.5, 1e-9])
    book = Codebook(eps, 4, 10)
    assert [int(t) for t in book.threshold] == [Codebook(e, 4, 10).threshold for e in eps.tolist()]
    many = Codebook(np.tile([1e-300, 600.0], 40_000), 4, 10).draw(80_000, public_stream())
    assert many[::2].min() >= 4
    assert many[1::2].max() < 4
    with pytest.raises(InputError, match="`eps` holds 4 values, but 5 draws"):
        book.draw(5, public_stream())


def test_expected_error_is_the_mean_over_the_pmf():
    rng = np.random.default_rng(0)
    costs, windows = rng.random((5, 9)), np.array([rng.permutation(9)[:4] for _ in range(5)])
    book = Codebook(2.0, 4, 9)
    expected = [book.pmf(window) @ cost for window, cost in zip(windows, costs, strict=True)]
    assert np.allclose(book.expected_error(costs, windows), expected, rtol=1e-12)


def test_windows_are_checked():
    good = np.array([[0, 1, 2], [2, 4, 3]])
    assert check_windows(good, 3, 5)
    assert check_windows(np.empty((0, 3), dtype=np.int16), 3, 5)
    for bad in (good[:, :2], good + 1, good - 1, good * 1.0, good[0], np.array([[0, 1, 1]])):
        assert not check_windows(bad, 3, 5)


@pytest.mark.parametrize(("k", "m"), [(0, 10), (11, 10), (-1, 10), (1, 0), (1, 2**31)])
def test_bad_sizes(k, m):
    with pytest.raises(InputError, match="`k` must be from 1 to `m`"):
        Codebook(1.0, k, m)


@pytest.mark.parametrize("eps", [0.0, -1.0, np.nan, np.inf, 700.0])
def test_bad_epsilons(eps):
    with pytest.raises(InputError, match="`eps` must be"):
        Codebook(eps, 1, 2)
    with pytest.raises(InputError, match="`eps` must be"):
        Codebook(np.array([1.0, eps]), 1, 2)
