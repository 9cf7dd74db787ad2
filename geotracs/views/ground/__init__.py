"""What lies below offline maps: coarse coasts and borders of the world, from Natural Earth."""

from functools import cache, partial
from importlib.resources import as_file, files

import numpy as np
import shapely

STEP = 1e-3
"""In degrees: coordinates in the file are whole numbers of these."""
AROUND = 1.5
"""How far beyond what is in view the ground reaches, beside its size."""
FINEST = 1200
"""Nothing is drawn that is finer than the view divided by this."""
CLOSEST = 0.3
"""In degrees: of a view smaller than this coasts that are off by a kilometre would mislead."""
WIDEST = 720.0
"""Degrees across: twice around the Earth. Damaged coordinates may be anywhere."""


def around(bounds: tuple[float, float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return land and borders around a view, as polygons and lines in degrees.

    Parameters
    ----------
    bounds : (west, south, east, north)
        In degrees; longitudes may go beyond 180.

    Returns
    -------
    arrays of shapely geometries
        Both empty for a view in which coasts would be too coarse, and for one that is no view of the Earth.

    Examples
    --------
    >>> land, borders = around((5.0, 45.0, 9.0, 48.0))  # Switzerland
    >>> len(land) > 0, len(borders) > 0
    (True, True)
    >>> len(around((139.70, 35.65, 139.71, 35.66))[0])
    0
    """
    west, south, east, north = bounds
    size = max(east - west, north - south)
    nothing = np.empty(0, dtype=object)
    if not CLOSEST <= size <= WIDEST:
        return nothing, nothing
    reach = AROUND * size
    across = min(reach, 180.0)
    box = (west - across, max(south - reach, -85.0), east + across, min(north + reach, 85.0))
    land, borders = (_clipped(shapes, box, size / FINEST) for shapes in _world())
    return land, borders


def _clipped(shapes: np.ndarray, box: tuple[float, float, float, float], finest: float) -> np.ndarray:
    """Return what of the shapes lies in a box, which may be more than once around the world."""
    found = []
    for turn in range(int(np.floor((box[0] + 180) / 360)), int(np.floor((box[2] + 180) / 360)) + 1):
        near = shapely.box(box[0] - 360 * turn, box[1], box[2] - 360 * turn, box[3])
        own = shapes[shapely.STRtree(shapes).query(near)]
        own = own[np.ptp(shapely.bounds(own).reshape(-1, 2, 2), axis=1).max(axis=1, initial=0) > 2 * finest]
        own = shapely.clip_by_rect(shapely.simplify(own, finest), *near.bounds)
        own = own[~shapely.is_empty(own)]
        found.append(shapely.transform(own, partial(np.add, np.array([360 * turn, 0]))))
    return np.concatenate(found)


@cache
def _world() -> tuple[np.ndarray, np.ndarray]:
    """Return all land, and all borders."""
    with as_file(files("geotracs.views.ground").joinpath("world.npz")) as path, np.load(path) as packed:
        coasts, borders = (
            _lines(*(packed[f"{name}_{part}"] for part in ("first", "steps", "lengths")))
            for name in ("land", "borders")
        )
    land = shapely.make_valid(np.array([shapely.Polygon(line) for line in coasts], dtype=object))
    return land, np.array([shapely.LineString(line) for line in borders], dtype=object)


def _lines(first: np.ndarray, steps: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    """Return the corners of each line, in degrees."""
    ends = np.cumsum(lengths)[:-1]
    parts = zip(first, np.split(steps.T.astype(np.int64), ends), strict=True)
    corner = np.zeros((1, 2), dtype=np.int64)
    return [STEP * (start + np.concatenate([corner, np.cumsum(own, axis=0)])) for start, own in parts]
