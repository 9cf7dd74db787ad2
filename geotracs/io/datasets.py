"""A generated city to try things on: no download, no real person."""

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from geotracs.errors import InputError

ORIGIN = (13.21, -20.26)
"""Where the coast of the sample city begins: an empty shore of the Namib, so that no real street is under a track."""
ALONG, INLAND = np.array([0.497, -0.868]), np.array([0.868, 0.497])
METRES_PER_DEGREE = 111_320 * np.array([np.cos(np.radians(ORIGIN[1])), 1.0])

SPACING = 220.0
SPEEDS = {"walk": 5.0, "bike": 15.0, "car": 34.0}
FIX_EVERY = 20.0
REST_EVERY = 1800.0
NOISE = 5.0
KINDS = ["café", "market", "school", "clinic", "library", "gym", "park", "bakery", "museum", "office"]
NAMES = [
    "Heron",
    "Dune",
    "Harbour",
    "Acacia",
    "Lantern",
    "Granite",
    "Oryx",
    "Mist",
    "Pelican",
    "Quartz",
    "Salt",
    "Tern",
]


class SampleCity(NamedTuple):
    """What `sample_city` returns: three GeoDataFrames in EPSG:4326."""

    tracks: gpd.GeoDataFrame
    pois: gpd.GeoDataFrame
    boundary: gpd.GeoDataFrame


class Streets(NamedTuple):
    """A street network: node coordinates in metres and the minutes of each street by car."""

    nodes: np.ndarray
    minutes: csr_array


def sample_city(people: int = 50, days: int = 1, seed: int = 0) -> SampleCity:
    """Generate a coastal city and a few days of its people's movements.

    People live and work in it, go by foot, bicycle or car along its streets, rest at places, and are located every
    20 seconds on the way and every half hour otherwise, to about 5 m.

    Parameters
    ----------
    people, days : int
        How many people are followed, for how long.
    seed : int
        The same seed gives the same city and the same movements.

    Returns
    -------
    SampleCity
        ``tracks`` (person, t, mode, speed), ``pois`` (name, kind) and ``boundary`` (name), all in EPSG:4326.

    Examples
    --------
    >>> city = sample_city(people=2, seed=1)
    >>> list(city.tracks.columns)
    ['person', 't', 'mode', 'speed', 'geometry']
    >>> bool(city.tracks.within(city.boundary.geometry[0]).all())
    True
    """
    if people < 1 or days < 1:
        raise InputError("`people` and `days` must be at least 1.")
    rng = np.random.default_rng(seed)
    outline = _outline(rng)
    streets = _streets(outline, rng)
    pois, poi_nodes = _pois(streets, rng)
    trips = _trips(streets, poi_nodes, people, days, rng)
    tracks = _follow(trips, streets, rng)
    xy = tracks.pop("xy").to_list()
    boundary = gpd.GeoDataFrame({"name": ["Skeleton Bay"]}, geometry=[_to_degrees(outline)], crs="EPSG:4326")
    return SampleCity(
        gpd.GeoDataFrame(tracks, geometry=_points(np.array(xy), outline), crs="EPSG:4326"), pois, boundary
    )


def _outline(rng: np.random.Generator) -> shapely.Polygon:
    """Return a bay with a headland on one side, hills on the other; metres along the coast and inland."""
    along = np.linspace(-7000, 7000, 240)
    phase = rng.uniform(0, 2 * np.pi, 3)
    coast = 900 * np.cos(along / 2300) + 260 * np.sin(along / 640 + phase[0]) + 80 * np.sin(along / 190 + phase[1])
    angle = np.linspace(0.03, np.pi - 0.03, 120)
    hills = 1 + 0.07 * np.sin(5 * angle + phase[2]) + 0.03 * np.sin(13 * angle)
    ends = np.linspace(coast[-1], coast[0], len(angle))
    inland = np.column_stack([7000 * np.cos(angle), ends + 7600 * np.sin(angle) * hills])
    return shapely.Polygon(np.vstack([np.column_stack([along, coast]), inland]))


def _streets(outline: shapely.Polygon, rng: np.random.Generator) -> Streets:
    """Return a bent grid of streets inside the outline; every fifth street is a fast one, some blocks are missing."""
    xmin, ymin, xmax, ymax = outline.bounds
    columns, rows = int((xmax - xmin) / SPACING), int((ymax - ymin) / SPACING)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(columns), np.arange(rows), indexing="ij"))
    nodes = np.column_stack([xmin + (i + 0.5) * SPACING, ymin + (j + 0.5) * SPACING])
    nodes += np.column_stack([120 * np.sin(nodes[:, 1] / 1500), 150 * np.sin(nodes[:, 0] / 1900)])
    nodes += rng.normal(0, 14, nodes.shape)
    number = np.arange(len(nodes))
    east, north = number[i < columns - 1], number[j < rows - 1]
    a, b = np.concatenate([east, north]), np.concatenate([east + rows, north + 1])
    fast = np.concatenate([j[east] % 5 == 0, i[north] % 5 == 0])
    lines = shapely.linestrings(np.stack([nodes[a], nodes[b]], axis=1))
    built = shapely.contains(outline.buffer(-60), lines) & (fast | (rng.random(len(a)) > 0.15))
    a, b, fast = a[built], b[built], fast[built]
    speed = np.where(fast, 1.6, 0.8) * SPEEDS["car"] * 1000 / 60
    minutes = np.hypot(*(nodes[a] - nodes[b]).T) / speed
    ends = a.astype(np.int32), b.astype(np.int32)  # older scipy finds no ways by wider numbers
    graph = csr_array((minutes, ends), shape=(len(nodes), len(nodes)))
    _, part = connected_components(graph, directed=False)
    main = np.flatnonzero(part == np.bincount(part).argmax())
    return Streets(nodes[main], csr_array(graph[main][:, main]))


