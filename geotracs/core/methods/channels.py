"""Channels: a method bound to its public things, ready to report.

`Method.on` makes one. Whether the method works on a region or over places is decided there, once.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, cast

import numpy as np
import numpy.typing as npt

from geotracs.core.budget import check_eps
from geotracs.core.domains import Domain
from geotracs.core.methods.factors import Factors
from geotracs.core.methods.released import Release, ReportMap, Reports
from geotracs.core.places import Places
from geotracs.core.randomness import Key, Source
from geotracs.errors import InputError

NODES = 2**13
"""Into how many representative reports a distribution is divided to be pushed through projection and rounding..."""
AT_A_TIME = 2**20
"""...and how many of them are processed at a time."""


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


class OnRegion:
    """A method on a region.

    Parameters
    ----------
    places : Places, optional
        Where reports are rounded to after the draw.
    eps : float or array, optional
        The epsilons that locations have; one of them is what `density` takes by default.
    remap : ReportMap, optional
        What moves reports after the draw.
    """

    over: ClassVar[str] = "region"

    def __init__(
        self,
        method: RegionRecipe,
        domain: Domain,
        places: Places | None = None,
        eps: float | np.ndarray | None = None,
        remap: ReportMap | None = None,
    ) -> None:
        self.method, self.domain = method, domain
        self.release = Release(domain, places, method.leaves, remap)
        self._eps = eps

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
        """Return what is released of locations, remapped, projected inside and rounded; see `Channel.sample`."""
        reports = np.asfortranarray(xy, dtype=np.float64).copy(order="F")
        self.report(reports, offsets, eps, _stream(rng))
        return self.release(reports, eps)

    def tables(self) -> dict[str, Any]:
        """Return nothing: all follows from the method and its region."""
        return {}

    def factors(self, eps: float) -> Factors | None:
        """Return the law of a report as products over the axes of the chart, or None; see `Channel.factors`."""
        return self.method.factors(eps, self.domain)

    @property
    def reference_is_known(self) -> bool:
        """Whether a reader knows from where the method saw a location; see `Channel.reference_is_known`."""
        return self.method.reference_is_known(self.release.places is not None or self.release.remap is not None)

    def density(
        self,
        reports: np.ndarray,
        secrets: np.ndarray,
        *,
        eps: float | None = None,
        before: npt.ArrayLike | None = None,
        nodes: int = NODES,
    ) -> np.ndarray:
        """Return the probability or density of each release, for each secret location; see `Channel.density`."""
        known, secrets = self.release.known(reports), np.atleast_2d(np.asarray(secrets, dtype=np.float64))
        if self.release.are_several(before):
            return by_before(self.density, reports, secrets, np.asarray(before), eps=eps, nodes=nodes)
        if self.release.remap is not None and self.release.places is None:
            raise InputError(
                "Reports that were remapped have no density: many are moved to one point or line. Ask `probabilities` "
                "for those of cells, or round to places."
            )
        eps = only_eps(self._eps, eps)
        references = self._references(before, eps)
        total = sum(self._seen_from(point, known, secrets, eps, nodes) for point in references)
        return np.asarray(total) / len(references)

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
        secrets = np.atleast_2d(np.asarray(secrets, dtype=np.float64))
        eps = only_eps(self._eps, eps)
        references = self._references(before, eps)
        total = sum(self._masses(label, count, secrets, eps, point, nodes) for point in references)
        return np.asarray(total) / len(references)

    def _references(self, before: npt.ArrayLike | None, eps: float) -> list[Any]:
        """Return the public points from which a location may have been seen; a reader cannot tell them apart."""
        given = None if before is None else self.release.known(np.asarray(before)[None])
        if given is None or self.release.remap is None:
            return self.method.references(self.domain, given, self.release)
        plain, found = Release(self.domain), []
        for one in self.release.alike(given, eps):
            found += self.method.references(self.domain, Reports(one[None], None), plain)
        return found

    def _seen_from(self, point: Any, known: Reports, secrets: np.ndarray, eps: float, nodes: int) -> np.ndarray:
        found = np.zeros((len(secrets), len(known.xy)))
        atoms = self.release.atoms(known)
        inside = np.flatnonzero((atoms < 0) & self.domain.contains(known.xy))
        if len(inside):
            found[:, inside] = self.method.density(known.xy[inside], secrets, eps, self.domain, point)
        there = np.flatnonzero(atoms >= 0)
        if len(there):
            masses = self._masses(self.release.atoms, self.release.count, secrets, eps, point, nodes)
            found[:, there] = masses[:, atoms[there]] / self.release.size()
        return found

    def _masses(
        self,
        label: Callable[[Reports], np.ndarray],
        count: int,
        secrets: np.ndarray,
        eps: float,
        point: Any,
        nodes: int,
    ) -> np.ndarray:
        """Return how likely each label is, by reports that stand for all; what has the label -1 is left out."""
        masses = np.zeros((len(secrets), count))
        step = max(1, AT_A_TIME // nodes)
        for first in range(0, len(secrets), step):
            part = secrets[first : first + step]
            points, weights = self.method.quadrature(part, eps, self.domain, nodes, point)
            labels = label(self.release(np.asfortranarray(points.reshape(-1, 2)), eps)).reshape(len(part), -1)
            rows, nodes_there = np.nonzero(labels >= 0)
            flat = rows * count + labels[rows, nodes_there]
            masses[first : first + step] = np.bincount(flat, weights[nodes_there], minlength=len(part) * count).reshape(
                len(part), count
            )
        return masses


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
        self.method, self.domain, self._places, self._eps = method, domain, places, eps
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
        which = self.report(reports, offsets, eps, _stream(rng))
        return Reports(reports, which)

    def tables(self) -> dict[str, Any]:
        """Return what the method says of its tables."""
        return {} if self._tables is None else self.method.described(self._tables)

    def factors(self, eps: float) -> None:
        """Return None: places have no axes."""

    @property
    def reference_is_known(self) -> bool:
        """Whether a reader knows what the method looks back at: reported places, which are released as they are."""
        return True

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
        earlier = None if before is None else int(self._number[self._which(np.asarray(before)[None])[0]])
        labels = label(Reports(self._points[self._first], self._first))
        rows = [
            np.bincount(labels[labels >= 0], self._pmf(int(one), earlier, eps)[labels >= 0], minlength=count)
            for one in distinct
        ]
        return np.array(rows)[which.reshape(-1)]

    def _pmf(self, secret: int, before: int | None, eps: float) -> np.ndarray:
        """Return the probability of each distinct place."""
        if self._tables is None:
            return np.ones(1)
        if before is not None and not self.method.both_ways:
            return self.method.pmf_of_one(secret, before, eps, self._tables)
        every = np.arange(len(self._first))[:, None]
        return self.method.pmf(np.array([secret]), every, eps, self._tables)

    def _which(self, reports: npt.ArrayLike) -> np.ndarray:
        """Return the numbers of released places, of several at one point the first."""
        given = self.release.known(np.asarray(reports))
        return self._first[self._number[cast(np.ndarray, given.which)]]

    def _chosen(self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, rng: Source) -> np.ndarray:
        numbers = self._number[secrets]
        if self._tables is not None:
            numbers = self.method.choose(numbers, offsets, eps, self._tables, rng)
        return self._first[numbers]


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


def _stream(rng: Source) -> Source:
    return Key.fresh(rng).stream(0)
