"""Weighted nearest as a method over places: the promise over all pairs, draws that follow the law, many epsilons."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from geotracs.core.domains import Globe, Rectangle
from geotracs.core.methods.nearest import Nearest
from geotracs.core.methods.weight_fit import Fitted
from geotracs.core.methods.weighted_nearest import LEVELS, TokenTables, WeightedNearest, levels
from tests.drawing import choose
from tests.helpers import FALSE_ALARM

METHOD = WeightedNearest()
SQUARE = Rectangle(0, 0, 1, 1)
SETS = {
    "on a grid": np.stack(np.meshgrid(np.arange(6), np.arange(6)), axis=-1).reshape(-1, 2) / 5.0,
    "scattered": np.random.default_rng(0).random((40, 2)),
    "in a row": np.column_stack([np.arange(25) / 25, np.full(25, 0.5)]),
    "two": np.array([[0.2, 0.2], [0.9, 0.7]]),
    "three": np.array([[0.2, 0.2], [0.9, 0.7], [0.9, 0.8]]),
}


@pytest.mark.parametrize("places", SETS.values(), ids=SETS)
@pytest.mark.parametrize("eps", [1e-9, 0.5, 3.0, 8.0, 600.0])
def test_probabilities_of_any_two_secrets_are_within_exp_eps(places, eps):
    tables = METHOD.prepare(places, eps, SQUARE)
    pmf = np.array([METHOD.pmf_of_one(x, None, eps, tables) for x in range(len(places))])
    assert pmf.sum(axis=1) == pytest.approx(1, abs=1e-12)
    high, low = pmf.max(axis=0), pmf.min(axis=0)
    assert np.array_equal(high > 0, low > 0)  # what can be reported does not depend on the secret
    assert np.log(high[high > 0] / low[high > 0]).max() <= eps + 1e-12


@pytest.mark.parametrize("eps", [0.5, 4.0, 7.0])
def test_mean_error_is_what_the_fit_says(eps):
    places = SETS["scattered"]
    tables, near = METHOD.prepare(places, eps, SQUARE), Nearest().prepare(places, eps, SQUARE)
    distance = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
    error, other = (
        np.mean([distance[x] @ method.pmf_of_one(x, None, eps, table) for x in range(40)])
        for method, table in ((METHOD, tables), (Nearest(), near))
    )
    assert error == pytest.approx(tables.fitted[0].error, rel=1e-9)
    # `Nearest` reports the others instead of any, which is the same law.
    assert other == pytest.approx(tables.fitted[0].nearest_error, rel=1e-9)
    assert error <= other


def test_sampler_follows_the_probabilities():
    """Chi-squared with a false alarm in a million for each secret and epsilon."""
    places, n = SETS["scattered"], 100_000
    for secret, eps in ((0, 0.5), (17, 3.0), (39, 6.0)):
        reports = choose(METHOD, np.full(n, secret), np.array([0, n]), eps, places, SQUARE, np.random.default_rng(4))
        expected = n * METHOD.pmf_of_one(secret, None, eps, METHOD.prepare(places, eps, SQUARE))
        counts = np.bincount(reports, minlength=40)
        assert np.all(counts[expected == 0] == 0)
        some = expected > 5
        found, expected = np.append(counts[some], counts[~some].sum()), np.append(expected[some], expected[~some].sum())
        statistic = np.sum((found - expected) ** 2 / np.maximum(expected, 1e-9))
        assert statistic < chi2.isf(FALSE_ALARM, max(1, some.sum() - (expected[-1] == 0)))


def test_reports_of_many_secrets_are_those_of_each_alone():
    """With the same draws: a secret's report does not depend on who else is there."""
    places = np.random.default_rng(1).random((300, 2))
    tables = METHOD.prepare(places, 4.0, SQUARE)
    secrets = np.sort(np.random.default_rng(2).integers(0, 300, 5000))
    together = tables.report(0, secrets, 4.0, np.random.default_rng(3))
    half = tables.report(0, np.where(np.arange(5000) < 2500, secrets[0], secrets), 4.0, np.random.default_rng(3))
    assert np.array_equal(together[2500:], half[2500:])


def test_epsilon_per_location():
    places = np.random.default_rng(5).random((400, 2))
    secrets = np.random.default_rng(6).integers(0, 400, 30_000)
    eps = np.repeat([0.1, 4.0, 600.0], 10_000)
    reports = choose(METHOD, secrets, np.array([0, 30_000]), eps, places, SQUARE, np.random.default_rng(0))
    error = np.hypot(*(places[reports] - places[secrets]).T).reshape(3, -1).mean(axis=1)
    assert error[0] > 2 * error[1] > 0
    assert error[2] == 0


