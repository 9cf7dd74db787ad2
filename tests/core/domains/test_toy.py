"""A new kind of region is one class: it works with the methods whose capabilities it has, and no other file changes."""

import inspect
from dataclasses import dataclass
from typing import ClassVar

import geopandas as gpd
import numpy as np
import pytest
import shapely

from geotracs import CRSError, DomainError, methods
from geotracs.core.domains import Base, Domain, Transport
from tests.drawing import choose, run
from tests.helpers import quiet


@dataclass(frozen=True)
class Annulus(Base):
    """Between two circles about the origin, with a polar chart: part of a turn, part of the way outwards."""

    inner: float
    outer: float

    kind: ClassVar[str] = "ring"
    periodic: ClassVar[tuple[bool, bool]] = (True, False)
    affine: ClassVar[bool] = False
    outline = property(lambda self: shapely.Point(0, 0).buffer(self.outer) - shapely.Point(0, 0).buffer(self.inner))
    centre = property(lambda self: ((self.inner + self.outer) / 2, 0.0))
    polar = property(lambda self: self)

    def contains(self, xy):
        radius = np.hypot(*xy.T)
        return (radius >= self.inner * (1 - 1e-9)) & (radius <= self.outer * (1 + 1e-9))

    covers = contains

    def project_inside(self, xy):
        radius = np.maximum(np.hypot(*xy.T), 1e-300)
        xy *= (np.clip(radius, self.inner, self.outer) / radius)[:, None]

    def to_unit(self, xy):
        part = (np.hypot(*xy.T) - self.inner) / (self.outer - self.inner)
        return np.asfortranarray(np.column_stack([np.arctan2(xy[:, 1], xy[:, 0]) / (2 * np.pi) % 1, part]))

    def from_unit(self, uv, out=None):
        xy, radius = np.empty((2, len(uv))).T if out is None else out, self.inner + uv[:, 1] * (self.outer - self.inner)
        xy[:] = radius[:, None] * np.column_stack([np.cos(2 * np.pi * uv[:, 0]), np.sin(2 * np.pi * uv[:, 0])])
        return xy

    def stretch(self, uv):
        return 2 * np.pi * (self.outer - self.inner) * (self.inner + uv[:, 1] * (self.outer - self.inner))


RING = Annulus(2.0, 5.0)


def test_it_takes_fewer_than_40_lines():
    assert len(inspect.getsource(Annulus).splitlines()) < 40
    assert isinstance(RING, Domain)


@pytest.mark.parametrize("name", ["tracs-d", "strawman", "planar-laplace"])
def test_methods_whose_capabilities_it_has_work(name):
    xy = np.asfortranarray(RING.spread(5000))
    assert RING.contains(xy).all()
    errors = []
    for eps in (1.0, 8.0):
        reports = run(methods.make(name), xy, np.array([0, len(xy)]), eps, RING, np.random.default_rng(0))
        assert RING.contains(reports).all()
        errors.append(RING.distance(xy, reports).mean())
    assert errors[1] < 0.7 * errors[0]


def test_its_density_integrates_to_one():
    side, steps = 12 / 1200, (np.arange(1200) + 0.5) / 100 - 6
    xy = np.array(np.meshgrid(steps, steps)).reshape(2, -1).T
    assert methods.make("tracs-d").density(xy, (0.0, 3.0), 2.0, RING).sum() * side**2 == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("name", ["tracs-c", "joint"])
def test_methods_whose_capabilities_it_lacks_refuse_it_and_work_with_a_chart(name):
    with pytest.raises(DomainError, match=f"{name} needs two coordinates, and a ring is not .*another method, or fit"):
        methods.make(name).on(RING)
    charted, xy = Transport(RING), np.asfortranarray(RING.spread(2000))
    reports = run(methods.make(name), xy, np.array([0, len(xy)]), 2.0, charted, np.random.default_rng(0))
    assert RING.contains(reports).all()


@pytest.mark.parametrize("name", [name for name in methods.METHODS if methods.METHODS[name].over == "places"])
def test_methods_over_places_need_nothing_but_its_size(name):
    places = RING.spread(20)
    which = choose(methods.make(name), np.arange(20), np.array([0, 20]), 2.0, places, RING, np.random.default_rng(0))
    assert set(which.tolist()) <= set(range(20))


def test_a_frame_can_be_released_on_it():
    tracks = gpd.GeoSeries(gpd.points_from_xy(*RING.spread(300).T), crs=32654).to_frame("geometry")
    for name, arguments in {"tracs-d": {}, "joint": {"fit": "transport"}}.items():
        private = quiet(tracks.tracs.perturb, 4, name, domain=RING, rng=1, **arguments)
        assert RING.contains(private.geometry.get_coordinates().to_numpy()).all()
        assert private.attrs["tracs"]["domain"]["kind"] == "ring"
    with pytest.raises(CRSError, match="worked on in its own coordinates"):
        tracks.to_crs(4326).tracs.perturb(4, "tracs-d", domain=RING)


@dataclass(frozen=True)
class Triangle(Base):
    """With the corners (0, 0), (4, 0) and (0, 3): straight sides, but no chart."""

    kind: ClassVar[str] = "triangle"
    convex: ClassVar[bool] = True
    outline: ClassVar[shapely.Polygon] = shapely.Polygon([(0, 0), (4, 0), (0, 3)])
    centre: ClassVar[tuple[float, float]] = (1.0, 1.0)
    half_planes: ClassVar[np.ndarray] = np.array([[-1, 0, 0], [0, -1, 0], [0.6, 0.8, 2.4]])

    def contains(self, xy):
        return np.all(xy @ self.half_planes[:, :2].T <= self.half_planes[:, 2] + 1e-9, axis=1)

    def project_inside(self, xy):
        xy[:] = np.clip(xy, 0, None)
        xy /= np.maximum(1, xy @ [1 / 4, 1 / 3])[:, None]


@pytest.mark.parametrize("options", [{}, {"start": "random"}, {"start": "corner"}, {"reference": (0.5, 0.5)}])
def test_straight_sides_are_enough_for_tracs_d(options):
    region = Triangle()
    xy = np.asfortranarray(region.spread(2000))
    reports = run(
        methods.make("tracs-d", options), xy, np.array([0, 1000, 2000]), 2.0, region, np.random.default_rng(0)
    )
    assert region.contains(reports).all()
    with pytest.raises(DomainError, match="a triangle is not a product"):
        methods.make("joint").check(region)
