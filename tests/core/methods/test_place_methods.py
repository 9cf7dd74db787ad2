"""Methods over places: the full distribution of what they report, for every secret and along every history."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2

from geotracs import DomainError, InputError, methods
from geotracs.core.domains import Disc, Globe, Parallelogram, Polygon, Rectangle
from geotracs.core.methods import PlaceMethod
from tests.drawing import choose
from tests.helpers import FALSE_ALARM

SQUARE = Rectangle(0, 0, 1, 1)
OVER_PLACES = sorted(name for name, method in methods.METHODS.items() if issubclass(method, PlaceMethod))
ONE_BY_ONE = ["exponential", "k-rr", "l-srr"]
SETS = {
    "scattered": np.array([[0.1, 0.1], [0.15, 0.2], [0.9, 0.3], [0.4, 0.95]]),
    "in a row": np.array([[0.0, 0.5], [0.1, 0.5], [1.0, 0.5]]),
    "two": np.array([[0.2, 0.2], [0.9, 0.7]]),
    "on a grid": np.array([[x, y] for x in (0.25, 0.75) for y in (0.25, 0.75)]),
}
VARIANTS = [
    ("k-rr", {}),
    ("exponential", {}),
    ("exponential", {"calibration": "textbook"}),
    ("l-srr", {}),
    ("l-srr", {"groups": [0.2, 0.4, 0.5, 0.9]}),
    ("ngram", {}),
    ("ngram", {"reach": 0.3}),
    ("ngram", {"reach": 1e-3}),
    ("atp", {}),
    ("atp", {"k": 2}),
    ("atp", {"k": 9}),
    ("ngram", {"calibration": "textbook"}),
    ("atp", {"calibration": "textbook"}),
]


def joint(name, places, eps, length, **options):
    """P(reports | secrets) for all secrets and all reports: an array with an axis a secret, and one for the reports."""
    method = methods.make(name, options)
    tables = method.prepare(places, eps, SQUARE)
    every = np.array(list(itertools.product(range(len(places)), repeat=length)))
    rows = [method.pmf(secrets, every, eps, tables) for secrets in every]
    return np.array(rows).reshape(*[len(places)] * length, len(every))


def worst_log_ratio(probability, axis):
    """How much likelier, as a logarithm, any report is from one secret than from another at this step."""
    high, low = probability.max(axis=axis), probability.min(axis=axis)
    assert np.array_equal(high > 0, low > 0)  # what can be reported does not depend on the secret
    return np.log(high[high > 0] / low[high > 0]).max()


# The promise


@pytest.mark.slow
@pytest.mark.parametrize("places", SETS.values(), ids=SETS)
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_eps_ldp_along_all_histories(name, options, places):
    """All secrets and all reports of three locations, or of one where reports do not look at each other."""
    length = 1 if name in ONE_BY_ONE else 3
    largest = methods.make(name, options).largest_eps - 0.1
    # Four places make 64 secrets with 64 histories each: a small and a large epsilon, and on a grid one between them.
    many = (5.0,) if places is SETS["on a grid"] else (0.5, 600.0)
    for eps in (1e-6, 0.5, 5.0, 600.0) if len(places) ** length < 64 else many:
        eps = min(eps, largest)
        probability = joint(name, places, eps, length, **options)
        assert probability.sum(axis=-1) == pytest.approx(1, abs=1e-12)
        for axis in range(length):
            assert worst_log_ratio(probability, axis) <= eps + 1e-9


@pytest.mark.parametrize("name", ["k-rr", "l-srr"])
@pytest.mark.parametrize("eps", [0.01, 2.0, 8.0])
@pytest.mark.parametrize("places", SETS.values(), ids=SETS)
def test_all_of_epsilon_is_spent(name, eps, places):
    assert worst_log_ratio(joint(name, places, eps, 1), 0) > eps - 1e-6


@pytest.mark.parametrize("name", ["exponential", "ngram"])
def test_the_classical_exponential_spends_at_least_half(name):
    """Two places: their weights differ by exp(eps / 2), and the sums of the weights not at all."""
    by_the_book = joint(name, SETS["two"], 4.0, 1, calibration="textbook")
    assert worst_log_ratio(by_the_book, 0) == pytest.approx(2.0, abs=1e-9)
    assert worst_log_ratio(joint(name, SETS["two"], 4.0, 1), 0) > 0.99 * 4


def test_ngram_along_a_whole_trajectory_is_three_times_epsilon():
    probability = joint("ngram", SETS["scattered"], 2.0, 3).reshape(64, 64)
    assert worst_log_ratio(probability, 0) <= 6.0 + 1e-9


# The sampler


@pytest.mark.slow
@pytest.mark.parametrize("eps", [1e-6, 2.0, 12.0])
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_sampler_follows_its_pmf(name, options, eps):
    """Chi-squared over all reports of a trajectory of three locations, some of them at the same place.

    20,000 trajectories: a flip with probability 1 / (k - 1 + exp(eps)) instead of k - 1 times that shows in all cases.
    """
    places, n, length = SETS["scattered"], 20_000, 3
    method = methods.make(name, options)
    tables = method.prepare(places, eps, SQUARE)
    every = np.array(list(itertools.product(range(len(places)), repeat=length)))
    for secrets in ([0, 3, 1], [2, 2, 2]):
        offsets = np.arange(0, n * length + 1, length)
        rng = np.random.default_rng(len(name))
        reports = method.choose(np.tile(secrets, n), offsets, eps, tables, rng).reshape(-1, length)
        observed = np.bincount(reports @ [16, 4, 1], minlength=64)
        expected = method.pmf(secrets, every, eps, tables) * n
        assert not observed[expected == 0].any()
        rare = expected < 5
        expected = np.append(expected[~rare], expected[rare].sum())
        observed = np.append(observed[~rare], observed[rare].sum())
        used = expected > 1e-9
        statistic = np.sum((observed - expected)[used] ** 2 / expected[used])
        assert statistic < chi2.isf(FALSE_ALARM, max(used.sum() - 1, 1))


@pytest.mark.parametrize("name", OVER_PLACES)
def test_each_location_has_its_own_epsilon(name):
    """Two epsilons in one call: each half as if it were alone (5 standard errors: a false alarm in 10**6)."""
    rng = np.random.default_rng(2)
    places, n = rng.random((30, 2)), 20_000
    secrets, offsets = rng.integers(0, 30, 2 * n), np.arange(0, 2 * n + 1, 4)
    both = displacement(name, places, secrets, offsets, np.repeat([1.0, 9.0], n), rng)
    for part, eps in ((both[:n], 1.0), (both[n:], 9.0)):
        alone = displacement(name, places, secrets[:n], offsets[: n // 4 + 1], eps, rng)
        assert part.mean() == pytest.approx(alone.mean(), abs=5 * math.sqrt((part.var() + alone.var()) / n * 4))


def displacement(name, places, secrets, offsets, eps, rng):
    reports = choose(methods.make(name), secrets, offsets, eps, places, SQUARE, rng)
    return np.hypot(*(places[reports] - places[secrets]).T)


@pytest.mark.parametrize("name", OVER_PLACES)
def test_chunks_make_no_difference(name, monkeypatch):
    rng = np.random.default_rng(3)
    places, secrets, offsets = rng.random((40, 2)), rng.integers(0, 40, 300), np.array([0, 1, 120, 120, 300])
    runs = []
    for chunk in (2**17, 100):
        monkeypatch.setattr("geotracs.core.methods.weighted.CHUNK", chunk)
        recipe = methods.make(name)
        runs.append(choose(recipe, secrets, offsets, 3.0, places, SQUARE, np.random.default_rng(0)))
    assert np.array_equal(*runs)


@pytest.mark.parametrize("name", OVER_PLACES)
def test_extreme_epsilon(name):
    rng = np.random.default_rng(4)
    places, secrets, offsets = rng.random((50, 2)), rng.integers(0, 50, 20_000), np.arange(0, 20_001, 10)
    truth = {}
    recipe = methods.make(name, {"reach": 2} if name == "ngram" else {})
    for eps in (1e-6, recipe.largest_eps - 0.1):
        reports = choose(recipe, secrets, offsets, eps, places, SQUARE, rng)
        truth[eps] = np.mean(reports == secrets)
    low, high = truth.values()
    assert low < 0.03  # one of 50 by chance; 7 standard errors more
    # A group hides the place in it at any epsilon; weights that differ by exp(25) at most hide near places.
    assert high > {"l-srr": 0.03, "k-rr": 0.95, "nearest": 0.95}.get(name, 0.4)


def test_trajectories_do_not_look_at_each_other():
    """NGram: what is far from the first report of one trajectory can follow on the last report of another."""
    places = np.array([[0.0, 0.0], [0.01, 0.0], [1.0, 1.0], [0.99, 1.0]])
    secrets, offsets = np.array([0, 2] * 500), np.arange(1001)
    reports = choose(
        methods.make("ngram", {"reach": 0.1}), secrets, offsets, 25.0, places, SQUARE, np.random.default_rng(0)
    )
    assert np.hypot(*(places[reports] - places[secrets]).T).max() < 0.1
    one = choose(
        methods.make("ngram", {"reach": 0.1}),
        secrets,
        np.array([0, 1000]),
        25.0,
        places,
        SQUARE,
        np.random.default_rng(0),
    )
    assert set(one.tolist()) == {0, 1}  # the first report keeps all others within reach


# ATP, piece by piece


def test_atp_sectors_hold_every_place_once():
    method, rng = methods.make("atp"), np.random.default_rng(0)
    places = rng.random((60, 2))
    tables = method.prepare(places, 1.0, SQUARE)
    pivots, others = np.indices((60, 60)).reshape(2, -1)
    seen = method._sectors(pivots, others, tables)
    away = places[others] - places[pivots]
    by_hand = np.floor(np.arctan2(away[:, 1], away[:, 0]) % (2 * np.pi) / (np.pi / 3)).astype(int)
    assert np.array_equal(seen, by_hand)
    apart = pivots != others
    for sector in range(6):
        twice = [np.full(60, sector)] * 2
        allowed = method._candidates([np.arange(60)] * 2, twice, tables)
        there = ((seen == sector) | ~apart).reshape(60, 60)
        assert np.array_equal(allowed, there)


def test_atp_candidates_are_all_where_sectors_do_not_meet():
    method = methods.make("atp")
    tables = method.prepare(SETS["in a row"], 1.0, SQUARE)
    allowed = method._candidates([np.array([0]), np.array([2])], [np.array([1]), np.array([1])], tables)
    assert allowed.all()


def test_atp_merges_to_the_middle():
    method = methods.make("atp")
    tables = method.prepare(np.array([[0.0, 0.5], [0.1, 0.5], [0.5, 0.5], [1.0, 0.5]]), 1.0, SQUARE)
    from geotracs.core.methods.atp import _merge

    merged = _merge(np.array([0, 1, 2, 3]), np.array([3, 0, 2, 2]), tables)
    assert merged.tolist() == [2, 0, 2, 2]  # of places equally near, the first


def test_atp_roles_alternate_between_the_copies():
    from geotracs.core.methods.atp import _between

    first, second = _between(np.array([0, 1, 3, 3, 8]))
    assert first.tolist() == [5]
    assert second.tolist() == [4, 6]


# Sets of places


@pytest.mark.parametrize("name", OVER_PLACES)
def test_one_place_is_always_reported(name):
    places, secrets = np.array([[0.5, 0.5]] * 3), np.array([0, 2, 1, 0])
    reports = choose(methods.make(name), secrets, np.array([0, 4]), 1.0, places, SQUARE, np.random.default_rng(0))
    assert reports.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("name", OVER_PLACES)
def test_duplicates_are_one_place(name):
    """The same draws over the set without its duplicates, under the first numbers."""
    rng = np.random.default_rng(5)
    distinct = rng.random((12, 2))
    numbers = np.concatenate([np.arange(12), rng.integers(0, 12, 8)])
    secrets, offsets = rng.integers(0, 20, 400), np.array([0, 400])
    with_twins, without = (
        choose(methods.make(name), own, offsets, 3.0, places, SQUARE, np.random.default_rng(1))
        for own, places in ((secrets, distinct[numbers]), (numbers[secrets], distinct))
    )
    assert np.array_equal(with_twins, without)
    assert with_twins.max() < 12


@pytest.mark.parametrize("name", OVER_PLACES)
def test_no_location_and_empty_trajectories(name):
    places = SETS["scattered"]
    for offsets in (np.array([0]), np.array([0, 0, 0])):
        none = choose(methods.make(name), np.arange(0), offsets, 3.0, places, SQUARE, np.random.default_rng(0))
        assert len(none) == 0


def test_a_reach_that_leaves_no_candidate_takes_all_places():
    probability = joint("ngram", SETS["scattered"], 2.0, 2, reach=1e-3).reshape(4, 4, 4, 4)
    assert (probability > 0).all()
    near = joint("ngram", SETS["scattered"], 2.0, 2, reach=0.3).reshape(4, 4, 4, 4)
    assert (near[:, :, 0] > 0).all(axis=(0, 1)).tolist() == [True, True, False, False]
    assert (near[:, :, 2] > 0).all()  # nothing is near the third place


@pytest.mark.parametrize("name", OVER_PLACES)
def test_regions(name):
    rng = np.random.default_rng(0)
    places, secrets = rng.random((20, 2)), rng.integers(0, 20, 50)
    import shapely

    for domain in (Disc((0.5, 0.5), 1), Parallelogram((0, 0), (1, 0), (0, 1)), Polygon(shapely.box(0, 0, 1, 1))):
        reports = choose(methods.make(name), secrets, np.array([0, 50]), 3.0, places, domain, rng)
        assert ((reports >= 0) & (reports < 20)).all()
    arguments = (secrets, np.array([0, 50]), 3.0, places, Globe(), rng)
    if name in ("k-rr", "nearest"):
        choose(methods.make(name), *arguments)
        return
    with pytest.raises(
        DomainError, match='in a plane, which the globe is not; take a smaller region, or method="k-rr"'
    ):
        choose(methods.make(name), *arguments)


def test_expected_error_over_places():
    places = np.random.default_rng(0).random((100, 2))
    errors = [methods.expected_error(methods.make("exponential"), eps, SQUARE, places=places) for eps in (1.0, 20.0)]
    assert errors[0] > 0.4 > 0.2 > errors[1]


def test_bad_options():
    for groups in ([], [0.6, 0.3], [0.3, 0.3], [0, 1], ["a"], 0.3, "ab", [math.nan]):
        with pytest.raises(InputError, match="`groups` must be increasing parts"):
            methods.make("l-srr", {"groups": groups})
    for reach in (0, -1, math.nan, math.inf, "far", True, None):
        with pytest.raises(InputError, match="`reach` must be a part"):
            methods.make("ngram", {"reach": reach})
    for k in (1, 0, 2.5, "6", True, 361):
        with pytest.raises(InputError, match="`k` must be a whole number from 2 to 360"):
            methods.make("atp", {"k": k})
    with pytest.raises(InputError, match=r"k-rr has no option 'window'; its options are \[\]"):
        methods.make("k-rr", {"window": "ogpm"})
    with pytest.raises(InputError, match="at most 131,072 of them, got 131,073"):
        methods.make("l-srr").prepare(np.zeros((2**17 + 1, 2)), 1.0, SQUARE)
    recipe = methods.make("atp")
    tables = recipe.prepare(np.random.default_rng(0).random((80, 2)), 1.0, SQUARE)
    with pytest.raises(InputError, match=r"all 80\*\*2 trajectories"):
        recipe.pmf([0, 1], [[0, 1]], 1.0, tables)
