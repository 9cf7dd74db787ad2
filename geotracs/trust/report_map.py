"""A picture of the public region, as SVG: its border, a scale, and circles to compare distances with. No location."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from geotracs.geo.region import Region

WIDTH, MARGIN, BELOW = 640.0, 12.0, 30.0
TALLEST = 1.2
"""How tall the picture is at most, beside its width."""
CORNERS = 1500
"""A border is drawn with at most about so many corners."""


def extent(region: Region) -> dict[str, Any]:
    """Return how large a region is, in kilometres; nothing for one in degrees, such as the globe.

    Examples
    --------
    >>> import pyproj, geotracs.geo.region as regions
    >>> from geotracs.geo.originals import Originals
    >>> square = regions.resolve((0, 0, 20_000, 10_000), Originals.nobody(pyproj.CRS("EPSG:32654")))
    >>> extent(square)
    {'width_km': 20.0, 'height_km': 10.0, 'area_km2': 200.0}
    """
    if region.domain.in_degrees:
        return {}
    km = metres(region) / 1000
    xmin, ymin, xmax, ymax = region.domain.outline.bounds
    area = float(region.domain.outline.area) * km**2
    return {
        "width_km": _rounded((xmax - xmin) * km),
        "height_km": _rounded((ymax - ymin) * km),
        "area_km2": _rounded(area),
    }


def metres(region: Region) -> float:
    """Return how many metres a unit of the working CRS is."""
    return float(region.crs.axis_info[0].unit_conversion_factor)


def svg(region: Region, circles: Sequence[tuple[str, float]] = ()) -> str:
    """Return a map of a region.

    Parameters
    ----------
    circles : list of (class, metres)
        Circles around a point inside the region, to compare their radius with it; the classes are for a style sheet.
    """
    shape = region.domain.outline
    xmin, ymin, xmax, ymax = shape.bounds
    scale = min((WIDTH - 2 * MARGIN) / (xmax - xmin), (TALLEST * WIDTH - 2 * MARGIN) / (ymax - ymin))
    left = (WIDTH - scale * (xmax - xmin)) / 2
    height = scale * (ymax - ymin) + 2 * MARGIN

    def place(xy: np.ndarray) -> np.ndarray:
        return np.column_stack([left + scale * (xy[:, 0] - xmin), MARGIN + scale * (ymax - xy[:, 1])])

    parts = [f'<path class="region" fill-rule="evenodd" d="{_path(_simple(shape), place)}"/>']
    if not region.domain.in_degrees:
        per_metre = scale / metres(region)
        middle = place(shapely.get_coordinates(shape.representative_point()))[0]
        parts += [_circle(name, middle, radius * per_metre) for name, radius in circles]
        parts.append(_scale(per_metre, height))
    box = f'viewBox="0 0 {WIDTH:g} {height + BELOW:.1f}"'
    return f'<svg class="map" {box} role="img" aria-label="The public region">{"".join(parts)}</svg>'


def _simple(shape: BaseGeometry) -> BaseGeometry:
    """Return a shape with fewer corners."""
    xmin, ymin, xmax, ymax = shape.bounds
    step = max(xmax - xmin, ymax - ymin) / 4000
    while shapely.get_num_coordinates(shape) > CORNERS and step < max(xmax - xmin, ymax - ymin) / 50:
        shape, step = shapely.simplify(shape, step), 2 * step
    return shape


def _path(shape: BaseGeometry, place: Any) -> str:
    rings = [ring for part in shapely.get_parts(shape) for ring in (part.exterior, *part.interiors)]
    return "".join(f"M{_corners(place(shapely.get_coordinates(ring)[:-1]))}Z" for ring in rings)


def _corners(xy: np.ndarray) -> str:
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in xy.tolist())


def _circle(name: str, middle: np.ndarray, radius: float) -> str:
    x, y = middle.tolist()
    return f'<circle class="{name}" cx="{x:.1f}" cy="{y:.1f}" r="{max(radius, 2.0):.1f}"/>'


def _scale(per_metre: float, top: float) -> str:
    """Return a scale bar of a round length, about a fifth of the picture."""
    wanted = WIDTH / 5 / per_metre
    power = 10.0 ** math.floor(math.log10(wanted))
    length = max(step * power for step in (1, 2, 5) if step * power <= wanted)
    words = f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"
    x, y = MARGIN, top + BELOW / 2
    end = x + length * per_metre
    line = f"M{x:.1f} {y - 5:.1f}V{y:.1f}H{end:.1f}V{y - 5:.1f}"
    return f'<path class="scale" d="{line}"/><text x="{end + 8:.1f}" y="{y + 4:.1f}">{words}</text>'


def _rounded(number: float) -> float:
    return float(f"{number:.3g}")
