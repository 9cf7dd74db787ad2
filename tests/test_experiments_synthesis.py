"""LDPTrace, its nine metrics, and the trips that synthesis is compared on."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from geotracs import InputError
from geotracs.core.mechanisms import UnaryEncoding
from geotracs.experiments import ldptrace, synthesis
from geotracs.experiments.trips import JUMP, Cells, Trips, Visits, city_trips

CELLS = Cells((0.0, 0.0, 12.0, 6.0), 6)


def random_trips(seed, count=60, longest=6):
    rng = np.random.default_rng(seed)
    offsets = np.append(0, np.cumsum(rng.integers(1, longest + 1, count)))
    return Trips(rng.random((offsets[-1], 2)) * [12, 6], offsets)


def split(values, offsets):
    return [part.tolist() for part in np.split(values, offsets[1:-1])]


def walk(cells):
    """The cells of a trip by diagonal and straight moves, one after the other."""
    found = [cells[0]]
    for cell in cells[1:]:
        while found[-1] != cell:
            (row, column), (to_row, to_column) = divmod(found[-1], 6), divmod(cell, 6)
            found.append(6 * (row + np.sign(to_row - row)) + column + np.sign(to_column - column))
    return [int(cell) for cell in found]


def test_visits_go_from_cell_to_adjacent_cell():
    trips = random_trips(0)
    visits = CELLS.visits(trips)
    assert split(visits.cells, visits.offsets) == [walk(part) for part in split(CELLS.label(trips.xy), trips.offsets)]
    assert CELLS.label(CELLS.points(visits.cells, np.random.default_rng(1))).tolist() == visits.cells.tolist()


def test_lengths_and_diameters():
    trips = random_trips(1)
    for part, length, diameter in zip(split(trips.xy, trips.offsets), trips.lengths, trips.diameters, strict=True):
        assert length == pytest.approx(sum(map(math.dist, part[1:], part)))
        assert diameter == pytest.approx(max(math.dist(a, b) for a, b in itertools.product(part, part)))


def test_trips_of_the_sample_city():
    city = city_trips(60, seed=3)
    trips = city.trips
    steps = np.hypot(*np.diff(trips.xy, axis=0).T)
    within = np.diff(trips.number) == 0
    assert trips.count == 60
    assert np.diff(trips.offsets).min() >= 2
    assert steps[within].max() < JUMP
    assert np.array_equal(city.ends["trip"], np.repeat(np.arange(60), 2))
    begins, ends = city.ends.geometry.iloc[::2], city.ends.geometry.iloc[1::2]
    assert np.array_equal(np.column_stack([begins.x, begins.y]), trips.xy[trips.offsets[:-1]])
    assert np.array_equal(np.column_stack([ends.x, ends.y]), trips.xy[trips.offsets[1:] - 1])
    assert (city.ends["t"].iloc[1::2].array > city.ends["t"].iloc[::2].array).all()
    west, south, east, north = city.box
    assert ((trips.xy >= [west, south]) & (trips.xy <= [east, north])).all()


def test_equal_trips_have_no_error():
    found = synthesis.compare(random_trips(2), random_trips(2), CELLS)
    best = {name: 1.0 if name in synthesis.HIGHER_IS_BETTER else 0.0 for name in synthesis.METRICS}
    assert {name: value for name, value in found.items() if name != "kendall"} == pytest.approx(
        {name: value for name, value in best.items() if name != "kendall"}, abs=1e-12
    )
    assert 0.8 < found["kendall"] <= 1  # not quite 1, as some cells are visited equally often


def test_metrics_by_the_book():
    """Each metric again, in plain Python, from its definition."""
    pair = synthesis.Pair(random_trips(3), random_trips(4), CELLS)
    true, made = (split(part.cells, part.offsets) for part in pair.visits)
    counts = [Counter(cell for trip in trips for cell in trip) for trips in (true, made)]
    passing = [Counter(cell for trip in trips for cell in set(trip)) for trips in (true, made)]
    ends = [Counter((trip[0], trip[-1]) for trip in trips) for trips in (true, made)]
    patterns = [
        Counter(tuple(t[i : i + k]) for t in trips for k in range(2, 9) for i in range(len(t) - k + 1))
        for trips in (true, made)
    ]

    def js(a, b):
        p, q = ({key: times / sum(part.values()) for key, times in part.items()} for part in (a, b))
        middle = {key: (p.get(key, 0) + q.get(key, 0)) / 2 for key in {*p, *q}}
        return sum(sum(v * math.log(v / middle[key]) for key, v in part.items()) for part in (p, q)) / 2

    tau = 0
    for a, b in itertools.combinations(range(36), 2):
        order, found = (np.sign(part[a] - part[b]) for part in passing)
        tau += 0 if order == 0 else 1 if order == found else -1
    top = [[key for key, _ in sorted(part.items(), key=lambda item: -item[1])] for part in patterns]
    tops = [sorted(part.values(), reverse=True)[99] for part in patterns]
    sure = [{key for key, times in part.items() if times > least} for part, least in zip(patterns, tops, strict=True)]
    assert synthesis.density_error(pair) == pytest.approx(js(*counts))
    assert synthesis.trip_error(pair) == pytest.approx(js(*ends))
    assert synthesis.kendall_tau(pair) == pytest.approx(tau / (36 * 35 / 2))
    assert sorted(pair.patterns[0].values()) == sorted(patterns[0].values())
    assert synthesis.pattern_f1(pair) >= len(sure[0] & sure[1]) / 100
    support = [abs(patterns[1][key] - patterns[0][key]) / patterns[0][key] for key in top[0]]
    assert 0 <= synthesis.pattern_support(pair) <= max(support)


def test_patterns_are_told_apart_and_counted():
    visits = Visits(np.array([0, 1, 0, 1, 7, 0, 1]), np.array([0, 4, 5, 7]))
    pair = synthesis.Pair(random_trips(0), random_trips(0), CELLS)
    pair.__dict__["visits"] = (visits, Visits(visits.cells[:4], np.array([0, 4])))
    before, after = pair.patterns
    assert sorted(before.values(), reverse=True) == [3, 1, 1, 1, 1]  # 01 thrice, 10, 010, 101, 0101
    assert sorted(after.values(), reverse=True) == [2, 1, 1, 1, 1]
    assert synthesis.pattern_f1(pair) == 1
    assert synthesis.pattern_support(pair) == pytest.approx((1 / 3) / 5)


def test_hotspots_by_hand():
    pair = synthesis.Pair(random_trips(0), random_trips(0), CELLS)
    true, made = np.arange(36)[::-1] + 1, np.arange(36)[::-1] + 1
    made[[0, 1]] = made[[1, 0]]
    pair.__dict__["densities"] = (true, made)
    gains, weights = np.array([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]), 1 / np.log2(np.arange(2, 7))
    assert synthesis.hotspot_error(pair) == pytest.approx(1 - gains[[1, 0, 2, 3, 4]] @ weights / (gains @ weights))
    pair.__dict__["densities"] = (true, true[::-1])
    assert synthesis.hotspot_error(pair) == 1


def test_queries_count_the_part_of_a_visit_that_is_inside(monkeypatch):
    """One query about the middle of the box: its answer by many points in each cell visited."""
    pair = synthesis.Pair(random_trips(5), random_trips(6), CELLS)
    monkeypatch.setattr(synthesis, "QUERIES", 1)
    monkeypatch.setattr(synthesis, "random_words", lambda *_: np.array([2**63, 2**63], dtype=np.uint64))
    rng, half = np.random.default_rng(0), math.sqrt(12 * 6 / 9) / 2
    answers = []
    for visits in pair.visits:
        xy = CELLS.points(np.repeat(visits.cells, 2000), rng)
        answers.append(np.sum(np.abs(xy - [6, 3]).max(axis=1) <= half) / 2000)
    assert synthesis.query_error(pair) == pytest.approx(abs(answers[1] - answers[0]) / answers[0], abs=0.02)


def test_classes_hold_what_is_longer_than_all_originals():
    long = Trips(np.array([[0.0, 0.0], [100.0, 0.0]]), np.array([0, 2]))
    short = Trips(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([0, 2]))
    assert synthesis.length_error(synthesis.Pair(short, long, CELLS)) == 0
    assert synthesis.length_error(synthesis.Pair(long, short, CELLS)) == pytest.approx(math.log(2))


def test_ldptrace_learns_the_truth_where_epsilon_is_large():
    """With epsilon 600 noise never sets a bit, and the coin's is the only one: three standard deviations are 3%."""
    visits = CELLS.visits(random_trips(7, count=20_000, longest=3))
    model = ldptrace.learn(visits, CELLS, 600.0, np.random.default_rng(0))
    first, last = visits.offsets[:-1], visits.offsets[1:] - 1
    lengths = np.bincount(visits.lengths, minlength=37)[1:37]
    assert model.longest == np.searchsorted(np.cumsum(lengths), 0.9 * 20_000) + 1
    for found, truth in ((model.lengths, lengths), (model.begins, np.bincount(visits.cells[first], minlength=36))):
        assert np.abs(found - truth).max() < 6 * math.sqrt(20_000 * 0.25)
    ends = visits.cells[np.minimum(last, first + model.longest - 1)]
    assert np.abs(model.ends - np.bincount(ends, minlength=36)).max() < 6 * math.sqrt(20_000 * 0.25)
    kept = np.minimum(visits.lengths, model.longest)
    assert model.moves.sum() == pytest.approx((kept - 1).sum(), abs=6 * math.sqrt((kept - 1).sum()))


