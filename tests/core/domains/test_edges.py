"""A point finds its way inside a polygon by plain arrays as it does by the border's index."""

import math

import numpy as np
import pytest
import shapely

from geotracs.core.domains import Polygon
from geotracs.core.domains.border import INSIDE
from geotracs.core.domains.edges import SIDE
from geotracs.core.methods.walk import move_inside

SHAPES = {
    "corner": shapely.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]),
    "ring": shapely.Point(0, 0).buffer(2).difference(shapely.Point(0.3, 0).buffer(1.5)),
    "islands": shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(4, 3, 5, 4)]),
    "star": shapely.Polygon(
        [(r * math.cos(i * math.pi / 7), r * math.sin(i * math.pi / 7)) for i, r in enumerate([1, 1.6] * 7)]
    ),
    "far away": shapely.Polygon([(5e6, 4e6), (5e6 + 90, 4e6), (5e6 + 90, 4e6 + 9), (5e6 + 4, 4e6 + 4)]).difference(
        shapely.box(5e6 + 20, 4e6 + 1, 5e6 + 30, 4e6 + 2)
    ),
}


@pytest.mark.parametrize("fit", ["envelope", "oriented"])
@pytest.mark.parametrize("name", SHAPES)
def test_the_same_way_as_by_the_border(name, fit):
    domain = Polygon(SHAPES[name], fit)
    xy = domain.chart.from_unit(np.random.default_rng(1).random((3000, 2)))
    moved = np.array([move_inside(x, y, domain.edges) for x, y in xy])
    inside = domain.border.covers(xy)
    assert np.array_equal(moved[inside], xy[inside])
    assert domain.border.covers(moved).all()
    outside = xy[~inside]
    away, least = (np.hypot(*(to - outside).T) for to in (moved[~inside], domain.border.nearest_inside(outside)))
    size = np.ptp(np.reshape(domain.geometry.bounds, (2, 2)), axis=0).max()
    assert np.abs(away - least).max() < 1e-9 * size
    assert (away - shapely.distance(domain.geometry, shapely.points(outside))).max() < 1e-9 * size


def test_only_cells_that_no_edge_touches_are_taken_for_inside():
    domain = Polygon(SHAPES["ring"])
    corners = np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
    column, row = np.divmod(np.flatnonzero(domain.edges.kinds == INSIDE), SIDE)
    at = domain.edges.low + (np.column_stack([column, row])[:, None] + corners) / domain.edges.scale
    assert shapely.contains_xy(domain.geometry, at.reshape(-1, 2)).all()
    assert len(column) > 1000
