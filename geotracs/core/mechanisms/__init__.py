"""Exact eps-LDP draws. Numpy only: nothing here has heard of geometries."""

from geotracs.core.mechanisms.exponential import Exponential
from geotracs.core.mechanisms.krr import RandomizedResponse
from geotracs.core.mechanisms.lattice_noise import LatticeNoise
from geotracs.core.mechanisms.metric_noise import MetricNoise
from geotracs.core.mechanisms.piecewise import Piecewise
from geotracs.core.mechanisms.sectors import Sectors
from geotracs.core.mechanisms.slopes import Slopes
from geotracs.core.mechanisms.staircase import Staircase
from geotracs.core.mechanisms.subset import Subset
from geotracs.core.mechanisms.window import Window

__all__ = [
    "Exponential",
    "LatticeNoise",
    "MetricNoise",
    "Piecewise",
    "RandomizedResponse",
    "Sectors",
    "Slopes",
    "Staircase",
    "Subset",
    "Window",
]
