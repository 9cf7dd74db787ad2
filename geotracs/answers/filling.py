"""Rows that a release leaves out, filled in by the posterior of where somebody was, given all reports of theirs."""

from typing import Any

import geopandas as gpd
import numpy as np

from geotracs.answers.ground import Ground
from geotracs.answers.moments import Moments
from geotracs.answers.motion import suitable
from geotracs.answers.reader import Reader
from geotracs.answers.reconstruct import Asked, locate

STAY, CELLS, LEVEL = 0.3, 64, 0.9
"""As for `geotracs.reconstruct`."""


def reconstructed(
    private: gpd.GeoDataFrame, units: np.ndarray, seconds: np.ndarray, reports: np.ndarray, speed: float, layers: Any
) -> np.ndarray:
    """Return where rows without a report were likely to be, in the CRS of the frame.

    Parameters
    ----------
    private : GeoDataFrame
        The reports of a release.
    units, seconds, reports : array
        What each row belongs to, its time, and the number of its report in the frame, -1 without one; in the order of
        units and times.
    speed : float
        How fast people are at most, in metres per second.
    layers : dict
        The public layers of the release, as they were given to `perturb`.
    """
    reader = Reader.of(private, **layers)
    number = np.arange(len(reader.xy))
    if reader.tracks.order is not None:
        number[reader.tracks.order] = np.arange(len(reader.xy))
    gaps = np.diff(seconds, prepend=0.0)
    gaps[np.flatnonzero(np.diff(units, prepend=-1))] = np.inf
    rows = Moments(np.where(reports < 0, -1, number[reports]), units, gaps)
    ground = Ground.of(reader, CELLS)
    asked = Asked(speed, STAY, suitable(gaps), LEVEL, CELLS)
    xy, _ = locate(reader, ground, rows, asked, ground.measure)
    return reader.region.leave(xy)[reports < 0]
