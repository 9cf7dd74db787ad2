"""Exact eps-LDP draws. Numpy only: nothing here has heard of geometries."""

from geotracs.mechanisms.exponential import Exponential
from geotracs.mechanisms.krr import RandomizedResponse
from geotracs.mechanisms.piecewise import Piecewise
from geotracs.mechanisms.planar_laplace import PlanarLaplace
from geotracs.mechanisms.sectors import Sectors
from geotracs.mechanisms.slopes import Slopes
from geotracs.mechanisms.staircase import Staircase
from geotracs.mechanisms.subset import Subset
from geotracs.mechanisms.window import Window

__all__ = [
    "Exponential",
    "Piecewise",
    "PlanarLaplace",
    "RandomizedResponse",
    "Sectors",
    "Slopes",
    "Staircase",
    "Subset",
    "Window",
]
