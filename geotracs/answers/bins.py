"""What may have been reported, in bins: cells and pieces of the border, or public places."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast

import numpy as np
from scipy.spatial import cKDTree

from geotracs.answers.states import affine, cells_in, grid_chart
from geotracs.core.charts.base import Chart
from geotracs.core.domains.border import Border
from geotracs.core.methods import Reports
from geotracs.core.methods.released import Release

ON_BORDER = 3e-6
"""How far from the border, as a part of the region's size, a release counts as projected to it: files round digits."""

MAX_PIECES = 512
PER_PIECE = 16
"""How many points stand for a piece of the border..."""
AWAY = 1e-6
"""...this part of its length outside."""


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
        found = self._cell(xy)
        if border is not None:
            size = np.ptp(np.reshape(self.release.domain.outline.bounds, (2, 2)), axis=0).max()
            near = np.flatnonzero(~border.surely_covers(xy))
            away, position = border.distance_and_position(xy[near])
            projected = away <= ON_BORDER * size
            near, piece = near[projected], (position[projected] / border.length * self.pieces).astype(np.int64)
            found[near] = self.shape[0] * self.shape[1] + np.clip(piece, 0, self.pieces - 1)
        return found

    def label_drawn(self, xy: np.ndarray) -> np.ndarray:
        """Return the same for draws that are not projected yet: as the nearest of many points around the border.

        For a hundred thousand draws this takes a fraction of the time, and is wrong for a few between two pieces.
        """
        found, border = self._cell(xy), self.release.border
        if border is not None:
            outside = np.flatnonzero(~border.covers(xy))
            tree, label = self._around
            found[outside] = label[tree.query(xy[outside])[1]]
        return found

    @cached_property
    def _around(self) -> tuple[cKDTree, np.ndarray]:
        """Points around the border, and the piece to which each of them is projected."""
        border = cast(Border, self.release.border)
        points = border.around(self.pieces * PER_PIECE, AWAY * border.length)
        label = self.label(self.release(np.asfortranarray(points.copy())))
        outside = label >= self.shape[0] * self.shape[1]
        return cKDTree(points[outside]), label[outside]

    def _cell(self, xy: np.ndarray) -> np.ndarray:
        i, j = cells_in(self.chart, xy, self.shape)
        return np.asarray(i * self.shape[1] + j)


@dataclass(frozen=True, eq=False, repr=False)
class Places:
    """The places to which reports are rounded, or which are reported."""

    count: int

    def label(self, reports: Reports) -> np.ndarray:
        """Return the number of the place."""
        return np.asarray(reports.which)
