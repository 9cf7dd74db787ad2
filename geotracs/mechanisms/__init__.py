"""Exact eps-LDP draws. Numpy only: nothing here has heard of geometries."""

from geotracs.mechanisms.piecewise import Piecewise

__all__ = ["Piecewise"]
