import math

import numpy as np
import pytest

from geotracs import InputError
from geotracs.core.mechanisms.sdd import SDDLaplace
from tests.core.mechanisms import on_unit


@pytest.mark.parametrize("eps", on_unit.EPSILONS)
def test_worst_ratio(eps):
    mechanism = SDDLaplace(eps)
    on_unit.check_ratio(mechanism, eps)
    if 0.01 <= eps <= 20:
        assert float(mechanism.worst_ratio()) == pytest.approx(math.cosh(eps / 2), rel=1e-3)


@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0, 20.0, 300.0])
def test_sampler_follows_its_density(eps):
    on_unit.check_sampler(SDDLaplace(eps), round(100 * eps))


def test_density_is_laplace_noise_modulo_a_turn():
    mechanism, eps = SDDLaplace(4.0), 4.0
    apart = np.arange(0, 4096, 64) / 4096
    wrapped = sum(eps / 2 * np.exp(-eps * np.abs(apart + turn)) for turn in range(-20, 21))
    assert mechanism.density((0.1 + apart) % 1, 0.1) == pytest.approx(wrapped, rel=2e-3)


def test_expected_error():
    on_unit.check_expected_error(SDDLaplace(3))


def test_surface():
    on_unit.check_lattice(SDDLaplace(5.0))
    on_unit.check_eps_array(SDDLaplace, True)
    on_unit.check_bad_input(SDDLaplace, True)
    assert "not local" in SDDLaplace.caveat
    with pytest.raises(InputError, match="is for the unit circle"):
        SDDLaplace(1, periodic=False)
