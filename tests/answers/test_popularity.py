import numpy as np
import pytest

from geotracs import GeotracsWarning
from geotracs.answers.popularity import groups, popularity, ranks
from tests.answers.test_density import N, perturb, points, quiet, town

PLACES = points([[500, 1000], [1500, 1000], [2500, 500], [2500, 1500]], name=list("abcd"))


def test_places_are_ranked_and_grouped():
    found = quiet(popularity, perturb(town(), 8), PLACES)
    assert found["name"].iloc[0] == "c"
    assert found["share"].is_monotonic_decreasing
    assert found["best"].iloc[0] == found["worst"].iloc[0] == found["group"].iloc[0] == 1
    assert found["group"].is_monotonic_increasing
    assert found.attrs["tracs"]["answer"]["kind"] == "popularity"
    assert found["count"].sum() == pytest.approx(N)


def test_it_says_what_cannot_be_told_apart():
    everywhere = points(np.random.default_rng(0).uniform(0, 1, (500, 2)) * [3000, 2000])
    with pytest.warns(GeotracsWarning) as caught:
        found = popularity(perturb(everywhere, 1), PLACES)
    assert "The first 4 of 4 places cannot be told apart" in str(caught[-1].message)
    assert found["best"].tolist() == [1] * 4
    assert found["worst"].tolist() == [4] * 4
    assert found["group"].tolist() == [1] * 4


def test_ranks_hold_every_order_that_intervals_allow():
    """Against all shares drawn from inside the intervals."""
    rng = np.random.default_rng(1)
    ends = np.sort(rng.random((20, 2)), axis=1)
    best, worst = ranks(*ends.T)
    low, high = ends.T
    assert best.tolist() == [1 + int((low > one).sum()) for one in high]
    assert worst.tolist() == [20 - int((high < one).sum()) for one in low]
    for _ in range(200):
        rank = 1 + np.argsort(np.argsort(-rng.uniform(low, high)))
        assert np.all((best <= rank) & (rank <= worst))


def test_groups_begin_with_the_first_that_is_told_apart():
    low, high = np.array([0.5, 0.45, 0.2, 0.1, 0.0]), np.array([0.7, 0.6, 0.4, 0.55, 0.1])
    assert groups(low, high).tolist() == [1, 1, 2, 1, 3]


def test_the_accessor_calls_the_function():
    private = perturb(town(500), 8)
    assert quiet(private.tracs.popularity, PLACES).equals(quiet(popularity, private, PLACES))