def _pois(streets: Streets, rng: np.random.Generator) -> tuple[gpd.GeoDataFrame, np.ndarray]:
    nodes = rng.choice(len(streets.nodes), size=320, replace=False, p=_centrality(streets, 2600))
    kind = rng.choice(KINDS, size=len(nodes))
    first, second = rng.choice(NAMES, size=(2, len(nodes)))
    name = [f"{a} {b} {k}" if a != b else f"Old {a} {k}" for a, b, k in zip(first, second, kind, strict=True)]
    xy = streets.nodes[nodes] + rng.normal(0, 12, (len(nodes), 2))
    return gpd.GeoDataFrame({"name": name, "kind": kind}, geometry=_points(xy), crs="EPSG:4326"), nodes


def _trips(streets: Streets, pois: np.ndarray, people: int, days: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return who goes from where to where, and when: home, work, lunch, an errand, home."""
    homes = rng.choice(len(streets.nodes), size=people, p=_centrality(streets, 6000))
    works = rng.choice(len(streets.nodes), size=people, p=_centrality(streets, 1300))
    trips = []
    for person in range(people):
        for day in range(days):
            leave, lunch, leisure = rng.normal(8, 0.8), rng.random() < 0.45, rng.random() < 0.6
            near = pois[np.argsort(np.hypot(*(streets.nodes[pois] - streets.nodes[works[person]]).T))[:8]]
            stops = [(leave, works[person])]
            if lunch:
                stops += [(12 + rng.random(), rng.choice(near)), (13.4 + rng.random() / 2, works[person])]
            stops += [(17 + rng.normal(0, 0.6), rng.choice(pois))] if leisure else []
            stops += [(19.5 + rng.normal(0, 0.7), homes[person])]
            origins = [homes[person], *[node for _, node in stops[:-1]]]
            trips += [(person, day, hour, a, b) for (hour, b), a in zip(stops, origins, strict=True) if a != b]
    return pd.DataFrame(trips, columns=["person", "day", "hour", "origin", "destination"])


def _follow(trips: pd.DataFrame, streets: Streets, rng: np.random.Generator) -> pd.DataFrame:
    """Turn trips into fixes along the fastest streets, and rests between them."""
    origins, row = np.unique(trips["origin"], return_inverse=True)
    _, before = dijkstra(streets.minutes, directed=False, indices=origins, return_predecessors=True)
    parts, midnight = [], pd.Timestamp("2026-03-02", tz="UTC")
    arrival: dict[int, float] = {}
    rows: Iterable[Any] = trips.itertuples(index=False)
    for trip, source in zip(rows, row, strict=True):
        path = [trip.destination]
        while path[-1] != trip.origin:
            path.append(before[source, path[-1]])
        line = streets.nodes[path[::-1]]
        along = np.append(0, np.cumsum(np.hypot(*np.diff(line, axis=0).T)))
        mode = "walk" if along[-1] < 1200 else rng.choice(["bike", "car"], p=[0.35, 0.65])
        speed = SPEEDS[mode] * rng.normal(1, 0.08)
        begin = (trip.day * 24 + trip.hour) * 3600
        seconds = np.arange(0, along[-1] / (speed / 3.6), FIX_EVERY)
        at = seconds * speed / 3.6
        way = np.column_stack([np.interp(at, along, line[:, axis]) for axis in (0, 1)])
        rest = np.arange(arrival.get(trip.person, begin - 4 * 3600), begin, REST_EVERY)
        parts += [_fixes(trip.person, rest, "rest", 0.0, np.repeat(line[:1], len(rest), axis=0))]
        parts += [_fixes(trip.person, begin + seconds, mode, speed, way)]
        arrival[trip.person] = begin + seconds[-1] + FIX_EVERY
    fixes = pd.concat(parts, ignore_index=True)
    fixes["xy"] = list(np.stack(fixes["xy"].tolist()) + rng.normal(0, NOISE, (len(fixes), 2)))
    fixes["t"] = (midnight + pd.to_timedelta(fixes["t"], unit="s")).dt.round("s")
    return fixes.sort_values(["person", "t"], kind="stable", ignore_index=True)


def _fixes(person: int, seconds: np.ndarray, mode: str, speed: float, xy: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(
        {"person": person, "t": seconds, "mode": mode, "speed": round(speed, 1), "xy": list(xy)},
        index=range(len(seconds)),
    )


def _centrality(streets: Streets, reach: float) -> np.ndarray:
    """Return how likely a node is chosen: the city is dense behind the bay and thins out with distance."""
    weight = np.exp(-np.hypot(streets.nodes[:, 0], streets.nodes[:, 1] - 2200) / reach)
    return weight / weight.sum()


def _points(xy: np.ndarray, outline: shapely.Polygon | None = None) -> np.ndarray:
    points = cast(np.ndarray, shapely.points(xy))
    if outline is not None:
        astray = ~shapely.contains_properly(outline.buffer(-1), points)
        points[astray] = shapely.line_interpolate_point(shapely.shortest_line(outline.buffer(-2), points[astray]), 0)
    return shapely.transform(points, _degrees)


def _to_degrees(outline: shapely.Polygon) -> shapely.Polygon:
    return shapely.transform(outline, _degrees)


def _degrees(xy: np.ndarray) -> np.ndarray:
    return ORIGIN + (xy[:, :1] * ALONG + xy[:, 1:] * INLAND) / METRES_PER_DEGREE
