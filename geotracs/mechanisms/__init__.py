"""Exact eps-LDP draws. Numpy only: nothing here has heard of geometries."""

from geotracs.mechanisms.piecewise import Piecewise
from geotracs.mechanisms.window import Window

__all__ = ["Piecewise", "Window"]
