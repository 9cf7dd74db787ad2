import numpy as np
import pytest
import shapely

from geotracs import InputError
from geotracs.answers.ways import Network, straight


def town(side=6):
    """Streets of a square grid, one line from border to border each, with vertices at the crossings."""
    steps = np.arange(side, dtype=float)
    along = [np.column_stack([steps, np.full(side, y)]) for y in steps]
    return np.array([shapely.LineString(line) for line in (*along, *(line[:, ::-1] for line in along))])


def test_shortest_ways_in_a_grid_of_streets():
    network, rng = Network.of_lines(town()), np.random.default_rng(0)
    a, b = rng.uniform(0, 5, (2, 200, 2))
    first, last = network.nearest(a), network.nearest(b)
    assert network.part == 1
    assert len(network.ends) == 32  # the corners of the town are bends
    ways = network.ways(first, last)
    for way, one, other in zip(ways, network.nodes[first], network.nodes[last], strict=True):
        assert way.coords[0] == tuple(one)
        if (one != other).any():
            assert way.coords[-1] == tuple(other)
            assert way.length == pytest.approx(np.abs(one - other).sum())
        else:
            assert way.length == 1  # to the next crossing


def test_ways_do_not_depend_on_how_many_are_found_at_a_time(monkeypatch):
    network, rng = Network.of_lines(town()), np.random.default_rng(1)
    first, last = network.nearest(rng.uniform(0, 5, (50, 2))), network.nearest(rng.uniform(0, 5, (50, 2)))
    together = network.ways(first, last)
    monkeypatch.setattr("geotracs.answers.ways.AT_ONCE", 1)
    assert shapely.equals_exact(together, network.ways(first, last)).all()


def test_bends_are_followed_but_nobody_ends_there():
    network = Network.of_lines(np.array([shapely.LineString([(0, 0), (5, 0), (5, 5)])]))
    ends = network.nearest(np.array([[4.0, 0.0], [5.0, 4.0]]))
    assert network.ways(ends[:1], ends[1:])[0].wkt == "LINESTRING (0 0, 5 0, 5 5)"
    circle = Network.of_lines(np.array([shapely.LinearRing([(0, 0), (1, 0), (1, 1), (0, 1)])]))
    assert circle.ways(circle.nearest([[0, 0]]), circle.nearest([[1, 1]]))[0].length == 2


def test_only_the_largest_connected_part_is_used():
    island = shapely.LineString([(100, 100), (101, 100)])
    network = Network.of_lines(np.append(town(), island))
    assert network.part == 36 / 38
    assert network.nodes[network.nearest([[100, 90]])].tolist() == [[5, 4]]


@pytest.mark.parametrize("lines", [[], [shapely.LineString([(1, 1), (1, 1)])]])
def test_a_network_without_ways(lines):
    with pytest.raises(InputError, match="`network` has no line that leads"):
        Network.of_lines(np.array(lines, dtype=object))


def test_places_are_joined_to_their_neighbours():
    places = np.random.default_rng(2).uniform(0, 1, (100, 2))
    network = Network.of_places(np.vstack([places, places[:5]]))
    assert len(network.nodes) == 100
    first, last = network.nearest(places[:20]), network.nearest(places[20:40])
    for way, a, b in zip(network.ways(first, last), places[:20], places[20:40], strict=True):
        assert shapely.get_coordinates(way)[[0, -1]].tolist() == [a.tolist(), b.tolist()]
        assert way.length <= 1.4 * np.hypot(*(b - a))


@pytest.mark.parametrize("count", [2, 3, 10])
def test_places_on_one_line(count):
    network = Network.of_places(np.column_stack([np.arange(count), np.zeros(count)]))
    assert network.ways(network.nearest([[0, 0]]), network.nearest([[count, 0]]))[0].length == count - 1


def test_one_place_is_too_few():
    with pytest.raises(InputError, match="`places` must have two different points at least, got 1"):
        Network.of_places(np.zeros((3, 2)))


def test_straight_ways():
    a, b = np.random.default_rng(3).random((2, 5, 2))
    assert shapely.length(straight(a, b)) == pytest.approx(np.hypot(*(b - a).T))
