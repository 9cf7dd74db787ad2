"""The one sequential kernel: TraCS-D along its trajectories, over ready draws."""

import functools
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from geotracs.core.domains.border import INSIDE
from geotracs.core.domains.edges import SIDE, Edges
from geotracs.core.mechanisms.lattice import CELLS

LAST = CELLS - 1
TURN = 2 * math.pi
TINY = 1e-300
PLAIN = 10_000
"""How many locations are walked before numba is loaded."""
LANES = 32
"""How many trajectories are walked abreast, each part of a step for all of them: none waits for another's divisions."""
ARC_STARTS = np.exp(1j * TURN / 2**12 * np.arange(2**12)).view(np.float64).reshape(-1, 2)
"""Cosine and sine of where each of 2**12 arcs begins: a cell's direction is that, turned by less than 2e-3."""
TANGENTS = 256
ARCTANGENTS = np.arctan(np.arange(TANGENTS + 1) / TANGENTS)
"""Angles of the slopes k/256: an angle is the nearest of them and a rest below 1/512, good to 1e-16 by its series.

These two tables replace libm's sine, cosine and arc tangent, which took most of the time and differ between
platforms by a last bit.
"""


def walk(
    xs: np.ndarray,
    ys: np.ndarray,
    offsets: np.ndarray,
    starts: np.ndarray,
    follow: bool,
    planes: np.ndarray,
    turns: np.ndarray,
    turn_windows: np.ndarray,
    snap: bool,
    steps: np.ndarray,
    step_windows: np.ndarray,
    arcs: np.ndarray,
    arctangents: np.ndarray,
    edges: Edges,
) -> None:
    """Replace every location by its report; the paper's Algorithm 1 with the draws made beforehand.

    Parameters
    ----------
    xs, ys, offsets : arrays
        Locations, trajectory after trajectory, and where each trajectory begins.
    starts : array of shape (trajectories, 2)
        The first reference of each trajectory.
    follow : bool
        Whether each report becomes the next reference.
    planes : array of shape (sides, 3)
        The convex region, as half-planes ``a x + b y <= c``.
    turns, steps : arrays of uint32
        Draws of the direction and the distance mechanism.
    turn_windows, step_windows : arrays of int64
        Their windows: one for all locations, or one for each.
    snap : bool
        Whether the window of a direction is the sector of that width that holds it, instead of centred on it.
    arcs : array of shape (2**12, 2)
        `ARC_STARTS`; an argument, because numba cannot cache a function with a table inside.
    arctangents : array of shape (TANGENTS + 1,)
        `ARCTANGENTS`, likewise.
    edges : Edges
        Those of the polygon to which reports are moved; `NO_EDGES` where the region is convex itself.

    Notes
    -----
    A report that falls outside a polygon is moved inside before the next location is seen from it, so that the
    reference is always what is released. Runs as it is, or compiled by numba; integers stay within 63 bits so that both
    do the same.
    """
    turn_stride = 0 if len(turn_windows) == 1 else 1
    step_stride = 0 if len(step_windows) == 1 else 1
    shaped = len(edges.table) > 0
    nearness = np.empty((len(planes), LANES))
    x, y, dx, dy, turn, way, whole = np.empty((7, LANES))
    lanes, rows = np.empty((2, LANES), dtype=np.int64)
    at = starts.copy()
    for group in range(0, len(starts), LANES):
        members = range(group, min(group + LANES, len(starts)))
        longest = 0
        for lane in members:
            longest = max(longest, offsets[lane + 1] - offsets[lane])
        for step in range(longest):
            n = 0
            for lane in members:
                if offsets[lane] + step < offsets[lane + 1]:
                    lanes[n], rows[n] = lane, offsets[lane] + step
                    n += 1
            # The polar chart at the reference: part of a turn, part of the way to the border.
            for k in range(n):
                x[k], y[k] = at[lanes[k], 0], at[lanes[k], 1]
                dx[k], dy[k] = xs[rows[k]] - x[k], ys[rows[k]] - y[k]
                turn[k] = part_of_turn(dx[k], dy[k], arctangents)
                way[k] = 0.0
            for side in range(len(planes)):
                a, b, c = planes[side, 0], planes[side, 1], planes[side, 2]
                for k in range(n):
                    nearness[side, k] = 1 / max(c - a * x[k] - b * y[k], TINY)
                    way[k] = max(way[k], (a * dx[k] + b * dy[k]) * nearness[side, k])
            for k in range(n):
                # Both mechanisms; this is `Piecewise.apply`, or `Sectors.apply`.
                i = rows[k]
                cell = min(int(turn[k] * CELLS), LAST)
                width = turn_windows[i * turn_stride]
                cell -= cell % width if snap else width // 2
                direction = (cell + int(turns[i])) & LAST
                width = step_windows[i * step_stride]
                cell = min(max(min(int(min(way[k], 1.0) * CELLS), LAST) - width // 2, 0), CELLS - width)
                way[k] = (((cell + int(steps[i])) & LAST) + 0.5) / CELLS
                # Back from the chart, along the middle of the reported direction's cell.
                dx[k], dy[k] = towards(direction, arcs)
                whole[k] = 0.0
            for side in range(len(planes)):
                a, b = planes[side, 0], planes[side, 1]
                for k in range(n):
                    whole[k] = max(whole[k], (a * dx[k] + b * dy[k]) * nearness[side, k])
            for k in range(n):
                i = rows[k]
                xs[i] = x[k] + way[k] / whole[k] * dx[k]
                ys[i] = y[k] + way[k] / whole[k] * dy[k]
                if shaped:
                    xs[i], ys[i] = move_inside(xs[i], ys[i], edges)
                if follow:
                    at[lanes[k], 0], at[lanes[k], 1] = xs[i], ys[i]


def part_of_turn(dx: float, dy: float, arctangents: np.ndarray) -> float:
    """Return the direction of a vector as a part of a turn, from 0 to 1.

    >>> part_of_turn(-2.0, 2.0, ARCTANGENTS)
    0.375
    """
    across, up = abs(dx), abs(dy)
    longer, shorter = max(across, up), min(across, up)
    nearest = int(shorter / max(longer, TINY) * TANGENTS + 0.5)
    rest = shorter - nearest / TANGENTS * longer
    rest /= max(longer + nearest / TANGENTS * shorter, TINY)
    angle = float(arctangents[nearest]) + rest - rest * rest * rest * (1 / 3 - rest * rest / 5)
    angle = math.pi / 2 - angle if up > across else angle
    angle = math.pi - angle if dx < 0 else angle
    return (TURN - angle if dy < 0 else angle) * (1 / TURN)


def towards(direction: int, arcs: np.ndarray) -> tuple[float, float]:
    """Return cosine and sine of the middle of a direction's cell.

    >>> [round(float(part), 6) for part in towards(CELLS // 4, ARC_STARTS)]
    [-0.0, 1.0]
    """
    cosine, sine = arcs[direction >> 20, 0], arcs[direction >> 20, 1]
    angle = ((direction & 0xFFFFF) + 0.5) * (TURN / CELLS)
    square = angle * angle
    short, aside = 1 - square / 2 * (1 - square / 12), angle * (1 - square / 6 * (1 - square / 20))
    return cosine * short - sine * aside, sine * short + cosine * aside


def move_inside(x: float, y: float, edges: Edges) -> tuple[float, float]:
    """Return the nearest point of the polygon, just inside it; return a point inside unchanged.

    >>> import shapely
    >>> from geotracs.core.domains import Polygon
    >>> corner = Polygon(shapely.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]))
    >>> [round(float(part), 6) for part in move_inside(1.2, 1.7, corner.edges)]
    [1.0, 1.7]
    """
    column = min(max(int((x - edges.low[0]) * edges.scale[0]), 0), SIDE - 1)
    cell = column * SIDE + min(max(int((y - edges.low[1]) * edges.scale[1]), 0), SIDE - 1)
    if edges.kinds[cell] == INSIDE:
        return x, y
    best, px, py, across, up = np.inf, x, y, 0.0, 0.0
    for i in range(edges.begins[cell], edges.begins[cell + 1]):
        edge = edges.members[i]
        dx, dy = x - edges.table[edge, 0], y - edges.table[edge, 1]
        along, beside = edges.table[edge, 2], edges.table[edge, 3]
        part = min(max((dx * along + dy * beside) / (along * along + beside * beside), 0.0), 1.0)
        square = (dx - part * along) ** 2 + (dy - part * beside) ** 2
        if square < best:
            best, px, py = square, edges.table[edge, 0] + part * along, edges.table[edge, 1] + part * beside
            inwards = 6 if part == 0 else 8 if part == 1 else 4
            across, up = edges.table[edge, inwards], edges.table[edge, inwards + 1]
    if (x - px) * across + (y - py) * up >= 0:
        return x, y
    return px + edges.hair * across, py + edges.hair * up


class Kernel:
    """`walk`, by the interpreter as long as that takes less time than to load numba, and compiled from then on."""

    def __init__(self) -> None:
        self._walked = 0

    def __call__(self, xs: np.ndarray, *others: Any) -> None:
        """Replace every location by its report; the arguments are those of `walk`."""
        if self._walked < PLAIN:
            self._walked += len(xs)
        if self._walked >= PLAIN:
            compiled_walk()(xs, *others)
        else:
            with np.errstate(all="ignore"):  # as compiled code does
                walk(xs, *others)


kernel = Kernel()


@functools.cache
def compiled_walk() -> Callable[..., None]:
    """Return `walk`, compiled where numba is installed (the extra ``fast``)."""
    try:
        from numba import njit
    except ImportError:
        return walk
    try:
        return _compiled(njit, cache=True)
    except RuntimeError:  # numba finds no folder that it may write its cache to
        return _compiled(njit)


def _compiled(njit: Callable[..., Any], **options: bool) -> Callable[..., None]:
    """Return `walk`, calling what is compiled, too: numba is not imported before it is needed."""
    # What every location needs is copied into the loop: calls would cost a tenth of the time.
    parts = {part.__name__: njit(inline="always")(part) for part in (part_of_turn, towards)}
    parts["move_inside"] = njit(nogil=True, **options)(move_inside)
    compiled: Callable[..., None] = njit(nogil=True, **options)(
        FunctionType(walk.__code__, {**globals(), **parts}, "walk")
    )
    return compiled
