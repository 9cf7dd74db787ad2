"""Every region through the accessor: reports are covered, errors are as predicted, bad regions are refused."""

import functools
import math
import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj
import pytest
import shapely
from scipy.stats import chi2
from shapely import affinity

import geotracs
from geotracs import CRSError, DomainError, GeotracsWarning, InputError, PrivacyWarning, methods
from geotracs.core.domains import Disc, Globe, Parallelogram, Polygon, Rectangle, Transport
from geotracs.core.mechanisms import Piecewise
from geotracs.geo.originals import Originals
from geotracs.geo.region import resolve
from tests.core.domains.shapes import SHAPES, X, Y
from tests.drawing import run
from tests.helpers import FALSE_ALARM, perturb

METHODS = ["tracs-c", "tracs-d"]


@functools.cache  # a sliver takes a second
def inside(shape, n, crs=4326, seed=0):
    """n locations in a shape."""
    points = gpd.GeoSeries([shape], crs=crs).sample_points(n, rng=seed).explode()
    return gpd.GeoDataFrame({"person": np.arange(len(points)) % 7}, geometry=points.reset_index(drop=True), crs=crs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "fit"),
    [
        *[(method, fit) for method in METHODS for fit in ("envelope", "oriented")],
        ("tracs-c", "transport"),
        ("joint", "envelope"),
        ("joint", "transport"),
    ],
)
@pytest.mark.parametrize("name", SHAPES)
def test_every_report_is_covered_in_the_users_crs(name, fit, method):
    shape = SHAPES[name]
    frame = inside(shape, 400)
    private = perturb(frame, 1, method, domain=shape, fit=fit, trajectory="person")
    assert shapely.covers(shape, private.geometry.values).all()
    assert not private.geometry.geom_equals(frame.geometry).any()
    is_box = shape.equals(shapely.box(*shape.bounds))  # and needs no rectangle around it
    assert private.attrs["tracs"]["domain"].get("fit") == (None if is_box and fit != "transport" else fit)


@pytest.mark.slow
def test_the_fitted_rectangle_is_the_one_asked_for():
    for name, shape in SHAPES.items():
        around = {fit: resolve(shape, Originals.nobody(4326), fit=fit).domain for fit in ("envelope", "oriented")}
        if shape.equals(shapely.box(*shape.bounds)):
            assert isinstance(around["envelope"], Rectangle), name
            assert around["envelope"] == around["oriented"], name
            continue
        envelope, oriented = (around[fit].chart for fit in ("envelope", "oriented"))
        assert isinstance(envelope, Rectangle), name
        assert isinstance(oriented, Parallelogram), name
        assert shapely.Polygon(oriented.vertices).area <= shapely.Polygon(envelope.vertices).area * (1 + 1e-9), name


@pytest.mark.parametrize("crs", [32654, 3857, 2263, 6677])
@pytest.mark.parametrize("name", ["L", "archipelago", "triangle", "coast of 1,000"])
def test_every_report_is_covered_in_projected_crss(name, crs):
    shape = gpd.GeoSeries([SHAPES[name]], crs=4326)
    if crs == 2263:  # New York, in feet
        shape = gpd.GeoSeries([affinity.translate(SHAPES[name], -X - 74.0, 40.7 - Y)], crs=4326)
    frame = inside(shape.iloc[0], 300).to_crs(crs)
    for domain in (shape, shape.to_crs(crs), shape.to_crs(crs).iloc[0]):
        private = perturb(frame, 1, domain=domain, outside="clip")
        assert shapely.covers(shape.to_crs(crs).iloc[0], private.geometry.values).all()


