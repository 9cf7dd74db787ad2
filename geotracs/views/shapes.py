"""Shapes and numbers that maps and plots of answers share: which answer a frame is, arrows, tubes, naive shares."""

import itertools
from typing import Any

import geopandas as gpd
import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

import geotracs.geo.tracks as frames
from geotracs.core.guarantee import recorded
from geotracs.errors import InputError

ESTIMATES = {"share", "low", "high"}
"""Columns of every estimate..."""
FLOWS = {"origin", "destination", *ESTIMATES}
"""...and those of flows."""
BEND = 0.16
"""How far an arrow is bent to its right, beside its length: the way back is then beside it."""
WIDEST = 0.022
"""How wide the widest arrow is, beside the extent of all of them."""
CORNERS = 24
"""Of a circle."""
HEAD = 0.016
"""How long and wide the head of a thin arrow is, beside that extent."""


def answer_of(frame: gpd.GeoDataFrame) -> str | None:
    """Return which answer a frame is: "density", "flows" or "reconstruct"; None for tracks.

    Estimates are known by their columns. A track of which the radius is known may be anybody's, such as a receiver's:
    only the record says that it was reconstructed.
    """
    columns = {column for column in frame.columns if isinstance(column, str)}
    if columns >= FLOWS:
        return "flows"
    if columns >= ESTIMATES:
        return "density"
    if "radius" in columns and made_by(frame).get("kind") == "reconstruct":
        return "reconstruct"
    return None


def role_of(frame: gpd.GeoDataFrame) -> str:
    """Return what the tracks of a frame alone are: "original", "perturbed", "reconstructed" or "synthetic"."""
    kind = made_by(frame).get("kind")
    named = {"reconstruct": "reconstructed", "synthesize": "synthetic"}
    return named.get(str(kind), "perturbed") if recorded(frame.attrs) else "original"


def made_by(frame: gpd.GeoDataFrame) -> dict[str, Any]:
    """Return what the record of an answer says of how it was computed; nothing for anything else."""
    return dict(recorded(frame.attrs).get("answer") or {})


def level_of(frame: gpd.GeoDataFrame) -> str:
    """Return the level of a frame's intervals in words, as far as the record says it."""
    level = made_by(frame).get("level")
    return f"{level:.0%} interval" if isinstance(level, float) else "interval"


def counted(zones: gpd.GeoDataFrame) -> str:
    """Return how many zones, or places, there are in words."""
    word = "place" if len(zones) and np.all(zones.geom_type == "Point") else "zone"
    return f"{len(zones):,} {word}{'' if len(zones) == 1 else 's'}"


def unclear(frame: gpd.GeoDataFrame) -> np.ndarray:
    """Return which shares are not known: their interval is wider than the share itself."""
    return np.asarray(width(frame) > numbers(frame, "share"))


def naive(zones: gpd.GeoDataFrame, tracks: gpd.GeoDataFrame) -> np.ndarray:
    """Return the share of locations that lie in each zone; of places, that have it as the nearest one.

    A location on a common border counts for the first of its zones.
    """
    xy = shapely.get_coordinates(np.asarray(tracks.geometry.dropna().to_crs(zones.crs).values))
    if len(xy) == 0:
        return np.zeros(len(zones))
    points = shapely.points(xy)
    if np.all(zones.geom_type == "Point"):
        which = zones.sindex.nearest(points, return_all=False)[1]
    else:
        number, zone = zones.sindex.query(points, predicate="intersects")
        order = np.lexsort((zone, number))
        which = zone[order][np.unique(number[order], return_index=True)[1]]
    return np.bincount(which, minlength=len(zones)) / len(xy)


