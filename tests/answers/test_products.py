import numpy as np
import pytest

from geotracs.answers.pairs import Pairs, estimate
from geotracs.answers.products import Channels, Estimate, Table, intervals

STATES, ZONES = 12, 3
SHARES = np.kron(np.eye(ZONES), np.ones(STATES // ZONES))
"""Zones of four states each."""
EVEN = np.full(STATES, 1 / STATES)


def window(inside=0.8, width=3):
    """A window of some bins around each of a row of states, moved inside at the ends."""
    table = np.full((STATES, STATES), (1 - inside) / (STATES - width))
    for state in range(STATES):
        first = min(max(state - width // 2, 0), STATES - width)
        table[first : first + width, state] = inside / width
    return table


def drawn(joint, table, n, rng):
    """States and bins of both ends."""
    states = np.divmod(rng.choice(joint.size, n, p=joint.ravel()), STATES)
    bins = [(rng.random((n, 1)) > np.cumsum(table[:, end], axis=0).T).sum(axis=1) for end in states]
    return states, tuple(bins)


def channels(bins, table=None, linked=None, p=EVEN):
    own = Table(window() if table is None else table, p)
    return Channels((own, own), bins, np.zeros(len(bins[0]), dtype=bool) if linked is None else linked)


def test_scores_tell_zones_apart_where_reports_do():
    (u,) = Table(np.eye(STATES), EVEN).scores(SHARES, [1e9])
    assert np.allclose(u, SHARES.T, atol=1e-4)


def test_the_mean_of_a_score_is_near_1_in_its_zone():
    table = Table(window(), EVEN)
    few, many = (table.mean(u) for u in table.scores(SHARES, [100, 1e8]))
    assert np.allclose(many, SHARES.T, atol=0.02)
    assert np.abs(few - SHARES.T).max() > 0.1


def test_scores_of_reports_that_say_nothing_are_what_zones_hold():
    p = np.arange(1, STATES + 1) / 78
    (u,) = Table(np.full((5, STATES), 0.2), p).scores(SHARES, [1e4])
    assert np.allclose(u, SHARES @ p)


def test_a_table_with_a_bin_for_each_report_has_about_the_same_scores():
    """Of 20,000 reports the mean over bins is known to about 1%."""
    rng = np.random.default_rng(0)
    _, (bins, _) = drawn(np.full((STATES, STATES), 1 / STATES**2), window(), 20_000, rng)
    rows = np.arange(len(bins))
    alone = Table(7.0 * window()[bins], EVEN).seen(rows)  # likelihoods are known up to a factor
    (u,), (v,) = Table(window(), EVEN).scores(SHARES, [1e3]), alone.scores(SHARES, [1e3])
    assert np.allclose(v, u[bins], atol=0.1)
    assert np.allclose(alone.mean(v), Table(window(), EVEN).mean(u), atol=0.1)


def test_reports_tell_more_through_a_narrow_window():
    tables = [
        Table(table, EVEN).telling for table in (np.full((4, STATES), 0.25), window(0.5, 5), window(), np.eye(STATES))
    ]
    assert np.all(np.diff(tables) > 0)
    assert tables[0] == pytest.approx(0, abs=1e-12)
    assert tables[-1] == pytest.approx(STATES - 1)


def covered(level, n, draws, table, groups=1):
    """How often flows between zones are in their intervals, and how wide those are beside the largest flow."""
    inside, wide = [], []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        joint = rng.dirichlet(np.full(STATES**2, 0.05)).reshape(STATES, STATES)
        states, bins = drawn(joint, table, n, rng)
        truth = np.zeros((ZONES, ZONES))
        np.add.at(truth, tuple(end // 4 for end in states), 1 / n)
        parts = np.array_split(np.arange(n), groups)
        f = estimate([Pairs.of(table, table, *(end[own] for end in bins)) for own in parts], np.full((12, 12), 1 / 144))
        p = f.sum(axis=0) + f.sum(axis=1) + 1e-6
        own = [channels(tuple(end[part] for end in bins), table, p=p / p.sum()) for part in parts]
        low, high = intervals(Estimate(f, np.eye(STATES), SHARES), own, level)
        inside.append((low <= truth) & (truth <= high))
        wide.append((high - low).max() / truth.max())
    return np.mean(inside), np.mean(wide)


@pytest.mark.parametrize(("n", "groups"), [(300, 1), (3000, 2)])
def test_intervals_cover(n, groups):
    """10 x 9 flows: fewer than 78% would be inside about once in 2,000 times if 90% are covered independently."""
    found, wide = covered(0.9, n, 10, window(), groups)
    assert found > 0.78
    assert wide < (1.5 if n == 300 else 0.6)


def test_a_higher_level_is_wider():
    wide = [covered(level, 1000, 1, window())[1] for level in (0.5, 0.9, 0.99)]
    assert np.all(np.diff(wide) > 0)


def test_what_says_nothing_has_intervals_of_nearly_everything():
    bins = tuple(np.random.default_rng(0).integers(4, size=(2, 1000)))
    even = Estimate(np.full((STATES, STATES), 1 / 144), np.eye(STATES), SHARES)
    low, high = intervals(even, [channels(bins, np.full((4, STATES), 0.25))], 0.9)
    assert np.all(low == 0)
    assert np.all(high > 0.3)


def test_neighbours_that_share_a_report_make_intervals_wider():
    """A report that is used twice is not two reports: pairs that are all there twice."""
    rng = np.random.default_rng(1)
    _, bins = drawn(np.full((STATES, STATES), 1 / 144), window(), 1000, rng)
    twice = tuple(np.repeat(end, 2) for end in bins)
    even = Estimate(np.full((STATES, STATES), 1 / 144), np.eye(STATES), SHARES)
    wide = []
    for linked in (np.zeros(2000, dtype=bool), np.arange(2000) % 2 == 0):
        low, high = intervals(even, [channels(twice, linked=linked)], 0.9)
        wide.append((high - low).sum())
    assert wide[1] > 1.1 * wide[0]


def test_the_estimate_is_in_its_interval():
    """Even where the scores say something else."""
    bins = (np.zeros(500, dtype=np.int64), np.zeros(500, dtype=np.int64))
    even = Estimate(np.full((STATES, STATES), 1 / 144), np.eye(STATES), SHARES)
    low, high = intervals(even, [channels(bins)], 0.9)
    assert np.all((low <= even.flows) & (even.flows <= high))
    assert low.min() >= 0
    assert high.max() <= 1
