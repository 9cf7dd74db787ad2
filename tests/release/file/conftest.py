import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

from geotracs.io import streams
from geotracs.release import blocks


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Blocks of 50 locations, and files read 30 rows at a time, so that little data has many of both."""
    monkeypatch.setattr(blocks, "BLOCK", 50)
    monkeypatch.setattr(streams, "READ", 30)


@pytest.fixture
def people():
    """Trajectories of 1 to 180 locations, sorted, with missing geometries here and there, and at both ends."""
    rng = np.random.default_rng(4)
    lengths = [1, 30, 180, 2, 60, 49, 50, 51, 7, 120]
    n = sum(lengths)
    frame = gpd.GeoDataFrame(
        {
            "person": np.repeat([f"p{i * 7 % 10}" for i in range(10)], lengths),
            "t": np.concatenate([pd.date_range("2026-01-01", periods=k, freq="min") for k in lengths]),
            "speed": rng.random(n),
            "stops": rng.integers(0, 9, n),
        },
        geometry=gpd.points_from_xy(rng.uniform(139.6, 139.8, n), rng.uniform(35.6, 35.8, n)),
        crs=4326,
    )
    frame.loc[[0, 77, 78, 300, n - 1], "geometry"] = None
    return frame
