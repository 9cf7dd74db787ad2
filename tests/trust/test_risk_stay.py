"""Where somebody stayed: stays, their posterior, and guesses that are the same for everybody."""

import geopandas as gpd
import numpy as np
import pytest

import geotracs
from geotracs.answers.reader import Reader
from geotracs.trust.risk_stay import densest_share, geometric_median, has_density, place, stays
from tests.helpers import quiet

SQUARE = (0.0, 0.0, 20_000.0, 20_000.0)


def at_home(n, method="joint", eps=8, domain=SQUARE, **arguments):
    home = gpd.GeoDataFrame(geometry=gpd.points_from_xy([8000] * n, [9000] * n), crs=32654)
    private = quiet(geotracs.perturb, home, eps, method, domain=domain, keep=[], rng=1, **arguments)
    return Reader.of(private, domain=domain, **arguments), np.array([8000, 9000])


def away(n, **arguments):
    reader, home = at_home(n, **arguments)
    return np.hypot(*(place(reader, np.arange(n)) - home))


def test_a_posterior_is_much_better_than_a_median():
    reader, home = at_home(200)
    median = np.hypot(*(np.median(reader.xy, axis=0) - home))
    assert away(200) < 40 < median


def test_more_reports_tell_more():
    assert away(200) < away(5)


@pytest.mark.parametrize("method", ["tracs-c", "tracs-d"])
def test_other_methods_average_out_too(method):
    assert away(60, method=method) < 1200


def test_reports_that_were_moved_are_read_by_cells():
    polygon = gpd.GeoSeries.from_wkt(["POLYGON ((0 0, 20000 0, 20000 20000, 9000 20000, 0 5000, 0 0))"], crs=32654)
    reader, home = at_home(100, domain=polygon)
    assert not has_density(reader)
    assert np.hypot(*(place(reader, np.arange(100)) - home)) < 400


def test_stays_end_where_a_trajectory_does_and_where_somebody_leaves():
    xy = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 0.0], [900.0, 0.0], [905.0, 0.0], [900.0, 0.0], [900.0, 0.0]])
    begins = np.array([True, False, False, False, False, True, False])
    assert [rows.tolist() for rows in stays(xy, begins, 50, 2)] == [[0, 1, 2], [3, 4], [5, 6]]
    assert stays(xy, begins, 50, 4) == []


def test_guesses_for_everybody():
    xy = np.random.default_rng(0).normal(0, 1, (500, 2)) * [3, 1]
    best = geometric_median(xy)
    others = [best + np.array(step) for step in ((0.3, 0), (0, -0.3))]
    costs = [np.hypot(*(xy - point).T).mean() for point in (best, *others)]
    assert costs[0] == min(costs)
    assert geometric_median(np.ones((3, 2))).tolist() == [1, 1]
    assert densest_share(np.repeat([[0.0, 0.0], [9.0, 9.0]], [3, 1], axis=0), 1.0)[1] == 0.75
