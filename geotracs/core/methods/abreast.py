"""TraCS-D with any mechanism: the walk of `methods.walk` in numpy, all trajectories one step at a time."""

from collections.abc import Callable
from copy import copy

import numpy as np

from geotracs.core.mechanisms.named import UnitMechanism
from geotracs.core.mechanisms.piecewise import Piecewise
from geotracs.core.mechanisms.sectors import Sectors

TURN = 2 * np.pi
TINY = 1e-300


def walk_abreast(
    xy: np.ndarray,
    offsets: np.ndarray,
    starts: np.ndarray,
    follow: bool,
    planes: np.ndarray,
    mechanisms: tuple[UnitMechanism | Sectors, UnitMechanism],
    draws: tuple[np.ndarray, np.ndarray],
    inside: Callable[[np.ndarray], None] | None = None,
) -> None:
    """Replace every location by its report; the paper's Algorithm 1 with the draws made beforehand.

    The compiled walk knows windows only. This one asks the mechanisms, which costs some 100 microseconds for each step
    of the longest trajectory, whatever the number of trajectories.

    Parameters
    ----------
    xy : array of shape (n, 2)
        Locations, trajectory after trajectory.
    offsets : array of int
        Where each trajectory begins, and the end.
    starts : array of shape (trajectories, 2)
        The first reference of each trajectory.
    follow : bool
        Whether each report becomes the next reference.
    planes : array of shape (sides, 3)
        The convex region, as half-planes ``a x + b y <= c``.
    mechanisms : pair
        Those of the direction (on the circle) and the distance (on the interval).
    draws : pair
        What each of them drew for all locations.
    inside : callable, optional
        Moves reports into a polygon, in place, before the next locations are seen from them: the reference is always
        what is released.

    Examples
    --------
    >>> from geotracs.core.mechanisms.named import make
    >>> from geotracs.core.randomness import source
    >>> square = np.array([[1.0, 0, 1], [-1, 0, 0], [0, 1, 1], [0, -1, 0]])
    >>> pair = make("purkayastha", 3.0, periodic=True), make("purkayastha", 1.0)
    >>> draws = tuple(mechanism.draw(2, source()) for mechanism in pair)
    >>> xy = np.array([[0.2, 0.3], [0.9, 0.8]])
    >>> walk_abreast(xy, np.array([0, 2]), np.array([[0.5, 0.5]]), True, square, pair, draws)
    >>> bool(np.all((xy >= 0) & (xy <= 1)))
    True
    """
    lengths, at = np.diff(offsets), starts.copy()
    if not follow:  # then every location is a trajectory of its own
        at = np.repeat(starts, lengths, axis=0)
        lengths, offsets = np.ones(len(xy), dtype=np.int64), np.arange(len(xy) + 1)
    for step in range(lengths.max(initial=0)):
        lanes = np.flatnonzero(lengths > step)
        rows = offsets[lanes] + step
        reports = _report(xy[rows], at[lanes], planes, mechanisms, draws, rows)
        if inside is not None:
            inside(reports)
        xy[rows] = at[lanes] = reports


def _report(
    xy: np.ndarray,
    at: np.ndarray,
    planes: np.ndarray,
    mechanisms: tuple[UnitMechanism | Sectors, UnitMechanism],
    draws: tuple[np.ndarray, np.ndarray],
    rows: np.ndarray,
) -> np.ndarray:
    """Report locations from their references: the polar chart, both mechanisms, and back.

    Seen from the border, all that lies beyond it is infinitely many times as far.
    """
    slack = np.maximum(planes[:, 2] - at @ planes[:, :2].T, TINY)
    step = xy - at
    turn = np.arctan2(step[:, 1], step[:, 0]) / TURN % 1
    with np.errstate(over="ignore"):
        way = np.clip(np.max(step @ planes[:, :2].T / slack, axis=1), 0, 1)
    turn, way = (
        _of(mechanism, rows).apply(x, drawn[rows])
        for mechanism, x, drawn in zip(mechanisms, (turn, way), draws, strict=True)
    )
    towards = np.column_stack([np.cos(TURN * turn), np.sin(TURN * turn)])
    with np.errstate(over="ignore"):
        whole = np.max(towards @ planes[:, :2].T / slack, axis=1)
    return at + (way / whole)[:, None] * towards


def _of(mechanism: UnitMechanism | Sectors, rows: np.ndarray) -> UnitMechanism | Sectors:
    """Return the mechanism of these locations."""
    if isinstance(mechanism, Sectors):  # whose sectors are the same for every epsilon
        return mechanism
    if not isinstance(mechanism, Piecewise):
        return mechanism.take(rows)
    if np.ndim(mechanism.eps) == 0:
        return mechanism
    part = copy(mechanism)
    for name in ("eps", "window", "threshold"):
        setattr(part, name, getattr(mechanism, name)[rows])
    return part
