"""Rounding: equal to brute force, ties included, for every kind of place."""

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from geotracs import CRSError, GeotracsWarning, InputError, PrivacyWarning, methods
from geotracs.core.domains import Disc, Globe
from geotracs.core.places import Cells, Grid, Points, Shapes
from tests.conftest import TOKYO
from tests.core.domains.shapes import SHAPES
from tests.helpers import perturb

OVER_PLACES = sorted(name for name, method in methods.METHODS.items() if issubclass(method, methods.PlaceMethod))


def brute_force(places, xy):
    return np.array([np.argmin(np.sum((places - p) ** 2, axis=1)) for p in xy])


def release(frame, eps=6, **arguments):
    return perturb(frame, eps, **arguments)


@pytest.fixture
def pois():
    rng = np.random.default_rng(3)
    return gpd.GeoDataFrame(
        {"name": [f"poi {i}" for i in range(50)], "stars": rng.integers(1, 6, 50)},
        geometry=gpd.points_from_xy(rng.uniform(139.5, 139.9, 50), rng.uniform(35.52, 35.85, 50)),
        crs=4326,
        index=[f"p{i}" for i in range(50)],
    )


# Arrays


@pytest.mark.parametrize("count", [1, 2, 3, 10, 1000])
def test_points_are_brute_force(count):
    rng = np.random.default_rng(count)
    places, xy = rng.random((count, 2)), rng.random((3000, 2))
    assert np.array_equal(Points(places).nearest(xy), brute_force(places, xy))


def test_points_ties_go_to_the_first():
    """Whole numbers, so that distances are exact: many ties, duplicates among the places."""
    rng = np.random.default_rng(0)
    places, xy = rng.integers(0, 12, (400, 2)).astype(float), rng.integers(0, 24, (3000, 2)) / 2
    assert np.array_equal(Points(places).nearest(xy), brute_force(places, xy))
    ring = np.array(
        [[0, 5], [3, 4], [4, 3], [5, 0], [4, -3], [3, -4], [0, -5], [-3, -4], [-4, -3], [-5, 0], [-4, 3], [-3, 4]]
    )
    for turn in range(12):  # twelve places at the same distance
        assert Points(np.roll(ring, turn, axis=0).astype(float)).nearest(np.zeros((1, 2))).tolist() == [0]


def test_points_on_the_sphere():
    places = np.array([[179.0, 0.0], [-170.0, 0.0], [0.0, 89.0]])
    xy = np.array([[-179.0, 0.0], [180.0, 88.0], [-174.0, 1.0]])
    assert Points(places, on_sphere=True).nearest(xy).tolist() == [0, 2, 1]


@pytest.mark.parametrize("kind", ["lines", "areas", "mixed"])
def test_shapes_are_brute_force(kind):
    rng = np.random.default_rng(1)
    ends = rng.random((40, 2, 2))
    lines = shapely.linestrings(ends)
    areas = shapely.buffer(shapely.points(rng.random((40, 2))), rng.uniform(0.01, 0.1, 40))
    geometries = {"lines": lines, "areas": areas, "mixed": np.concatenate([lines[:20], areas[:20]])}[kind]
    xy = rng.random((800, 2))
    which, found = Shapes(geometries).round(xy)
    distance = shapely.distance(geometries[None, :], shapely.points(xy)[:, None])
    assert np.array_equal(which, distance.argmin(axis=1))
    assert np.hypot(*(found - xy).T) == pytest.approx(distance.min(axis=1), abs=1e-12)
    assert shapely.distance(geometries[which], shapely.points(found)).max() < 1e-12


def test_shapes_ties_and_centroids():
    squares = shapely.box([0, 1, 0], [0, 0, 0], [1, 2, 1], [1, 1, 1])
    which, xy = Shapes(squares).round(np.array([[1.0, 0.5], [0.5, 0.5], [1.5, 3.0]]))
    assert which.tolist() == [0, 0, 1]
    assert xy.tolist() == [[1.0, 0.5], [0.5, 0.5], [1.5, 1.0]]
    which, xy = Shapes(squares, centroid=True).round(np.array([[1.9, 0.9]]))
    assert (which.tolist(), xy.tolist()) == ([1], [[1.5, 0.5]])


