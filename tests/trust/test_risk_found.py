"""Intervals: they cover as often as they say."""

import numpy as np
import pytest

from geotracs.trust.risk_found import clopper_pearson, of_errors, of_hits, of_shares


@pytest.mark.parametrize("p", [0.05, 0.3, 0.9])
def test_clopper_pearson_covers_at_least_as_often_as_it_says(p):
    from scipy.stats import binom

    covered = sum(
        binom.pmf(hits, 20, p) for hits in range(21) if np.prod(np.subtract(clopper_pearson(hits, 20), p)) <= 0
    )
    assert covered >= 0.9


def test_the_bootstrap_is_over_people():
    """Rows of one person count once: with 8 people the interval covers the mean of a hundred rows each, about 90%."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        person = np.repeat(np.arange(8), 100)
        found = of_errors("report", 5000 + np.repeat(rng.normal(0, 500, 8), 100), person, np.ones(800))
        covered += found.low <= 5000 <= found.high
    assert 0.72 <= covered / 200 <= 0.97  # percentile bootstraps of few people are a little narrow


def test_figures_are_means_and_quantiles_of_people():
    found = of_shares("within, report", np.array([True, True, False, True]), np.array([5, 5, 7, 7]), 0.1)
    assert (found.value, found.quantiles[1], found.people, found.baseline) == (0.75, 0.75, 2, 0.1)
    assert of_hits("known points", np.array([True, True]), 0.5).high == 1
