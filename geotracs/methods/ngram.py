"""NGram: the exponential mechanism over the places within reach of the last report."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

import geotracs.mechanisms.exponential as mechanism
from geotracs.domains import Domain
from geotracs.errors import InputError, quoted
from geotracs.mechanisms.weighted import draw
from geotracs.methods.sizes import diameter, distances, longest_side
from geotracs.methods.weighted import WeightedMethod, chunks
from geotracs.randomness import Source


class Tables(NamedTuple):
    """Where the places are, the largest distance between two, and how far one may be from the last report."""

    places: np.ndarray
    spread: float
    reach: float


@dataclass(frozen=True)
class NGram(WeightedMethod):
    """Report a place within reach of the one reported before, the likelier, the nearer it is to the location's own.

    Parameters
    ----------
    reach : float
        How far the next report may be, as a part of the region's longest side; the paper's is 0.75.

    Notes
    -----
    Public: the places, the reach, and what was reported before. The first location of a trajectory has all places to
    choose from; the others those within reach of the last *report*, or all of them where none but that one is. Paid for
    with all of epsilon: which place the location belongs to, by one exponential mechanism over the candidates. Its
    place need not be one of them: distances from it are still defined, and differ by no more than the candidates are
    apart.

    After Cunningham, Cormode, Ferhatosmanoglu and Srivastava (2021), as the paper simplifies it. Published code
    measured the reach from the secret place, so that what can be reported tells where the secret is.

    Examples
    --------
    >>> from geotracs.domains import Rectangle
    >>> method = NGram(reach=0.5)
    >>> tables = method.prepare(np.array([[0.0, 0.0], [5.0, 0.0], [9.0, 0.0]]), 2.0, Rectangle(0, 0, 10, 10))
    >>> method.pmf_of_one(1, before=0, eps=2.0, tables=tables).round(3)
    array([0.365, 0.635, 0.   ])
    """

    name: ClassVar[str] = "ngram"
    sequential: ClassVar[bool] = True

    reach: Any = 0.75

    def __post_init__(self) -> None:
        if isinstance(self.reach, bool) or not isinstance(self.reach, Real) or not 0 < self.reach < np.inf:
            raise InputError(f"`reach` must be a part of the longest side, greater than 0, got {quoted(self.reach)}.")

    def prepare(self, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> Tables:
        """Return the places, their diameter, and the reach in the units of the plane."""
        return Tables(places, diameter(places), float(self.reach) * longest_side(domain))

    def weights(self, secrets: np.ndarray, befores: np.ndarray, eps: np.ndarray, tables: Tables) -> np.ndarray:
        """Return the weights of all places, 0 beyond reach; see `WeightedMethod.weights`."""
        allowed = distances(tables.places[befores], tables.places) <= tables.reach
        allowed |= (allowed.sum(axis=1) == 1)[:, None] | (befores < 0)[:, None]
        spread = np.where(allowed.all(axis=1), tables.spread, min(tables.spread, 2 * tables.reach))
        return mechanism.Exponential(eps, spread).weights(distances(tables.places[secrets], tables.places), allowed)

    def choose(
        self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, tables: Tables, rng: Source
    ) -> np.ndarray:
        """Return the reported places, one step of all trajectories at a time; see `PlaceMethod.choose`."""
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
