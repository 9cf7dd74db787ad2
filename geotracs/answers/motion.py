"""Public models of how people move: Markov chains on the cells of a grid, whose steps are two small matrix products."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

PER_DOUBLING = 8
"""Steps are rounded to this many lengths in each doubling, so that few tables serve all: at most 4.5% off."""
SHORTEST = 2.0**-10
"""The length of the shortest step, in cells: that between two equal times."""
JUMP = 1e-4
"""How likely a step leads anywhere: after a wrong time, on a ferry, at a speed nobody expected."""
BINS = {"box": 1, "modes": 3}
"""The models by their names: into how many parts velocities are divided along each axis."""
AUTO = "auto"
"""The name of whichever of them suits a release."""
LASTING = 60.0
"""How many seconds a velocity or a rest lasts on average, if there are modes: about what lies between two turns."""
SOON = 2 * LASTING
"""Where half of the reports follow the one before as soon as this, velocities last from one to the next."""


def suitable(seconds: np.ndarray) -> str:
    """Return the model that suits reports so many seconds apart; infinite where a trajectory begins.

    Between reports in quick succession steps are not independent of each other: without memory somebody would get as
    far as the square root of the number of steps, and the model would be too sure of where they stay.

    >>> suitable(np.array([np.inf, 5.0, 5.0])), suitable(np.array([np.inf, 3600.0]))
    ('modes', 'box')
    """
    between = seconds[np.isfinite(seconds)]
    return "modes" if len(between) and np.median(between) <= SOON else "box"


@dataclass(frozen=True, eq=False, repr=False)
class Lattice:
    """The cells of a grid, in which states lie.

    Attributes
    ----------
    shape : (int, int)
        Number of cells along both axes.
    sides : (float or array, float)
        Sides of a cell in metres. On the globe the first is an array: it depends on the place along the second axis.
    index : array of int
        Which cell each state lies in, column after column. Several states may lie in one cell, and none in another.
    periodic : bool
        Whether the first axis is a circle.

    Examples
    --------
    >>> lattice = Lattice((2, 2), (100.0, 100.0), np.array([0, 3, 3]))
    >>> lattice.cells(np.array([[1.0, 2.0, 3.0]]))
    array([[[1., 0.],
            [0., 5.]]], dtype=float32)
    """

    shape: tuple[int, int]
    sides: tuple[float | np.ndarray, float]
    index: np.ndarray
    periodic: bool = False

    @cached_property
    def _is_whole(self) -> bool:
        return np.array_equal(self.index, np.arange(math.prod(self.shape)))

    @cached_property
    def _is_single(self) -> bool:
        return len(np.unique(self.index)) == len(self.index)

    @cached_property
    def side(self) -> float:
        """The shortest side of a cell."""
        return float(min(np.min(self.sides[0]), self.sides[1]))

    @cached_property
    def size(self) -> float:
        """The longest side of the grid."""
        return float(max(self.shape[0] * np.max(self.sides[0]), self.shape[1] * self.sides[1]))

    def filled(self) -> "Lattice":
        """Return the lattice with a state in every cell; the same one if several states lie in one cell."""
        return replace(self, index=np.arange(math.prod(self.shape))) if self._is_single else self

    def cells(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum over the states in each cell, from an array of shape (modes, states)."""
        count = math.prod(self.shape)
        if self._is_whole:
            cells = weights
        elif self._is_single:
            cells = np.zeros((len(weights), count), dtype=np.float32)
            cells[:, self.index] = weights
        else:
            cells = np.stack([np.bincount(self.index, row, minlength=count) for row in weights]).astype(np.float32)
        return cells.reshape(-1, *self.shape)

    def states(self, cells: np.ndarray) -> np.ndarray:
        """Return the value of each state's cell."""
        cells = cells.reshape(len(cells), -1)
        return cells if self._is_whole else cells[:, self.index]


