"""What legends say in plain words: how far off reports are, what an attacker finds, how much is drawn."""

from collections.abc import Mapping
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geotracs.core.guarantee import caption, recorded
from geotracs.utility.compare import compare
from geotracs.views.maps.sides import Side


def distance(metres: float) -> str:
    """Return a distance with two digits that count.

    >>> [distance(metres) for metres in (4595.2, 12_345, 318.4, 7.26)]
    ['4.6 km', '12 km', '320 m', '7.3 m']
    """
    rounded = float(f"{metres:.2g}")
    return f"{rounded / 1000:g} km" if rounded >= 1000 else f"{rounded:g} m"


def of_release(original: gpd.GeoDataFrame | None, release: gpd.GeoDataFrame | None) -> list[str]:
    """Return how a release was made, how far off its reports are, and what is left of that for an attacker."""
    lines = []
    record: Mapping[str, Any] = {} if release is None else recorded(release.attrs)
    if record:
        lines.append(caption(record))
    if original is not None and release is not None:
        error = float(cast(pd.Series, compare(original, release))["ae"])
        if not np.isnan(error):
            lines.append(f"mean error {distance(error)}")
    risk = record.get("risk")
    if risk:
        if original is None:
            lines.append(f"a report is about {distance(risk['report'])} off")
        lines.append(f"whoever follows a person through it is {distance(risk['followed'])} off")
    return lines


def locations(frame: gpd.GeoDataFrame) -> int:
    """Return how many locations a frame holds."""
    return len(shapely.get_coordinates(np.asarray(frame.geometry.dropna().values)))


def drawn(side: Side) -> str:
    """Return how many of the trajectories and locations are drawn."""
    count = len(side.offsets) - 1
    if side.total == 0:
        return "no locations"
    if side.total > len(side.rows):
        return (
            f"sample: {count:,} of {side.trajectories:,} trajectories, {len(side.rows):,} of {side.total:,} locations"
        )
    whole = "trajectory" if count == 1 else "trajectories"
    return f"{count:,} {whole}, {counted(side.total)}"


def counted(total: int) -> str:
    """Return a number of locations in words."""
    return f"{total:,} {'location' if total == 1 else 'locations'}"
