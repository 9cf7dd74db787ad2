"""Flows are nearer to the truth than what is counted, and their intervals hold it."""

import geopandas as gpd
import numpy as np
import pandas as pd

from geotracs.experiments import moves


def test_flows_of_a_made_up_city():
    """One release of 600 pairs, which stay in one of two towns or go to the other, and a fixed seed."""
    rng = np.random.default_rng(0)
    town = rng.integers(2, size=1200)
    xy = np.array([[2500.0, 2500.0], [7500.0, 7500.0]])[town] + rng.normal(0, 500, (1200, 2))
    xy[:2] = [[0, 0], [10_000, 10_000]]
    tracks = gpd.GeoDataFrame(
        {"person": np.arange(1200) // 2, "t": pd.date_range("2026-01-01", periods=1200, freq="h")},
        geometry=gpd.points_from_xy(*xy.T),
        crs=32633,
    )
    [row] = moves.measured("towns", tracks, (4.0,), side=2, draws=1).itertuples()
    assert row.pairs == 600
    assert row.estimated < 0.5 * row.raw
    assert row.covered >= 0.75


def test_what_is_counted():
    zones = moves._zones(gpd.GeoDataFrame(geometry=gpd.points_from_xy([0, 2], [0, 2]), crs=3857), 2)
    tracks = gpd.GeoDataFrame(geometry=gpd.points_from_xy([0, 2, 2, 0], [0, 0, 2, 0]), crs=3857)
    shares = moves._counted(tracks, zones, pd.Series([1, 1, 1, 2]))  # 0 -> 1 -> 3, and another person
    assert np.flatnonzero(shares).tolist() == [1, 7]
    assert shares.max() == 0.5
