"""What a mechanism is: an exact draw that does not know the secret, and what the secret makes of it."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from geotracs.core.randomness import Source


class Mechanism(Protocol):
    """An eps-LDP draw. All the randomness is in `draw`, which does not see the secrets; `apply` is deterministic."""

    def draw(self, n: int, rng: Source, /) -> Any:
        """Draw the randomness for n secrets.

        How many random words weighted draws need depends on the weights. Such a mechanism returns ``rng`` itself, as a
        supply of words that `apply` takes from.
        """

    def apply(self, x: Any, draws: Any, /) -> np.ndarray:
        """Turn secrets and draws into reports; nothing here is random."""


class Continuous(Mechanism, Protocol):
    """A mechanism on the unit interval, the unit circle, the unit square or the plane."""

    def density(self, y: Any, x: Any, /) -> np.ndarray:
        """Return the exact probability density of reporting ``y`` when the secret is ``x``."""

    def expected_error(self, x: Any = None, /) -> float | np.ndarray:
        """Return the mean distance between a report and its secret; without secrets, the mean over all of them."""


class Finite(Mechanism, Protocol):
    """A mechanism over a finite public set of things.

    A secret is its number, or what the mechanism sees of it, one row per secret: its neighbourhood, or the distances or
    groups of all things. `Seen` says it for many secrets that are alike.
    """

    def pmf(self, x: Any, /) -> np.ndarray:
        """Return the exact probability of each thing, the last axis, for each secret."""

    def expected_error(self, x: Any, costs: npt.ArrayLike, /) -> np.ndarray:
        """Return the mean of public costs, of reporting each thing: distances from the secret, as a rule."""


@dataclass(frozen=True, repr=False)  # it tells the secrets
class Seen:
    """What a finite mechanism sees of secrets many of which are alike.

    Attributes
    ----------
    table : array of shape (rows, columns)
        A row for each distinct secret.
    rows : array of int
        Which row each secret has.
    """

    table: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, x: "Seen | npt.ArrayLike") -> "Seen":
        """Return what is seen of secrets that are given one per row."""
        if isinstance(x, Seen):
            return x
        table = np.atleast_2d(np.asarray(x))
        return cls(table, np.arange(len(table)))


def mean_cost(pmf: np.ndarray, costs: npt.ArrayLike) -> np.ndarray:
    """Return the mean of costs under probabilities, along the last axis.

    >>> mean_cost(np.array([0.75, 0.25]), [0.0, 8.0])
    array(2.)
    """
    return np.asarray((pmf * np.asarray(costs, dtype=np.float64)).sum(axis=-1))
