import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from geotracs import InputError, metrics
from geotracs.utility.compare import displacement
from geotracs.utility.metrics import summary
from tests.conftest import TOKYO


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
    with pytest.raises(InputError, match="the release has none on record"):
        geotracs.compare(before, after, by="trajectory")


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
    nested = after.set_axis(pd.MultiIndex.from_product([["a"], range(4)]))
    with pytest.raises(InputError, match="differ in their index"):
        displacement(before, nested)
    with pytest.raises(InputError, match="number of locations"):
        geotracs.compare(before, after.assign(geometry=[shapely.LineString([(0, 0), (1, 1)])] * 4).set_crs(32654))
    with pytest.raises(InputError, match="`by` must be"):
        geotracs.compare(before, after, by="nope")
    with pytest.raises(InputError, match="'geometry' holds locations"):
        geotracs.compare(before, after, by="geometry")
    with pytest.raises(InputError, match="perturbed frame has no CRS"):
        geotracs.compare(before, after.set_crs(None, allow_override=True))
    with pytest.raises(InputError, match="`within` must hold"):
        geotracs.compare(before, after, within=[0])


def test_summary_of_nothing():
    assert all(np.isnan(value) for value in summary(np.array([])).values())


@pytest.fixture
def release(tracks):
    private = geotracs.perturb(tracks, 4, domain=TOKYO, trajectory="person", time="t", keep=[])
    return tracks, private


TRAJECTORY_METRICS = ["hausdorff", "frechet", "hotspots"]
WHOLE_METRICS = ["range_query", "grid", "origin_destination", "trip_length"]


def test_all_metrics_by_name(release):
    names = [*TRAJECTORY_METRICS, "rqp", *WHOLE_METRICS, "ae"]
    result = geotracs.compare(*release, metrics=names, within=[500])
    assert list(result.index) == [*TRAJECTORY_METRICS, "rqp_500", *WHOLE_METRICS, "ae"]
    assert np.isfinite(result).all()
    pd.testing.assert_series_equal(result, release[0].tracs.compare(release[1], metrics=names, within=[500]))
    assert geotracs.compare(*release, metrics="grid")["grid"] == result["grid"]
    default = geotracs.compare(*release)
    pd.testing.assert_series_equal(default, geotracs.compare(*release, metrics=["ae", "median", "p95", "max", "rqp"]))
    assert default["ae"] == result["ae"]
    assert geotracs.compare(*release, metrics=["max", "ae", "max"]).index.tolist() == ["max", "ae"]


def test_nothing_is_lost_when_nothing_is_moved(release):
    tracks, private = release
    same = private.assign(geometry=tracks.geometry)
    same.attrs = private.attrs
    result = geotracs.compare(tracks, same, metrics=[*TRAJECTORY_METRICS, *WHOLE_METRICS])
    assert result.tolist() == [0] * 7


def test_trajectory_metrics_are_measured_in_metres_and_in_order_of_time():
    """Two walks along a meridian and their reports, 1 minute of latitude apart; rows in a mess."""
    minute = 1 / 60
    before = gpd.GeoDataFrame(
        {"who": ["a", "a", "b", "a"], "t": [3, 1, 1, 2]},
        geometry=gpd.points_from_xy([5] * 4, [50 + 2 * minute, 50, 50, 50 + minute]),
        crs=4326,
    )
    after = before.assign(geometry=gpd.points_from_xy([5] * 4, [50 + 3 * minute, 50 + minute, 50, 50 + 2 * minute]))
    after = after.set_crs(4326)
    after.attrs["tracs"] = {"method": "m", "epsilon": 1.0, "trajectory": "who", "time": "t"}
    by = geotracs.compare(before, after, metrics=["ae", "hausdorff", "frechet"], by="trajectory")
    assert by.index.tolist() == ["a", "b"]
    mile = 1853.8  # a minute of latitude at 50 degrees north
    assert by.loc["a"].tolist() == pytest.approx([mile] * 3, rel=5e-3)  # the scale of the plane is that of a sphere
    assert by.loc["b"].tolist() == [0, 0, 0]
    overall = geotracs.compare(before, after, metrics=["hausdorff"])
    assert overall["hausdorff"] == pytest.approx(by["hausdorff"].mean())
    # Backwards, the reports are as near as before but not in order.
    after["geometry"] = after.geometry.to_numpy()[[1, 0, 2, 3]]
    by = geotracs.compare(before, after, metrics=["hausdorff", "frechet"], by="who")
    assert by.loc["a", "hausdorff"] == pytest.approx(mile, rel=5e-3)
    assert by.loc["a", "frechet"] == pytest.approx(3 * mile, rel=5e-3)


