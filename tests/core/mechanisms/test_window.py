import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from geotracs import InputError
from geotracs.core.mechanisms import Window
from geotracs.core.mechanisms import window as module
from geotracs.core.mechanisms.lattice import WORDS, cells_of
from geotracs.core.mechanisms.window import PLAIN, SIDE, STRETCHES
from tests.core.mechanisms.exact import EPSILONS, check_threshold
from tests.helpers import FALSE_ALARM

SIZES = [(0.5, 0.5), (0.3, 0.2), (0.001, 0.9), (1.0, 0.5), (0.0, 0.0)]
MIXED = np.random.default_rng(0).integers(0, len(STRETCHES), (16, 16))


def test_threshold_is_the_largest_that_is_private():
    for eps, size in itertools.product(EPSILONS, SIZES):
        mechanism = Window(eps, *size)
        inside, t, cells = mechanism.columns * mechanism.rows, mechanism.threshold, SIDE * SIDE
        assert isinstance(inside, int)
        assert mechanism.cells == inside <= cells // 2
        check_threshold(t, eps, inside, cells)
        assert Fraction(t, inside) >= Fraction(WORDS - t, cells - inside)


@pytest.mark.parametrize("number", range(len(STRETCHES)))
@pytest.mark.parametrize("size", [*SIZES, (0.3, 0.3), (0.0123, 0.0457), (1e-8, 0.01)])
def test_every_stretched_window_has_the_same_number_of_cells(size, number):
    """Exactly: it is what the promise rests on."""
    mechanism = Window(3.0, *size, stretch=np.full((16, 16), number))
    secret = [np.zeros(1, dtype=np.uint32)] * 2
    columns, rows = (int(side[0]) for side in mechanism._sides(secret))
    assert columns * rows == mechanism.cells
    assert 1 <= min(columns, rows) <= max(columns, rows) <= SIDE
    if mechanism.columns * STRETCHES[number] <= SIDE and mechanism.rows / STRETCHES[number] <= SIDE:
        assert columns == mechanism.columns * STRETCHES[number]


def test_multiples_are_whole_for_every_stretch():
    assert all((module.MULTIPLE * Fraction(times)).denominator == 1 for times in STRETCHES.tolist())
    assert all((module.MULTIPLE / Fraction(times)).denominator == 1 for times in STRETCHES.tolist())


@pytest.mark.parametrize(
    ("base", "other"), [((4, 6), (8, 3)), ((4, 6), (2, 12)), ((4, 6), (4, 6)), ((2, 4), (8, 1)), ((5, 13), (5, 13))]
)
def test_stretching_maps_the_cells_one_to_one(monkeypatch, base, other):
    """On a lattice of 13 x 13, all of it: the window goes to the stretched window, the rest to the rest."""
    monkeypatch.setattr(module, "SIDE", 13)
    column, row = (a.ravel().astype(np.uint64) for a in np.meshgrid(np.arange(13), np.arange(13)))
    numbers = module._numbers(column, row, *base)
    assert sorted(numbers.tolist()) == list(range(169))
    inside = (column < base[0]) & (row < base[1])
    moved = module._in_order(numbers, *(np.full(169, side, dtype=np.uint64) for side in other))
    assert len(set(zip(*(part.tolist() for part in moved), strict=True))) == 169
    assert np.array_equal((moved[0] < other[0]) & (moved[1] < other[1]), inside)
    if other == base:
        assert np.array_equal(moved, [column, row])


