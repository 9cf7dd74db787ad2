"""The truncated Laplace and the truncated Gaussian mechanism: steps of a falling law."""

import math

import numpy as np
import pytest
from scipy.stats import truncnorm

from geotracs.core.mechanisms.purkayastha import Purkayastha
from geotracs.core.mechanisms.truncated_gaussian import TruncatedGaussian
from geotracs.core.mechanisms.truncated_laplace import TruncatedLaplace
from tests.core.mechanisms import on_unit

both = pytest.mark.parametrize("kind", [TruncatedLaplace, TruncatedGaussian])
domains = pytest.mark.parametrize("periodic", [False, True])


@both
@domains
@pytest.mark.parametrize("eps", on_unit.EPSILONS)
def test_worst_ratio(kind, eps, periodic):
    mechanism = kind(eps, periodic=periodic)
    on_unit.check_ratio(mechanism, eps)
    if 0.01 <= eps <= 20:  # and nothing is wasted
        assert math.log(mechanism.worst_ratio()) == pytest.approx(eps, rel=1e-7)


@both
@domains
@pytest.mark.parametrize("eps", [0.01, 4.0, 300.0])
def test_exact_counts(kind, eps, periodic):
    on_unit.check_counts(kind(eps, periodic=periodic), eps)


@both
@domains
@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0, 20.0, 300.0])
def test_sampler_follows_its_density(kind, eps, periodic):
    on_unit.check_sampler(kind(eps, periodic=periodic), round(100 * eps) + periodic)


@both
@domains
@pytest.mark.parametrize("eps", [0.5, 6.0])
def test_expected_error(kind, eps, periodic):
    on_unit.check_expected_error(kind(eps, periodic=periodic))


def laplace(mechanism, y, x):
    """Holohan et al., Definition 2.1; the scale is that of the plain Laplace mechanism."""
    eps = mechanism.eps
    return np.exp(-eps * np.abs(y - x)) * eps / (2 - math.exp(-eps * x) - math.exp(-eps * (1 - x)))


def gaussian(mechanism, y, x):
    deviation = 1 / math.sqrt(2 * mechanism.size)
    return truncnorm.pdf(y, -x / deviation, (1 - x) / deviation, x, deviation)


@pytest.mark.parametrize(
    ("kind", "published", "tolerance"), [(TruncatedLaplace, laplace, 2e-3), (TruncatedGaussian, gaussian, 5e-3)]
)
@pytest.mark.parametrize("eps", [0.5, 2.0, 8.0])
def test_density_is_the_published_one(kind, published, tolerance, eps):
    """At the middles of the steps."""
    mechanism = kind(eps)
    y = (np.arange(4096) + 0.5) / 4096
    for x in y[[0, 700, 2048, 4095]]:
        assert mechanism.density(y, x) == pytest.approx(published(mechanism, y, x), rel=tolerance)
        assert mechanism.density(y, x).mean() == pytest.approx(1, abs=1e-12)


def test_laplace_on_a_circle_is_purkayasthas():
    ours, theirs = TruncatedLaplace(3, periodic=True), Purkayastha(3)
    assert np.array_equal(ours.law.weights, theirs.law.weights)


@both
@domains
def test_surface(kind, periodic):
    reports = on_unit.check_lattice(kind(5.0, periodic=periodic))
    assert np.array_equal(reports * 2**32 - 0.5, np.floor(reports * 2**32))
    on_unit.check_eps_array(kind, periodic)
    on_unit.check_bad_input(kind, periodic)
    assert repr(kind(4)) == f"<{kind.__name__} eps=4 on the unit interval>"
