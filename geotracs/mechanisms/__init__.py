"""Exact eps-LDP draws. Numpy only: nothing here has heard of geometries."""

from geotracs.mechanisms.krr import RandomizedResponse
from geotracs.mechanisms.piecewise import Piecewise
from geotracs.mechanisms.subset import Subset
from geotracs.mechanisms.window import Window

__all__ = ["Piecewise", "RandomizedResponse", "Subset", "Window"]
