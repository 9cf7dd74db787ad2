import math

import numpy as np
import pytest
from scipy.stats import chi2

from geotracs import InputError
from geotracs.core.mechanisms import Piecewise
from geotracs.core.mechanisms.lattice import CELLS, cells_of
from tests.helpers import FALSE_ALARM

WINDOWS = ["ogpm", "r-sw"]
DOMAINS = [False, True]


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0, 10.0])
def test_sampler_follows_its_density(eps, window, periodic):
    """Chi-squared over the window's borders and 20 equal bins, across the domain, its edges and the seam.

    The draws do not depend on the secret, so that all secrets share them.
    """
    mechanism = Piecewise(eps, window, periodic=periodic)
    draws = mechanism.draw(200_000, np.random.default_rng(round(100 * eps) + periodic))
    for x in (0.0, 0.003, 0.3, 0.5, 0.9999, 1.0):
        check_density(mechanism, x, mechanism.apply(np.full(len(draws), x), draws))


def check_density(mechanism, x, reports):
    n = len(reports)
    begin, end = mechanism.interval(x)
    edges = np.unique(np.concatenate([np.linspace(0, 1, 21), [begin, end % 1, min(end, 1)]]))
    edges = edges[np.append(True, np.diff(edges) > 1e-6)]
    edges[-1] = 1.0
    middles = (edges[:-1] + edges[1:]) / 2
    expected = mechanism.density(middles, x) * np.diff(edges)
    assert expected.sum() == pytest.approx(1, abs=1e-4)
    observed = np.histogram(reports, edges)[0]
    enough = expected * n >= 5
    pooled_expected = np.append(expected[enough], expected[~enough].sum()) * n
    pooled_observed = np.append(observed[enough], observed[~enough].sum())
    used = pooled_expected > 1e-9
    statistic = np.sum((pooled_observed - pooled_expected)[used] ** 2 / pooled_expected[used])
    assert statistic < chi2.isf(FALSE_ALARM, max(used.sum() - 1, 1))


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("eps", [1e-6, 0.5, 3.0, 30.0])
def test_density_is_normalised_and_bounded(eps, window, periodic):
    mechanism = Piecewise(eps, window, periodic=periodic)
    width = mechanism.window / CELLS
    low, high = sorted(
        {*mechanism.density(np.linspace(0, 1, 1001), 0.4).tolist()} | {mechanism.density(0.4, 0.4).item()}
    )
    assert high * width + low * (1 - width) == pytest.approx(1, abs=1e-12)
    assert high / low <= math.exp(eps) * (1 + 1e-12)
    assert high / low == pytest.approx(math.exp(eps), rel=1e-6)


@pytest.mark.parametrize("periodic", DOMAINS)
def test_window_holds_the_secret_and_stays_inside(periodic):
    mechanism = Piecewise(3.0, periodic=periodic)
    x = np.linspace(0, 1, 10_001)
    begin, end = mechanism.interval(x)
    assert np.allclose(end - begin, mechanism.window / CELLS, atol=0)
    if periodic:
        inside = ((cells_of(x) / CELLS - begin) % 1) < mechanism.window / CELLS
    else:
        assert begin.min() == 0
        assert end.max() == 1
        inside = (cells_of(x) / CELLS >= begin) & (cells_of(x) / CELLS < end)
    assert inside.all()


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("window", WINDOWS)
def test_reports_are_functions_of_cells_only(window, periodic):
    mechanism = Piecewise(5.0, window, periodic=periodic)
    rng = np.random.default_rng(1)
    x = rng.random(5000)
    draws = mechanism.draw(5000, rng)
    reports = mechanism.apply(x, draws)
    assert np.array_equal(reports * CELLS - 0.5, np.floor(reports * CELLS))
    # Secrets in the same cell cannot be told apart: the middle of the cell gives the same report.
    assert np.array_equal(mechanism.apply((cells_of(x) + 0.25) / CELLS, draws), reports)


def test_every_cell_can_come_out_of_every_secret():
    mechanism = Piecewise(600.0)
    first = mechanism.apply(np.array([0.1]), np.array([0], dtype=np.uint32))
    last = mechanism.apply(np.array([0.1]), np.array([CELLS - 1], dtype=np.uint32))
    assert cells_of(first)[0] == cells_of(np.array([0.1]))[0]
    assert cells_of(last)[0] == cells_of(first)[0] - 1


