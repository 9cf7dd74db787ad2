import numpy as np
import pytest
from scipy.stats import chi2

from geotracs.core.mechanisms.weighted import HEAVIEST, MAX_WEIGHTS, below, draw, probabilities
from tests.core.mechanisms.exact import Script
from tests.helpers import FALSE_ALARM


def test_every_result_is_drawn_by_equally_many_words():
    """On the ends of the 64 bits: of 2**64 words, those beyond the last multiple of the limit are drawn again."""
    for limit in (1, 3, 10**6, 2**62 + 1, 2**63 - 1):
        last = (2**64 // limit) * limit - 1  # the last word that counts
        limits = np.array([limit], dtype=np.uint64)
        assert below(limits, Script(np.array([last], dtype=np.uint64))).tolist() == [limit - 1]
        if last < 2**64 - 1:
            rng = Script(np.array([last + 1], dtype=np.uint64), np.array([0], dtype=np.uint64))
            assert below(limits, rng).tolist() == [0]
            assert rng.words == []


def test_each_target_has_its_column():
    """All the numbers below the sum of the weights, one by one: each column comes out as often as it weighs."""
    weights = np.array([[3, 0, 2, 1], [0, 5, 0, 0], [1, 1, 1, 4]])
    for row, total in enumerate(weights.sum(axis=1)):
        rows = np.full(total, row)
        words = Script(np.arange(total, dtype=np.uint64))
        assert np.bincount(draw(weights, rows, words), minlength=4).tolist() == weights[row].tolist()


def test_the_heaviest_rows_do_not_overflow():
    weights = np.full((2, MAX_WEIGHTS // 2), HEAVIEST)
    last = np.array([2**64 - 1, 0], dtype=np.uint64)
    columns = draw(weights, np.array([1, 0]), Script(last))
    assert columns.tolist() == [MAX_WEIGHTS // 2 - 1, 0]


def test_sampler_follows_its_probabilities():
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 1000, (3, 40)) * (rng.random((3, 40)) < 0.7)
    rows = np.repeat([2, 0, 1], 100_000)
    columns = draw(weights, rows, rng)
    for row in range(3):
        expected = probabilities(weights)[row] * 100_000
        observed = np.bincount(columns[rows == row], minlength=40)
        assert not observed[expected == 0].any()
        used = expected > 0
        statistic = np.sum((observed - expected)[used] ** 2 / expected[used])
        assert statistic < chi2.isf(FALSE_ALARM, used.sum() - 1)


def test_no_draw():
    assert len(draw(np.ones((1, 3), dtype=np.int64), np.arange(0), np.random.default_rng(0))) == 0
    assert probabilities(np.array([[1, 3]])) == pytest.approx(np.array([[0.25, 0.75]]))
