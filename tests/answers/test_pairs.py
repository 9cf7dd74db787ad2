import numpy as np
import pytest

import geotracs.answers.pairs as module
from geotracs.answers.pairs import Pairs, estimate, gravity, mixture

CELLS = 6
EVEN = np.full((CELLS, CELLS), 1 / CELLS**2)


def blurred(right=0.7):
    """A report is the cell with some probability, and otherwise one beside it."""
    table = right * np.eye(CELLS)
    for cell in range(CELLS):
        for beside in (max(cell - 1, 0), min(cell + 1, CELLS - 1)):
            table[beside, cell] += (1 - right) / 2
    return table


def drawn(joint, table, n, seed=0):
    """Bins of both ends of n pairs."""
    rng = np.random.default_rng(seed)
    cells = np.divmod(rng.choice(joint.size, n, p=joint.ravel()), CELLS)
    return [(rng.random((n, 1)) > np.cumsum(table[:, end], axis=0).T).sum(axis=1) for end in cells]


@pytest.fixture
def joint():
    return np.random.default_rng(3).dirichlet(np.full(CELLS**2, 0.3)).reshape(CELLS, CELLS)


@pytest.fixture
def pairs(joint):
    return Pairs.of(blurred(), blurred(), *drawn(joint, blurred(), 4000))


def likelihood(pairs, f):
    return float(pairs.counts @ np.log(pairs.predict(f)))


def test_equal_pairs_are_counted():
    found = Pairs.of(blurred(), blurred(), np.array([0, 5, 0]), np.array([3, 1, 3]))
    assert (found.rows.tolist(), found.columns.tolist(), found.counts.tolist()) == ([0, 5], [3, 1], [2, 1])
    assert found.total == 3


def test_few_and_many_pairs_are_computed_alike(pairs, joint, monkeypatch):
    values = np.random.default_rng(0).random(len(pairs.rows))
    whole = blurred() @ joint @ blurred().T
    assert np.allclose(pairs.predict(joint), whole[pairs.rows, pairs.columns])
    back = pairs.adjoint(values)
    assert np.isclose((back * joint).sum(), values @ pairs.predict(joint))
    monkeypatch.setattr(module, "DENSER", 0)
    again = Pairs(*(getattr(pairs, name) for name in ("first", "second", "rows", "columns", "counts")))
    assert np.allclose(again.predict(joint), pairs.predict(joint))
    assert np.allclose(again.adjoint(values), back)


def test_an_end_alone_has_the_counts_of_its_bins(pairs):
    for number, bins in enumerate((pairs.rows, pairs.columns)):
        end = pairs.end(number)
        assert np.array_equal(np.bincount(end.rows, end.counts), np.bincount(bins, pairs.counts))
        p = np.full((CELLS, 1), 1 / CELLS)
        assert np.allclose(end.predict(p), (blurred() @ p)[end.rows, 0])


def test_every_step_raises_the_likelihood(pairs):
    f, found = EVEN, []
    for _ in range(20):
        f = module._step([pairs], [pairs.counts], f)
        found.append(likelihood(pairs, f))
    assert np.all(np.diff(found) > 0)
    assert np.isclose(f.sum(), 1)


def test_expected_counts_give_the_truth_in_the_end(joint):
    table = blurred(0.9)
    rows, columns = np.divmod(np.arange(CELLS**2), CELLS)
    exact = Pairs(table, table, rows, columns, 1e6 * (table @ joint @ table.T).ravel())
    f = EVEN
    for _ in range(2000):
        f = module._step([exact], [exact.counts], f)
    assert np.abs(f - joint).max() < 1e-4


def test_pairs_count_alike_however_they_are_divided(pairs):
    half = pairs.counts // 2
    parts = [Pairs(pairs.first, pairs.second, pairs.rows, pairs.columns, c) for c in (half, pairs.counts - half)]
    whole = module._step([pairs], [pairs.counts], EVEN)
    assert np.allclose(module._step(parts, [part.counts for part in parts], EVEN), whole)


def test_the_estimate_is_nearer_to_the_truth_than_the_counts(pairs, joint):
    counted = np.zeros((CELLS, CELLS))
    counted[pairs.rows, pairs.columns] = pairs.counts / pairs.total
    found = estimate([pairs], EVEN)
    assert np.abs(found - joint).sum() < 0.5 * np.abs(counted - joint).sum()


def test_reports_that_say_nothing_leave_the_start():
    nothing = np.full((CELLS, CELLS), 1 / CELLS)
    start = np.arange(1, CELLS**2 + 1).reshape(CELLS, CELLS) / (CELLS**2 * (CELLS**2 + 1) / 2)
    found = estimate([Pairs.of(nothing, nothing, *drawn(EVEN, nothing, 500))], start)
    assert np.allclose(found, start)


def test_parts_add_up_and_are_the_same_each_time():
    counts = np.array([7.0, 0, 1, 100])
    parts = module._thinned(counts)
    assert len(parts) == module.FOLDS
    assert np.array_equal(sum(parts), counts)
    assert all(np.array_equal(*both) for both in zip(parts, module._thinned(counts), strict=True))


@pytest.mark.parametrize("cells", [1, CELLS])
def test_kinds_of_trips_begin_where_trips_begin(cells):
    first, second = np.random.default_rng(1).dirichlet(np.ones(cells), 2)
    away = np.abs(np.subtract.outer(np.arange(cells), np.arange(cells))).astype(float)
    kinds = gravity([first, second], away)
    assert len(kinds) == len(module.RANGES) + 2
    for kind in kinds[1:]:
        assert np.allclose(kind.sum(axis=1), first)
    means = [(kind * away).sum() for kind in kinds]
    assert np.all(np.diff(means) >= 0)  # from staying to going anywhere


def test_a_mixture_is_found_again():
    table, ends = blurred(), np.full(CELLS, 1 / CELLS)
    kinds = gravity([ends, ends], np.abs(np.subtract.outer(np.arange(CELLS), np.arange(CELLS))).astype(float))
    truth = 0.7 * kinds[0] + 0.3 * kinds[-1]
    pairs = Pairs.of(table, table, *drawn(truth, table, 20_000))
    found = mixture([pairs], kinds)
    assert np.isclose(found.sum(), 1)
    counted = np.zeros((CELLS, CELLS))
    counted[pairs.rows, pairs.columns] = pairs.counts / pairs.total
    # Kinds are alike, so that their weights need not be those of the truth.
    error = np.abs(np.tensordot(found, np.stack(kinds), axes=1) - truth).sum()
    assert error < 0.15 * np.abs(counted - truth).sum()


def test_without_pairs_a_mixture_is_what_was_expected():
    table, expected = blurred(), np.array([0.9, *np.zeros(5), 0.1])
    kinds = gravity([np.full(CELLS, 1 / CELLS)] * 2, 1 - np.eye(CELLS))
    none = np.empty(0, dtype=np.int64)
    assert np.allclose(mixture([Pairs.of(table, table, none, none)], kinds, expected), expected)
