"""Mean and radius of posteriors."""

import numpy as np
import pytest

from geotracs.answers.centres import centres


def grid(n, side):
    middles = (np.arange(n) + 0.5) * side
    return np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)


def test_one_cell_has_the_radius_of_a_square():
    """A disc that holds 90% of a square of side 1 about its middle has radius 0.537."""
    posterior = np.zeros((1, 81))
    posterior[0, 40] = 1
    centre, radius = centres(posterior, grid(9, 50.0), 50.0, 0.9)
    assert np.allclose(centre, 225)
    assert radius[0] == pytest.approx(0.537 * 50, rel=0.04)


def test_a_disc_of_cells():
    points = grid(64, 10.0)
    disc = np.hypot(*(points - 320).T) < 200
    _, radius = centres((disc / disc.sum())[None], points, 10.0, 0.9)
    assert radius[0] == pytest.approx(200 * np.sqrt(0.9), rel=0.01)


@pytest.mark.parametrize("side", [0.0, 40.0])
def test_as_sampled(side):
    """Each share within 4 standard errors of the level; false alarms below 1e-3."""
    rng = np.random.default_rng(0)
    points = grid(16, 40.0)
    posterior = rng.random((150, 256)) ** 20
    posterior /= posterior.sum(axis=1, keepdims=True)
    centre, radius = centres(posterior.astype(np.float32), points, side, 0.8)
    assert np.allclose(centre, posterior @ points, rtol=1e-4)
    for row in range(0, 150, 30):
        state = rng.choice(256, 20_000, p=posterior[row])
        drawn = points[state] + rng.uniform(-side / 2, side / 2, (20_000, 2))
        away = np.hypot(*(drawn - centre[row]).T)
        slack = radius[row] * 0.01 + 1  # rings have a width
        assert (away <= radius[row] + slack).mean() >= 0.8 - 0.012
        assert (away < radius[row] - slack).mean() <= 0.8 + 0.012


def test_places_that_are_one():
    centre, radius = centres(np.ones((2, 1)), np.array([[3.0, 4.0]]), 0.0, 0.9)
    assert centre.tolist() == [[3.0, 4.0]] * 2
    assert radius.max() < 1e-6
