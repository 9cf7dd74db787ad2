"""What may be asked about the private locations: the same answers in memory and in parts."""

import geopandas as gpd
import numpy as np
import pytest
import shapely

from geotracs.geo.originals import Originals, coordinates, derived_from, some_coordinates


def in_parts(data, parts=4):
    """What a file or a dask frame knows: some of its first part; and a list of the passes over it."""
    passes = []

    def each(work):
        passes.append(work)
        return [work(coordinates(data.iloc[rows])) for rows in np.array_split(np.arange(len(data)), parts)]

    first = data.iloc[: len(data) // parts]
    return Originals(data.crs, some_coordinates(first), each, None), passes


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return gpd.GeoSeries(gpd.points_from_xy(*rng.uniform((139.6, 35.6), (139.8, 35.8), (400, 2)).T), crs=4326)


def test_a_layer_of_the_locations_is_noticed_in_parts(data):
    for layer in (data, data.sample(frac=1, random_state=0), data.to_crs(3857), data.iloc[:-20]):
        assert derived_from(layer, Originals.of(data))
        some, passes = in_parts(data)
        assert derived_from(layer, some)
        assert len(passes) == 1


def test_public_layers_take_no_pass(data):
    rng = np.random.default_rng(1)
    public = gpd.GeoSeries(gpd.points_from_xy(*rng.uniform((139.6, 35.6), (139.8, 35.8), (900, 2)).T), crs=4326)
    some, passes = in_parts(data)
    assert not derived_from(public, some)
    assert passes == []


def test_public_venues_at_which_people_checked_in_take_one_pass_and_are_public(data):
    """All locations are at venues, but not all venues were visited: of the first part alone one could not know."""
    some, passes = in_parts(data.iloc[np.arange(400) % 150])
    assert not derived_from(data, some)
    assert not derived_from(data, Originals.of(data.iloc[np.arange(400) % 150]))
    assert len(passes) == 1


def test_one_person_at_home_comes_first(data):
    """The extent of what is looked at first is tiny, and another CRS changes last digits."""
    home = gpd.GeoSeries(gpd.points_from_xy([139.7, 139.7] * 100, [35.7, 35.7000001] * 100), crs=4326)
    both = gpd.GeoSeries([*home, *data], crs=4326)
    some, _ = in_parts(both)
    assert derived_from(both.to_crs(32654), some)


def test_the_extent_in_parts(data):
    bounds = tuple(data.total_bounds)
    for some in (Originals.of(data), in_parts(data)[0]):
        assert some.have_extent(bounds)
        assert not some.have_extent(tuple(np.add(bounds, 1e-6)))
    some, passes = in_parts(data)
    for typed in ((139.6, 35.6, 139.8, 35.8), (139.6123, 35.6123, 139.8123, 35.8123), (*bounds[:3], 36)):
        assert not some.have_extent(typed)
    assert passes == []


def test_bounds_of_locations_with_few_digits_are_noticed_too(data):
    rounded = gpd.GeoSeries(shapely.set_precision(data.values, 1e-5), crs=4326)
    some, passes = in_parts(rounded)
    assert some.have_extent(tuple(rounded.total_bounds))
    assert not some.have_extent((139.6, 35.6, 139.8, 35.8))
    assert len(passes) == 1


def test_nobody_and_nothing(data):
    nobody = Originals.nobody(data.crs)
    assert not derived_from(data, nobody)
    assert not derived_from(data.iloc[:0], Originals.of(data))
    assert not nobody.have_extent(tuple(data.total_bounds))
    some, _ = in_parts(data.iloc[:0])
    assert not some.have_extent(tuple(data.total_bounds))


def test_its_repr_holds_no_location(data):
    assert "139" not in repr(Originals.of(data))
