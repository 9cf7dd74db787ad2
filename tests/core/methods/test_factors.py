import numpy as np
import pytest

from geotracs.core.domains import Globe, Rectangle
from geotracs.core.methods import make
from geotracs.core.methods.factors import Cover, Flat

FINE = 3000


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("width", [0.03, 0.47, 0.8])
def test_a_table_is_the_integral_of_its_density(periodic, width):
    axis = Cover(1.3, width, periodic)
    y = (np.arange(12 * FINE) + 0.5) / (12 * FINE)
    np.testing.assert_allclose(axis.table(12, 7), axis.at(y, 7).reshape(12, FINE, 7).mean(axis=1) / 12, atol=1e-8)
    np.testing.assert_allclose(axis.table(12, 7).sum(axis=0), 1.3 * width)


@pytest.mark.parametrize("name", ["joint", "tracs-c"])
@pytest.mark.parametrize("domain", [Rectangle(0, 0, 20, 10), Globe()], ids=["rectangle", "globe"])
def test_factors_are_the_density_of_the_method(name, domain):
    method = make(name)
    factors = method.factors(2.0, domain)
    if factors is None:  # stretched windows
        assert name == "joint"
        assert domain.in_degrees
        return
    fine = 400  # cells so narrow that the secret is their middle
    chart, cells = domain.chart, np.array([[120, 30], [0, 399], [399, 200]])
    x, y = (cells + 0.5) / fine, np.array([[0.31, 0.07], [0.9, 0.93]])
    found = sum(one.at(y[:, 0], fine)[:, cells[:, 0]] * two.at(y[:, 1], fine)[:, cells[:, 1]] for one, two in factors)
    expected = method.density(chart.from_unit(y), chart.from_unit(x), 2.0, domain)
    np.testing.assert_allclose(found.T, expected * chart.stretch(y), rtol=1e-6)


def test_laws_of_all_windows_have_all_of_their_mass():
    for window in ("ogpm", "pm", "sw", "truncated-gaussian"):
        factors = make("tracs-c", {"window": window}).factors(2.0, Rectangle(0, 0, 1, 1))
        np.testing.assert_allclose(factors[0][0].table(10, 4).sum(axis=0), 1)
    assert Flat(2.0).at(np.zeros(3), 2).tolist() == [[2.0, 2.0]] * 3


def test_methods_without_products_say_so():
    assert make("tracs-d").factors(2.0, Rectangle(0, 0, 1, 1)) is None
