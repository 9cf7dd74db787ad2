"""Fitting codebooks: where codewords lie, and how many of them a window has, for the smallest mean error.

Two half steps alternate, and the error falls in each: the window of a location becomes its k nearest codewords, and
each codeword moves to the geometric median of what it may stand for: all locations, each counted once, and
those whose window holds it exp(eps) times. Everything is computed from points that the region spreads itself, so it is
public and the same every time. Sums have a fixed order and no matrix product is used; codewords are rounded to a
4-millionth of the region's extent after each round, so that a platform whose sine or square root differs in its last
bit finds the same ones, unless a number lies within that bit of where it is rounded the other way. What remains is the
version of scipy's tree where several codewords are equally far, and `FORMAT`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from geotracs.core.domains import Domain
from geotracs.core.methods.book import BINS, Book, nearest
from geotracs.core.methods.codebook_starts import by_weights
from geotracs.core.methods.spaces import Space, squares
from geotracs.errors import DomainError

FORMAT = 1
"""Counts the ways of fitting: whoever changes a result raises it, so that no book of another way is taken."""
FEW_UP_TO = 5.0
"""Up to this epsilon there are few codewords, windows of several sizes are tried, and codewords start in two ways."""
LARGEST = 10.0
"""Beyond this epsilon `joint` is within 2.5% of the optimum, and no codebook is fitted."""
SMALLEST = 2.0**-4
"""Smaller epsilons share a codebook: all but a few of their reports are drawn from all codewords."""
FEW, MANY = 256, 8192
"""The smallest and the largest number of codewords..."""
PER_WINDOW = 18
"""...of which a window has about this many, if possible."""
STAND_INS = 8
"""How many points stand for locations, for each codeword..."""
FEWEST_STAND_INS = 2**12
"""...and how many at least."""
ASKED = 2**16
"""For how many points a region is asked at most, where it returns fewer than it is asked for."""
ROUNDS = 14
"""How often the two half steps alternate..."""
TRIED = 5
"""...after this many rounds for each window size that is tried where there are few codewords."""
MAX_ROUNDS = ROUNDS + 8 * TRIED
"""How many rounds a fit takes at most."""
SIZES = (0.8, 1.0, 1.25)
"""The sizes that are tried, as multiples of a first guess; beyond the first and the last, if one of them is best."""
STRIDE = 1.9
"""How many times farther than the step of Weiszfeld (1937) codewords move; all below 2 converge."""
ENTRIES = 2**17
"""How many distances are processed at a time."""
DISTANCES = 2**21
"""How many distances to all locations are computed in a round: with many codewords fewer points stand for them."""

Progress = Callable[[int], Any]


def level(eps: float | np.ndarray) -> np.ndarray:
    """Return the epsilon for which the codebook of each epsilon is fitted, so that few are needed.

    Quarters from 1 to `LARGEST`, quarters of an octave below. Only where codewords lie depends on it: the exact
    threshold is that of the epsilon itself, so that nothing of it is lost and the promise does not depend on levels.

    >>> level(np.array([1e-9, 0.5, 0.97, 4.0, 4.2]))
    array([0.0625, 0.5   , 1.    , 4.    , 4.25  ])
    """
    eps = np.clip(eps, SMALLEST, LARGEST)
    return np.where(eps < 1, 2.0 ** (np.rint(4 * np.log2(eps)) / 4), np.rint(4 * eps) / 4)


def fit(domain: Domain, at: float, progress: Progress | None = None) -> Book:
    """Return the codebook of a region for an epsilon, fitted anew.

    Parameters
    ----------
    domain : Domain
        A region that can spread points over itself, or over its public prior, and move others inside.
    at : float
        One of the `level`\\ s.
    progress : callable, optional
        Is told how many rounds were made.

    Examples
    --------
    >>> from geotracs.core.domains import Rectangle
    >>> book = fit(Rectangle(0, 0, 2000, 1000), 1.0)
    >>> book
    <Book of 256 codewords, ... in a window, fitted for epsilon 1>
    """
    return make(domain, stand_ins(domain, at), at, progress)


class StandIns(NamedTuple):
    """Public points that stand for locations, and the part of them that a window may hold, at a first guess."""

    points: np.ndarray
    share: float
    codewords: int


def stand_ins(domain: Domain, at: float) -> StandIns:
    """Return the points from which a codebook is fitted, and how many codewords it has."""
    few = _spread(domain, 8 * FEW)
    share = _guess(Space.of(domain, few), few, np.expm1(at))
    m = int(np.clip(2.0 ** np.rint(np.log2(PER_WINDOW / share)), FEW, FEW if at <= FEW_UP_TO else MANY))
    points = _spread(domain, max(STAND_INS * m, FEWEST_STAND_INS))
    return StandIns(points, share, min(m, len(points)))


def make(domain: Domain, given: StandIns, at: float, progress: Progress | None = None) -> Book:
    """Return the codebook that is fitted to these stand-ins."""
    points, share, m = given
    space = Space.of(domain, points)
    fitting = _Fitting.of(domain, space, space.embed(points), float(np.expm1(at)), progress or (lambda _: None))
    state = fitting.start(m, int(np.clip(round(share * m), 1, m)))
    state = fitting.with_best_size(state)
    state = fitting.improve(state, ROUNDS)
    low, high = (points.min(axis=0), points.max(axis=0)) if not space.sphere else _belt(points)
    size = np.where(high > low, high - low, 1.0)
    cuts = _cuts(space, points, low, size, int(np.clip(160 * m / state.k, 64**2, 256**2)))
    return Book(at, state.k, state.xy, space, _pair(low), _pair(size), cuts)


def _spread(domain: Domain, n: int) -> np.ndarray:
    points = np.ascontiguousarray(domain.spread(n), dtype=np.float64)
    if 0 < len(points) < n < ASKED:  # a region that fills little of its box returns only some of them
        points = np.ascontiguousarray(domain.spread(min(n * (n // len(points) + 1), ASKED))[:n], dtype=np.float64)
    if len(points) == 0 or not np.isfinite(points).all():
        raise DomainError("The region has no point to fit a codebook to; it must have an area.")
    return points


def _guess(space: Space, points: np.ndarray, odds: float) -> float:
    """Return the share of all codewords that a window has, if they lie as the locations do.

    With windows of share A whose codewords are I away on average, and others E, the error is
    ``(E + odds A I) / (1 + odds A)``; E is that of reports from the middle, where those of all codewords gather.
    """
    at = space.embed(points)
    lengths = np.sort(space.lengths(squares(at[:FEW], at)), axis=1)
    inside = np.cumsum(lengths.mean(axis=0)) / np.arange(1, len(at) + 1)
    anywhere = lengths.mean(axis=1).min()
    shares = np.arange(1, len(at) + 1) / len(at)
    errors = (anywhere + odds * shares * inside) / (1 + odds * shares)
    return min(float(shares[np.argmin(errors)]), 0.5)


class _State(NamedTuple):
    """Codewords on the way: where they are, also without units, the size of their windows, and their error."""

    xy: np.ndarray
    at: np.ndarray
    k: int
    error: float


@dataclass(frozen=True, repr=False)
class _Fitting:
    domain: Domain
    space: Space
    points: np.ndarray
    odds: float
    progress: Progress
    soft: float
    """How near a location pulls at most: a part of how far they are apart, so that codewords do not stick to one."""

    @classmethod
    def of(cls, domain: Domain, space: Space, points: np.ndarray, odds: float, progress: Progress) -> "_Fitting":
        apart = cKDTree(points).query(points, k=2)[0][:, 1] if len(points) > 1 else np.zeros(1)
        return cls(domain, space, points, odds, progress, max(0.3 * float(np.median(apart)), 1e-7))

    def start(self, m: int, k: int) -> _State:
        """Return codewords that lie as the locations do: the first points of a sequence that is even at any length."""
        return self._state(self.points[:m], k, np.inf)

    def with_best_size(self, state: _State) -> _State:
        """Return the state with the best size of the windows: tried where codewords move much, else looked up."""
        if len(state.at) > FEW:
            return self._looked_up(self.improve(state, TRIED))
        starts = [(start, self.improve(start, TRIED)) for start in (state, self._weighted(state))]
        start, improved = min(starts, key=lambda both: both[1].error)
        tried = {start.k: improved}
        for times in SIZES:
            self._try(tried, start, start.k * times)
        for _ in range(2):
            best = min(tried, key=lambda k: tried[k].error)
            if best == min(tried):
                self._try(tried, start, best * SIZES[0])
            elif best == max(tried):
                self._try(tried, start, best * SIZES[-1])
        self._try(tried, start, _lowest({k: found.error for k, found in tried.items()}))
        self._try(tried, start, self._looked_up(min(tried.values(), key=lambda found: found.error)).k)
        return min(tried.values(), key=lambda found: found.error)

    def improve(self, state: _State, rounds: int) -> _State:
        """Return the state after some rounds; its error is that before the last round."""
        for _ in range(rounds):
            steps, error = self._dense(state) if len(state.at) <= FEW else self._sparse(state)
            state = self._state(self.space.move(state.at, STRIDE * steps), state.k, error)
            self.progress(1)
        return state

    def _weighted(self, state: _State) -> _State:
        """Return codewords that lie as weights say that are best for one of some sizes of the windows."""
        m, share = len(state.at), state.k / len(state.at)
        shares = sorted({share, float(np.sqrt(share / 2)), 0.5})
        starts = [by_weights(self.space, self.points, m, part, self.odds) for part in shares]
        best = int(np.argmin([error for _, error in starts]))
        return self._state(starts[best][0], int(np.clip(round(shares[best] * m), 1, m)), np.inf)

    def _try(self, tried: dict[int, _State], state: _State, size: float) -> None:
        k = int(np.clip(round(size), 1, len(state.at)))
        if k not in tried:
            tried[k] = self.improve(state._replace(k=k), TRIED)

    def _looked_up(self, state: _State) -> _State:
        """Return the state with the size of windows that is best for codewords where they are."""
        most = min(3 * state.k, len(state.at))
        some = self.points[: 8 * FEW]
        found = nearest(some, state.at, most)
        lengths = self.space.lengths(((some[:, None] - state.at[found]) ** 2).sum(axis=2))
        sums = np.cumsum(np.sort(lengths, axis=1).mean(axis=0))
        everywhere = self.space.lengths(squares(some[:FEW], state.at)).mean() * len(state.at)
        errors = (everywhere + self.odds * sums) / (len(state.at) + self.odds * np.arange(1, most + 1))
        return state._replace(k=int(np.argmin(errors)) + 1)

    def _state(self, at: np.ndarray, k: int, error: float) -> _State:
        """Return codewords rounded, and projected into the region."""
        xy = np.asfortranarray(self.space.locate(at))
        self.domain.project_inside(xy)
        return _State(xy, self.space.embed(xy), k, error)

    def _dense(self, state: _State) -> tuple[np.ndarray, float]:
        """Return Weiszfeld's steps and the mean error, looking at all locations and codewords."""
        at, k = state.at, state.k
        pull, weight, error = np.zeros(at.shape), np.zeros(len(at)), 0.0
        step = max(1, ENTRIES // len(at))
        for first in range(0, len(self.points), step):
            some = self.points[first : first + step]
            square = squares(some, at)
            farthest = np.partition(square, k - 1, axis=1)[:, k - 1 : k]
            counts = np.where(square <= farthest, 1 + self.odds, 1.0)
            error += float((counts * self.space.lengths(square)).sum())
            towards, nearness = self.space.pull(at.T[:, None, :], some.T[:, :, None], self.soft)
            for axis, part in enumerate(towards):
                pull[:, axis] += (counts * part).sum(axis=0)
            weight += (counts * nearness).sum(axis=0)
        return pull / weight[:, None], error / len(self.points) / (len(at) + self.odds * k)

    def _sparse(self, state: _State) -> tuple[np.ndarray, float]:
        """Return the same, looking at windows and, for all locations, at fewer points that stand for them."""
        at, m = state.at, len(state.at)
        pull, weight, error = self._of_all(at)
        each = self.odds / len(self.points)
        windows = nearest(self.points, at, state.k)
        step = max(1, ENTRIES // state.k)
        for first in range(0, len(self.points), step):
            some, own = self.points[first : first + step], windows[first : first + step].ravel()
            others = np.repeat(some, state.k, axis=0)
            towards, nearness = self.space.pull(at[own].T, others.T, self.soft)
            error += each * float(self.space.lengths(((at[own] - others) ** 2).sum(axis=1)).sum())
            for axis, part in enumerate(towards):
                pull[:, axis] += each * np.bincount(own, part, minlength=m)
            weight += each * np.bincount(own, nearness, minlength=m)
        return pull / weight[:, None], error / (m + self.odds * state.k)

    def _of_all(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return how all locations pull each codeword, each of them counted as a part of one."""
        few = self.points[: max(FEW, DISTANCES // len(at))]
        soft = 2 * self.soft * float(np.sqrt(len(self.points) / len(few)))
        pull, weight, error = np.zeros(at.shape), np.zeros(len(at)), 0.0
        step = max(1, ENTRIES // len(few))
        for first in range(0, len(at), step):
            part = slice(first, first + step)
            towards, nearness = self.space.pull(at[part].T[:, :, None], few.T[:, None, :], soft)
            error += float((1 / nearness).sum()) / len(few)
            for axis, directions in enumerate(towards):
                pull[part, axis] = directions.mean(axis=1)
            weight[part] = nearness.mean(axis=1)
        return pull, weight, error


def _lowest(errors: dict[int, float]) -> float:
    """Return where a parabola through the lowest of some errors and its neighbours is lowest, by the logarithm."""
    sizes = sorted(errors)
    if len(sizes) < 3:
        return float(sizes[0])
    middle = min(max(sizes.index(min(sizes, key=lambda size: errors[size])), 1), len(sizes) - 2)
    x, y = np.log(sizes[middle - 1 : middle + 2]), [errors[size] for size in sizes[middle - 1 : middle + 2]]
    left, right = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
    if not right > left:
        return float(sizes[middle])
    lowest = (x[0] + x[1]) / 2 - left * (x[2] - x[0]) / 2 / (right - left)
    return float(np.exp(np.clip(lowest, x[0], x[2])))


def _belt(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the box of points on the globe: all longitudes."""
    south, north = points[:, 1].min(), points[:, 1].max()
    return np.array([-180.0, south]), np.array([180.0, north])


def _pair(values: np.ndarray) -> tuple[float, float]:
    return float(values[0]), float(values[1])


def _cuts(
    space: Space, points: np.ndarray, low: np.ndarray, size: np.ndarray, cells: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return where the columns and the rows of a table begin: nearer to each other where there are more locations."""
    across = np.abs(points - np.median(points, axis=0)).mean(axis=0) + 1e-9 * size
    if space.sphere:
        across[0] *= np.cos(np.radians(points[:, 1])).mean()
    columns = round(float(np.clip(np.sqrt(cells * across[0] / across[1]), 1, min(cells, BINS))))
    counts = (columns, min(cells // columns, BINS))
    first, second = (
        _evenly_filled((points[:, axis] - low[axis]) / size[axis], count) for axis, count in enumerate(counts)
    )
    return first, second


def _evenly_filled(parts: np.ndarray, count: int) -> np.ndarray:
    """Return the bins in which cells begin that hold about as many points each; a quarter of them is spread evenly."""
    bins = np.clip(parts * BINS, 0, BINS - 1).astype(np.int64)
    filled = np.cumsum(0.75 * np.bincount(bins, minlength=BINS) / len(bins) + 0.25 / BINS)
    return np.unique(np.append(0, np.searchsorted(filled, np.arange(1, count) / count) + 1).clip(0, BINS - 1))
