"""Made-up reports: how much a share of them can move, and which counts no honest reports can explain.

Anybody can send anything to a collector. Two things can be said all the same. What a stated share of malicious reports
moves is bounded: by that share, times what the estimate has to multiply reports by to undo the noise. And a pile of
reports at one place is impossible: honest reports spread over the window of the channel. What cannot be seen are lies
that are perturbed like honest locations. They look like people who are elsewhere.
"""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import gammainc, ndtri

from geotracs.answers.estimate import path
from geotracs.answers.operators import Observed
from geotracs.answers.reader import Reader
from geotracs.errors import InputError, quoted

SHARE = 0.05
"""The share of malicious reports that ``robust=True`` stands for."""
FALSE_ALARM = 0.01
"""How often anything is flagged where all reports are honest, over all bins together."""
GRAIN = 1.1
"""Counts this many times larger than they should be may come from where in their cells locations are."""
SIGMAS = 5.0
"""Standard deviations by which pairs must be too many: each report is in two of them."""
BOTH_NEAR = 0.95
"""Of two honest reports each is within this quantile of its distance from where it was."""
SECRETS, DRAWS = 64, 64
"""Public stand-ins for locations from which that distance is found, and draws of each."""


def share_of(robust: Any) -> float:
    """Return the share of malicious reports that is asked about.

    >>> share_of(True), share_of(False), share_of(0.1)
    (0.05, 0.0, 0.1)
    """
    if isinstance(robust, (bool, np.bool_)):
        return SHARE if robust else 0.0
    if not isinstance(robust, Real) or not 0 <= float(robust) < 0.5:
        raise InputError(
            f"`robust` must be True, False, or a share of malicious reports below 0.5, got {quoted(robust)}."
        )
    return float(robust)


def unseen(observed: Sequence[Observed], p: np.ndarray, false_alarm: float = FALSE_ALARM) -> list[np.ndarray]:
    """Return how many made-up reports fit into each bin before `excess` may flag it.

    Examples
    --------
    >>> from geotracs.answers.operators import Dense
    >>> unseen([Observed(Dense(np.eye(2)), np.array([900, 100]))], np.array([0.9, 0.1]))[0].round()
    array([174.,  40.])
    """
    sigmas = float(-ndtri(false_alarm / sum(len(seen.counts) for seen in observed)))
    means = [seen.total * seen.operator.predict(p) for seen in observed]
    return [(GRAIN - 1) * mean + sigmas * np.sqrt(GRAIN * mean) + sigmas**2 / 2 for mean in means]


def excess(observed: Sequence[Observed], p: np.ndarray, false_alarm: float = FALSE_ALARM) -> list[np.ndarray]:
    """Return how many reports each bin has more than any density can explain; 0 where nothing is wrong.

    EM is run on until no count is too large for it, or those that are cannot be mended: a count is too large if it has
    a chance below ``false_alarm``, divided by the number of bins, even with the largest mean that the bin can have
    under the best density. That follows from an upper bound of the likelihood which is still to be gained.

    Parameters
    ----------
    observed : sequence of Observed
    p : array
        A density to begin with, such as the estimate.
    false_alarm : float
        How often anything is flagged where all reports are honest.

    Examples
    --------
    >>> from geotracs.answers.operators import Dense
    >>> channel = Dense(np.array([[0.5, 0.3], [0.3, 0.4], [0.2, 0.3]]))
    >>> excess([Observed(channel, np.array([450, 350, 200]))], np.array([0.5, 0.5]))[0]
    array([0., 0., 0.])
    >>> excess([Observed(channel, np.array([950, 30, 20]))], np.array([0.5, 0.5]))[0] > 400
    array([ True, False, False])
    """
    counts = [np.asarray(seen.counts, dtype=np.float64)[:, None] for seen in observed]
    chance = false_alarm / sum(len(own) for own in counts)
    found: list[np.ndarray] = []
    for step in path(observed, counts, np.maximum(p, p.max() * 1e-9)[:, None]):
        means = [seen.total * q for seen, q in zip(observed, step.predicted, strict=True)]
        left = _left(observed, counts, step.predicted)
        found = [_beyond(own, mean, left, chance) for own, mean in zip(counts, means, strict=True)]
        now = [_beyond(own, mean, 0.0, chance) for own, mean in zip(counts, means, strict=True)]
        if all(np.array_equal(one > 0, other > 0) for one, other in zip(found, now, strict=True)):
            break
    return found