def test_ldptrace_spends_epsilon_at_most_and_every_trip_sends_as_many_reports(monkeypatch):
    spent, sizes = [], []

    class Counted(UnaryEncoding):
        def __init__(self, eps, k):
            super().__init__(eps, k)
            spent.append(Fraction(eps))

        def draw(self, n, rng):
            sizes.append(n)
            return super().draw(n, rng)

    monkeypatch.setattr(ldptrace, "UnaryEncoding", Counted)
    visits = CELLS.visits(random_trips(8))
    for eps in (0.1, 1.0, 3.3, 10.0, 699.0):
        spent.clear()
        sizes.clear()
        model = ldptrace.learn(visits, CELLS, eps, np.random.default_rng(1))
        assert Fraction(eps) * Fraction(999, 1000) < sum(spent) <= Fraction(eps)
        assert sizes == [visits.count] * (model.longest + 2)


def test_without_padding_the_number_of_reports_tells_the_lengths(monkeypatch):
    sizes = []
    count = ldptrace._count
    monkeypatch.setattr(ldptrace, "_count", lambda *given: sizes.append(len(given[2])) or count(*given))
    visits = CELLS.visits(random_trips(9))
    model = ldptrace.learn(visits, CELLS, 20.0, np.random.default_rng(2), padded=False)
    longer = [int((visits.lengths > step).sum()) for step in range(1, model.longest)]
    assert sizes == [visits.count] * 3 + longer


