"""What a method is, over flat arrays: a recipe on a region, or one over a public set of places."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
import shapely

from geotracs.core.budget import LARGEST
from geotracs.core.domains import Domain
from geotracs.core.methods.channels import Channel
from geotracs.core.methods.factors import Factors
from geotracs.core.methods.on_region import OnRegion
from geotracs.core.methods.over_places import OverPlaces
from geotracs.core.methods.released import PlaceMap, Release, ReportMap, Reports
from geotracs.core.notions import PURE
from geotracs.core.places import Places
from geotracs.core.randomness import Source
from geotracs.errors import InputError


@dataclass(frozen=True)
class Method:
    """Base of all methods; the fields of a subclass are its options.

    A method works on a region and implements `report`, or it is a `PlaceMethod`.
    """

    name: ClassVar[str]
    over: ClassVar[str] = "region"
    """What it draws from: the "region", or the "places" of a public set."""
    sequential: ClassVar[bool] = False
    """Whether a location's report depends on other reports of the same trajectory."""
    resumable: ClassVar[bool] = False
    """Whether it depends on the report before it only, so that a trajectory can continue in another block."""
    both_ways: ClassVar[bool] = False
    """Whether it depends on reports before and after it."""
    travels: ClassVar[bool] = False
    """Whether what it prepares is sent along with a plan: it takes seconds to make."""
    leaves: ClassVar[bool] = False
    """Whether a report may fall outside any region, from where it is projected inside."""
    public_points: ClassVar[tuple[str, ...]] = ()
    """Options that may be a public point, given in the user's CRS."""
    public_lengths: ClassVar[tuple[str, ...]] = ()
    """Options that are lengths, given in metres; here they are in the unit of the working CRS."""

    @property
    def caveat(self) -> str:
        """What is missing for an exact guarantee: a sentence for the record of a release."""
        return ""

    @property
    def privacy(self) -> dict[str, Any]:
        """The kind of privacy, as plain JSON values for the record of a release; see `geotracs.core.notions`."""
        return {"kind": PURE}

    @property
    def shares(self) -> dict[str, float]:
        """The share of epsilon that each part gets."""
        raise NotImplementedError

    @property
    def largest_eps(self) -> float:
        """The largest epsilon of one location that the method can use."""
        return LARGEST

    def check_eps(self, eps: float | np.ndarray) -> None:
        """Raise for an epsilon of a location that the method cannot use."""
        most = np.max(eps, initial=0)
        if most > self.largest_eps:
            raise InputError(
                f"{self.name} draws by whole-number weights, which can use an `eps` of at most {self.largest_eps:g} "
                f'for a location, got {most:g}; take less, or method="nearest", which has no such limit.'
            )

    def on(
        self,
        domain: Domain,
        places: Places | None = None,
        eps: float | np.ndarray | None = None,
        progress: Callable[[int], object] | None = None,
        remap: ReportMap | PlaceMap | None = None,
    ) -> Channel:
        """Return the method bound to its public things.

        ``places`` is what a method over places reports, and what the reports of others are rounded to; ``eps`` is all
        epsilons that locations have; ``progress`` is told of long work, `rounds` in all; ``remap`` moves the
        reports: a `Remap`, or a `PlaceRemap` of a method over places.
        """
        self.check(domain)
        return OnRegion(self, domain, places, eps, cast(ReportMap | None, remap))

    def rounds(self, eps: float | np.ndarray) -> int:
        """Return how many rounds of work `on` tells its ``progress``."""
        return 0

    def with_places(self) -> "Method":
        """Return the method to take where there are places: itself, whose reports are then rounded to them."""
        return self

    def check(self, domain: Domain) -> None:
        """Raise for a domain that lacks a capability the method needs, and say which."""
        raise NotImplementedError

    def settled(self, eps: float, domain: Domain) -> "Method":
        """Return the method with the options that public things decide, for a typical epsilon; here itself."""
        return self

    def report(
        self,
        xy: np.ndarray,
        offsets: np.ndarray,
        eps: float | np.ndarray,
        domain: Domain,
        rng: Source,
        before: np.ndarray | None = None,
    ) -> None:
        """Replace each location by its report.

        Parameters
        ----------
        xy : array of shape (n, 2)
            Locations inside the domain, trajectory after trajectory, with contiguous columns; overwritten.
        offsets : array of int
            Where each trajectory begins, and n at the end.
        eps : float, or array of shape (n,)
            Epsilon of each location.
        before : (x, y), optional
            For a resumable method, the last report of a trajectory that these locations continue.
        """
        raise NotImplementedError

    def density(
        self,
        y: np.ndarray,
        x: npt.ArrayLike,
        eps: float,
        domain: Domain,
        reference: tuple[float, float] | None = None,
    ) -> np.ndarray:
        """Return the exact probability density of reporting each of ``y``, shape (m, 2), when the location is ``x``.

        For one location, or for each of several, shape (n, 2): then one per row. Per unit of area, in the working CRS,
        before what is outside a polygon is projected into it; `Channel.density` is that of what is released. Seen from
        a reference on the border TraCS-D also reports the reference itself, which no density can say. The other
        arguments are those of `window_of`.
        """
        raise InputError(f"{self.name} has no density on the plane.")

    def quadrature(
        self,
        x: np.ndarray,
        eps: float,
        domain: Domain,
        nodes: int,
        reference: tuple[float, float] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return representative reports for each location of ``x``, and the probability of each.

        Before what is outside a polygon is projected into it. Nothing is drawn: the same reports every time.

        Returns
        -------
        array of shape (n, nodes, 2), array of shape (nodes,)
            The second adds up to 1.
        """
        raise InputError(f"{self.name} has no density on the plane.")

    def factors(self, eps: float, domain: Domain) -> Factors | None:
        """Return the law of a report in the unit square of the region's chart, as products over its two axes.

        None where it is no such sum, or depends on what was reported before.
        """
        return None

    def references(self, domain: Domain, before: Reports | None, release: Release) -> list[Any]:
        """Return the public points from which a location may have been seen, given what was released before it.

        Methods that do not look back see every location alike: None, once.
        """
        return [None]

    def reference_is_known(self, rounded: bool) -> bool:
        """Return whether a reader knows from where a location was seen, if reports are ``rounded``."""
        return True

    def window_of(
        self, x: tuple[float, float], eps: float, domain: Domain, reference: tuple[float, float] | None = None
    ) -> tuple[shapely.Polygon, float]:
        """Return the window of a location, and the probability that its report falls there.

        For drawings. The window is as private as the location, which it gives away.

        Parameters
        ----------
        x : (x, y)
            A location of the domain, in the working CRS.
        reference : (x, y), optional
            The public point from which TraCS-D sees the location, usually the previous report; by default where its
            trajectories start. Without meaning for other methods, on a disc, and where the recipe has a fixed one.

        Returns
        -------
        shapely.Polygon, float
            In the working CRS; on the globe in degrees, with unwrapped longitudes. It is not cut to a
            polygon that its domain may be: what falls outside is projected there after the draw.
        """
        raise InputError(f"{self.name} has no window on the plane.")

    def record(self) -> dict[str, Any]:
        """Return the options as plain JSON values, for the record of a release."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def options(cls) -> list[str]:
        """Return the names of the options."""
        return [f.name for f in fields(cls)]


@dataclass(frozen=True)
class PlaceMethod(Method):
    """Base of the methods over a finite public set of places: the secrets and the reports are places of the set.

    A location counts as its nearest place, by a public rule that looks at nothing else, so that what holds for any two
    places of the set holds for any two locations. Places are distinct points in a plane, known by their numbers.
    """

    over: ClassVar[str] = "places"

    @property
    def shares(self) -> dict[str, float]:
        """All of epsilon for the place."""
        return {"place": 1.0}

    def on(
        self,
        domain: Domain,
        places: Places | None = None,
        eps: float | np.ndarray | None = None,
        progress: Callable[[int], object] | None = None,
        remap: ReportMap | PlaceMap | None = None,
    ) -> Channel:
        """Return the method bound to its public things."""
        if places is None or eps is None:
            raise InputError(f"{self.name} reports places of a public set; give the set, and all epsilons.")
        self.check(domain)
        return OverPlaces(self, domain, places, eps, cast(PlaceMap | None, remap))

    def check(self, domain: Domain) -> None:
        """Take every domain."""

    def prepare(self, places: np.ndarray, eps: float | np.ndarray, domain: Domain) -> Any:
        """Return the public tables for one call, made from public things only.

        Parameters
        ----------
        places : array of shape (m, 2)
            Where the places are; two or more, all different.
        eps : float, or array of shape (n,)
            Epsilon of each location, which depends on the lengths of trajectories and nothing else private.
        """
        raise NotImplementedError

    def described(self, tables: Any) -> dict[str, Any]:
        """Return plain values by which a reader recognises the tables, where they were fitted; nothing otherwise."""
        return {}

    def choose(
        self, secrets: np.ndarray, offsets: np.ndarray, eps: float | np.ndarray, tables: Any, rng: Source
    ) -> np.ndarray:
        """Return the place that is reported for each secret one.

        Parameters
        ----------
        secrets : array of int, shape (n,)
            The place of each location, trajectory after trajectory.
        offsets : array of int
            Where each trajectory begins, and n at the end.
        eps : float, or array of shape (n,)
            Epsilon of each location.
        tables
            What `prepare` returned.
        """
        raise NotImplementedError

    def pmf(self, secrets: np.ndarray, reports: np.ndarray, eps: float, tables: Any) -> np.ndarray:
        """Return the probabilities with which `choose` reports whole trajectories.

        Parameters
        ----------
        secrets : array of int, shape (length,)
            The places of one trajectory.
        reports : array of int, shape (k, length)
            What may be reported for it, one row per possibility.

        Returns
        -------
        array of shape (k,)
            Those of the integers that are drawn, not of a formula that they approximate.
        """
        secrets, reports = np.asarray(secrets), np.asarray(reports)
        probability = np.ones(len(reports))
        for i, secret in enumerate(secrets.tolist()):
            befores = reports[:, i - 1] if i and self.sequential else np.full(len(reports), -1)
            for before in np.unique(befores):
                rows = np.flatnonzero(befores == before)
                one = self.pmf_of_one(secret, None if before < 0 else int(before), eps, tables)
                probability[rows] *= one[reports[rows, i]]
        return probability

    def pmf_of_one(self, secret: int, before: int | None, eps: float, tables: Any) -> np.ndarray:
        """Return the probability of each place to be reported for one location.

        Parameters
        ----------
        secret : int
            Its place.
        before : int or None
            The place that was reported before it in its trajectory; only a sequential method looks at it.
        """
        raise NotImplementedError
