"""Schedules of a release: few moments are reported, the others are left out or filled in, and nothing counts these."""

import warnings
from fractions import Fraction

import dask_geopandas
import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

import geotracs
from geotracs import InputError, PrivacyWarning
from geotracs.answers.reader import Reader
from geotracs.experiments.moments import MOST, cases, measured
from geotracs.geo.filling import drawn
from tests.conftest import TOKYO
from tests.helpers import perturb, quiet

TRIPS = {"trajectory": "trip", "time": "t", "unit": "trajectory"}
SCHEDULES = ({"every": "auto"}, {"every": "10min"}, {"at_most": 3}, {"every": "5min", "at_most": 4})


@pytest.fixture(scope="module")
def tracks():
    """Eight trips of three people, of 1 to 90 fixes about a minute apart, one fix of which is missing."""
    rng = np.random.default_rng(1)
    lengths = [1, 2, 90, 40, 30, 3, 60, 20]
    seconds = np.concatenate([np.cumsum(rng.uniform(20, 100, n)) for n in lengths]).round()
    seconds += np.repeat(np.arange(len(lengths)) * 10_000, lengths)
    way = np.concatenate([np.cumsum(rng.normal(0, 3e-4, (n, 2)), axis=0) for n in lengths])
    xy = np.repeat(rng.uniform([139.55, 35.6], [139.8, 35.8], (len(lengths), 2)), lengths, axis=0) + way
    columns = {
        "who": np.repeat([0, 0, 0, 1, 1, 1, 2, 2], lengths),
        "trip": np.repeat(np.arange(len(lengths)), lengths),
        "t": pd.Timestamp("2026-03-01", tz="Asia/Tokyo") + pd.to_timedelta(seconds, unit="s"),
        "mode": np.repeat(["walk", "car"], [93, 153]),
    }
    frame = gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(*xy.T), crs=4326)
    frame.loc[10, "geometry"] = None
    return frame


def far(one, other):
    return np.abs(shapely.get_coordinates(one.geometry.values) - shapely.get_coordinates(other.geometry.values)).max()


