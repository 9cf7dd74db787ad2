"""The columns of a frame: which exist, which a release keeps."""

from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import geopandas as gpd
import pandas as pd

import geotracs.geo.leaks as leaks
from geotracs.errors import InputError, quoted, warn

_SAID: "WeakValueDictionary[tuple[Any, ...], gpd.GeoDataFrame]" = WeakValueDictionary()
"""The frames of which it was said which columns are left out."""


def kept(
    gdf: gpd.GeoDataFrame,
    keep: str | Sequence[str] | None,
    trajectory: str | None = None,
    time: str | None = None,
    eps: str | None = None,
    person: str | None = None,
) -> list[str]:
    """Return the columns of a release: trajectory, time, those of epsilons and of people who share one, and ``keep``.

    Say which are lost, and warn of those that tell where the rows were.
    """
    always = [name for name in (trajectory, time, eps, person) if name is not None]
    others = [column for column in gdf.columns if column not in {*always, gdf.active_geometry_name}]
    asked = others if isinstance(keep, str) else list(keep or [])  # the one word that it may be is "all"
    check(gdf, asked)
    lost = [str(column) for column in others if column not in asked]
    if keep is None and lost and _first_time(gdf, lost):
        warn(
            f"Columns left out of the release: {', '.join(lost)}. They may hold private locations; use "
            "keep=[...] for those that do not, or keep=[] to silence this warning."
        )
    names = [column for column in gdf.columns if column in {*asked, *always}]
    leaks.warn_of_columns(gdf, names, trajectory, time)
    return names


def _first_time(gdf: gpd.GeoDataFrame, lost: list[str]) -> bool:
    """Return whether it was not said yet of this frame that these columns are left out."""
    key = (id(gdf), *lost)
    if _SAID.get(key) is gdf:
        return False
    _SAID[key] = gdf
    return True


def check(gdf: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise for columns that do not exist, occur more than once or hold the geometries."""
    for name in names:
        if pd.api.types.is_list_like(name) and not isinstance(name, tuple):
            raise InputError(f"A column must be given by its name, got {type(name).__name__}.")
        count = sum(column == name for column in gdf.columns)
        if count == 0:
            raise InputError(f"There is no column {quoted(name)}; the columns are {[str(c) for c in gdf.columns]}.")
        if count > 1:
            raise InputError(f"There are {count} columns named {name!r}; rename all but one.")
        if name == getattr(gdf, "active_geometry_name", None):
            raise InputError(f"{name!r} is the geometry column and cannot be used here.")
