"""Releases with a fixed rng are what they were; see `tests.golden`."""

import json

import pytest

from tests.golden import HASHES, cases, in_batches, in_memory, on_dask

KNOWN = json.loads(HASHES.read_text())


def test_every_case_is_known():
    assert [name for name, _ in cases()] == list(KNOWN)


every_case = pytest.mark.parametrize(
    ("name", "arguments", "lines"),
    [
        pytest.param(*case, lines, id=f"{case[0]} {'lines' if lines else 'points'}")
        for case in cases()
        for lines in (False, True)
    ],
)


def known(name, lines):
    return KNOWN[name]["lines" if lines else "points"]


@every_case
def test_golden_releases_in_memory(name, arguments, lines):
    assert in_memory(lines, arguments) == known(name, lines)["memory"]


@pytest.mark.slow
@every_case
def test_golden_releases_in_batches_or_on_dask(tmp_path, name, arguments, lines):
    """By turns: of each case points on the one path and lines on the other, and each path has both of most methods."""
    if (list(KNOWN).index(name) + lines) % 2:
        assert in_batches(lines, arguments, tmp_path) == known(name, lines)["memory"]
    else:
        assert on_dask(lines, arguments) == known(name, lines)["dask"]
