"""How much of epsilon the methods with exponential weights use: by enumeration of what they report."""

import itertools
import warnings

import numpy as np
import pytest

import geotracs.core.methods.ngram as ngram
from geotracs import GeotracsWarning, InputError, methods
from geotracs.core.domains import Rectangle
from geotracs.core.lengths import diameter, distances
from geotracs.core.mechanisms import Exponential
from tests.core.mechanisms.test_slopes import SETS, worst
from tests.drawing import choose

pytestmark = pytest.mark.slow

SQUARE = Rectangle(0, 0, 1, 1)
SMALL = ["two", "scattered", "clustered", "line", "grid"]


def realised(name, places, eps, before=None, **options):
    """The worst log-ratio over all secrets and reports of one location, as a part of epsilon."""
    method = methods.make(name, options)
    tables = method.prepare(places, eps, SQUARE)
    rows = np.array([method.pmf_of_one(secret, before, eps, tables) for secret in range(len(places))])
    possible = rows > 0
    assert (possible == possible[0]).all()  # what can be reported does not depend on the secret
    assert rows.sum(axis=1) == pytest.approx(1)
    return worst(rows[:, possible[0]]) / eps


@pytest.mark.parametrize("eps", [0.01, 1.0, 5.0, 25.0])
@pytest.mark.parametrize("name", SMALL)
def test_exponential_uses_all_of_epsilon(name, eps):
    """0.985 and more, where the textbook form uses 0.5 to 0.72 of it."""
    places = SETS[name](np.random.default_rng(7))
    assert 0.985 < realised("exponential", places, eps) <= 1 + 1e-9
    assert realised("exponential", places, eps, calibration="textbook") < 0.72


@pytest.mark.parametrize("reach", [0.2, 0.75])
@pytest.mark.parametrize("eps", [0.1, 2.0, 10.0])
@pytest.mark.parametrize("name", SMALL)
def test_ngram_uses_all_of_epsilon_in_every_context(name, eps, reach):
    """0.99 of it up to 256 places, after whatever was reported before; the textbook form uses 0.006 to 0.75."""
    places = SETS[name](np.random.default_rng(8))
    for before in [None, *range(0, len(places), 7)]:
        assert 0.985 < realised("ngram", places, eps, before, reach=reach) <= 1 + 1e-9


@pytest.mark.parametrize("seed", [0, 1])
def test_ngram_of_stand_ins_never_exceeds_epsilon(seed, monkeypatch):
    """Nine centres and 30 stand-ins for 60 places, all contexts: 0.57 of epsilon and more, never more than it."""
    monkeypatch.setattr(ngram, "CENTRES", 9)
    monkeypatch.setattr(ngram, "SECRETS", 30)
    monkeypatch.setattr(ngram, "PAIRS", 30 * 60)
    ngram._calibrated.cache_clear()
    places = np.random.default_rng(seed).random((60, 2))
    shares = [realised("ngram", places, 3.0, before) for before in range(60)]
    ngram._calibrated.cache_clear()
    assert 0.55 < min(shares) <= max(shares) <= 1 + 1e-9


def test_ngram_measures_the_reach_from_the_centre_of_the_last_report(monkeypatch):
    places = np.random.default_rng(3).random((300, 2))
    method = methods.make("ngram", {"reach": 0.4})
    tables = method.prepare(places, 2.0, SQUARE)
    assert len(np.unique(tables.centres)) <= 256
    for before in (0, 10, 299):
        reported = method.pmf_of_one(5, before, 2.0, tables) > 0
        assert np.array_equal(reported, np.hypot(*(places - places[tables.centres[before]]).T) <= 0.4)


@pytest.mark.parametrize("eps", [1.0, 6.0])
def test_atp_uses_most_of_epsilon(eps):
    """0.82 to 0.91 for one location among six places, where merging hides some; of three among four places 0.98 and
    more for the first and the last, pivots in both copies, and 0.93 between them. The textbook form: 0.77 at most.
    """
    places = np.random.default_rng(9).random((6, 2))
    assert 0.8 < realised_along("atp", places, eps, 1)[0] <= 1 + 1e-9
    first, middle, last = realised_along("atp", places[:4], eps, 3)
    assert 0.97 < min(first, last) <= max(first, middle, last) <= 1 + 1e-9
    assert middle > 0.9
    assert realised_along("atp", places, eps, 1, calibration="textbook")[0] < 0.55
    assert max(realised_along("atp", places[:4], eps, 3, calibration="textbook")) < 0.77


