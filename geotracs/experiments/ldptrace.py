"""LDPTrace (Du et al., VLDB 2023), written anew from the paper: the baseline of synthesis."""

from dataclasses import dataclass

import numpy as np

from geotracs.core.budget import BELOW, check_eps, split
from geotracs.core.mechanisms.oue import NOTHING, UnaryEncoding
from geotracs.errors import InputError
from geotracs.experiments.trips import Cells, Trips, Visits

LENGTH_SHARE = 0.1
"""The part of epsilon for the length of a trip..."""
QUANTILE = 0.9
"""...and the part of all trips, by the estimate, that have at most the length up to which moves are reported."""
FIRST, MORE = 0.3, 0.2
"""How much ends count after the first cell of a made-up trip, and how much more after each further one."""
MOVES = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)])
"""The moves to an adjacent cell, by rows and columns."""


@dataclass(frozen=True, repr=False)
class Model:
    """What LDPTrace learns of trips: how many have each length, begin and end in each cell, and make each move.

    Attributes
    ----------
    lengths, begins, ends : array
        Estimated numbers of trips; of lengths 1, 2, ..., and by cell.
    moves : array of shape (cells, 8)
        Estimated numbers of moves from each cell, in the order of `MOVES`.
    longest : int
        Up to how many cells of a trip were reported.
    """

    lengths: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    moves: np.ndarray
    longest: int


def learn(visits: Visits, cells: Cells, eps: float, rng: np.random.Generator, *, padded: bool = True) -> Model:
    """Return what is estimated from reports of trips, each of them ``eps``-LDP as a whole.

    Every trip reports by optimised unary encoding, in two rounds:

    1. its length in cells, with ``eps / 10``. From all these reports the collector computes ``longest``, the length
       that 90% of the trips do not exceed, and tells it to everybody.
    2. the cell where it begins, the cell where it ends, and ``longest - 1`` moves between adjacent cells, which are
       ``longest + 1`` reports with ``9/10 eps / (longest + 1)`` each. A longer trip is cut after ``longest`` cells. A
       shorter one has no further moves, and says so by reports whose secret is *nothing*, which cost the same.

    Each of these reports is exactly LDP with its own epsilon for any two secrets, nothing included, and their number is
    the same for every trip. So a trip as a whole spends the sum, which is at most ``eps``: the shares are rounded down.

    Parameters
    ----------
    visits : Visits
        The cells of each trip, each adjacent to the one before.
    padded : bool
        False leaves out the reports of nothing, as the published code does, to compare with its figures. Then the
        number of reports tells the length of a trip, and it is **not** ``eps``-LDP.

    Examples
    --------
    >>> cells = Cells((0.0, 0.0, 3.0, 3.0), 3)
    >>> there = Visits(np.tile([0, 4, 5], 1000), np.arange(0, 3001, 3))
    >>> model = learn(there, cells, 100.0, np.random.default_rng(0))
    >>> model.longest, int(model.begins.argmax()), int(model.ends.argmax())
    (3, 0, 5)
    """
    for_length, rest = (float(part) for part in split(check_eps(eps), LENGTH_SHARE))
    most = cells.count
    lengths = _count(for_length, most, np.minimum(visits.lengths, most) - 1, rng)
    upto = np.cumsum(lengths)  # with what noise makes negative, or else it adds up, and all trips look long
    longest = int(np.argmax(upto >= QUANTILE * upto[-1])) + 1
    each = rest * BELOW / (longest + 1)
    first, kept = visits.offsets[:-1], np.minimum(visits.lengths, longest)
    begins = _count(each, most, visits.cells[first], rng)
    ends = _count(each, most, visits.cells[first + kept - 1], rng)
    moves = np.zeros(8 * most)
    for step in range(1, longest):
        secrets = np.full(visits.count, NOTHING)
        some = np.flatnonzero(kept > step)
        secrets[some] = _moves(visits.cells[first[some] + step - 1], visits.cells[first[some] + step], cells)
        moves += _count(each, 8 * most, secrets if padded else secrets[some], rng)
    return Model(lengths, begins, ends, moves.reshape(most, 8), longest)


def sample(model: Model, cells: Cells, n: int, rng: np.random.Generator) -> Visits:
    """Return made-up trips: a Markov chain over the cells, from a sampled begin up to a sampled length.

    A trip goes from its cell to an adjacent one, or ends there, in proportion to the estimated moves and ends; ends
    count 0.3 times after the first cell, 0.5 times after the second and so on, up to 1. It ends at the sampled length
    at the latest.
    """
    here = _choose(np.maximum(model.begins, 0), n, rng)
    length = _choose(np.maximum(model.lengths, 0), n, rng) + 1
    weights = np.column_stack([np.maximum(model.moves, 0), np.maximum(model.ends, 0)])
    row, column = (np.divmod(np.arange(cells.count), cells.side)[axis][:, None] + MOVES[:, axis] for axis in (0, 1))
    inside = (row >= 0) & (row < cells.side) & (column >= 0) & (column < cells.side)
    weights[:, :-1] *= inside
    target = row * cells.side + column
    trips, visited = [np.arange(n)], [here.copy()]
    going = np.flatnonzero(length > 1)
    for step in range(1, int(length.max())):
        own = weights[here[going]] * np.append(np.ones(8), min(1.0, FIRST + MORE * (step - 1)))
        total = np.cumsum(own, axis=1)
        move = (total <= rng.random((len(going), 1)) * total[:, -1:]).sum(axis=1)
        stays = move >= 8  # it ends, or nothing is known of its cell
        going, move = going[~stays], move[~stays]
        here[going] = target[here[going], move]
        trips.append(going)
        visited.append(here[going])
        going = going[length[going] > step + 1]
    which, cells_visited = np.concatenate(trips), np.concatenate(visited)
    order = np.argsort(which, kind="stable")
    return Visits(cells_visited[order], np.append(0, np.cumsum(np.bincount(which, minlength=n))))


def places(visits: Visits, cells: Cells, rng: np.random.Generator) -> Trips:
    """Return trips through a uniform point of each cell visited; two points of the same cell where it is one only."""
    repeats = np.repeat(np.where(visits.lengths == 1, 2, 1), visits.lengths)
    offsets = np.append(0, np.cumsum(np.maximum(visits.lengths, 2)))
    return Trips(cells.points(np.repeat(visits.cells, repeats), rng), offsets)


def _count(eps: float, k: int, secrets: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the estimated number of each value among secrets that are reported with one epsilon."""
    encoding = UnaryEncoding(eps, k)
    return encoding.estimate(encoding.apply(secrets, encoding.draw(len(secrets), rng)))


def _moves(a: np.ndarray, b: np.ndarray, cells: Cells) -> np.ndarray:
    """Return the number of the move from each cell to an adjacent one."""
    (row_a, column_a), (row_b, column_b) = np.divmod(a, cells.side), np.divmod(b, cells.side)
    number = 3 * (row_b - row_a + 1) + column_b - column_a + 1
    far = (np.abs(row_b - row_a) > 1) | (np.abs(column_b - column_a) > 1)
    if np.any(far | (number == 4)):
        raise InputError("Visits must go from cell to adjacent cell; use `Cells.visits`.")
    return 8 * a + number - (number > 4)


def _choose(weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n numbers in proportion to weights; uniform where there are none."""
    total = np.cumsum(weights if weights.any() else np.ones(len(weights)))
    return np.searchsorted(total, rng.random(n) * total[-1], side="right")
