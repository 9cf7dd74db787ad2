"""States as cells in metres."""

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from geotracs.answers.ground import Ground
from geotracs.answers.reader import Reader
from geotracs.core.domains.globe import RADIUS
from tests.helpers import perturb


def ground(domain, crs, method="joint", cells=10, layer=None, **arguments):
    """Return the ground of a release of one point in the middle of a region, and its reader."""
    middle = domain if isinstance(domain, tuple) else (-10, -10, 10, 10)
    point = shapely.box(*middle).centroid
    frame = gpd.GeoDataFrame({"t": [0.0]}, geometry=[point], crs=crs)
    reader = Reader.of(perturb(frame, 4, method, domain=domain, time="t", **arguments), round_to=layer)
    return Ground.of(reader, cells), reader


def test_cells_in_metres():
    found, _ = ground((0, 0, 20_000, 10_000), 32654)
    assert found.lattice.shape == (10, 5)
    assert found.lattice.sides == pytest.approx((2000, 2000))
    assert found.side == pytest.approx(2000)
    assert np.allclose(found.located(found.points), found.xy)


def test_feet():
    found, _ = ground((900_000, 100_000, 1_000_000, 200_000), 2263)
    assert found.lattice.sides[0] == pytest.approx(10_000 * 0.3048, rel=1e-4)
    assert np.allclose(found.located(found.points), found.xy)


def test_the_globe():
    found, _ = ground(geotracs.domains.Globe(), 4326)
    across, up = found.lattice.sides
    assert found.lattice.periodic
    assert across.max() == pytest.approx(2 * np.pi * RADIUS / found.lattice.shape[0], rel=0.2)
    assert across[0] < 0.5 * across.max()
    assert found.measure.sum() == pytest.approx(1)
    assert up * found.lattice.shape[1] <= np.pi * RADIUS * 1.001
    assert np.allclose(found.located(found.points), found.xy)


def test_places_lie_in_cells():
    places = gpd.GeoSeries(gpd.points_from_xy([1000, 1100, 19_000], [1000, 1100, 9000]), crs=32654)
    found, _ = ground((0, 0, 20_000, 10_000), 32654, "nearest", layer=places, round_to=places)
    assert found.side == 0
    assert len(found.lattice.index) == 3
    assert len(np.unique(found.lattice.index)) == 2


def test_only_what_a_layer_touches():
    found, reader = ground((0, 0, 20_000, 10_000), 32654)
    street = gpd.GeoSeries([shapely.LineString([(1000, 500), (7000, 500)]), None], crs=32654)
    some = found.within(street, reader)
    assert some.xy.round().tolist() == [[1500, 500], [3000, 500], [5000, 500], [6500, 500]]
    assert np.allclose(some.measure, np.array([1000, 2000, 2000, 1000]) / 6000)
    assert found.xy[some.some].tolist() == [[1000, 1000], [3000, 1000], [5000, 1000], [7000, 1000]]
    points = gpd.GeoSeries(gpd.points_from_xy([100, 300, 9000], [100, 100, 9000]), crs=32654)
    assert np.allclose(found.within(points, reader).measure, [2 / 3, 1 / 3])


def test_the_weights_of_a_layer():
    found, reader = ground((0, 0, 20_000, 10_000), 32654)
    census = gpd.GeoDataFrame(
        pd.DataFrame({"people": [3.0, 1.0]}),
        geometry=[shapely.box(0, 0, 4000, 2000), shapely.box(10_000, 0, 14_000, 10_000)],
        crs=32654,
    )
    weights = found.weights(census, "people", reader)
    assert weights.sum() == pytest.approx(1)
    assert weights[found.xy[:, 0] < 4000].sum() == pytest.approx(0.75, abs=0.02)
    with pytest.raises(geotracs.InputError, match="0 everywhere"):
        found.weights(census.translate(10**6, 0).to_frame("geometry"), None, reader)
