from fractions import Fraction

import numpy as np
import pytest

from geotracs import Guarantee, InputError
from geotracs.core.budget import MAX_LEVELS, Allocation, Levels, check_eps, per_location, round_down, split


def test_shares_of_a_trajectory_never_exceed_its_epsilon():
    rng = np.random.default_rng(0)
    for eps in rng.uniform(1e-6, 600, 200):
        lengths = np.array([1, 3, 7, 49, 1000])
        shares = per_location(float(eps), "trajectory", lengths)
        for share, length in zip(shares[np.cumsum(lengths) - 1], lengths, strict=True):
            assert Fraction(float(share)) * int(length) <= Fraction(float(eps))
            assert share * length == pytest.approx(eps, rel=1e-12)


def test_empty_trajectories_get_no_share():
    assert per_location(4.0, "trajectory", np.array([0, 2, 0])).tolist() == pytest.approx([2, 2])


def test_numpy_numbers_are_numbers():
    assert check_eps(np.float32(2.5)) == 2.5
    assert check_eps(np.int64(3)) == 3.0


def test_too_small_to_share():
    with pytest.raises(InputError, match="too small to be shared"):
        split(5e-324, 0.5)


@pytest.mark.parametrize(
    ("eps", "words"), [(2, "exp(2) < 8 times"), (0.5, "exp(0.5) times"), (1.0000004, "pure 1.0000004-local")]
)
def test_sentences_do_not_promise_too_much(eps, words):
    assert words in str(Guarantee(method="tracs-c", epsilon=eps, longest=3, domain={"kind": "rectangle"}))


def test_record_with_unknown_fields_is_read():
    record = Guarantee(method="tracs-c", epsilon=1.0).to_attrs() | {"from_a_later_version": 1}
    assert Guarantee.from_attrs({"tracs": record}) == Guarantee(method="tracs-c", epsilon=1.0)
    for attrs in ({}, {"tracs": "x"}, {"tracs": {"method": "tracs-c"}}):
        with pytest.raises(InputError, match="carries no record"):
            Guarantee.from_attrs(attrs)


@pytest.mark.parametrize("rule", ["even", "ends", "water-filling", (3, 1, 3), (1, 1000), (1e-6, 1e6, 1, 2, 5)])
def test_uneven_shares_never_exceed_epsilon(rule):
    allocation, rng = Allocation.of(rule), np.random.default_rng(1)
    for eps in [1e-9, 699.0, *rng.uniform(1e-3, 100, 40)]:
        for length in (1, 2, 3, 4, 17, 1000):
            shares = allocation.share(eps, np.arange(length), length)
            total = sum(Fraction(share) for share in shares.tolist())
            assert Fraction(eps) * (1 - Fraction(2) ** -38) <= total <= Fraction(eps)
            assert set(np.unique(shares)) == set(allocation.shares(np.array([eps]), np.array([length])))


def test_water_filling_minimises_the_weighted_error_it_reckons_with():
    eps, n = 30.0, 6
    own = Allocation("water-filling").share(eps, np.arange(n), n)
    assert own[0] - own[1] == pytest.approx(3 * np.log(4))
    weights = np.array([4, 1, 1, 1, 1, 4])

    def error(shares):
        return float(weights @ np.exp(-shares / 3))

    for other in ("even", "ends", (2, 1, 2)):
        assert error(own) < error(Allocation.of(other).share(eps, np.arange(n), n))
    small = Allocation("water-filling").share(1.0, np.arange(10), 10)  # too little to fill the middle
    assert small[[0, 1, 9]].tolist() == pytest.approx([0.46, 0.01, 0.46])


def test_rounding_down_never_goes_up_and_is_nested():
    rng = np.random.default_rng(2)
    eps = np.concatenate([np.exp(rng.uniform(-20, 6, 5000)), 2.0 ** np.arange(-9, 9), [1e-300, np.nextafter(2, 0)]])
    fine = round_down(eps, 64)
    assert np.all((fine <= eps) & (fine * 2 ** (1 / 64) * (1 + 1e-15) > eps))
    for steps in (64, 32, 8, 1):
        np.testing.assert_array_equal(round_down(eps, steps), round_down(fine, steps))
        np.testing.assert_array_equal(round_down(fine, 64), fine)


@pytest.mark.parametrize("count", [3, MAX_LEVELS, MAX_LEVELS + 1, 40_000])
def test_levels_do_not_depend_on_how_they_are_gathered(count):
    values = np.random.default_rng(count).permutation(np.exp(np.linspace(-30, 6, count)))
    whole = Levels.of(values).few()
    parts = sum((Levels.of(part) for part in np.array_split(values, 7)), start=Levels(np.empty(0))).few()
    np.testing.assert_array_equal(whole.values, parts.values)
    assert whole.steps == parts.steps
    assert len(whole.values) <= MAX_LEVELS
    assert (whole.steps is None) == (count <= MAX_LEVELS)
    np.testing.assert_array_equal(np.unique(whole(values)), whole.values)
