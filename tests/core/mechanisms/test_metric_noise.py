"""Metric privacy in the plane: the inequality in integers, extremes, density."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from geotracs import InputError
from geotracs.core.mechanisms.lattice_noise import STEPS
from geotracs.core.mechanisms.metric_noise import PARTS, SPAN, MetricNoise
from tests.helpers import FALSE_ALARM

SETTINGS = [
    (np.log(2), 200.0, 5e4, PARTS),
    (np.log(4), 200.0, 5e4, PARTS),
    (600.0, 1.0, 1e8, PARTS),
    (699.9, 1.0, 2.0**30, PARTS),
    (1e-9, 1.0, 1e8, PARTS),
    (1e-6, 1e8, 1e8, PARTS),
    (1e-9, 1e8, 1e8, PARTS),
    (1e-300, 1e8, 1e8, PARTS),
    (3.7, 141.4, 141.4, 1),
    (1e-9, 141.4, 141.4, 1),
    (699.9, 141.4, 141.4, 1),
]
"""Epsilon, radius, extent, parts."""


def pairs(extent, step, seed):
    """Return pairs of locations: all over the region, at its end, and so near that only rounding tells them apart."""
    rng = np.random.default_rng(seed)
    a = rng.uniform(-extent, extent, (400, 2)) / np.sqrt(2)
    a[:50] = np.sign(a[:50]) * extent / np.sqrt(2)
    b = rng.permutation(a)
    b[100:300] = a[100:300] + np.outer(10.0 ** rng.uniform(-3, 4, 200), [1, 1]) * step * rng.choice([-1, 1], (200, 2))
    b[300:] = np.nextafter(a[300:], np.inf)
    return np.clip(a, -extent, extent), np.clip(b, -extent, extent)


@pytest.mark.parametrize(("eps", "radius", "extent", "parts"), SETTINGS)
def test_the_inequality_in_integers(eps, radius, extent, parts):
    """The lattice distance over the scale, squared, against the square of what the promise allows: rationals only."""
    origin = (1e7 / 3, -2e7 / 7)
    noise = MetricNoise(eps, radius, extent, origin, parts)
    scale = STEPS << int(noise.bits)
    a, b = (own + origin for own in pairs(extent, float(noise.step), 1))
    at_a, at_b = ([noise._lattice(own, axis) for axis in (0, 1)] for own in (a, b))
    moved = 0
    for row in range(len(a)):
        steps = sum(int(at_a[axis][row] - at_b[axis][row]) ** 2 for axis in (0, 1))
        square = sum((Fraction(a[row, axis]) - Fraction(b[row, axis])) ** 2 for axis in (0, 1))
        counted = max(square, (Fraction(radius) / parts) ** 2)
        assert Fraction(steps, scale**2) <= Fraction(eps) ** 2 * counted / Fraction(radius) ** 2
        moved += steps > 0
    assert moved > 100 or eps < 1e-8
    assert max(np.abs(column).max() for column in (*at_a, *at_b)) <= 2.0**SPAN


@pytest.mark.parametrize(("eps", "radius", "extent", "parts"), SETTINGS)
def test_the_noise_is_no_longer_than_it_must_be(eps, radius, extent, parts):
    noise = MetricNoise(eps, radius, extent, parts=parts)
    wanted = 2 * radius / max(eps, 1e-9)
    assert noise.expected_error() >= wanted * (1 - 1e-12) or eps < 1e-9
    assert noise.expected_error() <= wanted * (1.003 if eps >= 1e-5 else 2.01)


@pytest.mark.parametrize(("eps", "radius", "extent", "parts"), SETTINGS)
def test_reports_follow_the_noise(eps, radius, extent, parts):
    """The mean error of 20,000 reports, six of its standard errors wide, and all are finite."""
    noise = MetricNoise(eps, radius, extent, (5.0, -7.0), parts)
    at = np.array([5.0, -7.0]) + 0.6 * extent
    xy = np.asfortranarray(np.tile(at, (20_000, 1)))
    noise.apply(xy, noise.draw(len(xy), np.random.default_rng(0)), out=xy)
    assert np.isfinite(xy).all()
    centre = at if noise._steps_per_unit else np.array(noise.origin)
    length = np.hypot(*(xy - centre).T).mean()
    assert length == pytest.approx(noise.expected_error(), rel=6 / np.sqrt(2 * 20_000))


def test_epsilon_of_each_location():
    eps = np.repeat([1e-12, 1e-3, 0.7, 20.0, 600.0], 20_000)
    noise = MetricNoise(eps, 200.0, 5e4)
    assert len(np.unique(noise.bits)) > 2
    xy = np.full((2, len(eps)), 17.0).T
    noise.apply(xy, noise.draw(len(xy), np.random.default_rng(0)), out=xy)
    lengths = np.hypot(*(xy - 17).T).reshape(5, -1).mean(axis=1)
    assert lengths == pytest.approx(noise.expected_error()[::20_000], rel=6 / np.sqrt(2 * 20_000))
    each = [MetricNoise(one, 200.0, 5e4) for one in eps[::20_000]]
    assert noise.step[::20_000].tolist() == [float(one.step) for one in each]


def test_tiny_epsilons_report_nothing_of_the_location():
    noise = MetricNoise(1e-12, 200.0, 5e4)
    here, there = np.zeros((100, 2), order="F"), np.full((100, 2), 4e4, order="F")
    for xy in (here, there):
        noise.apply(xy, noise.draw(len(xy), np.random.default_rng(0)), out=xy)
    assert np.array_equal(here, there)


def test_locations_beyond_the_extent_count_as_the_end():
    noise = MetricNoise(1.0, 200.0, 5e4)
    reports = [np.asfortranarray([[far, far]]) for far in (1e20, 1e30)]
    for xy in reports:
        noise.apply(xy, noise.draw(len(xy), np.random.default_rng(0)), out=xy)
    assert np.array_equal(*reports)


def test_density_against_a_million_reports():
    noise, at, n = MetricNoise(2.0, 10.0, 100.0, (3.0, 3.0)), np.array([[7.0, 1.0]]), 1_000_000
    xy = np.asfortranarray(np.tile(at, (n, 1)))
    noise.apply(xy, noise.draw(len(xy), np.random.default_rng(2)), out=xy)
    counts = np.histogram2d(*(xy - at).T, 24, [[-24, 24], [-24, 24]])[0]
    fine = (np.arange(480) + 0.5) / 10 - 24
    y = np.stack(np.meshgrid(fine, fine, indexing="ij"), axis=-1).reshape(-1, 2) + at
    expected = n * (noise.density(y, at) / 100).reshape(24, 20, 24, 20).sum(axis=(1, 3))
    assert np.sum((counts - expected) ** 2 / expected) < chi2.isf(FALSE_ALARM, counts.size)


def test_density_is_that_of_the_lattice():
    """At bits = 0 a step is a 256th of the scale: the density is constant around each of its points."""
    noise = MetricNoise(699.0, 1.0, 2.0**29)
    assert noise.bits <= 3
    at = np.zeros((1, 2))
    y = np.array([[3.0, 5.0], [3.4, 4.6], [3.6, 5.0]]) * noise.step
    density = noise.density(y, at)
    assert density[0] == density[1] > density[2] > 0


def test_bad_parameters():
    for eps in (0.0, -1.0, np.nan, np.inf, 700.0, [1.0, 0.0]):
        with pytest.raises(InputError, match="`eps` must be"):
            MetricNoise(eps, 1.0, 1.0)
    for radius, extent in ((0.0, 1.0), (1.0, 0.0), (np.nan, 1.0), (1.0, np.inf), (1.0, 2.0**31), (-1.0, 1.0)):
        with pytest.raises(InputError, match="`radius` and `extent` must be"):
            MetricNoise(1.0, radius, extent)