def _left(observed: Sequence[Observed], counts: Sequence[np.ndarray], predicted: Sequence[np.ndarray]) -> float:
    """Return an upper bound of the log-likelihood that is still to be gained: it is concave, and this its slope."""
    ratios = [np.divide(own, q, out=np.zeros_like(q), where=q > 0) for own, q in zip(counts, predicted, strict=True)]
    slopes = sum(seen.operator.adjoint(ratio) for seen, ratio in zip(observed, ratios, strict=True))
    total = sum(float(own.sum()) for own in counts)
    return total * float(np.log(max(np.max(slopes) / total, 1.0)))


def _beyond(counts: np.ndarray, mean: np.ndarray, left: float, chance: float) -> np.ndarray:
    """Return by how much counts are too large for their means, or any that are no more likely by some nats."""
    counts, mean = counts[:, 0], mean[:, 0]
    most = GRAIN * (mean + np.sqrt(2 * left * mean) + 2 * left)
    unlikely = gammainc(np.maximum(counts, 1e-9), most) < chance  # P(Poisson(most) >= count)
    return np.where(unlikely & (counts > most), counts - mean, 0)


def piles(
    observed: Sequence[Observed], p: np.ndarray, xy: np.ndarray, false_alarm: float = FALSE_ALARM
) -> tuple[np.ndarray, np.ndarray]:
    """Return how many reports are too many in each bin that is flagged, and where it is: amid the states it is near to.

    Parameters
    ----------
    observed, p, false_alarm
        See `excess`.
    xy : array of shape (states, 2)
        Where states are.
    """
    numbers, where = [np.zeros(0)], [np.zeros((0, 2))]
    for seen, extra in zip(observed, excess(observed, p, false_alarm), strict=True):
        flagged = np.flatnonzero(extra)
        if not len(flagged):
            continue
        rows = seen.operator.rows(flagged)
        near = rows - rows.min(axis=1, keepdims=True)
        numbers.append(extra[flagged])
        where.append(near @ xy / np.maximum(near.sum(axis=1, keepdims=True), 1e-300))
    return np.concatenate(numbers), np.concatenate(where)


def too_fast(reader: Reader, speed: float) -> dict[str, int]:
    """Return how many pairs of consecutive reports are too far apart for a speed, and how many more than honest ones.

    Two honest reports are both near where they were with probability 0.95 each. That they are further apart than twice
    that distance and the way at this speed happens in at most 1 - 0.95**2 of all pairs.

    Parameters
    ----------
    reader : Reader
        A release with times.
    speed : float
        In metres per second.

    Returns
    -------
    dict
        ``pairs``, those ``too_far`` apart, and how many ``impossible`` ones there are beyond what chance explains.
    """
    if isinstance(speed, bool) or not isinstance(speed, Real) or not 0 < float(speed) < np.inf:
        raise InputError(f"`speed` must be a number of metres per second greater than 0, got {quoted(speed)}.")
    if reader.times is None:
        raise InputError("`speed` needs the times of the release; name their column when you perturb: time='t'.")
    first = np.setdiff1d(np.arange(len(reader.xy) - 1), reader.offsets[1:] - 1)
    seconds = np.abs(reader.times[first + 1] - reader.times[first])
    reach = 2 * _reach(reader) + speed * np.where(np.isfinite(seconds), seconds, np.inf)
    far = int((_metres(reader, reader.xy[first], reader.xy[first + 1]) > reach).sum())
    honest = (1 - BOTH_NEAR**2) * len(first)
    beyond = far - honest - SIGMAS * np.sqrt(honest)
    return {"pairs": len(first), "too_far": far, "impossible": max(0, int(np.ceil(beyond)))}


def _reach(reader: Reader) -> float:
    """Return within how many metres of where it was a report is, nearly always, from the worst of public stand-ins."""
    secrets = np.repeat(reader.channel.domain.spread(SECRETS), DRAWS, axis=0)
    alone = np.arange(len(secrets) + 1)
    eps = float(reader.levels[0])
    reports = reader.channel.sample(secrets, alone, eps, np.random.default_rng(0)).xy
    away = _metres(reader, secrets, reports).reshape(-1, DRAWS)
    return float(np.quantile(away, BOTH_NEAR, axis=1).max())


def _metres(reader: Reader, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    domain = reader.region.domain
    return domain.distance(a, b) * (1.0 if domain.in_degrees else reader.metres)
