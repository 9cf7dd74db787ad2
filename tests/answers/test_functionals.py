import numpy as np
import pytest

from geotracs.answers.functionals import Means
from geotracs.answers.pairs import Pairs, estimate, gravity, mixture
from geotracs.answers.products import Channels, Table
from tests.answers.test_products import EVEN, STATES, channels, drawn, window

AWAY = np.abs(np.subtract.outer(np.arange(STATES), np.arange(STATES))).astype(float)
CELLS = np.kron(np.eye(6), np.ones(2))
"""Cells of two states each."""
DISTRICTS = np.kron(np.eye(3), np.ones(2))
KINDS = gravity([EVEN, EVEN], AWAY)


def means(bins, joint, table=None):
    return Means(joint, KINDS, CELLS, DISTRICTS, [channels(bins, table)])


@pytest.fixture
def found():
    joint = 0.6 * KINDS[0] + 0.4 * KINDS[-1]
    _, bins = drawn(joint, window(), 3000, np.random.default_rng(0))
    return means(bins, joint)


def test_a_mean_is_over_the_estimate(found):
    assert found.of(AWAY) == pytest.approx(0.4 * AWAY.mean())


def test_nothing_is_unknown_about_a_constant(found):
    error = found.error(np.ones((STATES, STATES)))
    assert error.moved == pytest.approx(0, abs=0.02)
    assert error.noise < 0.02**2
    assert error.unseen < 0.1**2


def test_errors_scale_with_values(found):
    one, three = found.error(AWAY), found.error(3 * AWAY)
    assert three.moved == pytest.approx(3 * one.moved, rel=1e-6)
    assert three.unseen == pytest.approx(9 * one.unseen, rel=1e-6)
    assert three.noise == pytest.approx(9 * one.noise, rel=1e-6)


def test_reports_that_say_nothing_leave_everything_open():
    joint = KINDS[-1]
    bins = tuple(np.random.default_rng(0).integers(4, size=(2, 1000)))
    error = means(bins, joint, np.full((4, STATES), 0.25)).error(AWAY)
    staying = AWAY.mean() ** 2 / 3
    assert error.unseen > staying
    assert error.moved == pytest.approx(0, abs=1e-3)


def test_a_wrong_estimate_is_corrected():
    """Everybody stays, and the estimate says that nobody does."""
    _, bins = drawn(KINDS[0], window(), 5000, np.random.default_rng(2))
    found = means(bins, KINDS[-1])
    error = found.error(AWAY)
    spread = np.sqrt(error.noise + error.unseen)
    assert abs(found.of(AWAY) + error.moved) < 3 * spread < 0.5 * found.of(AWAY)


def test_intervals_of_lengths_cover():
    """Of 15 mean lengths, fewer than 10 would be inside once in 2,000 times if 90% are."""
    inside, table = 0, window()
    for seed in range(15):
        rng = np.random.default_rng(seed)
        joint = np.tensordot(rng.dirichlet(np.ones(len(KINDS))), np.stack(KINDS), axes=1)
        joint = joint * rng.gamma(2, size=joint.shape)
        states, bins = drawn(joint / joint.sum(), table, 1500, rng)
        pairs = [Pairs.of(table, table, *bins)]
        guess = np.tensordot(mixture(pairs, KINDS), np.stack(KINDS), axes=1)
        own = means(bins, estimate(pairs, guess))
        error, truth = own.error(AWAY), np.abs(states[0] - states[1]).mean()
        inside += abs(own.of(AWAY) + error.moved - truth) < 1.645 * np.sqrt(error.noise + error.unseen)
    assert inside >= 10


def test_several_channels_are_combined():
    joint = 0.5 * KINDS[0] + 0.5 * KINDS[-1]
    groups = []
    for seed, table in enumerate((window(), window(0.6))):
        _, bins = drawn(joint, table, 1000, np.random.default_rng(seed))
        own = Table(table, EVEN)
        groups.append(Channels((own, own), bins, np.zeros(1000, dtype=bool)))
    both, one = (Means(joint, KINDS, CELLS, DISTRICTS, own).error(AWAY) for own in (groups, groups[:1]))
    assert both.noise + both.unseen < one.noise + one.unseen
