"""The joint method: errors below the paper's, windows that are the best, reports that depend on their own location."""

import math

import numpy as np
import pytest
import shapely
from scipy.optimize import minimize_scalar

from geotracs import DomainError, methods
from geotracs.core.domains import Disc, Globe, Parallelogram, Polygon, Rectangle, Transport
from geotracs.core.mechanisms import Window
from geotracs.core.mechanisms.window import SIDE
from geotracs.core.methods.joint import Joint
from tests.core.domains.shapes import SHAPES
from tests.drawing import run

SQUARE, SLENDER = Rectangle(0, 0, 1, 1), Rectangle(0, 0, 2, 10)
EPSILONS = [2, 4, 6, 8, 10]


def uniform(domain, n=200_000, seed=0):
    return domain.chart.from_unit(np.asfortranarray(np.random.default_rng(seed).random((n, 2))))


def average_error(method, domain, eps, xy):
    offsets = np.array([0, len(xy)])
    reports = run(methods.make(method), xy, offsets, float(eps), domain, np.random.default_rng(1))
    return domain.distance(xy, reports).mean()


@pytest.mark.parametrize(
    ("domain", "most"),
    [(SQUARE, [0.345, 0.200, 0.109, 0.058, 0.030]), (SLENDER, [2.00, 1.10, 0.58, 0.29, 0.155])],
    ids=["square", "slender"],
)
def test_errors_are_below_those_of_the_paper(domain, most):
    xy = uniform(domain)
    for eps, bound in zip(EPSILONS, most, strict=True):
        assert average_error("joint", domain, eps, xy) <= bound
    assert average_error("joint", domain, 10, xy) < 0.4 * average_error("tracs-c", domain, 10, xy)


@pytest.mark.parametrize("domain", [SQUARE, SLENDER], ids=["square", "slender"])
@pytest.mark.parametrize("eps", [0.1, 1, 3, 6, 12])
def test_window_is_the_best_square_one_by_the_closed_form(domain, eps):
    """The trial finds its area by simulation; its error is within half a percent of the best."""
    size = (domain.xmax - domain.xmin, domain.ymax - domain.ymin)

    def error(logarithm):
        side = math.exp(logarithm)
        width, height = min(side / size[0], 1), min(side / size[1], 1)
        return Window(eps, width, height).expected_error(size=size) if width * height <= 0.5 else 1e9

    sides = np.linspace(math.log(1e-4), math.log(max(size)), 200)
    rough = sides[np.argmin([error(side) for side in sides])]
    best = minimize_scalar(error, bounds=(rough - 0.1, rough + 0.1), method="bounded").fun
    assert Joint().mechanism(float(eps), domain).expected_error(size=size) <= 1.005 * min(best, error(rough))


def test_windows_are_square_in_metres():
    for domain in (SLENDER, Parallelogram((0, 0), (300, 400), (-80, 60))):
        mechanism = Joint().mechanism(6.0, domain)
        corner, right, up = domain.from_unit(
            np.array([[0, 0], [mechanism.columns / SIDE, 0], [0, mechanism.rows / SIDE]])
        )
        assert math.dist(corner, right) == pytest.approx(math.dist(corner, up), rel=1e-6)
    globe = Globe()
    mechanism = Joint().mechanism(9.0, globe)
    for latitude in (-90 + (np.arange(1, 15) + 0.5) * 11.25).tolist():  # the middles of the table's rows
        cells = [np.array([part * SIDE], dtype=np.uint32) for part in (0.5, (latitude + 90) / 180)]
        columns, rows = (int(side[0]) / SIDE for side in mechanism._sides(cells))
        across, up = 360 * columns * math.cos(math.radians(latitude)), 180 * rows
        assert 1 / 1.6 < across / up < 1.6  # a stretch of 1.5 changes the ratio of the sides by 2.25


@pytest.mark.parametrize("eps", [2, 6, 10])
def test_the_globe(eps):
    globe = Globe()
    xy = np.asfortranarray(globe.spread(100_000))
    joint, split = (average_error(name, globe, eps, xy) for name in ("joint", "tracs-c"))
    assert joint < {2: 0.9, 6: 0.65, 10: 0.45}[eps] * split


@pytest.mark.parametrize("name", ["L", "triangle", "archipelago", "ring"])
@pytest.mark.parametrize("chart", ["envelope", "transport"])
def test_polygons(name, chart):
    polygon = Polygon(SHAPES[name])
    domain = polygon if chart == "envelope" else Transport(polygon)
    xy = np.asfortranarray(polygon.spread(5000))
    joint, split = (average_error(m, domain, 6, xy) for m in ("joint", "tracs-c"))
    assert joint < 0.85 * split


