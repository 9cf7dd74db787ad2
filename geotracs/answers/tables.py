"""From a channel to its operator: P(bin | state), with projection, rounding and remap pushed through."""

import numpy as np
from scipy.sparse import csr_array

from geotracs.answers.bins import Bins, Cells
from geotracs.answers.operators import Dense, Operator, Pushed, Separable
from geotracs.answers.states import CellStates, States, has_grid
from geotracs.core.methods import Channel, Reports
from geotracs.core.methods.factors import Factors

FINER, MAX_SIDE = 2, 256
"""Where reports are moved after the draw, bins of the draw are this many times narrower than states, up to a size..."""
NODES = 3
"""...and this many points along each side of one say where it goes."""
SECRETS = 4
"""How many locations stand for a state where nothing else is known of the channel..."""
DRAWS = 2**10
"""...and how many reports of each stand for all."""


def operator(channel: Channel, eps: float, states: States, bins: Bins) -> Operator:
    """Return the probability of each bin, for each state, with one epsilon."""
    factors = channel.factors(eps) if isinstance(states, CellStates) and has_grid(channel.domain) else None
    if factors is None or not isinstance(states, CellStates):
        return general(channel, eps, states, bins)
    if is_plain(channel) and isinstance(bins, Cells) and bins.release.border is None:
        return separable(factors, states, bins.shape)
    across, up = (min(max(MAX_SIDE, n), FINER * n) for n in states.shape)
    shape = (across, up)
    return Pushed(pushed(channel, eps, states, bins, shape), separable(factors, states, shape))


def is_plain(channel: Channel) -> bool:
    """Return whether a report is released as it was drawn."""
    release = channel.release
    return release.places is None and release.remap is None and release.border is None


def separable(factors: Factors, states: CellStates, shape: tuple[int, int]) -> Separable:
    """Return the operator of a law that is a sum of products, on a grid of bins over the same chart."""
    terms = [
        (first.table(shape[0], states.shape[0]), second.table(shape[1], states.shape[1])) for first, second in factors
    ]
    return Separable(terms, states.index)


def pushed(channel: Channel, eps: float, states: CellStates, bins: Bins, shape: tuple[int, int]) -> csr_array:
    """Return which part of each cell of a grid of draws is released in each bin."""
    steps = (np.arange(NODES) + 0.5) / NODES
    i, j = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    u = (i[:, None] + np.repeat(steps, NODES)) / shape[0]
    v = (j[:, None] + np.tile(steps, NODES)) / shape[1]
    xy = np.asfortranarray(states.chart.from_unit(np.column_stack([u.ravel(), v.ravel()])))
    label = bins.label(channel.release(xy, eps))
    drawn = np.repeat(np.arange(len(i)), NODES**2)
    moved = csr_array((np.full(len(drawn), 1 / NODES**2), (label, drawn)), shape=(bins.count, len(i)))
    moved.sum_duplicates()
    return moved


def general(channel: Channel, eps: float, states: States, bins: Bins, before: np.ndarray | None = None) -> Dense:
    """Return the operator of any channel, by reports that stand for all."""
    secrets, which, weight = states.secrets(SECRETS if channel.over == "region" else 1)
    found = np.zeros((states.count, bins.count))

    def label(reports: Reports) -> np.ndarray:
        return bins.label(reports)

    step = max(1, 2**25 // bins.count)
    for first in range(0, len(secrets), step):
        part = slice(first, first + step)
        rows = channel.probabilities(label, bins.count, secrets[part], eps=eps, before=before, nodes=DRAWS)
        np.add.at(found, which[part], rows * weight[part, None])
    return Dense(np.ascontiguousarray(found.T))
