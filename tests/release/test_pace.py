"""The warning of dense releases: by their times and public things alone, with both numbers."""

import warnings

import dask_geopandas
import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

import geotracs
from geotracs.core.following import followed
from geotracs.core.guarantee import Guarantee, recorded
from geotracs.errors import PrivacyWarning
from geotracs.release.pace import Pace
from geotracs.views.maps.words import distance
from tests.helpers import quiet

SQUARE = (0.0, 0.0, 30_000.0, 30_000.0)
GIVEN = {"domain": SQUARE, "trajectory": "who", "time": "t", "keep": []}


def fixes(interval, n=200, people=2, seed=0):
    rng = np.random.default_rng(seed)
    columns = {"who": np.repeat(np.arange(people), n), "t": np.tile(interval * np.arange(n), people)}
    return gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(*rng.uniform(0, 30_000, (2, n * people))), crs=32654)


def caught(function, *args, **kwargs):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = function(*args, **kwargs)
    return result, [one for one in found if "follows a person" in str(one.message)]


def test_dense_releases_warn_once_with_both_numbers():
    private, found = caught(geotracs.perturb, fixes(4), 8, **GIVEN)
    assert len(found) == 1
    assert found[0].category is PrivacyWarning
    assert found[0].filename == __file__
    risk = private.attrs["tracs"]["risk"]
    assert f"about {risk['followed']:,.0f} m" in str(found[0].message)
    assert f"report is {risk['report']:,.0f} m off" in str(found[0].message)
    assert risk["followed"] < risk["report"] / 3


@pytest.mark.parametrize("interval", [4 * 3600, 48 * 3600])
def test_check_ins_hours_apart_do_not(interval):
    private, found = caught(geotracs.perturb, fixes(interval), 8, **GIVEN)
    assert found == []
    assert "risk" not in private.attrs["tracs"]
    assert private.tracs.guarantee.risk == {}


def test_the_warning_depends_on_no_location():
    """The same times, other places: the same numbers, to the last digit; those of a release of one place as well."""
    one, two = fixes(20, seed=1), fixes(20, seed=2)
    still = one.set_geometry(gpd.GeoSeries([one.geometry[0]] * len(one), crs=one.crs))
    risks = [quiet(geotracs.perturb, frame, 4, **GIVEN).attrs["tracs"]["risk"] for frame in (one, two, still)]
    assert risks[0] == risks[1] == risks[2]


def test_a_region_that_was_fitted_to_the_data_is_not_told():
    private, found = caught(geotracs.perturb, fixes(4), 8, trajectory="who", time="t", keep=[])
    assert found == []
    assert "risk" not in private.attrs["tracs"]


@pytest.mark.parametrize("lacking", ["time", "rows", "lines"])
def test_nothing_is_said_without_times(lacking):
    frame, given = fixes(4), dict(GIVEN)
    if lacking == "time":
        given["time"] = None
    elif lacking == "rows":
        frame = frame.drop_duplicates("who")
    else:
        lines = frame.dissolve("who").geometry.apply(lambda points: __import__("shapely").LineString(points.geoms))
        frame, given = lines.reset_index(), {"domain": SQUARE, "keep": []}
    private, found = caught(geotracs.perturb, frame, 8, **given)
    assert found == []
    assert "risk" not in private.attrs["tracs"]


def test_files_and_dask_warn_too_and_record_the_same(tmp_path):
    frame = fixes(4)
    whole = quiet(geotracs.perturb, frame, 8, **GIVEN).attrs["tracs"]["risk"]
    frame.to_parquet(tmp_path / "in.parquet")
    for rows in (None, 50):
        out = tmp_path / f"{rows}.parquet"
        guarantee, found = caught(geotracs.perturb_file, tmp_path / "in.parquet", out, 8, batch_rows=rows, **GIVEN)
        assert len(found) == 1
        assert guarantee.risk == gpd.read_parquet(out).attrs["tracs"]["risk"] == whole
    private, found = caught(dask_geopandas.from_geopandas(frame, npartitions=1).tracs.perturb, 8, **GIVEN)
    assert len(found) == 1
    assert private.tracs.guarantee.risk == whole


def test_the_epsilon_of_a_trajectory_protects():
    shared, found = caught(geotracs.perturb, fixes(60), 8, unit="trajectory", **GIVEN)
    assert found == []
    each = quiet(geotracs.perturb, fixes(60), 8, **GIVEN)
    assert shared.attrs["tracs"]["risk"]["followed"] > each.attrs["tracs"]["risk"]["followed"]


@pytest.mark.parametrize("method", ["tracs-c", "tracs-d", "nearest"])
def test_every_kind_of_method_has_an_estimate(method):
    places = gpd.GeoSeries(gpd.points_from_xy(*np.random.default_rng(0).uniform(0, 30_000, (2, 50))), crs=32654)
    given = {**GIVEN, "round_to": places if method == "nearest" else None}
    risk = quiet(geotracs.perturb, fixes(4), 4, method, **given).attrs["tracs"]["risk"]
    assert 0 < risk["followed"] < risk["report"] < 15_000


def test_guarantee_and_legend_name_both_numbers():
    private = quiet(geotracs.perturb, fixes(4), 8, **GIVEN)
    risk, text = private.tracs.guarantee.risk, str(private.tracs.guarantee)
    assert f"about {risk['report']:,.0f} m off on average; whoever follows a person" in text
    page = private.tracs.explore(tiles=None, view="overlay").get_root().render()
    assert f"a report is about {distance(risk['report'])} off" in page
    assert f"whoever follows a person through it is {distance(risk['followed'])} off" in page
    assert Guarantee.from_attrs(private.attrs) == private.tracs.guarantee
    assert recorded({"tracs": {**private.attrs["tracs"], "risk": {"report": "far"}}}) == {}


def test_gaps_are_those_to_neighbours_of_the_same_trajectory_in_the_order_of_time():
    frame = pd.concat([fixes(10, 3), fixes(10, 1)], ignore_index=True).sample(frac=1, random_state=1)
    frame["who"] = frame["who"] * 5 + (frame["t"] > 5)
    pace = Pace.of(gpd.GeoDataFrame(frame), "who", "t")
    assert set(pace.gaps) <= {0.0, 5.0, 10.0}
    assert set(pace.counts) == {2}


def test_the_estimate_falls_with_pace_epsilon_and_number():
    n, gap = np.full(9, 100), np.full(9, 30.0)
    base = followed(2000.0, 4.0, gap, n)
    assert followed(2000.0, 4.0, gap / 9, n) < base < followed(2000.0, 4.0, 9 * gap, n) < 2000
    assert followed(2000.0, 8.0, gap, n) < base < followed(2000.0, 4.0, gap, np.full(9, 2))
    assert followed(2000.0, 4.0, gap[:0], n[:0]) == 2000


def test_rows_that_share_a_report_do_not_average_out():
    """A new report comes only after the way through a cell, so that whoever follows people finds less."""
    alone, many = (
        quiet(geotracs.perturb, fixes(4), 8, **GIVEN),
        quiet(geotracs.perturb, fixes(4), 8, repeat="same", **GIVEN),
    )
    known = [private.attrs["tracs"]["risk"]["followed"] for private in (alone, many)]
    assert known[0] < known[1] / 1.3
    wide = quiet(geotracs.perturb, fixes(4), 8, repeat="same", cell=2000, **GIVEN).attrs["tracs"]["risk"]["followed"]
    assert wide > known[1]
