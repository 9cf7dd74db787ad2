"""Channels: a method bound to its public things, ready to report; what each of them can do.

`Method.on` makes one, `OnRegion` or `OverPlaces`: which of them is decided there, once.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from geotracs.core.budget import check_eps
from geotracs.core.domains import Domain
from geotracs.core.methods.factors import Factors
from geotracs.core.methods.released import Release, Reports
from geotracs.core.randomness import Key, Source
from geotracs.errors import InputError

NODES = 2**13
"""Into how many representative reports a distribution is divided to be pushed through projection and rounding."""


class Recipe(Protocol):
    """What a channel, and who uses it, must know of its method."""

    name: ClassVar[str]
    sequential: ClassVar[bool]
    resumable: ClassVar[bool]
    both_ways: ClassVar[bool]
    leaves: ClassVar[bool]


class RegionRecipe(Recipe, Protocol):
    """A method on a region; see `Method`."""

    def density(self, y: np.ndarray, x: npt.ArrayLike, eps: float, domain: Domain, reference: Any = None) -> np.ndarray:
        """Return the density of each report, for each location, before projection."""

    def quadrature(
        self, x: np.ndarray, eps: float, domain: Domain, nodes: int, reference: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return reports that stand for all, for each location, and how likely each is."""

    def factors(self, eps: float, domain: Domain) -> Factors | None:
        """Return the law of a report as products over the axes of the region's chart, where it is one."""

    def references(self, domain: Domain, before: Reports | None, release: Release) -> list[Any]:
        """Return the public points from which a location may have been seen."""

    def reference_is_known(self, rounded: bool) -> bool:
        """Return whether a reader of the release knows from where a location was seen."""

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

    def described(self, tables: Any) -> dict[str, Any]:
        """Return plain values by which a reader recognises the tables."""

    def pmf(self, secrets: np.ndarray, reports: np.ndarray, eps: float, tables: Any) -> np.ndarray:
        """Return the probabilities with which whole trajectories are reported."""

    def pmf_of_one(self, secret: int, before: int | None, eps: float, tables: Any) -> np.ndarray:
        """Return the probability of each place for one location."""


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

    @property
    def release(self) -> Release:
        """The public map from a report to what is released of it."""

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
        """Return what is released of locations, in the working CRS; for experiments on arrays, in one thread."""

    def tables(self) -> dict[str, Any]:
        """Return plain values by which a reader recognises tables that were fitted; nothing where there are none."""

    def factors(self, eps: float) -> Factors | None:
        """Return the law of a report, before it is moved, as products over the axes of the region's chart, or None."""

    @property
    def reference_is_known(self) -> bool:
        """Whether a reader knows from where the method saw a location, if it looks back at reports at all.

        TraCS-D sees a location from the previous report. Where that is released as it is, a reader knows it; where it
        is rounded, or the first one is random, `density` is the mean over all that the release leaves open, as if each
        were equally likely.
        """

    def density(
        self,
        reports: np.ndarray,
        secrets: np.ndarray,
        *,
        eps: float | None = None,
        before: npt.ArrayLike | None = None,
        nodes: int = NODES,
    ) -> np.ndarray:
        """Return the probability or density of each release, for each secret location, one row per secret.

        Of what is *released*, projection and rounding included: a probability for a place; per unit of area inside a
        region; and per unit of length on the border of a polygon, where projection puts a mass (its mean over one of
        `PIECES` pieces of the border).

        Parameters
        ----------
        reports : array of shape (m, 2), or array of int
            Released locations in the working CRS, or the numbers of places.
        secrets : array of shape (n, 2)
            Locations of the domain, in the working CRS.
        eps : float, optional
            Epsilon of the location; by default the one that the channel was made for.
        before : (x, y) or int, or one for each report, optional
            What was released before it in its trajectory, for a sequential method; nothing for a first location. The
            "atp" method looks at both neighbours: its density is that of a trajectory of one location.
        nodes : int
            Into how many representative reports a distribution is divided where it must be pushed through projection
            and rounding. The probabilities of all places, or pieces and the inside, add up to 1 with any number.
        """

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
        """Return how likely the release of each secret has each of ``count`` public labels, one row per secret.

        ``label`` gives each release its label, a number from 0 on, or -1 for none. The others are those of `density`.
        """


def only_eps(bound: float | np.ndarray | None, eps: float | None) -> float:
    """Return the epsilon that was given, or the only one that the channel was made for."""
    if eps is not None:
        return check_eps(eps)
    levels = np.unique([] if bound is None else bound)
    if len(levels) != 1:
        raise InputError("The channel was made for several epsilons, or none; give the one of the location as `eps`.")
    return float(levels[0])


def by_before(
    density: Callable[..., np.ndarray], reports: np.ndarray, secrets: np.ndarray, before: np.ndarray, **given: Any
) -> np.ndarray:
    """Return densities of reports each of which has its own one before it."""
    if len(before) != len(reports):
        raise InputError(f"`before` must be one release, or one for each of {len(reports)} reports, got {len(before)}.")
    distinct, which = np.unique(before, axis=0, return_inverse=True)
    found = np.empty((len(np.atleast_2d(secrets)), len(reports)))
    for number, one in enumerate(distinct):
        columns = np.flatnonzero(which.reshape(-1) == number)
        found[:, columns] = density(np.asarray(reports)[columns], secrets, before=one, **given)
    return found


def stream(rng: Source) -> Source:
    """Return the random stream of a sample that is drawn in one piece."""
    return Key.fresh(rng).stream(0)
