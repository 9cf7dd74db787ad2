"""Exact eps-LDP draws. Numpy only: nothing here has heard of geometries.

`Mechanism` says what each of them has; `Slopes` and `Stairs` are calibrations, which some of them need.
"""

from geotracs.core.mechanisms.base import Continuous, Finite, Mechanism, Seen
from geotracs.core.mechanisms.exponential import Exponential
from geotracs.core.mechanisms.krr import RandomizedResponse
from geotracs.core.mechanisms.lattice_noise import LatticeNoise
from geotracs.core.mechanisms.metric_noise import MetricNoise
from geotracs.core.mechanisms.piecewise import Piecewise
from geotracs.core.mechanisms.sectors import Sectors
from geotracs.core.mechanisms.slopes import Slopes
from geotracs.core.mechanisms.staircase import Staircase, Stairs
from geotracs.core.mechanisms.subset import Subset
from geotracs.core.mechanisms.window import Window

CONTINUOUS: tuple[type[Continuous], ...] = (Piecewise, Sectors, Window, MetricNoise)
FINITE: tuple[type[Finite], ...] = (RandomizedResponse, Subset, Exponential, Staircase)
"""All mechanisms: each of them satisfies its protocol, which mypy checks here."""

__all__ = [
    "CONTINUOUS",
    "FINITE",
    "Continuous",
    "Exponential",
    "Finite",
    "LatticeNoise",
    "Mechanism",
    "MetricNoise",
    "Piecewise",
    "RandomizedResponse",
    "Sectors",
    "Seen",
    "Slopes",
    "Staircase",
    "Stairs",
    "Subset",
    "Window",
]
