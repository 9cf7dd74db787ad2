"""Remap over places: a public table from places to places that never costs."""

import numpy as np
import pytest

from geotracs.core.domains import Rectangle
from geotracs.core.methods import ATP, KRR, LSRR, Exponential, Nearest, NGram, PlaceMethod, PlaceRemap, Prior, TracsC
from geotracs.core.methods.place_remap import tabulated
from geotracs.core.methods.weighted_nearest import WeightedNearest
from geotracs.core.places import Grid, Points
from geotracs.errors import InputError

SQUARE = Rectangle(0, 0, 1, 1)
CITY = np.random.default_rng(8).normal(0.5, 0.15, (120, 2)).clip(0, 1)
METHODS = [KRR(), Nearest(), Exponential(), LSRR(), NGram(), WeightedNearest()]


def errors(method, eps, places, prior=None, n=20_000):
    """The errors before and after on other draws than those that decided."""
    remap = PlaceRemap(method, SQUARE, eps, prior, places)
    rng = np.random.default_rng(3)
    secrets = np.asfortranarray(CITY[rng.integers(len(CITY), size=n)])
    plain, moved = (method.on(SQUARE, places, eps, remap=own) for own in (None, remap))
    offsets = np.arange(0, n + 1, 100)
    found = [channel.sample(secrets, offsets, eps, np.random.default_rng(4)) for channel in (plain, moved)]
    return [np.hypot(*(secrets - reports.xy).T) for reports in found]


@pytest.mark.parametrize("eps", [0.5, 4.0])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_it_is_never_worse(method, eps):
    """Beyond three standard errors; `optimal` leaves nothing to gain, the others gain at epsilon 0.5."""
    before, after = errors(method, eps, Points(CITY))
    assert (after - before).mean() <= 3 * (after - before).std() / np.sqrt(len(after))
    if eps < 1 and method.name != "optimal":
        assert after.mean() < 0.85 * before.mean()


def test_it_is_the_best_place_of_all():
    """Every place that a report could be moved to was tried."""
    places, method = Points(CITY[:15]), Nearest()
    channel = method.on(SQUARE, places, 2.0)
    weights = channel.density(np.arange(15), CITY[:15])
    losses = weights.T @ np.hypot(*(CITY[:15, None] - CITY[:15]).transpose(2, 0, 1))
    table = tabulated(channel, places, Prior(SQUARE, "places", CITY[:15]))
    assert losses[np.arange(15), table] == pytest.approx(losses.min(axis=1))


def test_probabilities_count_it():
    """Of what was released of many draws: within five standard deviations."""
    places, eps, n = Grid(nx=3, ny=3).over((0, 0, 1, 1), 1.0), 1.0, 50_000
    channel = KRR().on(SQUARE, places, eps, remap=PlaceRemap(KRR(), SQUARE, eps, places=places))
    secret = np.array([[0.1, 0.2]])
    exact = channel.density(np.arange(9), secret)[0]
    drawn = channel.sample(np.repeat(secret, n, axis=0), np.arange(n + 1), eps, np.random.default_rng(1))
    assert exact.sum() == pytest.approx(1)
    seen = np.bincount(drawn.which, minlength=9) / n
    assert np.all(np.abs(seen - exact) <= 5 * np.sqrt(exact * (1 - exact) / n))


def test_a_reader_does_not_know_what_ngram_looked_back_at():
    places, eps = Points(CITY[:20]), 1.0
    channel = NGram().on(SQUARE, places, eps, remap=PlaceRemap(NGram(), SQUARE, eps, places=places))
    assert not channel.reference_is_known
    assert channel.density(np.arange(20), CITY[:1], before=CITY[3]).sum() == pytest.approx(1)
    assert NGram().on(SQUARE, places, eps).reference_is_known


def test_the_prior_counts():
    prior = Prior(SQUARE, "points", CITY[:2], np.array([99.0, 1.0]))
    remap = PlaceRemap(KRR(), SQUARE, 0.5, prior, Points(CITY[:10]))
    assert remap.moved(np.arange(10), 0.5).tolist() == [0] * 10


@pytest.mark.parametrize("count", [1, 2])
def test_one_and_two_places(count):
    remap = PlaceRemap(KRR(), SQUARE, 1.0, places=Points(CITY[:count]))
    assert remap.moved(np.arange(count), 1.0).tolist() == list(range(count))


def test_each_epsilon_has_its_table():
    places, many = Points(CITY), np.array([0.1, 0.5, 1.0, 2.0, 4.0, 6.0])
    remap = PlaceRemap(KRR(), SQUARE, many, places=places)
    which, eps = np.tile(np.arange(120), 6), np.repeat(many, 120)
    together = remap.moved(which, eps)
    for one in many:
        assert np.array_equal(together[eps == one], remap.moved(np.arange(120), one))


def test_what_is_refused():
    class Silent(PlaceMethod):
        name = "silent"

        def prepare(self, places, eps, domain):
            return ()

    with pytest.raises(InputError, match=r"`remap` needs the probabilities .* silent has none"):
        PlaceRemap(Silent(), SQUARE, 1.0, places=Points(CITY))
    with pytest.raises(InputError, match=r"those of atp depend on all others"):
        PlaceRemap(ATP(), SQUARE, 1.0, places=Points(CITY))
    with pytest.raises(InputError, match="tracs-c does not report places"):
        PlaceRemap(TracsC(), SQUARE, 1.0)
