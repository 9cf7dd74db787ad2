import numpy as np
import pytest
import shapely

from geotracs.answers.states import MAX_STATES, CellStates, PlaceStates
from geotracs.core.domains import Disc, Globe, Parallelogram, Polygon, Rectangle, Transport
from geotracs.errors import InputError

CORNER = shapely.Polygon([(0, 0), (20, 0), (20, 8), (8, 8), (8, 20), (0, 20)])
REGIONS = {
    "rectangle": Rectangle(0, 0, 20, 10),
    "polygon": Polygon(CORNER),
    "oriented": Polygon(CORNER, "oriented"),
    "slanted": Parallelogram((0, 0), (10, 3), (-2, 8)),
    "disc": Disc((3, 4), 10),
    "transport": Transport(Polygon(CORNER)),
    "globe": Globe(-60, 80),
}


@pytest.fixture(params=REGIONS)
def states(request):
    return CellStates(REGIONS[request.param], (9, 7))


def test_middles_and_stand_ins_are_inside_and_in_their_own_cell(states):
    assert states.domain.contains(states.xy).all()
    for each in (1, 4, 16):
        secrets, which, weight = states.secrets(each)
        assert states.domain.contains(secrets).all()
        np.testing.assert_array_equal(states.label(secrets), which)
        np.testing.assert_allclose(np.bincount(which, weight), 1)
    assert states.prior.sum() == pytest.approx(1)


def test_shares_of_zones_that_cover_the_region_add_up(states):
    if states.domain.in_degrees:
        low, high = (-180, -60), (180, 80)
    else:
        low, high = np.reshape(states.domain.outline.bounds, (2, 2))
    middle = (low[0] + 0.3 * (high[0] - low[0]), low[1] - 1, high[0] + 1, high[1] + 1)
    zones = np.array([shapely.box(low[0] - 1, low[1] - 1, middle[0], high[1] + 1), shapely.box(*middle)])
    shares = states.shares_in(zones)
    np.testing.assert_allclose(shares.sum(axis=0), 1, atol=1e-6)
    if not states.domain.in_degrees:  # areas are those of the plane, but for how finely cells are looked at
        part = states.domain.outline.intersection(zones[0]).area / states.domain.outline.area
        assert (shares @ states.prior)[0] == pytest.approx(part, abs=0.03)


def test_each_part_of_a_cell_belongs_to_the_nearest_point(states):
    points = states.xy[[0, states.count // 2, -1]]
    shares = states.shares_near(points).toarray()
    np.testing.assert_allclose(shares.sum(axis=0), 1)
    assert shares[0, 0] > 0.9
    assert shares[2, -1] > 0.9


def test_locations_outside_have_no_state():
    assert CellStates(REGIONS["rectangle"], (4, 4)).label(np.array([[-1.0, 2.0], [1.0, 2.0]])).tolist() == [-1, 0]


def test_a_region_thinner_than_a_cell_has_a_state():
    sliver = Polygon(shapely.Polygon([(0, 0), (10, 9.999), (10, 10)]))
    assert CellStates(sliver, (3, 3)).count >= 1


def test_too_many_cells_are_an_error():
    with pytest.raises(InputError, match="too many"):
        CellStates(REGIONS["rectangle"], (MAX_STATES, 2))


def test_places_on_a_border_are_shared():
    places = PlaceStates(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]))
    zones = np.array([shapely.box(-1, -1, 1, 1), shapely.box(1, -1, 3, 1)])
    np.testing.assert_allclose(places.shares_in(zones).toarray(), [[1, 0.5, 0], [0, 0.5, 1]])
    np.testing.assert_allclose(places.shares_near(np.array([[0.1, 0], [5, 0]])).toarray(), [[1, 1, 1], [0, 0, 0]])