@pytest.mark.parametrize("crs", [3857, 32654, 6668])
def test_metrics_do_not_depend_on_the_crs(release, crs):
    """Not on its units nor on its scale, which is wrong by a quarter in Web Mercator here."""
    tracks, private = release
    names = [*TRAJECTORY_METRICS, *WHOLE_METRICS]
    expected = geotracs.compare(tracks, private, metrics=names)
    moved = private.to_crs(crs)
    assert moved.attrs == private.attrs
    result = geotracs.compare(tracks.to_crs(crs), moved, metrics=names)
    assert result.to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-3)


def test_grid_and_boxes_cover_the_domain_on_record(release, monkeypatch):
    """So that two releases over one domain are measured alike; without a record they cover what is there."""
    seen = []
    public_boxes = metrics.public_boxes
    monkeypatch.setattr(metrics, "public_boxes", lambda bounds: seen.append(bounds) or public_boxes(bounds))
    tracks, private = release
    geotracs.compare(tracks, private, metrics="range_query")
    private.attrs = {}
    geotracs.compare(tracks, private, metrics="range_query")
    (west, south, east, north), own = seen
    assert [east - west, north - south] == pytest.approx([40_680, 39_950], rel=5e-3)  # 0.45 by 0.36 degrees
    assert own[2] - own[0] < east - west
    assert own[3] - own[1] < north - south


def test_hotspots_of_places(release):
    """Each location counts for its nearest place, whatever CRS the layer is in."""
    tracks, private = release
    layer = gpd.GeoSeries.from_xy([139.65, 139.75, 139.65, 139.75, 10], [35.65, 35.65, 35.75, 35.75, 0], crs=4326)
    lost = geotracs.compare(tracks, private, metrics="hotspots", by="trajectory", places=layer.to_crs(3857))
    here, there = (
        np.abs(frame.geometry.y.to_numpy()[:, None] - layer.y.to_numpy()[:4])
        + np.abs(frame.geometry.x.to_numpy()[:, None] - layer.x.to_numpy()[:4])
        for frame in (tracks, private)
    )
    here, there = here.argmin(axis=1), there.argmin(axis=1)
    hot = np.bincount(here).argmax()
    expected = ((here == hot) & (there != hot)).astype(float)
    expected = pd.Series(expected).groupby(tracks["person"].to_numpy(), sort=False).sum()
    assert lost["hotspots"].to_dict() == expected.to_dict()
    discs = gpd.GeoDataFrame(geometry=shapely.buffer(np.asarray(layer.values)[:4], 0.01), crs=4326)
    among_discs = geotracs.compare(tracks, private, metrics="hotspots", by="trajectory", places=discs)
    pd.testing.assert_frame_equal(among_discs, lost)
    for bad, match in (
        (layer.set_crs(None, allow_override=True), "`places` must be"),
        ([1], "`places` must be"),
        (layer.iloc[:0], "no place with a geometry"),
    ):
        with pytest.raises(InputError, match=match):
            geotracs.compare(tracks, private, metrics="hotspots", places=bad)


def test_lines_and_missing_rows_have_trajectory_metrics_too():
    before = gpd.GeoDataFrame(
        {"id": [1, 2, 3]},
        geometry=[shapely.LineString([(0, 0), (1, 0)]), None, shapely.LineString([(5, 5, 1), (6, 6, 1), (7, 7, 1)])],
        crs=32654,
    )
    after = before.copy()
    after.geometry = before.geometry.translate(30, 40)
    by = geotracs.compare(before, after, metrics=["ae", "hausdorff"], by="trajectory")
    assert by.index.tolist() == [0, 2]
    assert by["hausdorff"].to_numpy() == pytest.approx([50, 50], rel=0.05)
    assert np.isfinite(geotracs.compare(before, after, metrics=WHOLE_METRICS)).all()


def test_repeated_labels_and_another_geometry_name(release):
    names = ["hausdorff", "frechet", "grid"]
    expected = geotracs.compare(*release, metrics=names)
    tracks, private = (
        frame.rename_geometry("where").assign(geometry="not me").set_axis([1, 2] * 30) for frame in release
    )
    private.attrs = release[1].attrs
    pd.testing.assert_series_equal(geotracs.compare(tracks, private, metrics=names), expected)


