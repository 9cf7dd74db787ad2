import warnings

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from geotracs import InputError, PrivacyWarning
from geotracs.core.places import Grid
from tests.conftest import TOKYO
from tests.helpers import COLUMNS

pytestmark = pytest.mark.slow


def test_a_row_for_each_release(tracks):
    table = geotracs.sweep(tracks, [2, 8], ["tracs-d", "tracs-c"], 3, within=[700], domain=TOKYO, **COLUMNS)
    assert table.columns.tolist() == ["method", "epsilon", "repeat", "ae", "median", "p95", "max", "rqp_700", "privacy"]
    assert table[["method", "epsilon", "repeat"]].to_numpy().tolist() == [
        [method, eps, repeat] for method in ("tracs-d", "tracs-c") for eps in (2, 8) for repeat in (1, 2, 3)
    ]
    assert table["ae"].nunique() == len(table)


def test_it_is_what_perturb_and_compare_say(tracks):
    with pytest.warns(PrivacyWarning, match="`rng` is fixed") as caught:
        table = tracks.tracs.sweep([3], ["tracs-c"], 2, domain=TOKYO, rng=7, **COLUMNS)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    source = np.random.default_rng(7)
    for row in table.itertuples():
        with pytest.warns(PrivacyWarning, match="`rng` is fixed"):
            private = tracks.tracs.perturb(3, "tracs-c", domain=TOKYO, keep=[], rng=source, **COLUMNS)
        assert tracks.tracs.compare(private)["ae"] == row.ae


def test_a_private_domain_is_warned_of_once(tracks):
    with pytest.warns(PrivacyWarning) as caught:
        geotracs.sweep(tracks, [2, 8], repeats=2)
    assert [str(warning.message)[:23] for warning in caught] == ["`domain` was not given,"]


def test_labelled_variants(tracks):
    box = shapely.box(*TOKYO)
    table = geotracs.sweep(
        tracks,
        4,
        {
            "C": "tracs-c",
            "D, corner": {"method": "tracs-d", "start": "corner"},
            "C, smaller": {"domain": (139.6, 35.6, 139.8, 35.8)},
        },
        4,
        domain=box,
        **COLUMNS,
    )
    mean = table.groupby("method", sort=False)["ae"].mean()
    assert mean.index.tolist() == ["C", "D, corner", "C, smaller"]
    assert mean["C, smaller"] < mean["C"]  # half the size; by chance otherwise less often than once in a million


def test_input_is_unchanged_and_nothing_is_said(tracks):
    before = tracks.copy()
    with warnings.catch_warnings(action="error"):
        geotracs.sweep(tracks, [1], ["tracs-c"], 1, domain=TOKYO)
    pd.testing.assert_frame_equal(tracks, before)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"eps": [2, -1]}, "`eps` must be greater than 0"),
        ({"eps": []}, "at least one value"),
        ({"eps": [2, 2.0]}, "none twice"),
        ({"eps": ["2"]}, "`eps` must be one number"),
        ({"methods": ["tracs-c", "laplace"]}, "`method` must be one of"),
        ({"methods": []}, "`methods` must hold"),
        ({"methods": ["tracs-c", "tracs-d"], "start": "corner"}, "tracs-c has no option 'start'"),
        ({"methods": {"a": {"method": "tracs-c", "rng": 3}}}, "whole sweep"),
        ({"method": "tracs-c"}, "give `methods`"),
        ({"repeats": 0}, "`repeats` must be"),
        ({"repeats": 2.5}, "`repeats` must be"),
        ({"within": [-1]}, "`within` must hold"),
        ({"trajectory": "nobody"}, "no column 'nobody'"),
        ({"rng": "seed"}, "`rng` must be"),
        ({"domain": (1, 2, 3)}, "four numbers"),
        ({"eps": [2, 30], "methods": ["l-srr"], "round_to": Grid(2000)}, "at most 25 for a location, got 30"),
    ],
)
def test_mistakes_are_refused_before_the_first_draw(tracks, monkeypatch, arguments, match):
    def drawn(*_, **__):
        raise AssertionError("something was drawn")

    monkeypatch.setattr("geotracs.utility.sweep._released", drawn)
    with pytest.raises(InputError, match=match):
        geotracs.sweep(tracks, **{"domain": TOKYO, **arguments})


def test_not_a_frame():
    with pytest.raises(InputError, match="must be a GeoDataFrame"):
        geotracs.sweep(pd.DataFrame({"x": [1]}), domain=TOKYO)


def test_lines_missing_and_empty_frames(tracks):
    lines = tracks.sort_values("t").groupby("person")["geometry"].apply(lambda points: shapely.LineString(list(points)))
    lines = gpd.GeoDataFrame(geometry=lines, crs=4326)
    lines.loc["bob", "geometry"] = None
    assert geotracs.sweep(lines, [4], repeats=1, domain=TOKYO)["ae"].notna().all()
    empty = geotracs.sweep(tracks.iloc[:0], [4], repeats=1, domain=TOKYO)
    assert len(empty) == 3
    assert empty["ae"].isna().all()


def test_progress_is_shown_when_asked_for_and_quiet_in_a_pipe(tracks, capsys):
    geotracs.sweep(tracks, [2], repeats=1, domain=TOKYO)
    assert capsys.readouterr().err == ""
    geotracs.sweep(tracks, [2], repeats=1, domain=TOKYO, progress=True)
    assert "3/3" in " ".join(capsys.readouterr().err.replace(".00", "").split())
