import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from geotracs.answers.reader import Reader
from geotracs.answers.zones import Zones
from geotracs.errors import CRSError, GeotracsWarning, InputError
from tests.answers.test_flows import CRS, grid, people, release


@pytest.fixture(scope="module")
def reader():
    return Reader.of(release(people(5)))


def test_zones_come_into_the_working_crs(reader):
    found = Zones.of(grid(3, 2).to_crs(4326), reader)
    assert found.labels.tolist() == [f"z{k}" for k in range(6)]
    assert shapely.area(found.shapes) == pytest.approx(np.full(6, 1e8), rel=1e-3)
    assert found.own.crs == 4326
    assert found.open < 1e-3


def test_states_are_divided_among_zones(reader):
    states = reader.states(side=10)
    shares = Zones.of(grid(3, 1), reader).shares(states)
    assert shares.shape == (3, states.count)
    assert np.allclose(shares.sum(axis=0), 1)
    assert shares @ states.prior == pytest.approx([1 / 3] * 3)
    assert set(np.unique(shares.round(6))) - {0, 1} != set()  # ten columns, three zones


def test_what_is_in_no_zone_comes_last(reader):
    states = reader.states(side=10)
    with pytest.warns(GeotracsWarning, match=r"leave 50\.0% of the region's area open"):
        zones = Zones.of(grid(2, 2).iloc[:2], reader)
    shares = zones.shares(states)
    assert len(shares) == 3
    assert shares @ states.prior == pytest.approx([0.25, 0.25, 0.5], abs=0.01)


def test_seams_belong_to_their_neighbours(reader):
    seam = grid(2, 1)
    seam.geometry = seam.geometry.buffer(-1)  # metres
    shares = Zones.of(seam, reader).shares(reader.states(side=20))
    assert len(shares) == 2
    assert np.allclose(shares.sum(axis=0), 1)


def test_middles_are_inside(reader):
    ring = shapely.Point(15_000, 10_000).buffer(5000).difference(shapely.Point(15_000, 10_000).buffer(4000))
    with pytest.warns(GeotracsWarning):
        zones = Zones.of(gpd.GeoSeries([ring], crs=CRS), reader)
    assert shapely.Point(zones.middles()[0]).within(ring)


ONE = shapely.box(0, 0, 9000, 9000)


@pytest.mark.parametrize(
    ("zones", "words"),
    [
        ([ONE], "`zones` must be a GeoDataFrame or a GeoSeries of areas, got a list"),
        (gpd.GeoSeries([], crs=CRS), "`zones` holds no area"),
        (gpd.GeoSeries([ONE, None, shapely.Point(1, 1)], crs=CRS), "2 of 3 are points, lines, empty or missing"),
        (gpd.GeoSeries([shapely.Polygon([(0, 0), (9, 9), (9, 0), (0, 9)])], crs=CRS), "1 of 1 `zones` are not valid"),
        (
            gpd.GeoSeries([ONE, shapely.box(9000, 0, 9999, 9)], index=["a", "a"], crs=CRS),
            "index of `zones` must be unique",
        ),
        (gpd.GeoSeries([ONE, shapely.box(8000, 0, 18_000, 9000)], crs=CRS), r"`zones` overlap in 1 place\(s\)"),
        (gpd.GeoSeries([ONE, shapely.box(-9, -9, -1, -1)], crs=CRS), "1 of 2 `zones` lie outside the region"),
    ],
)
def test_zones_that_cannot_be_used(reader, zones, words):
    with pytest.raises(InputError, match=words):
        Zones.of(zones, reader)


def test_a_crs_is_needed(reader):
    with pytest.raises(CRSError, match=r"`areas` have no CRS; say which one, e\.g\. areas\.set_crs"):
        Zones.of(gpd.GeoSeries([ONE]), reader, name="areas")


def test_a_sliver_is_no_overlap(reader):
    close = gpd.GeoSeries([shapely.box(0, 0, 15_001, 20_000), shapely.box(15_000, 0, 30_000, 20_000)], crs=CRS)
    zones = Zones.of(close, reader)
    assert zones.labels.equals(pd.RangeIndex(2))
    assert np.allclose(zones.shares(reader.states(side=12)).sum(axis=0), 1)
