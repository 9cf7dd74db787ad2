"""How one gets from one location to another: straight on, along a public network, or from public place to place."""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import shapely
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import Delaunay, cKDTree

from geotracs.errors import InputError

AT_ONCE = 2**23
"""How many predecessors on shortest ways are held at a time."""
SMALLEST = 3
"""Up to this many places are all joined to each other."""
NOWHERE = -9999
"""What scipy calls the predecessor of a node that has none."""


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """Nodes and the ways between neighbours; only the largest connected part is used.

    Attributes
    ----------
    nodes : array of shape (n, 2)
        Where they are.
    graph : sparse array of shape (n, n)
        How far it is from each node to its neighbours; symmetric.
    ends : array of int
        The nodes where trips begin and end: junctions and dead ends, or all places.
    part : float
        Which part of all nodes that were given the largest connected one has.

    Examples
    --------
    >>> streets = [shapely.LineString([(0, 0), (4, 0), (4, 3)]), shapely.LineString([(4, 0), (9, 0)])]
    >>> network = Network.of_lines(np.array(streets))
    >>> network.ways(network.nearest([[0, 1]]), network.nearest([[5, 3]]))[0].wkt
    'LINESTRING (0 0, 4 0, 4 3)'
    """

    nodes: np.ndarray
    graph: csr_array
    ends: np.ndarray
    part: float

    @classmethod
    def of_lines(cls, lines: np.ndarray) -> "Network":
        """Return the network of some lines, which meet where they have a vertex in common."""
        xy, line = shapely.get_coordinates(lines, return_index=True)
        nodes, number = np.unique(xy, axis=0, return_inverse=True)
        number = number.reshape(-1)
        same = line[1:] == line[:-1]
        nodes, graph, part = _largest(nodes, number[:-1][same], number[1:][same])
        junctions = np.flatnonzero(np.diff(graph.indptr) != 2)
        return cls(nodes, graph, junctions if len(junctions) > 1 else np.arange(len(nodes)), part)

    @classmethod
    def of_places(cls, xy: np.ndarray) -> "Network":
        """Return a network between places that are neighbours (Delaunay): with nobody in the middle of the three."""
        nodes = np.unique(xy, axis=0)
        if len(nodes) < 2:
            raise InputError(f"`places` must have two different points at least, got {len(nodes)}.")
        if len(nodes) > SMALLEST:
            unit = (nodes - nodes.min(axis=0)) / np.ptp(nodes, axis=0).max()
            corners = Delaunay(unit, qhull_options="QJ Pp").simplices  # joggled, as places may lie on one line
            a, b = corners.ravel(), np.roll(corners, 1, axis=1).ravel()
        else:
            a, b = np.triu_indices(len(nodes), 1)
        nodes, graph, part = _largest(nodes, a, b)
        return cls(nodes, graph, np.arange(len(nodes)), part)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.nodes[self.ends])

    def nearest(self, xy: np.ndarray) -> np.ndarray:
        """Return the nearest node where a trip may begin or end, for each location."""
        return self.ends[self._tree.query(xy)[1]]

    def ways(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the shortest way between two nodes, for each pair, as a line.

        Whoever begins and ends at the same node goes to the nearest neighbour.
        """
        same = np.flatnonzero(a == b)
        if len(same):
            b = b.copy()
            b[same] = [self._neighbour(node) for node in a[same].tolist()]
        lines = np.empty(len(a), dtype=object)
        origins, which = np.unique(a, return_inverse=True)
        step = max(1, AT_ONCE // len(self.nodes))
        for first in range(0, len(origins), step):
            part = origins[first : first + step]
            _, before = dijkstra(self.graph, indices=part, return_predecessors=True)
            own = np.flatnonzero((which >= first) & (which < first + step))
            lines[own] = self._lines(before, which[own] - first, b[own])
        return lines

    def _neighbour(self, node: int) -> int:
        own = slice(self.graph.indptr[node], self.graph.indptr[node + 1])
        return int(self.graph.indices[own][np.argmin(self.graph.data[own])])

    def _lines(self, before: np.ndarray, row: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return ways by going back from each end to its origin."""
        trips, nodes, here, going = [np.arange(len(end))], [end], end, np.arange(len(end))
        while len(going):
            here = before[row[going], here]
            going, here = going[here != NOWHERE], here[here != NOWHERE]
            trips.append(going)
            nodes.append(here)
        trip, node = np.concatenate(trips)[::-1], np.concatenate(nodes)[::-1]
        order = np.argsort(trip, kind="stable")
        return cast(np.ndarray, shapely.linestrings(self.nodes[node[order]], indices=trip[order]))


def _largest(nodes: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, csr_array, float]:
    """Return the largest connected part of a network with ways from a to b: its nodes, its graph, its part of all."""
    different = a != b
    pairs = np.unique(np.sort(np.column_stack([a[different], b[different]]), axis=1), axis=0)
    if not len(pairs):
        raise InputError("`network` has no line that leads from one point to another.")
    first, second = np.vstack([pairs, pairs[:, ::-1]]).T
    apart = np.hypot(*(nodes[first] - nodes[second]).T)
    graph = csr_array(coo_array((apart, (first, second)), shape=(len(nodes), len(nodes))))
    _, component = connected_components(graph, directed=False)
    main = np.flatnonzero(component == np.bincount(component).argmax())
    return nodes[main], csr_array(graph[main][:, main]), len(main) / len(nodes)


def straight(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the straight line from each location to another.

    >>> straight(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))[0].length
    5.0
    """
    return cast(np.ndarray, shapely.linestrings(np.stack([a, b], axis=1)))
