import geopandas as gpd
import numpy as np
import pytest
import shapely

from geotracs import InputError
from geotracs.views import shapes
from tests.conftest import TOKYO
from tests.views import toys


@pytest.fixture
def private(tracks):
    return toys.released(tracks, TOKYO)


def test_an_answer_is_known_by_its_columns_or_its_record(tracks, private):
    zones = toys.density(toys.cells(TOKYO, 2), tracks, private)
    assert shapes.answer_of(zones) == "density"
    assert shapes.answer_of(toys.flows(private)) == "flows"
    assert shapes.answer_of(toys.reconstructed(tracks, private)) == "reconstruct"
    assert shapes.answer_of(private) is None
    assert shapes.answer_of(tracks.assign(radius=5.0)) is None, "a receiver's"
    assert shapes.answer_of(private.assign(radius=5.0)) is None


@pytest.mark.parametrize("answer", [None, "reconstruct", 5, ["kind"], {"kind": {}}, {"level": "high"}])
def test_a_record_may_say_anything(private, answer):
    frame = private.assign(radius=5.0)
    frame.attrs["tracs"]["answer"] = answer
    assert shapes.answer_of(frame) is None
    assert shapes.level_of(frame) == "interval"
    frame.attrs["tracs"] = answer
    assert shapes.answer_of(frame) is None


def test_naive_shares_are_counts_and_borders_count_once():
    zones = toys.cells((0, 0, 2, 2), 2)
    points = gpd.GeoDataFrame(geometry=gpd.points_from_xy([0.5, 1, 1.5, 9], [0.5, 0.5, 1.5, 9]), crs=4326)
    assert shapes.naive(zones, points).tolist() == [0.5, 0, 0, 0.25]
    assert shapes.naive(zones, points.to_crs(3857)).tolist() == [0.5, 0, 0, 0.25]
    assert shapes.naive(zones, points.iloc[:0]).tolist() == [0, 0, 0, 0]
    lines = gpd.GeoDataFrame(geometry=[shapely.LineString(points.geometry.tolist()), None], crs=4326)
    assert shapes.naive(zones, lines).tolist() == [0.5, 0, 0, 0.25]
    places = gpd.GeoDataFrame(geometry=gpd.points_from_xy([0, 2], [0, 2]), crs=4326)
    assert shapes.naive(places, points).tolist() == [0.5, 0.5]


def test_unclear_is_what_has_a_wider_interval_than_its_share(tracks, private):
    zones = toys.cells(TOKYO, 2).assign(share=[0.5, 0.3, 0.2, 0], low=[0.4, 0.1, 0, 0], high=[0.6, 0.45, 0.3, np.nan])
    assert shapes.unclear(zones).tolist() == [False, True, True, False]
    with pytest.raises(InputError, match="'share' of an estimate must hold numbers"):
        shapes.unclear(zones.assign(share="much"))


def test_a_tube_holds_the_circles_and_what_is_between():
    xy = np.array([[0.0, 0.0], [10, 0], [50, 50]])
    radius = np.array([[1.0, 2.0], [3, 3], [1, 1]])
    first, second = shapes.tubes(xy, np.array([0, 2, 3]), radius)[:, 0]
    assert first.bounds == pytest.approx((-1, -3, 13, 3), abs=0.03)
    assert first.contains(shapely.Point(5, 2))
    assert not first.contains(shapely.Point(5, 3))
    assert second.bounds == pytest.approx((49, 49, 51, 51), abs=0.01)
    assert len(shapes.tubes(xy[:0], np.array([0]), radius[:0])) == 0
    left = shapes.tubes(xy, np.array([0, 2, 3]), radius, shapely.box(0, 0, 5, 5))
    assert left[0, 0].equals(first.intersection(shapely.box(0, 0, 5, 5)))
    assert left[1, 0].is_empty


def test_a_tube_tells_what_is_well_known_from_the_rest():
    xy = np.column_stack([np.arange(5.0) * 10, np.zeros(5)])
    radius = np.repeat([[1.0], [1], [1], [1], [30]], 2, axis=1)
    known, rest = shapes.tubes(xy, np.array([0, 5]), radius)[0]
    assert known.bounds == pytest.approx((-1, -1, 31, 1), abs=0.01)
    assert rest.contains(shapely.Point(40, 25))


def test_arrows_are_as_wide_as_shares_and_lie_beside_the_way_back():
    starts, ends = np.array([[0.0, 0], [10, 0], [0, 0], [0, 0]]), np.array([[10.0, 0], [0, 0], [10, 0], [0, 0]])
    there, back, thin, stays = shapes.arrows(starts, ends, np.array([0.4, 0.4, 0.1, 0.5]))
    assert there.centroid.y < 0 < back.centroid.y, "each to its right"
    assert there.intersection(back).area < 0.01 * there.area
    assert there.area > 2 * thin.area
    assert all(part.is_valid for part in (there, back, thin, stays))
    assert there.exterior.distance(shapely.Point(10, 0)) < 1, "the head is at the end"
    assert stays.centroid.distance(shapely.Point(0, 0)) < 1e-9
    assert len(shapes.arrows(starts[:0], ends[:0], np.zeros(0))) == 0
    assert all(part.is_valid for part in shapes.arrows(starts[:1], starts[:1], np.zeros(1)))


def test_largest_flows_come_first_and_unclear_ones_apart(private):
    flows = toys.flows(private)
    clear, vague = shapes.largest(flows, 5)
    assert (clear.tolist(), vague.tolist()) == ([0, 1], [2])
    assert shapes.largest(flows, 1)[0].tolist() == [0]
    with pytest.raises(InputError, match="one time window"):
        shapes.largest(flows.assign(when=[0, 0, 1, 1]), 5)
    with pytest.raises(InputError, match="must be lines"):
        shapes.ends(flows.geometry.envelope)
