import numpy as np
import pytest
from scipy.sparse import csr_array

from geotracs.answers.operators import Dense, Observed, Pushed, Separable

RNG = np.random.default_rng(1)


def columns(rows, states):
    table = RNG.random((rows, states))
    return table / table.sum(axis=0)


@pytest.fixture(scope="module", params=["dense", "separable", "some states", "pushed"])
def operator(request):
    if request.param == "dense":
        return Dense(columns(5, 4))
    states = np.arange(6) if request.param == "separable" else np.array([0, 2, 5])
    product = Separable([(columns(4, 2), columns(5, 3)), (columns(4, 2) / 9, columns(5, 3))], states)
    if request.param != "pushed":
        return product
    return Pushed(csr_array(columns(7, 20)), product)


@pytest.mark.parametrize("several", [(), (3,)])
def test_products_are_those_of_the_whole_table(operator, several):
    table = operator.dense()
    assert table.shape == operator.shape
    p, v = RNG.random((operator.shape[1], *several)), RNG.random((operator.shape[0], *several))
    np.testing.assert_allclose(operator.predict(p), table @ p, rtol=1e-12)
    np.testing.assert_allclose(operator.adjoint(v), table.T @ v, rtol=1e-12)
    which = np.array([2, 0, 2])
    np.testing.assert_allclose(operator.rows(which), table[which], rtol=1e-12)


def test_observed_counts():
    assert Observed(Dense(columns(3, 2)), np.array([1, 2, 3])).total == 6


def test_no_rows_are_none():
    product = Separable([(columns(4, 2), columns(5, 3))], np.arange(6))
    assert product.rows(np.zeros(0, dtype=int)).shape == (0, 6)
