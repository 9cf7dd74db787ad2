"""Windows of tokens: exactly k each, the nearest first, ties by number, whatever way they are found."""

import pickle

import numpy as np
import pytest

from geotracs.core.methods import token_windows as module
from geotracs.core.methods.token_windows import TokenWindows


def by_hand(points, weights, k, secret):
    """The tokens that each place gives to the window of a secret, by the definition."""
    square = ((points - points[secret]) ** 2).sum(axis=1)
    taken, left = np.zeros(len(points), dtype=int), k
    for place in sorted(range(len(points)), key=lambda y: (square[y], y)):
        taken[place] = min(left, weights[place])
        left -= taken[place]
    return taken


def unpacked(windows, n, m, k):
    """The same from the windows of n secrets."""
    taken = np.zeros((n, m), dtype=int)
    np.add.at(taken, ((windows.ends - 1) // k, windows.members), windows.taken)
    return taken


def grid(side):
    return np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2).astype(float)


SETS = {
    "grid": grid(15),
    "random": np.random.default_rng(0).random((225, 2)),
    "in a row": np.column_stack([np.arange(225.0) // 2, np.arange(225) % 2 * 1e-3]),
    "on a circle": np.column_stack([f(np.arange(225) * 2 * np.pi / 225) for f in (np.cos, np.sin)]),
}
WEIGHTS = {
    "one each": np.ones(225, dtype=int),
    "some none": np.random.default_rng(1).integers(0, 5, 225),
    "uneven": (np.random.default_rng(2).pareto(0.5, 225) * 10).astype(int) + (np.arange(225) == 7),
    "all on one": np.where(np.arange(225) == 100, 10**9, 0),
}


@pytest.mark.parametrize("points", SETS.values(), ids=SETS)
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.5, 0.999, 1.0])
def test_windows_are_the_nearest_tokens(points, weights, share):
    k = max(1, int(share * weights.sum()))
    secrets = np.arange(0, 225, 8)
    found = TokenWindows(points, weights, k).around(secrets)
    assert np.all(found.taken > 0)
    assert found.ends[-1] == len(secrets) * k
    taken = unpacked(found, len(secrets), 225, k)
    assert np.all(taken.sum(axis=1) == k)
    assert np.all(taken <= weights)
    for row, secret in enumerate(secrets.tolist()):
        assert taken[row].tolist() == by_hand(points, weights, k, secret).tolist()


def test_lists_grow_until_no_window_runs_short():
    """Far from the tokens a window is as large as near to them; lists that start with 16 places hold one token each."""
    points = np.random.default_rng(3).random((3000, 2))
    weights = np.where(np.arange(3000) < 2, 10_000, 1)
    windows = TokenWindows(points, weights, 300)
    assert windows._typical < 300
    taken = unpacked(windows.around(np.arange(3000)), 3000, 3000, 300)
    assert np.all(taken.sum(axis=1) == 300)
    for secret in (0, 5, 2999):
        assert taken[secret].tolist() == by_hand(points, weights, 300, secret).tolist()


def test_kept_fresh_and_cut_windows_are_the_same(monkeypatch):
    points, weights = np.random.default_rng(4).random((500, 2)), np.random.default_rng(5).integers(0, 9, 500)
    every, some = np.arange(500), np.array([3, 499, 0, 250])
    windows = TokenWindows(points, weights, 100)
    fresh = windows.around(some)
    kept = windows.around(every)
    assert windows._kept is not None
    for one, other in zip(windows.around(some), fresh, strict=True):
        assert np.array_equal(one, other)
    monkeypatch.setattr(module, "KEPT", 0)
    monkeypatch.setattr(module, "ENTRIES", 1000)
    small = TokenWindows(points, weights, 100)
    assert len(small.parts(500)) > 1
    for one, other in zip(small.around(every), kept, strict=True):
        assert np.array_equal(one, other)


def test_pickle():
    windows = TokenWindows(SETS["random"], WEIGHTS["some none"], 20)
    windows.around(np.arange(225))
    again = pickle.loads(pickle.dumps(windows))
    assert again._kept is None
    for one, other in zip(again.around(np.arange(9)), windows.around(np.arange(9)), strict=True):
        assert np.array_equal(one, other)
