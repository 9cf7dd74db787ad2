"""Units of people: their locations share an epsilon, exactly, in memory, in batches and on dask."""

from fractions import Fraction

import dask_geopandas
import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

import geotracs
from geotracs import InputError
from geotracs.answers.reader import Reader
from geotracs.geo.sharing import Unit
from tests.conftest import TOKYO
from tests.helpers import perturb, quiet

DAYS = {"trajectory": "trip", "person": "who", "time": "t"}
UNITS = ("person", "day", "1W", "36h")


@pytest.fixture(scope="module")
def people():
    """Five people, trips of which some share a label, three days, in no order."""
    rng = np.random.default_rng(0)
    n = 400
    times = pd.Timestamp("2026-03-07", tz="Asia/Tokyo") + pd.to_timedelta(rng.integers(0, 3 * 86_400, n), unit="s")
    who = np.array(["ann", "ben", "cem", "dai", "eve"])[rng.integers(0, 5, n)]
    xy = rng.uniform(TOKYO[:2], TOKYO[2:], (n, 2))
    columns = {"who": who, "trip": rng.integers(0, 12, n), "t": times}
    frame = gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(*xy.T), crs=4326)
    frame.loc[::50, "geometry"] = None
    return frame


def totals(private, unit):
    """Return the exact sum of the epsilons of each unit."""
    reader = Reader.of(private, domain=TOKYO)
    rows = private[private.geometry.notna()].iloc[reader.tracks.order]
    times = rows["t"].dt.tz_localize(None)
    slot = {"person": "", "day": times.dt.date, "1W": times.dt.to_period("W"), "36h": None}[unit]
    if unit == "36h":
        slot = (times - pd.Timestamp("1970-01-05")) // pd.Timedelta("36h")
    found = {}
    for key, eps in zip(zip(rows["who"], np.broadcast_to(slot, len(rows)), strict=True), reader.eps, strict=True):
        found[key] = found.get(key, Fraction(0)) + Fraction(float(eps))
    return found


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("method", ["joint", "tracs-d"])
def test_the_sum_over_a_unit_is_epsilon_and_never_more(people, unit, method):
    private = perturb(people, 8, method, unit=unit, **DAYS)
    assert list(private.columns) == ["who", "trip", "t", "geometry"]
    sums = totals(private, unit)
    assert len(sums) == {"person": 5, "day": 15, "1W": 10, "36h": 15}[unit]
    assert all(Fraction(8) * (1 - Fraction(1, 10**12)) < total <= 8 for total in sums.values())
    guarantee = private.tracs.guarantee
    assert guarantee.per_person == 8 * {"person": 1, "day": 3, "1W": 2, "36h": 3}[unit]
    rows = private[private.geometry.notna()]
    codes = Unit.of(unit, person="who", time="t").codes(rows, np.ones(len(rows), dtype=bool))
    assert guarantee.longest == np.bincount(codes).max()


@pytest.mark.parametrize(("unit", "method"), [("person", "joint"), ("day", "tracs-d")])
def test_files_and_dask_do_the_same(people, tmp_path, unit, method):
    ordered = people.sort_values(["trip", "t"], kind="stable", ignore_index=True)  # as tracs-d needs it in batches
    ordered.to_parquet(tmp_path / "in.parquet")
    given = {"domain": TOKYO, "keep": [], "rng": 3, "unit": unit, **DAYS}
    one = quiet(geotracs.perturb, ordered, 8, method, **given)
    quiet(geotracs.perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 8, method, batch_rows=50, **given)
    other = gpd.read_parquet(tmp_path / "out.parquet")
    assert other.geometry.equals(one.geometry)
    assert other.attrs == one.attrs
    lazy = dask_geopandas.from_geopandas(people, npartitions=3)
    third = quiet(lazy.tracs.perturb, 8, method, shuffle=True, **given)
    guarantee = third.tracs.guarantee
    assert (guarantee.unit, guarantee.person, guarantee.risk) == (unit, "who", {})
    assert all(7.99 < total <= 8 for total in totals(third.compute(), unit).values())


def test_a_column_of_epsilons_has_one_for_each_unit(people):
    given = people.assign(eps=people["who"].map({"ann": 2.0}).fillna(4.0))
    private = perturb(given, "eps", unit="person", **DAYS)
    assert sorted({round(float(total), 6) for total in totals(private, "person").values()}) == [2, 4]
    with pytest.raises(InputError, match="1 people have several values in the epsilon column 'eps'; unit='person'"):
        perturb(given.assign(eps=np.where(given.index == 3, 9.0, given["eps"])), "eps", unit="person", **DAYS)


def test_missing_labels_and_times(people):
    with pytest.raises(InputError, match=r"1 row\(s\) have no value in the person column 'who', e.g. 7;"):
        perturb(people.assign(who=people["who"].where(people.index != 7)), unit="person", **DAYS)
    with pytest.raises(InputError, match=r"1 row\(s\) have no value in the time column 't'"):
        perturb(people.assign(t=people["t"].where(people.index != 7)), unit="day", **DAYS)
    with pytest.raises(InputError, match="no column 'whom'"):
        perturb(people, unit="person", **DAYS | {"person": "whom"})


def test_a_part_of_a_release_does_not_say_what_its_locations_have(people):
    private = perturb(people, 8, unit="day", **DAYS)
    with pytest.raises(InputError, match="part of a release whose locations share an epsilon"):
        Reader.of(private[private["who"] == "ann"], domain=TOKYO)
    with pytest.raises(InputError, match="no column 'who'"):
        Reader.of(private.drop(columns="who"), domain=TOKYO)


def test_sentences_say_both_figures(people):
    day = str(perturb(people, 8, unit="day", **DAYS).tracs.guarantee)
    assert "Each day of a person was reported by tracs-c under pure 8-local" in day
    assert "shared evenly over all locations of a person and day (the public column 'who')" in day
    assert "The person with most such periods (3) has epsilon 24 as a whole." in day
    person = str(perturb(people, 8, unit="person", **DAYS).tracs.guarantee)
    assert "A person has 8 as a whole, however many trajectories." in person
    assert "trajectory labels and those of people" in person