def test_made_up_trips_are_those_of_the_model():
    """Of trips 0 -> 7 -> 8, and 30 alone, nothing else is made up."""
    visits = Visits(np.array([0, 7, 8, 30]), np.array([0, 3, 4]))
    many = Visits(np.tile(visits.cells, 500), np.append(0, np.cumsum(np.tile([3, 1], 500))))
    rng = np.random.default_rng(3)
    model = ldptrace.learn(many, CELLS, 600.0, rng)
    made = ldptrace.sample(model, CELLS, 1000, rng)
    trips = Counter(map(tuple, split(made.cells, made.offsets)))
    assert set(trips) <= {(0,), (0, 7), (0, 7, 8), (30,)}  # the sampled length may cut it
    points = ldptrace.places(made, CELLS, rng)
    assert points.count == 1000
    assert np.diff(points.offsets).min() == 2
    again = CELLS.visits(points)
    assert np.array_equal(again.cells, made.cells)
    assert np.array_equal(again.offsets, made.offsets)


def test_moves_lead_to_adjacent_cells():
    a = np.full(8, 14)
    b = np.array([7, 8, 9, 13, 15, 19, 20, 21])
    assert ldptrace._moves(a, b, CELLS).tolist() == (8 * 14 + np.arange(8)).tolist()
    for cells in ([14, 14], [14, 16], [14, 2], [5, 6]):
        with pytest.raises(InputError, match="from cell to adjacent cell"):
            ldptrace.learn(Visits(np.array(cells), np.array([0, 2])), CELLS, 600.0, np.random.default_rng(0))


def test_the_comparison_is_a_row_for_each_metric(monkeypatch):
    """On 300 trips, where it is not about who is better; the larger value is better for two of the metrics."""
    values = iter([dict.fromkeys(synthesis.METRICS, value) for value in (0.2, 0.4)])
    monkeypatch.setattr(synthesis, "compare", lambda *_: next(values))
    table = synthesis.versus_ldptrace(300, [4.0], repeats=1)
    assert table["metric"].tolist() == list(synthesis.METRICS)
    assert (table["ldptrace"] == 0.2).all()
    better = set(table["metric"][table["better"] == "geotracs"])
    assert better == set(synthesis.HIGHER_IS_BETTER)


@pytest.mark.slow
def test_made_up_trips_are_better_than_ldptraces():
    """By 6 of the 9 metrics at least, at a small and at a large epsilon; 3,000 trips."""
    table = synthesis.versus_ldptrace(3000, (1.0, 10.0), repeats=1)
    wins = table[table["better"] == "geotracs"].groupby("epsilon").size()
    assert wins.index.tolist() == [1.0, 10.0]
    assert (wins >= 6).all()
