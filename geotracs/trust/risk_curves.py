"""How the error of reports and that of an attacker fall with epsilon, and with the pace of reports."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import geotracs.trust.risk as risks
from geotracs.core.following import SPEED
from geotracs.errors import InputError, sealed
from geotracs.trust.risk_attacks import attacks

EPSILONS = (1.0, 2.0, 4.0, 8.0)
INTERVALS = (3.0, 15.0, 60.0, 300.0, 1800.0, 7200.0)


@sealed
def risk_curves(
    domain: Any,
    eps: float = 4.0,
    *,
    interval: float = 60.0,
    epsilons: Sequence[float] = EPSILONS,
    intervals: Sequence[float] = INTERVALS,
    speed: float = SPEED,
    people: int = 10,
    fixes: int = 120,
    **arguments: Any,
) -> pd.DataFrame:
    """Return how far reports are off, and whoever follows a person through them: against epsilon, and against the pace.

    From public information only: people on the public region are made up, released and followed.

    Parameters
    ----------
    domain
        The public region; see `geotracs.perturb`.
    eps : float
        For the errors against the pace.
    interval : float
        Seconds between two reports, for the errors against epsilon.
    epsilons, intervals : sequence of float
        What is tried.
    speed, people, fixes
        See `geotracs.risk`, and so are other arguments.

    Returns
    -------
    DataFrame
        A row for each of them, ``along`` "epsilon" and along the "pace": ``epsilon``, ``interval``, ``per_hour``, and
        mean errors in metres: ``report``, ``attacker`` with ``low`` and ``high``, and ``baseline``, that of a guess
        without the release. The input of `geotracs.plots.risk`.

    Examples
    --------
    >>> import geotracs
    >>> square = (139.5, 35.5, 139.8, 35.8)
    >>> found = geotracs.risk_curves(square, epsilons=[8], intervals=[5], people=5, fixes=40, cells=24)
    >>> found["along"].tolist(), bool((found["attacker"] < found["report"]).all())
    (['epsilon', 'pace'], True)
    """
    along = [("epsilon", one, interval) for one in np.atleast_1d(epsilons).tolist()]
    along += [("pace", eps, one) for one in np.atleast_1d(intervals).tolist()]
    if not along:
        raise InputError("`epsilons` or `intervals` must hold at least one value.")
    rows = []
    for name, one, gap in along:
        with warnings.catch_warnings(action="ignore"):
            case = risks.made_up_case(domain, one, interval=gap, speed=speed, people=people, fixes=fixes, **arguments)
            report, attacker = attacks(case, ("report", "tracking"))
        rows.append(
            {
                "along": name,
                "epsilon": one,
                "interval": gap,
                "per_hour": 3600 / gap,
                "report": report.value,
                "attacker": attacker.value,
                "low": attacker.low,
                "high": attacker.high,
                "baseline": attacker.baseline,
            }
        )
    return pd.DataFrame(rows)
