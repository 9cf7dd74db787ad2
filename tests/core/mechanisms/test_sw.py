import math

import numpy as np
import pytest

from geotracs import InputError
from geotracs.core.mechanisms.lattice import CELLS
from geotracs.core.mechanisms.sw import SquareWave
from tests.core.mechanisms import on_unit
from tests.core.mechanisms.exact import check_threshold

DOMAINS = [False, True]


@pytest.mark.parametrize("eps", on_unit.EPSILONS)
def test_worst_ratio(eps):
    mechanism = SquareWave(eps)
    check_threshold(mechanism.threshold, eps, mechanism.window, CELLS)
    on_unit.check_ratio(mechanism, eps)


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0, 10.0])
def test_sampler_follows_its_density(eps, periodic):
    on_unit.check_sampler(SquareWave(eps, periodic=periodic), round(100 * eps) + periodic)


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("eps", [0.5, 2.0, 6.0])
def test_expected_error(eps, power, periodic):
    on_unit.check_expected_error(SquareWave(eps, periodic=periodic), power, tolerance=1e-3)


@pytest.mark.parametrize("eps", [0.5, 2.0, 8.0])
def test_published_reports_follow_their_density(eps):
    """Without clipping: normalised, and the errors are integrals of the density over the enlarged domain."""
    mechanism = SquareWave(eps, clip=False)
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


@pytest.mark.parametrize("periodic", DOMAINS)
def test_surface(periodic):
    on_unit.check_lattice(SquareWave(5.0, periodic=periodic))
    on_unit.check_eps_array(SquareWave, periodic)
    on_unit.check_bad_input(SquareWave, periodic)
    with pytest.raises(InputError, match="`clip=False` is for the interval"):
        SquareWave(1, periodic=True, clip=False)


@pytest.mark.parametrize("eps", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_the_publications_formulas(eps):
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


def test_half_width_has_no_jump_where_the_series_takes_over():
    assert SquareWave(0.99999e-5).b == pytest.approx(SquareWave(1.00001e-5).b, rel=1e-9)
    assert SquareWave(1e-300).b == 0.5


def test_around_a_circle_the_window_is_an_arc():
    mechanism = SquareWave(4.0, periodic=True)
    inside = mechanism.density([0.99, 0.01], 0.005)
    assert inside[0] == inside[1] > 1
