import numpy as np
import pytest
import shapely

from geotracs.core.domains.border import Border
from tests.core.domains.shapes import SHAPES


def cloud(shape, n, seed=0):
    xmin, ymin, xmax, ymax = shape.bounds
    rng = np.random.default_rng(seed)
    margin = 0.1 * max(xmax - xmin, ymax - ymin)
    return np.column_stack([rng.uniform(xmin - margin, xmax + margin, n), rng.uniform(ymin - margin, ymax + margin, n)])


@pytest.mark.parametrize("name", SHAPES)
def test_covers_is_shapelys(name):
    shape = SHAPES[name]
    xy = np.vstack([cloud(shape, 5000), shapely.get_coordinates(shape)[:500]])
    assert np.array_equal(Border(shape).covers(xy), shapely.intersects_xy(shape, xy[:, 0], xy[:, 1]))


@pytest.mark.parametrize("name", SHAPES)
def test_nearest_inside_is_the_nearest_point_and_inside(name):
    shape = SHAPES[name]
    border = Border(shape)
    xy = cloud(shape, 1500, seed=1)
    xy = xy[~border.covers(xy)]
    found = border.nearest_inside(xy)
    assert border.covers(found).all()
    assert shapely.intersects_xy(shape, found[:, 0], found[:, 1]).all()
    distance = np.hypot(*(found - xy).T)
    assert distance == pytest.approx(shapely.distance(shape, shapely.points(xy)), abs=1e-7)


def test_edges_of_very_different_lengths():
    """The nearest one is found, be it far longer or shorter than its neighbours."""
    rng, n = np.random.default_rng(0), 2000
    angle, radius = np.sort(rng.uniform(0, 2 * np.pi, n)), 1 + 0.2 * np.cumsum(rng.normal(size=n)) / np.sqrt(n)
    shape = shapely.Polygon((radius * [np.cos(angle), np.sin(angle)]).T).buffer(0)
    xy = rng.uniform(-3, 3, (3000, 2))
    expected = shapely.distance(shape.boundary, shapely.points(xy))
    assert Border(shape).distance(xy) == pytest.approx(expected, abs=1e-12)


def test_points_that_are_nowhere_are_not_covered():
    assert not Border(SHAPES["L"]).covers(np.array([[np.nan, 35.7], [np.inf, 35.7], [139.7, -np.inf]])).any()


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_surely_outside_is_far_away(name):
    shape = SHAPES[name]
    border, xy = Border(shape), cloud(shape, 2000, seed=3)
    outside = xy[border.surely_outside(xy)]
    assert (shapely.distance(shape, shapely.points(outside)) > 1e-6 * np.ptp(shape.bounds)).all()


def test_distance_and_position_are_found_together():
    border = Border(SHAPES["square with holes"])
    xy = cloud(border.geometry, 200, seed=4)
    away, position = border.distance_and_position(xy)
    assert away == pytest.approx(shapely.distance(shapely.boundary(border.geometry), shapely.points(xy)), abs=1e-9)
    assert np.array_equal(position, border.position(xy))
