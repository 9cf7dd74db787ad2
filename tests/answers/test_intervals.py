import numpy as np
import pytest
from scipy.sparse import csr_array

import geotracs.answers.intervals as intervals
from geotracs.answers.estimate import estimate
from geotracs.answers.intervals import ALPHA, FLOOR, spread
from geotracs.answers.operators import Dense, Observed
from tests.answers.test_estimate import EVEN, STATES, window

ROW = np.column_stack([np.arange(STATES) + 0.5, np.zeros(STATES)])
EACH = csr_array(np.eye(STATES))
NOTHING = Dense(np.full((STATES, STATES), 1 / STATES))


@pytest.fixture
def truth():
    return np.random.default_rng(3).dirichlet(np.full(STATES, 0.5))


def likely(p):
    return (1 - FLOOR) * p + FLOOR * EVEN


def test_exact_reports_have_the_variance_of_counting(truth):
    n = 1000
    counts = np.random.default_rng(0).multinomial(n, truth)
    found = spread([Observed(Dense(np.eye(STATES)), counts)], counts / n, EVEN, EACH, ROW, 1.0)
    mean = likely(counts / n)
    away = (ALPHA + 1) / (n + ALPHA + 1) * (mean - counts / n)
    assert np.allclose(found.centre - found.share, away / 2)
    assert np.allclose(found.deviation**2, mean * (1 - mean) / (n + ALPHA + 1) + (away / 2) ** 2)


def test_reports_that_say_nothing_leave_the_variance_of_the_prior(truth):
    counts = np.random.default_rng(0).multinomial(10_000, EVEN)
    found = spread([Observed(NOTHING, counts)], truth, EVEN, EACH, ROW, 1.0)
    mean = likely(truth)
    half = (mean - truth) / 2
    assert np.allclose(found.deviation**2, mean * (1 - mean) / (ALPHA + 1) + half**2)
    low, high = found.bounds(0.9)
    assert np.all(high - low > truth)


def test_bounds_hold_the_estimate_and_widen_with_the_level(truth):
    channel = window()
    counts = np.random.default_rng(1).multinomial(2000, channel.predict(truth))
    found = spread([Observed(channel, counts)], truth, EVEN, EACH, ROW, 3.0)
    before = found.bounds(0.5)
    for level in (0.8, 0.95):
        low, high = found.bounds(level)
        assert np.all((low >= 0) & (low <= truth) & (truth <= high) & (high <= 1))
        assert np.all((low <= before[0]) & (before[1] <= high))
        before = low, high


def test_more_reports_and_a_second_epsilon_narrow_it(truth):
    channel, weak = window(), window(0.5)
    one = Observed(channel, 1000 * channel.predict(truth))
    more = Observed(channel, 4000 * channel.predict(truth))
    other = Observed(weak, 1000 * weak.predict(truth))
    few, many, both = (spread(seen, truth, EVEN, EACH, ROW, 3.0).deviation for seen in ([one], [more], [one, other]))
    assert np.all(many < few)
    assert np.all(both < few)


def test_all_of_the_region_is_certain(truth):
    channel = window()
    counts = np.random.default_rng(1).multinomial(2000, channel.predict(truth))
    found = spread([Observed(channel, counts)], truth, EVEN, csr_array(np.ones((1, STATES))), ROW, 3.0)
    assert np.allclose([found.share, found.centre, found.deviation], [[1], [1], [0]], atol=1e-12)


def test_single_reports_say_what_their_bins_say(truth):
    """Up to what counts differ from their expectation."""
    channel, n = window(), 20_000
    counts = np.random.default_rng(1).multinomial(n, channel.predict(truth))
    single = np.repeat(np.arange(STATES), counts)
    binned, alone = (
        spread([seen], truth, EVEN, EACH, ROW, 3.0)
        for seen in (Observed(channel, counts), Observed(Dense(7 * channel.rows(single)), np.ones(n)))
    )
    assert np.allclose(binned.deviation, alone.deviation, rtol=0.1)
    assert np.allclose(binned.centre, alone.centre, atol=0.01)


def test_states_taken_together_are_less_certain(truth, monkeypatch):
    """Where a zone is a part of a group, nothing tells how the group is divided."""
    channel = window()
    counts = np.random.default_rng(1).multinomial(2000, channel.predict(truth))
    alone = spread([Observed(channel, counts)], truth, EVEN, EACH, ROW, 3.0).deviation
    monkeypatch.setattr(intervals, "MAX_GROUPS", 6)
    monkeypatch.setattr(intervals, "PER_WINDOW", 1.5)  # two states to a box
    together = spread([Observed(channel, counts)], truth, EVEN, EACH, ROW, 3.0).deviation
    assert together.sum() > alone.sum()
    mean = likely(truth)
    assert np.all(together**2 <= mean * (1 - mean) / (ALPHA + 1) + 1e-4)  # at most what the prior says


def test_many_zones_of_a_narrow_window_are_done_in_parts(monkeypatch):
    """In parts it is nearly what it is at once."""
    n = 64
    table = np.full((n, n), 0.1 / n)
    table[np.arange(n), np.arange(n)] += 0.9
    row, even, each = np.column_stack([np.arange(n), np.zeros(n)]), np.full(n, 1 / n), csr_array(np.eye(n))
    p = np.random.default_rng(2).dirichlet(np.ones(n))
    seen = [Observed(Dense(table), 5000 * (table @ p))]
    at_once = spread(seen, p, even, each, row, 1.0).deviation
    monkeypatch.setattr(intervals, "MAX_GROUPS", 16)
    monkeypatch.setattr(intervals, "AT_ONCE", 10)
    assert len(list(intervals._parts(each, row, 1.0))) == 7
    assert np.allclose(spread(seen, p, even, each, row, 1.0).deviation, at_once, rtol=0.1)


def test_intervals_cover():
    """Of 90 made-up towns of 12 states and three zones each, 90% intervals cover 85% of the zones at least.

    Coverage is about 97%; by chance it would be below 85% less than once in a million runs.
    """
    rng, covered = np.random.default_rng(7), []
    zones = csr_array(np.kron(np.eye(3), np.ones((1, 4))))
    for number in range(90):
        truth = rng.dirichlet(np.full(STATES, [0.2, 1.0, 5.0][number % 3]))
        channel = window([0.4, 0.6, 0.9][number // 3 % 3], 5)
        n = int(rng.choice([300, 3000]))
        seen = [Observed(channel, rng.multinomial(n, channel.predict(truth)))]
        low, high = spread(seen, estimate(seen, EVEN).p, EVEN, zones, ROW, 5.0).bounds(0.9)
        covered.append((low <= zones @ truth) & (zones @ truth <= high))
    assert np.mean(covered) >= 0.85