def test_reports_depend_on_their_own_location_and_draw_only():
    """Privacy is decided in the unit square; the chart before and after it is public."""
    domain = Transport(Polygon(SHAPES["ring"]))
    xy = np.asfortranarray(domain.spread(2000))
    other = xy.copy(order="F")
    other[:1000] = other[1000]
    a, b = xy.copy(order="F"), other.copy(order="F")
    for reports in (a, b):
        methods.make("joint").report(reports, np.array([0, 2000]), 3.0, domain, np.random.default_rng(2))
    assert np.array_equal(a[1000:], b[1000:])
    mechanism = Joint().mechanism(3.0, domain)
    draws = mechanism.draw(2000, np.random.default_rng(2))
    assert np.array_equal(domain.from_unit(mechanism.apply(domain.to_unit(xy), draws)), a)


def test_the_window_does_not_depend_on_the_locations():
    """The same mechanism for any data: it is made of epsilon and the region."""
    first, second = (Joint().mechanism(3.0, Rectangle(0, 0, 5, 4)) for _ in range(2))
    assert (first.columns, first.rows, first.threshold) == (second.columns, second.rows, second.threshold)


def test_epsilon_per_location():
    for domain in (SQUARE, Globe(), Transport(Polygon(shapely.box(0, 0, 3, 2)))):
        eps = np.repeat([0.01, 2.0, 600.0], 3000)
        xy = np.asfortranarray(domain.spread(9000))
        reports = run(methods.make("joint"), xy, np.array([0, 9000]), eps, domain, np.random.default_rng(0))
        error = domain.distance(xy, reports).reshape(3, -1).mean(axis=1)
        assert error[0] > error[1] > 1e4 * error[2]


def test_a_disc_is_refused_but_not_its_chart():
    disc = Disc((0, 0), 5)
    with pytest.raises(DomainError, match='use method="tracs-d", or fit="transport"'):
        methods.make("joint").check(disc)
    chart = Transport(disc)
    xy = np.asfortranarray(disc.spread(20_000))
    reports = run(methods.make("joint"), xy, np.array([0, len(xy)]), 4.0, chart, np.random.default_rng(0))
    assert disc.contains(reports).all()
    assert disc.distance(xy, reports).mean() < 0.9 * methods.expected_error(methods.make("tracs-d"), 4.0, disc)


@pytest.mark.parametrize("kind", ["rectangle", "transport", "parallelogram", "disc chart"])
def test_density_is_that_of_the_reports(kind):
    """It integrates to 1, is within exp(eps), and gives the share of 200,000 reports in the window to 5 sigma."""
    hills = np.add.outer(np.linspace(0, 1, 256) ** 3, np.linspace(1, 0, 256) ** 2)
    domain = {
        "rectangle": Rectangle(0, 0, 4, 2),
        "transport": Transport(Rectangle(0, 0, 4, 2), hills),
        "parallelogram": Parallelogram((0, 0), (3, 1), (-1, 2)),
        "disc chart": Transport(Disc((1, 1), 1)),
    }[kind]
    at, eps, method = domain.spread(20)[7], 3.0, methods.make("joint")
    base = domain.region if isinstance(domain, Transport) else domain
    corners = base.vertices if not isinstance(base, Disc) else np.array([[0, 0], [2, 2]])
    low, high = corners.min(axis=0), corners.max(axis=0)
    steps = [low[axis] + (np.arange(1024) + 0.5) / 1024 * (high - low)[axis] for axis in (0, 1)]
    y = np.stack(np.meshgrid(*steps), axis=-1).reshape(-1, 2)
    density = method.density(y, tuple(at), eps, domain)
    assert density.mean() * np.prod(high - low) == pytest.approx(1, rel=0.01)
    window, probability = method.window_of(tuple(at), eps, domain)
    assert window.buffer(1e-6).covers(shapely.Point(at))
    n = 200_000
    reports = np.asfortranarray(np.tile(at, (n, 1)))
    method.report(reports, np.array([0, n]), eps, domain, np.random.default_rng(3))
    share = shapely.contains_xy(window, *reports.T).mean()
    assert share == pytest.approx(probability, abs=5 * math.sqrt(probability * (1 - probability) / n) + 2e-3)
    other = method.density(y, tuple(domain.spread(20)[3]), eps, domain)
    both = (density > 0) & (other > 0)
    assert (density[both] / other[both]).max() <= math.exp(eps) * (1 + 1e-9)


def test_window_across_the_antimeridian():
    window, _ = methods.make("joint").window_of((179.0, 10.0), 8.0, Globe())
    assert window.bounds[0] < 179 < 181 < window.bounds[2]
