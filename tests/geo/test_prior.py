"""Public priors: points, areas and rasters become the same weights, and private ones are warned of."""

import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from geotracs import CRSError, DomainError, InputError, PrivacyWarning
from geotracs.core.domains import Globe, Rectangle
from geotracs.core.domains.border import SIDE
from geotracs.geo import prior as priors
from geotracs.geo.originals import Originals
from tests.conftest import TOKYO
from tests.core.domains.shapes import SHAPES
from tests.helpers import perturb

UTM = 32654
BOX = Rectangle(380_000, 3_940_000, 400_000, 3_950_000)
NOBODY = Originals.nobody(UTM)


def weights(prior, weight=None, data=NOBODY, domain=BOX):
    return priors.weights(prior, weight, domain, data.crs, data)[0]


def release(frame, eps=4, method="joint", **arguments):
    return perturb(frame, eps, method, **arguments)


@pytest.fixture
def pois():
    rng = np.random.default_rng(2)
    x, y = rng.normal(139.7, 0.02, 300), rng.normal(35.7, 0.02, 300)
    return gpd.GeoDataFrame({"n": rng.integers(0, 9, 300)}, geometry=gpd.points_from_xy(x, y), crs=4326)


def test_points_are_counted_in_their_cells():
    points = gpd.GeoDataFrame(
        {"n": [2.0, 5.0, 0.0, np.nan]},
        geometry=gpd.points_from_xy([380_001, 399_999, 390_000, 390_000], [3_940_001, 3_949_999, 1, 1]),
        crs=UTM,
    )
    found = weights(points, "n")
    assert found[0, 0] == 2
    assert found[-1, -1] == 5
    assert found.sum() == 7
    assert weights(points.geometry).sum() == 2  # those inside, 1 each
    both = gpd.GeoSeries([shapely.MultiPoint([(380_001, 3_940_001), (399_999, 3_949_999)])], crs=UTM)
    assert weights(both)[0, 0] == 0.5


def test_points_in_another_crs():
    points = gpd.GeoSeries(gpd.points_from_xy([385_010.0, 395_010], [3_945_010.0, 3_941_010]), crs=UTM)
    assert np.array_equal(weights(points), weights(points.to_crs(4326)))