def test_the_papers_direction_example():
    mechanism = Piecewise(6, periodic=True)
    begin, end = mechanism.interval(1 / 12)
    assert 2 * begin == pytest.approx(0.119, abs=5e-4)
    assert 2 * end == pytest.approx(0.214, abs=5e-4)
    assert mechanism.threshold / 2**64 == pytest.approx(0.95, abs=5e-3)


@pytest.mark.parametrize("eps", [0.5, 1, 2, 4, 8, 12])
def test_worst_mse_is_the_papers_closed_form(eps):
    e = math.exp(eps)
    published = math.exp(-eps / 2) / 3 + (math.exp(eps / 2) - 1) ** 3 / (3 * math.exp(eps / 2) * (e - 1) ** 2)
    mechanism = Piecewise(eps)
    assert float(mechanism.expected_error(0.0, power=2)) == pytest.approx(published, rel=1e-7)
    assert float(mechanism.expected_error(1.0, power=2)) == pytest.approx(published, rel=1e-7)
    assert mechanism.expected_error(np.linspace(0, 1, 501), power=2).max() <= published * (1 + 1e-9)


@pytest.mark.parametrize("periodic", DOMAINS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("power", [1, 2])
def test_expected_error_is_the_integral_of_the_density(window, periodic, power):
    mechanism = Piecewise(2.0, window, periodic=periodic)
    y = (np.arange(200_000) + 0.5) / 200_000
    for x in (0.0, 0.07, 0.5, 0.99):
        distance = np.abs(y - x)
        distance = np.minimum(distance, 1 - distance) if periodic else distance
        by_hand = np.mean(mechanism.density(y, x) * distance**power)
        assert float(np.squeeze(mechanism.expected_error(np.array([x]), power))) == pytest.approx(by_hand, rel=1e-4)
    xs = (np.arange(20_000) + 0.5) / 20_000
    assert mechanism.expected_error(power=power) == pytest.approx(mechanism.expected_error(xs, power).mean(), rel=1e-6)


def test_epsilon_may_differ_per_location():
    eps = np.repeat([0.5, 8.0], 50_000)
    mechanism = Piecewise(eps)
    reports = mechanism.apply(np.full(100_000, 0.5), mechanism.draw(100_000, np.random.default_rng(3)))
    error = np.abs(reports - 0.5)
    for part, value in ((error[:50_000], 0.5), (error[50_000:], 8.0)):
        one = Piecewise(value)
        mean, square = one.expected_error(0.5), one.expected_error(0.5, power=2)
        assert part.mean() == pytest.approx(mean, abs=5 * math.sqrt((square - mean**2) / 50_000))
    assert mechanism.density(np.full(100_000, 0.5), np.full(100_000, 0.5))[0] == pytest.approx(
        Piecewise(0.5).density(0.5, 0.5).item()
    )


def test_sample_without_rng_and_repr():
    mechanism = Piecewise(4)
    assert mechanism.sample([0.2, 0.9]).shape == (2,)
    assert repr(mechanism) == "<Piecewise eps=4 on the unit interval>"
    assert repr(Piecewise(np.array([1.0, 2.0]), periodic=True)) == "<Piecewise eps=2 values on the unit circle>"


@pytest.mark.parametrize("eps", [0, -1, math.nan, math.inf, 700, "4", None, True, [1.0, -1.0]])
def test_bad_eps(eps):
    with pytest.raises(InputError, match="`eps` must be"):
        Piecewise(eps)


def test_bad_arguments():
    with pytest.raises(InputError, match="`window` must be one of"):
        Piecewise(1, "square")
    for x in ([-0.1], [1.1], [np.nan]):
        with pytest.raises(InputError, match="must lie in"):
            Piecewise(1).sample(x)
    with pytest.raises(InputError, match="2 values, but 3 draws"):
        Piecewise(np.array([1.0, 2.0])).draw(3, np.random.default_rng(0))


@pytest.mark.parametrize("eps", [1e-9, 600.0])
def test_extreme_eps_still_perturbs(eps):
    mechanism = Piecewise(eps)
    x = np.random.default_rng(0).random(1000)
    reports = mechanism.sample(x)
    assert not np.any(reports == x)
    if eps < 1:
        assert abs(np.corrcoef(reports, x)[0, 1]) < 0.2
