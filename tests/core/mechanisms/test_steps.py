import math
from fractions import Fraction

import numpy as np
import pytest

from geotracs.core.mechanisms.lattice import WORDS
from geotracs.core.mechanisms.steps import LIGHTEST, PEAK, STEPS, Steps, _high_half, weights

LAWS = [
    Steps(np.array([4, 2, 1]), False),
    Steps(np.array([7, 7, 5, 1, 1, 1]), False),
    Steps(np.array([10**15, 10**15 - 1, 3, 3, 2]), False),
    Steps(np.array([5, 3, 2, 1]), True),
    Steps(np.array([PEAK, PEAK // 3, LIGHTEST]), True),
    Steps(np.array([1, 1, 1, 1]), False),
]


def by_hand(law):
    """The whole matrix of weights, from the definition."""
    i = np.arange(law.steps)
    apart = np.abs(i[:, None] - i)
    return law.weights[np.minimum(apart, law.steps - apart) if law.periodic else apart]


@pytest.mark.parametrize("law", LAWS)
def test_counts_are_the_words_that_report_each_step(law):
    """The first and the last word of every step, found by bisection over all 2**64 words."""
    matrix = by_hand(law)
    for secret in range(law.steps):
        total = int(matrix[secret].sum())
        assert total == law.totals[secret]
        counts = law.counts(secret)
        assert sum(counts) == WORDS
        for weight, count in zip(matrix[secret].tolist(), counts, strict=True):
            assert 0 <= count - weight * WORDS // total <= 1
        order = [(secret + d) % law.steps for d in (law._turn if law.periodic else range(-secret, law.steps - secret))]
        first = 0
        for step in order:
            ends = np.array([first, first + counts[step] - 1], dtype=np.uint64)
            assert law.find(np.array([secret, secret]), ends).tolist() == [step, step]
            first += counts[step]


@pytest.mark.parametrize("law", LAWS)
def test_worst_ratio_covers_all_pairs(law):
    """Every secret against every other, at every report, by the exact counts; the bound is loose by a word at most."""
    rows = [law.counts(secret) for secret in range(law.steps)]
    worst = max(Fraction(a, b) for step in zip(*rows, strict=True) for a in step for b in step)
    assert worst <= law.worst_ratio() <= worst * (1 + Fraction(4 * int(law.totals.max()), WORDS))


def test_worst_ratio_of_random_laws():
    """The preselection in doubles and the argument about the first step, against all pairs in fractions."""
    rng = np.random.default_rng(2)
    for periodic in (False, True):
        for _ in range(100):
            law = Steps(np.sort(rng.integers(1, 10 ** rng.integers(1, 12), rng.integers(2, 9)))[::-1].copy(), periodic)
            matrix = by_hand(law)
            shares = [[Fraction(int(w), int(row.sum())) for w in row] for row in matrix]
            worst = max(a / b for step in zip(*shares, strict=True) for a in step for b in step)
            assert float(law.worst_ratio()) == pytest.approx(float(worst), rel=1e-6)
            assert law.worst_ratio() >= worst


def test_high_half_is_exact():
    rng = np.random.default_rng(3)
    a = np.append(rng.integers(0, 2**64 - 1, 1000, dtype=np.uint64, endpoint=True), np.uint64(2**64 - 1))
    b = np.append(rng.integers(0, 2**63, 1000, dtype=np.uint64), np.uint64(2**63 - 1))
    assert _high_half(a, b).tolist() == [x * y >> 64 for x, y in zip(a.tolist(), b.tolist(), strict=True)]


def test_weights_never_increase_and_are_never_too_light():
    exponents = np.linspace(0, 800, STEPS)
    whole = weights(exponents)
    assert whole[0] == PEAK
    assert whole[-1] == LIGHTEST
    assert np.all(np.diff(whole) <= 0)
    assert np.all(np.abs(np.log(whole[exponents < 28] / PEAK) + exponents[exponents < 28]) < 2e-3)
    # All sums fit.
    assert (2 * STEPS - 1) * PEAK < 2**63


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("power", [1, 2, 3])
def test_mean_error_is_the_sum_over_steps(law, power):
    x = np.array([0.0, 0.01, 0.4, 0.77, 1.0])
    y = (np.arange(law.steps * 20_000) + 0.5) / (law.steps * 20_000)
    secrets = np.minimum((x * law.steps).astype(int), law.steps - 1)
    for i, value in enumerate(x):
        apart = np.abs(y - value)
        apart = np.minimum(apart, 1 - apart) if law.periodic else apart
        row = by_hand(law)[secrets[i]]
        expected = np.average(apart**power, weights=np.repeat(row, 20_000))
        assert law.mean_error(x, power)[i] == pytest.approx(expected, rel=1e-6)


def test_the_ratio_of_the_library_is_as_logarithms_say():
    law = Steps(weights(np.linspace(0, 3, STEPS)), False)
    assert math.log(law.worst_ratio()) == pytest.approx(3, abs=1e-9)
