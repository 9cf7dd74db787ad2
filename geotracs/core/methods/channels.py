"""Channels: a method bound to its public things, ready to report.

`Method.on` makes one. Whether the method works on a region or over places is decided there, once.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.places import Places
from geotracs.core.randomness import Key, Source


class Recipe(Protocol):
    """What a channel, and who uses it, must know of its method."""

    name: ClassVar[str]
    sequential: ClassVar[bool]
    resumable: ClassVar[bool]


class RegionRecipe(Recipe, Protocol):
    """A method on a region; see `Method.report`."""

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        domain: Domain,
        rng: Source,
        before: np.ndarray | None = None,
    ) -> None:
        """Replace each location by its report."""


class PlaceRecipe(Recipe, Protocol):
    """A method over places; see `PlaceMethod`."""

    def prepare(self, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> Any:
        """Return the public tables for one call."""

    def choose(
        self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, tables: Any, rng: Source
    ) -> np.ndarray:
        """Return the place that is reported for each secret one."""


class Reports(NamedTuple):
    """Where the reports are and, for methods over places, the numbers of their places."""

    xy: np.ndarray
    which: np.ndarray | None


class Channel(Protocol):
    """What reports locations: the only thing that sees a secret and the only one that is random."""

    over: ClassVar[str]
    """What is reported: the "region", or the "places" of a public set."""

    @property
    def method(self) -> Recipe:
        """The recipe."""

    @property
    def domain(self) -> Domain:
        """The public region, as the method sees it."""

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        rng: Source,
        before: np.ndarray | None = None,
    ) -> np.ndarray | None:
        """Replace locations by their reports, and return the numbers of their places, if they are places.

        Parameters
        ----------
        xy : array of shape (n, 2)
            Locations inside the domain, trajectory after trajectory, with contiguous columns; overwritten.
        offsets : array of int
            Where each trajectory begins, and n at the end.
        eps : float, or array of shape (n,)
            Epsilon of each location.
        before : (x, y), optional
            The last report of a trajectory that these locations continue.
        """

    def sample(self, xy: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, rng: Source) -> Reports:
        """Return what is reported of locations, inside the domain; for experiments on arrays, in one thread."""


@dataclass(frozen=True, eq=False, repr=False)
class OnRegion:
    """A method on a region."""

    method: RegionRecipe
    domain: Domain
    over: ClassVar[str] = "region"

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        rng: Source,
        before: np.ndarray | None = None,
    ) -> None:
        """Replace locations by their reports; see `Channel.report`."""
        self.method.report(xy, offsets, eps, self.domain, rng, before)

    def sample(self, xy: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, rng: Source) -> Reports:
        """Return what is reported of locations, projected inside; see `Channel.sample`."""
        reports = np.asfortranarray(xy, dtype=np.float64).copy(order="F")
        self.report(reports, offsets, eps, _stream(rng))
        self.domain.project_inside(reports)
        return Reports(reports, None)


class OverPlaces:
    """A method over places, with its public tables.

    Parameters
    ----------
    places : Places
        Places at the same point count as one, the first of them; a set of one place is always reported, since it has
        nothing to hide.
    eps : float, or array
        All epsilons that locations have.
    """

    over: ClassVar[str] = "places"

    def __init__(self, method: PlaceRecipe, domain: Domain, places: Places, eps: float | np.ndarray) -> None:
        self.method, self.domain, self._places = method, domain, places
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
        which = self.report(reports, offsets, eps, _stream(rng))
        return Reports(reports, which)

    def _chosen(self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, rng: Source) -> np.ndarray:
        numbers = self._number[secrets]
        if self._tables is not None:
            numbers = self.method.choose(numbers, offsets, eps, self._tables, rng)
        return self._first[numbers]


def _stream(rng: Source) -> Source:
    return Key.fresh(rng).stream(0)
