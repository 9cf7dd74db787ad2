from importlib.resources import files

import numpy as np
import pytest
import shapely

from geotracs.views import ground


@pytest.mark.parametrize(
    ("where", "bounds", "on_land"),
    [
        ("Madrid", (-4.5, 40.0, -3.0, 41.0), True),
        ("the Atlantic", (-40.5, 30.0, -39.5, 31.0), False),
        ("Fiji's waters from the west", (179.0, -22.5, 181.0, -20.5), False),
        ("Chukotka beyond 180 degrees", (181.0, 66.0, 184.0, 68.0), True),
    ],
)
def test_land_is_where_it_is(where, bounds, on_land):
    land, _ = ground.around(bounds)
    middle = shapely.box(*bounds).centroid
    assert shapely.contains(land, middle).any() == on_land, where


def test_a_border_runs_along_the_rhine():
    _, borders = ground.around((7.0, 48.0, 8.5, 49.0))
    assert shapely.distance(borders, shapely.Point(7.8, 48.5)).min() < 0.05


def test_the_world_is_light_and_small_views_have_none():
    land, borders = ground.around((-180, -85, 180, 85))
    assert sum(shapely.get_num_coordinates([*land, *borders])) < 20_000
    assert len(ground.around((10, 50, 10.001, 50.001))[0]) == 0
    assert len(ground.around((10, 50, 10, 50))[0]) == 0


def test_the_licence_is_beside_it():
    text = files("geotracs.views.ground").joinpath("LICENSE.txt").read_text()
    assert "public domain" in text
    assert "Michael Bostock" in text


@pytest.mark.parametrize("bounds", [(0, 0, 1e30, 1), (-1e6, 0, 1e6, 1), (0, -1e30, 1, 1e30), (0, 0, np.inf, 1)])
def test_damaged_coordinates_are_no_view_of_the_earth(bounds):
    land, borders = ground.around(bounds)
    assert len(land) == len(borders) == 0