def drawable(frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return the rows of an answer that have a shape."""
    return frame[~(frame.geometry.isna() | frame.geometry.is_empty)]


def largest(flows: gpd.GeoDataFrame, most: int) -> list[np.ndarray]:
    """Return the numbers of the largest flows that are clear, and of the largest that are not."""
    if "when" in flows.columns and len(flows["when"].unique()) > 1:
        raise InputError("Flows of one time window are drawn at a time: flows[flows['when'] == ...].")
    share, vague = numbers(flows, "share"), unclear(flows)
    order = np.argsort(-share, kind="stable")
    order = order[share[order] > 0]
    return [order[~vague[order]][:most], order[vague[order]][:most]]


def ends(flows: gpd.GeoSeries) -> np.ndarray:
    """Return where flows start, and then where they end."""
    lines = np.asarray(flows.values)
    if not np.all(shapely.get_type_id(lines) == shapely.GeometryType.LINESTRING):
        raise InputError("Flows must be lines, from the origin to the destination.")
    return np.concatenate([shapely.get_coordinates(shapely.get_point(lines, at)) for at in (0, -1)])


def tubes(xy: np.ndarray, offsets: np.ndarray, radius: np.ndarray, within: BaseGeometry | None = None) -> np.ndarray:
    """Return the area around each track that its radius spans: where it is well known, and where it is not.

    Parameters
    ----------
    xy : array of shape (n, 2)
        Locations, track after track.
    offsets : array of int
        Where each track begins, and n at the end.
    radius : array of shape (n, 2)
        Along x and y, in their units. A location is well known if its radius is at most twice the median of all.
    within : shapely geometry, optional
        What the tracks do not leave: the public region.

    Returns
    -------
    array of shape (tracks, 2)
        Areas, some of them empty.

    Examples
    --------
    >>> tube = tubes(np.array([[0.0, 0.0], [10.0, 0.0]]), np.array([0, 2]), np.ones((2, 2)))[0, 0]
    >>> tuple(round(side, 6) for side in tube.bounds)
    (-1.0, -1.0, 11.0, 1.0)
    """
    angles = np.arange(CORNERS) * (2 * np.pi / CORNERS)
    rings = xy[:, None] + radius[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    known = radius[:, 1] <= 2 * np.median(radius[:, 1]) if len(radius) else np.zeros(0, dtype=bool)
    found = np.empty((len(offsets) - 1, 2), dtype=object)
    for number, (first, last) in enumerate(itertools.pairwise(offsets.tolist())):
        own, good = rings[first:last], known[first:last]
        if len(own) > 1:
            own, good = np.concatenate([own[:-1], own[1:]], axis=1), good[:-1] & good[1:]
        hulls = shapely.convex_hull(shapely.linestrings(own))
        found[number] = shapely.union_all(hulls[good]), shapely.union_all(hulls[~good])
    return found if within is None else np.asarray(shapely.intersection(found, within))


def arrows(starts: np.ndarray, ends: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return an arrow for each flow, as wide as its share; a disc where it ends in the zone in which it starts.

    Parameters
    ----------
    starts, ends : array of shape (n, 2)
        In a plane.
    shares : array of shape (n,)
        Not negative.
    """
    if len(starts) == 0:
        return np.empty(0, dtype=object)
    corners = np.concatenate([starts, ends])
    extent = float(np.hypot(*np.ptp(corners, axis=0))) or 1.0
    stays = np.all(starts == ends, axis=1)
    found = np.empty(len(starts), dtype=object)
    for own in (stays, ~stays):
        relative = shares[own] / (shares[own].max(initial=0.0) or 1.0)
        if own is stays:
            found[own] = shapely.buffer(shapely.points(starts[own]), 1.6 * WIDEST * extent * np.sqrt(relative))
        else:
            width = WIDEST * extent * relative
            parts = zip(starts[own], ends[own], width.tolist(), strict=True)
            found[own] = [_arrow(start, end, wide, HEAD * extent) for start, end, wide in parts]
    return found


def _arrow(start: np.ndarray, end: np.ndarray, width: float, head: float) -> shapely.Polygon:
    """Return an arrow from near its start to near its end, bent to its right."""
    way = end - start
    middle = (start + end) / 2 + BEND * np.array([way[1], -way[0]])
    length = float(np.hypot(*way))
    away = min(head / length, 0.2)  # beside the disc of what stays
    t = np.linspace(away, 1 - away, 25)[:, None]
    curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
    head = min(head + width, 0.4 * length)
    left = np.hypot(*(curve - curve[-1]).T) > head
    left[:2] = True  # a body, however short
    body = curve[left]
    along = np.gradient(body, axis=0)
    normal = np.column_stack([-along[:, 1], along[:, 0]]) / np.hypot(*along.T)[:, None]
    sides = [body + sign * width / 2 * normal for sign in (1, -1)]
    wings = [body[-1] + sign * (0.35 * head + 0.4 * width) * normal[-1] for sign in (1, -1)]
    return shapely.Polygon([*sides[0], wings[0], curve[-1], wings[1], *sides[1][::-1]])


def numbers(frame: gpd.GeoDataFrame, column: str) -> np.ndarray:
    """Return a column of an estimate; missing values are 0."""
    try:
        return np.nan_to_num(frame[column].to_numpy(dtype=np.float64))
    except (TypeError, ValueError):  # which quote values
        raise InputError(f"The column {column!r} of an estimate must hold numbers.") from None


def width(frame: gpd.GeoDataFrame) -> np.ndarray:
    """Return how wide the interval of each share is."""
    return numbers(frame, "high") - numbers(frame, "low")


def check(
    estimate: Any, columns: set[str], release: gpd.GeoDataFrame | None = None, truth: gpd.GeoDataFrame | None = None
) -> None:
    """Raise unless a frame is an answer with these columns, and what is drawn beside it are tracks."""
    frames.check(estimate, "answer")
    missing = sorted(columns - set(estimate.columns))
    if missing:
        raise InputError(f"The answer must have the columns {sorted(columns)}; it lacks {missing}.")
    for name, frame in (("release", release), ("original frame", truth)):
        if frame is not None:
            frames.check(frame, name)
