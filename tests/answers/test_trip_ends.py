import numpy as np
import pytest
from scipy.stats import chi2

from geotracs.answers.states import CellStates
from geotracs.answers.trip_ends import Ends, choose, draw, joint_shares
from geotracs.core.domains import Rectangle
from tests.helpers import FALSE_ALARM

TABLES = (
    np.array([[0.7, 0.1, 0.2], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7]]),
    np.array([[0.8, 0.1, 0.0], [0.1, 0.7, 0.1], [0.1, 0.2, 0.9]]),
)
STATES = CellStates(Rectangle(0, 0, 3, 1), (3, 1))
JOINT = np.array([[0.0, 0.4, 0.1], [0.1, 0.0, 0.2], [0.1, 0.1, 0.0]])


def reported(n, rng):
    """The bins of both ends of n trips."""
    begin, end = np.divmod(rng.choice(9, n, p=JOINT.ravel()), 3)
    return choose(TABLES[0][:, begin].T, rng), choose(TABLES[1][:, end].T, rng)


def test_choose_follows_the_weights():
    weights = np.array([0.0, 1.0, 3.0, 0.0, 4.0])
    counts = np.bincount(choose(np.tile(weights, (80_000, 1)), np.random.default_rng(0)), minlength=5)
    assert counts[[0, 3]].tolist() == [0, 0]
    expected = 80_000 * weights[[1, 2, 4]] / 8
    assert np.sum((counts[[1, 2, 4]] - expected) ** 2 / expected) < chi2.isf(FALSE_ALARM, 2)


def test_ends_are_drawn_from_their_posterior():
    """Of one trip, both ends together: chi-squared over the six pairs that there are."""
    n = 100_000
    group = Ends(*TABLES, np.array([2]), np.array([0]), np.array([0]))
    begin, end = group.draw(JOINT, np.zeros(n, dtype=int), np.random.default_rng(1))
    expected = (TABLES[0][2][:, None] * JOINT * TABLES[1][0]).ravel()
    expected *= n / expected.sum()
    counts, some = np.bincount(3 * begin + end, minlength=9), expected > 0
    assert counts[~some].sum() == 0
    assert np.sum((counts - expected)[some] ** 2 / expected[some]) < chi2.isf(FALSE_ALARM, 5)


def test_groups_are_drawn_from_by_the_number_of_the_trip():
    """Trips of two groups whose tables tell the state for sure."""
    sure = np.eye(3)
    one = Ends(sure, sure, np.array([0, 1]), np.array([1, 2]), np.array([2, 0]))
    other = Ends(sure, sure, np.array([2]), np.array([0]), np.array([1]))
    found = draw([one, other], np.full((3, 3), 1 / 9), np.array([0, 1, 2, 1]), np.random.default_rng(2))
    assert found.tolist() == [[1, 2, 0, 2], [2, 0, 1, 0]]


def test_the_joint_distribution_is_found_from_one_or_several_groups():
    rng = np.random.default_rng(3)
    bins = reported(20_000, rng)
    whole = [Ends(*TABLES, *bins, np.arange(20_000))]
    halves = [
        Ends(*TABLES, *(side[part] for side in bins), np.arange(20_000)[part])
        for part in (slice(0, None, 2), slice(1, None, 2))
    ]
    for groups in (whole, halves):
        found, gain = joint_shares(groups, STATES, rng)
        assert gain > 1000
        assert found.sum() == pytest.approx(1)
        assert found.sum(axis=1) == pytest.approx(JOINT.sum(axis=1), abs=0.02)
        assert np.abs(found - JOINT).max() < 0.03


def test_trips_with_tables_of_their_own_give_the_same(monkeypatch):
    monkeypatch.setattr("geotracs.answers.trip_ends.MAX_APART", 2500)
    rng, n = np.random.default_rng(4), 3000
    one, other = reported(n, rng)
    own = np.arange(n)
    apart = Ends(TABLES[0][one], TABLES[1][other], own, own, own)
    together = Ends(*TABLES, one, other, own)
    assert apart.apart
    assert not together.apart
    assert len(apart.pairs(rng).counts) == 2500
    found = [joint_shares([group], STATES, rng)[0].sum(axis=1) for group in (apart, together)]
    assert found[0] == pytest.approx(found[1], abs=0.05)
