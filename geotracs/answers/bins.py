"""What may have been reported, in bins: cells and pieces of the border, or public places."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from geotracs.answers.states import affine, cells_in, grid_chart
from geotracs.core.charts.base import Chart
from geotracs.core.methods import Reports
from geotracs.core.methods.released import Release

ON_BORDER = 3e-6
"""How far from the border, as a part of the region's size, a release counts as projected to it: files round digits."""

MAX_PIECES = 512


class Bins(Protocol):
    """A partition of all that may be released."""

    @property
    def count(self) -> int:
        """How many there are."""

    def label(self, reports: Reports) -> np.ndarray:
        """Return the bin of each release."""


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """The cells of a grid over the chart of the region, and the pieces of the border to which reports are projected."""

    release: Release
    shape: tuple[int, int]

    @cached_property
    def chart(self) -> Chart:
        """The chart of the grid."""
        return grid_chart(self.release.domain)

    @property
    def count(self) -> int:
        """How many there are."""
        return self.shape[0] * self.shape[1] + self.pieces

    @cached_property
    def pieces(self) -> int:
        """How many pieces the border has, if reports are projected to it: as long as a cell is wide, or so."""
        if self.release.border is None:
            return 0
        size = np.ptp(np.reshape(self.release.domain.outline.bounds, (2, 2)), axis=0).max()
        return int(np.clip(self.release.border.length / size * max(self.shape), 4, MAX_PIECES))

    @cached_property
    def xy(self) -> np.ndarray:
        """The middles of cells, and of pieces of the border."""
        i, j = np.divmod(np.arange(self.shape[0] * self.shape[1]), self.shape[1])
        cells = affine(self.chart, (np.column_stack([i, j]) + 0.5) / self.shape)
        border = self.release.border
        if border is None:
            return cells
        return np.concatenate([cells, border.at((np.arange(self.pieces) + 0.5) / self.pieces * border.length)])

    def label(self, reports: Reports) -> np.ndarray:
        """Return the cell, or after all cells the piece of the border."""
        xy, border = reports.xy, self.release.border
        i, j = cells_in(self.chart, xy, self.shape)
        found = i * self.shape[1] + j
        if border is not None:
            size = np.ptp(np.reshape(self.release.domain.outline.bounds, (2, 2)), axis=0).max()
            near = np.flatnonzero(~border.surely_covers(xy))
            near = near[border.distance(xy[near]) <= ON_BORDER * size]
            piece = (border.position(xy[near]) / border.length * self.pieces).astype(np.int64)
            found[near] = self.shape[0] * self.shape[1] + np.clip(piece, 0, self.pieces - 1)
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Places:
    """The places to which reports are rounded, or which are reported."""

    count: int

    def label(self, reports: Reports) -> np.ndarray:
        """Return the number of the place."""
        return np.asarray(reports.which)
