import numpy as np
import pytest
from scipy.sparse import csr_array

from geotracs.answers.estimate import estimate
from geotracs.answers.intervals import spread
from geotracs.answers.operators import Observed
from geotracs.answers.robust import excess, piles, share_of, unseen
from geotracs.errors import InputError
from tests.answers.test_estimate import EVEN, STATES, window
from tests.answers.test_intervals import EACH, ROW

SHARE = 0.05


def seen(n=5000, seed=0, inside=0.8, width=5):
    rng, channel = np.random.default_rng(seed), window(inside, width)
    truth = rng.dirichlet(np.full(STATES, 0.5))
    return Observed(channel, rng.multinomial(n, channel.predict(truth)))


def test_shares():
    assert [share_of(robust) for robust in (False, True, 0.1, 0)] == [0, 0.05, 0.1, 0]
    for robust in (0.5, -0.1, "yes", np.nan):
        with pytest.raises(InputError, match="`robust` must be"):
            share_of(robust)


def test_honest_reports_are_rarely_flagged():
    """Of 100 towns at most 6 with anything flagged: with a rate of 1% for each, more happen once in 20,000 runs."""
    flagged = [bool(excess([one], EVEN)[0].any()) for one in (seen(3000, seed) for seed in range(100))]
    assert sum(flagged) <= 6


@pytest.mark.parametrize("target", [0, 5, 11])
def test_a_pile_is_flagged_and_nothing_else(target):
    honest = seen()
    counts = honest.counts.copy()
    counts[target] += 800
    found = excess([Observed(honest.operator, counts)], EVEN)[0]
    assert found[target] == pytest.approx(800, rel=0.4)
    assert np.flatnonzero(found).tolist() == [target]
    number, where = piles([Observed(honest.operator, counts)], EVEN, ROW)
    assert number == pytest.approx(found[target])
    assert abs(where[0, 0] - ROW[target, 0]) <= 2


def test_nothing_is_flagged_without_piles():
    number, where = piles([seen()], EVEN, ROW)
    assert number.shape == (0,)
    assert where.shape == (0, 2)


@pytest.mark.parametrize("malicious", [0.02, 0.1])
@pytest.mark.parametrize("inside", [0.5, 0.9])
def test_no_attack_moves_more_than_what_is_said(malicious, inside):
    """Attacks on each of three zones: people who are there, reports that leave the noise out, reports elsewhere."""
    rng, honest = np.random.default_rng(3), seen(4000, 1, inside, 3)
    zones = csr_array(np.kron(np.eye(3), np.ones((1, 4))))
    before = estimate([honest], EVEN).p
    args = ([honest], before, EVEN, zones, ROW, 3.0)
    found = spread(*args, unseen=unseen([honest], before), malicious=malicious)
    assert np.all((found.raised > 0) & (found.lowered > 0))
    plain = spread(*args)
    assert np.all(found.bounds(0.9)[0] <= plain.bounds(0.9)[0])
    assert np.all(found.bounds(0.9)[1] >= plain.bounds(0.9)[1])
    made_up = int(malicious * 4000)
    kept = rng.multivariate_hypergeometric(honest.counts, 4000 - made_up)
    for zone in range(3):
        own = zones[[zone]].toarray()[0]
        for attack in (honest.operator.predict(own / own.sum()), own / own.sum(), (1 - own) / (1 - own).sum()):
            poisoned = Observed(honest.operator, kept + rng.multinomial(made_up, attack))
            moved = zones @ (estimate([poisoned], EVEN).p - before)
            assert np.all(moved <= found.raised + 0.02)
            assert np.all(-moved <= found.lowered + 0.02)


def test_more_malicious_reports_move_more():
    honest, raised = seen(), []
    p = estimate([honest], EVEN).p
    for malicious in (0.01, 0.05, 0.2):
        args = ([honest], p, EVEN, EACH, ROW, 3.0)
        raised.append(spread(*args, unseen=unseen([honest], p), malicious=malicious).raised)
    assert np.all(np.diff(raised, axis=0) > 0)