class Motion:
    """One rests, or moves at a velocity up to ``speed`` on each axis: a Markov chain over states in several modes.

    The square of velocities is divided into bins, which are modes, and a rest is one more. Where one comes to depends
    on the prior, too. With one bin there is no memory: with probability ``stay`` one is still there, and otherwise
    anywhere within ``speed`` times the time.

    Parameters
    ----------
    lattice : Lattice
        The cells.
    prior : array
        How likely each state is, before any report is seen.
    speed : float
        In metres per second.
    stay : float
        How likely one rests.
    bins : int
        Into how many parts velocities are divided along each axis.

    Attributes
    ----------
    start : array of shape (modes, states)
        How likely each is for a first location. All such arrays have 32 bits.

    Examples
    --------
    >>> street = Lattice((5, 1), (100.0, 100.0), np.arange(5))
    >>> walk = Motion(street, np.full(5, 0.2), speed=1.0, stay=0.5)
    >>> there = np.array([[0, 0, 1.0, 0, 0], [0, 0, 0, 0, 0]])
    >>> walk.forward(there, seconds=50).sum(axis=0).round(2)
    array([0.  , 0.06, 0.87, 0.06, 0.  ])
    """

    def __init__(self, lattice: Lattice, prior: np.ndarray, speed: float, stay: float = 0.3, bins: int = 1) -> None:
        self._lattice, self._speed, self._bins = lattice, speed, bins
        self._shares = np.full((bins**2 + 1, 1), (1 - stay) / bins**2, dtype=np.float32)
        self._shares[0] = stay
        self._prior = (prior / prior.sum()).astype(np.float32)
        self.start = self._shares * self._prior
        self._steps: dict[int, _Step] = {}

    def forward(self, weights: np.ndarray, seconds: float) -> np.ndarray:
        """Return how likely each state is some seconds later; after an infinite time, as if nothing was known.

        Weights may have any sum: they are taken for shares of it.
        """
        each = weights.sum(axis=0)
        total = float(each.sum())
        if seconds == math.inf:
            return self.start.copy()
        kept = self._kept(seconds)
        found = self._shares * (((1 - kept) * (1 - JUMP) / total) * each + JUMP * self._prior)
        if kept > 0:
            found += (kept * (1 - JUMP) / total) * weights
        moved = self._step(seconds).forward(found[1:])
        np.multiply(self._prior, moved, out=found[1:])
        return found

    def backward(self, values: np.ndarray, seconds: float) -> np.ndarray:
        """Return the expected value some seconds later, for each state now."""
        if seconds == math.inf:
            return np.full_like(values, np.vdot(self.start, values))
        kept = self._kept(seconds)
        moved = np.empty_like(values)
        moved[0] = values[0]
        moved[1:] = self._step(seconds).backward(self._prior * values[1:])
        anew = self._shares[:, 0] @ moved
        anew = (1 - kept) * (1 - JUMP) * anew + JUMP * np.vdot(self._prior, anew)
        moved *= kept * (1 - JUMP)
        moved += anew
        return moved

    def _kept(self, seconds: float) -> float:
        return 0.0 if self._bins == 1 else math.exp(-seconds / LASTING)

    def _step(self, seconds: float) -> "_Step":
        """Return the tables of a step of about that many seconds."""
        lattice = self._lattice
        length = min(max(self._speed * seconds / lattice.side, SHORTEST), 4 * lattice.size / lattice.side)
        number = round(PER_DOUBLING * math.log2(length))
        if number not in self._steps:
            self._steps[number] = _Step(lattice, self._prior, 2 ** (number / PER_DOUBLING) * lattice.side, self._bins)
        return self._steps[number]


class _Step:
    """Where one comes to from each state in each bin of velocities, as a product over both axes."""

    def __init__(self, lattice: Lattice, prior: np.ndarray, reach: float, bins: int) -> None:
        self._lattice = lattice
        middles = reach * ((2 * np.arange(bins) + 1) / bins - 1)
        first = [
            [overlaps(lattice.shape[0], middle / side, reach / bins / side, lattice.periodic) for middle in middles]
            for side in np.atleast_1d(lattice.sides[0])
        ]
        # Bins of the first axis, those of the second, and on the globe cells of the second axis, come first.
        tables = np.swapaxes(np.array(first), 0, 1)[:, None]
        self._first = tables if np.ndim(lattice.sides[0]) else tables[:, :, 0]
        side = lattice.sides[1]
        self._second = np.array([overlaps(lattice.shape[1], middle / side, reach / bins / side) for middle in middles])
        self._scale = np.float32(1)
        reached = self.backward(np.broadcast_to(prior, (bins**2, len(prior))))
        self._scale = np.divide(1, reached, out=np.zeros_like(reached), where=reached > np.float32(1e-30))

    def forward(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum over origins, for each destination and bin."""
        cells = self._in_bins(self._scale * weights)
        if self._first.ndim == 5:
            cells = np.swapaxes(np.matmul(self._first, np.swapaxes(cells, 2, 3)[..., None])[..., 0], 2, 3)
        else:
            cells = np.matmul(self._first, cells)
        return self._of_bins(np.matmul(cells, np.swapaxes(self._second, 1, 2)))

    def backward(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over destinations, for each origin and bin."""
        cells = np.matmul(self._in_bins(values), self._second)
        if self._first.ndim == 5:
            turned = np.matmul(np.swapaxes(cells, 2, 3)[..., None, :], self._first)[..., 0, :]
            cells = np.swapaxes(turned, 2, 3)
        else:
            cells = np.matmul(np.swapaxes(self._first, 2, 3), cells)
        return self._scale * self._of_bins(cells)

    def _in_bins(self, weights: np.ndarray) -> np.ndarray:
        bins = len(self._second)
        return self._lattice.cells(weights).reshape(bins, bins, *self._lattice.shape)

    def _of_bins(self, cells: np.ndarray) -> np.ndarray:
        return self._lattice.states(cells.reshape(-1, *self._lattice.shape))


def overlaps(n: int, shift: float, reach: float, periodic: bool = False) -> np.ndarray:
    """Return P(to, from) between n cells in a row, for a step that is uniform within ``reach`` of ``shift`` cells.

    One starts anywhere in a cell, so that a step that is shorter than the cell sometimes leaves it.

    >>> overlaps(3, 0.0, 0.5)
    array([[0.75 , 0.125, 0.   ],
           [0.125, 0.75 , 0.125],
           [0.   , 0.125, 0.75 ]], dtype=float32)
    """
    apart = np.subtract.outer(np.arange(n), np.arange(n)).astype(np.float64) - shift
    turns = (
        [0]
        if not periodic
        else range(-math.ceil((abs(shift) + reach) / n) - 1, math.ceil((abs(shift) + reach) / n) + 2)
    )
    table = sum(_left_of(apart + turn * n + reach) - _left_of(apart + turn * n - reach) for turn in turns)
    return (np.asarray(table) / (2 * reach)).astype(np.float32)


def _left_of(x: np.ndarray) -> np.ndarray:
    """Return the area left of x of the triangle of height 1 over [-1, 1]: how far apart two points of cells are."""
    x = np.clip(x, -1, 1)
    return np.where(x < 0, (1 + x) ** 2 / 2, 1 - (1 - x) ** 2 / 2)
