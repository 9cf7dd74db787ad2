"""The exact density of a report, and the window it falls in: against each other, the bound and the sampler."""

import math

import numpy as np
import pytest
import shapely

from geotracs import DomainError, InputError, methods
from geotracs.core.budget import split
from geotracs.core.charts import Polar
from geotracs.core.domains import Disc, Globe, Parallelogram, Polygon, Rectangle
from geotracs.core.mechanisms import Piecewise
from geotracs.core.mechanisms.lattice import WORDS

SLENDER = Rectangle(0, 0, 2, 5)
SLANTED = Parallelogram((0, 0), (4, 1), (-1, 3))
TRIANGLE = Polygon(shapely.Polygon([(0, 0), (4, 0), (1, 3)]))
L_SHAPE = Polygon(shapely.Polygon([(0, 0), (4, 0), (4, 1), (1, 1), (1, 3), (0, 3)]))
DISC = Disc((1, 2), 3)
CASES = [
    ("tracs-c", {}, SLENDER, (0.3, 4.9)),
    ("tracs-c", {"window": "r-sw"}, SLANTED, (1.0, 1.5)),
    ("tracs-c", {}, L_SHAPE, (0.5, 2.0)),
    ("tracs-c", {}, Globe(-60, 60), (179.0, 20.0)),
    ("tracs-d", {}, SLENDER, (0.3, 4.9)),
    ("tracs-d", {"start": (0.4, 4.0)}, SLENDER, (1.5, 0.2)),
    ("tracs-d", {"reference": (1.5, 1.0)}, TRIANGLE, (1.4, 1.2)),
    ("tracs-d", {"window": "r-sw"}, L_SHAPE, (0.5, 2.0)),
    ("tracs-d", {}, SLANTED, (1.0, 1.5)),
    ("tracs-d", {}, DISC, (2.0, 4.0)),
    ("strawman", {}, SLENDER, (0.3, 4.9)),
]
CASES = [pytest.param(*case, id=f"{case[0]}-{type(case[2]).__name__}-{n}") for n, case in enumerate(CASES)]


def draws(recipe, at, eps, domain, n=100_000, seed=0):
    """Reports of one location, before they are projected into a polygon."""
    xy = np.asfortranarray(np.full((n, 2), at, dtype=float))
    recipe.report(xy, np.arange(n + 1), eps, domain, np.random.default_rng(seed))
    return xy


def grid(domain, cells):
    """Middles of the cells of a grid over where the method works, and the area of a cell."""
    if isinstance(domain, Disc):
        (x, y), r = domain.centre, domain.radius
        bounds = (x - r, y - r, x + r, y + r)
    elif isinstance(domain, Globe):
        bounds = (-180, domain.south, 180, domain.north)
    else:
        bounds = shapely.MultiPoint(domain.chart.vertices).bounds
    box = Rectangle(*bounds)
    steps = (np.arange(cells) + 0.5) / cells
    xy = box.from_unit(np.array(np.meshgrid(steps, steps)).reshape(2, -1).T)
    return xy, (box.xmax - box.xmin) * (box.ymax - box.ymin) / cells**2


@pytest.mark.parametrize("eps", [0.5, 6.0])
@pytest.mark.parametrize(("name", "options", "domain", "at"), CASES)
def test_reports_fall_in_the_window_as_often_as_stated(name, options, domain, at, eps):
    """Within 5 standard deviations: a false alarm in 1.7 million."""
    recipe = methods.make(name, options)
    window, probability = recipe.window_of(at, eps, domain)
    reports = draws(recipe, at, eps, domain)
    inside = shapely.intersects_xy(window, *reports.T)
    if isinstance(domain, Globe):
        for turn in (-360, 360):
            inside |= shapely.intersects_xy(window, reports[:, 0] + turn, reports[:, 1])
    assert window.is_valid
    assert window.distance(shapely.Point(at)) < 1e-9
    assert abs(inside.mean() - probability) < 5 * math.sqrt(probability * (1 - probability) / len(reports))


