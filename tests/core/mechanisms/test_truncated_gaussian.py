import math

import numpy as np
import pytest
from scipy.stats import truncnorm

from geotracs.core.mechanisms.truncated_gaussian import TruncatedGaussian
from tests.core.mechanisms import on_unit

DOMAINS = [False, True]


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("eps", on_unit.EPSILONS)
def test_worst_ratio(eps, periodic):
    mechanism = TruncatedGaussian(eps, periodic=periodic)
    on_unit.check_ratio(mechanism, eps)
    if 0.01 <= eps <= 20:
        assert math.log(mechanism.worst_ratio()) == pytest.approx(eps, rel=1e-7)


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("eps", [0.01, 4.0, 300.0])
def test_exact_counts(eps, periodic):
    on_unit.check_counts(TruncatedGaussian(eps, periodic=periodic), eps)


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0, 20.0, 300.0])
def test_sampler_follows_its_density(eps, periodic):
    on_unit.check_sampler(TruncatedGaussian(eps, periodic=periodic), round(100 * eps) + periodic)


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("eps", [0.5, 6.0])
def test_expected_error(eps, power, periodic):
    on_unit.check_expected_error(TruncatedGaussian(eps, periodic=periodic), power)


@pytest.mark.parametrize("eps", [0.5, 2.0, 8.0])
def test_density_is_that_of_a_truncated_normal(eps):
    mechanism = TruncatedGaussian(eps)
    deviation = 1 / math.sqrt(2 * mechanism.size)
    y = (np.arange(4096) + 0.5) / 4096
    for x in y[[0, 700, 2048, 4095]]:
        published = truncnorm.pdf(y, -x / deviation, (1 - x) / deviation, x, deviation)
        assert mechanism.density(y, x) == pytest.approx(published, rel=5e-3)
        assert mechanism.density(y, x).mean() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("periodic", DOMAINS)
def test_surface(periodic):
    on_unit.check_lattice(TruncatedGaussian(5.0, periodic=periodic))
    on_unit.check_eps_array(TruncatedGaussian, periodic)
    on_unit.check_bad_input(TruncatedGaussian, periodic)