def test_local_crs_and_antimeridian_and_globe():
    local = 'ENGCRS["site",EDATUM["origin"],CS[Cartesian,2],AXIS["x",east],AXIS["y",north],LENGTHUNIT["foot",0.3048]]'
    before, after = (gpd.GeoDataFrame(geometry=[shapely.Point(x, 0)], crs=local) for x in (0, 1000))
    assert geotracs.compare(before, after, metrics="frechet")["frechet"] == pytest.approx(304.8)
    places = gpd.GeoSeries([shapely.Point(0, 0), shapely.Point(1000, 0)], crs=local)
    assert geotracs.compare(after, before, metrics="hotspots", places=places)["hotspots"] == 1
    before, after = (gpd.GeoDataFrame(geometry=[shapely.Point(x, 0)], crs=4326) for x in (179.99, -179.99))
    assert geotracs.compare(before, after, metrics="hausdorff")["hausdorff"] == pytest.approx(2226, rel=1e-3)
    before, after = (
        gpd.GeoDataFrame(geometry=gpd.points_from_xy([x, x + 120, x + 240], [0] * 3), crs=4326) for x in (-170, -160)
    )
    with pytest.raises(InputError, match="more than half of the globe"):
        geotracs.compare(before, after, metrics="hausdorff")


@pytest.mark.parametrize("by", [None, "trajectory"])
def test_metrics_of_nothing(release, by):
    tracks, private = (frame.iloc[:0] for frame in release)
    names = TRAJECTORY_METRICS if by else [*TRAJECTORY_METRICS, *WHOLE_METRICS]
    result = geotracs.compare(tracks, private, metrics=names, by=by)
    assert len(result) == (0 if by else 7)
    assert result.isna().all(axis=None)


def test_metrics_that_do_not_fit(release):
    for arguments, match in (
        ({"metrics": ["ae", "hausdorf"]}, r"`metrics` must be some of \['ae', .*'trip_length'\], got 'hausdorf'"),
        ({"metrics": []}, "`metrics` must be some of"),
        ({"metrics": [3]}, "`metrics` must be some of"),
        ({"metrics": "grid", "by": "person"}, "'grid' is a metric of all trajectories together"),
        ({"metrics": "frechet", "by": "speed"}, "'frechet' is a metric of whole trajectories"),
        ({"metrics": "frechet", "by": "nope"}, "'frechet' is a metric of whole trajectories"),
    ):
        with pytest.raises(InputError, match=match):
            geotracs.compare(*release, **arguments)


def test_without_a_record_by_names_the_trajectory(release):
    tracks, private = release
    expected = geotracs.compare(tracks, private, metrics="hausdorff", by="trajectory")["hausdorff"]
    private.attrs = {}
    by = geotracs.compare(tracks, private, metrics="hausdorff", by="person")["hausdorff"]
    assert by.to_numpy() == pytest.approx(expected.to_numpy(), rel=5e-3)  # the plane is another one
    with pytest.raises(InputError, match="no column 'nope'"):
        geotracs.compare(tracks, private, metrics="hausdorff", by="nope")


@pytest.mark.parametrize("kind", ["parquet", "gpkg"])
def test_a_release_that_was_sorted_is_compared_in_the_order_of_the_frame(tmp_path, kind):
    city = geotracs.datasets.sample_city(people=5, seed=1)
    mixed = city.tracks.sample(frac=1, random_state=0).reset_index(drop=True)
    mixed.loc[3, "t"] = mixed.loc[4, "t"]
    source = geotracs.files.write(mixed, tmp_path / f"in.{kind}")
    geotracs.perturb_file(
        source, tmp_path / f"out.{kind}", 600, "tracs-d",
        sort=True, domain=city.boundary.total_bounds, trajectory="person", time="t", keep=[],
    )  # fmt: skip
    before, after = geotracs.files.read(source), geotracs.files.read(tmp_path / f"out.{kind}")
    assert before["person"].tolist() != after["person"].tolist()
    assert geotracs.compare(before, after)["max"] < 5
    coarse = after.assign(t=after["t"].dt.floor("D"))  # edited by hand: rows belong together by their number
    assert geotracs.compare(before, coarse)["ae"] > 5
    for record in ("a text", {"trajectory": ["person"], "time": {}}, None):  # which anybody may have written
        after.attrs["tracs"] = record
        assert geotracs.compare(before, after)["ae"] > 5