def test_draws_come_first_and_the_projection_after():
    """The same draws on the fitted rectangle, then the nearest point of the polygon: nothing else."""
    shape = SHAPES["L"]
    frame = inside(shape, 500).to_crs(32654)
    polygon = gpd.GeoSeries([shape], crs=4326).to_crs(32654).iloc[0]
    on_rectangle = perturb(frame, 2, domain=polygon.bounds)
    on_polygon = perturb(frame, 2, domain=polygon)
    kept = on_rectangle.covered_by(polygon).to_numpy()
    assert 0.2 < kept.mean() < 0.8
    assert on_polygon.geometry[kept].geom_equals(on_rectangle.geometry[kept]).all()
    moved = on_polygon.distance(on_rectangle)[~kept]
    assert moved.to_numpy() == pytest.approx(on_rectangle.distance(polygon)[~kept].to_numpy(), abs=1e-4)


def test_a_repairable_polygon_is_repaired_with_a_warning():
    bow_tie = shapely.Polygon([(X, Y), (X + 0.1, Y + 0.1), (X + 0.1, Y), (X, Y + 0.1)])
    frame = inside(shapely.make_valid(bow_tie), 50)
    with pytest.warns(GeotracsWarning, match=r"was not valid \(Self-intersection\) and was repaired"):
        private = geotracs.perturb(frame, 2, domain=bow_tie, keep=[])
    assert shapely.covers(shapely.make_valid(bow_tie), private.geometry.values).all()


def test_record_of_a_polygon():
    private = perturb(inside(SHAPES["L"], 20), domain=SHAPES["L"], fit="oriented")
    record = private.attrs["tracs"]["domain"]
    assert record["kind"] == "polygon"
    assert record["fit"] == "oriented"
    assert record["bounds"] == list(SHAPES["L"].bounds)
    assert "public polygon" in str(private.tracs.guarantee)


def test_a_domain_made_of_the_data_warns(tracks):
    box = shapely.box(*tracks.total_bounds)
    there = gpd.GeoSeries([box], crs=4326).to_crs(32654)
    for domain in (tracks.total_bounds, box, box.buffer(1e-12, join_style="mitre"), there):
        with pytest.warns(PrivacyWarning, match="has the extent of the private data"):
            geotracs.perturb(tracks, 4, domain=domain, keep=[], outside="clip")


