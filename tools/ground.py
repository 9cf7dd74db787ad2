"""Pack coasts and borders of the world, as `geotracs.views.ground` reads them: from npm's world-atlas (Natural Earth).

Run as ``python -m tools.ground countries-10m.json``, the file of the npm package world-atlas@2.0.2.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import shapely

TARGET = Path(__file__).parents[1] / "geotracs" / "views" / "ground" / "world.npz"
TOLERANCE = 0.015
"""In degrees: more than a kilometre, so that coasts are coarse."""
SMALLEST = 1e-3
"""Islands smaller than this, in square degrees, are left out."""
STEP = 1e-3
"""In degrees: coordinates are whole numbers of these."""


def main(source: str) -> None:
    """Read the topology, and write what is kept of it."""
    topology = json.loads(Path(source).read_text())
    scale, low = (np.array(topology["transform"][key]) for key in ("scale", "translate"))
    arcs = [shapely.LineString(np.cumsum(np.array(arc), axis=0) * scale + low) for arc in topology["arcs"]]
    arcs = [shapely.get_coordinates(arc) for arc in shapely.simplify(arcs, TOLERANCE, preserve_topology=True)]
    land = [ring for polygon in polygons(topology["objects"]["land"]) for ring in rings(polygon, arcs)]
    land = [ring for ring in land if len(ring) > 3 and shapely.Polygon(ring).area > SMALLEST]
    used = Counter(
        number if number >= 0 else ~number
        for polygon in polygons(topology["objects"]["countries"])
        for number in {arc if arc >= 0 else ~arc for ring in polygon for arc in ring}
    )
    borders = [arcs[number] for number, times in used.items() if times > 1]
    TARGET.parent.mkdir(exist_ok=True)
    np.savez_compressed(TARGET, **packed("land", land), **packed("borders", borders))


def polygons(shape: dict) -> list[list[list[int]]]:
    """Return polygons as lists of rings of numbers of arcs."""
    if shape["type"] == "GeometryCollection":
        return [polygon for part in shape["geometries"] for polygon in polygons(part)]
    if shape["type"] == "Polygon":
        return [shape["arcs"]]
    return list(shape["arcs"]) if shape["type"] == "MultiPolygon" else []


def rings(polygon: list[list[int]], arcs: list[np.ndarray]) -> list[np.ndarray]:
    """Return the outer ring of a polygon; lakes are left out."""
    parts = [arcs[number] if number >= 0 else arcs[~number][::-1] for number in polygon[0]]
    return [np.concatenate([parts[0], *(part[1:] for part in parts[1:])])]


def packed(name: str, lines: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Return where lines start, in whole numbers, the steps from corner to corner, and how many steps each has."""
    whole = [np.rint(line / STEP).astype(np.int32) for line in lines]
    steps = np.concatenate([np.diff(line, axis=0) for line in whole])
    while np.abs(steps).max() > np.iinfo(np.int16).max:  # along the edges of the map
        whole = [halved(line) for line in whole]
        steps = np.concatenate([np.diff(line, axis=0) for line in whole])
    lengths = np.array([len(line) - 1 for line in whole], dtype=np.int32)
    first = np.array([line[0] for line in whole])
    return {f"{name}_first": first, f"{name}_steps": steps.T.astype(np.int16), f"{name}_lengths": lengths}


def halved(line: np.ndarray) -> np.ndarray:
    """Return a line with a corner more in the middle of each long step."""
    far = np.flatnonzero(np.abs(np.diff(line, axis=0)).max(axis=1) > np.iinfo(np.int16).max)
    return np.insert(line, far + 1, (line[far] + line[far + 1]) // 2, axis=0)


if __name__ == "__main__":
    main(sys.argv[1])
