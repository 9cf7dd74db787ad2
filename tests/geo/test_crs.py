import numpy as np
import pyproj
import pytest

from geotracs import CRSError, DomainError
from geotracs.geo.crs import degrees_per_unit, keeps_lines, label, metres_between, parse, transform, working_crs

WGS84 = pyproj.CRS("EPSG:4326")


def method(bounds, crs=WGS84):
    return working_crs(crs, bounds).coordinate_operation.method_name


@pytest.mark.parametrize(
    ("bounds", "name"),
    [
        ((139.4, 35.5, 139.9, 35.9), "Equidistant Cylindrical"),
        ((-0.5, -0.5, 0.5, 0.5), "Equidistant Cylindrical"),
        ((24, 69, 26, 71), "Lambert Azimuthal Equal Area"),  # far north two degrees are too many
        ((5, 47, 8, 48), "Lambert Azimuthal Equal Area"),
        ((5, 47, 15, 55), "Lambert Azimuthal Equal Area"),
        ((10, 89, 11, 90), "Lambert Azimuthal Equal Area"),
    ],
)
def test_city_or_country(bounds, name):
    assert method(bounds) == name


def test_a_box_stays_a_rectangle_and_lines_stay_straight_in_a_city():
    bounds = (139.4, 35.5, 139.9, 35.9)
    crs = working_crs(WGS84, bounds)
    assert keeps_lines(WGS84, crs)
    xy = np.random.default_rng(0).uniform((139.4, 35.5), (139.9, 35.9), (100, 2))
    a, b, halfway = (transform(points, WGS84, crs) for points in (xy[:50], xy[50:], (xy[:50] + xy[50:]) / 2))
    assert np.allclose((a + b) / 2, halfway, rtol=0, atol=0.5)  # of some 50 km
    west, east = transform(np.array([[139.4, 35.5], [139.4, 35.9], [139.9, 35.5], [139.9, 35.9]]), WGS84, crs).reshape(
        2, 2, 2
    )
    assert np.ptp(west[:, 0]) < 1e-6
    assert np.allclose(west[:, 1], east[:, 1], rtol=0, atol=1e-6)
    # True scale, to the difference between a sphere and the ellipsoid.
    assert np.hypot(*(b - a).T) == pytest.approx(metres_between(WGS84, xy[:50], xy[50:]), rel=0.01)


def test_datum_is_kept_and_projected_crss_are_left_alone():
    jgd = pyproj.CRS("EPSG:6668")
    assert working_crs(jgd, (139.4, 35.5, 139.9, 35.9)).geodetic_crs == jgd
    utm = pyproj.CRS("EPSG:32654")
    assert working_crs(utm, (0, 0, 1, 1)) is utm


def test_grads_are_not_degrees():
    paris = pyproj.CRS("EPSG:4807")  # NTF (Paris), in grads
    assert degrees_per_unit(paris) == pytest.approx(0.9)
    crs = working_crs(paris, (-0.2, 54.1, 0.2, 54.4))
    assert crs.coordinate_operation.method_name == "Equidistant Cylindrical"
    there = transform(np.array([[0.1, 54.3]]), paris, crs)
    assert transform(there, crs, paris) == pytest.approx(np.array([[0.1, 54.3]]), abs=1e-9)


def test_bad_bounds_and_crss():
    with pytest.raises(DomainError, match="more than half of the globe"):
        working_crs(WGS84, (-170, -10, 170, 10))
    with pytest.raises(DomainError, match="latitudes must lie in"):
        working_crs(WGS84, (35, 139, 36, 140))
    with pytest.raises(CRSError, match="`crs` is not a CRS"):
        parse("EPSG:123456789")


def test_labels():
    assert label(WGS84) == "EPSG:4326"
    assert pyproj.CRS(label(working_crs(WGS84, (5, 47, 15, 55)))) == working_crs(WGS84, (5, 47, 15, 55))
