import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from geotracs import InputError
from geotracs.core.mechanisms import RandomizedResponse, Seen, Subset
from geotracs.core.mechanisms.lattice import WORDS
from tests.core.mechanisms.exact import EPSILONS, check_threshold
from tests.helpers import FALSE_ALARM


def test_threshold_is_the_largest_that_is_private():
    for eps, (k, m) in itertools.product(EPSILONS[1:], [(1, 2), (1, 10_000), (3, 7), (5000, 10_000), (9_999, 10_000)]):
        t = Subset(eps, k, m).threshold
        check_threshold(t, eps, k, m)
        assert Fraction(t, k) >= Fraction(WORDS - t, m - k)


def test_an_epsilon_too_small_for_the_words_is_refused():
    """Unless the words can be divided evenly."""
    for k, m in [(1, 10_000), (3, 7), (9_999, 10_000)]:
        with pytest.raises(InputError, match="`eps` is too small for exact draws among"):
            Subset(1e-300, k, m)
    for k, m in [(1, 2), (5000, 10_000)]:
        check_threshold(Subset(1e-300, k, m).threshold, 1e-300, k, m)


def test_draws_reach_every_value_once_and_the_neighbourhood_first():
    rng = np.random.default_rng(0)
    m, k = 23, 6
    neighbours = np.sort([rng.choice(m, k, replace=False) for _ in range(40)], axis=1)
    for row in range(40):
        reports = Subset.apply(Seen(neighbours, np.full(m, row)), np.arange(m))
        assert sorted(reports.tolist()) == list(range(m))
        assert reports[:k].tolist() == neighbours[row].tolist()
    mixed = rng.integers(0, 40, 1000)
    draws = rng.integers(0, m, 1000)
    together = Subset.apply(Seen(neighbours, mixed), draws)
    alone = [Subset.apply(neighbours[[r]], np.array([d]))[0] for r, d in zip(mixed, draws, strict=True)]
    assert together.tolist() == alone


def test_pmf_and_sampler():
    mechanism, neighbours, n = Subset(1.5, 4, 12), np.array([[0, 3, 4, 11]]), 200_000
    pmf = mechanism.pmf(neighbours[0])
    assert pmf.sum() == pytest.approx(1, abs=1e-12)
    assert pmf.max() / pmf.min() <= np.exp(1.5) * (1 + 1e-12)
    reports = mechanism.apply(Seen(neighbours, np.zeros(n, dtype=int)), mechanism.draw(n, np.random.default_rng(1)))
    counts = np.bincount(reports, minlength=12)
    assert np.sum((counts - n * pmf) ** 2 / (n * pmf)) < chi2.isf(FALSE_ALARM, 11)


def test_one_neighbour_is_randomized_response():
    assert Subset(2.0, 1, 9).threshold == RandomizedResponse(2.0, 9).threshold
    assert np.array_equal(Subset(2.0, 1, 9).pmf(np.array([4])), RandomizedResponse(2.0, 9).pmf(4))


def test_epsilon_and_size_may_differ_per_draw():
    eps, k = np.array([0.5, 8.0, 0.5]), np.array([4, 1, 4])
    mechanism = Subset(eps, k, 10)
    assert [int(t) for t in mechanism.threshold] == [Subset(e, s, 10).threshold for e, s in zip(eps, k, strict=True)]
    assert mechanism.draw(3, np.random.default_rng(0)).shape == (3,)


@pytest.mark.parametrize("k", [0, 10, -1])
def test_bad_size(k):
    with pytest.raises(InputError, match="`k` must be from 1 to 9"):
        Subset(1.0, k, 10)