def test_cells_are_brute_force():
    cells = Grid(nx=7, ny=4).over((10, 20, 80, 40), 1.0)
    rng = np.random.default_rng(0)
    xy = np.column_stack([rng.uniform(10, 80, 5000), rng.uniform(20, 40, 5000)])
    which, middle = cells.round(xy)
    assert np.array_equal(which, brute_force(cells.sample(28), xy))
    assert np.array_equal(middle, cells.sample(28)[which])
    # On a line between cells: the upper or right one; beyond the grid: the last one.
    edge = np.array([[20.0, 25.0], [80.0, 40.0], [10.0, 20.0]])
    assert cells.round(edge)[0].tolist() == [8, 27, 0]


def test_grid_by_cell_size_in_metres_and_feet():
    assert Grid(cell=500).over((0, 0, 2000, 900), 1.0).counts == (4, 2)
    feet = Grid(cell=304.8).over((0, 0, 4000, 2000), 0.3048)
    assert isinstance(feet, Cells)
    assert feet.counts == (4, 2)


# Frames


@pytest.mark.parametrize("crs", [4326, 32654, 3857])
@pytest.mark.parametrize("method", ["tracs-c", "tracs-d"])
def test_reports_are_places_with_labels_and_attributes(tracks, pois, crs, method):
    layer = pois.to_crs(crs)
    private = release(tracks, method=method, round_to=layer, join=["name"], trajectory="person", time="t")
    assert list(private.columns) == ["person", "t", "place", "name", "geometry"]
    expected = layer.to_crs(tracks.crs).geometry.loc[private["place"]]
    assert np.array_equal(expected.x, private.geometry.x)
    assert np.array_equal(expected.y, private.geometry.y)
    assert private["name"].tolist() == pois["name"].loc[private["place"]].tolist()
    plain = release(tracks, method=method, trajectory="person", time="t")
    metric = plain.to_crs(32654)
    near = brute_force(
        shapely.get_coordinates(pois.to_crs(32654).geometry.values), shapely.get_coordinates(metric.geometry.values)
    )
    assert np.mean(pois.index[near] == private["place"]) > 0.95  # the working CRS is not UTM


def test_column_name_and_conflicts(tracks, pois):
    assert "shop" in release(tracks, round_to=pois, place="shop")
    with pytest.raises(InputError, match="two columns 'person'"):
        release(tracks, round_to=pois, place="person", trajectory="person")
    with pytest.raises(InputError, match="two columns 'name'"):
        release(tracks, round_to=pois, place="name", join=["name"])
    with pytest.raises(InputError, match="`round_to` has no column 'colour'"):
        release(tracks, round_to=pois, join=["colour"])
    with pytest.raises(InputError, match=r"use join=\['name'\]"):
        release(tracks, round_to=pois, join="name")


def test_missing_rows_and_lines(tracks, pois):
    tracks.loc[tracks.index[2], "geometry"] = None
    private = release(tracks, round_to=pois, join=["stars"])
    assert private["place"].isna().to_numpy().nonzero()[0].tolist() == [2]
    line = gpd.GeoDataFrame(geometry=[shapely.LineString([(139.6, 35.6), (139.7, 35.7)])], crs=4326)
    private = release(line, round_to=pois)
    assert list(private.columns) == ["geometry"]
    assert pois.union_all().buffer(1e-12).covers(private.geometry.iloc[0].boundary)


def test_ugly_layers(tracks, pois):
    ugly = pd.concat([pois, pois.iloc[:5]])  # duplicates, labels too
    ugly.iloc[7, ugly.columns.get_loc("geometry")] = None
    ugly.iloc[9, ugly.columns.get_loc("geometry")] = shapely.Point()
    private = release(tracks, round_to=gpd.GeoDataFrame(ugly, crs=4326))
    assert not private["place"].isin(["p7", "p9"]).any()
    assert private.geometry.notna().all()


