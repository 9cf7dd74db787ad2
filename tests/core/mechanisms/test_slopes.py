"""Calibrated slopes: the worst ratio of all pairs of secrets and all reports, counted out."""

import math
from fractions import Fraction

import numpy as np
import pytest

from geotracs.core.lengths import diameter, distances
from geotracs.core.mechanisms import Exponential, Slopes
from geotracs.core.mechanisms.weighted import HEAVIEST
from geotracs.core.methods.calibrated import divide
from tests.core.mechanisms.exact import exp_bounds


def clustered(rng, count):
    return np.concatenate([rng.normal(0, 1e-3, (count // 2, 2)), rng.random((count - count // 2, 2))])


SETS = {
    "two": lambda rng: rng.random((2, 2)),
    "scattered": lambda rng: rng.random((30, 2)),
    "clustered": lambda rng: clustered(rng, 40),
    "line": lambda rng: np.column_stack([rng.random(25), np.zeros(25)]),
    "grid": lambda rng: np.stack(np.meshgrid(*[np.arange(12) / 11] * 2), axis=-1).reshape(-1, 2),
    "far one": lambda rng: np.append(rng.random((20, 2)), [[1e4, 0.0]], axis=0),
    "large units": lambda rng: 1e7 + 1e5 * rng.random((20, 2)),
}


def slopes_over(points, most=None, allowed=None):
    own, stand_ins, covering = divide(points, most or len(points))
    return Slopes(points, own, stand_ins, covering, diameter(points), distances, allowed)


def worst(weights):
    """The worst log-ratio of any report and any two secrets."""
    shares = weights / weights.sum(axis=1, keepdims=True)
    return np.log(shares.max(axis=0) / shares.min(axis=0)).max()


@pytest.mark.parametrize("eps", [1e-5, 0.01, 1.0, 4.0, 10.0, 20.0, 25.0])
@pytest.mark.parametrize("name", SETS)
def test_all_of_epsilon_is_used_and_no_more(name, eps):
    """Realised: 0.985 of epsilon at least, 0.99 up to 10."""
    for seed in range(3):
        points = SETS[name](np.random.default_rng(seed))
        (slope,) = slopes_over(points).of(eps)
        realised = worst(Exponential(eps, diameter(points), slope).weights(distances(points, points))) / eps
        assert (0.99 if eps <= 10 else 0.985) < realised <= 1 + 1e-12 / eps


@pytest.mark.parametrize("eps", [1e-12, 1e-9, 1e-8, 1e-6, 1e-3, 1.0, 10.0, 25.0])
def test_worst_ratio_in_whole_numbers(eps):
    for seed in range(4):
        points = np.random.default_rng(seed).random((6, 2))
        (slope,) = slopes_over(points).of(eps)
        weights = Exponential(eps, diameter(points), slope).weights(distances(points, points))
        shares = [[Fraction(int(w), int(row.sum())) for w in row] for row in weights]
        for column in zip(*shares, strict=True):
            assert max(column) <= exp_bounds(eps)[0] * min(column)


@pytest.mark.parametrize("most", [20, 50, 150])
def test_stand_ins_bound_the_whole_set(most):
    """300 points through few of them: never more than epsilon, and the more of them the nearer to it."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        for points in (rng.random((300, 2)), clustered(rng, 300)):
            for eps in (0.5, 6.0):
                (slope,) = slopes_over(points, most).of(eps)
                weights = Exponential(eps, diameter(points), slope).weights(distances(points, points))
                realised = worst(weights) / eps
                assert {20: 0.5, 50: 0.6, 150: 0.78}[most] < realised <= 1


def test_contexts():
    """Subsets of any kind: secrets and reports are their members."""
    rng = np.random.default_rng(1)
    points = rng.random((60, 2))
    allowed = rng.random((5, 60)) < 0.4
    allowed[0] = distances(points[:1], points)[0] < 0.3
    for most in (60, 25):
        found = slopes_over(points, most, lambda columns: allowed[:, columns]).of(3.0)
        for members, slope in zip(allowed, found, strict=True):
            inside = points[members]
            realised = worst(Exponential(3.0, diameter(inside), slope).weights(distances(inside, inside))) / 3.0
            assert (0.97 if most == 60 else 0.4) < realised <= 1


def test_slopes_between_nodes_are_private():
    """The bound between two nodes, against the worst log-ratio itself, for many epsilons of one set."""
    points = np.random.default_rng(2).random((40, 2))
    slopes, away = slopes_over(points), distances(points, points)
    for eps in np.geomspace(0.2, 20, 60).tolist():
        (slope,) = slopes.of(eps)
        logs = np.log(np.exp(-slope * away).sum(axis=1))
        assert 0.985 * eps < (slope * away + logs - logs[:, None]).max() < eps
    assert len(slopes._nodes) < 20  # epsilons share them


def test_no_slope_where_whole_numbers_cannot_tell():
    points = np.random.default_rng(3).random((10, 2))
    for eps in (1e-300, 1e-9, 28.0, 600.0):
        assert slopes_over(points).of(eps).tolist() == [0.0]
    assert slopes_over(points * 1e-200).of(1.0).tolist() == [0.0]


def test_a_slope_that_is_less_steep_than_the_classical_changes_nothing():
    away = distances(*[np.random.default_rng(4).random((8, 2))] * 2)
    classical = Exponential(3.0, 2.0)
    assert np.array_equal(Exponential(3.0, 2.0, 0.1).weights(away), classical.weights(away))
    steep = Exponential(3.0, 2.0, np.array([0.1, 9.0])).weights(away[:2])
    assert np.array_equal(steep[0], classical.weights(away)[0])
    assert steep[1].min() < classical.lightest
    assert steep.max() == HEAVIEST


def test_divide():
    rng = np.random.default_rng(5)
    for points in (rng.random((500, 2)), clustered(rng, 500)):
        for most in (1, 9, 100, 499):
            own, stand_ins, covering = divide(points, most)
            assert len(stand_ins) <= most
            assert np.array_equal(own[stand_ins], np.arange(len(stand_ins)))
            away = np.hypot(*(points - points[stand_ins[own]]).T)
            assert [away[own == i].max() for i in range(len(stand_ins))] == pytest.approx(covering.tolist())
    own, stand_ins, covering = divide(points, 500)
    assert own.tolist() == stand_ins.tolist() == list(range(500))
    assert not covering.any()
    assert math.isclose(divide(np.array([[0.0, 0.0], [3.0, 4.0]]), 1)[2][0], 5.0)