def test_many_epsilons_share_few_fits_and_spend_all_of_epsilon():
    eps = 8.0 / np.arange(1, 200)
    tables = METHOD.prepare(SETS["scattered"], eps, SQUARE)
    assert len(tables.fitted) <= 25
    assert np.all(tables.eps[tables.level(eps)] <= np.maximum(eps, LEVELS[0]))
    pmf = np.array([METHOD.pmf_of_one(x, None, 2.6, tables) for x in range(40)])
    ratio = pmf.max(axis=0)[pmf.max(axis=0) > 0] / pmf.min(axis=0)[pmf.max(axis=0) > 0]
    assert math.log(ratio.max()) == pytest.approx(2.6, abs=1e-9)
    reports = METHOD.choose(np.zeros(199, dtype=int), np.array([0, 199]), eps, tables, np.random.default_rng(0))
    assert reports.shape == (199,)


def test_levels_are_below_epsilon_but_for_the_first():
    eps = np.geomspace(0.2, 699, 1000)
    found = np.array(levels(eps))
    assert np.all(np.diff(found) > 0)
    assert np.all(found[np.searchsorted(found, eps, side="right") - 1] <= eps)
    assert levels(np.full(10, 1e-9)) == [1e-9]
    assert levels(np.geomspace(1e-9, 1e-3, 10)) == [0.125]


@pytest.mark.parametrize("weights", [[0, 5, 0, 0], [1, 0, 0, 9], [1, 1, 1, 1]])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_tables_of_any_tokens_keep_the_promise(weights, share):
    places, eps = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), 1.5
    weights = np.array(weights)
    fitted = Fitted(weights, max(1, int(share * weights.sum())), 0.0, 0.0)
    tables = TokenTables(places, [(eps, fitted)])
    pmf = np.array([METHOD.pmf_of_one(x, None, eps, tables) for x in range(4)])
    assert pmf.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert np.all(pmf[:, weights == 0] == 0)
    assert np.all(pmf.max(axis=0) <= math.exp(eps) * (1 + 1e-12) * pmf.min(axis=0))
    reports = METHOD.choose(np.arange(4), np.array([0, 4]), eps, tables, np.random.default_rng(0))
    assert np.all(weights[reports] > 0)


def test_on_the_globe_places_across_the_antimeridian_are_near():
    places = np.array([[179.9, 0.0], [-179.9, 0.0], [178.0, 0.0], [0.0, 89.0], [180.0, 89.5], [90.0, -45.0]])
    tables = METHOD.prepare(places, 3.0, Globe())
    pmf = METHOD.pmf_of_one(0, None, 3.0, tables)
    assert pmf[:3].sum() > 0.8


def test_same_tables_also_after_a_journey():
    tables = METHOD.prepare(SETS["scattered"], 2.0, SQUARE)
    again = pickle.loads(pickle.dumps(tables))
    secrets, offsets = np.arange(40), np.array([0, 40])
    one, other = (METHOD.choose(secrets, offsets, 2.0, t, np.random.default_rng(1)) for t in (tables, again))
    assert np.array_equal(one, other)


def visits(path):
    """Where the places are, in metres, and how often each is visited."""
    table = pd.read_csv(path)
    places, counts = np.unique(table[["lon", "lat"]].to_numpy(), axis=0, return_counts=True)
    degree, middle = 6378137 * np.pi / 180, (places[:, 1].min() + places[:, 1].max()) / 2
    return places * [degree * np.cos(np.radians(middle)), degree], counts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("tky", {1.0: 7050, 8.0: 845}),
        ("chi", {4.0: 3690}),
    ],
)
def test_errors_on_real_cities(checkins, name, most):
    """Every check-in is a secret; the fit sees the places alone. Means of 10 reports of each, within 1%."""
    places, counts = visits(checkins(name))
    secrets = np.repeat(np.arange(len(places)), 10 * counts)
    for eps, bound in most.items():
        tables = METHOD.prepare(places, eps, SQUARE)
        reports = METHOD.choose(secrets, np.array([0, len(secrets)]), eps, tables, np.random.default_rng(0))
        assert np.hypot(*(places[reports] - places[secrets]).T).mean() <= bound