@pytest.mark.parametrize("periodic", [(False, False), (True, False)])
def test_every_secret_reaches_every_cell_once_and_its_window_first(monkeypatch, periodic):
    """All draws for all secrets on a lattice of 16 x 16, with windows of 4 x 4, 8 x 2 and 2 x 8 cells.

    A draw is uniform inside the first 4 x 4 or uniform outside it, so that this is the whole distribution.
    """
    monkeypatch.setattr(module, "SIDE", 16)
    monkeypatch.setattr(module, "MULTIPLE", 2)
    monkeypatch.setattr(module, "STRETCHES", np.array([0.5, 1.0, 2.0]))
    module._two_levels.cache_clear()
    mechanism = Window(2.0, 0.25, 0.25, periodic=periodic, stretch=np.random.default_rng(0).integers(0, 3, (4, 4)))
    module._two_levels.cache_clear()
    draws = np.stack(np.meshgrid(np.arange(16), np.arange(16), indexing="ij")).reshape(2, -1).astype(np.uint32)
    inside = (draws < 4).all(axis=0)
    for secret in draws.T:
        x = np.tile((secret + 0.5) / 16, (256, 1))
        reports = np.floor(mechanism.apply(x, draws) * 16).astype(int)
        assert len(np.unique(reports, axis=0)) == 256
        window = reports[inside]
        assert secret.tolist() in window.tolist()
        assert np.all(mechanism.density((reports + 0.5) / 16, x[:1]) == np.where(inside, *mechanism._heights))


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_cells_elsewhere_are_never_inside(n):
    columns, rows = np.uint64(SIDE - 5), np.uint64(SIDE // 2)
    found = module._elsewhere(np.asarray(columns), np.asarray(rows), n, np.random.default_rng(0))
    assert found.shape == (2, n)
    assert np.all((found[0] >= columns) | (found[1] >= rows))
    assert np.all(found < SIDE)


@pytest.mark.parametrize("periodic", [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("stretch", [None, MIXED], ids=["plain", "stretched"])
@pytest.mark.parametrize("x", [(0.0, 0.0), (0.5, 0.5), (0.03, 0.6), (1.0, 0.99)])
def test_sampler_follows_its_density(periodic, stretch, x):
    """Chi-squared over 16 x 16 cells and the borders of the window, at the corners and the seam too."""
    mechanism = Window(3.0, 0.25, 0.125, periodic=periodic, stretch=stretch)
    n = 300_000
    reports = mechanism.apply(np.tile(x, (n, 1)), mechanism.draw(n, np.random.default_rng(7)))
    edges = [_edges(reports[:, axis], mechanism, np.array([x]), axis) for axis in (0, 1)]
    observed = np.histogram2d(*reports.T, bins=edges)[0]
    middles = [(e[:-1] + e[1:]) / 2 for e in edges]
    y = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, 2)
    area = np.outer(*(np.diff(e) for e in edges))
    expected = mechanism.density(y, np.array([x])).reshape(area.shape) * area
    assert expected.sum() == pytest.approx(1, abs=1e-5)
    enough = expected * n >= 5
    statistic = np.sum((observed - expected * n)[enough] ** 2 / (expected * n)[enough])
    assert statistic < chi2.isf(FALSE_ALARM, enough.sum())


def _edges(reports, mechanism, x, axis):
    cells = [cells_of(x[:, i], SIDE) for i in (0, 1)]
    side = mechanism._sides(cells)[axis]
    first = int(mechanism._first(cells[axis], side, axis).item() & (SIDE - 1))
    borders = [first / SIDE, ((first + int(np.ravel(side)[0])) % SIDE) / SIDE]
    edges = np.unique(np.concatenate([np.linspace(0, 1, 17), borders]))
    edges = edges[np.append(True, np.diff(edges) > 1e-7)]
    edges[-1] = 1.0
    return edges


@pytest.mark.parametrize("periodic", [(False, False), (True, False)])
@pytest.mark.parametrize("stretch", [None, MIXED], ids=["plain", "stretched"])
def test_window_holds_the_secret_and_stays_inside(periodic, stretch):
    mechanism = Window(3.0, 0.2, 0.3, periodic=periodic, stretch=stretch)
    x = np.random.default_rng(0).random((20_000, 2))
    x[:100], x[100:200] = 0, 1
    inside, outside = mechanism._heights
    assert np.all(mechanism.density(x, x) == inside)
    cells = [cells_of(x[:, axis], SIDE) for axis in (0, 1)]
    for axis, side in enumerate(mechanism._sides(cells)):
        first = mechanism._first(cells[axis], side, axis).astype(np.int64)
        if not periodic[axis]:
            assert first.min() == 0
            assert np.all(first + side.astype(np.int64) <= SIDE)
    area = mechanism.cells / SIDE**2
    assert inside * area + outside * (1 - area) == pytest.approx(1, abs=1e-12)
    assert inside / outside == pytest.approx(math.exp(3), rel=1e-9)


def test_reports_are_functions_of_cells_only():
    for stretch in (None, MIXED):
        mechanism = Window(5.0, 0.1, 0.2, stretch=stretch)
        rng = np.random.default_rng(1)
        x = rng.random((5000, 2))
        draws = mechanism.draw(5000, rng)
        reports = mechanism.apply(x, draws)
        assert np.array_equal(reports * SIDE - 0.5, np.floor(reports * SIDE))
        # Secrets in the same cell cannot be told apart: the middle of the cell gives the same report.
        assert np.array_equal(mechanism.apply((cells_of(x, SIDE) + 0.25) / SIDE, draws), reports)


@pytest.mark.parametrize("periodic", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("size", [(1.0, 1.0), (2.0, 10.0)])
def test_expected_error_is_the_integral_of_the_density(periodic, size):
    mechanism = Window(2.0, 0.4, 0.25, periodic=periodic)
    steps = (np.arange(400) + 0.5) / 400
    y = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    for x in [(0.0, 0.0), (0.1, 0.5), (0.45, 0.97)]:
        apart = np.abs(y - x)
        apart = np.where(periodic, np.minimum(apart, 1 - apart), apart) * size
        by_hand = np.mean(mechanism.density(y, np.array([x])) * np.hypot(*apart.T))
        assert mechanism.expected_error(np.array([x]), size).item() == pytest.approx(by_hand, rel=2e-3)
    x = np.random.default_rng(0).random((100_000, 2))
    assert mechanism.expected_error(size=size) == pytest.approx(mechanism.expected_error(x, size).mean(), rel=2e-3)


def test_epsilon_may_differ_per_location():
    eps = np.repeat([0.5, 8.0], 50_000)
    width = np.where(eps < 1, 0.6, 0.1)
    mechanism = Window(eps, width, width)
    x = np.tile((0.5, 0.3), (100_000, 1))
    reports = mechanism.apply(x, mechanism.draw(100_000, np.random.default_rng(3)))
    error = np.hypot(*(reports - x).T)
    for part, one in ((error[:50_000], Window(0.5, 0.6, 0.6)), (error[50_000:], Window(8.0, 0.1, 0.1))):
        # Six standard errors: a false alarm in 5e8.
        assert part.mean() == pytest.approx(one.expected_error(x[:1]).item(), abs=6 * part.std() / math.sqrt(50_000))
    assert int(mechanism.threshold[0]) == Window(0.5, 0.6, 0.6).threshold
    stretched = Window(eps, width, width, stretch=MIXED)
    cells = list(np.random.default_rng(1).integers(0, SIDE, (2, 100_000), dtype=np.uint32))
    columns, rows = stretched._sides(cells)
    assert np.all(columns * rows == stretched.cells)


def test_sample_without_rng_and_repr():
    mechanism = Window(4, 0.2, 0.2)
    assert mechanism.sample([[0.2, 0.9]]).shape == (1, 2)
    assert repr(mechanism) == "<Window eps=4 on the unit square>"
    assert repr(Window(np.array([1.0, 2.0]), 0.1, 0.1)) == "<Window eps=2 values on the unit square>"
    assert STRETCHES[PLAIN] == 1


def test_bad_arguments():
    for eps in (0, -1, math.nan, 700, "4", [1.0, -1.0]):
        with pytest.raises(InputError, match="`eps` must be"):
            Window(eps, 0.1, 0.1)
    for size in [(0.9, 0.9), (1.1, 0.1), (-0.1, 0.1), (1.0, math.nan)]:
        with pytest.raises(InputError, match="at most half of the square"):
            Window(1, *size)
    for x in ([[0.1, 1.1]], [[0.1, np.nan]], [[0.1, 0.2, 0.3]]):
        with pytest.raises(InputError, match="rows of two numbers"):
            Window(1, 0.1, 0.1).sample(x)
    with pytest.raises(InputError, match="2 values, but 3 draws"):
        Window(np.array([1.0, 2.0]), 0.1, 0.1).draw(3, np.random.default_rng(0))


def test_many_epsilons_are_those_of_one_each():
    rng = np.random.default_rng(3)
    eps = 2.0 ** (rng.integers(0, 3000, 20_000) / 320 - 1)
    width = np.minimum(0.7, 1 / eps)
    for height in (width, rng.choice([0.1, 0.2], len(eps))):  # a function of epsilon, and not
        many = Window(eps, width, height)
        for row in (0, 1, 77, 19_999):
            one = Window(float(eps[row]), width[row], height[row])
            assert (many.columns[row], many.rows[row]) == (one.columns, one.rows)
            assert int(many.threshold[row]) == one.threshold
