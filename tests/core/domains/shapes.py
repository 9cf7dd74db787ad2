"""Twenty real-looking regions, near Tokyo, in degrees."""

import numpy as np
import shapely
from shapely import affinity

X, Y = 139.7, 35.7


def coast(vertices, seed=0):
    rng = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi, vertices, endpoint=False)
    radius = 0.1 * np.ones(vertices)
    for k in range(1, 40):
        radius += 0.03 / k * np.cos(k * angle + rng.uniform(0, 6))
    radius *= 1 + 0.002 * rng.random(vertices)
    return shapely.Polygon(np.column_stack([X + radius * np.cos(angle), Y + radius * np.sin(angle)]))


def archipelago(seed=0, islands=25):
    rng = np.random.default_rng(seed)
    points = shapely.points(rng.uniform(X - 0.1, X + 0.1, islands), rng.uniform(Y - 0.1, Y + 0.1, islands))
    return shapely.union_all(shapely.buffer(points, rng.uniform(0.0005, 0.02, islands)))


def star(points=7):
    angle = np.linspace(0, 2 * np.pi, 2 * points, endpoint=False)
    radius = np.where(np.arange(2 * points) % 2, 0.02, 0.1)
    return shapely.Polygon(np.column_stack([X + radius * np.cos(angle), Y + radius * np.sin(angle)]))


def at(*xy):
    return shapely.Polygon([(X + x, Y + y) for x, y in xy])


SHAPES = {
    "triangle": at((0, 0), (0.1, 0.01), (0.04, 0.12)),
    "hexagon": shapely.Point(X, Y).buffer(0.1, quad_segs=2),
    "round": shapely.Point(X, Y).buffer(0.08, quad_segs=64),
    "L": at((0, 0), (0.1, 0), (0.1, 0.03), (0.03, 0.03), (0.03, 0.1), (0, 0.1)),
    "U": at((0, 0), (0.1, 0), (0.1, 0.1), (0.08, 0.1), (0.08, 0.02), (0.02, 0.02), (0.02, 0.1), (0, 0.1)),
    "ring": shapely.Point(X, Y).buffer(0.1).difference(shapely.Point(X, Y).buffer(0.06)),
    "thin ring": shapely.Point(X, Y).buffer(0.1).difference(shapely.Point(X, Y).buffer(0.0999)),
    "square with holes": shapely.box(X, Y, X + 0.1, Y + 0.1).difference(
        shapely.MultiPoint([(X + i / 40, Y + j / 40) for i in range(1, 4) for j in range(1, 4)]).buffer(0.008)
    ),
    "archipelago": archipelago(),
    "two far islands": shapely.union_all(
        [shapely.Point(X - 0.1, Y).buffer(0.003), shapely.Point(X + 0.1, Y).buffer(0.002)]
    ),
    "coast of 1,000": coast(1000),
    "coast of 50,000": coast(50_000),
    "sliver": at((0, 0), (0.1, 0.1), (0.1, 0.1001)),
    "hair": at((0, 0), (0.1, 0), (0.1, 1e-7), (0, 1e-7)),
    "star": star(),
    "tilted slab": affinity.rotate(shapely.box(X - 0.1, Y - 0.01, X + 0.1, Y + 0.01), 37),
    "bow tie, repaired": shapely.make_valid(at((0, 0), (0.1, 0.1), (0.1, 0), (0, 0.1))),
    "street": shapely.LineString([(X, Y), (X + 0.05, Y + 0.08), (X + 0.09, Y), (X + 0.1, Y + 0.1)]).buffer(0.001),
    "box": shapely.box(X, Y, X + 0.1, Y + 0.05),
    "comb": shapely.union_all(
        [shapely.box(X, Y, X + 0.1, Y + 0.005)]
        + [shapely.box(X + i / 100, Y, X + i / 100 + 0.004, Y + 0.08) for i in range(10)]
    ),
}
