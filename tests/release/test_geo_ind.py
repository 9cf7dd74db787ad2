"""Releases under metric privacy, and with the mechanisms that the paper names: records, units, captions."""

import geopandas as gpd
import numpy as np
import pytest
import shapely

import geotracs
from geotracs import InputError
from geotracs.core.guarantee import Guarantee
from tests.conftest import TOKYO
from tests.helpers import perturb, quiet

FEET = "+proj=utm +zone=54 +datum=WGS84 +units=us-ft"


def points(n=2000):
    xy = np.random.default_rng(2).uniform((139.6, 35.6), (139.8, 35.8), (n, 2))
    return gpd.GeoDataFrame(geometry=gpd.points_from_xy(*xy.T), crs=4326)


@pytest.mark.parametrize("crs", ["EPSG:4326", FEET])
@pytest.mark.parametrize("options", [{}, {"radius": 50}])
def test_the_radius_is_metres_in_any_crs(crs, options):
    """The mean of 2,000 lengths of noise, 2 * radius / eps: six standard errors are 10%."""
    frame, radius = points().to_crs(crs), options.get("radius", 200.0)
    domain = gpd.GeoSeries([shapely.box(139.4, 35.5, 139.9, 35.9)], crs=4326)
    private = perturb(frame, 2, "geo-ind", domain=domain, **options)
    assert private.attrs["tracs"]["options"]["radius"] == radius
    assert private.attrs["tracs"]["privacy"]["radius"] == radius
    assert geotracs.compare(frame, private)["ae"] == pytest.approx(radius, rel=0.1)
    assert f"within {radius:g} m" in str(private.tracs.guarantee)


def test_the_record_survives_a_file(tmp_path):
    private = perturb(points(10), 1, "geo-ind", radius=100)
    private.to_parquet(tmp_path / "private.parquet")
    again = gpd.read_parquet(tmp_path / "private.parquet")
    assert again.tracs.guarantee == private.tracs.guarantee
    assert again.tracs.guarantee.privacy == {"kind": "metric", "radius": 100.0, "least": 100 / 512}


def test_a_radius_that_does_not_suit():
    for radius in (0, -1, "far", 1e9):
        with pytest.raises(InputError, match="`radius` must be"):
            perturb(points(3), 1, "geo-ind", radius=radius)


def test_advise_tells_kinds_apart():
    table = quiet(geotracs.advise, TOKYO, 4, optimum=False)
    assert table["privacy"].iloc[-1] == "metric, 200 m"
    assert table.index[-1] == "geo-ind"
    assert set(table["privacy"].iloc[:-1]) == {"pure"}
    assert "geo-ind" not in geotracs.advise((139.0, 35.0, 139.0001, 35.0001), 4, optimum=False).index  # 14 m across
    assert perturb(points(3), 4, "auto").attrs["tracs"]["privacy"] == {"kind": "pure"}


def test_sweep_and_compare_say_the_kind():
    table = quiet(geotracs.sweep, points(5), [1], ["joint", "geo-ind"], repeats=1, domain=TOKYO)
    assert table["privacy"].tolist() == ["pure", "metric, 200 m"]
    cost = geotracs.compare(points(5), perturb(points(5), 1, "geo-ind"))
    assert cost.attrs["release"] == "geo-ind, epsilon 1 at 200 m per location (metric privacy)"


@pytest.mark.parametrize("method", ["tracs-c", "tracs-d"])
def test_named_windows_and_their_caveat(method):
    for window in geotracs.core.mechanisms.named.NAMED:
        private = perturb(points(20), 4, method, window=window, unit="trajectory")
        guarantee = Guarantee.from_attrs(private.attrs)
        assert guarantee.options["window"] == window
        assert guarantee.privacy == {"kind": "pure"}
        assert ("central differential privacy" in guarantee.caveat) == (window == "sdd")
    with pytest.raises(InputError, match="`window` must be one of"):
        perturb(points(3), 4, method, window="laplace")
