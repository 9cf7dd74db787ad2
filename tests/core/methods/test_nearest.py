"""Two levels over the nearest places: exactly k of them, the k that is best, and the errors on real cities."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import cKDTree
from scipy.stats import chi2

from geotracs import methods
from geotracs.core.domains import Globe, Rectangle, Transport
from geotracs.core.domains.border import SIDE
from geotracs.core.methods import nearest as module
from geotracs.core.methods.nearest import Nearest, Neighbourhoods
from tests.drawing import choose, run
from tests.helpers import FALSE_ALARM

SQUARE = Rectangle(0, 0, 1, 1)

METHOD = methods.make("nearest")


def grid(side):
    return np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2).astype(float)


def by_hand(places, secret, k):
    """The k nearest by distance, then by number."""
    square = ((places - places[secret]) ** 2).sum(axis=1)
    return sorted(sorted(range(len(places)), key=lambda i: (square[i], i))[:k])


@pytest.mark.parametrize("k", [1, 2, 5, 40, 150, 201, 400])
@pytest.mark.parametrize("kind", ["grid", "random"])
def test_every_neighbourhood_has_k_members_and_ties_go_to_the_first(kind, k):
    places = grid(30) if kind == "grid" else np.random.default_rng(0).random((900, 2))
    secrets = np.arange(0, 900, 17)
    found = Neighbourhoods(places).around(secrets, k)
    assert found.shape == (len(secrets), k)
    for secret, neighbours in zip(secrets.tolist(), found.tolist(), strict=True):
        assert neighbours == by_hand(places, secret, k)
        assert secret in neighbours


def test_kept_and_fresh_neighbourhoods_are_the_same(monkeypatch):
    places = np.random.default_rng(1).random((500, 2))
    tables = Neighbourhoods(places)
    kept = tables.around(np.arange(500), 60)
    assert tables._kept
    monkeypatch.setattr(module, "KEPT", 0)
    assert np.array_equal(Neighbourhoods(places).around(np.arange(500), 60), kept)


@pytest.mark.parametrize("eps", [0.01, 1, 3, 6, 10, 100])
def test_size_is_the_one_with_the_smallest_expected_error(eps):
    """Against the error of every k, by the definition; sizes go up in steps of a fifth, which cost less than 1%."""
    places = np.random.default_rng(2).random((300, 2)) ** 2
    distance = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
    sums = np.cumsum(np.sort(distance, axis=1), axis=1).mean(axis=0)
    k = np.arange(1, 151)
    errors = (sums[-1] + math.expm1(eps) * sums[k - 1]) / (300 + math.expm1(eps) * k)
    chosen = Neighbourhoods(places).size(float(eps))
    assert errors[chosen - 1] <= 1.01 * errors.min()
    tables = METHOD.prepare(places, float(eps), SQUARE)
    exact = np.mean([distance[x] @ METHOD.pmf_of_one(x, None, float(eps), tables) for x in range(300)])
    assert exact == pytest.approx(errors[chosen - 1], rel=1e-9)


@pytest.mark.parametrize("eps", [0.5, 3.0, 20.0])
def test_probabilities_of_any_two_secrets_are_within_exp_eps(eps):
    tables = METHOD.prepare(grid(7), eps, SQUARE)
    pmf = np.array([METHOD.pmf_of_one(x, None, eps, tables) for x in range(49)])
    assert pmf.sum(axis=1) == pytest.approx(np.ones(49), abs=1e-12)
    assert (pmf.max(axis=0) / pmf.min(axis=0)).max() <= math.exp(eps) * (1 + 1e-12)


def test_sampler_follows_the_probabilities():
    """Chi-squared with a false alarm in a million for each secret."""
    places, n = np.random.default_rng(3).random((40, 2)), 100_000
    for secret in (0, 17):
        reports = choose(
            METHOD, np.full(n, secret), np.array([0, n]), 2.0, places, Rectangle(0, 0, 1, 1), np.random.default_rng(4)
        )
        expected = n * METHOD.pmf_of_one(secret, None, 2.0, METHOD.prepare(places, 2.0, SQUARE))
        assert np.sum((np.bincount(reports, minlength=40) - expected) ** 2 / expected) < chi2.isf(FALSE_ALARM, 39)


def test_epsilon_per_location():
    places = np.random.default_rng(5).random((800, 2))
    secrets = np.random.default_rng(6).integers(0, 800, 30_000)
    eps = np.repeat([0.1, 4.0, 600.0], 10_000)
    reports = choose(
        METHOD, secrets, np.array([0, 30_000]), eps, places, Rectangle(0, 0, 1, 1), np.random.default_rng(0)
    )
    error = np.hypot(*(places[reports] - places[secrets]).T).reshape(3, -1).mean(axis=1)
    assert error[0] > 2 * error[1] > 0
    assert error[2] == 0  # one place of 800 at epsilon 600


def test_on_the_globe_places_across_the_antimeridian_are_near():
    places = np.array([[179.9, 0.0], [-179.9, 0.0], [178.0, 0.0], [0.0, 89.0], [180.0, 89.5], [90.0, -45.0]])
    tables = METHOD.prepare(places, 3.0, Globe())
    assert tables.around(np.array([0, 4]), 2).tolist() == [[0, 1], [3, 4]]


def test_two_and_three_places():
    for count in (2, 3):
        places = np.random.default_rng(7).random((count, 2))
        tables = Nearest().prepare(places, 1.0, SQUARE)
        assert tables.size(1.0) == 1
        assert tables.around(np.arange(count), 1).ravel().tolist() == list(range(count))


def city(path, digits):
    """The paper's trajectories and location space, in degrees."""
    table = pd.read_csv(path).round({"lon": digits, "lat": digits})
    places = table[["lon", "lat"]].drop_duplicates().to_numpy()
    visits = table[["user", "lat", "lon"]].drop_duplicates().sort_values(["user", "lat", "lon"])
    visits = visits[visits["user"].isin(visits["user"].unique()[:100])]
    return visits[["lon", "lat"]].to_numpy(), places


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "digits", "count", "most"),
    [
        ("tky", 8, 7798, [0.070, 0.041, 0.022, 0.0105, 0.0048]),
        ("chi", 5, 1000, [0.120, 0.054, 0.025, 0.009, 0.004]),
    ],
)
def test_errors_on_real_cities(checkins, name, digits, count, most):
    xy, places = city(checkins(name), digits)
    assert len(places) == count
    secrets = np.tile(cKDTree(places).query(xy)[1], max(1, 30_000 // len(xy)))
    box = Rectangle(*places.min(axis=0), *places.max(axis=0))
    for eps, bound in zip([2.0, 4.0, 6.0, 8.0, 10.0], most, strict=True):
        reports = choose(METHOD, secrets, np.array([0, len(secrets)]), eps, places, box, np.random.default_rng(0))
        assert np.hypot(*(places[reports] - places[secrets]).T).mean() <= bound


def test_errors_of_joint_with_the_places_as_prior(checkins):
    xy, places = city(checkins("tky"), 8)
    low, high = places.min(axis=0), places.max(axis=0)
    weights = np.histogram2d(*((places - low) / (high - low)).T, bins=SIDE, range=[[0, 1], [0, 1]])[0]
    xy, tree = np.asfortranarray(np.tile(xy, (3, 1))), cKDTree(places)
    for eps, bound in zip([2.0, 4.0, 6.0, 8.0, 10.0], [0.079, 0.052, 0.032, 0.0185, 0.010], strict=True):
        charts = [Transport(Rectangle(*low, *high), weights, first=axis) for axis in (0, 1)]
        chart = min(charts, key=lambda chart, eps=eps: methods.expected_error(methods.make("joint"), eps, chart))
        reports = run(methods.make("joint"), xy, np.array([0, len(xy)]), eps, chart, np.random.default_rng(0))
        reports = places[tree.query(reports)[1]]
        assert np.hypot(*(reports - xy).T).mean() <= bound
