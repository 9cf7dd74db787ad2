"""The fit of tokens: the optimum of all eps-LDP methods on small sets, never worse than `nearest`, always the same."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from geotracs import InputError
from geotracs.core.methods import convex_weights
from geotracs.core.methods import weight_fit as module
from geotracs.core.methods.convex_weights import Lists, Metric, Weights, normalised
from geotracs.core.methods.weight_fit import fit, mean_error, stand_ins
from geotracs.core.places import on_sphere

PLANE = Metric(False)


def scattered(m, seed=0):
    return np.random.default_rng(seed).random((m, 2))


def clustered(m, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((6, 2))[rng.integers(0, 6, m)] + rng.normal(0, 0.05, (m, 2))


def optimum(distance, masses, eps):
    """The smallest mean error of any eps-LDP method: P(y|x) <= exp(eps) * P(y|x') for all pairs, as a linear programme.

    With the smallest P(y|.) as a variable of its own there are m * m bounds instead of m * m * m.
    """
    m = len(distance)
    cost = np.concatenate([(masses[:, None] * distance).ravel(), np.zeros(m)])
    eye, least = sparse.identity(m * m), sparse.vstack([sparse.identity(m)] * m)
    bounds = sparse.vstack([sparse.hstack([-eye, least]), sparse.hstack([eye, -np.exp(eps) * least])])
    sums = sparse.hstack([sparse.kron(sparse.identity(m), np.ones((1, m))), sparse.csr_matrix((m, m))])
    return linprog(cost, bounds, np.zeros(2 * m * m), sums, np.ones(m), method="highs").fun


def distances(points):
    return PLANE.between(points[:, None], points)


@pytest.mark.parametrize("places", [scattered(30), clustered(30)], ids=["scattered", "clustered"])
@pytest.mark.parametrize("eps", [0.3, 1.0, 2.0, 4.0, 7.0])
def test_error_is_that_of_the_best_of_all_methods(places, eps):
    best = optimum(distances(places), np.full(30, 1 / 30), eps)
    fitted = fit(places, eps)
    assert best * (1 - 1e-7) <= fitted.error <= 1.012 * best
    assert fitted.error <= fitted.nearest_error


def test_error_with_a_prior_is_that_of_the_best_of_all_methods():
    places, prior = scattered(30, 1), np.random.default_rng(2).pareto(1.0, 30)
    best = optimum(distances(places), prior / prior.sum(), 2.0)
    assert best * (1 - 1e-7) <= fit(places, 2.0, prior).error <= 1.012 * best


def test_objective_is_convex_and_its_gradient_is_right():
    """Along a line: above its tangents, and the slope of the tangents is that of the objective."""
    places, odds = scattered(50, 3), 5.0
    lists = Lists(places, np.full(50, 0.02), places, distances(places).mean(axis=0), 8, PLANE)
    rng = np.random.default_rng(4)
    for _ in range(20):
        one, other = (normalised(Weights(rng.random(50) ** 4, rng.random() * 5), odds) for _ in range(2))
        here, there = lists.gradient(one, odds), lists.gradient(other, odds)
        along = (here.weights * (other.w - one.w)).sum() + odds * here.window * (other.window - one.window)
        assert there.error >= here.error + along - 1e-12
        near = Weights(one.w + 1e-9 * (other.w - one.w), one.window + 1e-9 * (other.window - one.window))
        assert (lists.gradient(near, odds).error - here.error) / 1e-9 == pytest.approx(along, abs=1e-5)


def test_lists_that_may_not_grow_give_an_upper_bound(monkeypatch):
    places, odds = clustered(80, 12), 5.0
    arguments = (places, np.full(80, 1 / 80), places, distances(places).mean(axis=0), 8, PLANE)
    long = Lists(*arguments)
    weights = [normalised(Weights(np.random.default_rng(s).random(80), 3.0 * s), odds) for s in range(1, 9)]
    exact = [long.gradient(one, odds).error for one in weights]
    monkeypatch.setattr(convex_weights, "MAX_LISTED", 0)
    short = Lists(*arguments)
    bounds = [short.gradient(one, odds).error for one in weights]
    assert short.order.shape == (80, 8)
    assert np.all(np.array(bounds) >= np.array(exact) - 1e-12)
    assert bounds[-1] > exact[-1]
    fitted = fit(places, 2.0)
    assert fitted.error <= fitted.nearest_error


def test_lowest_slope_is_a_lower_bound_for_all_methods():
    places, eps = clustered(25, 5), 2.0
    odds, best = np.expm1(eps), optimum(distances(clustered(25, 5)), np.full(25, 0.04), eps)
    lists = Lists(places, np.full(25, 0.04), places, distances(places).mean(axis=0), 8, PLANE)
    for seed in range(10):
        weights = Weights(np.random.default_rng(seed).random(25), 4.0)
        at = lists.gradient(normalised(weights, odds), odds)
        assert min(at.weights.min(), at.window) <= best * (1 + 1e-9) <= at.error * (1 + 2e-9)


@pytest.mark.parametrize("eps", [1e-9, 0.5, 3.0, 8.0, 40.0, 600.0])
@pytest.mark.parametrize("places", [scattered(200, 6), clustered(200, 7)], ids=["scattered", "clustered"])
def test_never_worse_than_nearest_on_the_places(places, eps):
    fitted = fit(places, eps)
    everyone = stand_ins(places, np.full(200, 1 / 200), 200)
    error = mean_error(places, fitted.weights, fitted.k, eps, everyone, PLANE)
    plain = np.ones(200, dtype=np.int64)
    errors = [mean_error(places, plain, k, eps, everyone, PLANE) for k in (1, 2, 5, 10, 20, 50, 100)]
    assert error == pytest.approx(fitted.error, rel=1e-12)
    assert error <= fitted.nearest_error * (1 + 1e-12)
    assert fitted.nearest_error <= 1.1 * min(errors) + 1e-300


def test_thinned_sets_are_nearly_as_good(monkeypatch):
    places = clustered(600, 8)
    whole = fit(places, 3.0)
    monkeypatch.setattr(module, "ENTRIES", 2**15)
    thin = fit(places, 3.0)
    assert (thin.weights > 0).sum() < (whole.weights > 0).sum()
    assert whole.error <= thin.error * 1.01 <= whole.error * 1.03


def test_same_places_same_tokens():
    one, other = fit(clustered(300, 9), 2.5), fit(clustered(300, 9), 2.5)
    assert pickle.dumps(one) == pickle.dumps(other)


@pytest.mark.parametrize("eps", [1e-9, 1.0, 6.0, 600.0])
def test_few_places(eps):
    assert fit(np.array([[3.0, 4.0]]), eps) == (1, 1, 0.0, 0.0)
    for places in (np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]])):
        fitted = fit(places, eps)
        best = optimum(distances(places), np.full(len(places), 1 / len(places)), min(eps, 30.0)) if eps < 30 else 0
        assert fitted.error == pytest.approx(best, rel=1e-3, abs=1e-8)
        assert 1 <= fitted.k <= fitted.weights.sum()


def test_places_in_a_row():
    places = np.column_stack([np.arange(100.0), np.zeros(100)])
    fitted = fit(places, 1.0)
    assert fitted.error < 0.95 * fitted.nearest_error
    # The same from the left and from the right.
    middle = (fitted.weights * np.arange(100)).sum() / fitted.weights.sum()
    assert middle == pytest.approx(49.5, abs=0.5)


def test_a_prior_that_is_all_on_one_place():
    prior = np.zeros(40)
    prior[17] = 3.0
    fitted = fit(scattered(40, 10), 2.0, prior)
    assert fitted.error < 1e-3
    assert fitted.weights[17] > 0.99 * fitted.weights.sum()


@pytest.mark.parametrize("prior", [np.ones(3), np.zeros(4), np.array([1, 1, -1, 1.0]), np.array([1, 1, 1, np.nan])])
def test_bad_priors(prior):
    with pytest.raises(InputError, match="`prior` must hold"):
        fit(scattered(4), 1.0, prior)


def test_on_the_sphere_errors_are_great_circles():
    degrees = np.array([[0.0, 0.0], [90.0, 0.0], [180.0, 0.0], [-90.0, 0.0]])
    fitted = fit(on_sphere(degrees), 1e-9, on_sphere=True)
    assert fitted.error == pytest.approx(np.pi / 2, rel=1e-6)


@pytest.mark.parametrize("count", [1, 2, 7, 64, 99])
def test_stand_ins_are_members_of_cells_of_equal_size(count):
    places, masses = clustered(100, 11), np.full(100, 0.01)
    some = stand_ins(places, masses, count)
    assert len(np.unique(some.which)) == count
    assert some.masses.sum() == pytest.approx(1)
    assert np.array_equal(some.cell[some.which], np.arange(count))
    assert np.ptp(np.bincount(some.cell, minlength=count)) <= max(2, 100 // count)
