"""How dense a release is in time, and a warning where that gives people away: from public things only.

The times of a release are released. No location is looked at here: a warning that depends on where people were would
tell something about it.
"""

from dataclasses import dataclass
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.geo.tracks as frames
from geotracs.core.budget import even_share
from geotracs.core.domains import Domain
from geotracs.core.following import DENSE, SPEED, followed
from geotracs.core.methods import Channel
from geotracs.core.randomness import public_stream
from geotracs.errors import PrivacyWarning, warn
from geotracs.geo.region import Region
from geotracs.geo.sharing import Unit

ROWS = 10_000
"""The first rows tell: as many as are read of a file at first."""
STAND_INS, FEW = 4000, 200
"""How many public stand-ins for locations say how far reports are from them, fewer where each takes long..."""
LENGTH = 100
"""...in trajectories of this length."""


@dataclass(frozen=True, eq=False, repr=False)
class Pace:
    """How the first rows of a release follow each other.

    Attributes
    ----------
    gaps : array
        Seconds between each row and its neighbours in its trajectory, on average; rows without one are left out.
    counts : array
        How many rows the trajectory of each has, or what else shares an epsilon.
    """

    gaps: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(
        cls, frame: gpd.GeoDataFrame, trajectory: str | None, time: str | None, sharing: Unit | None = None
    ) -> "Pace | None":
        """Return the pace of the first rows; None without times, for lines, and where no row follows another.

        People whose locations share an epsilon are followed over all of their trajectories.

        Examples
        --------
        >>> points = gpd.points_from_xy([0, 0, 0], [0, 0, 0])
        >>> Pace.of(gpd.GeoDataFrame({"t": [0, 5, 20]}, geometry=points), None, "t").gaps.tolist()
        [5.0, 10.0, 15.0]
        """
        if time is None or not len(frame):
            return None
        some = frame.iloc[:ROWS]
        some = some[~(some.geometry.isna() | some.geometry.is_empty)]
        if not len(some) or not (some.geom_type == "Point").all():
            return None
        seconds = frames.seconds(some, time)
        by_trajectory = sharing is None or sharing.by_trajectory
        column = trajectory if by_trajectory or sharing is None else sharing.column
        codes = np.zeros(len(some), dtype=np.int64) if column is None else pd.factorize(some[column])[0]
        if (codes < 0).any():  # which raises a clear error as soon as rows are counted
            return None
        units = codes
        if sharing is not None and not by_trajectory:
            everyone = np.ones(len(some), dtype=bool)
            units = sharing.codes(some, everyone)
        order = np.lexsort((seconds, codes))
        seconds, codes = seconds[order], codes[order]
        between = np.where(np.diff(codes) == 0, np.diff(seconds), np.nan)
        both = np.column_stack([np.append(np.nan, between), np.append(between, np.nan)])
        alone = np.isnan(both).all(axis=1)
        if alone.all():
            return None
        lengths = np.bincount(units)[units][order]
        return cls(np.nanmean(both[~alone], axis=1), lengths[~alone])

    def is_sparse(self, region: Region) -> bool:
        """Whether people may get through all of a region from report to report, so that nobody can be followed."""
        return SPEED * float(np.median(self.gaps)) > region.domain.diameter * _metres(region)

    def typical(self, eps: float, unit: str, levels: float | np.ndarray) -> float:
        """Return the epsilon of a typical location: the one of all levels that is nearest to it."""
        shared = unit != "location"
        own = float(even_share(eps, np.median(self.counts))) if shared else eps
        each = np.atleast_1d(levels)
        return float(each[np.argmin(np.abs(each - own))])


def risk(pace: Pace, channel: Channel, region: Region, eps: float, cell: float = 0.0) -> dict[str, Any]:
    """Return the expected error of a report of a typical location, and of whoever follows people, in metres.

    Where the rows in a ``cell`` of so many metres have one report, there is a new one only after so far a way.
    """
    report = _error(channel, eps) * _metres(region)
    if not report > 0:
        return {}
    found = followed(report, eps, np.maximum(pace.gaps, cell / SPEED), pace.counts)
    return {"report": _rounded(report), "followed": _rounded(found), "speed": SPEED}


def _error(channel: Channel, eps: float) -> float:
    """Return how far reports are from public stand-ins on average."""
    domain: Domain = channel.domain
    places, n = channel.release.places, FEW if channel.method.sequential else STAND_INS
    xy = domain.spread(n) if places is None else domain.clip(np.asfortranarray(places.sample(n)))
    offsets = np.unique(np.append(np.arange(0, len(xy), LENGTH), len(xy)))
    return float(domain.distance(xy, channel.sample(xy, offsets, eps, public_stream()).xy).mean())


def warn_of(found: dict[str, Any] | None) -> None:
    """Warn if people can be followed through a release."""
    if found and found["followed"] < DENSE * found["report"]:
        warn(
            f"Whoever follows a person through this release finds them to about {found['followed']:,.0f} m, while a "
            f"report is {found['report']:,.0f} m off on average: reports follow each other so quickly that their "
            "noise averages out. Release fewer moments, a smaller epsilon, or an epsilon for each trajectory "
            '(unit="trajectory"); geotracs.risk says what is left. (By the times of the release and people who '
            f"make up to {found['speed']:g} m/s; no location was looked at.)",
            PrivacyWarning,
        )


def _metres(region: Region) -> float:
    """Return how many metres a unit of distances is; in degrees these are metres already."""
    return 1.0 if region.domain.in_degrees else float(region.crs.axis_info[0].unit_conversion_factor)


def _rounded(metres: float) -> float:
    return float(f"{metres:.3g}")
