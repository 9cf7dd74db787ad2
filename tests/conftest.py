import os
import tempfile
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

from tests import times
from tests.skips import pytest_sessionfinish, pytest_terminal_summary  # noqa: F401  (hooks)

if "PYTEST_XDIST_WORKER" not in os.environ:
    # The processes of one run share what is fitted, and nothing is kept for the next run.
    FITS = tempfile.TemporaryDirectory(prefix="geotracs-tests-", ignore_cleanup_errors=True)
    os.environ["GEOTRACS_CACHE"] = FITS.name
SHARED = Path(os.environ.get("GEOTRACS_SHARED", Path(__file__).parents[2] / "shared"))
TOKYO = (139.47, 35.51, 139.92, 35.87)
CHICAGO = (-87.95, 41.60, -87.50, 42.05)


def pytest_collection_modifyitems(items):
    slow = times.slow()
    for item in items:
        if item.nodeid.split("[")[0] in slow:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def published():
    """The numbers that the paper's authors published."""

    def read(name):
        path = SHARED / "paper" / "published" / f"{name}.csv"
        if not path.exists():
            pytest.skip(f"the published figures are not here ({path.name}); set GEOTRACS_SHARED")
        return pd.read_csv(path).set_index("epsilon")

    return read


@pytest.fixture
def checkins():
    """Path of the real check-ins of a city, "tky" or "chi"."""

    def find(city):
        path = SHARED / "data" / f"{city}_checkins.csv.gz"
        if not path.exists():
            pytest.skip(f"the real check-ins are not here ({path.name}); set GEOTRACS_SHARED")
        return path

    return find


@pytest.fixture
def tracks():
    """Three people of 20 locations each in Tokyo, rows shuffled, index not in order."""
    rng = np.random.default_rng(5)
    n = 60
    x, y = rng.uniform(139.6, 139.8, n), rng.uniform(35.6, 35.8, n)
    frame = gpd.GeoDataFrame(
        {
            "person": np.repeat(["ann", "bob", "cleo"], n // 3),
            "t": np.tile(pd.date_range("2026-01-01", periods=n // 3, freq="min"), 3),
            "lat": y,
            "lon": x,
            "speed": rng.random(n),
        },
        geometry=gpd.points_from_xy(x, y),
        crs=4326,
        index=np.arange(n) * 3 + 100,
    )
    return frame.sample(frac=1, random_state=2)
