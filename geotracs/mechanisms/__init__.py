"""Exact eps-LDP draws. Numpy only: nothing here has heard of geometries."""

from geotracs.mechanisms.krr import RandomizedResponse
from geotracs.mechanisms.piecewise import Piecewise

__all__ = ["Piecewise", "RandomizedResponse"]
