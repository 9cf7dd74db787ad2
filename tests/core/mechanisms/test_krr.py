import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from geotracs import InputError
from geotracs.core.mechanisms import RandomizedResponse
from tests.core.mechanisms.exact import EPSILONS, check_threshold
from tests.helpers import FALSE_ALARM


def test_truth_is_the_largest_that_is_private():
    for eps, k in itertools.product(EPSILONS[1:], (2, 3, 6, 7798, 2**32)):
        check_threshold(RandomizedResponse(eps, k).threshold, eps, 1, k)


def test_an_epsilon_too_small_for_the_words_is_refused():
    """Unless the words can be divided evenly."""
    for k in (3, 6, 7798):
        with pytest.raises(InputError, match="`eps` is too small for exact draws among"):
            RandomizedResponse(1e-300, k)
    for k in (2, 2**32):
        check_threshold(RandomizedResponse(1e-300, k).threshold, 1e-300, 1, k)


@pytest.mark.parametrize(("eps", "k"), [(0.5, 2), (2.0, 6), (4.0, 50)])
def test_sampler_follows_its_pmf(eps, k):
    mechanism, n = RandomizedResponse(eps, k), 200_000
    for secret in {0, k // 2, k - 1}:
        reports = mechanism.apply(np.full(n, secret), mechanism.draw(n, np.random.default_rng(k + secret)))
        expected = mechanism.pmf(secret) * n
        assert expected.sum() == pytest.approx(n, rel=1e-12)
        statistic = np.sum((np.bincount(reports, minlength=k) - expected) ** 2 / expected)
        assert statistic < chi2.isf(FALSE_ALARM, k - 1)


def test_epsilon_may_differ_per_value():
    eps = np.repeat([0.5, 8.0], 50_000)
    mechanism = RandomizedResponse(eps, 10)
    kept = mechanism.apply(np.full(100_000, 4), mechanism.draw(100_000, np.random.default_rng(0))) == 4
    for part, value in ((kept[:50_000], 0.5), (kept[50_000:], 8.0)):
        p = RandomizedResponse(value, 10).pmf(4)[4]
        assert part.mean() == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 50_000))  # false alarm 6e-7


def test_bad_arguments():
    for k in (1, 0, -3, 2.0, "6", True, 2**32 + 1):
        with pytest.raises(InputError, match="`k` must be a whole number from 2 to 4,294,967,296"):
            RandomizedResponse(1.0, k)
    for secrets in ([3], [-1], [0.5]):
        with pytest.raises(InputError, match="whole numbers from 0 to 2"):
            RandomizedResponse(1.0, 3).sample(secrets)
    with pytest.raises(InputError, match="`eps` must be"):
        RandomizedResponse([1.0, -1.0], 3)
