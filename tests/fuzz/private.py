"""Small frames whose private values are easy to recognise, wherever they turn up."""

from dataclasses import dataclass

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

DOMAIN = (101.0, 11.0, 149.0, 49.0)
"""So large that a number of another kind, or a report, hardly ever begins with the digits of an original."""
DIGITS = 7
"""Decimals of the coordinates: such as 139.7123457, nine or ten significant digits."""
FRAGMENTS = ("Zoe Q", "e Quux", "Rue d", "a Paix")
"""What private labels are made of; a damaged one still holds one or the other. Three letters are in some file by
chance, and four in some base64, where no space is."""


@dataclass(frozen=True)
class Private:
    """Rows of people; their coordinates, names and addresses are private, and ``person`` and ``t`` are released."""

    frame: gpd.GeoDataFrame
    lines: bool

    @property
    def xy(self) -> np.ndarray:
        """The original locations."""
        return shapely.get_coordinates(self.frame.geometry.array)


def make(rng: np.random.Generator, *, lines: bool = False, rows: int | None = None) -> Private:
    """Return points of four people, or lines, anywhere in the domain."""
    rows = rows or int(rng.integers(20, 51))
    shapes = [_line(rng) for _ in range(rows)] if lines else shapely.points(_coordinates(rng, rows))
    table = {
        "person": [f"p{4 * row // rows}" for row in range(rows)],
        "t": pd.date_range("2026-01-01", periods=rows, freq="min"),
        "name": [f"Zoe Quux{row}" for row in range(rows)],
        "address": [f"Rue de la Paix {row}, Orléans" for row in range(rows)],
    }
    return Private(gpd.GeoDataFrame(table, geometry=shapes, crs=4326), lines)


def _line(rng: np.random.Generator) -> shapely.LineString:
    return shapely.LineString(_coordinates(rng, int(rng.integers(2, 6))))


def _coordinates(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Return numbers that do not end in zeros, so that no shorter text says them."""
    west, south, east, north = DOMAIN
    xy = rng.uniform((west + 1, south + 1), (east - 1, north - 1), (rows, 2))
    return np.round(np.floor(xy * 1e6) / 1e6 + rng.integers(1, 10, xy.shape) * 1e-7, DIGITS)
