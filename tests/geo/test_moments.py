"""How many moments are best: from public numbers, and nearly as good as the best that can be found by trying."""

import numpy as np
import pytest

import geotracs
from geotracs import InputError
from geotracs.core import methods
from geotracs.geo.moments import Best
from geotracs.geo.optimum import public_setting
from geotracs.geo.trials import Setting

BOX = (139.5, 35.5, 139.8, 35.8)


@pytest.fixture(scope="module")
def setting():
    return Setting(public_setting(BOX, None, prior=None, weight=None, crs="EPSG:4326")[0], None)


def best(setting, eps, method="joint"):
    return Best.of(setting, methods.make(method), eps, 3.5, 15.0)


def test_more_epsilon_means_more_moments(setting):
    found = [best(setting, eps).moments(1000) for eps in (0.5, 2.0, 8.0, 30.0, 100.0, 300.0, 650.0)]
    assert found == sorted(found)
    assert found[0] == found[2] == 1
    assert 2 <= found[3] <= 5
    assert found[4] > found[3]


def test_never_worse_than_a_constant_point_or_all_fixes(setting):
    for eps in (0.1, 1.0, 10.0, 100.0):
        one = best(setting, eps)
        error = one.error(np.array([one.moments(500), 500]), 500)
        assert error[0] <= 1.011 * min(error[1], one.cap)


def test_short_tracks_and_slow_people(setting):
    one = best(setting, 100.0)
    assert one.most(np.array([1, 2, 0, 1000])).tolist()[:3] == [1, 2, 0]
    still = Best.of(setting, methods.make("joint"), 100.0, 3.5, 0.01)
    assert still.moments(1000) <= 2 < one.moments(1000)  # nobody moves: all epsilon for few reports


def test_advice_says_how_many(setting):
    table = geotracs.advise(BOX, 30, speed=15, interval=3.5, length=1000, methods=["joint", "tracs-c"])
    assert list(table.columns) == ["moments", "every", "mean", "all", "privacy"]
    assert table.loc["joint", "moments"] == best(setting, 30.0).moments(1000)
    assert table.loc["joint", "every"] == pytest.approx(3500 / table.loc["joint", "moments"])
    assert (table["mean"] < table["all"] / 2).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"interval": 5}, "`length` must be a number of fixes"),
        ({"length": 100}, "`interval` must be a number of seconds"),
        ({"speed": 5}, "`speed` is for tracks"),
        ({"interval": 5, "length": 0}, "`length` must be a number of fixes"),
        ({"interval": 0, "length": 10}, "`interval` must be a number of seconds"),
        ({"interval": 5, "length": 10, "error": 500}, "`error` is for single reports"),
    ],
)
def test_bad_numbers(given, message):
    with pytest.raises(InputError, match=message):
        geotracs.advise(BOX, 8, methods=["joint"], **given)
