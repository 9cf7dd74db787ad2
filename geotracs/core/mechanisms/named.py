"""Every mechanism for the unit interval and the unit circle that the paper uses or names, by its name."""

from collections.abc import Callable

import numpy as np

from geotracs.core.mechanisms.piecewise import WINDOWS, Piecewise
from geotracs.core.mechanisms.pm import PM
from geotracs.core.mechanisms.purkayastha import Purkayastha
from geotracs.core.mechanisms.sdd import SDDLaplace
from geotracs.core.mechanisms.sw import SquareWave
from geotracs.core.mechanisms.truncated_gaussian import TruncatedGaussian
from geotracs.core.mechanisms.truncated_laplace import TruncatedLaplace
from geotracs.core.mechanisms.unit import OnUnit
from geotracs.errors import InputError, quoted

NAMED: dict[str, type[OnUnit]] = {
    "pm": PM,
    "sw": SquareWave,
    "truncated-laplace": TruncatedLaplace,
    "truncated-gaussian": TruncatedGaussian,
    "purkayastha": Purkayastha,
    "sdd": SDDLaplace,
}
"""The mechanisms that the paper names beside its own."""
BESIDE = {"purkayastha": "truncated-laplace", "sdd": "truncated-laplace"}
"""What a mechanism for directions only is paired with on an interval: the same noise, cut off at the ends."""

UnitMechanism = Piecewise | OnUnit


def make(name: str, eps: float | np.ndarray, *, periodic: bool = False) -> UnitMechanism:
    """Return the mechanism of that name on the unit interval or the unit circle.

    Parameters
    ----------
    name : str
        One of `NAMED`, or a window of `Piecewise` ("ogpm", "r-sw").
    eps : float, or array of floats
        Privacy parameter, in (0, 700).
    periodic : bool
        True for the circle. On an interval those for directions only are replaced as `BESIDE` says.

    Examples
    --------
    >>> make("sw", 2.0)
    <SquareWave eps=2 on the unit interval>
    >>> make("purkayastha", 2.0, periodic=True), make("purkayastha", 2.0)
    (<Purkayastha eps=2 on the unit circle>, <TruncatedLaplace eps=2 on the unit interval>)
    >>> make("ogpm", 2.0)
    <Piecewise eps=2 on the unit interval>
    """
    check_name(name)
    if name in WINDOWS:
        return Piecewise(eps, name, periodic=periodic)
    kind: Callable[..., OnUnit] = NAMED[name if periodic else BESIDE.get(name, name)]
    return kind(eps, periodic=periodic)


def check_name(name: str, parameter: str = "mechanism") -> None:
    """Raise for an unknown mechanism, given by that parameter."""
    if not isinstance(name, str) or (name not in NAMED and name not in WINDOWS):
        raise InputError(f"`{parameter}` must be one of {sorted([*WINDOWS, *NAMED])}, got {quoted(name)}.")


def caveat(name: str) -> str:
    """Return what the mechanism of that name lacks beside the others; empty where nothing.

    >>> caveat("ogpm"), caveat("sdd")[:35]
    ('', 'The published mechanism promises ce')
    """
    return NAMED[name].caveat if name in NAMED else ""
