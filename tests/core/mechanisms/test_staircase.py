import math
from fractions import Fraction

import numpy as np
import pytest

from geotracs.core.mechanisms import Staircase, Stairs, staircase
from tests.core.mechanisms.exact import EPSILONS, exp_bounds


def mixed_groups(seed, count=9, groups=3):
    """Groups of points of which most are close together and a few are not, so that group sizes differ."""
    rng = np.random.default_rng(seed)
    xy = rng.random((count, 2)) * np.where(np.arange(count) < count // 2, 0.2, 1)[:, None]
    away = np.hypot(*(xy[:, None] - xy).T)
    return np.searchsorted(np.linspace(0, 0.9, groups + 1)[1:-1], away)


def stairs_of(groups, count=3):
    return Stairs(lambda rows, columns: groups[np.ix_(rows, columns)], len(groups), count)


def worst_by_hand(groups, weights):
    shares = [[Fraction(int(w), int(row.sum())) for w in row] for row in weights[groups]]
    return max(max(column) / min(column) for column in zip(*shares, strict=True))


@pytest.mark.parametrize("eps", EPSILONS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_worst_ratio_of_any_two_secrets_is_exp_eps(eps, seed):
    groups = mixed_groups(seed)
    worst = worst_by_hand(groups, stairs_of(groups).weights(eps))
    assert worst <= exp_bounds(eps)[0]
    if 1e-3 <= eps <= 10:  # at 20 the last weight is a number of three digits, too few for that
        assert math.log(worst) > eps - 1e-6


def test_worst_ratio_is_that_of_all_pairs():
    groups = mixed_groups(3)
    stairs = stairs_of(groups)
    for low in (1, 2**20, 2**38, 2**39):
        by_hand = worst_by_hand(groups, stairs._stairs(low))
        assert stairs.worst_ratio(low) == pytest.approx(float(by_hand), rel=1e-12)


def test_without_calibration_it_would_not_be_private():
    """The published weights, exp(eps) and 1 at the ends: the sizes of the groups add to the ratio."""
    groups = mixed_groups(0)
    stairs = stairs_of(groups)
    naive = stairs._stairs(round(2**39 / math.exp(2)))
    assert math.log(worst_by_hand(groups, naive)) > 2.1


def test_steps_are_equal_and_down():
    weights = stairs_of(mixed_groups(1, groups=5), 5).weights(2.0)
    steps = np.diff(weights)
    assert (steps < 0).all()
    assert len(set(steps.tolist())) == 1


def test_chunks_make_no_difference(monkeypatch):
    groups = mixed_groups(4, count=30)
    whole = stairs_of(groups).weights(3.0)
    monkeypatch.setattr(staircase, "CHUNK", 70)
    assert np.array_equal(stairs_of(groups).weights(3.0), whole)


def test_an_empty_group_and_a_set_in_one_group():
    one = np.zeros((5, 5), dtype=int)
    assert Staircase(4.0, stairs_of(one)).pmf(one) == pytest.approx(np.full((5, 5), 0.2))
    two = np.where(np.eye(5, dtype=bool), 0, 2)  # nothing in the middle: k-RR
    assert Staircase(2.0, stairs_of(two)).pmf(two)[0, 0] == pytest.approx(math.exp(2) / (math.exp(2) + 4), rel=1e-9)