def test_the_record_does_not_tell_where_anybody_is():
    """What is recorded depends on what the caller said, never on how it compares with the private locations."""
    domain, records = (500_000, 5_000_000, 510_000, 5_010_000), []
    prior = gpd.GeoSeries(gpd.points_from_xy([500_000, 502_000], [5_000_000, 5_002_000]), crs=32633)
    for secret in ((510_000, 5_010_000), (502_000, 5_002_000), (505_000, 5_005_000)):
        frame = gpd.GeoDataFrame(
            geometry=gpd.points_from_xy(*zip((500_000, 5_000_000), secret, strict=True)), crs=32633
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # for the curator, who knows the data
            private = frame.tracs.perturb(4, domain=domain, prior=prior, round_to=prior)
        assert private.attrs["tracs"].pop("digest")  # of the reports, which are random
        records.append(private.attrs)
    assert records[0] == records[1] == records[2]


# Oriented fits


def slab(angle, length=20_000, width=2_000):
    """A tilted elongated city, in metres."""
    return affinity.rotate(shapely.box(-length / 2, -width / 2, length / 2, width / 2), angle)


def test_oriented_fit_cuts_the_error_as_the_diagonals_predict():
    """The mean squared error of TraCS-C is the same multiple of the squared diagonal for every rectangle."""
    shape = affinity.translate(slab(40), 400_000, 3_950_000)
    frame = inside(shape, 20_000, crs=32654)
    error = {}
    for fit in ("envelope", "oriented"):
        domain = Polygon(shape, fit=fit)
        xy = shapely.get_coordinates(frame.geometry.values)
        reports = np.asfortranarray(xy.copy())
        methods.make("tracs-c").report(reports, np.array([0, len(xy)]), 4.0, domain, np.random.default_rng(0))
        error[fit] = np.mean(np.sum((reports - xy) ** 2, axis=1))
    xmin, ymin, xmax, ymax = shape.bounds
    predicted = (20_000**2 + 2_000**2) / ((xmax - xmin) ** 2 + (ymax - ymin) ** 2)
    # The data are uniform on the slab, which is only a part of the envelope: near its middle errors are smaller.
    assert error["oriented"] / error["envelope"] == pytest.approx(predicted, rel=0.25)
    assert predicted < 0.85


@pytest.mark.slow
@pytest.mark.parametrize(("angle", "width"), [(0, 10_000), (40, 10_000), (40, 2_000), (90, 5_000)])
@pytest.mark.parametrize("method", METHODS)
def test_best_fit_has_the_smaller_error(angle, width, method):
    """Projection into a very thin city makes up for the loose rectangle, so neither fit is always the better one."""
    city = gpd.GeoSeries([affinity.translate(slab(angle, width=width), 400_000, 3_950_000)], crs=32654).to_crs(4326)
    frame = inside(city.iloc[0], 8000)
    ae = {}
    for fit in ("envelope", "oriented", "best"):
        private = perturb(frame, 4, method, domain=city, fit=fit, trajectory="person")
        ae[fit] = frame.tracs.compare(private)["ae"]
    assert private.attrs["tracs"]["domain"]["fit"] in ("envelope", "oriented", "transport")
    assert ae["best"] <= 1.03 * min(ae.values())


def test_oriented_fit_wins_on_a_tilted_city():
    city = gpd.GeoSeries([affinity.translate(slab(40, width=10_000), 400_000, 3_950_000)], crs=32654).to_crs(4326)
    frame = inside(city.iloc[0], 5000)
    ae = {fit: frame.tracs.compare(perturb(frame, 6, domain=city, fit=fit))["ae"] for fit in ("envelope", "oriented")}
    assert ae["oriented"] < 0.93 * ae["envelope"]


@pytest.mark.parametrize("method", METHODS)
def test_parallelogram(method):
    harbour = Parallelogram((X, Y), (0.1, 0.06), (-0.01, 0.03))
    shape = shapely.Polygon(harbour.vertices)
    frame = inside(shape, 500)
    private = perturb(frame, 3, method, domain=harbour, trajectory="person")
    assert private.attrs["tracs"]["domain"]["kind"] == "parallelogram"
    assert shapely.covers(shape, private.geometry.values).all()
    assert frame.tracs.compare(private)["ae"] < 6000


# TraCS-D on convex polygons


def test_tracs_d_on_a_convex_polygon_needs_no_projection():
    shape = SHAPES["hexagon"]
    polygon = Polygon(shape)
    assert polygon.convex
    assert len(polygon.half_planes) >= 6
    xy = np.asfortranarray(shapely.get_coordinates(inside(shape, 5000).geometry.values))
    methods.make("tracs-d").report(xy, np.arange(0, 5001, 10), 2.0, polygon, np.random.default_rng(0))
    assert polygon.contains(xy).all()
    assert shapely.intersects_xy(shape, xy[:, 0], xy[:, 1]).mean() > 0.9999
    assert not Polygon(SHAPES["L"]).convex
    assert not Polygon(SHAPES["ring"]).convex


def test_half_planes_of_a_box_are_the_rectangles():
    a = {tuple(row) for row in Polygon(shapely.box(1, 2, 3, 5)).half_planes.round(9) + 0.0}
    b = {tuple(row) for row in Rectangle(1, 2, 3, 5).half_planes.round(9) + 0.0}
    assert a == b


# Disc


def test_the_papers_disc_example():
    """Location (pi, 0.5), epsilon 5: the dominant area is [0.87 pi, 1.13 pi) x [0.32, 0.67)."""
    recipe = methods.make("tracs-d")
    direction = Piecewise(5 * recipe.shares["direction"], periodic=True)
    distance = Piecewise(5 * recipe.shares["distance"])
    assert [2 * end for end in direction.interval(0.5)] == pytest.approx([0.87, 1.13], abs=0.005)
    # The paper's 0.67 for the upper end is 0.677 rounded down.
    assert list(distance.interval(0.5)) == pytest.approx([0.32, 0.67], abs=0.008)
    disc = Disc((0, 0), 1)
    xy = np.asfortranarray(np.tile([[-0.5, 0.0]], (100_000, 1)))
    recipe.report(xy, np.array([0, len(xy)]), 5.0, disc, np.random.default_rng(0))
    turn, part = disc.to_unit(xy).T
    (t0, t1), (p0, p1) = direction.interval(0.5), distance.interval(0.5)
    both = np.mean((turn >= t0) & (turn < t1) & (part >= p0) & (part < p1))
    expected = direction.threshold / 2**64 * distance.threshold / 2**64
    assert both == pytest.approx(expected, abs=5 * math.sqrt(expected * (1 - expected) / 100_000))


@pytest.mark.parametrize(("crs", "centre"), [(4326, (X, Y)), (32654, (385_000, 3_950_000)), (2263, (980_000, 200_000))])
def test_disc_on_the_accessor(crs, centre):
    middle = gpd.GeoSeries([shapely.Point(centre)], crs=crs)
    metric = middle.to_crs(middle.estimate_utm_crs())
    frame = inside(metric.iloc[0].buffer(4900), 500, crs=metric.crs).to_crs(crs)
    private = perturb(frame, 3, "tracs-d", domain=Disc(centre, 5000))
    far = geotracs.compare(private, private.assign(geometry=middle.iloc[0]).set_crs(crs))["max"]
    assert 4000 < far < 5020
    assert private.attrs["tracs"]["domain"]["radius"] == 5000
    with pytest.raises(DomainError, match="a disc is not a product of two intervals"):
        perturb(frame, domain=Disc(centre, 5000))
    with pytest.raises(InputError, match="leave out `start`"):
        perturb(frame, method="tracs-d", domain=Disc(centre, 5000), start="corner")
    with pytest.raises(DomainError, match="lie outside the domain"):
        perturb(frame, method="tracs-d", domain=Disc(centre, 2000))
    clipped = perturb(frame, method="tracs-d", domain=Disc(centre, 2000), outside="clip")
    assert geotracs.compare(clipped, clipped.assign(geometry=middle.iloc[0]).set_crs(crs))["max"] < 2010


# Globe


def flights(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-180, 180, n)
    return gpd.GeoDataFrame(geometry=gpd.points_from_xy(x, rng.uniform(-90, 90, n)), crs=4326)


def test_globe_seam_and_poles():
    frame = gpd.GeoDataFrame(
        geometry=gpd.points_from_xy([180, -180, 179.999, -179.999, 0, 50], [0, 0, 10, 10, 90, -90]), crs=4326
    )
    private = perturb(frame, 20, domain=Globe())
    assert private.geometry.x.between(-180, 180).all()
    assert private.geometry.y.between(-90, 90).all()
    assert frame.tracs.compare(private)["ae"] < 300_000
    assert private.attrs["tracs"]["domain"]["kind"] == "globe"


def test_globe_reports_follow_the_circular_density_across_the_seam():
    n, secret = 200_000, 179.0
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy(np.full(n, secret), np.zeros(n)), crs=4326)
    private = perturb(frame, 4, domain=Globe())
    mechanism = Piecewise(2.0, periodic=True)
    edges = np.linspace(0, 1, 41)
    unit = (private.geometry.x.to_numpy() + 180) / 360
    fine = (np.arange(400_000) + 0.5) / 400_000
    expected = mechanism.density(fine, (secret + 180) / 360).reshape(40, -1).mean(axis=1) * n / 40
    statistic = np.sum((np.histogram(unit, edges)[0] - expected) ** 2 / expected)
    assert statistic < chi2.isf(FALSE_ALARM, 39)


