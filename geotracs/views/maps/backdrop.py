"""What lies below everything on a map without tiles: coarse land and borders, and the user's own layers in greys."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import geopandas as gpd
import numpy as np
import shapely

import geotracs.views.ground as ground
import geotracs.views.maps.layers as layers
from geotracs.errors import InputError

Ground = list[tuple[str, list[dict[str, Any]]]]
"""Kinds of shapes, from below to above, and shapes for GeoJSON."""
DIGITS = 3
"""Of a degree, for coasts: a hundred metres."""
FINEST = 4000
"""Layers of the user's are drawn no finer than the view divided by this."""
AROUND = 1.0
"""How far beyond what is in view they reach, beside its size."""
KINDS = ("areas", "streets", "spots")
"""By the dimension of shapes: 2, 1, 0."""


@dataclass(frozen=True, repr=False)
class Backdrop:
    """What the user wants below a map.

    Attributes
    ----------
    own : list of GeoDataFrame or GeoSeries
        Layers of the user's.
    coasts : bool
        Whether land and borders are drawn: tiles show them already.
    """

    own: list[Any] = field(default_factory=list)
    coasts: bool = True

    @classmethod
    def of(cls, background: Any, coasts: bool) -> "Backdrop":
        """Check the argument ``background``: a layer, several of them, or False for nothing at all."""
        if background is None or background is False:
            return cls([], coasts and background is None)
        own = [background] if isinstance(background, (gpd.GeoDataFrame, gpd.GeoSeries)) else background
        if not isinstance(own, Sequence) or isinstance(own, str):
            raise InputError("`background` must be a GeoDataFrame or GeoSeries, a list of them, or False.")
        for layer in own:
            if not isinstance(layer, (gpd.GeoDataFrame, gpd.GeoSeries)) or layer.crs is None:
                raise InputError("Every layer of `background` must be a GeoDataFrame or GeoSeries with a CRS.")
        return cls(list(own), coasts)

    def around(self, bounds: list[list[float]] | None) -> Ground:
        """Return what is drawn around a view, (south, west) and (north, east)."""
        if bounds is None:
            return []
        (south, west), (north, east) = bounds
        found: Ground = []
        if self.coasts:
            land, borders = ground.around((west, south, east, north))
            found += [("land", _drawn(land, DIGITS)), ("border", _drawn(borders, DIGITS))]
        for layer in self.own:
            found += _layer(layer, (west, south, east, north))
        return [(kind, shapes) for kind, shapes in found if shapes]


def _layer(layer: gpd.GeoDataFrame | gpd.GeoSeries, view: tuple[float, float, float, float]) -> Ground:
    """Return a layer of the user's near a view, areas first and points last."""
    west, south, east, north = view
    size = max(east - west, north - south, 1e-4)
    parts = layers.placed(layer.geometry, (west + east) / 2)
    parts = shapely.get_parts(shapely.simplify(parts, size / FINEST))
    reach = AROUND * size
    parts = shapely.clip_by_rect(parts, west - reach, south - reach, east + reach, north + reach)
    parts = shapely.get_parts(parts[~shapely.is_empty(parts)])
    dimension = shapely.get_dimensions(parts)
    return [(kind, _drawn(parts[dimension == 2 - number], layers.DIGITS)) for number, kind in enumerate(KINDS)]


def _drawn(shapes: np.ndarray, digits: int) -> list[dict[str, Any]]:
    fine = shapely.set_precision(shapes, 10.0**-digits, mode="pointwise")
    return [shape.__geo_interface__ for shape in fine if not shape.is_empty]
