import geopandas as gpd
import numpy as np
import pytest
import shapely
from scipy.stats import kstest

from geotracs import InputError, PrivacyWarning
from geotracs.geo.prepare import hidden, zones
from tests.geo.prepare.frames import walk
from tests.helpers import FALSE_ALARM, quiet


def home(x=450.0, y=0.0, **columns):
    return gpd.GeoDataFrame(columns or {"at": [0]}, geometry=[shapely.Point(x, y)], crs=32654)


def test_rows_in_public_areas_are_left_out():
    area = home().buffer(160)
    fewer = zones(walk(), area)
    assert sorted(fewer.loc[fewer["person"] == "a", "step"]) == [0, 1, 2, 7, 8, 9]
    assert len(fewer) == 16
    assert fewer.attrs["tracs"]["prepared"] == [{"step": "zones", "places": True, "secret": False}]
    assert len(zones(walk(), area.to_crs(4326))) == len(zones(walk().to_crs(4326), area)) == 16
    assert len(zones(walk(), area.iloc[0])) == 16
    assert len(zones(walk(), shapely.Point(9e5, 9e5).buffer(5))) == 20  # an area beside the data


def test_an_area_may_be_for_the_rows_of_its_person_only():
    areas = home(person=["b"]).set_geometry([shapely.box(-1e5, -1e5, 1e5, 1e5)], crs=32654)
    fewer = zones(walk(), areas, person="person")
    assert set(fewer["person"]) == {"a"}
    numbered = walk().assign(person=walk()["step"] % 2)  # labels of another file may be texts or floats
    for label in (1, 1.0, "1"):
        assert set(zones(numbered, areas.assign(person=[label]), person="person")["person"]) == {0}
    with pytest.raises(InputError, match=r"1 row\(s\) have no value in the column 'person'"):
        zones(walk(), areas.assign(person=[None]), person="person")


def test_secret_places_get_discs_that_hold_them_and_differ():
    fewer = [zones(walk(40), home(2000), radius=300) for _ in range(8)]
    assert all(not {18, 19, 20, 21, 22} & set(one.loc[one["person"] == "a", "step"]) for one in fewer)
    assert len({len(one) for one in fewer}) > 1
    assert all(one.attrs["tracs"]["prepared"][0]["secret"] for one in fewer)


@pytest.mark.parametrize("size", [0.0, 80.0])
def test_the_middle_and_the_radius_of_a_disc_are_random_and_tell_little(size):
    """The place is uniform in the disc of the middles that it may have; false alarms once in 10^6 seeds each."""
    n, radius = 400, 200.0
    place = shapely.Point(3000.0, 4000.0).buffer(size) if size else shapely.Point(3000.0, 4000.0)
    discs = quiet(hidden, gpd.GeoSeries([place] * n, crs=32654), radius, rng=0)
    assert discs.contains(place).all()
    middle = discs.centroid.get_coordinates().to_numpy() - [3000, 4000]
    reach = np.sqrt(discs.area.to_numpy() / np.pi)
    room = (reach - size - radius) * 1.0004  # a metre of the map is a little less than one
    assert kstest((room - radius) / radius, "uniform").pvalue > FALSE_ALARM
    away = np.hypot(*middle.T)
    assert kstest((away / room) ** 2, "uniform").pvalue > FALSE_ALARM
    assert kstest(np.arctan2(*middle.T) / (2 * np.pi) + 0.5, "uniform").pvalue > FALSE_ALARM


def test_discs_keep_index_and_crs_and_are_fresh_each_time():
    places = gpd.GeoSeries.from_xy([139.7, -70.0], [35.6, 80.0], index=["x", "y"], crs=4326)
    discs = hidden(places, 500)
    assert discs.index.tolist() == ["x", "y"]
    assert discs.crs == places.crs
    assert discs.contains(places).all()
    assert not discs.geom_equals(hidden(places, 500)).any()
    with pytest.warns(PrivacyWarning, match="`rng` is fixed"):
        hidden(places, 500, rng=1)


def test_errors():
    with pytest.raises(InputError, match="`areas` must be a GeoDataFrame"):
        zones(walk(), (0, 0, 1, 1))
    with pytest.raises(InputError, match="`areas` has no CRS"):
        zones(walk(), gpd.GeoSeries([shapely.Point(0, 0)]))
    with pytest.raises(InputError, match="1 of `areas` are missing or empty"):
        zones(walk(), gpd.GeoSeries([shapely.Point()], crs=32654))
    with pytest.raises(InputError, match="`radius` must be a number"):
        zones(walk(), home(), radius=0)
    with pytest.raises(InputError, match="too near to a pole or to where its CRS ends"):
        hidden(gpd.GeoSeries.from_xy([179.9999], [10], crs=4326), 500)
    with pytest.raises(InputError, match="give it with `radius`"):
        zones(walk(), home(), rng=1)
    with pytest.raises(InputError, match="must have the column 'person'"):
        zones(walk(), home(), person="person")


def test_zones_that_hold_nothing_or_everything():
    assert len(zones(walk(), home(y=-5000).buffer(10))) == 20
    assert len(zones(walk(), home().buffer(1e5))) == 0
    assert len(zones(walk().iloc[:0], home().buffer(10))) == 0
