"""What all mechanisms have in common, and a new one in a few lines."""

import inspect
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import chi2

from geotracs import methods
from geotracs.core.domains import Rectangle
from geotracs.core.mechanisms import (
    CONTINUOUS,
    FINITE,
    PM,
    Exponential,
    MetricNoise,
    Piecewise,
    Purkayastha,
    RandomizedResponse,
    SDDLaplace,
    Sectors,
    Seen,
    SquareWave,
    Staircase,
    Stairs,
    Subset,
    TruncatedGaussian,
    TruncatedLaplace,
    UnaryEncoding,
    Window,
)
from geotracs.core.mechanisms.lattice import CELLS, WORDS, cells_of, draw_offsets, midpoints, threshold
from geotracs.core.randomness import Source
from tests.helpers import FALSE_ALARM

N = 200_000
AWAY = np.array([[0.0, 1.0, 2.0, 5.0], [1.0, 0.0, 1.5, 4.0], [2.0, 1.5, 0.0, 3.0], [5.0, 4.0, 3.0, 0.0]])
GROUPS = np.searchsorted([1.6, 3.5], AWAY)


def around(y, x):
    apart = np.abs(y - x) % 1
    return np.minimum(apart, 1 - apart)


def straight(y, x):
    return np.hypot(*(y - x).T)


ON_A_LINE = {
    "interval": (Piecewise(2.0), 0.1, lambda y, x: np.abs(y - x)),
    "circle": (Piecewise(2.0, "r-sw", periodic=True), 0.9, around),
    "sectors": (Sectors(2.0, k=5), 0.33, around),
    "window": (Window(3.0, 0.3, 0.2), np.array([0.05, 0.6]), straight),
    "pm": (PM(2.0), 0.3, lambda y, x: np.abs(y - x)),
    "square wave": (SquareWave(2.0), 0.3, lambda y, x: np.abs(y - x)),
    "truncated Laplace": (TruncatedLaplace(2.0), 0.3, lambda y, x: np.abs(y - x)),
    "truncated Gaussian": (TruncatedGaussian(2.0), 0.3, lambda y, x: np.abs(y - x)),
    "Purkayastha": (Purkayastha(2.0, periodic=True), 0.9, around),
    "SDD": (SDDLaplace(2.0, periodic=True), 0.9, around),
    "plane": (MetricNoise(3.0, 1.0, 100.0), np.array([2.0, 7.0]), straight),
}
OVER_THINGS = {
    "krr": (RandomizedResponse(1.5, 4), 2),
    "subset": (Subset(1.5, 2, 4), np.array([1, 2])),
    "exponential": (Exponential(2.0, 5.0), AWAY[2]),
    "staircase": (Staircase(1.0, Stairs(lambda r, c: GROUPS[np.ix_(r, c)], count=4, groups=3)), GROUPS[2]),
    "oue": (UnaryEncoding(1.5, 2), 1),
}
BY_NUMBER = ("krr", "subset", "oue")
"""Mechanisms that take a secret as its number, or the numbers of its neighbourhood."""


def test_every_mechanism_is_here():
    assert {type(case[0]) for case in ON_A_LINE.values()} == set(CONTINUOUS)
    assert {type(case[0]) for case in OVER_THINGS.values()} == set(FINITE)


@pytest.mark.parametrize("name", ON_A_LINE)
def test_expected_error_is_the_mean_of_many_draws(name):
    mechanism, x, distance = ON_A_LINE[name]
    secrets = np.tile(x, (N, 1)) if np.ndim(x) else np.full(N, x)
    reports = mechanism.apply(secrets, mechanism.draw(N, np.random.default_rng(1)))
    errors = distance(reports, secrets)
    expected = mechanism.expected_error(secrets[:1])
    assert errors.mean() == pytest.approx(np.ravel(expected)[0], abs=6 * errors.std() / math.sqrt(N))
    assert (mechanism.density(reports[:100], secrets[:100]) > 0).all()
    assert mechanism.expected_error() > 0


