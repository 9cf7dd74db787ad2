"""A public table for each epsilon, made when it is met, and none where it would not win."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.methods.base import Method
from geotracs.core.methods.remap_prior import Prior
from geotracs.core.places import Places

FEW_LEVELS = 4
"""Up to this many epsilons each have their own table; more share those of `rung`."""
LOWEST = 1 / 16
"""The smallest epsilon that has a table: below it, a posterior is nearly the prior."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class ByLevel(Generic[T]):
    """The tables that a release moves its reports by.

    Each epsilon has a table of its own, and none where it would not win. Where there are many they share tables, each
    that of an epsilon that is a little smaller: it is public, so that any table keeps the promise.

    Parameters
    ----------
    method : Method
    domain : Domain
        As the method sees it.
    levels : float or array
        The epsilons that locations have, as far as they are known. Those of others are made when they are met.
    prior : Prior, optional
        By default what ``domain.spread`` says.
    places : Places, optional
        What reports are, or are rounded to after it.
    more : bool
        Whether locations may have other epsilons than ``levels``.
    """

    method: Method
    domain: Domain
    levels: float | np.ndarray
    prior: Prior | None = None
    places: Places | None = None
    more: bool = False
    tables: dict[tuple[float, float], T | None] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.check()
        _ = self.domain.diameter  # known to a domain from here on, whether or not its tables are known already
        for pair in dict.fromkeys(self._pair(float(eps)) for eps in np.unique(self.levels)):
            self._table(pair)

    def check(self) -> None:
        """Raise for a method whose reports cannot be moved."""
        raise NotImplementedError

    def made(self, eps: float, largest: float) -> T | None:
        """Return the table for an epsilon, or nothing if it does not win up to the largest that it is for."""
        raise NotImplementedError

    @property
    def kept(self) -> bool:
        """Whether any epsilon is remapped: none is for which that would not win."""
        return any(table is not None for table in self.tables.values())

    @property
    def usable(self) -> bool:
        """Whether an epsilon is remapped, or one that is not known yet may be."""
        return self.kept or self.more

    @property
    def record(self) -> dict[str, object]:
        """What a reader of the release may know, as plain JSON values."""
        by_default = "places" if self.method.over == "places" else "uniform"
        return {"prior": by_default if self.prior is None else self.prior.kind, "kept": self.kept}

    def by_table(self, eps: float | np.ndarray) -> Iterator[tuple[T, np.ndarray | None]]:
        """Give the tables of these epsilons, each with the rows that it is for: None for all of them."""
        distinct, which = np.unique(eps, return_inverse=True)
        pairs = [self._pair(float(one)) for one in distinct]
        for pair in dict.fromkeys(pairs):
            table = self._table(pair)
            if table is not None:
                every = pairs.count(pair) == len(pairs)
                own = None if every else np.array([one == pair for one in pairs])[which.reshape(-1)]
                yield table, None if own is None else np.flatnonzero(own)

    def _pair(self, eps: float) -> tuple[float, float]:
        """Return the epsilon of the table for one epsilon, and the largest that it is for."""
        known = np.unique(self.levels)
        if len(known) <= FEW_LEVELS and eps in known and eps >= LOWEST:
            return eps, eps
        return rung(eps)

    def _table(self, pair: tuple[float, float]) -> T | None:
        with _ONE_AT_A_TIME:  # blocks of locations may meet the same epsilon at the same time
            if pair not in self.tables:
                self.tables[pair] = self.made(*pair)
            return self.tables[pair]


_ONE_AT_A_TIME = threading.RLock()


def rung(eps: float) -> tuple[float, float]:
    """Return the epsilon of the table that is shared by those up to the second number, which is sqrt(2) times as large.

    >>> rung(3.0), rung(0.001)
    ((2.82..., 4.0), (0.0625, 0.0625))
    """
    if eps <= LOWEST:
        return LOWEST, LOWEST
    half = np.floor(2 * np.log2(eps))
    return float(2 ** (half / 2)), float(2 ** ((half + 1) / 2))
