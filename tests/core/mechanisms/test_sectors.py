import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from geotracs import InputError
from geotracs.core.mechanisms import Sectors
from geotracs.core.mechanisms.lattice import CELLS, WORDS, cells_of
from tests.core.mechanisms.exact import EPSILONS, check_threshold
from tests.helpers import FALSE_ALARM


def test_threshold_is_the_largest_that_is_private():
    for eps, k in itertools.product(EPSILONS, (2, 3, 6, 12, 2**16)):
        mechanism = Sectors(eps, k)
        assert mechanism.window == CELLS // k
        check_threshold(mechanism.threshold, eps, mechanism.window, CELLS)


@pytest.mark.parametrize("k", [2, 6, 7])
@pytest.mark.parametrize("x", [0.0, 0.3, 0.999])
def test_sampler_follows_its_density(k, x):
    mechanism, n = Sectors(2.0, k), 200_000
    reports = mechanism.apply(np.full(n, x), mechanism.draw(n, np.random.default_rng(k)))
    edges = np.linspace(0, 1, 4 * k + 1)
    expected = mechanism.density((edges[:-1] + edges[1:]) / 2, x) / (4 * k) * n
    assert expected.sum() == pytest.approx(n, rel=1e-6)
    statistic = np.sum((np.histogram(reports, edges)[0] - expected) ** 2 / expected)
    assert statistic < chi2.isf(FALSE_ALARM, 4 * k - 1)


def test_all_directions_of_a_sector_are_alike():
    mechanism = Sectors(3.0, 6)
    draws = mechanism.draw(1000, np.random.default_rng(0))
    a, b = (mechanism.apply(np.full(1000, x), draws) for x in (0.18, 0.32))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, mechanism.apply(np.full(1000, 0.34), draws))


def test_the_cells_left_over_have_a_window_too():
    """2**32 is no multiple of 6: the last four cells begin a window of their own, around the end."""
    mechanism = Sectors(4.0, 6)
    first = mechanism.apply(np.array([1.0]), np.zeros(1, dtype=np.uint32))
    assert cells_of(first)[0] == 6 * mechanism.window
    assert mechanism.density(0.1, 1.0) > 1 > mechanism.density(0.5, 1.0)


def test_k_rr_of_the_paper():
    """Section 4: at epsilon 6, six sectors, the own one has probability 0.98 or more."""
    assert Sectors(6.0, 6).threshold / WORDS == pytest.approx(np.exp(6) / (np.exp(6) + 5), abs=1e-8)


def test_bad_arguments():
    for k in (1, 0, 2.5, None, 2**16 + 1):
        with pytest.raises(InputError, match="`k` must be a whole number from 2 to 65,536"):
            Sectors(1.0, k)
    with pytest.raises(InputError, match="`eps` must be"):
        Sectors(np.array([1.0, 0.0]), 6)