@pytest.mark.parametrize("kind", ["lines", "areas"])
def test_lines_and_areas(tracks, pois, kind):
    metric = pois.to_crs(32654)
    layer = metric.set_geometry(metric.buffer(400) if kind == "areas" else metric.buffer(800).boundary)
    private = release(tracks, round_to=layer)
    chosen = layer.geometry.loc[private["place"]].to_numpy()
    assert shapely.distance(chosen, private.to_crs(32654).geometry.to_numpy()).max() < 1e-3
    middle = release(tracks, round_to=layer, centroid=True).to_crs(32654)
    expected = layer.to_crs(4326).geometry.loc[middle["place"]].to_crs(32654).centroid
    assert middle.geometry.distance(gpd.GeoSeries(expected.to_numpy(), index=middle.index, crs=32654)).max() < 1


def test_grid(tracks):
    private = release(tracks, round_to=Grid(cell=500))
    assert private["place"].dtype.kind == "i"
    metric = private.to_crs(private.attrs["tracs"]["crs"])
    steps = metric.geometry.x.drop_duplicates().sort_values().diff().dropna()
    assert np.allclose(steps / 500, (steps / 500).round(), atol=1e-6)
    assert release(tracks, round_to=Grid(nx=3, ny=2))["place"].between(0, 5).all()
    assert (
        release(tracks, round_to=Grid(nx=3, ny=2), domain=SHAPES["coast of 1,000"], outside="clip")["place"]
        .notna()
        .all()
    )


@pytest.mark.parametrize("name", ["L", "ring", "coast of 1,000"])
def test_cells_that_reach_out_are_reported_inside(name):
    shape = SHAPES[name]
    frame = gpd.GeoDataFrame(geometry=gpd.GeoSeries([shape], crs=4326).sample_points(500, rng=0).explode(), crs=4326)
    private = release(frame, domain=shape, round_to=Grid(cell=900))
    assert shapely.covers(shape, private.geometry.values).all()
    assert private.groupby("place").geometry.nunique().eq(1).all()


def test_a_grid_of_many_cells_costs_nothing(tracks):
    private = release(tracks, round_to=Grid(nx=10**6, ny=10**6))
    assert private["place"].max() < 10**12
    assert private.attrs["tracs"]["places"] == 10**12
    assert "rounded to 1,000,000,000,000 public places" in str(private.tracs.guarantee)


def test_a_shape_on_the_other_side_of_the_earth_is_not_near():
    roads = gpd.GeoSeries(
        [shapely.LineString([(179.2, 51.6), (179.4, 51.8)]), shapely.LineString([(-2, 51.6), (2, 51.6)])], crs=4326
    )
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy(np.linspace(179.1, 179.9, 200), np.full(200, 51.6)), crs=4326)
    assert (release(frame, domain=(179, 51.2, -179.5, 52), round_to=roads)["place"] == 0).all()


def test_what_is_for_places_needs_places(tracks, pois):
    for arguments in ({"join": ["name"]}, {"centroid": True}):
        with pytest.raises(InputError, match="give them with `round_to`"):
            release(tracks, **arguments)
    line = gpd.GeoDataFrame(geometry=[shapely.LineString([(139.6, 35.6), (139.7, 35.7)])], crs=4326)
    with pytest.raises(InputError, match="`join` is for points"):
        release(line, round_to=pois, join=["name"])
    for place in ("geometry", None):
        with pytest.raises(InputError, match="`place`"):
            release(tracks, round_to=pois, place=place)
    with pytest.raises(InputError, match="no active geometry"):
        release(tracks, round_to=gpd.GeoDataFrame({"a": [1]}))
    assert list(release(tracks.iloc[:0], domain=None, round_to=pois, join=["name"]).columns) == [
        "place",
        "name",
        "geometry",
    ]


