"""Forward-backward: exact, in bounded memory, and never lost."""

import itertools

import numpy as np
import pytest

import geotracs.answers.smoothing as smoothing
from geotracs.answers.motion import Lattice, Motion
from geotracs.answers.smoothing import smooth

LATTICE = Lattice((3, 2), (100.0, 100.0), np.arange(6))


def case(n=5, bins=1, seed=0):
    """Return random likelihoods over six cells, seconds of two trajectories, and a motion."""
    rng = np.random.default_rng(seed)
    seconds = rng.uniform(1, 40, n)
    seconds[[0, n // 2]] = np.inf
    return rng.random((n, 6)), seconds, Motion(LATTICE, rng.random(6) + 0.1, speed=5.0, bins=bins)


def posterior(reports, seconds, motion):
    found = np.full_like(reports, np.nan)
    for rows, some in smooth(lambda first, last: reports[first:last], seconds, motion):
        assert np.isnan(found[rows]).all()
        found[rows] = some
    return found


def by_enumeration(reports, seconds, motion):
    """Sum over all paths of one trajectory."""
    shape = motion.start.shape
    count, n = motion.start.size, len(reports)
    steps = []
    for after in seconds[1:]:
        rows = [motion.forward(np.eye(count, dtype=np.float32)[i].reshape(shape), after).ravel() for i in range(count)]
        steps.append(np.array(rows, dtype=np.float64))
    likelihood = np.tile(reports, (1, shape[0]))
    found = np.zeros((n, count))
    for path in itertools.product(range(count), repeat=n):
        weight = motion.start.ravel()[path[0]] * likelihood[0, path[0]]
        for row in range(1, n):
            weight *= steps[row - 1][path[row - 1], path[row]] * likelihood[row, path[row]]
        found[np.arange(n), path] += weight
    found = found.reshape(n, *shape).sum(axis=1)
    return found / found.sum(axis=1, keepdims=True)


def test_all_paths_count():
    reports, seconds, motion = case(3)
    seconds[1] = 10.0  # one trajectory
    assert np.allclose(posterior(reports, seconds, motion), by_enumeration(reports, seconds, motion), atol=1e-5)


@pytest.mark.parametrize("bins", [1, 3])
def test_trajectories_are_apart(bins):
    reports, seconds, motion = case(40, bins)
    halves = [posterior(reports[part], seconds[part], motion) for part in (slice(0, 20), slice(20, 40))]
    assert np.allclose(posterior(reports, seconds, motion), np.vstack(halves), atol=1e-5)


@pytest.mark.parametrize("memory", [1, 100, 400, 1000])
def test_what_is_computed_again_is_the_same(memory, monkeypatch):
    reports, seconds, motion = case(90)
    expected = posterior(reports, seconds, motion)
    monkeypatch.setattr(smoothing, "MEMORY", memory)
    assert np.allclose(posterior(reports, seconds, motion), expected, atol=1e-6)


def test_memory_is_bounded_for_a_long_trajectory(monkeypatch):
    """Of n rows sqrt(n) at a time, and the last of each such part."""
    monkeypatch.setattr(smoothing, "MEMORY", 1)
    parts, forward = [], smoothing._forward
    monkeypatch.setattr(smoothing, "_forward", lambda *rest: parts.append(len(rest[0])) or forward(*rest))
    seconds = np.append(np.inf, np.full(899, 10.0))
    sizes = [len(some) for _, some in smooth(lambda first, last: np.ones((last - first, 6)), seconds, case()[2])]
    assert sum(sizes) == 900
    assert max(parts) <= 31
    assert len(parts) <= 2 * 30


def test_each_row_is_a_distribution_whatever_is_reported():
    reports, seconds, motion = case(30)
    reports[3] = 0  # nothing explains it
    reports[5:9] = np.eye(6)[[0, 5, 0, 5]]  # nobody is that fast
    reports[10:20] *= 1e-200
    reports[20:] *= 1e200
    found = posterior(reports, seconds, motion)
    assert np.isfinite(found).all()
    assert np.allclose(found.sum(axis=1), 1, atol=1e-5)


def test_contradictions_over_a_long_time_stay_in_range():
    lattice = Lattice((64, 1), (100.0, 100.0), np.arange(64))
    motion = Motion(lattice, np.ones(64), speed=0.1)
    reports = np.full((400, 64), 1e-9)
    reports[:200, 0] = 1
    reports[200:, 63] = 1
    found = posterior(reports, np.append(np.inf, np.full(399, 5.0)), motion)
    assert found.argmax(axis=1).tolist() == [0] * 200 + [63] * 200


def test_no_row():
    assert list(smooth(lambda first, last: np.ones((0, 6)), np.zeros(0), case()[2])) == []
