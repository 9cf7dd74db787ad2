import math

import numpy as np
import pytest

from geotracs.core.mechanisms.purkayastha import Purkayastha
from geotracs.core.mechanisms.truncated_laplace import TruncatedLaplace
from tests.core.mechanisms import on_unit

DOMAINS = [False, True]


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("eps", on_unit.EPSILONS)
def test_worst_ratio(eps, periodic):
    mechanism = TruncatedLaplace(eps, periodic=periodic)
    on_unit.check_ratio(mechanism, eps)
    if 0.01 <= eps <= 20:  # and nothing is wasted
        assert math.log(mechanism.worst_ratio()) == pytest.approx(eps, rel=1e-7)


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("eps", [0.01, 4.0, 300.0])
def test_exact_counts(eps, periodic):
    on_unit.check_counts(TruncatedLaplace(eps, periodic=periodic), eps)


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0, 20.0, 300.0])
def test_sampler_follows_its_density(eps, periodic):
    on_unit.check_sampler(TruncatedLaplace(eps, periodic=periodic), round(100 * eps) + periodic)


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("eps", [0.5, 6.0])
def test_expected_error(eps, power, periodic):
    on_unit.check_expected_error(TruncatedLaplace(eps, periodic=periodic), power)


@pytest.mark.parametrize("eps", [0.5, 2.0, 8.0])
def test_density_is_the_published_one(eps):
    """Holohan et al., Definition 2.1, at the middles of the steps; the scale is that of the plain Laplace mechanism."""
    mechanism = TruncatedLaplace(eps)
    y = (np.arange(4096) + 0.5) / 4096
    for x in y[[0, 700, 2048, 4095]]:
        integral = (2 - math.exp(-eps * x) - math.exp(-eps * (1 - x))) / eps
        published = np.exp(-eps * np.abs(y - x)) / integral
        assert mechanism.density(y, x) == pytest.approx(published, rel=2e-3)
        assert mechanism.density(y, x).mean() == pytest.approx(1, abs=1e-12)


def test_on_a_circle_it_is_purkayasthas():
    ours, theirs = TruncatedLaplace(3, periodic=True), Purkayastha(3)
    assert np.array_equal(ours.law.weights, theirs.law.weights)


@pytest.mark.parametrize("periodic", DOMAINS)
def test_surface(periodic):
    reports = on_unit.check_lattice(TruncatedLaplace(5.0, periodic=periodic))
    assert np.array_equal(reports * 2**32 - 0.5, np.floor(reports * 2**32))
    on_unit.check_eps_array(TruncatedLaplace, periodic)
    on_unit.check_bad_input(TruncatedLaplace, periodic)
    assert repr(TruncatedLaplace(4)) == "<TruncatedLaplace eps=4 on the unit interval>"