@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.5, 3.0])
@pytest.mark.parametrize(("name", "options", "domain", "at"), CASES)
def test_density_is_one_in_all_and_is_what_is_drawn(name, options, domain, at, eps):
    """Over 10 x 10 cells; the sum over a fine grid is good to 1%, the draws to 5 standard deviations."""
    recipe = methods.make(name, options)
    xy, area = grid(domain, 500 if name == "tracs-c" else 1000)  # around its reference a density is not smooth
    mass = recipe.density(xy, at, eps, domain) * area
    assert mass.sum() == pytest.approx(1, abs=0.01)
    coarse, _ = grid(domain, 10)
    low, size = xy.min(axis=0), np.ptp(coarse, axis=0) / 9

    def cell(points):
        column, row = np.clip((points - low) // size, 0, 9).astype(int).T
        return 10 * row + column

    if recipe.sequential:  # it projects reports in its walk
        xy, mass = xy[mass > 0], mass[mass > 0]
        domain.project_inside(xy)
    expected = np.bincount(cell(xy), mass, minlength=100)
    reports = draws(recipe, at, eps, domain)
    found = np.bincount(cell(reports), minlength=100) / len(reports)
    assert np.all(np.abs(found - expected) < 5 * np.sqrt(expected / len(reports)) + 0.01 * expected.max())


@pytest.mark.parametrize(("name", "options", "domain", "at"), CASES)
def test_no_two_locations_differ_by_more_than_exp_eps(name, options, domain, at):
    recipe = methods.make(name, options)
    eps = 2.0
    xy, _ = grid(domain, 60)
    inside = xy[domain.contains(xy)][::37]
    first = recipe.density(xy, at, eps, domain)
    seen = first > 0
    worst = 0.0
    for other in inside.tolist():
        second = recipe.density(xy, other, eps, domain)
        assert np.array_equal(second > 0, seen)
        worst = max(worst, np.max(first[seen] / second[seen]))
    assert worst <= math.exp(eps) * (1 + 1e-12)
    assert worst > math.exp(eps) * 0.99  # the budget is spent


def test_from_a_corner_part_of_the_mass_is_on_the_corner_itself():
    """Directions that leave the region have no way to go; the draws are within 5 standard deviations."""
    recipe, eps = methods.make("tracs-d", {"start": "corner"}), 3.0
    xy, area = grid(SLENDER, 1000)
    spread = np.sum(recipe.density(xy, (1.5, 0.2), eps, SLENDER)) * area
    reports = draws(recipe, (1.5, 0.2), eps, SLENDER)
    away = np.hypot(*reports.T) > 1e-9
    assert 0.1 < spread < 0.9
    assert away.mean() == pytest.approx(spread, abs=0.01)
    window, probability = recipe.window_of((1.5, 0.2), eps, SLENDER)
    SLENDER.project_inside(reports)
    assert shapely.intersects_xy(window.buffer(1e-9), *reports.T).mean() > probability


def test_windows_by_hand():
    half, _ = split(4.0, 0.5)
    mechanism = Piecewise(half)
    window, probability = methods.make("tracs-c").window_of((1.0, 0.0), 4.0, SLENDER)
    width = mechanism.window / 2**32
    assert window.bounds == pytest.approx((1 - width, 0, 1 + width, 5 * width), abs=1e-8)
    assert window.area == pytest.approx(10 * width**2)
    assert probability == pytest.approx((mechanism.threshold / WORDS) ** 2)
    # From the centre of a disc, a location on the border: a sector of a ring.
    direction, distance = methods.make("tracs-d").mechanisms(4.0, DISC)
    window, probability = methods.make("tracs-d").window_of((4.0, 2.0), 4.0, DISC)
    turn, way = direction.window / 2**32, distance.window / 2**32
    assert window.area == pytest.approx(math.pi * turn * 9 * (1 - (1 - way) ** 2), rel=1e-3)
    assert probability == pytest.approx(direction.threshold / WORDS * (distance.threshold / WORDS))


def test_the_window_is_seen_from_the_given_reference():
    recipe = methods.make("tracs-d")
    default, _ = recipe.window_of((0.5, 0.5), 8.0, SLENDER)
    centre, _ = recipe.window_of((0.5, 0.5), 8.0, SLENDER, reference=SLENDER.centre)
    corner, _ = recipe.window_of((0.5, 0.5), 8.0, SLENDER, reference=(2.0, 0.0))
    assert default.equals(centre)
    assert not default.equals(corner)
    fixed = methods.make("tracs-d", {"reference": (2.0, 0.0)})
    assert fixed.window_of((0.5, 0.5), 8.0, SLENDER, reference=SLENDER.centre)[0].equals(corner)


@pytest.mark.parametrize("domain", [SLENDER, SLANTED, TRIANGLE, L_SHAPE, DISC], ids=lambda d: type(d).__name__)
def test_polar_chart_goes_there_and_back(domain):
    chart = domain.polar or Polar(domain.centre, domain.half_planes)
    unit = np.random.default_rng(3).random((1000, 2))
    assert chart.to_unit(chart.from_unit(unit)) == pytest.approx(unit, abs=1e-9)
    # A small step in the chart covers `stretch` times its area.
    h, unit = 1e-6, unit * [1, 0.9] + [0, 0.05]
    a, u, v = (chart.from_unit(unit + step) for step in ([0, 0], [h, 0], [0, h]))
    area = np.abs(np.linalg.det(np.stack([u - a, v - a], axis=1))) / h**2
    assert np.median(np.abs(area / chart.stretch(unit) - 1)) < 1e-4


def test_what_is_refused():
    recipe = methods.make("tracs-d")
    with pytest.raises(DomainError, match="outside the domain"):
        recipe.window_of((9.0, 9.0), 4.0, SLENDER)
    with pytest.raises(InputError, match="A location"):
        recipe.window_of([1.0, 1.0, 1.0], 4.0, SLENDER)
    with pytest.raises(InputError, match="`eps`"):
        recipe.density(np.zeros((1, 2)), (1.0, 1.0), 0, SLENDER)
    with pytest.raises(DomainError, match="`reference` must lie inside"):
        recipe.window_of((1.0, 1.0), 4.0, SLENDER, reference=(3.0, 0.0))
    with pytest.raises(InputError, match="give one as `reference`"):
        methods.make("tracs-d", {"start": "random"}).window_of((1.0, 1.0), 4.0, SLENDER)
    with pytest.raises(DomainError, match="the globe"):
        recipe.window_of((1.0, 1.0), 4.0, Globe())


def test_planar_laplace_has_a_density_too():
    """On paper: one in all over the plane, and no two locations of the region told apart by more than exp(eps)."""
    recipe, eps = methods.make("planar-laplace"), 3.0
    everywhere = Rectangle(-60, -60, 62, 65)
    xy, area = grid(everywhere, 1500)
    there = recipe.density(xy, (1.0, 2.0), eps, SLENDER)
    assert there.sum() * area == pytest.approx(1, rel=1e-3)
    ends = [recipe.density(xy, corner, eps, SLENDER) for corner in ((0.0, 0.0), (2.0, 5.0))]
    assert np.max(np.abs(np.log(ends[0] / ends[1]))) <= eps * (1 + 1e-12)