def test_globe_does_not_care_where_longitudes_begin():
    """Shift all longitudes by a multiple of a cell: the reports are shifted by as much."""
    frame = flights()
    for shift in (90.0, 180.0, -45.0):
        moved = frame.set_geometry(
            gpd.points_from_xy((frame.geometry.x + shift + 180) % 360 - 180, frame.geometry.y, crs=4326)
        )
        a, b = perturb(frame, 4, domain=Globe()), perturb(moved, 4, domain=Globe())
        gap = (b.geometry.x - a.geometry.x - shift + 180) % 360 - 180
        assert np.abs(gap).max() < 1e-6
        assert np.array_equal(a.geometry.y, b.geometry.y)


def test_belt_and_projected_data():
    frame = flights()
    frame = frame[frame.geometry.y.between(-30, 60)]
    private = perturb(frame, 4, domain=Globe(south=-30, north=60))
    assert private.geometry.y.between(-30, 60).all()
    with pytest.raises(CRSError, match="needs data in degrees"):
        perturb(frame.to_crs(3395), 4, domain=Globe(south=-30, north=60))
    with pytest.raises(DomainError, match="lie outside the domain"):
        perturb(flights(), domain=Globe(south=-30, north=60))
    with pytest.raises(DomainError, match="straight lines to a border"):
        perturb(frame, method="tracs-d", domain=Globe())
    with pytest.raises(CRSError, match="worked on in degrees"):
        perturb(frame, domain=Globe(), crs=3857)
    with pytest.raises(DomainError, match="-90 <= south < north <= 90"):
        Globe(south=10, north=-10)


