"""A frame that the tests of preparations share."""

import geopandas as gpd
import numpy as np
import pandas as pd

COLUMNS = {"trajectory": "person", "time": "t"}


def walk(rows=10, people=2, minutes=1):
    """People who walk 100 m east each minute, rows shuffled."""
    n = rows * people
    step = np.tile(np.arange(rows), people)
    columns = {
        "person": np.repeat(list("abcdef"[:people]), rows),
        "t": pd.Timestamp("2026-03-02 08:00") + pd.to_timedelta(minutes * step, unit="min"),
        "step": step,
    }
    xy = np.column_stack([100.0 * step, np.repeat(1000.0 * np.arange(people), rows)])
    frame = gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(*xy.T), crs=32654)
    return frame.iloc[np.random.default_rng(0).permutation(n)]
