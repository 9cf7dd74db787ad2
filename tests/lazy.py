"""What the tests of dask frames share."""

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

from geotracs.core.methods import METHODS
from tests.conftest import TOKYO

dask = pytest.importorskip("dask")
dask_geopandas = pytest.importorskip("dask_geopandas")

PLACES = gpd.GeoDataFrame(
    {"name": [f"poi {i}" for i in range(20)]},
    geometry=gpd.points_from_xy(*np.random.default_rng(3).uniform(TOKYO[:2], TOKYO[2:], (20, 2)).T),
    crs=4326,
)


@pytest.fixture(name="people")
def four_hundred_rows():
    rng = np.random.default_rng(4)
    n = 400
    frame = gpd.GeoDataFrame(
        {
            "person": np.repeat([f"p{i * 7 % 20}" for i in range(20)], n // 20),
            "t": np.tile(np.arange(n // 20), 20),
            "speed": rng.random(n),
        },
        geometry=gpd.points_from_xy(rng.uniform(139.6, 139.8, n), rng.uniform(35.6, 35.8, n)),
        crs=4326,
        index=pd.Index(np.arange(n) * 2, name="fix"),
    )
    frame.loc[[0, 100], "geometry"] = None
    return frame


@pytest.fixture(name="ddf")
def partitions(people):
    return dask_geopandas.from_geopandas(people, npartitions=4)  # of five people each


def lazily(ddf, *args, **kwargs):
    return ddf.tracs.perturb(*args, **{"domain": TOKYO, "keep": [], **kwargs})


def places_for(method):
    return {"round_to": PLACES} if METHODS[method].over == "places" else {}


def here(frame):
    return frame.compute(scheduler="synchronous")


@pytest.fixture
def in_this_process():
    """Without a pool of threads."""
    with dask.config.set(scheduler="synchronous"):
        yield
