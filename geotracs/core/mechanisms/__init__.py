"""Exact eps-LDP draws. Numpy only: nothing here has heard of geometries.

`Mechanism` says what each of them has; `Slopes` and `Stairs` are calibrations, which some of them need.
"""

from geotracs.core.mechanisms.base import Continuous, Finite, Mechanism, Seen
from geotracs.core.mechanisms.exponential import Exponential
from geotracs.core.mechanisms.krr import RandomizedResponse
from geotracs.core.mechanisms.lattice_noise import LatticeNoise
from geotracs.core.mechanisms.metric_noise import MetricNoise
from geotracs.core.mechanisms.oue import UnaryEncoding
from geotracs.core.mechanisms.piecewise import Piecewise
from geotracs.core.mechanisms.pm import PM
from geotracs.core.mechanisms.purkayastha import Purkayastha
from geotracs.core.mechanisms.sdd import SDDLaplace
from geotracs.core.mechanisms.sectors import Sectors
from geotracs.core.mechanisms.slopes import Slopes
from geotracs.core.mechanisms.staircase import Staircase, Stairs
from geotracs.core.mechanisms.subset import Subset
from geotracs.core.mechanisms.sw import SquareWave
from geotracs.core.mechanisms.truncated_gaussian import TruncatedGaussian
from geotracs.core.mechanisms.truncated_laplace import TruncatedLaplace
from geotracs.core.mechanisms.window import Window

CONTINUOUS: tuple[type[Continuous], ...] = (
    Piecewise,
    Sectors,
    Window,
    MetricNoise,
    PM,
    SquareWave,
    TruncatedLaplace,
    TruncatedGaussian,
    Purkayastha,
    SDDLaplace,
)
FINITE: tuple[type[Finite], ...] = (RandomizedResponse, Subset, Exponential, Staircase, UnaryEncoding)
"""All mechanisms: each of them satisfies its protocol, which mypy checks here."""

__all__ = [
    "CONTINUOUS",
    "FINITE",
    "PM",
    "Continuous",
    "Exponential",
    "Finite",
    "LatticeNoise",
    "Mechanism",
    "MetricNoise",
    "Piecewise",
    "Purkayastha",
    "RandomizedResponse",
    "SDDLaplace",
    "Sectors",
    "Seen",
    "Slopes",
    "SquareWave",
    "Staircase",
    "Stairs",
    "Subset",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "UnaryEncoding",
    "Window",
]
