"""Operators agree with draws: chi-squared per degree of freedom, at a stated false-alarm rate."""

import numpy as np
import pytest
import shapely
from scipy.stats import chi2

from geotracs.answers.bins import Cells, Places
from geotracs.answers.states import CellStates, PlaceStates
from geotracs.answers.tables import operator
from geotracs.core.domains import Disc, Globe, Polygon, Rectangle, Transport
from geotracs.core.methods import Remap, make
from geotracs.core.places import Points
from tests.helpers import FALSE_ALARM

CORNER = Polygon(shapely.Polygon([(0, 0), (20, 0), (20, 8), (8, 8), (8, 20), (0, 20)]))
DRAWS = 40_000
PLACES = Points(CORNER.spread(40))
CASES = {
    "joint": ("joint", Rectangle(0, 0, 20, 10), None),
    "joint, polygon": ("joint", CORNER, None),
    "joint, polygon, rounded": ("joint", CORNER, PLACES),
    "joint, transport": ("joint", Transport(CORNER), None),
    "joint, globe": ("joint", Globe(), None),
    "tracs-c, polygon": ("tracs-c", CORNER, None),
    "tracs-c, globe": ("tracs-c", Globe(), None),
    "optimal, disc": ("optimal", Disc((0, 0), 10), None),
    "geo-ind, polygon": ("geo-ind", CORNER, None),
    "planar-laplace": ("planar-laplace", Rectangle(0, 0, 20, 10), None),
    "nearest": ("nearest", CORNER, PLACES),
}


def draw(channel, states, p, rng):
    """Return releases of locations that are distributed so over the states."""
    secrets, _, _ = states.secrets(16)
    each = len(secrets) // states.count
    some = secrets[rng.choice(states.count, DRAWS, p=p) * each + rng.integers(0, each, DRAWS)]
    return channel.sample(some, np.array([0, DRAWS]), 4.0, rng)


def agrees(operator, bins, reports, p):
    counts = np.bincount(bins.label(reports), minlength=bins.count)
    expected = DRAWS * operator.predict(p)
    some = expected > 5
    rest = [counts[~some].sum(), expected[~some].sum()]
    square = ((counts - expected)[some] ** 2 / expected[some]).sum()
    square += (rest[0] - rest[1]) ** 2 / rest[1] if rest[1] > 5 else 0
    return square < chi2.isf(FALSE_ALARM, some.sum())


@pytest.mark.parametrize("case", CASES)
def test_operators_agree_with_draws(case):
    name, domain, places = CASES[case]
    method = make(name, {"radius": 3.0} if name == "geo-ind" else None)
    channel = method.on(domain, places, 4.0)
    states = PlaceStates(places.xy) if method.over == "places" else CellStates(domain, (24, 24))
    bins = Cells(channel.release, states.shape) if places is None else Places(places.count)
    found = operator(channel, 4.0, states, bins)
    np.testing.assert_allclose(found.dense().sum(axis=0), 1, atol=1e-6)
    rng = np.random.default_rng(7)
    p = rng.dirichlet(np.full(states.count, 0.3))
    reports = draw(channel, states, p, rng)
    assert agrees(found, bins, reports, p)
    assert not agrees(found, bins, reports, np.eye(states.count)[0]), "nothing could fail here"


def test_a_remap_is_pushed_through():
    domain = Rectangle(0, 0, 20, 10)
    remap = Remap(make("tracs-c"), domain, 1.0)
    channel = make("tracs-c").on(domain, None, 1.0, None, remap)
    states = CellStates(domain, (16, 8))
    bins = Cells(channel.release, states.shape)
    found = operator(channel, 1.0, states, bins)
    np.testing.assert_allclose(found.dense().sum(axis=0), 1, atol=1e-6)
    middle = found.predict(states.prior).reshape(16, 8)
    assert middle[4:12, 2:6].sum() > 0.5  # remapped reports gather in the middle