def realised_along(name, places, eps, length, **options):
    """The worst log-ratio of a trajectory's reports if one of its locations changes, for each of them."""
    method = methods.make(name, options)
    tables = method.prepare(places, eps, SQUARE)
    every = np.array(list(itertools.product(range(len(places)), repeat=length)))
    rows = np.array([method.pmf(secrets, every, eps, tables) for secrets in every])
    rows = rows.reshape(*[len(places)] * length, len(every))
    high, low = ([extreme(rows, axis=axis) for axis in range(length)] for extreme in (np.max, np.min))
    return [np.log(h[h > 0] / w[h > 0]).max() / eps for h, w in zip(high, low, strict=True)]


@pytest.mark.parametrize("name", ["exponential", "ngram", "atp"])
def test_the_textbook_form_is_what_it_was(name):
    """The weights to the last bit: eps / 2 over the spread, from the lightest weight on."""
    places = np.random.default_rng(10).random((20, 2))
    method = methods.make(name, {"calibration": "textbook"})
    tables = method.prepare(places, 3.0, SQUARE)
    secrets, befores, eps = np.arange(20), np.full(20, -1), np.full(20, 3.0)
    expected = Exponential(eps, diameter(places)).weights(distances(places, places))
    assert np.array_equal(method.weights(secrets, befores, eps, tables), expected)
    if name == "ngram":
        allowed = distances(places[[4] * 20], places) <= 0.75
        expected = Exponential(eps, min(diameter(places), 1.5)).weights(distances(places, places), allowed)
        assert np.array_equal(method.weights(secrets, np.full(20, 4), eps, tables), expected)


def test_levels_of_one_call():
    """Several epsilons, as a trajectory's share gives them: each with a slope of its own."""
    places, eps = np.random.default_rng(11).random((30, 2)), np.array([0.5, 4.0, 0.5])
    method = methods.make("exponential")
    weights = method.weights(np.array([3, 3, 3]), np.full(3, -1), eps, method.prepare(places, eps, SQUARE))
    for row, own in zip(weights, eps.tolist(), strict=True):
        alone = method.pmf_of_one(3, None, own, method.prepare(places, own, SQUARE))
        assert row / row.sum() == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "options", "most"),
    [
        ("exponential", {}, 25),
        ("exponential", {"calibration": "textbook"}, 50),
        ("ngram", {}, 25),
        ("l-srr", {}, 25),
        ("atp", {}, 50),
        ("atp", {"calibration": "textbook"}, 100),
    ],
)
def test_epsilon_that_weights_cannot_use_is_refused(name, options, most):
    places, method = np.random.default_rng(12).random((8, 2)), methods.make(name, options)
    assert method.largest_eps == most
    secrets, offsets, rng = np.arange(8), np.array([0, 8]), np.random.default_rng(0)
    choose(method, secrets, offsets, float(most), places, SQUARE, rng)
    words = f'{name} draws by whole-number weights.* at most {most} for a location, got 101; .* method="nearest"'
    for eps in (101.0, np.append(np.full(7, 1.0), 101.0)):
        with pytest.raises(InputError, match=words):
            choose(method, secrets, offsets, eps, places, SQUARE, rng)
    tables = method.prepare(places, 1.0, SQUARE)
    for call in (
        lambda: method.choose(secrets, offsets, 101.0, tables, rng),
        lambda: method.pmf([0], [[0]], 101.0, tables),
    ):
        with pytest.raises(InputError, match=words):
            call()


def test_the_weights_reach_what_is_not_refused():
    """At the largest epsilon the whole numbers still use 0.98 of it and more."""
    places = SETS["scattered"](np.random.default_rng(13))
    assert realised("exponential", places, 25.0) > 0.98
    assert realised("l-srr", places, 25.0, groups=(0.1, 0.2, 0.3, 0.6)) > 0.98
    assert realised("exponential", places, 50.0, calibration="textbook") > 0.49


def test_l_srr_in_one_group_warns():
    places = np.random.default_rng(14).random((10, 2)) / 10
    with pytest.warns(GeotracsWarning, match="all places are in one group"):
        assert realised("l-srr", places, 4.0) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert realised("l-srr", places, 4.0, groups=(0.03,)) > 0.99


def test_bad_calibration():
    for name in ("exponential", "ngram", "atp"):
        with pytest.raises(InputError, match=r"`calibration` must be one of \['exact', 'textbook'\], got 'classical'"):
            methods.make(name, {"calibration": "classical"})
