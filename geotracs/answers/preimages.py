"""Which draws are released as one report: what projection, rounding and remap leave open."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from geotracs.answers.bins import Bins, Cells
from geotracs.answers.states import grid_chart
from geotracs.core.charts.base import evenly
from geotracs.core.methods import Channel, Reports
from geotracs.core.methods.channels import RegionRecipe

DRAWN = 2**14
"""How many points over the region say where draws are released."""
POINTS = 64
"""How many points stand for the draws that are released as one report, at most..."""
REFERENCES = 6
"""...and for the earlier report from which a location was seen, where the release does not tell it."""


@dataclass(frozen=True, eq=False, repr=False)
class Preimages:
    """The draws behind reports of a method that looks back, and the likelihoods that follow.

    Attributes
    ----------
    channel : Channel
        On a region, of a sequential method.
    bins : Bins
        What is released, in bins.
    eps : float
        With which the release moves reports, if it remaps them.
    """

    channel: Channel
    bins: Bins
    eps: float

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        """Points over the region in the order of their bins, and where each bin begins."""
        points = grid_chart(self.channel.domain).from_unit(evenly(DRAWN))
        label = self.bins.label(self.channel.release(np.asfortranarray(points.copy()), self.eps))
        order = np.argsort(label, kind="stable")
        return np.ascontiguousarray(points[order]), np.searchsorted(label[order], np.arange(self.bins.count + 1))

    def label(self, reports: Reports) -> np.ndarray:
        """Return the bin of each report that stands for several draws; -1 for one that is released as it was drawn."""
        label, release = self.bins.label(reports), self.channel.release
        if release.places is not None or release.remap is not None or not isinstance(self.bins, Cells):
            return label
        return np.where(label >= self.bins.shape[0] * self.bins.shape[1], label, -1)

    def points(self, label: int, xy: np.ndarray, most: int) -> np.ndarray:
        """Return draws that are released in a bin; for -1, or if none is found, the report itself."""
        table, starts = self._table
        first, last = (0, 0) if label < 0 else starts[label : label + 2].tolist()
        if first == last:
            return self.channel.domain.clip(xy[None])
        return table[first : min(last, first + most)]  # the first of an even sequence are even, too

    def likelihood(
        self, now: tuple[int, np.ndarray], before: tuple[int, np.ndarray] | None, secrets: np.ndarray, eps: float
    ) -> np.ndarray:
        """Return how likely a report is from each secret, given the one before it, up to a factor.

        Both are the bin and the place of a release; there is none before the first of a trajectory.
        """
        method, domain = cast(RegionRecipe, self.channel.method), self.channel.domain
        points = self.points(*now, POINTS)
        references: list[Any] = method.references(domain, None, self.channel.release)
        if before is not None and self._follows:
            references = list(self.points(*before, REFERENCES))
        total = np.zeros(len(secrets))
        for one in references:
            density = method.density(points, secrets, eps, domain, one)
            total += np.where(np.isfinite(density), density, 0.0).sum(axis=1)  # infinite where a point is the reference
        return total / len(references)

    @property
    def _follows(self) -> bool:
        """Whether each location is seen from the report before it, not from a public point."""
        return getattr(self.channel.method, "reference", "previous") == "previous"
