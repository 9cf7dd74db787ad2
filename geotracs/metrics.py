"""What perturbation cost: numbers from displacements. Numpy only."""

from collections.abc import Sequence
from numbers import Real

import numpy as np

from geotracs.errors import InputError

WITHIN = (100.0, 500.0, 1000.0, 5000.0)


def summary(displacement: np.ndarray, within: Sequence[float] = WITHIN) -> dict[str, float]:
    """Summarise displacements in metres.

    Parameters
    ----------
    displacement : array
        Distance between each location and its report.
    within : sequence of float
        Distances for range-query preservation: the share of reports that are no farther than that.

    Examples
    --------
    >>> summary(np.array([100.0, 200.0, 600.0]), within=[500])
    {'ae': 300.0, 'median': 200.0, 'p95': 560.0, 'max': 600.0, 'rqp_500': 0.667}
    """
    if not all(isinstance(distance, Real) and distance > 0 for distance in within):
        raise InputError("`within` must hold distances greater than 0, in metres.")
    if len(displacement) == 0:
        numbers = [np.nan] * (4 + len(within))
    else:
        numbers = [
            np.mean(displacement),
            *np.quantile(displacement, [0.5, 0.95, 1.0]),
            *[np.mean(displacement <= distance) for distance in within],
        ]
    names = ["ae", "median", "p95", "max", *[f"rqp_{distance:g}" for distance in within]]
    return {name: round(float(number), 3) for name, number in zip(names, numbers, strict=True)}
