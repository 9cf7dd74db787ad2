"""What the tests of the named mechanisms on the unit interval and the unit circle share."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from geotracs import InputError
from geotracs.core.mechanisms.lattice import CELLS
from tests.core.mechanisms.exact import exp_bounds
from tests.helpers import FALSE_ALARM

EPSILONS = (1e-300, 1e-9, 0.01, 1.0, 4.0, 20.0, 29.0, 300.0, 699.9)
SECRETS = (0.0, 0.003, 0.3, 0.5, 0.9999, 1.0)


def distance(y, x, periodic):
    apart = np.abs(y - x)
    return np.minimum(apart, 1 - apart) if periodic else apart


def ends(mechanism):
    """The ends of the domain that reports are moved to."""
    if not getattr(mechanism, "clip", False) or (mechanism.periodic and mechanism.wraps):
        return []
    return [0.0] if mechanism.periodic else [0.0, 1.0]


def check_sampler(mechanism, seed):
    """Chi-squared of reports over 32 bins and the ends; 6 secrets share the draws, each alarms falsely at 1e-6."""
    draws = mechanism.draw(100_000, np.random.default_rng(seed))
    edges, moved = np.linspace(0, 1, 33), ends(mechanism)
    for x in SECRETS:
        reports = mechanism.apply(np.full(len(draws), x), draws)
        assert np.all((reports >= 0) & (reports <= 1))
        jumps = []
        if hasattr(mechanism, "interval"):
            jumps = [float(end) % 1 for end in (*mechanism.interval(x), -mechanism.margin, 1 + mechanism.margin)]
        fine = np.unique(np.append(np.linspace(0, 1, 4097), jumps))
        masses = mechanism.density((fine[1:] + fine[:-1]) / 2, x) * np.diff(fine)
        expected = np.add.reduceat(masses, np.searchsorted(fine, edges[:-1]))
        expected = np.append(expected, [mechanism.density(end, x).item() for end in moved])
        inside = reports[~np.isin(reports, moved)]
        observed = np.append(np.histogram(inside, edges)[0], [np.sum(reports == end) for end in moved])
        compare(observed, expected * len(reports))


def compare(observed, expected):
    assert expected.sum() == pytest.approx(observed.sum(), rel=1e-5)
    enough = expected >= 5
    observed = np.append(observed[enough], observed[~enough].sum())
    expected = np.append(expected[enough], expected[~enough].sum())
    used = expected > 1e-6
    assert np.sum((observed - expected)[used] ** 2 / expected[used]) < chi2.isf(FALSE_ALARM, max(used.sum() - 1, 1))


def check_ratio(mechanism, eps):
    """The worst ratio, in whole numbers, against a bound of exp(eps) that is not the library's."""
    assert Fraction(1) <= mechanism.worst_ratio() <= exp_bounds(eps)[0] or mechanism.worst_ratio() == 1


def check_counts(mechanism, eps):
    """Some secrets against each other at every report, by the exact number of words: no bound in between."""
    rows = [mechanism.law.counts(secret) for secret in (0, 1, 900, 2048, 3000, 4095)]
    limit = exp_bounds(eps)[0]
    for step in zip(*rows, strict=True):
        assert max(step) <= limit * min(step)
    assert {sum(row) for row in rows} == {2**64}


def check_expected_error(mechanism, tolerance=2e-4):
    """Quadrature of the density, the probability of the ends included."""
    y = (np.arange(2**18) + 0.5) / 2**18
    for x in (0.0, 0.07, 0.5, 0.99):
        density, away = mechanism.density(y, x), distance(y, x, mechanism.periodic)
        at_ends = [(mechanism.density(end, x), distance(end, x, mechanism.periodic)) for end in ends(mechanism)]
        for power in (1, 2):
            by_hand = np.mean(density * away**power) + sum(mass * far**power for mass, far in at_ends)
            expected = float(np.squeeze(mechanism.expected_error(np.array([x]), power)))
            assert expected == pytest.approx(by_hand, rel=tolerance)
    xs = (np.arange(2**16) + 0.5) / 2**16
    for power in (1, 2):
        assert mechanism.expected_error(power=power) == pytest.approx(
            mechanism.expected_error(xs, power).mean(), rel=1e-6
        )


def check_lattice(mechanism):
    """Reports are middles of cells that the cells of the secrets and the draws decide."""
    rng = np.random.default_rng(1)
    x = rng.random(5000)
    draws = mechanism.draw(5000, rng)
    reports = mechanism.apply(x, draws)
    assert np.array_equal(mechanism.apply((np.floor(x * CELLS) + 0.25) / CELLS, draws), reports)
    return reports


def check_eps_array(kind, periodic):
    """Each location has its own epsilon: the same reports, densities and errors as with that alone."""
    eps = np.array([0.5, 8.0, 0.5, 2.0])
    x = np.array([0.2, 0.9, 0.5, 1.0])
    many = kind(eps, periodic=periodic)
    draws = many.draw(4, np.random.default_rng(5))
    reports = many.apply(x, draws)
    y = np.array([0.3, 0.85, 0.0, 0.4])
    for i, value in enumerate(eps):
        one = kind(value, periodic=periodic)
        assert one.apply(x[i : i + 1], draws[i : i + 1])[0] == reports[i]
        assert one.density(y[i], x[i]).item() == pytest.approx(many.density(y, x)[i], rel=1e-12)
        for power in (1, 2):
            assert many.expected_error(x, power)[i] == pytest.approx(float(one.expected_error(x[i], power)), rel=1e-12)
            assert many.expected_error(power=power)[i] == pytest.approx(one.expected_error(power=power), rel=1e-12)
    rows = np.array([3, 0])
    assert np.array_equal(many.take(rows).apply(x[rows], draws[rows]), reports[rows])
    assert np.array_equal(many.take(rows).density(y[rows], x[rows]), many.density(y, x)[rows])
    assert kind(2.0, periodic=periodic).take(rows).eps == 2.0
    with pytest.raises(InputError, match="4 values, but 3 draws"):
        many.draw(3, np.random.default_rng(0))


def check_bad_input(kind, periodic):
    for eps in (0, -1, np.nan, np.inf, 700, "4", None, True, [1.0, -1.0]):
        with pytest.raises(InputError, match="`eps` must be"):
            kind(eps, periodic=periodic)
    for x in ([-0.1], [1.1], [np.nan]):
        with pytest.raises(InputError, match="must lie in"):
            kind(1, periodic=periodic).sample(x)
    assert kind(4, periodic=periodic).sample([0.2, 0.9]).shape == (2,)
    assert kind(4, periodic=periodic).sample([[0.2], [0.9]]).shape == (2, 1)
    assert kind.citation
    assert kind.paper