class TestWhatIsReported:
    @pytest.mark.parametrize(
        ("schedule", "method"), [*((one, "joint") for one in SCHEDULES), (SCHEDULES[1], "tracs-d")]
    )
    def test_epsilon_is_shared_over_what_is_reported(self, tracks, schedule, method):
        private = perturb(tracks, 30, method, **TRIPS, **schedule)
        reader = Reader.of(private, domain=TOKYO)
        sums = {}
        for trip, eps in zip(
            np.repeat(np.arange(8), np.diff(reader.offsets)), np.broadcast_to(reader.eps, len(private)), strict=True
        ):
            sums[trip] = sums.get(trip, Fraction(0)) + Fraction(float(eps))
        assert all(Fraction(30) * (1 - Fraction(1, 10**12)) < total <= 30 for total in sums.values())
        guarantee = private.tracs.guarantee
        assert guarantee.locations == len(private) < len(tracks)
        assert guarantee.longest == private["trip"].value_counts().max()
        assert private.index.isin(tracks.index).all()

    def test_the_first_row_of_every_period(self, tracks):
        private = perturb(tracks, 8, **TRIPS | {"unit": "location"}, every="10min")
        slots = tracks["t"].dt.floor("10min")
        first = tracks[tracks.geometry.notna()].groupby(["trip", slots])["t"].idxmin()
        assert sorted(private.index) == sorted(first)
        assert private.tracs.guarantee.epsilon == 8

    def test_it_depends_on_times_and_numbers_only(self, tracks):
        moved = tracks.set_geometry(tracks.geometry.translate(0.01, -0.02))
        for schedule in SCHEDULES:
            one, other = (perturb(frame, 30, **TRIPS, **schedule, outside="clip") for frame in (tracks, moved))
            assert one.index.equals(other.index)

    def test_rows_in_any_order(self, tracks):
        mixed = tracks.sample(frac=1, random_state=0)
        for schedule in SCHEDULES:
            one, other = (perturb(frame, 30, **TRIPS, **schedule) for frame in (tracks, mixed))
            assert sorted(one.index) == sorted(other.index)

    def test_units_of_people_choose_over_all_their_trips(self, tracks):
        given = TRIPS | {"unit": "person", "person": "who"}
        private = perturb(tracks, 8, **given, at_most=2, fill="interpolate")
        counts = private[~private["filled"] & private.geometry.notna()].groupby("who").size()
        assert counts.tolist() == [2, 2, 2]
        assert private["filled"].sum() == len(tracks) - 1 - 6
        assert private.tracs.guarantee.longest == 2

    def test_lines_lose_vertices(self):
        xy = np.random.default_rng(0).uniform(TOKYO[:2], TOKYO[2:], (30, 2))
        lines = gpd.GeoDataFrame(geometry=[shapely.LineString(xy[:20]), shapely.LineString(xy[20:23]), None], crs=4326)
        private = perturb(lines, 8, unit="trajectory", at_most=5)
        assert shapely.get_num_coordinates(private.geometry.values).tolist() == [5, 3, 0]
        for given, message in (
            ({"every": "1h"}, "vertices of a line have none; use `at_most`"),
            ({"at_most": 5, "fill": "hold"}, "`fill` is for points"),
            ({"at_most": 1}, "at least 2 for lines"),
        ):
            with pytest.raises(InputError, match=message):
                perturb(lines, 8, unit="trajectory", **given)

    def test_bad_input(self, tracks):
        for given, message in (
            ({"time": None, "at_most": 2}, "choose rows by time; say which column holds the times"),
            ({"every": "auto", "unit": "location"}, "each moment costs an epsilon of its own"),
            ({"every": "auto", "domain": None}, "needs a public region"),
        ):
            with pytest.raises(InputError, match=message):
                perturb(tracks, 8, **TRIPS | given)
        with pytest.raises(InputError, match="`eps` as one number"):
            perturb(tracks.assign(e=4.0), "e", **TRIPS, every="auto")
        with pytest.raises(InputError, match=r"1 row\(s\) have no value in the time column 't'"):
            perturb(tracks.assign(t=tracks["t"].where(tracks.index != 5)), 8, **TRIPS, at_most=2)
        with pytest.raises(InputError, match="adds a column 'filled', and there is one already"):
            perturb(tracks.assign(filled=1), 8, **TRIPS, at_most=2, fill="hold")


