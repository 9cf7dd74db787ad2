"""The one sequential kernel: TraCS-D along its trajectories, over ready draws."""

import functools
import math
from collections.abc import Callable

import numpy as np

from geotracs.mechanisms.lattice import CELLS

LAST = CELLS - 1
TURN = 2 * math.pi
TINY = 1e-300
LANES = 8
"""How many trajectories are walked in turns: the processor works on one while it waits for a division of another."""
ARC_STARTS = np.exp(1j * TURN / 2**12 * np.arange(2**12)).view(np.float64).reshape(-1, 2)
"""Cosine and sine of where each of 2**12 arcs begins: a cell's direction is that, turned by less than 2e-3."""
TANGENTS = 256
ARCTANGENTS = np.arctan(np.arange(TANGENTS + 1) / TANGENTS)
"""Angles of the slopes k/256: an angle is the nearest of them and a rest below 1/512, good to 1e-16 by its series.

These two tables replace libm's sine, cosine and arc tangent, which took most of the time and differ between
platforms by a last bit.
"""


def walk(xs, ys, offsets, starts, follow, planes, turns, turn_windows, snap, steps, step_windows, arcs, arctangents):
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

    Notes
    -----
    Runs as it is, or compiled by numba; integers stay within 63 bits so that both do the same.
    """
    turn_stride = 0 if len(turn_windows) == 1 else 1
    step_stride = 0 if len(step_windows) == 1 else 1
    nearness = np.empty(len(planes))
    at = starts.copy()
    for group in range(0, len(starts), LANES):
        lanes = range(group, min(group + LANES, len(starts)))
        longest = 0
        for lane in lanes:
            longest = max(longest, offsets[lane + 1] - offsets[lane])
        for step in range(longest):
            for lane in lanes:
                i = offsets[lane] + step
                if i >= offsets[lane + 1]:
                    continue
                x, y = at[lane, 0], at[lane, 1]
                # The polar chart at the reference: part of a turn, part of the way to the border.
                dx, dy = xs[i] - x, ys[i] - y
                longer, shorter = max(abs(dx), abs(dy)), min(abs(dx), abs(dy))
                nearest = int(shorter / max(longer, TINY) * TANGENTS + 0.5)
                rest = shorter - nearest / TANGENTS * longer
                rest /= max(longer + nearest / TANGENTS * shorter, TINY)
                part = arctangents[nearest] + rest - rest * rest * rest * (1 / 3 - rest * rest / 5)
                part = math.pi / 2 - part if abs(dy) > abs(dx) else part
                part = math.pi - part if dx < 0 else part
                part = (TURN - part if dy < 0 else part) * (1 / TURN)
                way = 0.0
                for side in range(len(planes)):
                    a, b, c = planes[side, 0], planes[side, 1], planes[side, 2]
                    nearness[side] = 1 / max(c - a * x - b * y, TINY)
                    way = max(way, (a * dx + b * dy) * nearness[side])
                # Both mechanisms; this is `Piecewise.apply`, or `Sectors.apply`.
                cell = min(int(part * CELLS), LAST)
                width = turn_windows[i * turn_stride]
                cell -= cell % width if snap else width // 2
                direction = (cell + int(turns[i])) & LAST
                width = step_windows[i * step_stride]
                cell = min(max(min(int(min(way, 1.0) * CELLS), LAST) - width // 2, 0), CELLS - width)
                way = (((cell + int(steps[i])) & LAST) + 0.5) / CELLS
                # Back from the chart, along the middle of the reported direction's cell.
                cosine, sine = arcs[direction >> 20, 0], arcs[direction >> 20, 1]
                angle = ((direction & 0xFFFFF) + 0.5) * (TURN / CELLS)
                square = angle * angle
                short, aside = 1 - square / 2 * (1 - square / 12), angle * (1 - square / 6 * (1 - square / 20))
                dx, dy = cosine * short - sine * aside, sine * short + cosine * aside
                whole = 0.0
                for side in range(len(planes)):
                    whole = max(whole, (planes[side, 0] * dx + planes[side, 1] * dy) * nearness[side])
                xs[i] = x + way / whole * dx
                ys[i] = y + way / whole * dy
                if follow:
                    at[lane, 0], at[lane, 1] = xs[i], ys[i]


@functools.cache
def compiled_walk() -> Callable[..., None]:
    """Return `walk`, compiled where numba is installed (the extra ``fast``)."""
    try:
        from numba import njit
    except ImportError:
        return walk
    try:
        return njit(cache=True, nogil=True)(walk)
    except RuntimeError:  # numba finds no folder that it may write its cache to
        return njit(nogil=True)(walk)
