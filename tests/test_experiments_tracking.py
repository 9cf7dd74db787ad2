"""How well people can be followed: the table, on little."""

import pandas as pd
import pytest
from shapely import get_coordinates

import geotracs.experiments.tracking as tracking


def test_dense_tracks_are_in_their_square_and_keep_to_the_speed():
    tracks, square = tracking.dense_tracks(2, 5, at_border=True, seed=3)
    assert tracks.total_bounds[:2].min() >= square[0]
    assert tracks.total_bounds[2:].max() <= square[2]
    for _, trip in tracks.groupby("trip"):
        xy, between = get_coordinates(trip.geometry), trip["t"].diff().iloc[1:]
        assert between.between(2, 5).all()
        assert (((xy[1:] - xy[:-1]) ** 2).sum(axis=1) ** 0.5 <= 15 * between + 60).all()  # fixes are to 5 m


def test_following_makes_errors_smaller():
    case = tracking.Case("dense", *tracking.dense_tracks(1, 5), "trip", 15)
    found = tracking.follow(case, "joint", 4, 0, cells=24)
    assert found["ratio"] == pytest.approx(found["after"] / found["before"])
    assert found["ratio"] < 0.3
    assert found["covered"] > 0.8


def test_the_summary_names_the_worst():
    row = {"tracks": "city", "method": "joint", "eps": 4, "before": 100.0, "after": 20.0}
    found = tracking.summary(pd.DataFrame([row | {"ratio": 0.2, "covered": 0.9}, row | {"ratio": 0.4, "covered": 0.7}]))
    assert found.loc[0, ["ratio", "worst_ratio", "covered", "least_covered"]].tolist() == pytest.approx(
        [0.3, 0.4, 0.8, 0.7]
    )
