"""The transport chart: one to one, inside any shape, and uniform noise that follows the density."""

import itertools

import numpy as np
import pytest
import shapely
from scipy.stats import chi2
from shapely import affinity

from geotracs import DomainError, methods
from geotracs.core.domains import Disc, Parallelogram, Polygon, Rectangle, Transport
from geotracs.core.domains.border import SIDE
from geotracs.core.domains.transport import FLOOR
from tests.core.domains.shapes import SHAPES, X, Y
from tests.drawing import run
from tests.helpers import FALSE_ALARM

METRES = {name: affinity.scale(shape, 9e4, 1.1e5, origin=(X, Y)) for name, shape in SHAPES.items()}


def hills():
    """A density with two hills and much emptiness."""
    x, y = np.meshgrid(np.linspace(0, 1, SIDE), np.linspace(0, 1, SIDE), indexing="ij")
    return np.exp(-((x - 0.2) ** 2 + (y - 0.7) ** 2) / 0.01) + 0.5 * np.exp(-((x - 0.8) ** 2 + (y - 0.2) ** 2) / 0.002)


@pytest.mark.parametrize("name", METRES)
def test_one_to_one(name):
    polygon = Polygon(METRES[name])
    xy, there = polygon.spread(3000), np.random.default_rng(1).random((20_000, 2))
    size = np.ptp(np.reshape(polygon.geometry.bounds, (2, 2)), axis=0)
    for weights, first in itertools.product((None, hills()), (0, 1)):
        chart = Transport(polygon, weights, first=first)
        unit = chart.to_unit(xy)
        assert np.all((unit >= 0) & (unit <= 1))
        assert np.abs((chart.from_unit(unit) - xy) / size).max() < 1e-9
        assert np.abs(chart.to_unit(chart.from_unit(there)) - there).max() < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("name", METRES)
def test_the_unit_square_stays_near_the_shape(name):
    """What comes out is in a cell of the grid that the shape may touch, and inside after the finish."""
    polygon = Polygon(METRES[name])
    xy = Transport(polygon).from_unit(np.random.default_rng(2).random((3000, 2)))
    cell = np.ptp(np.reshape(polygon.geometry.bounds, (2, 2)), axis=0) / SIDE
    near = shapely.distance(polygon.geometry, shapely.points(xy))
    assert near.max() <= 2 * np.hypot(*cell)
    polygon.project_inside(xy)
    assert polygon.border.covers(xy).all()


@pytest.mark.parametrize("first", [0, 1])
def test_uniform_noise_follows_the_density(first):
    """Chi-squared over 16 x 16 blocks, with a false alarm in a million."""
    region, weights, n = Rectangle(-3, 10, 5, 14), hills(), 400_000
    chart = Transport(region, weights, first=first, smooth=0)
    density = FLOOR / SIDE**2 + (1 - FLOOR) * weights / weights.sum()
    expected = n * density.reshape(16, SIDE // 16, 16, SIDE // 16).sum(axis=(1, 3))
    xy = chart.from_unit(np.random.default_rng(3).random((n, 2)))
    observed = np.histogram2d(*xy.T, bins=16, range=[[-3, 5], [10, 14]])[0]
    assert np.sum((observed - expected) ** 2 / expected) < chi2.isf(FALSE_ALARM, 255)


def test_no_place_of_the_region_is_left_out():
    """A prior that is 0 almost everywhere: every location has a share of the square, and its own."""
    weights = np.zeros((SIDE, SIDE))
    weights[3, 200] = 1
    chart = Transport(Polygon(METRES["U"]), weights)
    xy = Polygon(METRES["U"]).spread(2000)
    unit = chart.to_unit(xy)
    assert len(np.unique(np.floor(unit * 2**31), axis=0)) == len(xy)


@pytest.mark.parametrize("region", [Disc((5, -2), 3), Parallelogram((0, 0), (30, 40), (-8, 6)), Rectangle(0, 0, 4, 1)])
def test_other_regions(region):
    chart = Transport(region)
    xy = np.asfortranarray(region.spread(3000))
    assert np.allclose(chart.from_unit(chart.to_unit(xy)), xy, atol=1e-8)
    for name in ("tracs-c", "joint"):
        reports = run(methods.make(name), xy, np.array([0, len(xy)]), 1.0, chart, np.random.default_rng(0))
        assert region.contains(reports).all()
    assert chart.contains(xy).all()
    assert region.contains(chart.clip(xy * 3)).all()


def test_stand_ins_follow_the_prior_before_it_is_smoothed():
    weights = np.zeros((SIDE, SIDE))
    weights[:10, :10] = 1
    found = Transport(Rectangle(0, 0, 1, 1), weights, smooth=0.1).spread(2000)
    inside = np.all(found < 10 / SIDE, axis=1).mean()
    assert inside == pytest.approx(1 - FLOOR, abs=0.01)


def test_a_prior_shortens_the_noise_where_it_is_dense():
    region, weights = Rectangle(0, 0, 1, 1), hills()
    chart = Transport(region, weights)
    xy = np.asfortranarray(chart.spread(20_000))
    for name in ("tracs-c", "joint"):
        errors = []
        for domain in (region, chart):
            reports = run(methods.make(name), xy, np.array([0, len(xy)]), 3.0, domain, np.random.default_rng(0))
            errors.append(np.hypot(*(reports - xy).T).mean())
        assert errors[1] < 0.7 * errors[0]


@pytest.mark.parametrize("weights", [np.zeros((SIDE, SIDE)), np.full((SIDE, SIDE), -1.0), np.ones((4, 4))])
def test_bad_weights(weights):
    with pytest.raises(DomainError, match="nowhere greater than 0 in the domain"):
        Transport(Rectangle(0, 0, 1, 1), weights)


def test_methods_that_measure_in_the_plane_refuse_it():
    chart = Transport(Rectangle(0, 0, 1, 1))
    for name in ("tracs-d", "strawman", "planar-laplace"):
        with pytest.raises(DomainError, match="are for tracs-c and joint"):
            methods.make(name).check(chart)
