"""Public models of motion: steps are exact, and lose nobody."""

import numpy as np
import pytest

from geotracs.answers.motion import BINS, JUMP, Lattice, Motion, overlaps

SQUARE = Lattice((6, 5), (100.0, 120.0), np.arange(30))
LATTICES = {
    "whole": SQUARE,
    "some cells": Lattice((6, 5), (100.0, 120.0), np.array([0, 1, 2, 7, 8, 13, 14, 20, 29])),
    "places": Lattice((6, 5), (100.0, 120.0), np.array([3, 3, 3, 8, 9, 9, 29])),
    "globe": Lattice((6, 5), (np.array([50.0, 80.0, 100.0, 80.0, 50.0]), 120.0), np.arange(30), periodic=True),
}


def weights(lattice, motion, seed=0):
    found = np.random.default_rng(seed).random((len(motion.start), len(lattice.index))).astype(np.float32)
    return found / found.sum()


@pytest.fixture(params=[(name, bins) for name in LATTICES for bins in BINS.values()], ids=str)
def moving(request):
    lattice = LATTICES[request.param[0]]
    prior = np.random.default_rng(1).random(len(lattice.index)) + 0.1
    return lattice, Motion(lattice, prior, speed=10.0, stay=0.4, bins=request.param[1])


@pytest.mark.parametrize(("shift", "reach"), [(0.0, 0.01), (0.0, 0.5), (1.3, 0.4), (-0.2, 2.5)])
def test_overlaps_are_those_of_uniform_steps(shift, reach):
    """As counted: 250,000 steps, each count within 5 standard errors; false alarms below 1e-4."""
    rng = np.random.default_rng(2)
    start, step = rng.uniform(0, 1, 250_000), rng.uniform(shift - reach, shift + reach, 250_000)
    seen = np.histogram(start + step, np.arange(-4, 6))[0] / len(start)
    assert np.allclose(overlaps(9, shift, reach)[:, 4], seen, atol=5 * 0.5 / 500)


@pytest.mark.parametrize("reach", [1e-3, 0.7, 5.0, 40.0])
def test_overlaps_on_a_circle_lose_nothing(reach):
    table = overlaps(7, 1.5, reach, periodic=True)
    assert np.allclose(table.sum(axis=0), 1, atol=1e-5)
    assert np.allclose(np.roll(table, (2, 2), axis=(0, 1)), table, atol=1e-6)


@pytest.mark.parametrize("seconds", [0.0, 3.0, 20.0, 3600.0])
def test_a_step_without_memory_loses_nobody(seconds):
    motion = Motion(SQUARE, np.random.default_rng(3).random(30), speed=10.0)
    assert motion.forward(weights(SQUARE, motion), seconds).sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("seconds", [0.0, 12.0, 200.0, np.inf])
def test_backward_is_the_transpose_of_forward(moving, seconds):
    lattice, motion = moving
    one, other = weights(lattice, motion), weights(lattice, motion, 5)
    there = np.vdot(motion.forward(one, seconds), other)
    assert np.vdot(one, motion.backward(other, seconds)) == pytest.approx(there, rel=1e-4)


def test_after_equal_times_nobody_has_moved(moving):
    lattice, motion = moving
    one = weights(lattice, motion)
    before, after = (lattice.cells(some).sum(axis=0) for some in (one, motion.forward(one, 0.0)))
    assert np.allclose(before, after, atol=JUMP + 1e-3)  # among places of one cell nobody knows


def test_a_new_trajectory_starts_anew(moving):
    lattice, motion = moving
    assert np.allclose(motion.forward(weights(lattice, motion), np.inf), motion.start, rtol=1e-4)


def test_after_a_long_time_one_stays_or_is_where_the_prior_says():
    prior = np.arange(1.0, 31.0)
    motion = Motion(SQUARE, prior, speed=10.0, stay=0.25)
    there = np.zeros((2, 30), dtype=np.float32)
    there[0, 12] = 1
    moved = motion.forward(there, 1e5).sum(axis=0)
    expected = 0.75 * prior / prior.sum() + 0.25 * (np.arange(30) == 12)
    assert np.allclose(
        moved, expected, atol=0.03
    )  # a step across the whole grid ends at its middle a little more often


def test_nobody_is_faster_than_the_speed_but_for_jumps():
    motion = Motion(SQUARE, np.ones(30), speed=10.0)
    there = np.zeros((2, 30), dtype=np.float32)
    there[0, 0] = 1
    moved = motion.forward(there, 10.0).sum(axis=0).reshape(6, 5)  # 100 m, and 9% for rounding
    assert moved[3:].max() <= JUMP
    assert moved[:, 2:].max() <= JUMP
    assert moved[1, 1] > 0.05


def test_modes_keep_their_direction():
    street = Lattice((40, 1), (100.0, 100.0), np.arange(40))
    motion = Motion(street, np.ones(40), speed=10.0, stay=0.3, bins=3)
    there = np.zeros_like(motion.start)
    there[-2, 5] = 1  # as fast as can be along the street, straight on
    for _ in range(3):
        there = motion.forward(there, 10.0)
    there /= there.sum()
    assert there.sum(axis=0) @ np.arange(40) > 5 + 1.2
    assert there[:, :5].sum() < 0.1


def test_kernels_are_few():
    motion = Motion(SQUARE, np.ones(30), speed=10.0)
    for seconds in np.geomspace(1e-3, 1e6, 2000):
        motion.forward(motion.start, float(seconds))
    assert len(motion._steps) < 150
