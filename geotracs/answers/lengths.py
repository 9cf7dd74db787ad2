"""How far trips go, and how fast: lengths of pairs, corrected for the noise of a release."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
from scipy.stats import norm

import geotracs.answers.pairs as pairs_
from geotracs.answers.flows import check_level
from geotracs.answers.functionals import Means
from geotracs.answers.reader import Reader
from geotracs.answers.trips import MIN_PAIRS, Survey, Trips, squares
from geotracs.errors import InputError, quoted, sealed, warn

WORDS = "These are lengths or speeds that were estimated from the release; estimating costs no epsilon."
SQUARES = 24
"""Into how many squares a square region is divided along each side."""
DISTRICTS = 16
"""How many districts flows may be wrong between as a whole."""
POINTS = 4
"""How many pairs of locations stand for those of two squares: in the same square, too, they are apart."""
DURATIONS = 4
"""For speeds, pairs of like durations are taken together in so many groups..."""
MIN_GROUP = 1000
"""...of at least so many pairs."""
SECONDS = 16
"""How many durations stand for those of a group."""
SAME = 0.52
"""How far apart two points of a square are on average, as a part of its width."""
NEAR = 1.75
"""Squares nearer than so many times their width touch, or are the same..."""
REACH = 2.0
"""...and locations in them are anything apart up to so many times the mean: people who stay are at one place."""
MOST = 0.5
"""An answer is clear if bins with more than this part of all pairs have intervals narrower than their share."""
NODES = 16
"""How many locations stand for those of a state."""
STEPS = 2**13
"""How many lengths quantiles are looked for among."""
QUANTILES = np.arange(1, 10) / 10
"""Where the interval of the median is looked for."""
MAX_BINS = 100


@sealed
def lengths(
    frame: gpd.GeoDataFrame,
    *,
    of: str = "length",
    pairs: str = "ends",
    bins: int | Sequence[float] = 10,
    level: float = 0.9,
    domain: Any = None,
    round_to: Any = None,
    prior: Any = None,
    weight: str | None = None,
) -> pd.DataFrame:
    """Estimate how far apart the ends of trips are, or how fast one goes from one to the other, from a release.

    Noise makes trips longer: reports of one place are kilometres apart. The lengths here are those of the joint
    distribution of both ends that explains the reports best; see `flows`. They are straight lines: of a trip, from its
    first to its last location.

    Parameters
    ----------
    frame : GeoDataFrame
        What `geotracs.perturb` returned, with trajectories.
    of : {"length", "speed"}
        Lengths in metres, or speeds in metres per second, which need the times of the release.
    pairs : {"ends", "consecutive"}
        Whether a pair is the first and the last report of a trajectory, or any report and the next one.
    bins : int, or sequence of float
        How many bins there are, or where they begin and end; what is beyond the last edge is in no bin.
    level : float
        Of the intervals.
    domain, round_to, prior, weight
        The public layers of the release, where its record does not hold them.

    Returns
    -------
    DataFrame
        For each bin where it begins and ends (``start``, ``end``), the ``share`` of pairs, their ``count``, and the
        ends ``low`` and ``high`` of an interval for the share. ``attrs["mean"]`` and ``attrs["median"]`` hold each a
        ``value``, with ``low`` and ``high``.

    Warns
    -----
    GeotracsWarning
        If most pairs are in bins whose intervals are wider than the share itself.

    Notes
    -----
    The estimate is a mixture of staying, trips of several ranges and going anywhere, corrected between cells of about
    an eighth of the region. The region is divided into 24 x 24 squares. Lengths within a square and between squares
    that touch cannot be told from each other, nor from staying: the intervals of bins that divide them, and those of
    the mean and the median, say that they may be anything up to about three squares.

    The intervals count the noise, and that the truth may be off by twice the estimate in each pair of cells, as for a
    density. Over made-up cities and epsilons of 2, 4 and 8 they held 95 to 100% of the true shares in every bin. Where
    all people go between two spots and epsilon is 2 they held half. For a method that looks back, such as TraCS-D, they
    are not promised: they held 92% in six cities, and in one bin 4 of 6.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=4, seed=1)
    >>> box = city.boundary.total_bounds
    >>> private = city.tracks.tracs.perturb(4, domain=box, trajectory="person", time="t", keep=[])
    >>> found = private.tracs.lengths(pairs="consecutive", bins=[0, 2000, 5000, 20000])
    >>> list(found.columns)
    ['start', 'end', 'share', 'count', 'low', 'high']
    >>> sorted(found.attrs["mean"])
    ['high', 'low', 'value']
    """
    check_level(level)
    if of not in ("length", "speed"):
        raise InputError(f"`of` must be 'length' or 'speed', got {quoted(of)}.")
    reader = Reader.of(frame, domain=domain, round_to=round_to, prior=prior, weight=weight)
    if of == "speed" and reader.times is None:
        raise InputError("Speeds need the times of the release; name their column when you perturb, e.g. time='t'.")
    trips = Trips.of(reader, pairs, SQUARES)
    survey = trips.survey(np.ones((1, trips.states.count)))
    away = Distances(survey)
    parts = [_part(survey, away, None, np.ones(1), 1.0)] if of == "length" else _by_duration(survey, away)
    found = _table(parts, away, _edges(bins, parts, away), level)
    unclear = _say_what_is_clear(found, away, of)
    answer = {"kind": "lengths", "words": WORDS, "level": float(level), "pairs": pairs, "of": of, "unclear": unclear}
    found.attrs["tracs"] = replace(reader.guarantee, answer=answer).to_attrs()
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """Pairs that take about the same time.

    Attributes
    ----------
    means : Means
        Over the joint distribution of their ends.
    seconds : array
        Durations that stand for theirs; 1 for lengths.
    weight : float
        Which part of all pairs they are.
    total : int
        How many there are.
    upto : array
        Which part of them is nearer than each of `Distances.steps`.
    """

    means: Means
    seconds: np.ndarray
    weight: float
    total: int
    upto: np.ndarray


def _part(survey: Survey, away: "Distances", some: np.ndarray | None, seconds: np.ndarray, weight: float) -> Part:
    """Return the joint distribution of ends over squares, from all pairs or some.

    It is the mixture of kinds of trips that explains the pairs best, and between cells what maximum likelihood makes of
    it.
    """
    groups = survey.pairs(some)
    kinds = pairs_.gravity(survey.ends(groups, survey.p), survey.away)
    joint = np.asarray(np.tensordot(pairs_.mixture(groups, kinds), np.stack(kinds), axes=1))
    cells = np.asarray(survey.cells == np.arange(int(survey.cells.max()) + 1)[:, None], dtype=np.float64)
    start = cells @ joint @ cells.T
    found = pairs_.estimate(survey.pairs(some, survey.within), start)
    joint = joint * (cells.T @ (found / np.maximum(start, 1e-300)) @ cells)
    total = len(survey.trips.ends) if some is None else int(some.sum())
    means = Means(joint / joint.sum(), kinds, cells, _districts(survey), survey.channels(some))
    return Part(means, seconds, weight, total, away.upto(means.joint))


def _districts(survey: Survey) -> np.ndarray:
    """Return which cells are in each of a few districts, a row each."""
    middles = survey.within.T @ survey.weights.T @ survey.trips.states.xy
    which = np.unique(squares(middles, DISTRICTS), return_inverse=True)[1].reshape(-1)
    return np.asarray(which == np.arange(which.max() + 1)[:, None], dtype=np.float64)


class Distances:
    """How far apart locations in any two squares are, in metres."""

    def __init__(self, survey: Survey) -> None:
        reader, states = survey.trips.reader, survey.trips.states
        domain, squares = reader.region.domain, survey.weights.shape[1]
        metres = 1.0 if domain.in_degrees else reader.metres
        xy, _, _ = states.secrets(NODES)
        each = len(xy) // states.count
        rng = np.random.default_rng(0)
        upto = np.cumsum(survey.weights, axis=0)
        found = []
        for _ in range(POINTS):
            ends = []
            for _ in range(2):
                state = (upto < rng.random(squares) * upto[-1]).sum(axis=0)
                ends.append(xy[state * each + rng.integers(each, size=squares)])
            pairs = np.repeat(ends[0], squares, axis=0), np.tile(ends[1], (squares, 1))
            found.append(metres * domain.distance(*pairs).reshape(squares, squares))
        self.metres = np.stack(found)

    @property
    def longest(self) -> float:
        """The longest of all."""
        return float(self.metres.max())

    @cached_property
    def blur(self) -> float:
        """How long nothing shorter can be told from staying: about the width of a square."""
        return 2 * float(np.median(np.diagonal(self.mean)))

    @cached_property
    def mean(self) -> np.ndarray:
        """The mean, for each pair of squares."""
        return np.asarray(self.metres.mean(axis=0))

    @cached_property
    def near(self) -> np.ndarray:
        """Which pairs of squares touch or are the same."""
        return self.mean < NEAR * self.blur / (2 * SAME)

    def below(self, metres: np.ndarray) -> np.ndarray:
        """Return how likely locations are nearer than some lengths, on average, for each pair of squares."""
        return np.asarray(sum((self.metres < length).mean(axis=0) for length in metres) / len(metres))

    @cached_property
    def steps(self) -> np.ndarray:
        """Lengths from 0 to the longest, close to each other."""
        return np.linspace(0, 1.001 * self.longest + 1e-9, STEPS + 1)

    def upto(self, joint: np.ndarray) -> np.ndarray:
        """Return which part of a joint distribution over squares is nearer than each of the steps."""
        each = np.broadcast_to(joint / POINTS, self.metres.shape)
        parts = np.histogram(self.metres, self.steps, weights=each)[0]
        return np.append(0.0, np.cumsum(parts))

    def range(self, metres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the most that `below` may be: of squares that touch nothing is known inside."""
        middle = self.below(metres)
        least = sum((REACH * self.mean <= length) for length in metres) / len(metres)
        return np.where(self.near, least, middle), np.where(self.near, np.mean(metres > 0), middle)


