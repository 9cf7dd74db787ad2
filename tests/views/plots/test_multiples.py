import geopandas as gpd
import matplotlib.pyplot as plt
import numpy as np
import pytest

import geotracs
from geotracs import InputError
from geotracs.errors import MissingExtraError

pytestmark = pytest.mark.slow
BOX = (139.5, 35.5, 139.9, 35.9)


@pytest.fixture(scope="module")
def tracks():
    xy = np.random.default_rng(0).uniform((139.5, 35.5), (139.7, 35.7), (400, 2))
    return gpd.GeoDataFrame(geometry=gpd.points_from_xy(*xy.T), crs=4326)


@pytest.fixture(scope="module")
def releases(tracks):
    return [tracks.tracs.perturb(eps, domain=BOX, keep=[]) for eps in (2, 20)]


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_rows_columns_and_one_scale(tracks, releases):
    axes = geotracs.plots.densities(releases, tracks, cells=8000)
    assert axes.shape == (2, 3)
    assert [ax.get_title() for ax in axes[0]] == ["original", "joint, epsilon 2", "joint, epsilon 20"]
    assert "confidential" in axes[0, 0].figure.get_suptitle()
    colours = [ax.collections[1].get_facecolor() for ax in (axes[0, 0], axes[1, 2])]
    assert len(colours[0]) == len(colours[1]), "the same zones"
    assert np.abs(colours[0] - colours[1]).mean() < 0.1, "at epsilon 20 the estimate is nearly the original"


def test_releases_alone(releases):
    axes = geotracs.plots.densities(releases)
    assert axes.shape == (2, 2)
    assert axes[0, 0].figure.get_suptitle() == ""


def test_bad_input(tracks):
    for bad in ([], [tracks]):
        with pytest.raises(InputError, match="`releases` must"):
            geotracs.plots.densities(bad)


def test_a_basemap_is_drawn_by_contextily(tracks, releases, monkeypatch):
    import sys
    import types

    asked = []
    fake = types.ModuleType("contextily")
    fake.add_basemap = lambda ax, **how: asked.append(how)
    monkeypatch.setitem(sys.modules, "contextily", fake)
    tracks.tracs.plot(releases[1], basemap="https://tiles.example/{z}/{x}/{y}.png")
    assert [how["crs"] for how in asked] == ["EPSG:4326"] * 2
    monkeypatch.setitem(sys.modules, "contextily", None)
    with pytest.raises(MissingExtraError, match="pip install contextily"):
        tracks.tracs.plot(basemap=True)
