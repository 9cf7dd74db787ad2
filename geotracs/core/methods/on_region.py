"""The channel of a method on a region."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from geotracs.core.domains import Domain
from geotracs.core.methods.channels import NODES, RegionRecipe, by_before, only_eps, stream
from geotracs.core.methods.factors import Factors
from geotracs.core.methods.released import Release, ReportMap, Reports
from geotracs.core.places import Places
from geotracs.core.randomness import Source
from geotracs.errors import InputError

AT_A_TIME = 2**20
"""How many representative reports are processed at a time."""


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
        self.report(reports, offsets, eps, stream(rng))
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
