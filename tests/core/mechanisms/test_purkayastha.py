import math

import numpy as np
import pytest

from geotracs import InputError
from geotracs.core.mechanisms.purkayastha import Purkayastha
from tests.core.mechanisms import on_unit


@pytest.mark.parametrize("eps", on_unit.EPSILONS)
def test_worst_ratio(eps):
    on_unit.check_ratio(Purkayastha(eps), eps)


@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0, 20.0, 300.0])
def test_sampler_follows_its_density(eps):
    on_unit.check_sampler(Purkayastha(eps), round(100 * eps))


def test_expected_error():
    on_unit.check_expected_error(Purkayastha(3))


@pytest.mark.parametrize("eps", [0.5, 2.0, 8.0])
def test_density_is_the_published_one(eps):
    """Per radian kappa / (2 (1 - exp(-kappa pi))) exp(-kappa angle), and the mean angle that follows from it."""
    mechanism, kappa = Purkayastha(eps), eps / math.pi
    assert mechanism.kappa == pytest.approx(kappa, rel=1e-9)
    turns = np.arange(0, 2049, 64) / 4096
    published = 2 * math.pi * kappa / (2 * -math.expm1(-kappa * math.pi)) * np.exp(-kappa * 2 * math.pi * turns)
    assert mechanism.density((0.1 + turns) % 1, 0.1) == pytest.approx(published, rel=2e-3)
    mean = 1 / kappa - math.pi / math.expm1(kappa * math.pi)
    assert mechanism.expected_error() * 2 * math.pi == pytest.approx(mean, rel=1e-5)


def test_surface():
    on_unit.check_lattice(Purkayastha(5.0))
    on_unit.check_eps_array(Purkayastha, True)
    on_unit.check_bad_input(Purkayastha, True)
    with pytest.raises(InputError, match="is for the unit circle"):
        Purkayastha(1, periodic=False)
