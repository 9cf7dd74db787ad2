"""What an attack finds, over all people: a mean or a probability with its interval, and how much people differ."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from geotracs.core.randomness import made_up

RESAMPLES = 1000
"""How often people are drawn again for an interval."""
LEVEL = 0.9
"""How likely an interval holds the figure."""
QUANTILES = (0.1, 0.5, 0.9)
"""Which people are named: of ten, the best known one, one in the middle, the least known one."""
METRES, PROBABILITY = "metres", "probability"


@dataclass(frozen=True)
class Found:
    """What an attack finds.

    Attributes
    ----------
    attack : str
        Its name.
    measure : {"metres", "probability"}
        What ``value`` is: a mean error, or how often the attack succeeds.
    low, high : float
        The interval of ``value``.
    typical : float
        The median over locations, stays or people, whatever is looked for; of probabilities that of people.
    baseline : float
        The same as ``value`` without the release.
    quantiles : (float, float, float)
        Of the means of people.
    people : int
    """

    attack: str
    measure: str
    value: float
    low: float
    high: float
    typical: float
    baseline: float
    quantiles: tuple[float, float, float]
    people: int


def of_errors(attack: str, errors: np.ndarray, person: np.ndarray, baseline: np.ndarray) -> Found:
    """Return the mean of errors in metres; the interval is a bootstrap over people, whose rows are not independent.

    >>> found = of_errors("report", np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]), np.full(3, 9.0))
    >>> found.value, found.baseline, found.people
    (3.0, 9.0, 2)
    """
    return _mean(attack, METRES, errors, person, float(np.mean(baseline)))


def of_shares(attack: str, hits: np.ndarray, person: np.ndarray, baseline: float) -> Found:
    """Return the share of rows at which an attack succeeds; the interval is a bootstrap over people."""
    return _mean(attack, PROBABILITY, hits.astype(np.float64), person, baseline)


def of_hits(attack: str, hits: np.ndarray, baseline: float) -> Found:
    """Return the share of people at whom an attack succeeds, with the interval of Clopper and Pearson.

    >>> found = of_hits("two releases", np.array([True, False, False, False]), 0.25)
    >>> round(found.low, 3), round(found.high, 3)
    (0.013, 0.751)
    """
    low, high = clopper_pearson(int(hits.sum()), len(hits))
    spread = _quantiles(hits.astype(np.float64))
    return Found(attack, PROBABILITY, float(hits.mean()), low, high, spread[1], baseline, spread, len(hits))


def clopper_pearson(hits: int, trials: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval that holds the probability of a success at least so often.

    >>> [round(end, 3) for end in clopper_pearson(0, 20)]
    [0.0, 0.139]
    """
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high


def _mean(attack: str, measure: str, values: np.ndarray, person: np.ndarray, baseline: float) -> Found:
    _, which, counts = np.unique(person, return_inverse=True, return_counts=True)
    sums = np.bincount(which, values)
    drawn = made_up(0).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), RESAMPLES)
    means = (drawn @ sums) / (drawn @ counts)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    spread = _quantiles(sums / counts)
    typical = float(np.median(values)) if measure == METRES else spread[1]
    return Found(attack, measure, float(values.mean()), low, high, typical, baseline, spread, len(counts))


def _quantiles(values: np.ndarray) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, QUANTILES).tolist()
    return low, middle, high
