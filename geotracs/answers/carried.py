"""The record of what is computed from a release: that of the release, and what was done."""

from dataclasses import replace
from typing import Any

import geopandas as gpd
import numpy as np
import shapely

import geotracs.geo.crs as crs_
from geotracs.core.digest import Digest
from geotracs.core.guarantee import Guarantee


def carried(
    frame: gpd.GeoDataFrame, guarantee: Guarantee, *, kind: str, words: str, **details: Any
) -> gpd.GeoDataFrame:
    """Set the record of a frame that was computed from a release, whose guarantee carries on; return the frame.

    Parameters
    ----------
    kind : str
        What the frame is, such as "reconstruct". A record with one is no release: nothing is estimated from it again.
    words : str
        A sentence about it for those who read the guarantee.
    **details
        Plain values that say how it was computed.
    """
    xy = shapely.get_coordinates(np.asarray(frame.geometry.values))
    digest = {"crs": crs_.label(frame.crs), **Digest.of(xy).to_record()}
    answer = {"kind": kind, "words": words, **details}
    frame.attrs = {"tracs": replace(guarantee, digest=digest, answer=answer).to_attrs()}
    return frame
