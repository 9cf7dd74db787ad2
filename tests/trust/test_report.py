"""The report for a privacy officer: right sums, no original, nothing from elsewhere, and clear words for bad input."""

import hashlib
import html
import json
import re

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
import geotracs.trust.report_checks as checks
from geotracs.errors import GeotracsWarning, InputError
from geotracs.trust.report_map import svg
from geotracs.trust.report_page import page
from geotracs.trust.scan import originals_in
from tests.helpers import quiet

BOX = (139.5, 35.5, 139.8, 35.8)
PEOPLE, TRIPS, REPORTS = 6, 2, 9
GIVEN = {"domain": BOX, "trajectory": "trip", "time": "t", "keep": ["who"]}
BARE = {"risk": False, "audit": False}


def tracks():
    """Six people with two trips each, one on each of two days, 9 fixes a minute apart."""
    rng = np.random.default_rng(3)
    trips = np.repeat(np.arange(PEOPLE * TRIPS), REPORTS)
    day, n = trips % TRIPS, len(trips)
    times = pd.Timestamp("2026-03-02 08:00") + pd.to_timedelta(
        24 * 60 * day + np.tile(np.arange(REPORTS), PEOPLE * TRIPS), "min"
    )
    points = gpd.points_from_xy(rng.uniform(139.55, 139.75, n), rng.uniform(35.55, 35.75, n))
    return gpd.GeoDataFrame({"who": trips // TRIPS, "trip": trips, "t": times}, geometry=points, crs=4326)


def released(frame, eps=2, **arguments):
    return quiet(geotracs.perturb, frame, eps, **GIVEN | arguments)


@pytest.fixture(scope="module")
def originals():
    return tracks()


@pytest.fixture(scope="module")
def private(originals):
    return released(originals)


@pytest.fixture(scope="module")
def risk():
    return geotracs.risk(BOX, 2, interval=60, people=5, fixes=16, cells=16)


@pytest.fixture(scope="module")
def audit():
    return geotracs.audit("joint", 2, BOX, checks=["exact"], rng=0)


@pytest.fixture(scope="module")
def made(private, risk, audit):
    return private.tracs.report(person="who", risk=risk, audit=audit)


@pytest.fixture
def small(monkeypatch):
    """Attacks and audits that are made for a report are quick."""
    monkeypatch.setattr(checks, "PEOPLE", 5)
    monkeypatch.setattr(checks, "CELLS", 16)
    monkeypatch.setattr(checks, "QUICK", {**checks.QUICK, "draws": 5000})


def sums(report):
    return {row["of"]: row["largest"] for row in report.facts["epsilon"]}


class TestSums:
    def test_of_a_report_a_trajectory_a_person_and_a_day(self, made):
        one = 2.0 * REPORTS
        assert sums(made) == {"one report": 2, "a trajectory": one, "a person": 2 * one, "a person in a day": one}
        assert [row["count"] for row in made.facts["epsilon"]] == [108, 12, 6, 12]

    def test_of_a_shared_epsilon(self, originals):
        report = released(originals, 9, unit="trajectory").tracs.report(person="who", **BARE)
        found = sums(report)
        assert found["a trajectory"] == 9
        assert found["one report"] == pytest.approx(1, rel=1e-6)
        assert found["a person"] == pytest.approx(18, rel=1e-6)

    @pytest.mark.parametrize(("unit", "person"), [("person", 9), ("day", 18)])
    def test_of_people_and_days_that_share_an_epsilon(self, originals, unit, person):
        report = released(originals, 9, unit=unit, person="who", keep=[]).tracs.report(**BARE)
        found = sums(report)
        assert found["a person"] == person
        assert found["a person in a day"] == 9 / (TRIPS if unit == "person" else 1)
        assert report.facts["release"]["added"] == []

    def test_of_a_column(self, originals):
        frame = originals.assign(own=np.where(originals["trip"] == 3, 4.0, 1.0))
        found = sums(released(frame, "own").tracs.report(person="who", **BARE))
        assert found == {"one report": 4, "a trajectory": 36, "a person": 45, "a person in a day": 36}

    def test_days_begin_at_midnight_of_the_time_zone(self, originals):
        frame = originals.assign(t=originals["t"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
        frame["t"] += pd.Timedelta("6h56min")  # 23:56 in Tokyo, and 14:56 in UTC
        found = released(frame).tracs.report(person="who", **BARE).facts["epsilon"]
        assert found[3]["count"] == PEOPLE * (TRIPS + 1)  # each trip goes over midnight

    def test_without_persons_or_times(self, private, originals):
        found = private.tracs.report(**BARE).facts["epsilon"]
        assert (found[2]["largest"], found[3]["of"]) == (None, "a trajectory in a day")
        assert "does not say whose" in found[2]["remark"]
        found = released(originals, time=None).tracs.report(person="who", period="1h", **BARE).facts["epsilon"]
        assert (found[3]["largest"], found[3]["remark"]) == (None, "The release has no times on record.")


class TestPage:
    def test_no_original_in_page_or_json(self, made, originals, private, tmp_path):
        xy, reports = (shapely.get_coordinates(frame.geometry) for frame in (originals, private))
        for name in ("report.html", "report.json"):
            made.write(tmp_path / name)
        assert originals_in(tmp_path, xy, reports) == []
        leaking = made.to_html().replace("</main>", f"<p>{xy[5][0]}</p></main>")
        (tmp_path / "leak.html").write_text(leaking)
        assert {found.row for found in originals_in(tmp_path, xy, reports)} == {5}

    def test_nothing_is_loaded_and_nothing_runs(self, made):
        text = made.to_html()
        assert not re.search(r"<script|javascript:|\son\w+=|\ssrc=|<link|<iframe|<object|url\(|@import|https?:", text)
        assert "default-src 'none'" in text

    def test_what_it_says(self, made, private, risk):
        text = html.unescape(made.to_html())
        for words in (str(private.tracs.guarantee), "Singling out", "Linkability", "Inference", "36", risk.note[:20]):
            assert words in text or words == risk.note[:20]
        assert f"{risk['known points']:.0%}" in text
        assert made.facts["versions"]["geotracs"] in text
        assert made.facts["risk"]["source"] == "made-up people"
        assert not made.confidential
        assert "Confidential" not in text

    def test_names_are_text(self, originals):
        frame = originals.rename(columns={"who": "<script>alert(1)</script>"})
        private = released(frame, keep=["<script>alert(1)</script>"])
        text = private.tracs.report(title="{{ 7 * 7 }} <b>", **BARE).to_html()
        assert "<script" not in text
        assert "{{ 7 * 7 }} &lt;b&gt;" in text

    def test_the_map_is_of_the_region_only(self, made, private):
        setting = checks.again.setting(private.tracs.guarantee, private.crs, np.array([2.0]))
        assert made.picture == svg(
            setting.region, [(name, made.facts["risk"]["figures"][name]["value"]) for name in ("report", "tracking")]
        )
        assert made.picture.count("<circle") == 2

    def test_json_is_plain(self, made):
        assert json.loads(json.dumps(made.to_dict(), allow_nan=False)) == made.to_dict()
        assert page(json.loads(json.dumps(made.to_dict())), made.picture) == made.to_html()


class TestChecks:
    def test_they_are_made_if_none_are_given(self, private, small):
        report = private.tracs.report(speed=5)
        found = report.facts["risk"]
        assert found["setting"]["interval"] == 60
        assert found["setting"]["people"] == 5
        assert {"report", "tracking", "known points", "two releases"} <= set(found["figures"])
        assert report.facts["audit"]["passed"]
        assert {check["check"] for check in report.facts["audit"]["checks"]} == {"exact", "draws", "control"}

    @pytest.mark.parametrize(
        "arguments",
        [
            {"domain": shapely.Point(139.65, 35.65).buffer(0.14), "embed": True},
            {"method": "tracs-d", "domain": geotracs.domains.Disc((139.65, 35.65), 15_000)},
            {"method": "nearest", "round_to": geotracs.places.Grid(nx=8, ny=8)},
            {"unit": "trajectory"},
            {"unit": "day", "person": "who", "keep": []},
        ],
        ids=["polygon", "disc", "places", "trajectory", "day"],
    )
    def test_on_every_kind_of_release(self, originals, small, arguments):
        report = released(originals, outside="clip", **arguments).tracs.report()
        assert report.facts["risk"]["source"] == "made-up people"
        assert report.facts["audit"]["done"]
        assert report.facts["audit"]["passed"]
        assert "<svg" in report.to_html()

    def test_repeated_reports_count_once(self, originals, small):
        still = originals.set_geometry(gpd.GeoSeries([originals.geometry[0]] * len(originals), crs=originals.crs))
        report = released(still, repeat="same", person="who").tracs.report(audit=False)
        person = report.facts["epsilon"][2]
        assert person["largest"] == 2 * TRIPS * REPORTS
        assert person["remark"].endswith("by distinct reports it is 2 at most.")
        assert report.facts["risk"]["source"] == "made-up people"
        assert any("share one report" in words for words in report.facts["not_protected"])

    def test_rows_that_are_filled_in_are_no_reports(self, originals):
        private = released(originals, 9, unit="trajectory", at_most=3, fill="interpolate")
        report = private.tracs.report(person="who", **BARE)
        assert report.facts["release"]["rows"] == len(originals)
        assert report.facts["release"]["locations"] == 3 * PEOPLE * TRIPS
        assert report.facts["release"]["added"] == []
        assert sums(report)["a person"] == pytest.approx(18, rel=1e-6)
        assert sums(report)["one report"] == pytest.approx(3, rel=1e-6)
        assert "72 other rows are filled in" in report.to_html()

    @pytest.mark.parametrize(("by", "named"), [("distance", True), ("fixes", False)])
    def test_rows_that_were_chosen_by_places_are_named(self, originals, by, named):
        start = 100 if by == "distance" else 1
        ready = geotracs.prepare.trim(originals, start, by=by, trajectory="trip", time="t")
        facts = released(ready).tracs.report(**BARE).facts
        assert any("may tell of places" in words for words in facts["not_protected"]) == named

    def test_metric_privacy_is_named(self, originals):
        report = released(originals, method="geo-ind", radius=500.0).tracs.report(**BARE)
        assert any("metric privacy, which is weaker" in point["words"] for point in report.facts["points"])
        assert "places within 500 m of each other" in report.facts["summary"][1]

    def test_a_region_that_is_not_on_record(self, originals):
        region = shapely.Point(139.65, 35.65).buffer(0.14)
        private = released(originals, domain=region, outside="clip")
        with pytest.warns(GeotracsWarning, match="give the one that it was made with as `domain`"):
            report = private.tracs.report(audit=False)
        assert report.facts["risk"]["source"] == "none"
        assert report.picture == ""
        assert "No attack was made" in html.unescape(report.to_html())
        with pytest.raises(InputError, match="not the region that this release was made with"):
            private.tracs.report(domain=region.buffer(0.1))

    def test_a_fitted_region_is_not_shown(self, originals):
        private = quiet(geotracs.perturb, originals, 2, trajectory="trip", time="t", keep=["who"])
        report = private.tracs.report(**BARE)
        assert report.picture == ""
        assert "bounds" not in report.facts["region"]
        assert any("fitted to the originals" in point["words"] for point in report.facts["points"])

    def test_attacks_compared_with_originals_are_marked(self, originals, private, tmp_path):
        risk = originals.tracs.risk(private, person="who", cells=16)
        report = private.tracs.report(risk=risk, audit=False)
        assert report.confidential
        assert "Confidential: the attacks were compared with original locations" in report.to_html()
        report.write(tmp_path / "report.json")
        reports = shapely.get_coordinates(private.geometry)
        assert originals_in(tmp_path, shapely.get_coordinates(originals.geometry), reports) == []

    def test_the_ledger(self, originals, tmp_path):
        ledger = geotracs.Ledger(tmp_path / "ledger.db", budget=40)
        private = released(originals, ledger=ledger, data="spring", person="who")
        report = private.tracs.report(ledger=ledger, data="spring", **BARE)
        assert report.facts["spent"]["largest"] == 36
        assert report.facts["spent"]["left"] == 4
        assert "the most that was spent on one is 36" in report.to_html()
        report = private.tracs.report(ledger=ledger, data="autumn", **BARE)
        assert any("was not charged" in point["words"] for point in report.facts["points"])

    def test_columns_that_are_not_on_record(self, private):
        report = private.assign(lat=1.0).tracs.report(**BARE)
        assert report.facts["release"]["added"] == ["lat"]
        assert any("nobody has checked them: lat" in point["words"] for point in report.facts["points"])

    def test_places_are_on_record(self, originals):
        frame = released(originals, round_to=geotracs.places.Grid(nx=5, ny=5), place="cell")
        assert "cell" in frame.columns
        assert frame.tracs.report(**BARE).facts["release"]["added"] == []
        secret = np.arange(len(frame))
        assert frame.assign(secret=secret).tracs.report(**BARE).facts["release"]["added"] == ["secret"]


class TestBadInput:
    def test_a_frame_without_a_record(self, originals):
        with pytest.raises(InputError, match="no record of a perturbation"):
            originals.tracs.report(**BARE)

    def test_other_locations_than_were_released(self, private):
        moved = private.set_geometry(private.geometry.translate(0.001))
        moved.attrs = private.attrs
        with pytest.raises(InputError, match="not those that perturb"):
            moved.tracs.report(**BARE)

    def test_a_part_and_another_crs_are_stated(self, private):
        report = private.iloc[:50].tracs.report(**BARE)
        assert report.facts["release"]["standing"] == "part"
        assert any("are a part of those" in point["words"] for point in report.facts["points"])
        other = private.to_crs(32654)
        other.attrs = private.attrs
        assert "cannot be checked" in other.tracs.report(**BARE).facts["release"]["standing_words"]

    def test_an_answer_is_no_release(self, private):
        with pytest.raises(InputError, match="computed from a release"):
            private.tracs.reconstruct(speed=15, cells=16).tracs.report(**BARE)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"path": "report.pdf"}, "ends with .html or .json"),
            ({"path": "nowhere/report.html"}, "cannot be written"),
            ({"path": 5}, "the name of a file"),
            ({"risk": "yes"}, "`risk` must be True, False"),
            ({"audit": 3}, "`audit` must be True, False"),
            ({"ledger": "ledger.db"}, "`ledger` must be a geotracs.Ledger"),
            ({"data": "spring"}, "give it with `ledger`"),
            ({"period": "often"}, "`period` must be a length of time"),
            ({"period": 3}, "`period` must be a length of time"),
            ({"person": "nobody"}, "nobody"),
        ],
    )
    def test_arguments(self, private, arguments, message):
        with pytest.raises(InputError, match=message):
            private.tracs.report(**BARE | arguments)

    def test_missing_labels_of_persons(self, originals):
        private = released(originals.assign(who=originals["who"].where(originals["trip"] > 0)))
        with pytest.raises(InputError, match=r"9 report\(s\) have no label"):
            private.tracs.report(person="who", **BARE)

    def test_results_of_another_release(self, originals, private, risk, audit):
        other = released(originals, 3)
        with pytest.raises(InputError, match="`risk` is about 'joint' at epsilon 2"):
            other.tracs.report(risk=risk, audit=False)
        with pytest.raises(InputError, match="`audit` is about 'joint' at epsilon 2"):
            other.tracs.report(risk=False, audit=audit)
        with pytest.raises(InputError, match="`audit` is about 'joint'"):
            released(originals, method="tracs-c").tracs.report(risk=False, audit=audit)

    def test_files_are_replaced_only_if_asked_for(self, made, tmp_path):
        path = made.write(tmp_path / "report.html")
        before = path.read_text()
        with pytest.raises(InputError, match="overwrite=True"):
            made.write(path)
        made.write(path, overwrite=True)
        assert path.read_text() == before


def test_a_file_and_its_digest(private, tmp_path):
    private.to_parquet(tmp_path / "private.parquet")
    report = geotracs.report(tmp_path / "private.parquet", tmp_path / "report.html", **BARE)
    digest = hashlib.sha256((tmp_path / "private.parquet").read_bytes()).hexdigest()
    assert report.facts["release"]["sha256"] == digest
    assert digest in (tmp_path / "report.html").read_text()
    assert report.facts["release"]["standing"] == "same"


def test_a_repr_of_names_and_counts(made):
    assert repr(made) == f"<Report of a release by joint, {len(made.facts['points'])} points>"
