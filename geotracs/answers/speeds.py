"""How many reports are too far from the next ones for people of some speed.

Any two reports are possible: a channel that is differentially private reports every place from everywhere. But far
ones are rare. With probability 1 - u or more a report is within some radius of its location, so that two of them are
farther apart than two radii and the way between them with probability u (2 - u) at most, whatever people did. What
exceeds that, beyond chance, did not come from people of this speed through this channel. It is a number: which of the
pairs these are, nobody can tell.
"""

from typing import Any

import numpy as np
from scipy.special import betaincinv
from scipy.stats import binom

import geotracs.core.randomness as randomness
from geotracs.answers.reader import Reader
from geotracs.errors import InputError, quoted

FALSE_ALARM = 0.01
"""At most this part of honest releases has any impossible pair."""
RADII = 16
"""How many radii are tried."""
SECRETS, DRAWS = 256, 4000
"""Public places at which draws are made to know how far reports fall, and how many of each."""
SURE = 1e-3
"""How often the chance of a far report may be larger than is taken for granted."""


def check(speed: Any) -> None:
    """Raise unless it is a speed.

    >>> check(0)
    Traceback (most recent call last):
        ...
    geotracs.errors.InputError: `speed` must be a finite number of metres per second, greater than 0, got 0.
    """
    if isinstance(speed, bool) or not isinstance(speed, (int, float, np.number)) or not 0 < speed < np.inf:
        raise InputError(f"`speed` must be a finite number of metres per second, greater than 0, got {quoted(speed)}.")


def impossible(reader: Reader, speed: float, false_alarm: float = FALSE_ALARM) -> dict[str, Any]:
    """Return how many pairs of successive reports are surely too far apart.

    Returns
    -------
    dict
        ``pairs`` is how many there are, none of which share a report; ``far`` how many are farther apart than twice a
        ``radius`` (in metres) and the way that this speed allows, ``honest`` how many of them honest reports have at
        most, on average, and ``impossible`` how many are beyond what chance allows.
    """
    first = _pairs(reader)
    eps = np.broadcast_to(np.asarray(reader.eps, dtype=np.float64), reader.total)
    way = speed * np.abs(np.diff(_times(reader)))[first]
    apart = reader.region.domain.distance(reader.xy[first], reader.xy[first + 1])
    apart = apart if reader.region.domain.in_degrees else apart * reader.metres
    best: dict[str, Any] = {"pairs": len(first), "far": 0, "radius": None, "honest": 0.0, "impossible": 0}
    weakest = float(np.minimum(eps[first], eps[first + 1]).min())  # reports with more epsilon fall nearer
    for radius, chance in _misses(reader, weakest):
        far, honest = int((apart > way + 2 * radius).sum()), chance * (2 - chance)
        surely = far - int(binom.isf(false_alarm / RADII, len(first), honest))
        if surely > best["impossible"]:
            best |= {"far": far, "radius": radius, "honest": len(first) * honest, "impossible": surely}
    return best


def _times(reader: Reader) -> np.ndarray:
    if reader.times is None or not len(reader.xy):
        raise InputError("`speed` needs times: the release must have been made with `time=...`, and be in memory.")
    return reader.times


def _pairs(reader: Reader) -> np.ndarray:
    """Return the first reports of pairs within trajectories; no report is in two of them."""
    if reader.channel.method.sequential:
        raise InputError(f"`speed`: {reader.channel.method.name} looks back, so that reports are not drawn separately.")
    times = _times(reader)
    lengths = np.diff(reader.offsets)
    place = np.arange(lengths.sum()) - np.repeat(reader.offsets[:-1], lengths)
    left = np.repeat(lengths, lengths) - place
    first = np.flatnonzero((place % 2 == 0) & (left > 1))
    first = first[np.isfinite(times[first]) & np.isfinite(times[first + 1])]
    if not len(first):
        raise InputError("`speed` needs trajectories of two reports or more, with their times.")
    return first


def _misses(reader: Reader, eps: float) -> list[tuple[float, float]]:
    """Return radii in metres, and how likely a report is farther away than each at most, from any of many places."""
    domain = reader.region.domain
    if reader.rounding is not None and reader.channel.over == "places":
        places = reader.rounding.places
        secrets = places.sample(min(SECRETS, places.count))
    else:
        corners = np.asfortranarray(np.array(domain.outline.convex_hull.boundary.coords)[:SECRETS])
        domain.project_inside(corners)
        secrets = np.concatenate([domain.spread(SECRETS), corners])
    away = []
    for number, secret in enumerate(secrets):
        draws = np.tile(secret, (DRAWS, 1))
        found = reader.channel.sample(draws, np.arange(DRAWS + 1), eps, randomness.public_stream(number))
        away.append(np.sort(domain.distance(draws, found.xy)) * (1 if domain.in_degrees else reader.metres))
    radii = np.linspace(0, np.max(away), RADII + 1)[1:]
    beyond = np.array([DRAWS - np.searchsorted(own, radii, side="right") for own in away]).max(axis=0)
    chance = betaincinv(beyond + 1, np.maximum(DRAWS - beyond, 1e-9), 1 - SURE / (len(secrets) * RADII))
    return list(zip(radii.tolist(), np.where(beyond < DRAWS, chance, 1.0).tolist(), strict=True))
