"""What all kinds of regions have in common."""

import numpy as np
import pytest
import shapely

from geotracs.core.domains import KINDS, Disc, Domain, Globe, Parallelogram, Polygon, Rectangle, Transport

L_SHAPE = Polygon(shapely.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]))
REGIONS = [
    Rectangle(0, 0, 2, 10),
    Parallelogram((0, 0), (3, 4), (0, 2)),
    L_SHAPE,
    Polygon(shapely.Polygon([(0, 0), (4, 0), (0, 3)]), "oriented"),
    Disc((1, 2), 2),
    Globe(),
    Globe(10, 60),
    Transport(L_SHAPE),
]


def test_every_kind_is_here():
    assert {type(region) for region in REGIONS} == set(KINDS)
    assert all(isinstance(region, Domain) for region in REGIONS)


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: region.kind)
def test_points_and_lengths(region):
    xy = region.spread(500)
    assert region.contains(xy).all()
    assert region.contains(np.array([region.centre])).all()
    assert shapely.intersects_xy(region.outline.buffer(1e-9), *xy.T).all()
    a, b = np.indices((len(xy), len(xy))).reshape(2, -1)
    farthest = region.distance(xy[a], xy[b]).max()
    assert 0.8 * region.diameter < farthest <= region.diameter * (1 + 1e-12)
    assert region.longest_side <= region.diameter


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: region.kind)
def test_charts_go_there_and_back_and_stretch_as_they_say(region):
    chart = region.chart or region.polar
    unit = np.random.default_rng(3).random((1000, 2)) * 0.9 + 0.05
    xy = chart.from_unit(unit)
    assert chart.covers(xy).all()
    assert chart.to_unit(xy) == pytest.approx(unit, abs=1e-9)
    out = np.empty((2, 1000)).T
    assert chart.from_unit(unit, out=out) is out
    h = 1e-6
    u, v = (chart.from_unit(unit + step) - xy for step in ([h, 0], [0, h]))
    area = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / h**2
    assert np.median(np.abs(area / chart.stretch(unit) - 1)) < 1e-4
    if chart.affine:
        assert np.ptp(np.hypot(*u.T)) < 1e-9
    assert not chart.covers(np.array([[1e3, 1e3]])).any()


def test_lengths_of_some():
    assert Parallelogram((0, 0), (3, 4), (0, 2)).longest_side == pytest.approx(5)
    assert Disc((0, 0), 2).longest_side == 4
    assert L_SHAPE.longest_side == 2
    assert Transport(L_SHAPE).diameter == L_SHAPE.diameter == pytest.approx(np.sqrt(8))


def test_distance_is_straight_in_the_plane_and_a_great_circle_on_the_globe():
    a, b = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])
    assert Rectangle(0, 0, 9, 9).distance(a, b).tolist() == [5.0]
    assert Globe().distance(a, np.array([[90.0, 0.0]]))[0] == pytest.approx(Globe().diameter / 2)
