import geopandas as gpd
import numpy as np
import pytest
import shapely

import geotracs
import geotracs.geo.region as regions
from geotracs import InputError
from geotracs.geo.originals import Originals
from geotracs.views import lattices


def region(domain, crs=4326):
    return regions.resolve(domain, Originals.nobody(gpd.GeoSeries(crs=crs).crs))


def test_hexagons_cover_the_region_and_do_not_overlap():
    own = region((139.4, 35.5, 139.9, 35.9))
    found = lattices.hexagons(own, 4000)
    plane = found.to_crs(own.crs).geometry
    assert np.allclose(plane.area, 4000**2 * np.sqrt(3) / 2, rtol=1e-6)
    common = shapely.area(shapely.intersection_all(plane.values[:2]))
    assert common < 1
    assert plane.union_all().buffer(1).covers(own.domain.outline)
    assert found.index.is_unique


def test_boxes_are_those_of_the_grid():
    grid = geotracs.places.Grid(nx=4, ny=2)
    found = lattices.boxes(region((0, 0, 40, 20), 32654), grid)
    assert found.index.tolist() == list(range(8))
    assert found.geometry.iloc[5].bounds == (10, 10, 20, 20)


def test_across_the_antimeridian_each_is_in_one_piece():
    found = lattices.hexagons(region((178, -19, -178, -16)), 50_000)
    west, _, east, _ = found.bounds.T.to_numpy()
    assert (east - west).max() < 1


def test_on_the_globe_and_too_many():
    assert len(lattices.hexagons(region(geotracs.domains.Globe()), 20)) > 100
    with pytest.raises(InputError, match="take wider ones"):
        lattices.hexagons(region((0, 0, 1, 1)), 10)
