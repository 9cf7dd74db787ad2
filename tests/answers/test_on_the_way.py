from types import SimpleNamespace

import numpy as np
import pytest

from geotracs.answers.on_the_way import ASTRAY, FRACTIONS, Way, likelihood
from geotracs.answers.states import CellStates
from geotracs.core.domains import Rectangle

STATES = CellStates(Rectangle(0, 0, 5, 1), (5, 1))


def test_where_one_is_on_the_way():
    states = Way(STATES).states
    assert states[0, :, 3].tolist() == [0, 1, 2, 3, 4]
    assert states[FRACTIONS, :, 3].tolist() == [3] * 5
    assert states[FRACTIONS // 2, 0, 4] == 2
    assert states[FRACTIONS // 4, 4, 0] == 3


def test_who_is_near_a_state():
    """A report that is possible from the middle only: of those there, beside it, and astray."""
    near = Way(STATES).near(np.array([[0.0, 0.0, 7.0, 0.0, 0.0]]))[0]
    assert near == pytest.approx((1 - ASTRAY) * np.array([0, 1 / 3, 1 / 3, 1 / 3, 0]) + ASTRAY / 5)


def reader(table):
    """A reader of reports with these likelihoods."""
    return SimpleNamespace(likelihood=lambda states, rows: table[rows])


def test_reports_on_the_way_by_hand():
    """Three reports of one trip, after a quarter of the time; two of another; and one without any duration."""
    table = np.random.default_rng(0).random((8, 5)) + 0.1
    seconds = np.array([0.0, 30.0, 120.0, 50.0, 60.0, 7.0, 7.0, 7.0])
    rows = np.array([[0, 3, 5], [2, 4, 7]])
    ends = np.array([[[0, 1, 4], [2, 3, 4], [1, 2, 3]], [[4, 2, 0], [0, 0, 0], [3, 3, 3]]])
    found = likelihood(reader(table), STATES, ends, rows, seconds)
    near = Way(STATES).near(table)
    expected = near[1, [1, 1, 3]]  # the nearest to a quarter of 0 to 4, 1 to 2 and 4 to 0
    assert found[0] == pytest.approx(expected / expected.max())
    assert found[1].tolist() == [1, 1, 1]
    assert found[2] == pytest.approx(near[6, [1, 2, 3]] / near[6, [1, 2, 3]].max())


def test_many_reports_do_not_underflow():
    n = 2000
    rng = np.random.default_rng(1)
    ends, rows = rng.integers(0, 5, (2, 1, 16)), np.array([[0], [n - 1]])
    found = likelihood(reader(rng.random((n, 5)) ** 9), STATES, ends, rows, np.arange(n, dtype=float))
    assert np.isfinite(found).all()
    assert found.max() == 1
