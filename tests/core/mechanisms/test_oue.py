import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, norm

from geotracs import InputError
from geotracs.core.mechanisms import UnaryEncoding
from geotracs.core.mechanisms.lattice import WORDS
from geotracs.core.mechanisms.oue import NOTHING
from tests.core.mechanisms.exact import EPSILONS, Script, exp_bounds
from tests.helpers import FALSE_ALARM


def exact_pmf(threshold, k, secret):
    """The probability of each report as a fraction, from what the integers say."""
    q = Fraction(threshold, WORDS)
    chances = [Fraction(1, 2) if value == secret else q for value in range(k)]
    return {
        bits: np.prod([p if bit else 1 - p for bit, p in zip(bits, chances, strict=True)])
        for bits in itertools.product((0, 1), repeat=k)
    }


def test_noise_is_the_smallest_that_is_private():
    for eps in EPSILONS:
        t = UnaryEncoding(eps, 3).threshold
        low, high = exp_bounds(eps)
        assert isinstance(t, int)
        assert 0 < t <= WORDS // 2
        assert WORDS - t <= low * t
        assert WORDS - (t - 1) > high * (t - 1)


@pytest.mark.parametrize("eps", EPSILONS)
def test_every_report_is_private_for_any_two_secrets_and_for_none(eps):
    k, low = 3, exp_bounds(eps)[0]
    chances = [exact_pmf(UnaryEncoding(eps, k).threshold, k, secret) for secret in (*range(k), NOTHING)]
    for one, other in itertools.permutations(chances, 2):
        assert sum(one.values()) == 1
        assert all(one[bits] <= low * other[bits] for bits in one)


def test_pmf_is_that_of_the_integers():
    encoding = UnaryEncoding(1.3, 4)
    for secret in (0, 3, NOTHING):
        exact = exact_pmf(encoding.threshold, 4, secret)
        pmf = encoding.pmf(secret)
        assert pmf.sum() == pytest.approx(1, abs=1e-12)
        for bits, probability in exact.items():
            assert pmf[np.dot(bits, [1, 2, 4, 8])] == pytest.approx(float(probability), rel=1e-12)
    assert np.array_equal(encoding.pmf([2, 0]), [encoding.pmf(2), encoding.pmf(0)])
    with pytest.raises(InputError, match="up to 16 values, here are 17; see `chances`"):
        UnaryEncoding(1.0, 17).pmf(0)


def test_words_decide_the_bits():
    """A bit of noise is set by the largest words, as many as the threshold says; the secret's own by a coin."""
    encoding = UnaryEncoding(2.0, 2)
    limit = WORDS - encoding.threshold
    top, rest = limit >> 48, limit & (2**48 - 1)
    ties = np.array([(rest - 1) << 16, rest << 16], dtype=np.uint64)
    script = Script([top, top, top - 1, top + 1], ties, [6, 7])
    draws = encoding.draw(2, script)
    assert draws.tolist() == [[False, True, False], [False, True, True]]
    assert encoding.apply([0, 0], draws).tolist() == [[False, True], [True, True]]
    assert encoding.apply([1, NOTHING], draws).tolist() == [[False, False], [False, True]]


def test_sampler_follows_the_pmf_in_blocks_of_any_size(monkeypatch):
    encoding, n = UnaryEncoding(1.0, 3), 100_000
    monkeypatch.setattr("geotracs.core.mechanisms.oue.BLOCK", 1000)
    for secret in (1, NOTHING):
        reports = encoding.apply(np.full(n, secret), encoding.draw(n, np.random.default_rng(5)))
        expected = n * encoding.pmf(secret)
        counts = np.bincount(reports @ [1, 2, 4], minlength=8)
        assert np.sum((counts - expected) ** 2 / expected) < chi2.isf(FALSE_ALARM, 7)


def test_estimate_is_unbiased_with_the_variance_that_is_said():
    encoding, k, n, times = UnaryEncoding(1.0, 10), 10, 500, 400
    secrets = np.repeat([0, 3, NOTHING], [300, 150, 50])
    rng = np.random.default_rng(1)
    found = np.array([encoding.estimate(encoding.apply(secrets, encoding.draw(n, rng))) for _ in range(times)])
    truth = np.bincount(secrets[secrets >= 0], minlength=k)
    variance = encoding.variance(n, truth)
    z = (found.mean(axis=0) - truth) / np.sqrt(variance / times)
    assert np.abs(z).max() < norm.isf(FALSE_ALARM / 2 / k)
    spread = (found.var(axis=0, ddof=1) / variance * (times - 1)).sum()
    assert chi2.isf(1 - FALSE_ALARM / 2, (times - 1) * k) < spread < chi2.isf(FALSE_ALARM / 2, (times - 1) * k)
    assert encoding.variance(n) == pytest.approx(4 * n * np.e / (np.e - 1) ** 2)


def test_bad_arguments():
    for k in (1, 0, 2.0, True, 2**24 + 1):
        with pytest.raises(InputError, match="`k` must be a whole number from 2 to 16,777,216"):
            UnaryEncoding(1.0, k)
    for secrets in ([3], [-2], [0.5], [[0, 1]], 1):
        with pytest.raises(InputError, match="whole numbers from 0 to 2, or -1"):
            UnaryEncoding(1.0, 3).sample(secrets)
    for eps in (0, -1.0, np.nan, 700):
        with pytest.raises(InputError, match="`eps` must be"):
            UnaryEncoding(eps, 3)
    with pytest.raises(InputError, match="too small to count"):
        UnaryEncoding(1e-300, 3).estimate([[0, 0, 1]])
