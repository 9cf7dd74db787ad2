"""The smallest possible error: below every method that is measured, in metres, and refused when tampered with."""

from dataclasses import replace

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from geotracs import InputError, advise, optimum
from geotracs.core.domains import Disc, Globe, Rectangle
from geotracs.core.places import Grid
from tests.conftest import TOKYO

FOOT = float(gpd.GeoSeries([], crs=2263).crs.axis_info[0].unit_conversion_factor)
SQUARE = (400_000, 3_950_000, 420_000, 3_970_000)
UTM = "EPSG:32654"


@pytest.fixture
def pois():
    rng = np.random.default_rng(2)
    xy = rng.normal((139.7, 35.7), 0.03, (120, 2))
    return gpd.GeoDataFrame({"visits": 1 + np.arange(120)}, geometry=gpd.points_from_xy(*xy.T), crs=4326)


def test_a_square_of_20_km():
    """The bound of the unit square, 0.3572, is known from a linear programme."""
    limit = optimum(SQUARE, 1, crs=UTM)
    assert 0.995 * 0.3572 * 20_000 <= limit.error <= 0.3573 * 20_000
    assert limit.eps == 1
    assert repr(limit) == f"Limit(error={limit.error!r}, eps=1.0)"
    assert optimum(SQUARE, 1, crs=UTM).certificate is limit.certificate  # remembered


def test_feet_are_metres_in_the_end():
    feet = optimum(gpd.GeoSeries([shapely.box(9.8e5, 2.0e5, 1.0e6, 2.1e5)], crs=2263), 1)
    metres = optimum((4e5, 4e6, 4e5 + 20_000 * FOOT, 4e6 + 10_000 * FOOT), 1, crs="EPSG:32618")
    assert feet.error == pytest.approx(metres.error, rel=1e-6)
    assert feet.certificate.error == pytest.approx(feet.error / FOOT)
    assert feet.check() == feet.error


@pytest.mark.slow
@pytest.mark.parametrize("eps", [1, 4])
def test_no_method_is_better_and_optimal_is_next_to_it(eps):
    """50,000 stand-ins and the fixed public stream, so that chance has no part; a standard error is about 0.5%."""
    table = advise(SQUARE, eps, crs=UTM)
    pure = table[table["privacy"] == "pure"]
    assert {"optimal", "joint", "tracs-c", "tracs-d"} <= set(pure.index)
    assert (pure["of_optimum"] >= 0.99).all()
    assert pure["of_optimum"]["optimal"] <= 1.01
    assert table["of_optimum"][table["privacy"] != "pure"].isna().all()
    limit = optimum(SQUARE, eps, crs=UTM)
    expected = pure["mean"] / limit.error
    pd.testing.assert_series_equal(pure["of_optimum"], expected, check_names=False)


@pytest.mark.parametrize("eps", [1, 4])
def test_places(pois, eps):
    limit = optimum(TOKYO, eps, places=pois)
    assert limit.error < 0.6 * optimum(TOKYO, 1).error  # they are close together
    assert limit.check() == limit.error
    table = advise(TOKYO, eps, places=pois, methods=["nearest", "k-rr", "joint"])
    assert (table["of_optimum"] >= 0.98).all()
    assert table["of_optimum"].min() < 1.35


def test_places_as_areas_and_cells_count_by_their_middles(pois):
    moved = pois.to_crs(UTM)
    areas = moved.set_geometry(moved.buffer(20))
    assert optimum(TOKYO, 1, places=areas).error == pytest.approx(optimum(TOKYO, 1, places=pois).error, rel=1e-3)
    assert 0.9 < optimum(TOKYO, 1, places=Grid(cell=5000)).error / optimum(TOKYO, 1).error < 1.1


def test_a_prior(pois):
    limit = optimum(TOKYO, 1, prior=pois)
    assert limit.error < 0.7 * optimum(TOKYO, 1).error
    assert optimum(TOKYO, 1, pois, weight="visits").error != limit.error
    assert (advise(TOKYO, 1, prior=pois, methods=["joint", "tracs-c"])["of_optimum"] >= 0.98).all()
    # With places, too: where reports are rounded to them, the secrets are still those of the prior.
    assert optimum(TOKYO, 1, pois, pois).error == limit.error


def test_the_globe():
    limit = optimum(Globe(), 1)
    assert 8e6 < limit.error < 10.02e6
    assert advise(Globe(), 1, methods=["joint"])["of_optimum"]["joint"] >= 0.99
    belt = optimum(Globe(-60, 60), 1)
    assert belt.error < limit.error
    cities = gpd.GeoSeries.from_xy([139.7, -87.6, 2.3, -43.2], [35.7, 41.9, 48.9, -22.9], crs=4326)
    assert 1e6 < optimum(Globe(), 1, places=cities).error < 1e7


def test_a_disc_and_a_domain_object():
    """The mean distance of a disc's points from its middle is 2/3 of the radius: the best at epsilon 0."""
    assert 0.98 * 6000 <= optimum(Disc((139.7, 35.7), 9000), 1e-6).error <= 6000
    assert optimum(Rectangle(*SQUARE), 1, crs=UTM).error == optimum(SQUARE, 1, crs=UTM).error


def test_a_certificate_that_was_tampered_with():
    limit = optimum(SQUARE, 1, crs=UTM)
    own = limit.certificate
    more = own._replace(prices=own.prices * 1.02, error=own.error * 1.02)
    for tampered in (
        replace(limit, error=limit.error * 1.001),
        replace(limit, error=float("nan")),
        replace(limit, eps=1.1),
        replace(limit, certificate=more, error=more.error),
        replace(limit, certificate=own._replace(error=own.error * 1.02)),
        replace(limit, problem=optimum((400_000, 3_950_000, 420_000, 3_969_000), 1, crs=UTM).problem),
    ):
        with pytest.raises(InputError, match="The certificate does not hold"):
            tampered.check()
    assert replace(limit, eps=0.9).check() == limit.error  # less privacy cannot be worse


def test_bad_input(pois):
    for eps in (0, -1, "4", None, np.nan):
        with pytest.raises(InputError, match="`eps` must be"):
            optimum(TOKYO, eps)
    with pytest.raises(InputError, match="`domain` must be a bounding box"):
        optimum("Tokyo", 1)
    with pytest.raises(InputError, match="is empty"):
        optimum(shapely.Polygon(), 1)
    with pytest.raises(InputError, match="has no place"):
        optimum(TOKYO, 1, places=pois.iloc[:0])
    with pytest.raises(InputError, match="must be a GeoDataFrame"):
        optimum(TOKYO, 1, places=[1, 2])
    with pytest.raises(InputError, match="give it with `prior`"):
        optimum(TOKYO, 1, weight="visits")
    with pytest.raises(geotracs.DomainError, match="chart of its own"):
        optimum(Globe(), 1, prior=pois)


def test_where_the_optimum_is_computed(pois):
    assert advise(SQUARE, 5, crs=UTM, methods=["joint"])["of_optimum"].isna().all()
    assert advise(SQUARE, 1, crs=UTM, methods=["joint"], optimum=False)["of_optimum"].isna().all()
    assert advise(TOKYO, 5, places=pois, methods=["nearest"], optimum=True)["of_optimum"]["nearest"] > 0.98
    assert list(advise(SQUARE, 1, crs=UTM, methods=["geo-ind"]).columns)[-2:] == ["of_optimum", "privacy"]
    with pytest.raises(InputError, match="`optimum` must be True, False or None, got 'yes'"):
        advise(SQUARE, 1, crs=UTM, optimum="yes")
