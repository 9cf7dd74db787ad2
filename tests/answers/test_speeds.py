import numpy as np
import pandas as pd
import pytest

from geotracs import InputError
from geotracs.answers.density import density
from geotracs.answers.reader import Reader
from geotracs.answers.speeds import impossible
from tests.answers.test_density import BOX, CELLS, perturb, points
from tests.helpers import quiet

N = 2000


def walks(jumps=0, eps=8, **options):
    """Pairs of locations 10 s and 10 m apart; in some the second is at the other end of the box."""
    rng = np.random.default_rng(1)
    first = rng.uniform(0.05, 0.3, (N // 2, 2)) * BOX[2:]
    second = first + np.array([10, 0])
    second[:jumps] = np.array(BOX[2:]) - first[:jumps]
    xy = np.stack([first, second], axis=1).reshape(-1, 2)
    columns = {"who": np.arange(N) // 2, "t": pd.to_datetime(np.arange(N) % 2 * 10, unit="s")}
    return perturb(points(xy, **columns), eps, trajectory="who", time="t", **options)


@pytest.mark.parametrize("eps", [2, 8])
def test_honest_people_are_possible(eps):
    """A false alarm has a probability of 1% at most."""
    found = impossible(Reader.of(walks(eps=eps)), 2.0)
    assert (found["pairs"], found["impossible"]) == (N // 2, 0)


def test_jumps_are_counted_and_never_too_many():
    found = impossible(Reader.of(walks(300)), 2.0)
    assert 100 < found["impossible"] <= 300
    assert impossible(Reader.of(walks(300)), 1000.0)["impossible"] == 0


def test_density_says_it_in_words_and_in_its_record():
    with pytest.warns(match="pairs look impossible. Any single one is possible"):
        found = density(walks(300), CELLS, speed=2)
    assert found.attrs["tracs"]["answer"]["too_fast"]["impossible"] > 100
    assert "too_fast" not in quiet(density, walks(), CELLS).attrs["tracs"]["answer"]


@pytest.mark.parametrize("speed", [0, -1, np.inf, "fast", True])
def test_speeds_that_are_none(speed):
    with pytest.raises(InputError, match="`speed` must be a finite number of metres per second"):
        density(walks(), CELLS, speed=speed)


def test_what_speed_needs():
    with pytest.raises(InputError, match="`speed` needs times"):
        density(perturb(points(np.full((200, 2), 500.0))), CELLS, speed=2)
    with pytest.raises(InputError, match="looks back"):
        density(walks(method="tracs-d"), CELLS, speed=2)
