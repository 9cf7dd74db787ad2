"""Laws of a report that are sums of products over the two axes of a chart: small tables instead of one large one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from geotracs.core.charts.base import evenly

NODES = 16
"""Points of a cell that stand for it..."""
DRAWS = 2**11
"""...and draws that stand for all of a stratum."""


class Axis(Protocol):
    """One factor: the law of one coordinate of the unit square, or a part of it."""

    @property
    def has_atoms(self) -> bool:
        """Whether single numbers have a probability of their own, so that there is no density."""

    def table(self, bins: int, states: int) -> np.ndarray:
        """Return the mass in each of equal bins, one row each, for secrets spread over each of equal cells."""

    def at(self, y: np.ndarray, states: int) -> np.ndarray:
        """Return the density at each of ``y``, one row each, for secrets spread over each of equal cells."""


Factors = Sequence[tuple[Axis, Axis]]
"""The law of both coordinates: the sum over products of two factors."""


@dataclass(frozen=True, repr=False)
class Flat:
    """The same height everywhere, whatever the secret.

    >>> Flat(0.5).table(2, 1)
    array([[0.25],
           [0.25]])
    """

    height: float
    has_atoms: bool = False

    def table(self, bins: int, states: int) -> np.ndarray:
        """Return the mass in each bin."""
        return np.full((bins, states), self.height / bins)

    def at(self, y: np.ndarray, states: int) -> np.ndarray:
        """Return the height."""
        return np.full((len(y), states), self.height)


@dataclass(frozen=True, repr=False)
class Cover:
    """A height where the window of the secret covers the report: as wide everywhere, inside the interval.

    >>> Cover(1.0, 0.5, periodic=False).at(np.array([0.1, 0.4]), 2)
    array([[0.7, 0. ],
           [1. , 0.3]])
    """

    height: float
    width: float
    periodic: bool
    has_atoms: bool = False

    def table(self, bins: int, states: int) -> np.ndarray:
        """Return the mass in each bin: what `at` says, integrated exactly."""
        begin, y = np.arange(states) / states, np.arange(bins + 1) / bins
        if self.periodic:
            ramps = sum(
                _square(y[:, None] + sign * self.width / 2 + shift - at) * sign * part
                for sign in (1, -1)
                for shift in (-1.0, 0.0, 1.0)
                for at, part in ((begin, 1), (begin + 1 / states, -1))
            )
            return self.height * states * np.diff(np.asarray(ramps), axis=0)
        end, half = begin + 1 / states, self.width / 2
        rising, falling = np.minimum(y, 1 - self.width)[:, None], np.maximum(y, self.width)[:, None]
        covered = _square(rising + half - begin) - _square(rising + half - end)
        covered = covered + np.maximum(y - (1 - self.width), 0)[:, None] / states  # all windows end at 1
        passed = _square(falling - half - begin) - _square(falling - half - end)
        return self.height * states * np.diff(covered - passed, axis=0)

    def at(self, y: np.ndarray, states: int) -> np.ndarray:
        """Return the height times the part of each cell whose windows cover the report."""
        low, high = y - self.width / 2, y + self.width / 2
        begin = np.arange(states) / states
        shifts = (-1.0, 0.0, 1.0) if self.periodic else (0.0,)
        if not self.periodic:  # near an end all windows are the same
            low, high = np.where(y < self.width, 0.0, low), np.where(y >= 1 - self.width, 1.0, high)
        found = np.zeros((len(y), states))
        for shift in shifts:
            reach = np.minimum(high[:, None] + shift, begin + 1 / states) - np.maximum(low[:, None] + shift, begin)
            found += np.maximum(reach, 0.0)
        return self.height * states * found


class Mechanism(Protocol):
    """What is needed of a mechanism on the unit interval or circle."""

    @property
    def strata(self) -> tuple[float, ...]:
        """How likely a draw is in each stratum."""

    def spread(self, stratum: int, u: np.ndarray) -> np.ndarray:
        """Return draws that stand for all of a stratum."""

    def apply(self, x: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Turn secrets and draws into reports."""

    def density(self, y: npt.ArrayLike, x: npt.ArrayLike) -> np.ndarray:
        """Return the density of reporting ``y`` when the secret is ``x``."""


@dataclass(frozen=True, repr=False)
class Law:
    """The law of a mechanism on one axis."""

    mechanism: Mechanism

    @property
    def has_atoms(self) -> bool:
        """Whether the mechanism reports single numbers with a probability of their own."""
        return bool(getattr(self.mechanism, "has_atoms", False))

    def table(self, bins: int, states: int) -> np.ndarray:
        """Return the mass in each bin, by draws that stand for all."""
        secrets = _nodes(states)
        found = np.zeros((len(secrets), bins))
        u = evenly(DRAWS)[:, 0]
        for stratum, chance in enumerate(self.mechanism.strata):
            reports = self.mechanism.apply(secrets[:, None], self.mechanism.spread(stratum, u)[None, :])
            which = np.clip((reports * bins).astype(np.int64), 0, bins - 1) + bins * np.arange(len(secrets))[:, None]
            found += chance / DRAWS * np.bincount(which.ravel(), minlength=found.size).reshape(found.shape)
        return found.reshape(states, NODES, bins).mean(axis=1).T

    def at(self, y: np.ndarray, states: int) -> np.ndarray:
        """Return the density, averaged over each cell."""
        secrets = _nodes(states)
        heights = self.mechanism.density(np.clip(y, 0, 1)[:, None], secrets[None, :])
        return heights.reshape(len(y), states, NODES).mean(axis=2)


def _square(x: np.ndarray) -> np.ndarray:
    """Return the integral of what exceeds 0."""
    return np.maximum(x, 0.0) ** 2 / 2


def _nodes(states: int) -> np.ndarray:
    return (np.arange(states * NODES) + 0.5) / (states * NODES)
