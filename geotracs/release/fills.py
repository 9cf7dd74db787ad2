"""Filling in the rows that a schedule leaves out, from the reports alone: post-processing, which costs no epsilon."""

import importlib
from typing import cast

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.geo.tracks as frames
from geotracs.geo.filling import Between
from geotracs.geo.region import Region
from geotracs.geo.schedule import FILLED
from geotracs.release.plan import Plan
from geotracs.release.timetable import Timetable

RECONSTRUCT = "geotracs.answers.filling"
"""The module that reads a release to fill it: it comes after this room, so that it is loaded when it is asked for."""


def in_frame(
    whole: gpd.GeoDataFrame, private: gpd.GeoDataFrame, rows: np.ndarray, plan: Plan, table: Timetable
) -> gpd.GeoDataFrame:
    """Return a release with all rows of a frame, those that were not reported filled in.

    Of the frame only the columns that are kept, the times and which rows hold locations are looked at.
    """
    tracks = table.read(whole)
    where = np.flatnonzero(tracks.present)
    seconds = frames.seconds(whole, cast(str, table.time))[where]
    order = np.lexsort((cast(np.ndarray, tracks.times), tracks.unit_codes))
    units, known = tracks.unit_codes[order], rows[where][order]
    places = np.full((len(whole), 2), np.nan)
    places[rows] = shapely.get_coordinates(np.asarray(private.geometry.values))
    new = where[order[~known]]
    if len(new):
        if table.schedule.fill == "reconstruct":
            fill = importlib.import_module(RECONSTRUCT).reconstructed
            numbers = np.where(known, (np.cumsum(rows) - 1)[where[order]], -1)
            places[new] = fill(private, units, seconds[order], numbers, table.schedule.speed, table.layers)
        else:
            between = Between.of(units, seconds[order], known).take(~known)
            own = places[where[order]]
            places[new] = between.places(cast(str, table.schedule.fill), own, cast(Region, plan.region))
    geometry = np.full(len(whole), None, dtype=object)
    geometry[~tracks.present] = np.asarray(whole.geometry.values)[~tracks.present]
    geometry[rows], geometry[new] = np.asarray(private.geometry.values), shapely.points(places[new])
    return _assembled(whole, private, geometry, rows, new, plan)


def _assembled(
    whole: gpd.GeoDataFrame,
    private: gpd.GeoDataFrame,
    geometry: np.ndarray,
    rows: np.ndarray,
    new: np.ndarray,
    plan: Plan,
) -> gpd.GeoDataFrame:
    out = frames.output(whole, geometry, plan.kept)
    numbers = np.where(rows, np.cumsum(rows) - 1, -1)
    added = [name for name in plan.added if name in private]
    for place, name in enumerate(added, out.columns.get_loc(out.geometry.name)):
        out.insert(place, name, private[name].reset_index(drop=True).reindex(numbers).set_axis(out.index))
    filled = np.zeros(len(whole), dtype=bool)
    filled[new] = True
    out[FILLED] = pd.Series(filled, index=out.index)
    out.attrs = private.attrs
    return out
