"""Zones that a user asks about: areas that do not overlap, inside the region of a release."""

from dataclasses import dataclass
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

from geotracs.answers.reader import Reader
from geotracs.answers.states import States
from geotracs.errors import CRSError, InputError, warn

SLIVER = 1e-3
"""Zones may overlap, and leave open, this part of the smaller one or of the region: borders are drawn by hand."""
POLYGONS = (3, 6)


@dataclass(frozen=True, eq=False, repr=False)
class Zones:
    """Areas with labels.

    Attributes
    ----------
    labels : Index
    own : GeoSeries
        As they were given.
    shapes : array of geometries
        In the working CRS.
    open : float
        The part of the region's area that is in none of them.
    """

    labels: pd.Index
    own: gpd.GeoSeries
    shapes: np.ndarray
    open: float

    @classmethod
    def of(cls, zones: Any, reader: Reader, *, name: str = "zones") -> "Zones":
        """Check zones, and bring them into the working CRS of a release."""
        own = _areas(zones, name)
        shapes = np.asarray(own.to_crs(reader.region.crs).values)
        _check_apart(shapes, name)
        outline = reader.region.domain.outline
        inside = shapely.area(shapely.intersection(shapes, outline))
        outside = int((inside <= 0).sum())
        if outside:
            raise InputError(
                f"{outside} of {len(shapes)} `{name}` lie outside the region of the release, where nobody can be; "
                "leave them out."
            )
        left = max(0.0, 1 - float(inside.sum()) / outline.area)
        if left > SLIVER:
            warn(f"`{name}` leave {left:.1%} of the region's area open: what is there belongs to none of them.")
        return cls(own.index, own, shapes, left)

    @property
    def width(self) -> float:
        """How wide a zone is, in units of the working CRS: the side of a square of the median area."""
        return float(np.sqrt(np.median(shapely.area(self.shapes))))

    def shares(self, states: States) -> np.ndarray:
        """Return the part of each state in each zone, a row each; what is in none comes last, if there is any."""
        found = states.shares_in(self.shapes).toarray()
        found /= np.maximum(found.sum(axis=0), 1)
        rest = 1 - found.sum(axis=0)
        if self.open <= SLIVER:  # the seams between zones
            nearest = np.flatnonzero(found.sum(axis=0) > 0)
            found[:, nearest] /= found[:, nearest].sum(axis=0)
            rest = np.where(found.sum(axis=0) > 0, 0.0, 1.0)
        return np.vstack([found, rest]) if rest.max() > SLIVER else found

    def middles(self) -> np.ndarray:
        """Return a point inside each zone, in the CRS that it was given in."""
        return shapely.get_coordinates(np.asarray(self.own.representative_point().values))


def _areas(zones: Any, name: str) -> gpd.GeoSeries:
    if not isinstance(zones, (gpd.GeoDataFrame, gpd.GeoSeries)):
        raise InputError(f"`{name}` must be a GeoDataFrame or a GeoSeries of areas, got a {type(zones).__name__}.")
    own = zones.geometry
    if own.crs is None:
        raise CRSError(f"`{name}` have no CRS; say which one, e.g. {name}.set_crs('EPSG:4326').")
    geometry = np.asarray(own.values)
    if not len(geometry):
        raise InputError(f"`{name}` holds no area.")
    bad = shapely.is_missing(geometry) | shapely.is_empty(geometry) | ~np.isin(shapely.get_type_id(geometry), POLYGONS)
    if bad.any():
        raise InputError(f"`{name}` must be areas, and {bad.sum()} of {len(bad)} are points, lines, empty or missing.")
    broken = int((~shapely.is_valid(geometry)).sum())
    if broken:
        raise InputError(f"{broken} of {len(bad)} `{name}` are not valid polygons; repair them with make_valid().")
    if not own.index.is_unique:
        raise InputError(
            f"The index of `{name}` must be unique, since it names them; use {name}.reset_index(drop=True)."
        )
    return own


def _check_apart(shapes: np.ndarray, name: str) -> None:
    one, other = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    one, other = one[one < other], other[one < other]
    areas = shapely.area(shapes)
    common = shapely.area(shapely.intersection(shapes[one], shapes[other]))
    overlapping = int((common > SLIVER * np.minimum(areas[one], areas[other])).sum())
    if overlapping:
        raise InputError(
            f"`{name}` overlap in {overlapping} place(s), so that a location would count twice; cut them with "
            "geopandas.overlay, or leave some out."
        )
