import math

import numpy as np
import pytest

from geotracs.core.lengths import diameter, distances


def test_diameter_is_the_largest_distance():
    points = np.random.default_rng(0).random((300, 2))
    assert diameter(points) == np.hypot(*(points[:, None] - points).T).max()
    assert diameter(np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]])) == pytest.approx(3 * math.sqrt(2))


def test_distances_are_the_same_both_ways():
    a, b = np.random.default_rng(1).random((2, 40, 2))
    assert np.array_equal(distances(a, b), distances(b, a).T)
