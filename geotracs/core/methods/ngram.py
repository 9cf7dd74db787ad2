"""NGram: the exponential mechanism over the places within reach of the last report."""

from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import ClassVar, NamedTuple, cast

import numpy as np

import geotracs.core.mechanisms.exponential as mechanism
from geotracs.core.domains import Domain
from geotracs.core.lengths import diameter, distances
from geotracs.core.mechanisms.slopes import Slopes
from geotracs.core.mechanisms.weighted import draw
from geotracs.core.methods.calibrated import CalibratedMethod, calibrate, divide, slopes_at
from geotracs.core.methods.weighted import chunks
from geotracs.core.randomness import Source
from geotracs.errors import InputError, quoted

CENTRES = 256
"""From how many points the reach is measured at most, if the slopes are calibrated."""
SECRETS, PAIRS = 2**10, 2**23
"""How many stand-ins there are for the secrets of each reach at most, and how many pairs of these and places."""


class Tables(NamedTuple):
    """What is public.

    Attributes
    ----------
    spread, reach : float
        The largest distance between two places, and how far one may be from the last report.
    centres : array of int
        The place from which the reach is measured where each place was reported last.
    context : array of int
        The number of that place among all that occur.
    everywhere, within : Slopes or None
        Calibrated slopes, over all places and over those within each reach.
    """

    places: np.ndarray
    spread: float
    reach: float
    centres: np.ndarray
    context: np.ndarray
    everywhere: Slopes | None
    within: Slopes | None


@dataclass(frozen=True)
class NGram(CalibratedMethod):
    """Report a place within reach of the one reported before, the likelier, the nearer it is to the location's own.

    Parameters
    ----------
    calibration : {"exact", "textbook"}
        How steeply the weights fall with the distance: as steeply as epsilon allows, calibrated over the public set; or
        by the classical factor 2, which spends only about half of epsilon.
    reach : float
        How far the next report may be, as a part of the region's longest side; the paper's is 0.75.

    Notes
    -----
    Public: the places, the reach, and what was reported before. The first location of a trajectory has all places to
    choose from; the others those within reach of the last *report*, or all of them where none but that one is. Paid for
    with all of epsilon: which place the location belongs to, by one exponential mechanism over the candidates. Its
    place need not be one of them.

    By the book, its distances from the candidates are still defined, and differ by no more than these are apart.
    Calibrated, the location counts as the candidate nearest to its place, by a rule that looks at nothing else private,
    so that the secrets are the candidates themselves; then the proof in `Slopes` holds for every set of candidates. So
    that these sets are few, the reach is measured from one of at most 256 public centres, the one that stands for the
    last report; a set of up to 256 places has each of them as a centre. Above 1,024 places the slopes come from
    stand-ins, and what these may miss is taken off epsilon.

    After Cunningham, Cormode, Ferhatosmanoglu and Srivastava (2021), as the paper simplifies it. Published code
    measured the reach from the secret place, so that what can be reported tells where the secret is.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> method = NGram(reach=0.5)
    >>> tables = method.prepare(np.array([[0.0, 0.0], [5.0, 0.0], [9.0, 0.0]]), 2.0, Rectangle(0, 0, 10, 10))
    >>> method.pmf_of_one(1, before=0, eps=2.0, tables=tables).round(3)
    array([0.12, 0.88, 0.  ])
    """

    name: ClassVar[str] = "ngram"
    sequential: ClassVar[bool] = True

    reach: float = 0.75

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.reach, bool) or not isinstance(self.reach, Real) or not 0 < self.reach < np.inf:
            raise InputError(f"`reach` must be a part of the longest side, greater than 0, got {quoted(self.reach)}.")

    def prepare(self, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> Tables:
        """Return the places, their diameter, the reach in the units of the plane, and the slopes."""
        self.check_eps(eps)
        reach, own = float(self.reach) * domain.longest_side, np.arange(len(places))
        if self.calibration == "textbook":
            return Tables(places, diameter(places), reach, own, own, None, None)
        context, centres, within = _calibrated(np.ascontiguousarray(places).tobytes(), reach)
        tables = Tables(places, diameter(places), reach, centres[context], context, self.everywhere(places), within)
        for slopes in (tables.everywhere, within):
            slopes_at(slopes, np.atleast_1d(eps))
        return tables

    def weights(self, secrets: np.ndarray, befores: np.ndarray, eps: np.ndarray, tables: Tables) -> np.ndarray:
        """Return the weights of all places, 0 beyond reach; see `WeightedMethod.weights`."""
        places = tables.places
        allowed = _within(places[tables.centres[befores]], places, tables.reach)
        allowed |= (allowed.sum(axis=1) == 1)[:, None] | (befores < 0)[:, None]
        every = allowed.all(axis=1)
        spread = np.where(every, tables.spread, min(tables.spread, 2 * tables.reach))
        away = distances(places[secrets], places)
        slopes: np.ndarray | None = None
        if tables.within is not None:
            beyond = np.flatnonzero(~allowed[np.arange(len(secrets)), secrets])
            nearest = np.where(allowed[beyond], away[beyond], np.inf).argmin(axis=1)
            away[beyond] = distances(places[nearest], places)
            inside = slopes_at(tables.within, eps, tables.context[befores])
            outside = slopes_at(tables.everywhere, eps)
            slopes = np.where(every, cast(np.ndarray, outside), cast(np.ndarray, inside))
        return mechanism.Exponential(eps, spread, slopes).weights(away, allowed)

    def choose(
        self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, tables: Tables, rng: Source
    ) -> np.ndarray:
        """Return the reported places, one step of all trajectories at a time; see `PlaceMethod.choose`."""
        self.check_eps(eps)
        eps = np.broadcast_to(eps, len(secrets))
        reports = np.empty(len(secrets), dtype=np.int64)
        longest_first = np.argsort(-np.diff(offsets), kind="stable")
        begins, lengths = offsets[:-1][longest_first], np.diff(offsets)[longest_first]
        for step in range(lengths[0] if len(lengths) else 0):
            now = begins[: np.searchsorted(-lengths, -step)] + step
            for part in chunks(len(now), len(tables.places)):
                some = now[part]
                befores = reports[some - 1] if step else np.full(len(some), -1)
                weights = self.weights(secrets[some], befores, eps[some], tables)
                reports[some] = draw(weights, np.arange(len(some)), rng)
        return reports


@lru_cache(maxsize=4)
def _calibrated(places: bytes, reach: float) -> tuple[np.ndarray, np.ndarray, Slopes]:
    """Return the number of each place's centre, the centres, and the slopes within reach of them."""
    xy = np.frombuffer(places).reshape(-1, 2)
    context, centres, _ = divide(xy, CENTRES)
    alone = np.array([_within(xy[one : one + 1], xy, reach).sum() == 1 for one in centres])

    def allowed(columns: slice) -> np.ndarray:
        return _within(xy[centres], xy[columns], reach) | alone[:, None]

    return context, centres, calibrate(xy, PAIRS, allowed, SECRETS)


def _within(centres: np.ndarray, places: np.ndarray, reach: float) -> np.ndarray:
    """Return which places are within reach of each centre."""
    return distances(centres, places) <= reach
