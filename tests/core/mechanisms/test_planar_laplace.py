import numpy as np
import pytest
from scipy.stats import chi2, gamma

from geotracs import InputError
from geotracs.core.mechanisms import PlanarLaplace
from tests.helpers import FALSE_ALARM


def noise(rate, n, seed=0, at=0.0):
    mechanism = PlanarLaplace(rate)
    return mechanism.apply(np.full((n, 2), at), mechanism.draw(n, np.random.default_rng(seed))) - at


def test_lengths_and_directions():
    """Lengths follow a gamma distribution, directions are uniform and independent of them."""
    n, bins = 200_000, 12
    xy = noise(2.0, n)
    part = gamma.cdf(np.hypot(*xy.T), 2, scale=1 / 2.0)
    turn = (np.arctan2(xy[:, 1], xy[:, 0]) / (2 * np.pi)) % 1
    counts = np.histogram2d(part, turn, bins, [[0, 1], [0, 1]])[0]
    expected = n / bins**2
    assert np.sum((counts - expected) ** 2 / expected) < chi2.isf(FALSE_ALARM, bins**2 - 1)


def test_density_integrates_to_one_and_falls_as_it_should():
    mechanism, here = PlanarLaplace(3.0), (4.0, 5.0)
    r = (np.arange(200_000) + 0.5) / 200_000 * 20
    assert np.sum(
        mechanism.density(here + r[:, None] * [0.6, 0.8], here) * 2 * np.pi * r
    ) * 20 / 200_000 == pytest.approx(1, abs=1e-6)
    near, far = mechanism.density([[4.0, 6.0], [7.0, 5.0]], here)
    assert np.log(near / far) == pytest.approx(6.0)
    assert np.hypot(*noise(3.0, 100_000).T).mean() == pytest.approx(mechanism.expected_error(), rel=0.01)


def test_reports_lie_on_a_lattice_that_does_not_depend_on_the_secret():
    step = 2.0 ** np.round(np.log2(1 / (3.0 * 2**24)))
    for at in (0.0, 0.1, 0.123456789):
        cells = (noise(3.0, 1000, at=at) + at) / step
        assert np.abs(cells - np.round(cells)).max() < 1e-6


def test_rates_may_differ_and_be_extreme():
    rate = np.repeat([1e-6, 1.0, 600.0], 20_000)
    lengths = np.hypot(*noise(rate, 60_000).T).reshape(3, -1).mean(axis=1)
    assert lengths * [1e-6, 1.0, 600.0] == pytest.approx([2, 2, 2], rel=0.05)


def test_bad_rates():
    for rate in (0.0, -1.0, np.inf, np.nan, [1.0, 0.0]):
        with pytest.raises(InputError, match="`rate` must be"):
            PlanarLaplace(rate)
