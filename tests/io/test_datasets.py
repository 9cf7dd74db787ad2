import geopandas as gpd
import geopandas.testing
import numpy as np
import pytest
import shapely

import geotracs
from geotracs.io.datasets import sample_city
from geotracs.utility.compare import displacement


@pytest.fixture(scope="module")
def city():
    return sample_city(people=10, seed=3)


def test_same_seed_same_city(city):
    again = sample_city(people=10, seed=3)
    for a, b in zip(city, again, strict=True):
        geopandas.testing.assert_geodataframe_equal(a, b)
    assert not sample_city(people=10, seed=4).tracks.equals(city.tracks)


def test_three_layers_in_degrees(city):
    for layer in city:
        assert isinstance(layer, gpd.GeoDataFrame)
        assert layer.crs.to_epsg() == 4326
        assert layer.geometry.is_valid.all()
    assert city.tracks["person"].nunique() == 10
    assert str(city.tracks["t"].dt.tz) == "UTC"
    assert city.pois["name"].str.len().min() > 3


def test_everything_is_inside_a_boundary_that_no_rectangle_fits(city):
    boundary = city.boundary.geometry.iloc[0]
    assert city.tracks.within(boundary).all()
    assert city.pois.within(boundary).all()
    assert boundary.area < 0.8 * boundary.minimum_rotated_rectangle.area


def test_people_move_at_plausible_speeds(city):
    metric = city.tracks.to_crs(32733)
    for _, track in metric.groupby("person"):
        assert track["t"].is_monotonic_increasing
        metres = np.hypot(np.diff(track.geometry.x), np.diff(track.geometry.y))
        seconds = (
            np.diff(track["t"].astype("int64").to_numpy())
            / 10 ** {"ns": 9, "us": 6, "ms": 3, "s": 0}[track["t"].dt.unit]
        )
        moving = seconds == 20
        assert moving.sum() > 5
        assert np.quantile(metres[moving] / 20 * 3.6, 0.95) < 70


def test_days_add_up():
    two = sample_city(people=2, days=2)
    assert two.tracks["t"].dt.date.nunique() >= 2


def test_bad_numbers():
    with pytest.raises(geotracs.InputError, match="at least 1"):
        sample_city(people=0)


def test_perturbed_city(city):
    private = city.tracks.tracs.perturb(
        6, "tracs-d", domain=city.boundary.total_bounds, trajectory="person", time="t", keep=[]
    )
    assert displacement(city.tracks, private).mean() < 8000
    assert private.covered_by(shapely.box(*city.boundary.total_bounds)).all()
