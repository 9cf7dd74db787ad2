"""Exact eps-LDP draws. Numpy only: nothing here has heard of geometries."""

from geotracs.core.mechanisms.exponential import Exponential
from geotracs.core.mechanisms.krr import RandomizedResponse
from geotracs.core.mechanisms.piecewise import Piecewise
from geotracs.core.mechanisms.planar_laplace import PlanarLaplace
from geotracs.core.mechanisms.pm import PM
from geotracs.core.mechanisms.purkayastha import Purkayastha
from geotracs.core.mechanisms.sdd import SDDLaplace
from geotracs.core.mechanisms.sectors import Sectors
from geotracs.core.mechanisms.slopes import Slopes
from geotracs.core.mechanisms.staircase import Staircase
from geotracs.core.mechanisms.subset import Subset
from geotracs.core.mechanisms.sw import SquareWave
from geotracs.core.mechanisms.truncated_gaussian import TruncatedGaussian
from geotracs.core.mechanisms.truncated_laplace import TruncatedLaplace
from geotracs.core.mechanisms.window import Window

__all__ = [
    "PM",
    "Exponential",
    "Piecewise",
    "PlanarLaplace",
    "Purkayastha",
    "RandomizedResponse",
    "SDDLaplace",
    "Sectors",
    "Slopes",
    "SquareWave",
    "Staircase",
    "Subset",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "Window",
]