# Large regions, the antimeridian, the poles


@pytest.mark.parametrize("method", METHODS)
def test_fiji_as_a_layer_in_two_parts(method):
    fiji = gpd.GeoSeries([shapely.box(177, -19, 180, -16), shapely.box(-180, -19, -178, -16)], crs=4326)
    frame = inside(fiji.iloc[0], 200)
    frame = pd.concat([frame, inside(fiji.iloc[1], 200)], ignore_index=True)
    private = perturb(frame, 6, method, domain=fiji)
    assert private.covered_by(fiji.union_all()).all()
    assert frame.tracs.compare(private)["ae"] < 200_000
    assert private.attrs["tracs"]["domain"]["bounds"] == [177.0, -19.0, -178.0, -16.0]


@pytest.mark.parametrize("bounds", [(160, -60, -170, -20), (0, 30, 60, 80), (-10, 35, 30, 70), (-20, 60, 40, 90)])
def test_large_boxes_hold_all_their_locations_and_reports(bounds):
    west, south, east, north = bounds
    rng = np.random.default_rng(0)
    x = rng.uniform(west, east + 360 if east < west else east, 500)
    frame = gpd.GeoDataFrame(
        geometry=gpd.points_from_xy((x + 180) % 360 - 180, rng.uniform(south, north, 500)), crs=4326
    )
    private = perturb(frame, 3, domain=bounds)
    assert pyproj.CRS(private.attrs["tracs"]["crs"]).coordinate_operation.method_name == "Lambert Azimuthal Equal Area"
    lon = private.geometry.x.to_numpy()
    lon = lon % 360 if east < west else lon
    assert np.all((lon >= west) & (lon <= (east + 360 if east < west else east)))
    assert private.geometry.y.between(south, north).all()


def test_country_of_many_vertices():
    country = affinity.scale(SHAPES["coast of 1,000"], 40, 40)
    frame = inside(country, 500)
    private = perturb(frame, 4, "tracs-d", domain=country)
    assert shapely.covers(country, private.geometry.values).all()


@pytest.mark.parametrize("bounds", [(5, 47, 15, 55), (-10, 35, 40, 70), (-125, 25, -66, 49)])
def test_locations_on_the_border_of_a_large_box_are_inside(bounds):
    """Parallels are bent in the working CRS; what counts is the shape that was given."""
    west, south, east, north = bounds
    x, y = np.linspace(west, east, 300), np.linspace(south, north, 300)
    edge = np.vstack([np.column_stack([x, np.full(300, lat)]) for lat in (south, north)])
    edge = np.vstack([edge, *(np.column_stack([np.full(300, lon), y]) for lon in (west, east))])
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*edge.T), crs=4326)
    private = perturb(frame, 2, domain=bounds)
    assert private.covered_by(shapely.box(*bounds)).all()
    assert len(perturb(frame, 2, domain=None)) == len(frame)
    with pytest.raises(DomainError, match=r"^1 of"):
        perturb(pd.concat([frame, points(0, south - 1.5).iloc[:1]], ignore_index=True), domain=bounds)


