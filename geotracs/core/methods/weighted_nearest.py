"""The nearest places by weight: the smallest mean error that epsilon allows over a public set."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

import geotracs.core.cache as cache
from geotracs.core.domains import Domain
from geotracs.core.mechanisms.tokens import Tokens
from geotracs.core.methods.base import PlaceMethod
from geotracs.core.methods.token_windows import TokenWindows
from geotracs.core.methods.weight_fit import Fitted, fit
from geotracs.core.places import on_sphere
from geotracs.core.randomness import Source, of_rows

LEVELS = 0.125 * np.cumprod(np.r_[1.0, np.full(40, 1.189207115002721)])
"""Epsilons that tokens are fitted for where locations have many: four to an octave, from 1/8 to 128. Below the first,
the best tokens hardly change."""
FORMAT = 1
"""Raised whenever the fit changes."""
MAX_DISTINCT = 4
"""Up to this many different epsilons each get tokens of their own."""


@dataclass(frozen=True)
class WeightedNearest(PlaceMethod):
    """Report one of the places nearest to the location with high probability, and any place otherwise, all by weight.

    Notes
    -----
    Public: the places, and how many tokens each of them owns. The window of a place is the nearest places up to exactly
    k tokens, the last of them in part; of places equally far, those that come first in the set are nearer. The tokens
    and k are those with the smallest mean error for a secret that is any of the places. Over places no eps-LDP method
    can do better: with the best tokens, this one is the solution of the linear programme of all of them. Paid for with
    all of epsilon: which window it is. `Nearest` is the case of one token for each place.

    Where locations have many epsilons, the tokens are fitted for a few levels, and each location is drawn with the
    tokens of the level below its epsilon, but with all of its epsilon.

    Examples
    --------
    >>> method = WeightedNearest()
    >>> tables = method.prepare(np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [5.0, 6.0]]), 4.0, None)
    >>> method.pmf_of_one(3, None, 4.0, tables).round(2)
    array([0.02, 0.02, 0.02, 0.95])
    """

    name: ClassVar[str] = "optimal"
    travels: ClassVar[bool] = True

    def prepare(self, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> "TokenTables":
        """Return the tokens and windows of these places; on the globe distances are great circles."""
        globe = domain is not None and domain.in_degrees
        points = on_sphere(places) if globe else places
        return TokenTables(points, [(e, kept_fit(points, e, globe)) for e in levels(eps)])

    def rounds(self, eps: float | np.ndarray) -> int:
        """Return how many fits there are; see `Method.rounds`."""
        return len(levels(eps))

    def described(self, tables: "TokenTables") -> dict[str, Any]:
        """Return the tokens by their digests; see `PlaceMethod.described`."""
        own = [
            {"level": at, "k": found.k, "total": int(found.weights.sum()), "digest": _digest(found)}
            for at, found in zip(tables.eps.tolist(), tables.fitted, strict=True)
        ]
        return {"kind": "tokens", "format": FORMAT, "books": own}

    def choose(
        self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, tables: "TokenTables", rng: Source
    ) -> np.ndarray:
        """Return the reported place of each secret; see `PlaceMethod.choose`."""
        level = np.broadcast_to(tables.level(eps), len(secrets))
        reports = np.empty(len(secrets), dtype=np.int64)
        for number in np.unique(level).tolist():
            rows = np.flatnonzero(level == number)
            rows = rows[np.argsort(secrets[rows], kind="stable")]
            own = eps if np.ndim(eps) == 0 else np.asarray(eps)[rows]
            reports[rows] = tables.report(number, secrets[rows], own, of_rows(rng, rows))
        return reports

    def pmf_of_one(self, secret: int, before: int | None, eps: float, tables: "TokenTables") -> np.ndarray:
        """Return the probability of each place; see `PlaceMethod.pmf_of_one`."""
        number = int(tables.level(eps))
        fitted, windows = tables.fitted[number], tables.windows[number].around(np.array([secret]))
        taken = np.zeros(len(fitted.weights), dtype=np.int64)
        taken[windows.members] = windows.taken
        return Tokens(eps, fitted.k, int(fitted.weights.sum())).pmf(fitted.weights, taken)


class TokenTables:
    """Tokens fitted to places for some epsilons, and the windows that follow from them.

    Parameters
    ----------
    points : array of shape (m, 2), or (m, 3) on the sphere
    fits : list of (float, Fitted)
        Epsilons, ascending, and the tokens for each.
    """

    def __init__(self, points: np.ndarray, fits: list[tuple[float, Fitted]]) -> None:
        self.points = points
        self.eps = np.array([eps for eps, _ in fits])
        self.fitted = [fitted for _, fitted in fits]
        self.windows = [TokenWindows(points, fitted.weights, fitted.k) for fitted in self.fitted]

    def level(self, eps: float | np.ndarray) -> np.ndarray:
        """Return which of the fits each epsilon uses: the one below it, or the first."""
        return np.maximum(np.searchsorted(self.eps, eps, side="right") - 1, 0)

    def report(self, level: int, secrets: np.ndarray, eps: float | np.ndarray, rng: Source) -> np.ndarray:
        """Return the reports of secrets in ascending order, by the tokens of one fit."""
        fitted, windows = self.fitted[level], self.windows[level]
        tokens = Tokens(eps, fitted.k, int(fitted.weights.sum()))
        draws = tokens.draw(len(secrets), rng)
        reports = np.empty(len(secrets), dtype=np.int64)
        distinct, which = np.unique(secrets, return_inverse=True)
        for part in windows.parts(len(distinct)):
            own = slice(*np.searchsorted(which, [part.start, part.stop]))
            found = windows.around(distinct[part])
            reports[own] = tokens.apply(fitted.weights, found, which[own] - part.start, draws[own])
        return reports


def kept_fit(points: np.ndarray, eps: float, on_sphere: bool) -> Fitted:
    """Return the tokens of places for an epsilon: from memory, from the `cache`, or fitted."""
    return _kept(np.ascontiguousarray(points, dtype="<f8").tobytes(), points.shape[1], float(eps), on_sphere)


@lru_cache(maxsize=32)
def _kept(points: bytes, axes: int, eps: float, on_sphere: bool) -> Fitted:
    about = hashlib.sha256(repr((FORMAT, axes, eps, on_sphere)).encode() + points).hexdigest()
    content, count = cache.read(f"{about}.tokens"), len(points) // (8 * axes)
    if content is not None and len(content) == 8 * (count + 3):
        weights = np.frombuffer(content, dtype="<i8", count=count).astype(np.int64)
        k, error, nearest_error = np.frombuffer(content, dtype="<f8", offset=8 * count).tolist()
        return Fitted(weights, int(k), error, nearest_error)
    found = fit(np.frombuffer(points, dtype="<f8").reshape(-1, axes), eps, on_sphere=on_sphere)
    numbers = np.array([found.k, found.error, found.nearest_error], dtype="<f8")
    cache.write(f"{about}.tokens", found.weights.astype("<i8").tobytes() + numbers.tobytes())
    return found


def _digest(found: Fitted) -> str:
    """Return a digest of the tokens of all places, in the order of the set."""
    return hashlib.sha256(found.weights.astype("<i8").tobytes()).hexdigest()


def levels(eps: float | np.ndarray) -> list[float]:
    """Return the epsilons to fit tokens for, ascending, given all epsilons of the locations.

    >>> levels(2.0), levels(np.array([2.0, 1.0, 2.0]))
    ([2.0], [1.0, 2.0])
    >>> [round(e, 2) for e in levels(6 / np.arange(1, 13))]
    [0.5, 0.59, 0.71, 0.84, 1.0, 1.19, 1.41, 2.0, 2.83, 5.66]
    """
    distinct = np.unique(eps)
    if len(distinct) <= MAX_DISTINCT:
        return distinct.tolist()
    return LEVELS[np.unique(np.maximum(np.searchsorted(LEVELS, distinct, side="right") - 1, 0))].tolist()
