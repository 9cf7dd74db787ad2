"""Answers made by hand: frames with the columns and the record of real ones, quick to make."""

import geopandas as gpd
import numpy as np
import shapely

import geotracs
from geotracs.views import shapes


def released(tracks, bounds, eps=4):
    return tracks.tracs.perturb(eps, domain=bounds, trajectory="person", time="t", keep=[])


def cells(bounds, n, crs=4326):
    """A grid of n x n zones."""
    x, y = (np.linspace(low, high, n + 1) for low, high in zip(bounds[:2], bounds[2:], strict=True))
    boxes = [shapely.box(x[i], y[j], x[i + 1], y[j + 1]) for j in range(n) for i in range(n)]
    return gpd.GeoDataFrame({"name": [f"zone {i}" for i in range(n * n)]}, geometry=boxes, crs=crs)


def answered(frame, private, **answer):
    frame.attrs["tracs"] = {**private.attrs["tracs"], "answer": answer}
    return frame


def density(zones, tracks, private, half=0.1):
    """Shares of the tracks themselves, of which those below 0.2 are unclear."""
    share = shapes.naive(zones, tracks)
    columns = {"share": share, "count": share * len(private), "low": np.maximum(share - half, 0), "high": share + half}
    return answered(zones.assign(**columns), private, kind="density", level=0.9)


def flows(private):
    """From a to b and back, within a, and nothing within b; the way back is unclear."""
    a, b = shapely.Point(139.6, 35.6), shapely.Point(139.8, 35.8)
    ends = {("a", "a"): (a, a), ("a", "b"): (a, b), ("b", "a"): (b, a), ("b", "b"): (b, b)}
    frame = gpd.GeoDataFrame(
        {
            "origin": [pair[0] for pair in ends],
            "destination": [pair[1] for pair in ends],
            "share": [0.5, 0.4, 0.1, 0.0],
            "count": [50.0, 40.0, 10.0, 0.0],
            "low": [0.4, 0.3, 0.0, 0.0],
            "high": [0.6, 0.5, 0.3, 0.05],
        },
        geometry=[shapely.LineString(pair) for pair in ends.values()],
        crs=4326,
    )
    return answered(frame, private, kind="flows", level=0.8)


def reconstructed(tracks, private, radius=500.0):
    """The tracks moved by some metres, as if they had been found again."""
    moved = private.set_geometry(tracks.geometry.translate(0.001, 0.001)).assign(radius=radius)
    return digested(answered(moved, private, kind="reconstruct", level=0.9))


def synthetic(private):
    """Two lines that are nobody's."""
    lines = [shapely.LineString([(139.6, 35.6), (139.7, 35.7)]), shapely.LineString([(139.7, 35.6), (139.6, 35.8)])]
    trips = answered(gpd.GeoDataFrame({"trip": [0, 1]}, geometry=lines, crs=4326), private, kind="synthesize")
    return digested(trips)


def digested(frame):
    xy = shapely.get_coordinates(frame.geometry.values)
    frame.attrs["tracs"]["digest"] = {"crs": "EPSG:4326", **geotracs.core.digest.Digest.of(xy).to_record()}
    return frame