class TestWhatIsFilled:
    @pytest.mark.parametrize("fill", ["hold", "interpolate", "reconstruct"])
    def test_the_reports_are_those_without(self, tracks, fill):
        plain, private = (perturb(tracks, 100, **TRIPS, at_most=3, fill=how) for how in (None, fill))
        assert list(private.columns) == ["trip", "t", "geometry", "filled"]
        assert private.index.equals(tracks.index)
        assert private.geometry.isna().equals(tracks.geometry.isna())
        assert not private.loc[10, "filled"]
        assert drawn(private).geometry.dropna().equals(plain.geometry)
        assert private.attrs["tracs"]["digest"] == plain.attrs["tracs"]["digest"]
        assert private[private.geometry.notna()].within(shapely.box(*TOKYO).buffer(1e-6)).all()

    def test_rows_lie_between_reports(self, tracks):
        private = perturb(tracks, 100, **TRIPS, at_most=2, fill="interpolate")
        own = private[private["trip"] == 3]
        first, last = own.index[~own["filled"]]
        share = (own["t"] - own.loc[first, "t"]) / (own.loc[last, "t"] - own.loc[first, "t"])
        a, b = (shapely.get_coordinates(own.geometry[row])[0] for row in (first, last))
        want = a + share.clip(0, 1).to_numpy()[:, None] * (b - a)
        assert np.abs(shapely.get_coordinates(own.geometry.values) - want).max() < 1e-9
        held = perturb(tracks, 100, **TRIPS, at_most=1, fill="hold")
        assert held[held.geometry.notna()].groupby("trip").geometry.nunique().eq(1).all()  # one moment: one place

    def test_places_of_reports_only(self, tracks):
        grid = geotracs.places.Grid(cell=500)
        private = perturb(tracks, 30, **TRIPS, at_most=2, fill="interpolate", round_to=grid)
        assert (private["place"].notna() == (~private["filled"] & private.geometry.notna())).all()

    def test_answers_count_what_was_drawn(self, tracks):
        given = {**TRIPS, "at_most": 30}
        plain, private = (perturb(tracks, 60, **given, fill=how) for how in (None, "interpolate"))
        one, other = (Reader.of(frame, domain=TOKYO) for frame in (plain, private))
        assert np.array_equal(one.xy, other.xy)
        assert np.array_equal(one.eps, other.eps)
        shares = [
            quiet(frame.tracs.density, geotracs.places.Grid(nx=2, ny=2), domain=TOKYO) for frame in (plain, private)
        ]
        assert shares[0]["share"].equals(shares[1]["share"])
        found = quiet(private.tracs.reconstruct, speed=15, domain=TOKYO, cells=16)
        assert len(found) == len(private) - private["filled"].sum()
        people = tracks.assign(who=tracks["trip"])
        risks = [quiet(people.tracs.risk, frame, domain=TOKYO, cells=16).table for frame in (plain, private)]
        pd.testing.assert_frame_equal(*risks)

    def test_all_rows_of_a_location_release_too(self, tracks, tmp_path):
        given = {"trajectory": "trip", "time": "t", "every": "2min", "fill": "hold"}
        private = perturb(tracks, 4, **given)
        private.to_parquet(tmp_path / "out.parquet")
        grid = geotracs.places.Grid(nx=2, ny=2)
        counted = [quiet(geotracs.density, what, grid, domain=TOKYO) for what in (private, tmp_path / "out.parquet")]
        assert np.allclose(counted[0]["share"], counted[1]["share"])

    def test_compare_knows_which_rows_were_left_out(self, tracks, tmp_path):
        private = perturb(tracks, 100, **TRIPS, at_most=3)
        want = geotracs.compare(tracks.loc[private.index], private)
        assert geotracs.compare(tracks, private).equals(want)
        tracks.to_parquet(tmp_path / "in.parquet")
        quiet(
            geotracs.perturb_file,
            tmp_path / "in.parquet",
            tmp_path / "out.parquet",
            100,
            "tracs-c",
            domain=TOKYO,
            keep=[],
            at_most=3,
            rng=0,
            **TRIPS,
        )
        numbered = gpd.read_parquet(tmp_path / "out.parquet")
        assert isinstance(numbered.index, pd.RangeIndex)
        assert np.allclose(geotracs.compare(tracks, numbered), want)

    def test_sentences(self, tracks):
        text = str(perturb(tracks, 30, **TRIPS, every="10min", at_most=3, fill="hold").tracs.guarantee)
        assert "Of each trajectory, the first row in every 10min and of these at most 3 rows, evenly by their" in text
        assert "the other rows are filled in from the reports (hold) and no observations." in text
        assert "each location of the longest trajectory (3 locations) has 10" in text
        assert "the other rows were left out." in str(perturb(tracks, 30, **TRIPS, every="auto").tracs.guarantee)

    def test_the_warning_of_dense_releases_is_about_reports(self):
        n = 400
        dense = gpd.GeoDataFrame(
            {"trip": np.repeat([0, 1], n // 2), "t": np.tile(4 * np.arange(n // 2), 2)},
            geometry=gpd.points_from_xy(*np.random.default_rng(0).uniform(0, 3e4, (2, n))),
            crs=32654,
        )
        given = {"domain": (0, 0, 30_000, 30_000), "trajectory": "trip", "time": "t", "keep": []}
        with pytest.warns(PrivacyWarning, match="follows a person"):
            geotracs.perturb(dense, 8, **given)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            geotracs.perturb(dense, 8, **given, at_most=2, fill="interpolate")


@pytest.mark.parametrize(
    ("schedule", "fill", "unit"),
    [
        (SCHEDULES[0], None, "trajectory"),
        (SCHEDULES[3], None, "trajectory"),
        (SCHEDULES[0], "interpolate", "person"),
        (SCHEDULES[1], "hold", "person"),
        (SCHEDULES[3], "interpolate", "person"),
    ],
)
def test_files_and_dask_report_the_same(tracks, tmp_path, schedule, fill, unit):
    tracks.to_parquet(tmp_path / "in.parquet")
    given = {"domain": TOKYO, "keep": ["mode"], **TRIPS, "unit": unit, "fill": fill, **schedule}
    given |= {} if unit == "trajectory" else {"person": "who"}
    method = "tracs-d" if fill is None else "joint"
    one = quiet(geotracs.perturb, tracks, 30, method, rng=3, **given)
    files = [tmp_path / "in.parquet", tmp_path / "out.parquet"]
    quiet(geotracs.perturb_file, *files, 30, method, batch_rows=37, rng=3, **given)
    other = gpd.read_parquet(files[1])
    assert far(one, other) < 1e-9
    assert other.attrs == one.attrs
    assert list(other.columns) == list(one.columns)
    lazy = quiet(dask_geopandas.from_geopandas(tracks, npartitions=3).tracs.perturb, 30, method, shuffle=True, **given)
    third = lazy.compute()
    assert list(third.columns) == list(lazy.columns) == list(one.columns)
    assert len(third) == len(one)
    if fill is not None:
        assert third["filled"].sum() == one["filled"].sum()
    else:
        assert sorted(third.index) == sorted(one.index)


def test_files_in_another_order(tracks, tmp_path):
    mixed = tracks.sample(frac=1, random_state=0, ignore_index=True)
    mixed.to_parquet(tmp_path / "in.parquet")
    given = {"domain": TOKYO, "keep": [], "rng": 3, **TRIPS, "at_most": 3, "batch_rows": 50}
    with pytest.raises(InputError, match=r"they are not in order.*sort=True"):
        quiet(geotracs.perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 30, **given)
    with pytest.raises(InputError, match='use fill="interpolate"'):
        quiet(geotracs.perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 30, **given, fill="reconstruct")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet"]
    quiet(geotracs.perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 30, sort=True, fill="hold", **given)
    found = gpd.read_parquet(tmp_path / "out.parquet")
    assert len(found) == len(tracks)
    assert found[~found["filled"] & found.geometry.notna()].groupby("trip").size().tolist() == [1, 2, 3, 3, 3, 3, 3, 3]


def test_ledgers_charge_what_is_reported(tracks, tmp_path):
    ledger = geotracs.Ledger(tmp_path / "ledger.db", budget=1000)
    given = {"trajectory": "who", "time": "t", "at_most": 5, "ledger": ledger, "data": "one", "rng": None}
    perturb(tracks, 2, **given, fill="hold")
    assert [ledger.spent(who) for who in (0, 1, 2)] == [10, 10, 10]
    perturb(tracks, 2, **given | {"unit": "trajectory", "data": "two"})
    assert [ledger.spent(who) for who in (0, 1, 2)] == [12, 12, 12]


@pytest.mark.parametrize("case", [*cases(1, people=12, trips=4)], ids=lambda case: case.name)
def test_few_moments_win(case):
    """A fixed seed. At epsilon 8 each person is one report, whose mean error over few people says little."""
    few, many = (measured(case, eps, 1) for eps in (8, 100))
    assert few["interpolate"] <= MOST[case.name][8] * few["even"]
    assert many["interpolate"] <= MOST[case.name][100] * many["even"]
    assert many["interpolate"] <= many["constant"] / 2