def test_on_a_disc_and_the_globe(tracks, pois):
    disc = Disc((139.7, 35.7), 20_000)
    assert release(tracks, method="tracs-d", domain=disc, round_to=pois)["place"].notna().all()
    assert release(tracks, method="tracs-d", domain=disc, round_to=Grid(cell=1000))["place"].notna().all()
    rng = np.random.default_rng(0)
    airports = gpd.GeoSeries(gpd.points_from_xy(rng.uniform(-180, 180, 900), rng.uniform(-80, 80, 900)), crs=4326)
    private = release(tracks, eps=20, domain=Globe(), round_to=airports)
    assert private.geometry.geom_equals(airports.loc[private["place"]].set_axis(private.index)).all()
    with pytest.raises(InputError, match="does not fit the globe"):
        release(tracks, domain=Globe(), round_to=Grid(cell=500))
    with pytest.raises(InputError, match="points only"):
        release(tracks, domain=Globe(), round_to=gpd.GeoSeries([shapely.box(0, 0, 1, 1)], crs=4326))


# Methods over places


@pytest.mark.parametrize("crs", [4326, 32654])
@pytest.mark.parametrize("method", OVER_PLACES)
def test_reports_of_a_method_over_places_are_places(tracks, pois, method, crs):
    layer = pois.to_crs(crs)
    private = release(tracks, method=method, round_to=layer, join=["name"], trajectory="person", time="t")
    assert list(private.columns) == ["person", "t", "place", "name", "geometry"]
    expected = layer.to_crs(tracks.crs).geometry.loc[private["place"]]
    assert np.array_equal(expected.x, private.geometry.x)
    assert np.array_equal(expected.y, private.geometry.y)
    assert private["name"].tolist() == pois["name"].loc[private["place"]].tolist()


@pytest.mark.parametrize("layer", ["points", "grid", "areas"])
def test_the_secret_is_the_nearest_place(tracks, pois, layer):
    """At a huge epsilon k-RR reports the truth: the place that rounding the location itself gives."""
    places = {
        "points": pois,
        "grid": Grid(nx=8, ny=6),
        "areas": pois.set_geometry(shapely.buffer(pois.geometry.values, 0.004)),
    }[layer]
    arguments = {"round_to": places, "centroid": layer == "areas"}
    private = release(tracks, method="k-rr", eps=600, **arguments)
    rounded = release(tracks, method="tracs-c", eps=600, **arguments)
    assert np.mean(private["place"] == rounded["place"]) > 0.98  # one location may lie on the line between two
    same = private["place"] == rounded["place"]
    assert private.geometry[same].geom_equals(rounded.geometry[same]).all()


@pytest.mark.parametrize("method", OVER_PLACES)
def test_methods_over_places_need_places(tracks, pois, method):
    with pytest.raises(InputError, match=f"{method} reports places of a public set; give it with `round_to`"):
        release(tracks, method=method)
    with pytest.raises(InputError, match="use centroid=True"):
        release(tracks, method=method, round_to=pois.set_geometry(shapely.buffer(pois.geometry.values, 0.01)))
    with pytest.raises(InputError, match="at most 4,194,304"):
        release(tracks, method=method, round_to=Grid(nx=10**4, ny=10**4))
    same = pois.set_geometry([pois.geometry.iloc[7]] * len(pois), crs=4326)
    assert (release(tracks, method=method, round_to=same)["place"] == "p0").all()  # duplicates have the first label
    twice = pd.concat([pois, pois.set_axis([f"again {label}" for label in pois.index])])
    assert release(tracks, method=method, round_to=twice)["place"].isin(pois.index).all()


def test_a_guarantee_over_places_speaks_of_places(tracks, pois):
    private = release(tracks, method="exponential", round_to=pois)
    text = str(private.tracs.guarantee)
    assert "likelier from one than from another of any two places of the set." in text
    assert "The set is 50 public places, and a location counts as its nearest one." in text
    assert "rounded" not in text
    laplace = str(release(tracks, method="planar-laplace", round_to=pois).tracs.guarantee)
    assert "any two places in the region" in laplace
    assert "rounded to 50 public places" in laplace
    assert "floating point" not in laplace


