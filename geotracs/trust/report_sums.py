"""What epsilons of single reports add up to: over a trajectory, a person, and a person and period."""

import math
from dataclasses import dataclass
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.geo.columns as columns_
import geotracs.geo.tracks as frames
from geotracs.core.budget import LARGEST
from geotracs.core.guarantee import Guarantee
from geotracs.errors import InputError
from geotracs.geo.periods import Period

MUCH = 20.0
"""From this epsilon on a bound says nothing in practice: exp(20) is almost 500 million."""


@dataclass(frozen=True)
class Sums:
    """The epsilons of one kind of thing, such as all trajectories.

    Attributes
    ----------
    of : str
        The kind of thing.
    count : int or None
        How many there are; None if this is not known.
    largest, typical : float or None
        Epsilon of the one with the largest sum, and the median; None if this is not known.
    remark : str
        Why it is not known, or whose it is.
    """

    of: str
    count: int | None = None
    largest: float | None = None
    typical: float | None = None
    remark: str = ""

    @property
    def words(self) -> str:
        """What the largest epsilon proves, in words.

        >>> Sums("one report", 9, 1.0, 1.0).words
        'up to 2.7 times likelier: whoever thought 50:50 is 73.1% sure at most'
        """
        if self.largest is None:
            return ""
        if self.largest > MUCH:
            return "nothing that matters: see what attackers find"
        return (
            f"up to {_times(self.largest)} times likelier: whoever thought 50:50 is {sure(self.largest)} sure at most"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        known = {"of": self.of, "count": self.count, "largest": self.largest, "typical": self.typical}
        most = None if self.largest is None else certainty(self.largest)
        return {**known, "certainty": most, "words": self.words, "remark": self.remark}


def certainty(eps: float) -> float:
    """Return how sure somebody may become, at most, who held two possibilities for equally likely.

    >>> [round(certainty(eps), 3) for eps in (0.1, 1, 4)]
    [0.525, 0.731, 0.982]
    """
    return 1 / (1 + math.exp(-min(eps, LARGEST)))


def sure(eps: float) -> str:
    """Return the same in words.

    >>> sure(4), sure(12)
    ('98.2%', 'more than 99.9%')
    """
    return f"{certainty(eps):.1%}" if certainty(eps) < 0.999 else "more than 99.9%"


@dataclass(frozen=True, eq=False, repr=False)
class Spent:
    """The epsilon of each report of a release, and whose it is.

    Attributes
    ----------
    frame : GeoDataFrame
    tracks : Tracks
        Grouped.
    eps : float, or array of shape (n,)
        Epsilon of each report, in the order of the tracks.
    """

    frame: gpd.GeoDataFrame
    guarantee: Guarantee
    tracks: frames.Tracks
    eps: float | np.ndarray

    def table(self, person: str | None, period: str) -> list[Sums]:
        """Return the sums for a report, a trajectory, a person, and a person and period."""
        each = pd.Series(np.broadcast_to(self.eps, len(self.tracks.xy)))
        reports = Sums("one report", len(each), float(each.max()), float(each.median()))
        found = [reports, self._trajectories(each)]
        if person is None:
            unknown = "The release does not say whose trajectories are whose; name the column with `person`."
            return [*found, Sums("a person", remark=unknown), self._periods(each, None, period)]
        whose = self._labels(person)
        return [*found, self._sums("a person", each, [whose]), self._periods(each, whose, period)]

    def _trajectories(self, each: pd.Series) -> Sums:
        numbers = np.repeat(np.arange(len(self.tracks.lengths)), self.tracks.lengths)
        return self._sums("a trajectory", each, [numbers])

    def _periods(self, each: pd.Series, whose: np.ndarray | None, period: str) -> Sums:
        time, wanted = self.guarantee.time, Period.of(period, "period")
        of = f"{'a trajectory' if whose is None else 'a person'} in a {wanted.words}"
        if time is None:
            return Sums(of, remark="The release has no times on record.")
        if whose is None:
            whose = np.repeat(np.arange(len(self.tracks.lengths)), self.tracks.lengths)
        return self._sums(of, each, [whose, wanted.numbers(self.frame, time)[self.tracks.rows]])

    def _sums(self, of: str, each: pd.Series, by: list[np.ndarray]) -> Sums:
        total = each.groupby(by).sum()
        return Sums(of, len(total), _nine(total.max()), _nine(total.median()), self._drawn_once(each, by))

    def _drawn_once(self, each: pd.Series, by: list[np.ndarray]) -> str:
        """Return what the sums are where repeated reports are drawn once; cells that share a report count as one."""
        if not self.guarantee.repeat:
            return ""
        reports = pd.DataFrame({"eps": each, "x": self.tracks.xy[:, 0], "y": self.tracks.xy[:, 1]})
        once = ~reports.assign(**{str(number): codes for number, codes in enumerate(by)}).duplicated()
        largest = _nine(each.where(once, 0).groupby(by).sum().max())
        return f"Rows are counted. Repeated reports are drawn once: by distinct reports it is {largest:,g} at most."

    def _labels(self, person: str) -> np.ndarray:
        columns_.check(self.frame, [person])
        codes = pd.factorize(self.frame[person])[0][self.tracks.rows]
        if (codes < 0).any():
            raise InputError(
                f"{np.count_nonzero(codes < 0):,} report(s) have no label in the column {person!r}; fill them in."
            )
        return codes


def _nine(total: float) -> float:
    """Return a sum without the rounding errors of its terms."""
    return float(f"{total:.9g}")


def _times(eps: float) -> str:
    factor = math.exp(eps)
    return f"{factor:.1f}" if factor < 10 else f"{math.ceil(factor):,}"