@pytest.mark.parametrize("name", OVER_THINGS)
def test_draws_follow_the_pmf_and_costs_are_weighed_by_it(name):
    """Chi-squared over the four things, with a false alarm in a million."""
    mechanism, x = OVER_THINGS[name]
    pmf = mechanism.pmf(x if name in BY_NUMBER else x[None]).ravel()
    secrets = Seen(x[None], np.zeros(N, dtype=int)) if np.ndim(x) else np.full(N, x)
    reports = mechanism.apply(secrets, mechanism.draw(N, np.random.default_rng(2)))
    reports = reports @ [1, 2] if name == "oue" else reports  # its reports are the four sets of two values
    counts = np.bincount(reports, minlength=4)
    assert pmf.sum() == pytest.approx(1, abs=1e-12)
    assert np.sum((counts - N * pmf) ** 2 / (N * pmf)) < chi2.isf(FALSE_ALARM, 3)
    given = x if name in BY_NUMBER else x[None]
    assert np.ravel(mechanism.expected_error(given, AWAY[2])) == pytest.approx(pmf @ AWAY[2])


def test_several_secrets_at_once():
    krr, subset = RandomizedResponse(1.5, 4), Subset(1.5, 2, 4)
    assert np.array_equal(krr.pmf([2, 0]), [krr.pmf(2), krr.pmf(0)])
    near = np.array([[1, 2], [0, 3]])
    assert np.array_equal(subset.pmf(near), [subset.pmf(row) for row in near])
    assert krr.expected_error(np.arange(4), AWAY).shape == (4,)
    sectors = Sectors(np.array([1.0, 4.0]), k=6)
    alone = [Sectors(eps, k=6).density(0.5, 0.1).item() for eps in (1.0, 4.0)]
    assert sectors.density(np.full(2, 0.5), np.full(2, 0.1)) == pytest.approx(alone)


def test_sectors_by_hand():
    mechanism, ys = Sectors(2.0, k=5), (np.arange(200_000) + 0.5) / 200_000
    for x in (0.0, 0.33, 0.5):
        assert mechanism.expected_error(x) == pytest.approx(np.mean(mechanism.density(ys, x) * around(ys, x)), rel=1e-4)
    assert mechanism.expected_error() == pytest.approx(mechanism.expected_error(ys).mean(), rel=1e-6)


@dataclass(frozen=True)
class Halves:
    """Report a number in the same half of the unit interval with high probability, else in the other."""

    eps: float
    window = CELLS // 2

    @property
    def threshold(self) -> int:
        return threshold(self.eps, self.window)

    def draw(self, n: int, rng: Source) -> np.ndarray:
        return draw_offsets(n, self.window, self.threshold, rng)

    def apply(self, x: np.ndarray, draws: np.ndarray) -> np.ndarray:
        return midpoints(cells_of(x) // np.uint32(self.window) * np.uint32(self.window) + draws)

    def density(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        same = (np.asarray(y) < 0.5) == (np.asarray(x) < 0.5)
        return np.where(same, 2 * self.threshold / WORDS, 2 - 2 * self.threshold / WORDS)

    def expected_error(self, x: np.ndarray) -> np.ndarray:
        ends = np.where(np.asarray(x)[:, None] < 0.5, [0.0, 0.5, 0.5, 1.0], [0.5, 1.0, 0.0, 0.5])
        low, high, far_low, far_high = np.abs(ends - np.asarray(x)[:, None]).T
        near, far = low**2 / 2 + high**2 / 2, np.abs(far_high**2 - far_low**2) / 2
        share = self.threshold / WORDS
        return 2 * (share * near + (1 - share) * far)


class Coarse(methods.TracsC):
    """TraCS-C with the new mechanism on its first axis."""

    def mechanisms(self, eps, domain):
        return Halves(eps / 2), Piecewise(eps / 2)


def test_a_new_mechanism_takes_fewer_than_40_lines_and_fits_in():
    assert len(inspect.getsource(Halves).splitlines()) < 40
    mechanism, secrets = Halves(2.0), np.full(N, 0.3)
    errors = np.abs(mechanism.apply(secrets, mechanism.draw(N, np.random.default_rng(3))) - 0.3)
    assert errors.mean() == pytest.approx(mechanism.expected_error([0.3])[0], abs=6 * errors.std() / math.sqrt(N))
    region, steps = Rectangle(0, 0, 2, 1), (np.arange(500) + 0.5) / 500
    xy = np.array(np.meshgrid(2 * steps, steps)).reshape(2, -1).T
    assert Coarse().density(xy, (0.5, 0.5), 4.0, region).mean() * 2 == pytest.approx(1, rel=0.01)
    reports = np.full((2, N), 0.5).T
    Coarse().report(reports, np.array([0, N]), 4.0, region, np.random.default_rng(4))
    share = mechanism.threshold / WORDS
    assert np.mean(reports[:, 0] < 1) == pytest.approx(share, abs=6 * math.sqrt(share * (1 - share) / N))
