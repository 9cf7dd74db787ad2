"""Exact eps-LDP draws. Numpy only: nothing here has heard of geometries."""

from geotracs.mechanisms.exponential import Exponential
from geotracs.mechanisms.krr import RandomizedResponse
from geotracs.mechanisms.piecewise import Piecewise
from geotracs.mechanisms.planar_laplace import PlanarLaplace
from geotracs.mechanisms.sectors import Sectors
from geotracs.mechanisms.staircase import Staircase

__all__ = ["Exponential", "Piecewise", "PlanarLaplace", "RandomizedResponse", "Sectors", "Staircase"]
