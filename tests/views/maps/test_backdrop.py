import geopandas as gpd
import pytest
import shapely

from geotracs import InputError
from geotracs.views.maps.backdrop import Backdrop
from tests.conftest import TOKYO
from tests.views import toys
from tests.views.maps.test_explore import html_of

VIEW = [[35.0, 139.0], [36.0, 140.0]]


def test_land_without_tiles_and_layers_of_the_users():
    shapes = [
        shapely.box(139.2, 35.2, 139.4, 35.4),
        shapely.LineString([(139, 35), (140, 36)]),
        shapely.Point(139.5, 35.5),
    ]
    own = gpd.GeoSeries([*shapes, None], crs=4326)
    assert [kind for kind, _ in Backdrop.of(None, True).around(VIEW)] == ["land"]
    assert [kind for kind, _ in Backdrop.of(own.to_crs(3857), True).around(VIEW)] == [
        "land",
        "areas",
        "streets",
        "spots",
    ]
    assert [kind for kind, _ in Backdrop.of([own.iloc[:1]], False).around(VIEW)] == ["areas"]
    assert Backdrop.of(False, True).around(VIEW) == []
    assert Backdrop.of(None, True).around(None) == []


def test_what_is_far_away_is_left_out():
    far = gpd.GeoSeries([shapely.LineString([(0, 0), (1, 1)])], crs=4326)
    assert Backdrop.of(far, False).around(VIEW) == []


def test_it_is_on_the_page(tracks):
    private = toys.released(tracks, TOKYO)
    assert '["land"' in html_of(private.tracs.explore(tiles=None))
    assert '["land"' not in html_of(private.tracs.explore())


@pytest.mark.parametrize("bad", ["streets", 3, [1], gpd.GeoSeries([shapely.Point(0, 0)])])
def test_bad_layers(tracks, bad):
    with pytest.raises(InputError, match="`background`"):
        tracks.tracs.explore(background=bad)
