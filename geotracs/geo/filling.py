"""Rows between two reports: where they are by the reports alone."""

from dataclasses import dataclass
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd

from geotracs.core.guarantee import recorded
from geotracs.geo.region import Region
from geotracs.geo.schedule import FILLED


@dataclass(frozen=True, eq=False, repr=False)
class Between:
    """The reports before and after each row of a unit, both the same where one is missing.

    Attributes
    ----------
    before, after : array of int
        Which rows these are.
    share : array
        How far a row is between them in time, from 0 to 1.
    """

    before: np.ndarray
    after: np.ndarray
    share: np.ndarray

    @classmethod
    def of(cls, units: np.ndarray, seconds: np.ndarray, known: np.ndarray) -> "Between":
        """Return what is before and after each row, from rows in the order of units and times.

        Examples
        --------
        >>> known = np.array([False, True, False, False, True])
        >>> found = Between.of(np.zeros(5, dtype=int), np.array([0.0, 10.0, 15.0, 20.0, 30.0]), known)
        >>> found.before.tolist(), found.after.tolist(), found.share.tolist()
        ([1, 1, 1, 1, 4], [1, 1, 4, 4, 4], [0.0, 0.0, 0.25, 0.5, 0.0])
        """
        index = np.arange(len(units))
        before = np.maximum.accumulate(np.where(known, index, -1))
        after = np.minimum.accumulate(np.where(known, index, len(units))[::-1])[::-1]
        has_before = (before >= 0) & (units[before] == units)
        has_after = after < len(units)
        has_after &= units[np.where(has_after, after, 0)] == units
        first, last = np.where(has_before, before, after), np.where(has_after, after, before)
        lasting = seconds[last] - seconds[first]
        share = np.divide(seconds - seconds[first], lasting, out=np.zeros(len(units)), where=lasting > 0)
        return cls(first, last, share)

    def take(self, rows: np.ndarray) -> "Between":
        """Return the same for some rows."""
        return Between(self.before[rows], self.after[rows], self.share[rows])

    def places(self, kind: str, xy: np.ndarray, region: Region) -> np.ndarray:
        """Return where rows are, in the CRS of the data: at the report before, or on the line to the one after.

        Parameters
        ----------
        kind : {"hold", "interpolate"}
        xy : array of shape (n, 2)
            The reports, in the CRS of the data; other rows are not looked at.
        """
        if kind == "hold":
            return np.asarray(xy[self.before])
        first, last = (region.enter(np.asfortranarray(xy[rows])) for rows in (self.before, self.after))
        step = last - first
        if region.domain.in_degrees:
            step[:, 0] = (step[:, 0] + 180) % 360 - 180
        found = np.asfortranarray(first + self.share[:, None] * step)
        if region.domain.in_degrees:
            found[:, 0] = (found[:, 0] + 180) % 360 - 180
        region.domain.project_inside(found)
        return region.leave(found)


def drawn(frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return the rows of a release that were drawn, without those that were filled in afterwards.

    >>> points = gpd.points_from_xy([0, 1], [0, 0], crs=3857)
    >>> frame = gpd.GeoDataFrame({"filled": [False, True]}, geometry=points)
    >>> frame.attrs["tracs"] = {"method": "joint", "epsilon": 4.0, "schedule": {"at_most": 1, "fill": "hold"}}
    >>> len(drawn(frame)), list(drawn(frame).columns)
    (1, ['geometry'])
    """
    return frame[drawn_rows(frame)].drop(columns=FILLED) if has_filled(frame) else frame


def has_filled(frame: pd.DataFrame) -> bool:
    """Return whether a release has rows that were filled in."""
    record = recorded(cast(dict[str, Any], frame.attrs))
    fill = (record.get("schedule") or {}).get("fill")
    return fill is not None and FILLED in frame.columns and not record.get("answer")


def drawn_rows(frame: pd.DataFrame) -> np.ndarray:
    """Return which rows were drawn, by the column that says which were filled in."""
    return ~frame[FILLED].fillna(False).to_numpy(dtype=bool)
