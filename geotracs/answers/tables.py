"""From a channel to its operator: P(bin | state), with projection, rounding and remap pushed through."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.sparse import csr_array

from geotracs.answers.bins import Bins, Cells
from geotracs.answers.operators import Dense, Operator, Pushed, Separable
from geotracs.answers.states import CellStates, States, has_grid
from geotracs.core.charts.base import Chart
from geotracs.core.methods import Channel
from geotracs.core.methods.channels import RegionRecipe
from geotracs.core.methods.factors import Factors
from geotracs.errors import InputError

Shape = tuple[int, int]

FINER, SIDES = 2, (128, 256)
"""Bins of a draw are at least this many times narrower than states, and so many along each side of the region..."""
NODES = 3
"""...and this many points along each side of one say where it is released."""
SECRETS = 4
"""How many locations stand for a state where the law of a report is no product..."""
ALL_SECRETS, DRAWS = 16, 2**10
"""...and how many where nothing but representative reports is known, and how many of these."""
BEYOND = 10.0
"""How many mean errors beyond the region noise is followed."""
WIDER = 1.15
"""How many times wider each bin is than the one before it, on the way out."""
AT_ONCE = 2**23


def operator(channel: Channel, eps: float, states: States, bins: Bins) -> Operator:
    """Return the probability of each bin, for each state, with one epsilon."""
    if not isinstance(states, CellStates) or channel.over == "places":
        return general(channel, eps, states, bins)
    factors = channel.factors(eps) if has_grid(channel.domain) else None
    if factors is None:
        try:
            return by_density(channel, eps, states, bins)
        except InputError:  # it has no density: its reports are codewords, or ends of an interval
            return general(channel, eps, states, bins)
    if is_plain(channel) and isinstance(bins, Cells):
        return separable(factors, states, bins.shape)
    shape = _finer(states.shape)
    moved = pushed(channel, eps, Drawn.over(states.chart, shape), bins)
    return Pushed(moved, separable(factors, states, shape))


def is_plain(channel: Channel) -> bool:
    """Return whether a report is released as it was drawn."""
    release = channel.release
    return release.places is None and release.remap is None and release.border is None


def separable(factors: Factors, states: CellStates, shape: Shape) -> Separable:
    """Return the operator of a law that is a sum of products, on a grid of bins over the same chart."""
    terms = [
        (first.table(shape[0], states.shape[0]), second.table(shape[1], states.shape[1])) for first, second in factors
    ]
    return Separable(terms, states.index)


@dataclass(frozen=True, eq=False, repr=False)
class Drawn:
    """The bins of a draw: a grid over the chart of the region, or over the plane around it.

    Attributes
    ----------
    across, up : array
        Where columns and rows begin, and the end of the last.
    place : callable
        Where points of the grid are in the working CRS.
    """

    across: np.ndarray
    up: np.ndarray
    place: Callable[[np.ndarray], np.ndarray]

    @classmethod
    def over(cls, chart: Chart, shape: Shape) -> "Drawn":
        """Return an even grid over a chart."""
        return cls(np.linspace(0, 1, shape[0] + 1), np.linspace(0, 1, shape[1] + 1), chart.from_unit)

    @property
    def count(self) -> int:
        """How many there are."""
        return (len(self.across) - 1) * (len(self.up) - 1)

    def points(self, each: int) -> np.ndarray:
        """Return points spread over the bins, column after column, ``each`` along each side of one."""
        steps = (np.arange(each) + 0.5) / each
        u, v = ((edges[:-1, None] + steps * np.diff(edges)[:, None]) for edges in (self.across, self.up))
        shape = (len(u), len(v), each, each)
        both = [np.broadcast_to(u[:, None, :, None], shape), np.broadcast_to(v[None, :, None, :], shape)]
        return self.place(np.column_stack([part.ravel() for part in both]))

    def areas(self) -> np.ndarray:
        """Return how large the bins are."""
        return np.outer(np.diff(self.across), np.diff(self.up)).ravel()


def pushed(channel: Channel, eps: float, drawn: Drawn, bins: Bins) -> csr_array:
    """Return which part of each bin of a draw is released in each bin."""
    points, release = np.asfortranarray(drawn.points(NODES)), channel.release
    if isinstance(bins, Cells) and release.remap is None:
        label = bins.label_drawn(points)  # one search of the border instead of two
    else:
        label = bins.label(release(points, eps))
    which = np.repeat(np.arange(drawn.count), NODES**2)
    moved = csr_array((np.full(len(which), 1 / NODES**2), (label, which)), shape=(bins.count, drawn.count))
    moved.sum_duplicates()
    return moved


def by_density(channel: Channel, eps: float, states: CellStates, bins: Bins) -> Dense:
    """Return the operator of a channel whose method has a density on the plane, by its values on a fine grid."""
    recipe = cast(RegionRecipe, channel.method)
    drawn = _around(channel, eps, states) if recipe.leaves else Drawn.over(states.chart, _finer(states.shape))
    middles, areas = drawn.points(1), drawn.areas()
    secrets, which, weight = states.secrets(SECRETS)
    found = np.zeros((states.count, len(middles)))
    step = max(1, AT_ONCE // len(middles))
    for first in range(0, len(secrets), step):
        part = slice(first, first + step)
        masses = recipe.density(middles, secrets[part], eps, channel.domain) * areas
        np.add.at(found, which[part], masses * (weight[part] / masses.sum(axis=1))[:, None])
    return Dense(np.ascontiguousarray(pushed(channel, eps, drawn, bins) @ found.T))


def general(channel: Channel, eps: float, states: States, bins: Bins) -> Dense:
    """Return the operator of any channel, by reports that stand for all."""
    secrets, which, weight = states.secrets(ALL_SECRETS if channel.over == "region" else 1)
    found = np.zeros((states.count, bins.count))
    step = max(1, AT_ONCE // bins.count)
    for first in range(0, len(secrets), step):
        part = slice(first, first + step)
        rows = channel.probabilities(bins.label, bins.count, secrets[part], eps=eps, nodes=DRAWS)
        np.add.at(found, which[part], rows * weight[part, None])
    return Dense(np.ascontiguousarray(found.T))


def _finer(shape: Shape) -> Shape:
    """Return how many bins a draw has along each side."""
    times = max(FINER, -(-SIDES[0] // max(shape)))
    return max(shape[0], min(times * shape[0], SIDES[1])), max(shape[1], min(times * shape[1], SIDES[1]))


def _around(channel: Channel, eps: float, states: CellStates) -> Drawn:
    """Return bins over a region, and wider and wider ones around it, in which nearly all noise falls."""
    low, high = np.reshape(channel.domain.outline.bounds, (2, 2))
    centre = np.array([channel.domain.centre])
    points, weights = cast(RegionRecipe, channel.method).quadrature(centre, eps, channel.domain, DRAWS)
    error = float((np.hypot(*(points[0] - centre).T) * weights).sum())
    cell = (high - low).max() / max(states.shape) / FINER
    beyond = [cell]
    while sum(beyond) < BEYOND / 2 * error:
        beyond.append(beyond[-1] * WIDER)
    outside = np.cumsum(beyond)
    edges = []
    for axis in (0, 1):
        inside = np.linspace(low[axis], high[axis], round((high[axis] - low[axis]) / cell) + 1)
        edges.append(np.concatenate([low[axis] - outside[::-1], inside, high[axis] + outside]))
    return Drawn(edges[0], edges[1], np.asfortranarray)
