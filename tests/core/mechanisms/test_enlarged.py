"""PM and SW: the two mechanisms whose reports may lie beyond the domain."""

import math

import numpy as np
import pytest

from geotracs import InputError
from geotracs.core.mechanisms.lattice import CELLS
from geotracs.core.mechanisms.pm import PM
from geotracs.core.mechanisms.sw import SquareWave
from tests.core.mechanisms import on_unit
from tests.core.mechanisms.exact import check_threshold

both = pytest.mark.parametrize("kind", [PM, SquareWave])
domains = pytest.mark.parametrize("periodic", [False, True])


@both
@pytest.mark.parametrize("eps", on_unit.EPSILONS)
def test_worst_ratio(kind, eps):
    mechanism = kind(eps)
    check_threshold(mechanism.threshold, eps, mechanism.window, CELLS)
    on_unit.check_ratio(mechanism, eps)


@both
@domains
@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0, 10.0])
def test_sampler_follows_its_density(kind, eps, periodic):
    on_unit.check_sampler(kind(eps, periodic=periodic), round(100 * eps) + periodic)


@both
@domains
@pytest.mark.parametrize("eps", [0.5, 2.0, 6.0])
def test_expected_error(kind, eps, periodic):
    on_unit.check_expected_error(kind(eps, periodic=periodic), tolerance=1e-3)


@both
@pytest.mark.parametrize("eps", [0.5, 2.0, 8.0])
def test_published_reports_follow_their_density(kind, eps):
    """Without clipping: normalised, and the errors are integrals of the density over the enlarged domain."""
    mechanism = kind(eps, clip=False)
    length = 1 + 2 * mechanism.margin
    y = (np.arange(2**18) + 0.5) / 2**18 * length - mechanism.margin
    for x in (0.0, 0.3, 1.0):
        density = mechanism.density(y, x) * length
        assert density.mean() == pytest.approx(1, abs=1e-4)
        for power in (1, 2):
            by_hand = np.mean(density * np.abs(y - x) ** power)
            assert float(mechanism.expected_error(x, power)) == pytest.approx(by_hand, rel=1e-3)
    assert np.all(mechanism.density([-mechanism.margin - 0.01, 1 + mechanism.margin + 0.01], 0.5) == 0)
    xs = (np.arange(2**14) + 0.5) / 2**14
    assert mechanism.expected_error() == pytest.approx(mechanism.expected_error(xs).mean(), rel=1e-6)


@both
@domains
def test_surface(kind, periodic):
    on_unit.check_lattice(kind(5.0, periodic=periodic))
    on_unit.check_eps_array(kind, periodic)
    on_unit.check_bad_input(kind, periodic)
    with pytest.raises(InputError, match="`clip=False` is for the interval"):
        kind(1, periodic=True, clip=False)


@both
def test_clipping_moves_reports_to_the_ends(kind):
    rng = np.random.default_rng(0)
    clipped, free = kind(1), kind(1, clip=False)
    draws = free.draw(1000, rng)
    x = rng.random(1000)
    assert np.array_equal(clipped.apply(x, draws), np.clip(free.apply(x, draws), 0, 1))
    assert clipped.expected_error() < free.expected_error()


@pytest.mark.parametrize("eps", [0.5, 1.0, 2.0, 4.0, 8.0])
def test_the_formulas_of_pm(eps):
    """C and p of Algorithm 2 for [-1, 1], no bias, and the variance of Lemma 1; here lengths are half as long."""
    mechanism, s, e = PM(eps, clip=False), math.exp(eps / 2), math.exp(eps)
    assert pytest.approx((s + 1) / (s - 1), rel=1e-9) == mechanism.C
    p = (e - s) / (2 * s + 2)
    inside = float(mechanism.density(0.5, 0.5)) / 2
    assert inside == pytest.approx(p, rel=1e-6)
    assert mechanism.threshold / 2**64 == pytest.approx(s / (s + 1), rel=1e-6)
    for t in (-1.0, -0.4, 0.0, 0.7, 1.0):
        x = (t + 1) / 2
        begin, end = mechanism.interval(x)
        assert 2 * begin - 1 == pytest.approx((mechanism.C + 1) / 2 * t - (mechanism.C - 1) / 2, abs=1e-7)
        assert 2 * (end - begin) == pytest.approx(mechanism.C - 1, rel=1e-6)
        variance = t**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)
        assert 4 * float(mechanism.expected_error(x, power=2)) == pytest.approx(variance, rel=1e-6)


@pytest.mark.parametrize("eps", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_the_formulas_of_the_square_wave(eps):
    """b, p and q of the square wave on [-b, 1 + b]."""
    mechanism, e = SquareWave(eps, clip=False), math.exp(eps)
    b = (eps * e - e + 1) / (2 * e * (e - 1 - eps))
    assert mechanism.b == pytest.approx(b, rel=1e-9)
    p, q = e / (2 * b * e + 1), 1 / (2 * b * e + 1)
    assert float(mechanism.density(0.4, 0.4)) == pytest.approx(p, rel=1e-6)
    assert float(mechanism.density(0.4 + 1.01 * b, 0.4)) == pytest.approx(q, rel=1e-6)
    for x in (0.0, 0.4, 1.0):
        begin, end = mechanism.interval(x)
        assert begin == pytest.approx(x - b, abs=1e-8)
        assert end == pytest.approx(x + b, abs=1e-8)


def test_half_width_of_the_wave_has_no_jump_where_the_series_takes_over():
    assert SquareWave(0.99999e-5).b == pytest.approx(SquareWave(1.00001e-5).b, rel=1e-9)
    assert SquareWave(1e-300).b == 0.5


def test_around_a_circle_the_window_of_the_wave_is_an_arc():
    mechanism = SquareWave(4.0, periodic=True)
    inside = mechanism.density([0.99, 0.01], 0.005)
    assert inside[0] == inside[1] > 1