def test_k_rr_on_the_globe_and_fits(tracks, pois):
    rng = np.random.default_rng(0)
    airports = gpd.GeoSeries(gpd.points_from_xy(rng.uniform(-180, 180, 90), rng.uniform(-80, 80, 90)), crs=4326)
    assert release(tracks, method="k-rr", domain=Globe(), round_to=airports)["place"].between(0, 89).all()
    with pytest.raises(InputError, match="which the globe is not"):
        release(tracks, method="l-srr", domain=Globe(), round_to=airports)
    assert release(tracks, method="atp", domain=Disc((139.7, 35.7), 20_000), round_to=pois)["place"].notna().all()
    shape = SHAPES["coast of 1,000"]
    assert (
        release(tracks, method="ngram", domain=shape, outside="clip", fit="best", round_to=pois)["place"].notna().all()
    )


def test_places_decide_the_start(tracks):
    """All places in one corner: from there, distances are short, and the first report of a trajectory is better."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(139.85, 139.9, 300), rng.uniform(35.8, 35.85, 300)
    pois = gpd.GeoDataFrame(geometry=gpd.points_from_xy(x, y), crs=4326)
    frame = pd.concat([pois] * 20, ignore_index=True).assign(person=lambda f: f.index)
    ae = {
        start: frame.tracs.compare(
            release(frame, eps=4, method="tracs-d", trajectory="person", start=start, round_to=pois)
        )["ae"]
        for start in ("corner", "places")
    }
    assert ae["places"] < 0.9 * ae["corner"]
    fixed = release(frame, eps=4, method="tracs-d", trajectory="person", reference="places", round_to=pois)
    assert frame.tracs.compare(fixed)["ae"] == pytest.approx(ae["places"], rel=0.1)
    for option in ("start", "reference"):
        with pytest.raises(InputError, match="needs places"):
            release(tracks, method="tracs-d", **{option: "places"})


@pytest.mark.slow
def test_a_million_places():
    rng = np.random.default_rng(0)
    places = rng.random((10**6, 2))
    xy = rng.random((20_000, 2))
    found = Points(places).nearest(xy)
    some = slice(0, 20)
    assert np.array_equal(found[some], brute_force(places, xy[some]))


# Bad layers


def test_bad_layers(tracks, pois):
    with pytest.raises(InputError, match="has no place with a geometry"):
        release(tracks, round_to=pois.iloc[:0])
    with pytest.raises(InputError, match="has no place with a geometry"):
        release(tracks, round_to=gpd.GeoSeries([None, shapely.Point()], crs=4326))
    with pytest.raises(CRSError, match="`round_to` has no CRS"):
        release(tracks, round_to=pois.set_crs(None, allow_override=True))
    with pytest.raises(InputError, match="`round_to` must be a GeoDataFrame"):
        release(tracks, round_to="pois.gpkg")
    far = pois.set_geometry(pois.translate(10, 0))
    with pytest.warns(GeotracsWarning, match="All places of `round_to` lie outside the domain"):
        geotracs.perturb(tracks, 4, domain=TOKYO, keep=[], round_to=far)
    with pytest.warns(PrivacyWarning, match="rounding to it publishes them"):
        geotracs.perturb(tracks, 4, domain=TOKYO, keep=[], round_to=tracks)
    with pytest.raises(InputError, match="are for layers"):
        release(tracks, round_to=Grid(cell=500), join=["name"])


@pytest.mark.parametrize(
    "arguments", [{}, {"cell": 0}, {"cell": -5}, {"cell": "big"}, {"cell": 5, "nx": 2}, {"nx": 3}, {"nx": 0, "ny": 3}]
)
def test_bad_grids(arguments):
    with pytest.raises(InputError, match="`cell`"):
        Grid(**arguments)


def test_cell_larger_than_the_domain(tracks):
    with pytest.raises(InputError, match="larger than the domain"):
        release(tracks, round_to=Grid(cell=10**6))
