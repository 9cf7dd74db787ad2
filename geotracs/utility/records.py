"""The record of a release, given back to a frame that lost it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import geopandas as gpd

import geotracs.core.digest as digest
import geotracs.geo.tracks as frames
import geotracs.io.files as files
from geotracs.core.guarantee import Guarantee, recorded
from geotracs.errors import InputError, sealed
from geotracs.utility.compare import standing


@sealed
def with_record(frame: gpd.GeoDataFrame, record: Any) -> gpd.GeoDataFrame:
    """Return a frame of released locations with the record of their release.

    ``merge``, ``sjoin`` and readers of other libraries lose ``attrs``, and with it what an estimate or a guarantee
    needs.

    Parameters
    ----------
    frame : GeoDataFrame
        All the locations of the release, or a part of them.
    record : GeoDataFrame, Guarantee, dict, or path
        What `geotracs.perturb` returned, its ``tracs.guarantee``, its ``attrs["tracs"]``, or a file of it.

    Examples
    --------
    >>> import geotracs, pandas as pd
    >>> city = geotracs.datasets.sample_city(people=2, seed=1)
    >>> private = city.tracks.tracs.perturb(4, domain=city.boundary, trajectory="person", time="t", keep=[])
    >>> merged = private.merge(pd.DataFrame({"person": [0, 1], "age": [31, 64]}), on="person")
    >>> merged.attrs.clear()
    >>> with_record(merged, private).tracs.guarantee.epsilon
    4.0
    """
    frames.check(frame)
    known = _record(record)
    Guarantee.from_attrs({"tracs": known})
    found = frame.copy(deep=False)
    found.attrs = {**frame.attrs, "tracs": known}
    if standing(found) == digest.OTHER:
        raise InputError("The locations of the frame are not those of this record; give that of their own release.")
    return found


def _record(given: Any) -> dict[str, Any]:
    if isinstance(given, (str, Path)):
        return files.record(given)
    if isinstance(given, Guarantee):
        return given.to_attrs()
    if isinstance(given, gpd.GeoDataFrame):
        return dict(recorded(given.attrs))
    if isinstance(given, Mapping):
        return dict(given)
    raise InputError(
        f"`record` must be a release, its guarantee, its attrs['tracs'] or a file, got {type(given).__name__}."
    )
