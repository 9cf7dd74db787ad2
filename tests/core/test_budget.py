from fractions import Fraction

import numpy as np
import pytest

from geotracs import Guarantee, InputError
from geotracs.core.budget import check_eps, per_location, split


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
