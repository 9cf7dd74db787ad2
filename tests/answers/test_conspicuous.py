import numpy as np
import pytest

from geotracs.answers.conspicuous import conspicuous
from geotracs.answers.operators import Observed
from geotracs.answers.reader import Reader
from geotracs.answers.robust import _finer
from tests.answers.test_density import BOX, perturb, points


def found_in(frame, more=0):
    """The test of a release, with made-up reports in one bin."""
    reader = Reader.of(frame)
    states = reader.states()
    bins, [seen] = reader.bins(states), reader.observed(states)
    counts = seen.counts.copy()
    counts[len(counts) // 3] += more
    observed = [Observed(seen.operator, counts)]
    return conspicuous(observed, _finer(reader, states, bins, observed), bins.xy)


@pytest.mark.parametrize("eps", [1, 4, 8])
def test_honest_reports_from_one_place_are_not_conspicuous(eps):
    """The most concentrated densities there are; one of 4 has a flag with a probability of 4% at most."""
    rng = np.random.default_rng(eps)
    for number in range(4):
        at = rng.uniform(0, 1, 2) * BOX[2:]
        assert found_in(perturb(points(np.tile(at, (4000, 1))), eps, rng=number)).boxes == 0


def test_made_up_reports_at_one_point_are_conspicuous():
    frame = perturb(points(np.random.default_rng(0).uniform(0, 1, (4000, 2)) * BOX[2:]), 2)
    assert found_in(frame).boxes == 0
    found = found_in(frame, 150)
    assert found.bins[0, found.bins.shape[1] // 3]
