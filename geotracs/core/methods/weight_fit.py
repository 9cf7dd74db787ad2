"""Fit tokens to places: how many each place gets, and how many a window holds, for the smallest mean error.

Made from public things only: the places, epsilon and, where there is one, a public prior. Of a set that is too large to
be solved as it is, some places stand for all: they are the secrets of the problem, and what is reported. That costs
little, because there are still many of them in a window.
"""

from typing import NamedTuple

import numpy as np

from geotracs.core.mechanisms.lattice import WORDS, exp_lower_bound
from geotracs.core.mechanisms.tokens import token_threshold
from geotracs.core.methods.convex_weights import Lists, Metric, Weights, descend, normalised, parts
from geotracs.core.methods.nearest import Neighbourhoods
from geotracs.core.methods.token_windows import TokenWindows
from geotracs.errors import InputError

TOKENS = 2**31
"""How many tokens the places get together, about."""
ENTRIES = 2**18
"""How many distances a problem that is solved holds; a large set of places is thinned until it fits."""
MAX_DISTANCES = 2**26
"""How many distances are looked at for one mean over the secrets."""
MIN_INSIDE = 16
"""How many stand-ins there are at least for the places of a neighbourhood, however many they are in all."""
MAX_STAND_INS = 2**17
"""The upper limit of that number."""
LONGER = 3
"""How much longer the lists of neighbours are than the neighbourhoods of `Nearest`."""
MIN_STEPS, MAX_STEPS, WORK = 400, 2000, 2**25
"""How many steps a descent has: as many as look at this many distances in all, within bounds."""
FEW_STEPS = 150
"""How many it has where more stand-ins are needed than there is room for."""
FIRST_STEP = 0.5
"""By how much the first step changes weights."""
MAX_EPS = 50.0
"""Beyond, the tokens are those for this epsilon: each place has as many as a window."""
DROPPED = 1e-4
"""The share of the tokens that the lightest places may lose, which makes the windows shorter."""


class Fitted(NamedTuple):
    """Tokens for places, and what they are worth.

    Attributes
    ----------
    weights : array of int, shape (m,)
        The tokens of each place.
    k : int
        How many tokens a window holds.
    error : float
        The mean distance of reports, from the secrets that are the places, in the places' units; great circles of the
        unit sphere where they lie on it. Of a large set by stand-ins.
    nearest_error : float
        The same for `Nearest`.
    """

    weights: np.ndarray
    k: int
    error: float
    nearest_error: float


