"""The risk of a release: figures beside baselines, marked where they are private, and errors for bad input."""

import json
import re

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
import geotracs.trust.risk as risks
from geotracs.errors import InputError
from geotracs.geo.optimum import public_setting
from geotracs.trust.risk_attacks import KINDS, attacks
from geotracs.trust.risk_people import Habits, tracks, way
from geotracs.trust.risk_result import NAMES
from tests.helpers import quiet

SQUARE = (0.0, 0.0, 20_000.0, 20_000.0)
SMALL = {"people": 6, "fixes": 48, "cells": 24, "crs": 32654}


def made_up(days=True, people=6, fixes=20, seed=0):
    """People who stay at home at night and at work by day."""
    rng = np.random.default_rng(seed)
    homes, works = rng.uniform(3000, 17_000, (2, people, 2))
    xy = np.concatenate([np.repeat(homes[:, None], fixes, 1), np.repeat(works[:, None], fixes, 1)], axis=1).reshape(
        -1, 2
    )
    seconds = np.tile(np.append(3600 + 300 * np.arange(fixes), 10 * 3600 + 300 * np.arange(fixes)), people)
    times = pd.Timestamp("2026-03-02") + pd.to_timedelta(seconds, unit="s") if days else seconds
    columns = {"who": np.repeat(np.arange(people), 2 * fixes), "t": times}
    return gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(*xy.T), crs=32654)


def released(frame, eps=8, **arguments):
    given = {"domain": SQUARE, "trajectory": "who", "time": "t", "keep": [], "rng": 1} | arguments
    return quiet(geotracs.perturb, frame, eps, **given)


@pytest.fixture(scope="module")
def owned():
    originals = made_up()
    return originals, released(originals), originals.tracs.risk(released(originals), cells=24)


def test_every_attack_has_a_row_and_words(owned):
    _, _, found = owned
    assert list(found.table.index) == list(NAMES)
    assert (found.table["low"] <= found.table["value"]).all()
    assert (found.table["value"] <= found.table["high"]).all()
    assert found.table["people"].eq(6).all()
    assert set(KINDS) == {"report", "averaging", "stays", "tracking", "home and work", "linkage", "within"}


def test_attacks_find_more_than_a_report_and_much_more_than_a_guess(owned):
    table = owned[2].table
    for attack in ("averaging", "stay, median", "stay, posterior", "tracking", "home", "work"):
        assert table.loc[attack, "value"] < table.loc["report", "value"] < table.loc["report", "baseline"]
    assert table.loc["stay, posterior", "value"] < table.loc["stay, median", "value"] < 600
    assert table.loc["home", "value"] < 250
    assert table.loc["known points", ["value", "baseline"]].tolist() == pytest.approx([1, 1 / 6])
    assert table.loc["within, tracking", "value"] > table.loc["within, report", "value"]


def test_at_an_epsilon_that_tells_nothing_attacks_are_no_better_than_guesses():
    originals = made_up(people=12)
    table = originals.tracs.risk(released(originals, 0.01), cells=24).table
    for attack in ("home", "work", "stay, posterior", "tracking"):
        assert table.loc[attack, "value"] > 0.75 * table.loc[attack, "baseline"]
    for attack in ("two releases", "known points"):
        assert table.loc[attack, "low"] <= 1 / 12 + 0.1  # false alarm below 1%: 4 of 12 hits by chance


def test_the_result_is_marked_and_holds_no_location(owned):
    originals, _, found = owned
    assert found.private
    assert "keep confidential" in repr(found)
    assert found.table.attrs["private"]
    text = json.dumps(found.to_dict()) + repr(found)
    xy = shapely.get_coordinates(originals.geometry)
    assert not {f"{value:.1f}" for value in np.unique(xy)} & set(re.findall(r"\d+\.\d", text))
    assert "keep confidential" in found.plot().get_title()


def test_public_figures_need_no_data_and_say_so():
    found = geotracs.risk(SQUARE, 8, interval=5, **SMALL)
    again = geotracs.risk(SQUARE, 8, interval=5, **SMALL)
    assert not found.private
    assert "no private location" in repr(found)
    pd.testing.assert_frame_equal(found.table, again.table)
    assert found["tracking"] < found["report"] / 3
    assert found.to_dict()["epsilon"] == 8
    with pytest.raises(InputError, match="no attack 'guessing'"):
        found["guessing"]


