"""Releases with a fixed rng are what they were; see `tests.golden`."""

import json

import pytest

from tests.golden import HASHES, cases, in_batches, in_memory, on_dask

KNOWN = json.loads(HASHES.read_text())


def test_every_case_is_known():
    assert [name for name, _ in cases()] == list(KNOWN)


@pytest.mark.parametrize("lines", [False, True], ids=["points", "lines"])
@pytest.mark.parametrize(("name", "arguments"), [pytest.param(*case, id=case[0]) for case in cases()])
def test_golden_releases(tmp_path, name, arguments, lines):
    known = KNOWN[name]["lines" if lines else "points"]
    assert in_memory(lines, arguments) == known["memory"]
    assert in_batches(lines, arguments, tmp_path) == known["memory"]
    assert on_dask(lines, arguments) == known["dask"]