def _by_duration(survey: Survey, away: Distances) -> list[Part]:
    """Return pairs in groups of like durations, those that take no time left out."""
    times = cast(np.ndarray, survey.trips.reader.times)
    seconds = times[survey.trips.ends[:, 1]] - times[survey.trips.ends[:, 0]]
    lasting = seconds > 0
    if lasting.sum() < MIN_PAIRS:
        raise InputError(f"At least {MIN_PAIRS} pairs of reports must take some time, and {lasting.sum()} do.")
    groups = int(np.clip(lasting.sum() // MIN_GROUP, 1, DURATIONS))
    limits = np.quantile(seconds[lasting], np.linspace(0, 1, groups + 1)[1:-1])
    which = np.where(lasting, np.searchsorted(limits, seconds), -1)
    parts = []
    for number in np.unique(which[lasting]):
        some = which == number
        middle = np.quantile(seconds[some], (np.arange(SECONDS) + 0.5) / SECONDS)
        parts.append(_part(survey, away, some, middle, float(some.sum() / lasting.sum())))
    return parts


def _edges(bins: int | Sequence[float], parts: Sequence[Part], away: Distances) -> np.ndarray:
    """Return where bins begin and end: as they are given, or round numbers up to what nearly all have."""
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        if not 1 <= bins <= MAX_BINS:
            raise InputError(f"`bins` must be a number from 1 to {MAX_BINS}, got {bins}.")
        most = _quantile(0.95, parts, away)
        power = 10.0 ** np.floor(np.log10(most / bins))
        step = power * next(times for times in (1, 2, 2.5, 5, 10) if times * power * bins >= most * 0.999)
        last = max(_most(parts, away), (bins + 1) * step)
        return np.append(np.arange(bins) * step, last)
    edges = np.asarray(bins, dtype=np.float64) if np.ndim(bins) == 1 else np.empty(0)
    if not 2 <= len(edges) <= MAX_BINS + 1 or not np.all(np.diff(edges) > 0) or not edges[0] >= 0:
        raise InputError("`bins` must be a number, or edges that rise from 0 or more.")
    return edges


def _quantile(share: float, parts: Sequence[Part], away: Distances) -> float:
    """Return the length or speed that a share of all pairs stays below."""
    low, high = 0.0, _most(parts, away)
    for _ in range(24):
        middle = (low + high) / 2
        below = sum(part.weight * np.interp(middle * part.seconds, away.steps, part.upto).mean() for part in parts)
        low, high = (middle, high) if below < share else (low, middle)
    return high


def _most(parts: Sequence[Part], away: Distances) -> float:
    """Return a length or speed that nobody has."""
    return 1.001 * away.longest / float(min(part.seconds.min() for part in parts)) + 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Values:
    """Values of pairs of squares, and the least and the most that each may be for what is inside of these."""

    middle: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @classmethod
    def between(cls, away: Distances, before: np.ndarray | None, after: np.ndarray) -> "Values":
        """Return how likely locations are apart by some lengths at least, and by less than others."""
        middle, (least, most) = away.below(after), away.range(after)
        if before is None:
            return cls(middle, least, most)
        first = away.range(before)
        return cls(middle - away.below(before), np.maximum(least - first[1], 0), most - first[0])

    @classmethod
    def mean(cls, away: Distances, factor: float) -> "Values":
        """Return how far apart locations are, in units of some metres."""
        most = np.where(away.near, REACH * away.mean, away.mean)
        return cls(away.mean * factor, np.where(away.near, 0, away.mean) * factor, most * factor)


def _table(parts: Sequence[Part], away: Distances, edges: np.ndarray, level: float) -> pd.DataFrame:
    inside = [[Values.between(away, a * part.seconds, b * part.seconds) for a, b in pairwise(edges)] for part in parts]
    share, low, high = _intervals(parts, inside, level)
    columns = {
        "start": edges[:-1],
        "end": edges[1:],
        "share": share,
        "count": share * sum(part.total for part in parts),
    }
    found = pd.DataFrame(columns | {"low": low.clip(0, 1), "high": high.clip(0, 1)})
    means = [[Values.mean(away, float((1 / part.seconds).mean()))] for part in parts]
    mean = [float(value[0]) for value in _intervals(parts, means, level)]
    found.attrs = {
        "mean": {"value": mean[0], "low": max(mean[1], 0.0), "high": mean[2]},
        "median": _median(parts, away, level),
    }
    return found


def _median(parts: Sequence[Part], away: Distances, level: float) -> dict[str, float]:
    """Return the median, and between which lengths half of the pairs may end."""
    at = np.array([_quantile(share, parts, away) for share in QUANTILES])
    values = [[Values.between(away, None, edge * part.seconds) for edge in at] for part in parts]
    _, low, high = _intervals(parts, values, level)
    low, high = np.maximum.accumulate(low), np.maximum.accumulate(high)
    middle = float(np.interp(0.5, QUANTILES, at))
    first = 0.0 if high[0] >= 0.5 else float(np.interp(0.5, high, at))
    if first < away.blur / float(np.median(np.concatenate([part.seconds for part in parts]))):
        first = 0.0
    last = float(np.interp(0.5, low, at)) if low[-1] >= 0.5 else _most(parts, away)
    return {"value": middle, "low": min(first, middle), "high": max(last, middle)}


def _say_what_is_clear(found: pd.DataFrame, away: Distances, of: str) -> int:
    """Warn if most pairs are in bins whose share these reports cannot tell; return how many bins that are."""
    wide = (found["high"] - found["low"] > found["share"]).to_numpy()
    part = found["share"][wide].sum() / max(found["share"].sum(), 1e-300)
    if part > 1 - MOST:
        short = REACH * float(away.mean[away.near].max())
        warn(
            f"These reports cannot tell how many pairs are in most bins: {wide.sum()} of {len(wide)}, with {part:.0%} "
            f"of the pairs, have an interval that is wider than the share itself. Lengths below about "
            f"{short / 1000:.1f} km cannot be told from each other{' at any speed' if of == 'speed' else ''}. Wider "
            "bins, more pairs or a larger epsilon would help."
        )
    return int(wide.sum())


def _intervals(
    parts: Sequence[Part], values: Sequence[Sequence[Values]], level: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means of values of pairs of squares, with the ends of their intervals.

    What is not seen counts as the same in all parts, the noise as independent. The interval is centred between the
    estimate and what the scores make of it: half of what they differ by counts as deviation. What may be inside of
    squares that touch comes on top, all of it.
    """
    weights = np.array([part.weight for part in parts])
    each = [(part.means, own) for part, own in zip(parts, values, strict=True)]
    mean, least, most = (
        weights @ np.array([[means.of(getattr(v, name)) for v in own] for means, own in each])
        for name in ("middle", "least", "most")
    )
    errors = [[means.error(v.middle) for v in own] for means, own in each]
    moved, unseen, noise = (
        np.array([[getattr(error, name) for error in own] for own in errors]) for name in ("moved", "unseen", "noise")
    )
    half = weights @ moved / 2
    centre = mean + half
    reach = norm.ppf(0.5 + level / 2) * np.sqrt((weights @ np.sqrt(unseen)) ** 2 + weights**2 @ noise + half**2)
    low, high = np.minimum(centre - reach, mean), np.maximum(centre + reach, mean)
    return mean, low - (mean - least), high + (most - mean)
