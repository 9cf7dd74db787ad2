"""Public cells of a size in metres: which of them a location is in, by a rule that looks at nothing else."""

from dataclasses import dataclass

import numpy as np

ROUND = 360.0
"""A circle of latitude, in degrees."""


@dataclass(frozen=True)
class Cells:
    """Squares of one side, counted from the origin of a planar CRS.

    In degrees, belts of one height, each cut into cells that are about as wide as they are high.

    Attributes
    ----------
    side : float
        In the unit of the CRS.
    in_degrees : bool
        Whether that is degrees.

    Examples
    --------
    >>> cells = Cells(200.0)
    >>> cells.numbers(np.array([[399.0, -1.0]]))
    array([[ 1, -1]])
    >>> cells.middles(np.array([[1, -1]]))
    array([[ 300., -100.]])
    """

    side: float
    in_degrees: bool = False

    def numbers(self, xy: np.ndarray) -> np.ndarray:
        """Return the column and row of each location's cell, as whole numbers."""
        rows = np.floor(xy[:, 1] / self.side)
        columns = np.floor(xy[:, 0] / self._widths(rows))
        if self.in_degrees:
            columns %= self._around(rows)
        return np.column_stack([columns, rows]).astype(np.int64)

    def middles(self, numbers: np.ndarray) -> np.ndarray:
        """Return the middle of each cell, from its column and row, with contiguous columns."""
        columns, rows = numbers[:, 0], numbers[:, 1]
        middles = np.empty((2, len(numbers))).T
        middles[:, 0] = (columns + 0.5) * self._widths(rows)
        middles[:, 1] = (rows + 0.5) * self.side
        if self.in_degrees:
            middles[:, 0] = (middles[:, 0] + ROUND / 2) % ROUND - ROUND / 2
            np.clip(middles[:, 1], -ROUND / 4, ROUND / 4, out=middles[:, 1])
        return middles

    def _around(self, rows: np.ndarray) -> np.ndarray:
        """Return how many cells there are around each belt."""
        middles = np.radians(np.clip((rows + 0.5) * self.side, -ROUND / 4, ROUND / 4))
        return np.maximum(np.rint(np.cos(middles) * ROUND / self.side), 1)

    def _widths(self, rows: np.ndarray) -> np.ndarray | float:
        return ROUND / self._around(rows) if self.in_degrees else self.side
