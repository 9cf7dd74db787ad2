"""The method geo-ind on arrays: errors, regions, promise, bad options."""

import numpy as np
import pytest
import shapely

from geotracs import DomainError, InputError
from geotracs.core.domains import Disc, Globe, Parallelogram, Polygon, Rectangle, Transport
from geotracs.core.methods.geo_ind import GeoInd
from tests.drawing import run

CITY = Rectangle(0, 0, 40_000, 30_000)


@pytest.mark.parametrize(("factor", "error"), [(2, 577.1), (4, 288.5)])
def test_mean_errors(factor, error):
    """Of 10**6 reports, before what is outside is projected inside: six standard errors are 0.42%."""
    method, eps = GeoInd(radius=200), np.log(factor)
    assert method.expected_error(eps, CITY) == pytest.approx(error, abs=0.05)
    xy = np.asfortranarray(CITY.spread(1_000_000))
    reports = xy.copy(order="F")
    method.report(reports, np.array([0, len(xy)]), eps, CITY, np.random.default_rng(0))
    assert np.hypot(*(reports - xy).T).mean() == pytest.approx(error, rel=0.0043)


def test_regions_epsilons_and_ragged_trajectories():
    lengths = np.array([1, 3, 0, 500, 2])
    offsets = np.append(0, np.cumsum(lengths))
    eps = np.repeat([9.0, 1.0, 5.0, 1e-9, 600.0], lengths)
    ring = shapely.Point(0, 0).buffer(1000) - shapely.Point(0, 0).buffer(600)
    islands = shapely.union_all([shapely.box(0, 0, 9, 9), shapely.box(9e5, 9e5, 9e5 + 9, 9e5 + 9)])
    slanted = Parallelogram((0, 0), (2000, 1000), (-1000, 1000))
    for domain in (CITY, slanted, Polygon(ring), Polygon(islands), Disc((7, -9), 2000)):
        xy = domain.clip(1000 * np.random.default_rng(0).random((offsets[-1], 2)))
        reports = run(GeoInd(radius=5), xy, offsets, eps, domain, np.random.default_rng(0))
        assert domain.contains(reports).all()
        inside = domain.contains(1000 * np.random.default_rng(0).random((offsets[-1], 2)))  # others sit on the border
        assert not np.any(np.all(reports == xy, axis=1) & inside)
        density = GeoInd(radius=5).density(xy, tuple(xy[0]), 1.0, domain)
        assert np.isfinite(density).all()
        assert density[0] == density.max() > 0


@pytest.mark.parametrize("eps", [1e-300, 1e-9, 1.0, 600.0, 699.99])
@pytest.mark.parametrize("radius", [1.0, 200.0, 1e8])
def test_no_overflow(eps, radius):
    """Warnings are errors here."""
    domain, offsets = Rectangle(-1e8, 0, 0, 1e8), np.array([0, 100])
    xy = np.asfortranarray(domain.spread(100))
    reports = run(GeoInd(radius), xy, offsets, eps, domain, np.random.default_rng(0))
    assert domain.contains(reports).all()
    assert np.isfinite(GeoInd(radius).density(xy, tuple(xy[0]), eps, domain)).all()


def test_no_locations():
    assert run(GeoInd(), np.empty((0, 2)), np.array([0]), 1.0, CITY, np.random.default_rng(0)).shape == (0, 2)


def test_two_locations_are_told_apart_by_their_distance():
    """On the densities: at 200 m by exp(eps), at 1 km by exp(5 * eps), but for floats."""
    eps, y = np.log(2), CITY.spread(5000)
    base = GeoInd().density(y, (20_000.0, 15_000.0), eps, CITY)
    for away in (50.0, 200.0, 1000.0):
        other = GeoInd().density(y, (20_000.0 + 0.6 * away, 15_000.0 + 0.8 * away), eps, CITY)
        worst = np.max(np.abs(np.log(base) - np.log(other)))
        assert 0.99 * eps * away / 200 < worst <= eps * away / 200 * (1 + 1e-9)


def test_promise():
    said = GeoInd(radius=200).promise(np.log(2))
    assert "exp(0.69314718056), about 2, times likelier" in said
    assert "within 200 m" in said
    assert "not local differential privacy" in said
    assert "exp(600) times" in GeoInd().promise(600.0)
    assert GeoInd(50).record() == {"radius": 50.0}


def test_bad_options():
    for radius in (0, -5.0, np.nan, np.inf, "200", None, True, [200]):
        with pytest.raises(InputError, match="`radius` must be a distance in metres"):
            GeoInd(radius)
    with pytest.raises(InputError, match=r"`radius` must be at most the diameter of the region, and is 1 times"):
        GeoInd(50_001).on(CITY)
    assert GeoInd(50_000).on(CITY)
    with pytest.raises(InputError, match="`radius` must be at least a billionth"):
        GeoInd(1e-6).on(CITY)
    with pytest.raises(DomainError, match="geo-ind needs a plane"):
        GeoInd().on(Globe())
    with pytest.raises(DomainError, match='fit="transport"'):
        GeoInd().on(Transport(CITY))
