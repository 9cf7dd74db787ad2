"""What to say of a posterior in short: its mean, and how far around it most of it lies."""

import numpy as np

PER_CELL = 16
"""Distances are sorted into rings, this many as wide as a cell..."""
MAX_RINGS = 2**11
"""...and at most so many..."""
AT_A_TIME = 64
"""...for so many posteriors at a time."""


def centres(posterior: np.ndarray, points: np.ndarray, side: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of each posterior, and the distance from it within which the share ``level`` lies.

    Parameters
    ----------
    posterior : array of shape (rows, states)
        Each row sums to 1.
    points : array of shape (states, dimensions)
        Where states are, in metres.
    side : float
        How wide the states are, which are taken for squares, in metres; 0 for points.
    level : float
        Between 0 and 1.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [100.0, 0.0], [1000.0, 0.0]])
    >>> centre, radius = centres(np.array([[0.6, 0.35, 0.05]]), points, side=0.0, level=0.9)
    >>> centre.round(), radius.round()
    (array([[85.,  0.]]), array([85.]))
    """
    found = [
        _some(posterior[first : first + AT_A_TIME], points, side, level)
        for first in range(0, len(posterior), AT_A_TIME)
    ]
    return np.concatenate([centre for centre, _ in found]), np.concatenate([radius for _, radius in found])


def _some(posterior: np.ndarray, points: np.ndarray, side: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    # States that together have less than a tenth of what the radius leaves out are passed over.
    row, state = np.nonzero(posterior > (1 - level) / 10 / posterior.shape[1])
    weight = posterior[row, state].astype(np.float64)
    centre = posterior @ points
    apart = points[state] - centre[row]
    width = max(side / PER_CELL, (float(np.linalg.norm(np.ptp(points, axis=0))) + side) / MAX_RINGS, 1e-9)
    return centre, _radius(np.sqrt(np.einsum("ij,ij->i", apart, apart)), weight, row, side, level, width)


def _radius(
    away: np.ndarray, weight: np.ndarray, row: np.ndarray, side: float, level: float, width: float
) -> np.ndarray:
    """Return within which distance the share ``level`` of each row lies, from the distances of its cells' middles."""
    rows, rings = int(row[-1]) + 1, int((float(away.max()) + side) / width) + 1
    # Locations of a cell, as if it were turned towards the middle: nearer and farther, beside it and aside.
    nearer = side * ((np.arange(4) + 0.5) / 4 - 0.5)
    aside = side * np.array([1, 3]) / 8
    each = [np.sqrt((away + a) ** 2 + b**2) for a in nearer for b in aside] if side > 0 else [away]
    counts = np.zeros(rows * rings)
    for distance in each:
        counts += np.bincount(row * rings + (distance / width).astype(np.int64), weight / len(each), rows * rings)
    inside = np.cumsum(counts.reshape(rows, rings), axis=1)
    ring = np.minimum((inside < level).sum(axis=1), rings - 1)
    before = np.where(ring > 0, inside[np.arange(rows), ring - 1], 0.0)
    held = inside[np.arange(rows), ring] - before
    return width * (ring + np.clip((level - before) / np.maximum(held, 1e-12), 0, 1))