def fit(points: np.ndarray, eps: float, prior: np.ndarray | None = None, *, on_sphere: bool = False) -> Fitted:
    """Return the tokens with the smallest mean error, never worse than `Nearest` on the places themselves.

    Parameters
    ----------
    points : array of shape (m, 2), or (m, 3) on the sphere
        Where the places are; all different.
    eps : float
    prior : array of shape (m,), optional
        How much each place counts as a secret; by default they all count once.
    on_sphere : bool
        Whether the places are points of the unit sphere, and distances those along it.

    Examples
    --------
    >>> fitted = fit(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [9.0, 0.0]]), 1.0)
    >>> bool(fitted.error < fitted.nearest_error)
    True
    """
    m, metric = len(points), Metric(on_sphere)
    masses = _masses(prior, m)
    if m == 1:
        return Fitted(np.ones(1, dtype=np.int64), 1, 0.0, 0.0)
    size = int(Neighbourhoods(points).size(eps))
    odds = float(exp_lower_bound(min(eps, MAX_EPS)) - 1)
    tokens, k = in_tokens(_solved(points, masses, odds, size, metric))
    trial = stand_ins(points, masses, max(1024, MAX_DISTANCES // m))
    error = mean_error(points, tokens, k, eps, trial, metric)
    nearest = _nearest_error(points, size, eps, trial, metric)
    if error < nearest:
        return Fitted(tokens, k, error, nearest)
    return Fitted(np.ones(m, dtype=np.int64), size, nearest, nearest)


class Secrets(NamedTuple):
    """Places that stand for all, and how much each counts."""

    which: np.ndarray
    masses: np.ndarray
    cell: np.ndarray
    """For each place of the set, which of them stands for it."""


def mean_error(points: np.ndarray, tokens: np.ndarray, k: int, eps: float, secrets: Secrets, metric: Metric) -> float:
    """Return the mean distance of the reports from these secrets, by the integers that are drawn."""
    windows, near = TokenWindows(points, tokens, k), 0.0
    for part in windows.parts(len(secrets.which)):
        found = windows.around(secrets.which[part])
        row = (found.ends - 1) // k
        distance = metric.between(points[secrets.which[part]][row], points[found.members])
        near += float((distance * found.taken * secrets.masses[part][row]).sum())
    owners = np.flatnonzero(tokens)
    means = metric.means(points[secrets.which], secrets.masses, points[owners])
    total = int(tokens.sum())
    inside = token_threshold(eps, k, total) / WORDS
    return inside * near / k + (1 - inside) * float((means * tokens[owners]).sum()) / total


def _nearest_error(points: np.ndarray, size: int, eps: float, secrets: Secrets, metric: Metric) -> float:
    """Return the same for one token each, where no window needs to be in order."""
    near = far = 0.0
    for part in parts(len(secrets.which), len(points)):
        distance = metric.between(points[secrets.which[part], None], points)
        far += float((distance.sum(axis=1) * secrets.masses[part]).sum())
        distance = np.partition(distance, size - 1, axis=1)[:, :size]
        near += float((distance.sum(axis=1) * secrets.masses[part]).sum())
    inside = token_threshold(eps, size, len(points)) / WORDS
    return inside * near / size + (1 - inside) * far / len(points)


def _masses(prior: np.ndarray | None, m: int) -> np.ndarray:
    masses = np.ones(m) if prior is None else np.asarray(prior, dtype=np.float64)
    if masses.shape != (m,) or not np.all(masses >= 0) or not 0 < masses.sum() < np.inf:
        raise InputError(f"`prior` must hold a finite number >= 0 for each of {m:,} places, and not only zeros.")
    return masses / masses.sum()


def _solved(points: np.ndarray, masses: np.ndarray, odds: float, size: int, metric: Metric) -> Weights:
    """Return the best weights of all places."""
    m = len(points)
    length = min(m, LONGER * size + 8)
    fits = m if m * length <= ENTRIES else int(np.sqrt(ENTRIES * m / length))
    some = stand_ins(points, masses, max(fits, min(MIN_INSIDE * m // size, MAX_STAND_INS)))
    count, at = len(some.which), points[some.which]
    lists = Lists(at, some.masses, at, _means(points, masses, at, metric), length * count // m + 8, metric)
    start = Weights(np.bincount(some.cell, minlength=count).astype(np.float64), float(size))
    steps = int(np.clip(WORK // lists.order.size, MIN_STEPS, MAX_STEPS))
    if lists.order.size > 2 * ENTRIES:
        steps = FEW_STEPS
    own, weights = descend(lists, normalised(start, odds), odds, steps, FIRST_STEP)
    every = np.zeros(m)
    every[some.which[own]] = weights.w
    return Weights(every, weights.window)


def _means(points: np.ndarray, masses: np.ndarray, candidates: np.ndarray, metric: Metric) -> np.ndarray:
    """Return the mean distance of candidates from all places, or of some that stand for them."""
    some = stand_ins(points, masses, max(1024, MAX_DISTANCES // len(candidates)))
    return metric.means(points[some.which], some.masses, candidates)


def stand_ins(points: np.ndarray, masses: np.ndarray, count: int) -> Secrets:
    """Cut the set into cells of about as many places each, and let the middle place of each stand for it.

    >>> places = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [7.0, 0.0], [8.0, 0.0], [9.0, 0.0]])
    >>> stand_ins(places, np.full(6, 1 / 6), 2).which.tolist()
    [4, 1]
    """
    m = len(points)
    if count >= m:
        return Secrets(np.arange(m), masses, np.arange(m))
    cells, pending = [], [(np.arange(m), count)]
    while pending:
        own, share = pending.pop()
        if share == 1:
            cells.append(own)
            continue
        at = points[own]
        along = at[:, int(np.argmax(at.max(axis=0) - at.min(axis=0)))]
        own = own[np.argsort(along, kind="stable")]
        first = share // 2
        cut = len(own) * first // share
        pending += [(own[:cut], first), (own[cut:], share - first)]
    cell = np.empty(m, dtype=np.int64)
    cell[np.concatenate(cells)] = np.repeat(np.arange(count), [len(own) for own in cells])
    which = np.array([own[_middle(points[own])] for own in cells])
    return Secrets(which, np.bincount(cell, weights=masses, minlength=count), cell)


def _middle(at: np.ndarray) -> int:
    return int(np.argmin(((at - at.mean(axis=0)) ** 2).sum(axis=1)))


def in_tokens(weights: Weights) -> tuple[np.ndarray, int]:
    """Return the weights as whole numbers, without the lightest places, and the window.

    >>> tokens, k = in_tokens(Weights(np.array([0.5, 0.25, 0.25]), 0.75))
    >>> tokens / TOKENS, k / TOKENS
    (array([0.5 , 0.25, 0.25]), 0.75)
    """
    order = np.argsort(weights.w, kind="stable")
    kept = weights.w.copy()
    kept[order[np.cumsum(weights.w[order]) < DROPPED * weights.w.sum()]] = 0
    scale = TOKENS / kept.sum()
    tokens = np.floor(kept * scale + 0.5).astype(np.int64)
    return tokens, min(max(int(weights.window * scale + 0.5), 1), int(tokens.sum()))