def test_areas_share_their_number_by_area():
    west, east = (
        shapely.box(380_000, 3_940_000, 390_000, 3_950_000),
        shapely.box(390_000, 3_940_000, 400_000, 3_950_000),
    )
    areas = gpd.GeoDataFrame({"people": [30.0, 10.0]}, geometry=[west, east], crs=UTM)
    found = weights(areas, "people")
    assert found[: SIDE // 2].sum() == pytest.approx(30)
    assert found[SIDE // 2 :].sum() == pytest.approx(10)
    assert np.ptp(found[: SIDE // 2]) == 0
    tiny = gpd.GeoDataFrame({"people": [7.0]}, geometry=[shapely.box(395_000, 3_945_000, 395_001, 3_945_001)], crs=UTM)
    assert weights(tiny, "people").sum() == 7
    half_outside = gpd.GeoSeries([shapely.box(370_000, 3_940_000, 390_000, 3_950_000)], crs=UTM)
    assert weights(half_outside).sum() == pytest.approx(0.5)


def test_raster_is_read_where_it_lies():
    array = np.array([[1.0, 2.0], [3.0, np.nan]])  # the first row is the northern one
    transform = (10_000, 0, 380_000, 0, -5_000, 3_950_000)
    found = weights((array, transform))
    half = SIDE // 2
    assert np.all(found[:half, half:] == 1)
    assert np.all(found[half:, half:] == 2)
    assert np.all(found[:half, :half] == 3)
    assert np.all(found[half:, :half] == 0)
    assert weights((array, (*transform, 0, 0, 1))).sum() == found.sum()  # nine numbers, as affine.Affine gives them
    beyond = (array, (10_000, 0, 390_000, 0, -5_000, 3_950_000))
    assert np.all(weights(beyond)[:half] == 0)


@pytest.mark.parametrize("method", ["tracs-c", "joint"])
@pytest.mark.parametrize("kind", ["points", "areas", "raster"])
def test_through_perturb(tracks, pois, method, kind):
    prior = {
        "points": {"prior": pois, "weight": "n"},
        "areas": {"prior": gpd.GeoSeries([shapely.box(139.6, 35.6, 139.8, 35.8)], crs=4326)},
        "raster": {"prior": (np.eye(30) + 0.1, (0.015, 0, 139.47, 0, -0.012, 35.87))},
    }[kind]
    before = tracks.copy(deep=True)
    private = release(tracks, method=method, trajectory="person", time="t", **prior)
    assert tracks.equals(before)
    assert private.index.equals(tracks.index)
    assert private.attrs["tracs"]["domain"]["prior"] == {"kind": kind}
    assert f"The noise follows a public prior ({kind})." in str(private.tracs.guarantee)
    xmin, ymin, xmax, ymax = private.total_bounds
    assert TOKYO[0] <= xmin < xmax <= TOKYO[2]
    assert TOKYO[1] <= ymin < ymax <= TOKYO[3]
    assert not private.geometry.geom_equals(tracks.geometry).any()


def test_a_prior_shortens_the_noise(pois):
    rng = np.random.default_rng(9)
    xy = rng.normal((139.7, 35.7), 0.02, (4000, 2))
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*xy.T), crs=4326)
    with_, without = (frame.tracs.compare(release(frame, 2, prior=prior))["ae"] for prior in (pois, None))
    assert with_ < 0.6 * without


@pytest.mark.slow
@pytest.mark.parametrize("name", ["L", "ring", "archipelago", "square with holes", "coast of 1,000"])
@pytest.mark.parametrize("method", ["tracs-c", "joint"])
def test_reports_are_covered_with_a_prior_on_polygons(pois, name, method):
    shape = SHAPES[name]
    points = gpd.GeoSeries([shape], crs=4326).sample_points(300, rng=0).explode()
    frame = gpd.GeoDataFrame(geometry=points.reset_index(drop=True), crs=4326)
    private = release(frame, 1, method, domain=shape, prior=pois)
    assert shapely.covers(shape, private.geometry.values).all()


@pytest.mark.slow
@pytest.mark.parametrize("argument", ["prior", "round_to"])
def test_what_is_made_of_the_private_data_is_warned_of(tracks, argument):
    rounded = tracks.set_geometry(shapely.set_precision(tracks.geometry.values, 1e-6)).set_crs(4326)
    more = pd.concat([tracks.geometry, gpd.GeoSeries([shapely.Point(139.7, 35.7)], crs=4326)])
    there_and_back = tracks.to_crs(32654).to_crs(4326)
    shuffled = tracks.geometry.sample(frac=1, random_state=0)
    for layer in (tracks, shuffled, tracks.to_crs(3857), there_and_back, tracks.iloc[1:], more, rounded):
        with pytest.warns(PrivacyWarning, match="has the coordinates of the private data"):
            geotracs.perturb(tracks, 4, "joint", domain=TOKYO, keep=[], **{argument: layer})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        geotracs.perturb(tracks, 4, "joint", domain=TOKYO, keep=[], prior=tracks.iloc[:30])


def test_bad_priors(tracks, pois):
    for prior in ("a.tif", np.eye(3), (np.eye(3),), 4):
        with pytest.raises(InputError, match="`prior` must be a GeoDataFrame"):
            release(tracks, prior=prior)
    with pytest.raises(CRSError, match="`prior` has no CRS"):
        release(tracks, prior=pois.set_crs(None, allow_override=True))
    with pytest.raises(InputError, match="`prior` has no column 'people'"):
        release(tracks, prior=pois, weight="people")
    with pytest.raises(InputError, match="`weight` is a column of the prior"):
        release(tracks, weight="people")
    with pytest.raises(InputError, match="finite numbers of at least 0"):
        release(tracks, prior=pois.assign(n=-1.0), weight="n")
    with pytest.raises(InputError, match="must hold points, or areas"):
        release(tracks, prior=gpd.GeoSeries([shapely.LineString([(139.6, 35.6), (139.7, 35.7)])], crs=4326))
    with pytest.raises(InputError, match="must hold points, or areas"):
        release(tracks, prior=pois.iloc[:0])
    with pytest.raises(InputError, match="a raster has its own numbers"):
        release(tracks, prior=(np.eye(3), (1, 0, 139, 0, -1, 36)), weight="n")
    for raster in [(np.eye(3), (1, 2)), (np.ones(3), (1, 0, 0, 0, 1, 0)), (-np.eye(3), (1, 0, 0, 0, 1, 0))]:
        with pytest.raises(InputError, match="`prior` as a raster must"):
            release(tracks, prior=raster)
    with pytest.raises(InputError, match="`prior` as a raster must"):
        release(tracks, prior=(np.eye(3), (1, 1, 0, 1, 1, 0)))
    with pytest.raises(DomainError, match="nowhere greater than 0 in the domain"):
        release(tracks, prior=pois.translate(50, 0))


def test_what_cannot_use_a_prior_says_so(tracks, pois):
    with pytest.raises(DomainError, match="are for tracs-c and joint"):
        release(tracks, method="tracs-d", prior=pois)
    with pytest.raises(DomainError, match="The globe has a chart of its own"):
        release(tracks, prior=pois, domain=Globe())
    with pytest.raises(InputError, match="`prior` is for methods on a region"):
        release(tracks, method="nearest", prior=pois, round_to=pois)
