from fractions import Fraction

import numpy as np
import pytest

from geotracs import InputError
from geotracs.core.mechanisms import Exponential
from geotracs.core.mechanisms.weighted import HEAVIEST
from tests.core.mechanisms.exact import EPSILONS, exp_bounds


@pytest.mark.parametrize("eps", EPSILONS)
def test_lightest_is_the_smallest_that_is_private(eps):
    lightest = int(Exponential(eps, 1.0).lightest)
    low, high = exp_bounds(eps / 2)
    assert Fraction(HEAVIEST, lightest) <= low
    assert lightest == 1 or Fraction(HEAVIEST, lightest - 1) > high


@pytest.mark.parametrize("eps", EPSILONS)
def test_worst_ratio_in_whole_numbers(eps):
    """Any distances at all, even some beyond the spread: the ratio of two rows is at most exp(eps), exactly."""
    rng = np.random.default_rng(0)
    distances = rng.uniform(0, 1.2, (12, 9))
    distances[0] = 0
    distances[1, 1:] = 1
    allowed = rng.random(9) < 0.7
    low, _ = exp_bounds(eps)
    for mask in (None, np.broadcast_to(allowed, distances.shape)):
        weights = Exponential(eps, 1.0).weights(distances, mask)
        shares = [[Fraction(int(w), int(row.sum())) for w in row] for row in weights]
        for column in zip(*shares, strict=True):
            assert max(column) <= low * min(column)
        if mask is not None:
            assert not weights[:, ~allowed].any()


def test_weights_follow_the_formula():
    distances = np.array([[0.0, 1.0, 4.0], [2.0, 3.0, 6.0]])
    expected = np.exp(-3.0 * np.array([0.0, 1.0, 4.0]) / (2 * 5.0))
    for row in Exponential(3.0, 5.0).pmf(distances):  # what is common to a row makes no difference
        assert row == pytest.approx(expected / expected.sum(), rel=1e-10)
    each = Exponential(np.array([3.0, 1.0]), np.array([5.0, 2.0]))
    assert each.pmf(distances)[0] == pytest.approx(expected / expected.sum(), rel=1e-10)
    assert each.pmf(distances)[1] == pytest.approx(Exponential(1.0, 2.0).pmf(distances)[1], rel=1e-10)


def test_all_at_one_point_are_equally_likely():
    assert Exponential(3.0, 0.0).pmf(np.zeros((1, 4)))[0] == pytest.approx(np.full(4, 0.25))


@pytest.mark.parametrize(("eps", "spread"), [(5e-324, 1.0), (600.0, 1e-310), (1e-6, 1e300)])
def test_numbers_at_the_ends_of_the_doubles(eps, spread):
    distances = np.array([[0.0, 1.0, 1e-320], [1.0, 0.0, 1.0]])
    for allowed in (None, np.array([[True, True, False]] * 2)):
        weights = Exponential(eps, spread).weights(distances, allowed)
        mass = weights.sum(axis=1)
        assert (weights[:, 0] >= Exponential(eps, spread).lightest).all()
        assert ((mass >= HEAVIEST) & (mass <= 3 * HEAVIEST)).all()


def test_bad_arguments():
    for spread in (-1.0, np.inf, np.nan, np.array([1.0, -1.0])):
        with pytest.raises(InputError, match="`spread` must be"):
            Exponential(1.0, spread)
    for eps in (0, np.array([1.0, 700.0])):
        with pytest.raises(InputError, match="`eps` must be"):
            Exponential(eps, 1.0)
