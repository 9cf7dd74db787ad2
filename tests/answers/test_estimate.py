import numpy as np
import pytest

import geotracs.answers.estimate as module
from geotracs.answers.estimate import chosen, estimate, held_out, path, run
from geotracs.answers.operators import Dense, Observed
from geotracs.errors import InputError

STATES = 12
EVEN = np.full(STATES, 1 / STATES)


def window(inside=0.8, width=3):
    """A window of some bins around each of a row of states, moved inside at the ends."""
    table = np.full((STATES, STATES), (1 - inside) / (STATES - width))
    for state in range(STATES):
        first = min(max(state - width // 2, 0), STATES - width)
        table[first : first + width, state] = inside / width
    return Dense(table)


def likelihood(observed, p):
    return sum(float(seen.counts @ np.log(seen.operator.predict(p))) for seen in observed)


@pytest.fixture
def truth():
    return np.random.default_rng(3).dirichlet(np.full(STATES, 0.5))


@pytest.fixture
def observed(truth):
    channel = window()
    return [Observed(channel, np.random.default_rng(4).multinomial(5000, channel.predict(truth)))]


def test_every_iteration_raises_the_likelihood(observed):
    steps = path(observed, [observed[0].counts[:, None].astype(float)], EVEN[:, None], 500)
    found = [likelihood(observed, step.p[:, 0]) for step in steps]
    assert len(found) > 20
    assert np.all(np.diff(found) > 0)


def test_large_steps_go_the_way_of_small_ones(observed):
    """Iterations of EM as they are written in books, one by one."""
    p, channel, counts = EVEN, observed[0].operator, observed[0].counts
    steps = {step.iterations: step.p[:, 0] for step in path(observed, [counts[:, None]], EVEN[:, None], 300)}
    assert list(steps)[:11] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12]
    for number in range(301):
        if number in steps:
            assert np.allclose(steps[number], p, atol=0 if number == 0 else 5e-3)
        p = p * channel.adjoint(counts / channel.predict(p)) / counts.sum()
    assert np.allclose(run(observed, EVEN, 1), EVEN * channel.adjoint(counts / channel.predict(EVEN)) / counts.sum())


def test_expected_counts_give_the_truth_in_the_end():
    """An invertible channel and no noise: the maximum of the likelihood is known."""
    channel, truth = window(0.9, 1), np.arange(1, STATES + 1) / np.arange(1, STATES + 1).sum()
    found = run([Observed(channel, 1e6 * channel.predict(truth))], EVEN, 500)
    assert np.allclose(found, truth, atol=1e-9)


def test_reports_count_alike_however_they_are_divided(observed):
    """Over two epsilons that are the same, or one bin for each report up to a factor of its own."""
    whole = run(observed, EVEN, 20)
    channel, counts = observed[0].operator, observed[0].counts
    halves = [Observed(channel, counts // 2), Observed(channel, counts - counts // 2)]
    assert np.allclose(run(halves, EVEN, 20), whole)
    single = np.repeat(np.arange(STATES), counts)
    factors = np.random.default_rng(1).uniform(0.1, 10, len(single))[:, None]
    assert np.allclose(run([Observed(Dense(factors * channel.rows(single)), np.ones(len(single)))], EVEN, 20), whole)


def test_two_channels_together_are_better_than_each(truth):
    """The distance to the truth, mean of 10 draws; the difference is many standard errors."""
    rng, found = np.random.default_rng(8), []
    channels = [window(0.8, 5), window(0.7, 3)]
    for _ in range(10):
        seen = [Observed(channel, rng.multinomial(2000, channel.predict(truth))) for channel in channels]
        estimates = [estimate(some, EVEN).p for some in (seen[:1], seen[1:], seen)]
        found.append([np.abs(p - truth).sum() for p in estimates])
    one, other, both = np.mean(found, axis=0)
    assert both < min(one, other)


def test_it_stops_early_and_is_better_for_it(truth):
    rng, channel, found = np.random.default_rng(5), window(0.6, 5), []
    for _ in range(10):
        seen = [Observed(channel, rng.multinomial(500, channel.predict(truth)))]
        stopped = estimate(seen, EVEN)
        assert stopped.weight is None
        raw = seen[0].counts / 500
        found.append([np.abs(p - truth).sum() for p in (stopped.p, run(seen, EVEN, 2000), raw)])
    stopped, to_the_end, raw = np.mean(found, axis=0)
    assert stopped < to_the_end
    assert stopped < raw


def test_the_smallest_number_within_one_nat_is_chosen(observed):
    done, curve = held_out(observed, EVEN)
    number = chosen(curve)
    assert curve[number] >= curve.max() - 1
    assert np.all(curve[:number] < curve.max() - 1)
    assert done[-2] < 2 * done[number] + module.WAIT <= done[-1]
    assert np.array_equal(curve, held_out(observed, EVEN)[1])  # the same reports, the same folds


def test_reports_that_say_nothing_leave_the_start_as_it_is(truth):
    """Epsilon of about 0: every state reports alike."""
    counts = np.random.default_rng(0).multinomial(1000, EVEN)
    seen = [Observed(Dense(np.full((STATES, STATES), 1 / STATES)), counts)]
    found = estimate(seen, EVEN)
    assert found.iterations == 0
    assert np.allclose(found.p, EVEN)
    found = estimate(seen, EVEN, truth)
    assert (found.iterations, found.weight) == (0, 1.0)
    assert np.allclose(found.p, truth)


def test_a_good_prior_helps_and_is_never_worse_than_itself(truth):
    rng, channel = np.random.default_rng(6), window(0.5, 5)
    prior = truth * rng.uniform(0.5, 2, STATES)
    prior /= prior.sum()
    found = []
    for n in (100, 1000, 10_000, 100_000):
        for _ in range(2):
            seen = [Observed(channel, rng.multinomial(n, channel.predict(truth)))]
            estimates = [estimate(seen, EVEN, prior).p, prior, estimate(seen, EVEN).p]
            found.append([np.abs(p - truth).sum() for p in estimates])
    with_prior, alone, without = np.reshape(found, (4, 2, 3)).mean(axis=1).T
    assert np.all(with_prior <= alone + 1e-3)
    assert np.all(with_prior <= without)
    assert with_prior[-1] < 0.7 * alone[-1]


def test_a_wrong_prior_gives_way(truth):
    """One that has nothing where most locations are, too."""
    wrong = np.where(truth < np.median(truth), 1.0, 0.0)
    channel = window()
    seen = [Observed(channel, np.random.default_rng(2).multinomial(20_000, channel.predict(truth)))]
    found = estimate(seen, EVEN, wrong)
    alone = np.abs(wrong / wrong.sum() - truth).sum()
    assert found.weight < 0.5
    assert np.abs(found.p - truth).sum() < alone / 2


def test_a_prior_with_nothing_in_the_region_is_refused(observed):
    for prior in (np.zeros(STATES), np.full(STATES, np.nan)):
        with pytest.raises(InputError, match="`prior` has nothing inside the region"):
            estimate(observed, EVEN, prior)
