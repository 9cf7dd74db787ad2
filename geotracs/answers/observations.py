"""Repeated reports: equal reports of a person are one observation, however many rows have them.

What a release tells is what was drawn. With m rows for each draw on average the rows tell as much as n**2 / sum(m**2)
independent ones (Kish, Survey Sampling, 1965): with this number of reports estimates are stopped, and intervals made.
"""

from dataclasses import dataclass

import geopandas as gpd
import numpy as np
import pandas as pd

from geotracs.answers.estimate import FOLDS
from geotracs.core.guarantee import Guarantee
from geotracs.errors import InputError
from geotracs.geo.tracks import Tracks

USUAL = 0.25
"""Of a stay the observations with at least this part of the rows of the largest one are used: others are outings."""


@dataclass(frozen=True, eq=False, repr=False)
class Observations:
    """Which rows are one observation.

    Attributes
    ----------
    of_row : array of int
        The observation of each report: of equal reports of a person it is the same.
    report : array of int
        The same, whosever they are.
    """

    of_row: np.ndarray
    report: np.ndarray

    @classmethod
    def of(cls, frame: gpd.GeoDataFrame, tracks: Tracks, guarantee: Guarantee) -> "Observations | None":
        """Return the observations of a release; None where each row is one.

        Where the release does not hold the column of people, equal reports are one observation whosever they are. In a
        region they are the same person's anyway; of a set of places the estimates are more cautious then.
        """
        if not guarantee.repeat:
            return None
        report = _numbered(*tracks.xy.T)
        person = guarantee.repeat.get("person")
        if person is None or person not in frame.columns:
            return cls(report, report)
        return cls(_numbered(report, pd.factorize(frame[person])[0][tracks.rows]), report)

    @property
    def count(self) -> int:
        """How many observations there are."""
        return int(self.of_row.max(initial=-1)) + 1

    @property
    def weight(self) -> float:
        """What a row counts, beside an independent one.

        >>> Observations(np.array([0, 0, 0, 1]), np.zeros(4)).weight
        0.4
        """
        return len(self.of_row) / float((np.bincount(self.of_row).astype(np.float64) ** 2).sum())

    def dealt(self, some: np.ndarray, labels: np.ndarray, count: int) -> np.ndarray:
        """Return how often each bin was reported, by folds, a column each: the rows of an observation are in one fold.

        Dealing is pseudo-random with a fixed seed: the same reports always give the same estimate.
        """
        fold = np.random.default_rng(0).integers(FOLDS, size=self.count)[self.of_row[some]]
        counts = np.bincount(labels * FOLDS + fold, minlength=count * FOLDS).reshape(count, FOLDS)
        return self.weight * counts

    def usual(self, rows: np.ndarray) -> np.ndarray:
        """Return one row for each of the observations that most of some rows have."""
        _, first, counts = np.unique(self.of_row[rows], return_index=True, return_counts=True)
        return rows[np.sort(first[counts >= USUAL * counts.max(initial=0)])]

    def distinct_pairs(self, ends: np.ndarray) -> np.ndarray:
        """Return one of all pairs of reports that are the same, without those whose ends are one observation."""
        both = self.of_row[ends]
        moved = np.flatnonzero(both[:, 0] != both[:, 1])
        _, first = np.unique(both[moved], axis=0, return_index=True)
        return ends[moved[np.sort(first)]]


def _numbered(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return a number for each distinct pair of values, from 0 on."""
    first, second = (pd.factorize(np.ascontiguousarray(values))[0].astype(np.int64) for values in (one, other))
    return pd.factorize(first * (second.max(initial=0) + 1) + second)[0]


def check_independent(observations: Observations | None, what: str) -> None:
    """Raise where rows share reports."""
    if observations is not None:
        raise InputError(
            f'The rows of this release share reports (repeat="same"), and {what} needs independent ones; use density '
            "or reconstruct, or release without `repeat`."
        )
