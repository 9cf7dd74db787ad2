import json

import geopandas as gpd
import numpy as np
import pyproj
import pytest
import shapely
from geotracs.places import Grid

import geotracs.geo.layers as layers
from geotracs.errors import InputError

DEGREES = pyproj.CRS("EPSG:4326")
POINTS = gpd.GeoDataFrame(
    {"people": [1.0, 2.0, 0.5]}, geometry=gpd.points_from_xy([13.1, 13.2, 13.3], [52.1, 52.2, 52.3]), crs=DEGREES
)
RASTER = (np.arange(6.0).reshape(2, 3), (1.0, 0.0, 13.0, 0.0, -1.0, 53.0))


def test_a_layer_is_recognised_in_any_crs_and_another_is_not():
    known = layers.of_layer(POINTS, DEGREES, weight="people")
    assert layers.is_same(known, POINTS.to_crs(25833), DEGREES, "people")
    assert not layers.is_same(known, POINTS, DEGREES)
    assert not layers.is_same(known, POINTS.iloc[::-1], DEGREES, "people")
    moved = POINTS.set_geometry(POINTS.translate(1e-5))
    assert not layers.is_same(known, moved, DEGREES, "people")


@pytest.mark.parametrize("layer", [POINTS, RASTER, Grid(cell=500.0)], ids=["points", "raster", "grid"])
def test_an_embedded_layer_comes_back_and_is_the_same(layer):
    known = json.loads(json.dumps(layers.of_layer(layer, DEGREES, embed=True)))
    assert layers.is_same(known, layers.restored(known), DEGREES)


def test_a_shape_comes_back_and_its_start_does_not_matter():
    shape = shapely.Polygon([(0, 0), (2, 0), (1, 3)])
    known = json.loads(json.dumps(layers.of_shape(shape, DEGREES, embed=True)))
    assert layers.restored(known).equals(shape)
    turned = shapely.Polygon([(1, 3), (0, 0), (2, 0)])
    assert layers.of_shape(turned, DEGREES)["digest"] == known["digest"]
    assert layers.restored(layers.of_shape(shape, DEGREES)) is None


def test_damage_is_an_error():
    with pytest.raises(InputError, match="damaged"):
        layers.restored({"crs": "EPSG:4326", "wkb": ["AAAA"]})
