import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from geotracs import InputError
from geotracs.compare import displacement
from geotracs.metrics import summary


@pytest.fixture
def pair():
    """Four points in UTM, moved by 3-4-5 triangles of known size."""
    before = gpd.GeoDataFrame(
        {"person": ["a", "a", "b", "b"]}, geometry=gpd.points_from_xy([500000] * 4, [4000000] * 4), crs=32654
    )
    after = before[["geometry"]].assign(
        geometry=gpd.points_from_xy(500000 + 300 * np.arange(4), 4000000 + 400 * np.arange(4))
    )
    return before, after.set_crs(32654)


def test_displacement_is_in_metres_along_the_ellipsoid(pair):
    metres = displacement(*pair)
    # On the central meridian of UTM the scale is 0.9996.
    assert metres.to_numpy() == pytest.approx(np.array([0, 500, 1000, 1500]) / 0.9996, rel=1e-5)
    before, after = pair
    assert displacement(before.to_crs(4326), after.to_crs(3857)).to_numpy() == pytest.approx(
        metres.to_numpy(), abs=1e-3
    )


def test_feet_are_turned_into_metres():
    before = gpd.GeoDataFrame(geometry=[shapely.Point(980000, 200000)], crs=2263)
    after = gpd.GeoDataFrame(geometry=[shapely.Point(981000, 200000)], crs=2263)
    assert displacement(before, after).iloc[0] == pytest.approx(304.8, rel=1e-4)


def test_a_local_crs_without_an_ellipsoid():
    local = 'ENGCRS["site",EDATUM["origin"],CS[Cartesian,2],AXIS["x",east],AXIS["y",north],LENGTHUNIT["foot",0.3048]]'
    before = gpd.GeoDataFrame(geometry=[shapely.Point(0, 0)], crs=local)
    after = gpd.GeoDataFrame(geometry=[shapely.Point(300, 400)], crs=local)
    assert displacement(before, after).iloc[0] == pytest.approx(500 * 0.3048)


def test_overall_and_by_trajectory(pair):
    table = geotracs.compare(*pair, within=[600, 1200])
    assert list(table.index) == ["ae", "median", "p95", "max", "rqp_600", "rqp_1200"]
    assert table["rqp_600"] == 0.5
    assert table["rqp_1200"] == 0.75
    by = pair[0].tracs.compare(pair[1], by="person")
    assert by.index.tolist() == ["a", "b"]
    assert by.loc["a", "max"] == pytest.approx(500.2, abs=0.1)
    assert by.loc["b", "max"] == pytest.approx(1500.6, abs=0.1)


def test_by_trajectory_uses_the_recorded_column(pair):
    before, after = pair
    after.attrs["tracs"] = {"method": "tracs-c", "epsilon": 1.0, "trajectory": "person"}
    pd.testing.assert_frame_equal(
        geotracs.compare(before, after, by="trajectory").reset_index(drop=True),
        geotracs.compare(before, after, by="person").reset_index(drop=True),
    )
    del after.attrs["tracs"]
    assert len(geotracs.compare(before, after, by="trajectory")) == 1


def test_lines_and_missing_rows():
    before = gpd.GeoDataFrame(
        {"id": [1, 2, 3]},
        geometry=[shapely.LineString([(0, 0), (1, 0)]), None, shapely.LineString([(5, 5), (6, 6), (7, 7)])],
        crs=32654,
    )
    after = before.copy()
    after.geometry = before.geometry.translate(3, 4)
    by = geotracs.compare(before, after, by="trajectory")
    assert by.index.tolist() == [0, 2]
    assert by["ae"].to_numpy() == pytest.approx([5, 5], rel=0.01)
    assert len(displacement(before, after)) == 5


def test_rows_are_matched_by_label(pair):
    before, after = pair
    assert displacement(before, after.iloc[::-1]).tolist() == displacement(before, after).tolist()


def test_by_with_missing_rows_in_another_order(pair):
    before, after = pair
    before.loc[1, "geometry"] = None
    after.loc[1, "geometry"] = None
    by = geotracs.compare(before, after.iloc[::-1], by="person", within=700)
    assert by["max"].tolist() == pytest.approx([0, 1500.6], abs=0.1)
    assert by.columns.tolist()[-1] == "rqp_700"


def test_bad_arguments(pair):
    for arguments, match in (({"within": ["a"]}, "`within`"), ({"by": ["person"]}, "`by` must be the name")):
        with pytest.raises(InputError, match=match):
            geotracs.compare(*pair, **arguments)


def test_bad_pairs(pair):
    before, after = pair
    with pytest.raises(InputError, match="differ in their index"):
        geotracs.compare(before, after.iloc[:2])
    with pytest.raises(InputError, match="differ in their index"):
        geotracs.compare(before.set_axis([1] * 4), after)
    with pytest.raises(InputError, match="number of locations"):
        geotracs.compare(before, after.assign(geometry=[shapely.LineString([(0, 0), (1, 1)])] * 4).set_crs(32654))
    with pytest.raises(InputError, match="`by` must be"):
        geotracs.compare(before, after, by="nope")
    with pytest.raises(InputError, match="perturbed frame has no CRS"):
        geotracs.compare(before, after.set_crs(None, allow_override=True))
    with pytest.raises(InputError, match="`within` must hold"):
        geotracs.compare(before, after, within=[0])


def test_summary_of_nothing():
    assert all(np.isnan(value) for value in summary(np.array([])).values())
