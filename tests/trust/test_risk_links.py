"""Linkage: people with places of their own are found, and nobody is found by chance more often than chance says."""

from dataclasses import replace

import numpy as np

from geotracs.answers.reader import Reader
from geotracs.trust.risk_links import Seen, halves, known
from tests.trust.test_risk import made_up, released


def seen(eps, people=10, seed=0):
    originals = made_up(people=people, seed=seed)
    reader = Reader.of(released(originals, eps, rng=seed))
    truth = np.column_stack([originals.geometry.x, originals.geometry.y])  # which is in the order of the reader
    # Each half has nights and days.
    found = Seen.of(reader, originals["who"].to_numpy())
    return found, replace(found, times=np.arange(len(truth)) % 20.0), truth


def test_people_are_linked_by_their_places():
    found, mixed, truth = seen(8)
    assert halves(mixed).mean() > 0.8
    assert known(found, truth, 4).mean() > 0.8
    assert known(found, truth, 1).mean() <= known(found, truth, 4).mean()


def test_nobody_is_linked_by_reports_that_tell_nothing():
    """20 people by chance: 6 or more hits have a probability of 3e-4 each."""
    found, mixed, truth = seen(0.001, people=20, seed=3)
    assert halves(mixed).sum() < 6
    assert known(found, truth, 4).sum() < 6


def test_one_person_cannot_be_linked():
    found, _, truth = seen(8, people=1)
    assert len(halves(found)) == len(known(found, truth, 2)) == 0
