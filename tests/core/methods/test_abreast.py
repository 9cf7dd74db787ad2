import numpy as np
import pytest

from geotracs.core.charts import Polar
from geotracs.core.domains import Rectangle
from geotracs.core.domains.edges import NO_EDGES
from geotracs.core.mechanisms.named import NAMED, make
from geotracs.core.methods.abreast import walk_abreast
from geotracs.core.methods.walk import ARC_STARTS, ARCTANGENTS, walk

REGION = Rectangle(0, 0, 2, 10)
OFFSETS = np.array([0, 5, 6, 6, 40])


def locations(seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((40, 2)) * (2, 10), rng


@pytest.mark.parametrize("follow", [False, True])
def test_with_windows_it_is_the_compiled_walk(follow):
    """The same draws, the same reports; angles differ in the last bits, which may move a report by a cell or so."""
    xy, rng = locations()
    pair = make("ogpm", 3.0, periodic=True), make("ogpm", 1.0)
    draws = tuple(mechanism.draw(40, rng) for mechanism in pair)
    starts = np.repeat([[1.0, 5.0]], 4, axis=0)
    ours, theirs = xy.copy(), xy.copy(order="F")
    walk_abreast(ours, OFFSETS, starts, follow, REGION.half_planes, pair, draws)
    windows = [np.array([mechanism.window]) for mechanism in pair]
    walk(
        theirs[:, 0],
        theirs[:, 1],
        OFFSETS,
        starts,
        follow,
        REGION.half_planes,
        draws[0],
        windows[0],
        False,
        draws[1],
        windows[1],
        ARC_STARTS,
        ARCTANGENTS,
        NO_EDGES,
    )
    assert ours == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("name", ["ogpm", *NAMED])
def test_each_report_is_the_mechanisms_in_the_chart_at_the_last(name):
    """Location by location, with an epsilon for each."""
    xy, rng = locations(1)
    eps = rng.choice([1.0, 2.0, 5.0], 40)
    pair = make(name, eps, periodic=True), make(name, eps)
    draws = tuple(mechanism.draw(40, rng) for mechanism in pair)
    reports = xy.copy()
    walk_abreast(reports, OFFSETS, np.repeat([[1.0, 5.0]], 4, axis=0), True, REGION.half_planes, pair, draws)
    assert np.all(REGION.half_planes[:, :2] @ reports.T <= REGION.half_planes[:, 2:] + 1e-9)
    for i in range(40):
        chart = Polar((1.0, 5.0) if i in OFFSETS else reports[i - 1], REGION.half_planes)
        unit = np.clip(chart.to_unit(xy[[i]]), 0, 1)
        ones = make(name, eps[i], periodic=True), make(name, eps[i])
        unit = np.column_stack([m.apply(unit[:, k], draws[k][[i]]) for k, m in enumerate(ones)])
        assert reports[[i]] == pytest.approx(chart.from_unit(unit), abs=1e-5)


def test_a_location_at_its_reference_and_no_locations():
    pair = make("truncated-laplace", 3.0, periodic=True), make("truncated-laplace", 1.0)
    xy = np.array([[1.0, 5.0], [2.0, 10.0]])
    draws = tuple(mechanism.draw(2, np.random.default_rng(2)) for mechanism in pair)
    walk_abreast(xy, np.array([0, 1, 2]), np.array([[1.0, 5.0], [2.0, 10.0]]), True, REGION.half_planes, pair, draws)
    assert np.all(np.isfinite(xy))
    empty = np.empty((0, 2))
    walk_abreast(empty, np.array([0]), np.empty((0, 2)), True, REGION.half_planes, pair, draws)
