"""Where codewords lie before they are fitted. Fitting moves them a little; it takes none from one island to another."""

import numpy as np
from scipy.spatial import cKDTree

from geotracs.core.methods.spaces import Space, squares

SITES, SECRETS = 256, 512
"""How many points may have weights, and for how many locations these are made best."""
STEPS = 40
"""How many steps of exponentiated gradient are made."""


def by_weights(space: Space, points: np.ndarray, m: int, share: float, odds: float) -> tuple[np.ndarray, float]:
    """Return m of the points, as many around each of some sites as weights say that are best, and the error of these.

    For windows of a fixed share the error is convex in the weights of the sites. A weight costs the mean distance of
    its site, and of the locations whose window holds it ``odds`` times what it is farther, or nearer, than the last.
    """
    sites, some = points[:SITES], points[:SECRETS]
    lengths = space.lengths(squares(some, sites))
    order = np.argsort(lengths, axis=1, kind="stable")
    ordered = np.take_along_axis(lengths, order, axis=1)
    weights = best = np.full(len(sites), 1 / len(sites))
    least, every = np.inf, np.arange(len(some))
    for step in range(STEPS):
        filled = np.cumsum(weights[order], axis=1)
        last = ordered[every, np.minimum((filled < share).sum(axis=1), len(sites) - 1)]
        gains = np.minimum(lengths - last[:, None], 0)
        error = float((((lengths + odds * gains) * weights).sum(axis=1) + odds * share * last).mean())
        if error < least:
            least, best = error, weights
        slope = (lengths + odds * gains).mean(axis=0)
        slope = slope - (slope * weights).sum()
        weights = weights * np.exp(np.clip(-slope / (np.abs(slope).max() or 1.0) * 2 / np.sqrt(1 + step), -2, 2))
        weights = weights / weights.sum()
    return _around(points, sites, best, m), least / (1 + odds * share)


def _around(points: np.ndarray, sites: np.ndarray, weights: np.ndarray, m: int) -> np.ndarray:
    """Return m points, as many of those nearest to each site as its weight says; cycled if there are few."""
    counts = np.diff(np.rint(np.cumsum(weights) * m).astype(np.int64), prepend=0)
    own = cKDTree(sites).query(points)[1]
    chosen = []
    for site in np.flatnonzero(counts).tolist():
        members = np.flatnonzero(own == site)
        chosen.append(np.resize(members, counts[site]))
    return np.asarray(points[np.concatenate(chosen)])