def test_sparse_reports_protect_whoever_is_on_the_way():
    dense, sparse = (geotracs.risk(SQUARE, 4, interval=gap, **SMALL) for gap in (5, 7200))
    assert dense["tracking"] < sparse["tracking"] / 2


@pytest.mark.parametrize(
    "given", [{"method": "tracs-c"}, {"unit": "trajectory"}, {"round_to": geotracs.places.Grid(nx=20, ny=30)}]
)
def test_other_releases_are_attacked_too(given):
    table = geotracs.risk(SQUARE, 8, interval=30, **SMALL, **given).table
    assert {"report", "tracking", "home"} <= set(table.index)
    assert np.isfinite(table.drop(columns="measure").to_numpy(dtype=float)).all()


@pytest.mark.slow
def test_methods_that_look_back_are_attacked_too():
    table = geotracs.risk(SQUARE, 8, interval=30, method="tracs-d", people=5, fixes=10, cells=16, crs=32654).table
    assert table.loc["home", "value"] < table.loc["report", "value"]


def test_numbers_for_times_have_no_nights():
    originals = made_up(days=False)
    found = originals.tracs.risk(released(originals), cells=24)
    assert not {"home", "work"} & set(found.table.index)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda a, b: (a, a), "carries no record"),
        (lambda a, b: (b, a), "swap them"),
        (lambda a, b: (a.iloc[:50], b), "differ in their index"),
        (lambda a, b: (a.iloc[:80], b.iloc[:80]), "5 at least; the column 'who' has 2"),
        (lambda a, b: (a, released(a, time=None)), "no times on record"),
        (lambda a, b: (a, released(a, trajectory=None)), "whose rows"),
        (lambda a, b: (a.assign(who=a["who"].where(a["who"] > 0)), b), "40 row\\(s\\) have no label"),
    ],
)
def test_what_cannot_be_attacked_raises(owned, change, match):
    originals, private = change(*owned[:2])
    with pytest.raises(InputError, match=match):
        originals.tracs.risk(private)


@pytest.mark.parametrize(
    ("name", "value"),
    [("interval", 0), ("speed", -1), ("stay", 1.0), ("people", 2), ("fixes", 0), ("within", "near"), ("known", 0)],
)
def test_wrong_numbers_raise(name, value):
    with pytest.raises(InputError, match=f"`{name}` must be"):
        geotracs.risk(SQUARE, 4, **{"interval": 60, **SMALL, name: value})


def test_of_many_rows_those_of_some_people_are_attacked(owned, monkeypatch):
    monkeypatch.setattr(risks, "MAX_ROWS", 100)
    case = risks.case(*owned[:2])
    assert len(np.unique(case.person)) == 5
    assert [one.attack for one in attacks(case, ["report"])] == ["report"]


def test_made_up_people_live_in_the_region_and_keep_to_the_speed():
    region, _ = public_setting(SQUARE, None, prior=None, weight=None, crs=32654)
    habits = Habits(interval=20, speed=10, stay=0.3, people=4, fixes=60)
    made = tracks(region, habits, seed=1)
    assert made["person"].nunique() == 4
    assert shapely.box(*SQUARE).covers(made.geometry.values).all()
    assert set(made.groupby("person")["time"].agg(lambda times: times.dt.date.nunique())) == {2}
    seconds = np.arange(0, 3000, 7.0)
    steps = np.hypot(*np.diff(way(seconds, habits, np.random.default_rng(0)), axis=0).T)
    assert steps.max() <= 7 * 10 + 1e-6
    assert np.mean(steps == 0) > 0.1


def test_curves_fall_with_epsilon_and_with_the_pace():
    found = geotracs.risk_curves(SQUARE, 8, epsilons=[2, 8], intervals=[5, 3600], **SMALL)
    assert found["along"].tolist() == ["epsilon"] * 2 + ["pace"] * 2
    assert found["report"].is_monotonic_decreasing or found["report"][0] > found["report"][1]
    assert found["attacker"][2] < found["attacker"][3] / 2
    with pytest.raises(InputError, match="at least one value"):
        geotracs.risk_curves(SQUARE, epsilons=[], intervals=[])
