"""Laplace noise on directions, as in SDD: a historical baseline."""

import numpy as np

from geotracs.core.mechanisms.stepped import Stepped


class SDDLaplace(Stepped):
    """Add Laplace noise to a direction as if it were a number between 0 and 1, and take the sum modulo one turn.

    The noise is calibrated as for a number whose sensitivity is a whole turn. Taken modulo a turn, its density is in
    proportion to cosh(eps * (1/2 - distance)), and two secrets are told apart by a factor of at most cosh(eps / 2):
    less than exp(eps), so the promise holds, and about half of epsilon is wasted. What is drawn here is that wrapped
    density, exactly; see `Stepped`, whose check of the worst ratio it passes.

    References
    ----------
    K. Jiang, D. Shao, S. Bressan, T. Kister, K.-L. Tan: Publishing trajectories with differential privacy guarantees.
    SSDBM 2013.

    Examples
    --------
    >>> direction = SDDLaplace(4, periodic=True)
    >>> direction.density([0.1, 0.35, 0.6], 0.1).round(3)
    array([2.075, 0.851, 0.551])
    >>> round(float(np.log(float(direction.worst_ratio()))), 3)
    1.325
    """

    citation = "Jiang et al. 2013"
    paper = "Adds unbounded Laplace noise to the direction: DP for unbounded spaces, with poor utility."
    caveat = (
        "The published mechanism promises central differential privacy for neighbouring trajectories, not local "
        "differential privacy. Its noise has no bound and knows no circle: only the sum modulo a turn is a direction. "
        "What is drawn here is eps-LDP, but spends only log(cosh(eps / 2)) of epsilon."
    )
    on_interval = False

    def __init__(self, eps: float | np.ndarray, *, periodic: bool = True) -> None:
        super().__init__(eps, periodic=periodic)

    @staticmethod
    def exponent(way: np.ndarray, size: float) -> np.ndarray:
        """Return minus the logarithm of the wrapped density: ``way`` is a part of half a turn."""
        return _log_cosh(np.asarray(size / 2)) - _log_cosh(size * (1 - way) / 2)


def _log_cosh(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(x, -x) - np.log(2)