def test_locations_that_exist_nowhere_are_refused_whatever_is_asked():
    frame = gpd.GeoDataFrame(geometry=[shapely.Point(10, 50), shapely.Point(50, 139.7)], crs=4326)
    for domain in (shapely.Point(10, 50).buffer(0.3), (5, 47, 15, 55), Disc((10, 50), 20_000)):
        for method in METHODS[1:] if isinstance(domain, Disc) else METHODS:
            with pytest.raises(DomainError, match="1 of 2 locations cannot be projected or clipped"):
                perturb(frame, method=method, domain=domain, outside="clip")


def test_the_other_side_of_the_earth_is_clipped_like_anything_else():
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy([0, 180, 170], [0, 0, 0]), crs=4326)
    private = perturb(frame, domain=(-60, -40, 60, 40), outside="clip")
    assert private.within(shapely.box(-60, -40, 60, 40)).all()


def test_small_parallelogram_far_from_the_origin():
    small = Parallelogram((5e5, 5e6), (4, 3), (-0.3, 0.4))
    shape = shapely.Polygon(small.vertices)
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*np.repeat(small.vertices, 2500, axis=0).T), crs=32633)
    for method in METHODS:
        assert shapely.covers(shape, perturb(frame, 60, method, domain=small).geometry.values).all()


@pytest.mark.parametrize("sides", [3, 4, 5, 6])
def test_every_vertex_of_a_convex_polygon_can_be_the_start(sides):
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False) + 0.3
    polygon = Polygon(shapely.Polygon(1000 * np.column_stack([np.cos(angle), np.sin(angle)])))
    xy = polygon.spread(50)
    for vertex in shapely.get_coordinates(polygon.geometry)[:-1].tolist():
        recipe = methods.make("tracs-d", {"start": vertex})
        assert polygon.contains(run(recipe, xy, np.arange(51), 2.0, polygon, np.random.default_rng(0))).all()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"crs": 4326}, "`crs` must be a planar"),
        ({"crs": 4978}, "`crs` must be a planar"),
        ({"domain": shapely.from_wkt("POLYGON ((0 0, 1 inf, 1 1, 0 0))")}, "NaN or infinite coordinates"),
        ({"method": "tracs-d", "domain": Disc((X, Y), 3e7)}, "at most 20,000 km"),
        ({"method": "tracs-d", "start": (10, 95)}, "must be a point that exists"),
        ({"method": "tracs-d", "domain": Globe(), "start": "places"}, "straight lines to a border"),
    ],
)
def test_bad_combinations(tracks, arguments, match):
    with pytest.raises(InputError, match=match):
        perturb(tracks, **{"domain": (139.4, 35.5, 139.95, 35.9)} | arguments)


def test_degrees_for_projected_data_are_recognised(tracks):
    with pytest.raises(DomainError, match="Its bounds look like degrees"):
        perturb(tracks.to_crs(32654), domain=(139.4, 35.5, 139.95, 35.9))
    with pytest.raises(CRSError, match="geocentric"):
        perturb(tracks.set_crs(4978, allow_override=True), domain=(139.4, 35.5, 139.95, 35.9))


