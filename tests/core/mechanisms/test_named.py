import numpy as np
import pytest

from geotracs import InputError
from geotracs.core.mechanisms.named import BESIDE, NAMED, make
from geotracs.core.mechanisms.piecewise import WINDOWS


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("name", [*WINDOWS, *NAMED])
def test_every_name_works_on_both_domains_and_with_many_epsilons(name, periodic):
    for eps in (2.0, np.array([1.0, 2.0, 2.0])):
        mechanism = make(name, eps, periodic=periodic)
        assert mechanism.periodic is periodic
        x = np.array([0.0, 0.4, 1.0])
        reports = mechanism.sample(x)
        assert np.all((reports >= 0) & (reports <= 1))
        assert np.all(mechanism.density(reports, x) > 0)
        assert np.all(mechanism.expected_error(x) > 0)
        assert np.all(mechanism.expected_error() > 0)


def test_those_for_directions_only_have_a_partner():
    assert {name for name, kind in NAMED.items() if not kind.on_interval} == set(BESIDE)
    assert all(kind.on_circle for kind in NAMED.values())
    assert {name for name, kind in NAMED.items() if kind.caveat} == {"sdd"}


def test_unknown_name():
    with pytest.raises(InputError, match="`mechanism` must be one of"):
        make("gauss", 1.0)
