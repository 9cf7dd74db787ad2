"""The Purkayastha mechanism on the circle."""

import numpy as np

from geotracs.core.mechanisms.stepped import Stepped


class Purkayastha(Stepped):
    """Report a direction with a density in proportion to exp(-kappa * angle), the angle between it and the secret.

    Published for spheres and metric privacy, where two directions are told apart by at most exp(kappa * angle). No
    angle exceeds pi, so kappa = eps / pi makes it eps-LDP. All secrets have the same integral. The publication
    rejects samples drawn in floating point on a sphere; on the circle the table of `Stepped` is exact and rejects
    nothing.

    References
    ----------
    B. Weggenmann, F. Kerschbaum: Differential privacy for directional data. CCS 2021.

    Examples
    --------
    >>> direction = Purkayastha(4, periodic=True)
    >>> round(float(direction.kappa), 4)
    1.2732
    >>> direction.density([0.1, 0.35, 0.6], 0.1).round(3)
    array([4.075, 0.551, 0.075])
    >>> round(float(direction.expected_error()), 4)
    0.1157
    """

    citation = "Weggenmann and Kerschbaum 2021"
    paper = (
        "An alternative for the direction, not for the plane; not used there because sampling is complex and its mean "
        "squared error is higher."
    )
    on_interval = False

    def __init__(self, eps: float | np.ndarray, *, periodic: bool = True) -> None:
        super().__init__(eps, periodic=periodic)

    @property
    def kappa(self) -> float | np.ndarray:
        """The concentration, for angles in radians."""
        return self.size / np.pi

    @staticmethod
    def exponent(way: np.ndarray, size: float) -> np.ndarray:
        """Return a straight line: ``way`` is a part of half a turn."""
        return size * way
