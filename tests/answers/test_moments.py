"""Rows of a reconstruction."""

import numpy as np
import pandas as pd
import pytest

import geotracs.answers.moments as moments
from geotracs.answers.reader import Reader
from tests.helpers import COLUMNS, perturb


@pytest.fixture
def released(tracks):
    return perturb(tracks, 4, "joint", **COLUMNS)


def test_reports_are_a_minute_apart(released):
    rows = moments.read(released, Reader.of(released))
    assert rows.report.tolist() == list(range(60))
    assert np.isinf(rows.seconds[[0, 20, 40]]).all()
    assert rows.seconds[1:20].tolist() == [60.0] * 19
    assert rows.added is None


def test_moments_between(released):
    at = pd.to_datetime(["2026-01-01 00:00:15", "2026-01-01 00:00:15", "2026-01-01 00:02:00", "2030-01-01 00:00:00"])
    rows = moments.read(released, Reader.of(released), at)
    assert (rows.report < 0).sum() == 3
    assert rows.report[:3].tolist() == [0, -1, 1]
    assert rows.seconds[1:3].tolist() == [15.0, 45.0]
    assert rows.added.tolist() == [pd.Timestamp("2026-01-01 00:00:15")] * 3


def test_added_rows_know_their_trajectory(released):
    reader = Reader.of(released)
    rows = moments.read(released, reader, "7min")
    n = len(rows.report)
    found = moments.output(released, reader, rows, np.zeros((n, 2)) + np.arange(n)[:, None], np.arange(n, dtype=float))
    assert found.groupby("person")["filled"].sum().tolist() == [0, 0, 0]  # the 7th and 14th minute have reports
    rows = moments.read(released, reader, "7min30s")
    n = len(rows.report)
    found = moments.output(released, reader, rows, np.zeros((n, 2)) + np.arange(n)[:, None], np.arange(n, dtype=float))
    own = found[found["filled"]]
    assert own.groupby("person")["t"].nunique().tolist() == [1, 1, 1]
    order = released["person"].drop_duplicates().tolist()
    assert found["person"].drop_duplicates().tolist() == order
    assert found["radius"].is_monotonic_increasing
    assert np.array_equal(found.geometry.x, found["radius"])
    assert found["t"].dtype == released["t"].dtype