# Bad regions


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Disc((0, 0), 0), "`radius` of a disc must be greater than 0, got 0"),
        (lambda: Disc((0, 0), -5), "`radius` of a disc must be greater than 0"),
        (lambda: Disc((0, 0), math.nan), "`radius` of a disc must be greater than 0"),
        (lambda: Disc((0, math.nan), 1), "`centre` of a disc"),
        (lambda: Disc("x", 1), "`centre` of a disc"),
        (lambda: Disc((0, 0), None), "`radius` of a disc"),
        (lambda: Globe("a", "b"), "-90 <= south"),
        (lambda: Rectangle("a", 0, 1, 1), "`xmin` of a rectangle must be a number"),
        (lambda: Parallelogram((0, 0), (1, 2), (2, 4)), "must not be parallel"),
        (lambda: Parallelogram((0, 0), (0, 0), (2, 4)), "must not be parallel"),
        (lambda: Parallelogram((0, math.inf), (1, 0), (0, 1)), "`origin` of a parallelogram"),
        (lambda: Rectangle(0, 0, 0, 1), "no area"),
        (lambda: Polygon(shapely.LineString([(0, 0), (1, 1)])), "with an area"),
        (lambda: Polygon(shapely.Polygon([(0, 0), (1, 1), (2, 2)])), "with an area"),
    ],
)
def test_bad_domains(make, match):
    with pytest.raises(DomainError, match=match):
        make()


def test_bad_polygons(tracks):
    flat = shapely.Polygon([(X, Y), (X + 1, Y + 1), (X + 2, Y + 2)])
    with pytest.raises(DomainError, match="has no area"):
        perturb(tracks, domain=flat)
    with pytest.raises(InputError, match="`fit` must be one of"):
        perturb(tracks, domain=SHAPES["L"], fit="snug")
    with pytest.raises(DomainError, match="latitude must lie in"):
        perturb(tracks, method="tracs-d", domain=Disc((35.7, 139.7), 5000))


def points(x, y):
    rng = np.random.default_rng(0)
    return gpd.GeoDataFrame(geometry=gpd.points_from_xy(x + rng.random(30), y + rng.random(30)), crs=4326)


def test_all_outside_says_why():
    berlin = points(13, 52)
    with pytest.raises(DomainError, match=r"30 of 30 locations lie outside the domain\. With x and y swapped"):
        perturb(berlin, domain=(52, 13, 53, 14))
    with pytest.raises(DomainError, match="The domain lies in the southern hemisphere and all locations in the other"):
        perturb(berlin, domain=(13, -53, 14, -52))
    with pytest.raises(DomainError, match="The domain lies in the western hemisphere and all locations in the other"):
        perturb(berlin.to_crs(3035), domain=gpd.GeoSeries([shapely.box(-14, 52, -13, 53)], crs=4326))
    with pytest.raises(DomainError, match=r"outside the domain\. Give a larger public region"):
        perturb(berlin, domain=(20, 52, 21, 53))
    with pytest.raises(DomainError, match=r"latitudes must lie in \[-90, 90\]; are longitude and latitude swapped"):
        perturb(points(139, 35), domain=(35, 139, 36, 140))


def test_a_transport_object_is_a_domain_of_its_own():
    """In its own planar coordinates, as every domain object; in degrees it is refused."""
    ell = shapely.Polygon([(0, 0), (4000, 0), (4000, 2000), (2000, 2000), (2000, 4000), (0, 4000)])
    points = gpd.GeoSeries([ell]).sample_points(2000, rng=1).explode(ignore_index=True)
    frame = gpd.GeoDataFrame(geometry=points).set_crs(32654, allow_override=True)
    chart = Transport(Polygon(ell))
    assert shapely.covers(ell, perturb(frame, 8, "tracs-c", domain=chart).geometry.values).all()
    private = perturb(frame, 8, "joint", domain=chart)
    assert shapely.covers(ell, private.geometry.values).all()
    shares = private.tracs.density(cells=geotracs.places.Grid(nx=2, ny=2), domain=chart)
    assert ((shares["low"] < 1 / 3) & (shares["high"] > 1 / 3)).all()
    with pytest.raises(CRSError, match="planar"):
        perturb(frame.to_crs(4326), 2, "joint", domain=chart, crs=4326)
