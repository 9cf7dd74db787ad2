import geopandas as gpd
import numpy as np
import pytest
import shapely
from geotracs.places import Grid

import geotracs
import geotracs.geo.region as regions
from geotracs import InputError
from geotracs.views import compared, lattices
from geotracs.views.compared import Asked

BOX = (139.5, 35.5, 139.9, 35.9)


@pytest.fixture(scope="module")
def original():
    rng = np.random.default_rng(4)
    xy = rng.normal((139.7, 35.7), 0.05, (3000, 2)).clip(139.5 * 0 + np.array(BOX[:2]), np.array(BOX[2:]))
    return gpd.GeoDataFrame(geometry=gpd.points_from_xy(*xy.T), crs=4326)


@pytest.fixture(scope="module")
def release(original):
    return original.tracs.perturb(6, domain=BOX, keep=[])


def region_of(release):
    return regions.recorded(release.attrs["tracs"], release.crs)


@pytest.mark.filterwarnings("ignore:These reports cannot tell")
@pytest.mark.parametrize("asked", [Asked(cells=8000), Asked(cells=Grid(nx=5, ny=4)), "zones"])
def test_numbers_are_those_of_density(original, release, asked):
    region = region_of(release)
    zones = lattices.hexagons(region, 9000)
    asked = Asked(zones=zones) if asked == "zones" else asked
    found = compared.compared(original, release, asked, region, None)
    how = {"cells": asked.cells} if isinstance(asked.cells, Grid) else {"zones": found.zones[["geometry"]]}
    estimate = release.tracs.density(**how)
    for name, part in (("share", found.shares["estimated"]), ("low", found.low), ("high", found.high)):
        np.testing.assert_array_equal(part, estimate[name])
    assert list(found.shares) == ["original", "released", "estimated"]
    assert found.totals == dict.fromkeys(found.shares, 3000)
    assert found.shares["original"].sum() == pytest.approx(1)
    inside = original.within(found.zones.geometry.iloc[12]).mean()
    assert found.shares["original"][12] == pytest.approx(inside, abs=2 / 3000)
    np.testing.assert_allclose(found.difference[0], found.shares["estimated"] - found.shares["original"])


def test_hexagons_suit_the_noise(original, release):
    counts = []
    for eps in (6, 60):
        private = original.tracs.perturb(eps, domain=BOX, keep=[])
        counts.append(len(compared.compared(None, private, Asked(), region_of(private), None).zones))
    assert counts[0] < counts[1] < 1500


def test_without_an_estimate_it_says_why(original):
    few = original.iloc[:50]
    private = few.tracs.perturb(6, domain=BOX, keep=[])
    found = compared.compared(few, private, Asked(cells=10_000), region_of(private), None)
    assert list(found.shares) == ["original", "released"]
    assert found.difference[1] == "released"
    assert found.notes == ["not estimated: A density needs at least 100 reports, got 50"]
    assert not found.unclear.any()


def test_originals_alone(original):
    found = compared.compared(original, None, Asked(), None, None)
    assert list(found.shares) == ["original"]
    assert found.difference is None
    assert found.shares["original"].sum() == pytest.approx(1)
    assert found.hidden("original", 10).sum() == (found.shares["original"] * 3000 < 10).sum()


@pytest.mark.parametrize(
    "frame",
    [
        gpd.GeoDataFrame(geometry=[], crs=4326),
        gpd.GeoDataFrame(geometry=[None, shapely.Point()], crs=4326),
        gpd.GeoDataFrame(geometry=[shapely.Point(1, 2)] * 3, crs=4326),
    ],
)
def test_nothing_to_compare(frame):
    with pytest.raises(InputError, match="missing, or at one place"):
        compared.compared(frame, None, Asked(), None, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cells": 500, "zones": 1}, "not both"),
        ({"cells": -1}, "`cells` must be"),
        ({"cells": True}, "`cells` must be"),
        ({"at_least": -1}, "`at_least`"),
        ({"at_least": "few"}, "`at_least`"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        Asked(**arguments)


def test_zones_must_be_areas(original):
    for zones in ([1], original.iloc[:3], gpd.GeoDataFrame(geometry=[None], crs=4326)):
        with pytest.raises(InputError, match="`zones` must"):
            compared.compared(original, None, Asked(zones=zones), None, None)


def test_units_in_feet(original):
    feet = original.to_crs(2225)
    with pytest.warns(geotracs.PrivacyWarning):
        private = feet.tracs.perturb(6, keep=[])
    found = compared.compared(feet, private, Asked(cells=5000), region_of(private), None)
    wide = found.zones.geometry.iloc[0].bounds
    assert (wide[2] - wide[0]) * 0.3048006 == pytest.approx(5000, rel=1e-3)
