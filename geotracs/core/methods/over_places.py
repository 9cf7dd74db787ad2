"""The channel of a method over places."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from geotracs.core.domains import Domain
from geotracs.core.methods.channels import NODES, PlaceRecipe, by_before, only_eps, stream
from geotracs.core.methods.released import PlaceMap, Release, Reports
from geotracs.core.places import Places
from geotracs.core.randomness import Source


class OverPlaces:
    """A method over places, with its public tables.

    Parameters
    ----------
    places : Places
        Places at the same point count as one, the first of them; a set of one place is always reported, since it has
        nothing to hide.
    eps : float, or array
        All epsilons that locations have.
    remap : PlaceMap, optional
        Moves the reported places.
    """

    over: ClassVar[str] = "places"

    def __init__(
        self,
        method: PlaceRecipe,
        domain: Domain,
        places: Places,
        eps: float | np.ndarray,
        remap: PlaceMap | None = None,
    ) -> None:
        self.method, self.domain, self._places, self._eps, self._remap = method, domain, places, eps, remap
        self.release = Release(domain, places)
        self._points = places.sample(places.count)
        _, first, same = np.unique(self._points, axis=0, return_index=True, return_inverse=True)
        self._first = np.sort(first)
        self._number = np.searchsorted(self._first, first[same.reshape(-1)])
        self._tables: Any = method.prepare(self._points[self._first], eps, domain) if len(first) > 1 else None

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        rng: Source,
        before: np.ndarray | None = None,
    ) -> np.ndarray:
        """Replace locations by reported places, and return their numbers; see `Channel.report`."""
        which = self._chosen(self._places.round(xy)[0], offsets, eps, rng)
        xy[:] = self._points[which]
        return which

    def sample(self, xy: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, rng: Source) -> Reports:
        """Return which places are reported of locations; see `Channel.sample`."""
        reports = np.asfortranarray(xy, dtype=np.float64).copy(order="F")
        which = self.report(reports, offsets, eps, stream(rng))
        if self._remap is None:
            return Reports(reports, which)
        which = self._remap.moved(which, eps)
        return Reports(self._points[which], which)

    def tables(self) -> dict[str, Any]:
        """Return what the method says of its tables."""
        return {} if self._tables is None else self.method.described(self._tables)

    def factors(self, eps: float) -> None:
        """Return None: places have no axes."""

    @property
    def reference_is_known(self) -> bool:
        """Whether a reader knows what the method looks back at: reported places, as far as they were not moved."""
        return self._remap is None or not self.method.sequential

    def density(
        self,
        reports: np.ndarray,
        secrets: np.ndarray,
        *,
        eps: float | None = None,
        before: npt.ArrayLike | None = None,
        nodes: int = NODES,
    ) -> np.ndarray:
        """Return the exact probability of each reported place, for each secret location; see `Channel.density`."""
        if self.release.are_several(before):
            return by_before(self.density, reports, secrets, np.asarray(before), eps=eps, nodes=nodes)
        every = self.probabilities(self.release.atoms, len(self._points), secrets, eps=eps, before=before)
        return every[:, self._which(reports)]

    def probabilities(
        self,
        label: Callable[[Reports], np.ndarray],
        count: int,
        secrets: np.ndarray,
        *,
        eps: float | None = None,
        before: npt.ArrayLike | None = None,
        nodes: int = NODES,
    ) -> np.ndarray:
        """Return how likely the release of each secret has each public label; see `Channel.probabilities`."""
        secrets, eps = np.atleast_2d(np.asarray(secrets, dtype=np.float64)), only_eps(self._eps, eps)
        distinct, which = np.unique(self._number[self._places.round(secrets)[0]], return_inverse=True)
        earlier: Sequence[int | None] = (
            [None] if before is None else self._reported(self._which(np.asarray(before)[None])[0], eps)
        )
        released = self._first if self._remap is None else self._remap.moved(self._first, eps)
        labels = label(Reports(self._points[released], released))
        rows = []
        for one in distinct:
            pmf = np.mean([self._pmf(int(one), at, eps) for at in earlier], axis=0)
            rows.append(np.bincount(labels[labels >= 0], pmf[labels >= 0], minlength=count))
        return np.array(rows)[which.reshape(-1)]

    def _pmf(self, secret: int, before: int | None, eps: float) -> np.ndarray:
        """Return the probability of each distinct place."""
        if self._tables is None:
            return np.ones(1)
        if before is not None and not self.method.both_ways:
            return self.method.pmf_of_one(secret, before, eps, self._tables)
        every = np.arange(len(self._first))[:, None]
        return self.method.pmf(np.array([secret]), every, eps, self._tables)

    def _reported(self, released: int, eps: float) -> Sequence[int | None]:
        """Return which distinct places are released as this one, each as likely; itself, if none is."""
        if self._remap is None:
            return [int(self._number[released])]
        found = np.flatnonzero(self._number[self._remap.moved(self._first, eps)] == self._number[released])
        return found.tolist() or [int(self._number[released])]

    def _which(self, reports: npt.ArrayLike) -> np.ndarray:
        """Return the numbers of released places, of several at one point the first."""
        given = self.release.known(np.asarray(reports))
        return self._first[self._number[cast(np.ndarray, given.which)]]

    def _chosen(self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, rng: Source) -> np.ndarray:
        numbers = self._number[secrets]
        if self._tables is not None:
            numbers = self.method.choose(numbers, offsets, eps, self._tables, rng)
        return self._first[numbers]
