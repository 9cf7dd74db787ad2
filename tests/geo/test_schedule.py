"""Which rows a schedule takes: by time and number, and the same in pieces."""

import numpy as np
import pytest

from geotracs import InputError
from geotracs.geo.filling import Between
from geotracs.geo.schedule import Before, Schedule, candidates, is_middle, reported

REFUSED = [
    ({"every": "0min"}, "`every` must be a length of time greater than 0"),
    ({"every": "-5min"}, "`every` must be a length of time greater than 0"),
    ({"every": 15}, "`every` must be a length of time greater than 0"),
    ({"every": "1M"}, "Months and years differ in length"),
    ({"at_most": 0}, "`at_most` must be a whole number of at least 1"),
    ({"at_most": 2.5}, "`at_most` must be a whole number of at least 1"),
    ({"at_most": True}, "`at_most` must be a whole number of at least 1"),
    ({"fill": "hold"}, "`fill` is for rows that are not reported; give it with `every` or `at_most`"),
    ({"at_most": 2, "fill": "guess"}, "`fill` must be one of"),
    ({"every": "auto", "at_most": 3}, "leave out `at_most`"),
    ({"at_most": 3, "speed": 3}, '`speed` is for every="auto"'),
    ({"every": "auto", "speed": -1}, "`speed` must be a number of metres per second"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_no_schedule(given, message):
    with pytest.raises(InputError, match=message):
        Schedule.of(**{"every": None, "at_most": None, "fill": None, "speed": None} | given)


def test_the_middle_ones_of_equal_parts():
    for length in range(1, 40):
        for parts in range(1, length + 1):
            want = sorted({(2 * k + 1) * length // (2 * parts) for k in range(parts)})
            one = np.ones(length, dtype=int)
            assert np.flatnonzero(is_middle(np.arange(length), length * one, parts * one)).tolist() == want
            assert len(want) == parts


def test_pieces_are_chosen_like_the_whole():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(7), [1, 30, 2, 50, 9, 1, 40])
    slots = np.concatenate([np.sort(rng.integers(0, 12, np.count_nonzero(codes == code))) for code in range(7)])
    most = lambda lengths: np.full(len(lengths), 4)  # noqa: E731
    some = candidates(codes, slots)
    lengths = np.bincount(codes[some])
    whole = some.copy()
    whole[some] = reported(codes[some], lengths, most)
    for cut in range(1, len(codes)):
        first, second = (slice(0, cut), slice(cut, None))
        earlier = codes[first] == codes[cut]
        before = Before(int(slots[cut - 1]), int(some[first][earlier].sum())) if codes[cut] == codes[cut - 1] else None
        own = candidates(codes[second] - codes[cut], slots[second], before)
        assert np.array_equal(own, some[second])
        part = own.copy()
        part[own] = reported((codes[second] - codes[cut])[own], lengths[codes[cut] :], most, before)
        assert np.array_equal(part, whole[second])


def test_rows_between_know_both_sides():
    units = np.array([0, 0, 0, 1, 1, 2])
    known = np.array([False, True, False, True, False, True])
    found = Between.of(units, np.array([0.0, 1, 2, 0, 9, 5]), known)
    assert found.before.tolist() == [1, 1, 1, 3, 3, 5]
    assert found.after.tolist() == [1, 1, 1, 3, 3, 5]
    assert found.share.tolist() == [0.0] * 6
