"""How well somebody is found who is followed from report to report: an estimate from public numbers, in closed form.

It was fitted to simulations with `geotracs.reconstruct`; `python -m geotracs.experiments.risks` compares the two again.
"""

import numpy as np

SPEED = 15.0
"""How fast people are, in metres per second, if nothing else is known: as cars in a city."""
DENSE = 1 / 3
"""Whoever is found with less than this part of the error of a report is protected by much less than the report says."""
PACE, PACE_EPS = 2.6, 5.0
"""How fast errors fall with the pace of reports, and up to about which epsilon this depends on it."""
COUNT, COUNT_POWER = 1 / 8, 0.8
"""How fast they fall with the number of reports, for each unit of epsilon."""


def followed(report: float, eps: float, gaps: np.ndarray, counts: np.ndarray, speed: float = SPEED) -> float:
    """Return the expected error of whoever follows people through their reports, in metres.

    Parameters
    ----------
    report : float
        The mean error of a report, in metres.
    eps : float
        Epsilon of a location.
    gaps : array
        Seconds between each report and its neighbours.
    counts : array
        How many reports the trajectory of each has.
    speed : float
        How fast people are at most, in metres per second.

    Notes
    -----
    With s, the way between two reports as a part of the error of one, the error falls to 1 / (1 + a / sqrt(s)) of it:
    the more reports there are before somebody has left, the smaller is the area where all of their windows overlap. It
    cannot fall further than for somebody who stands still.

    Examples
    --------
    >>> every = np.full(1000, 3.5), np.full(1000, 1000)
    >>> round(followed(5000.0, 4.0, *every), -1), round(followed(5000.0, 4.0, 1000 * every[0], every[1]), -2)
    (330.0, 3500.0)
    """
    if not len(gaps):
        return report
    way = np.maximum(speed * gaps / report, 1e-9)
    by_pace = 1 / (1 + PACE * (1 - np.exp(-eps / PACE_EPS)) / np.sqrt(way))
    by_count = 1 / (1 + COUNT * eps * (counts - 1) ** COUNT_POWER)
    return float(report * np.maximum(by_pace, by_count).mean())
