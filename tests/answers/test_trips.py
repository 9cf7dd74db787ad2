import numpy as np
import pytest

import geotracs.answers.trips as module
from geotracs.answers.operators import Dense
from geotracs.answers.reader import Reader
from geotracs.answers.trips import Trips, chosen, divided
from geotracs.core.methods import Reports
from tests.answers.test_flows import STATIONS, people, release


@pytest.fixture(autouse=True)
def rough(monkeypatch):
    monkeypatch.setattr(module, "FINE", 12)


@pytest.fixture(scope="module")
def tracks():
    return people(120)


def trips(tracks, eps=4.0, method="joint", pairs="consecutive", side=6, **arguments):
    layers = {"round_to": STATIONS} if "round_to" in arguments else {}
    return Trips.of(Reader.of(release(tracks, eps, method, **arguments), **layers), pairs, side)


def test_pairs_are_the_ends_of_trajectories_or_neighbours(tracks):
    some = tracks.drop(index=[0, 1, 2])  # one location is no pair
    reader = Reader.of(release(some))
    ends, steps = chosen(reader, "ends"), chosen(reader, "consecutive")
    assert ends[:2].tolist() == [[1, 4], [5, 8]]
    assert steps[:4].tolist() == [[1, 2], [2, 3], [3, 4], [5, 6]]
    assert len(ends) == 119
    assert len(steps) == 3 * 119


def test_pairs_of_a_method_that_looks_back_are_bounded(tracks, monkeypatch):
    monkeypatch.setattr(module, "SEQUENTIAL", 300)
    found = chosen(Reader.of(release(tracks, 4, "tracs-d")), "consecutive")
    assert 100 <= len(found) <= 150
    assert np.mean(found[1:, 0] == found[:-1, 1]) > 0.5  # in runs


def test_squares_lie_in_cells_and_cells_in_zones(tracks):
    own = trips(tracks)
    shares = np.array([own.states.xy[:, 0] < 12_000, own.states.xy[:, 0] >= 12_000], dtype=float)
    survey = own.survey(shares)
    assert np.allclose(survey.weights.sum(axis=0), 1)
    assert np.allclose(survey.within.sum(axis=0), 1)
    assert survey.prior.sum() == pytest.approx(1)
    assert survey.p.sum() == pytest.approx(1)
    assert np.all((survey.shares @ survey.within).round(9) % 1 == 0)
    x = survey.weights.T @ own.states.xy[:, 0]
    assert np.all((x < 12_000) == (survey.zones == 0))


def test_a_state_on_a_border_is_in_squares_on_both_sides(tracks):
    own = trips(tracks)
    survey = own.survey(np.full((2, own.states.count), 0.5))
    assert survey.prior[survey.zones == 0].sum() == pytest.approx(0.5)
    both = (survey.weights[:, survey.zones == 0] > 0).any(axis=1) & (survey.weights[:, survey.zones == 1] > 0).any(
        axis=1
    )
    assert both.all()


def test_many_zones_leave_fewer_cells_in_each(monkeypatch):
    xy = np.stack(np.meshgrid(np.arange(30.0), np.arange(30.0)), axis=-1).reshape(-1, 2)
    every = np.arange(900)
    assert len(np.unique(divided(np.zeros(900, dtype=int), xy, every))) == 64
    assert len(np.unique(divided((xy[:, 0] >= 15).astype(int), xy, every))) == 64
    stripes = xy[:, 0].astype(int) * 4 + xy[:, 1].astype(int) // 8
    assert len(np.unique(divided(stripes, xy, every))) == 120


def test_epsilons_of_both_ends_are_told_apart(tracks):
    own = trips(tracks.assign(eps=np.tile([2.0, 6.0, 6.0, 2.0], 120)), "eps")
    assert [numbers for numbers, _ in own.groups] == [(0, 1), (1, 0), (1, 1)]
    assert sum(len(which) for _, which in own.groups) == len(own.ends)
    survey = own.survey(np.ones((1, own.states.count)))
    assert len(survey.tables) == 2
    assert np.allclose(survey.tables[0].sum(axis=0), 1)
    groups = survey.channels()
    assert len(groups) == 3
    assert groups[0].tables[0] is groups[0].tables[1]  # the pairs with most epsilon first
    joint, weights = survey.joint()
    assert joint.sum() == pytest.approx(1)
    assert weights.sum() == pytest.approx(1)


def test_many_epsilons_are_taken_together(tracks):
    eps = np.repeat(np.linspace(1, 9, 120), 4)
    own = trips(tracks.assign(eps=eps), "eps")
    assert own.levels.max() + 1 <= module.MAX_LEVELS
    assert np.all(np.diff(own.levels[np.argsort(eps, kind="stable")]) >= 0)
    for parts in own.operators:
        assert sum(part for part, _ in parts) == pytest.approx(1)
    survey = own.survey(np.ones((1, own.states.count)))
    assert all(np.allclose(table.sum(axis=0), 1) for table in survey.tables)
    assert len(survey.channels()) == module.MAX_CHANNELS


def test_a_method_that_looks_back_has_a_bin_for_each_report(tracks):
    own = trips(tracks[tracks["person"] < 34], method="tracs-d")
    (((part, likely),),) = own.operators
    assert part == 1
    assert isinstance(likely, Dense)
    assert likely.shape == (34 * 4, own.states.count)
    assert np.array_equal(np.unique(own.labels), np.arange(34 * 4))
    (group,) = own.survey(np.ones((1, own.states.count))).channels()
    assert group.tables[0].likely.sum() == pytest.approx(1)
    assert group.linked.sum() == 34 * 2


def test_places_are_bins_themselves_or_in_cells(tracks, monkeypatch):
    own = trips(tracks, round_to=STATIONS)
    assert own.bins.count == len(STATIONS)
    monkeypatch.setattr(module, "MAX_PLACES", 10)
    own = trips(tracks, round_to=STATIONS)
    table = own.survey(np.ones((1, own.states.count))).tables[0]
    assert len(table) == own.bins.count
    assert np.allclose(table.sum(axis=0), 1)
    which = np.arange(len(STATIONS))
    assert np.array_equal(own.bins.label(Reports(np.empty((0, 2)), which)), own.bins.cells)


def test_some_of_the_pairs(tracks):
    own = trips(tracks)
    survey = own.survey(np.ones((1, own.states.count)))
    some = np.arange(len(own.ends)) % 2 == 0
    (half,) = survey.pairs(some, survey.within)
    assert half.total == some.sum()
    assert survey.channels(some)[0].total == some.sum()
    assert not survey.channels(some)[0].linked.all()
    assert survey.away.shape == (len(survey.p),) * 2
    assert np.allclose(survey.away, survey.away.T)
