"""The ledger: charged before the draw, never beyond the budget, and never twice for one draw."""

import os
import re
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

import geotracs
import geotracs.release.frame
from geotracs import BudgetError, DomainError, InputError, Ledger, PrivacyWarning
from geotracs.geo.people import text
from geotracs.release.charging import Meter, Rule
from geotracs.release.plan import Plan
from geotracs.release.request import Request
from geotracs.trust import store
from tests.conftest import TOKYO
from tests.helpers import quiet

GIVEN = {"domain": TOKYO, "trajectory": "person", "time": "t", "keep": [], "data": "bus"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path):
    return Ledger(path, budget=100)


@pytest.fixture
def people():
    """Ann has 5 rows in trips 0 and 1, Ben 3 rows in trip 2."""
    rng = np.random.default_rng(3)
    columns = {"person": ["ann"] * 5 + ["ben"] * 3, "trip": [0, 0, 0, 1, 1, 2, 2, 2], "t": range(8), "eps": [1.0] * 8}
    points = gpd.points_from_xy(rng.uniform(139.6, 139.8, 8), rng.uniform(35.6, 35.8, 8))
    return gpd.GeoDataFrame(columns, geometry=points, crs=4326)


def perturb(frame, eps, ledger, **arguments):
    return quiet(geotracs.perturb, frame, eps, **{**GIVEN, "ledger": ledger} | arguments)


def spent(ledger):
    return ledger.spent("ann"), ledger.spent("ben")


class TestWhatIsCharged:
    @pytest.mark.parametrize(
        ("arguments", "charged"),
        [
            ({}, (10, 6)),
            ({"trajectory": "trip", "person": "person"}, (10, 6)),
            ({"unit": "trajectory"}, (2, 2)),
            ({"unit": "trajectory", "trajectory": "trip", "person": "person"}, (4, 2)),
            ({"unit": "person", "trajectory": "trip", "person": "person"}, (2, 2)),
            ({"unit": "2s", "trajectory": "trip", "person": "person"}, (6, 4)),
            ({"eps": "eps"}, (5, 3)),
            ({"eps": "eps", "unit": "trajectory"}, (1, 1)),
            ({"method": "tracs-d"}, (10, 6)),
        ],
    )
    def test_what_composition_says(self, people, ledger, arguments, charged):
        perturb(people, **{"eps": 2, "ledger": ledger} | arguments)
        assert spent(ledger) == charged
        perturb(people, **{"eps": 2, "ledger": ledger} | arguments)  # fresh draws tell more
        assert spent(ledger) == (2 * charged[0], 2 * charged[1])

    def test_lines_and_missing_locations(self, ledger):
        import shapely

        lines = [shapely.LineString([(139.7, 35.7), (139.71, 35.7), (139.72, 35.7)]), None, shapely.LineString()]
        frame = gpd.GeoDataFrame({"person": ["ann", "ann", "ben"]}, geometry=lines, crs=4326)
        perturb(frame, 2, ledger, time=None)
        assert spent(ledger) == (6, 0)
        perturb(frame.iloc[[0, 0]], 2, ledger, time=None, trajectory=None, person="person", unit="trajectory")
        assert spent(ledger) == (10, 0)

    def test_ten_tenths_are_one(self, people, path):
        ledger = Ledger(path, budget=1)
        for _ in range(10):
            perturb(people[5:6], 0.1, ledger)
        assert spent(ledger) == (0, 1)
        with pytest.raises(BudgetError):
            perturb(people[5:6], 1e-9, ledger)

    def test_labels_are_the_same_however_they_are_stored(self):
        assert {text(label) for label in (7, 7.0, "7", np.int32(7), np.float64(7))} == {"7"}
        assert text("e\u0301") == text("\u00e9")

    def test_pieces_add_up(self, people):
        whole, parts = (Meter(Rule.of(Request.of("eps", trajectory="trip", unit="trajectory"))) for _ in range(2))
        read = geotracs.geo.tracks.read
        whole.add(people, read(people, "trip", "t", grouped=False))
        for piece in (people[:2], people[2:6], people[6:]):
            parts.add(piece, read(piece, "trip", "t", grouped=False))
        assert whole.bill() == parts.bill()
        assert whole.bill().people == {"0": 10**9, "1": 10**9, "2": 10**9}

    def test_per_data(self, people, path):
        ledger = Ledger(path, budget=10, per="data")
        perturb(people, 2, ledger)
        perturb(people, 2, ledger, data="taxi")
        assert ledger.spent("ann", "taxi") == 10
        with pytest.raises(BudgetError):
            perturb(people, 2, ledger)
        with pytest.raises(InputError, match="per data"):
            ledger.spent("ann")


class TestBudget:
    def test_nothing_is_drawn_beyond_it(self, people, path, monkeypatch):
        ledger = Ledger(path, budget=11)
        perturb(people, 2, ledger)
        monkeypatch.setattr(Plan, "reports", lambda *a, **k: pytest.fail("it was drawn"))
        with pytest.raises(BudgetError, match=r"not enough for 1 of 2 people.*up to 5.*has 1 left") as caught:
            perturb(people, 1, ledger)
        assert "ann" not in str(caught.value)
        assert spent(ledger) == (10, 6)  # ben was not charged either

    @pytest.mark.parametrize("budget", [0, -1, np.inf, np.nan, True, "9", 1e10])
    def test_budgets_that_are_none(self, path, budget):
        with pytest.raises(InputError, match="`budget` must be"):
            Ledger(path, budget=budget)
        assert not path.exists()

    def test_a_change_is_asked_for_and_entered(self, people, path, ledger):
        with pytest.raises(InputError, match="has budget=100, not the one that is given; change it with set_budget"):
            Ledger(path, budget=99)
        with pytest.raises(InputError, match=r"has per='person'.*make another ledger"):
            Ledger(path, per="data")
        assert Ledger(path, budget=100).budget == Ledger(path).budget == 100
        perturb(people, 2, ledger)
        ledger.set_budget(5)
        assert (ledger.budget, ledger.spent().loc["(all)", "left"]) == (5, 0)
        with pytest.raises(BudgetError, match="has 0 left"):
            perturb(people, 0.1, ledger)
        assert ledger.entries()["kind"].tolist() == ["release", "budget"]
        with pytest.raises(InputError, match="`budget` must be"):
            ledger.set_budget(0)

    def test_charges_for_what_was_made_elsewhere(self, ledger):
        ledger.charge({"ann": 99.5, "ben": 1}, "paper")
        with pytest.raises(BudgetError):
            ledger.charge(pd.Series({"ben": 1.0, "ann": 1.0}), "paper")
        assert spent(ledger) == (99.5, 1)
        for wrong in ({"ann": 0}, {None: 1.0}, {"ann": np.nan}, {"ann": -1}, ["ann"]):
            with pytest.raises(InputError, match="`people` must map"):
                ledger.charge(wrong, "paper")


def killed(*arguments):
    raise KeyboardInterrupt


class TestTheSameDraw:
    def test_a_seed_is_charged_once(self, people, ledger):
        one, two = (perturb(people, 2, ledger, rng=5) for _ in range(2))
        assert one.geometry.geom_equals(two.geometry).all()
        assert spent(ledger) == (10, 6)
        for other in ({"rng": 6}, {"rng": 5, "outside": "clip"}, {"rng": 5, "data": "taxi"}):
            before = spent(ledger)
            perturb(people, 2, ledger, **other)
            assert spent(ledger) == (before[0] + 10, before[1] + 6), other

    def test_a_seed_gives_other_rows_other_draws(self, people, ledger):
        """Or the difference of two reports would be that of their locations."""
        one, moved = people.copy(), people.copy()
        moved.geometry = moved.translate(0.001)
        reports = [perturb(frame, 2, ledger, rng=5).geometry for frame in (one, moved)]
        assert spent(ledger) == (20, 12)
        assert np.abs(np.subtract(reports[1].x, reports[0].x)).max() > 0.01

    def test_engines_agree(self, people, ledger, tmp_path):
        people.to_parquet(tmp_path / "in.parquet")
        given = {"eps": 2, "rng": 5, "ledger": ledger, **GIVEN}
        frame = quiet(geotracs.perturb, people, **given)
        quiet(geotracs.perturb_file, tmp_path / "in.parquet", tmp_path / "a.parquet", **given)
        quiet(geotracs.perturb_file, tmp_path / "in.parquet", tmp_path / "b.parquet", batch_rows=3, **given)
        for name in "ab":
            assert geotracs.files.read(tmp_path / f"{name}.parquet").geometry.geom_equals(frame.geometry).all()
        assert spent(ledger) == (10, 6)

    @pytest.mark.parametrize("rows", [None, 3])
    def test_a_release_that_was_not_written_is_made_again(self, people, ledger, path, tmp_path, monkeypatch, rows):
        """The process ends after the draw: the next run takes the same key, and erases it."""
        people.to_parquet(tmp_path / "in.parquet")
        given = (tmp_path / "in.parquet", tmp_path / "out.parquet", 2)
        with monkeypatch.context() as stopped:
            stopped.setattr(Ledger, "withdraw", lambda *a: None)  # as if killed
            stopped.setattr("geotracs.io.replacing._replace_files", killed)
            with pytest.raises(KeyboardInterrupt):
                quiet(geotracs.perturb_file, *given, batch_rows=rows, ledger=ledger, **GIVEN)
        assert not (tmp_path / "out.parquet").exists()
        assert ledger.entries()["finished"].tolist() == [False]
        bits = rows_of(path, "SELECT bits FROM entries")[0][0]
        quiet(geotracs.perturb_file, *given, batch_rows=rows, ledger=ledger, **GIVEN)
        assert spent(ledger) == (10, 6)
        assert ledger.entries()["finished"].tolist() == [True]
        assert bits not in path.read_bytes()
        quiet(geotracs.perturb_file, *given, overwrite=True, ledger=ledger, **GIVEN)
        assert spent(ledger) == (20, 12)

    def test_two_runs_of_one_begun_release_share_its_draws(self, ledger):
        first, bits = ledger.enter("bus", {"ann": 5}, b"mark", b"one")
        assert ledger.enter("bus", {"ann": 5}, b"mark", b"two") == (first, bits) == (first, b"one")
        ledger.withdraw(first, "bus", {"ann": 5})  # the other run may be writing it
        assert ledger.spent("ann") == 5e-9
        ledger.finish(first)
        assert ledger.enter("bus", {"ann": 5}, b"mark", b"two") == (first + 1, b"two")

    @pytest.mark.parametrize("rows", [None, 3])
    def test_what_fails_is_not_charged(self, people, ledger, tmp_path, rows):
        before = perturb(people, 2, ledger)
        with pytest.raises(DomainError):
            perturb(people, 2, ledger, domain=(0, 0, 1, 1))
        people.to_parquet(tmp_path / "in.parquet")
        given = {**GIVEN, "domain": (0, 0, 1, 1)}
        with pytest.raises(DomainError):
            quiet(
                geotracs.perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 2, batch_rows=rows,
                ledger=ledger, **given,
            )  # fmt: skip
        assert spent(ledger) == (10, 6)
        assert ledger.entries()["kind"].tolist() == ["release", "withdrawn", "withdrawn"]
        assert len(before) == 8

    def test_what_fails_after_it_was_written_stays_charged(self, people, ledger, tmp_path, monkeypatch):
        people.to_parquet(tmp_path / "in.parquet")
        replace = geotracs.io.replacing._replace_files

        def late(*arguments):
            replace(*arguments)
            raise InputError("a program has the file open")

        monkeypatch.setattr("geotracs.io.replacing._replace_files", late)
        for rows in (None, 3):
            out = tmp_path / f"{rows}.parquet"
            with pytest.raises(InputError, match="has the file open"):
                quiet(geotracs.perturb_file, tmp_path / "in.parquet", out, 2, batch_rows=rows, ledger=ledger, **GIVEN)
            assert out.exists()
        assert spent(ledger) == (10, 6)  # both are the same draw

    def test_a_file_that_changes_while_it_is_read(self, people, ledger, tmp_path, monkeypatch):
        people.to_parquet(tmp_path / "in.parquet")
        with pytest.raises(InputError, match="changed while it was read"):
            quiet(
                geotracs.perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 2, batch_rows=3,
                ledger=Changed(ledger, monkeypatch), outside="clip", **GIVEN,
            )  # fmt: skip
        assert spent(ledger) == (0, 0)


class Changed:
    """A ledger during whose entry the file changes: later rows count as others."""

    def __init__(self, ledger, monkeypatch):
        self._ledger, self.finish, self.withdraw = ledger, ledger.finish, ledger.withdraw
        self._monkeypatch = monkeypatch

    def enter(self, *arguments):
        add = Meter.add
        other = lambda self, table, tracks: add(self, table.assign(person="eve"), tracks)  # noqa: E731
        self._monkeypatch.setattr(Meter, "add", other)
        return self._ledger.enter(*arguments)


class TestDask:
    def test_it_is_charged_by_the_call_and_once(self, people, ledger):
        dask_geopandas = pytest.importorskip("dask_geopandas")
        ddf = dask_geopandas.from_geopandas(people, npartitions=3)
        private = quiet(ddf.tracs.perturb, 2, ledger=ledger, **GIVEN)
        assert spent(ledger) == (10, 6)
        assert private.compute().geometry.geom_equals(private.compute().geometry).all()
        assert spent(ledger) == (10, 6)
        one, two = (quiet(ddf.tracs.perturb, 2, rng=4, ledger=ledger, **GIVEN).compute() for _ in range(2))
        assert one.geometry.geom_equals(two.geometry).all()
        assert spent(ledger) == (20, 12)
        with pytest.raises(BudgetError):
            quiet(ddf.tracs.perturb, 20, ledger=ledger, **GIVEN)

    def test_a_partition_that_changed_is_not_released(self, people, ledger):
        dask_geopandas = pytest.importorskip("dask_geopandas")
        more = []

        def grow(part):
            return part.iloc[[*range(len(part)), *more]]

        ddf = dask_geopandas.from_geopandas(people, npartitions=2).map_partitions(grow, meta=people.iloc[:0])
        private = quiet(ddf.tracs.perturb, 2, ledger=ledger, **GIVEN)
        more.append(0)
        with pytest.raises(InputError, match=r"Partition . does not hold the rows that were charged"):
            private.compute(scheduler="sync")


def rows_of(path, query):
    db = sqlite3.connect(path)
    try:
        return db.execute(query).fetchall()
    finally:
        db.close()


class TestWhatItHolds:
    def test_no_label_location_or_time(self, people, ledger, path, tmp_path):
        people["person"] = people["person"].map({"ann": "annabella", "ben": "benedict"})
        people["t"] = pd.date_range("2019-07-05", periods=8)
        perturb(people, 2, ledger)
        perturb(people, 2, ledger, rng=1)
        stored = path.read_bytes()
        everything = " ".join(map(str, rows_of(path, "SELECT * FROM entries") + rows_of(path, "SELECT * FROM spent")))
        for secret in (b"annabella", b"benedict", b"2019", people.geometry.iloc[0].wkb[5:13]):
            assert secret not in stored
        assert "139." not in everything
        assert "annabella" not in f"{ledger!r}{ledger.spent()}{ledger.entries()}"
        assert [name.name for name in tmp_path.iterdir()] == ["ledger.db"]

    def test_only_the_owner_reads_it(self, ledger, path):
        assert path.stat().st_mode & 0o777 == 0o600
        path.chmod(0o644)
        with pytest.warns(PrivacyWarning, match="chmod 600"):
            Ledger(path)

    def test_each_ledger_has_a_key_of_its_own(self, ledger, tmp_path):
        other = Ledger(tmp_path / "other.db", budget=100)
        for each in (ledger, other):
            each.charge({"ann": 1}, "bus")
        hashes = [rows_of(each.path, "SELECT person FROM spent") for each in (ledger, other)]
        assert hashes[0] != hashes[1]

    def test_what_was_spent(self, ledger):
        assert ledger.spent().to_dict("index")["(all)"]["people"] == 0
        ledger.charge({"ann": 1, "ben": 3}, "bus")
        ledger.charge({"ann": 5}, "taxi")
        table = ledger.spent()
        assert table["people"].to_dict() == {"(all)": 2, "bus": 2, "taxi": 1}
        assert table["largest"].to_dict() == {"(all)": 6, "bus": 3, "taxi": 5}
        assert table["left"].to_dict() == {"(all)": 94, "bus": 94, "taxi": 94}
        assert ledger.spent("ann", "bus") == 1
        assert ledger.spent("eve") == 0
        assert ledger.spent(pd.Series(["ben", "ann", "ben"], index=[3, 4, 5])).to_dict() == {3: 3, 4: 6, 5: 3}
        with pytest.raises(InputError, match="1 labels of `person` are missing"):
            ledger.spent(["ann", None])


def read_only(monkeypatch):
    """Let SQLite open ledgers as on a disk that cannot be written."""

    def connect(self):
        return sqlite3.connect(f"{self.path.as_uri()}?mode=ro", isolation_level=None, uri=True)

    monkeypatch.setattr(store.Store, "_connect", connect)


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"ledger": "ledger.db"}, "`ledger` must be a geotracs.Ledger, got str"),
            ({"ledger": Ledger}, "`ledger` must be a geotracs.Ledger, got type"),
            ({"data": None}, '`data` must name the data in the ledger, e.g. data="bus-2026", got None'),
            ({"data": "a\nb"}, "`data` must name"),
            ({"ledger": None}, "`data` is for a ledger"),
            ({"ledger": None, "data": None, "person": "person"}, "`person` is for a ledger"),
            ({"trajectory": None}, "`ledger` charges people"),
            ({"method": "geo-ind"}, "cannot be added"),
            ({"person": "nobody"}, "There is no column 'nobody'"),
        ],
    )
    def test_arguments(self, people, ledger, arguments, message):
        with pytest.raises(InputError, match=re.escape(message)):
            perturb(people, 2, **{"ledger": ledger} | arguments)
        assert ledger.entries().empty

    @pytest.mark.parametrize("rows", [None, 3])
    def test_missing_labels(self, people, ledger, tmp_path, rows):
        people.loc[[1, 6], "person"] = None
        people.to_parquet(tmp_path / "in.parquet")
        given = {**GIVEN, "trajectory": "trip", "person": "person", "ledger": ledger}
        with pytest.raises(InputError, match=r"row.s. have no value in the column 'person'.*nobody can be charged"):
            quiet(geotracs.perturb_file, tmp_path / "in.parquet", tmp_path / "out.parquet", 2, batch_rows=rows, **given)
        assert ledger.entries().empty
        people.loc[[1, 6], "geometry"] = None  # who reports nothing is not charged
        perturb(people, 2, ledger, trajectory="trip", person="person")
        assert spent(ledger) == (8, 4)

    def test_no_ledger_there(self, path, tmp_path):
        with pytest.raises(InputError, match=r"There is no ledger .*give `budget` to make one"):
            Ledger(path)
        with pytest.raises(InputError, match="There is no folder"):
            Ledger(tmp_path / "none" / "ledger.db", budget=1)
        with pytest.raises(InputError, match="is not a file"):
            Ledger(tmp_path, budget=1)
        for wrong in ({"per": "week"}, {"timeout": -1}):
            with pytest.raises(InputError, match=r"`per` must|`timeout` must"):
                Ledger(path, budget=1, **wrong)
        assert not path.exists()

    def test_an_empty_file_was_left_by_a_kill(self, path):
        path.touch(0o600)
        assert Ledger(path, budget=3).budget == 3

    def test_files_that_are_none(self, path):
        path.write_bytes(b"name,lon,lat\nann,139.7,35.7\n" * 100)
        path.chmod(0o600)
        with pytest.raises(InputError, match="not a SQLite database") as caught:
            Ledger(path, budget=1)
        assert "139" not in str(caught.value)
        assert path.read_bytes().startswith(b"name")
        path.unlink()
        rows_of(path, "CREATE TABLE roads (name)")
        with pytest.raises(InputError, match="not a ledger of geotracs"):
            Ledger(path, budget=1)

    def test_another_version(self, people, ledger, path):
        rows_of(path, f"PRAGMA user_version = {store.VERSION + 1}")
        with pytest.raises(InputError, match="of version 2, and this version of geotracs knows 1 only"):
            perturb(people, 2, ledger)
        with pytest.raises(InputError, match="of version 2"):
            Ledger(path)

    def test_another_key(self, people, ledger, path, tmp_path):
        other = Ledger(tmp_path / "other.db", budget=100)
        os.replace(other.path, path)  # replaced since it was opened
        with pytest.raises(InputError, match="has another key"):
            perturb(people, 2, ledger)
        assert Ledger(path).entries().empty
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("UPDATE facts SET value = zeroblob(32) WHERE name = 'key'")
        db.close()
        with pytest.raises(InputError, match="has another key than its entries were made with"):
            Ledger(path)

    def test_a_damaged_file(self, people, ledger, path):
        ledger.charge({f"p{i}": 1 for i in range(500)}, "bus")
        stored = bytearray(path.read_bytes())
        stored[4096:] = b"\xff" * (len(stored) - 4096)
        path.write_bytes(stored)
        with pytest.raises(InputError, match=r"Nothing was changed in the ledger .* damaged"):
            perturb(people, 2, ledger)

    def test_locked_by_another_process(self, people, path, ledger):
        hurried = Ledger(path, timeout=0.05)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        try:
            with pytest.raises(
                InputError, match=r"Nothing was changed.*another process uses it for longer than 0.05 s"
            ):
                perturb(people, 2, hurried)
        finally:
            other.close()
        assert spent(ledger) == (0, 0)

    def test_a_read_only_disk(self, people, path, ledger, monkeypatch):
        perturb(people, 2, ledger)
        read_only(monkeypatch)
        with pytest.raises(InputError, match=r"Nothing was changed.*read-only"):
            perturb(people, 2, ledger)
        assert spent(Ledger(path)) == (10, 6)  # it can be read

    def test_a_disk_that_becomes_read_only_before_the_release_is_finished(self, people, path, ledger, monkeypatch):
        reports = Plan.reports

        def then(*arguments, **options):
            read_only(monkeypatch)
            return reports(*arguments, **options)

        monkeypatch.setattr(Plan, "reports", then)
        with pytest.warns(PrivacyWarning, match=r"complete and charged.*still holds the key"):
            private = geotracs.perturb(people, 2, ledger=ledger, **GIVEN)
        monkeypatch.undo()
        again = perturb(people, 2, ledger)
        assert again.geometry.geom_equals(private.geometry).all()
        assert spent(ledger) == (10, 6)
        assert ledger.entries()["finished"].all()

    def test_a_sweep_makes_no_releases(self, people, ledger):
        with pytest.raises(InputError, match="`ledger` is for one release"):
            people.tracs.sweep([2], ledger=ledger, **GIVEN)


def test_many_at_once_never_go_over(path):
    """A hundred charges of 1 by four threads, each with connections of its own, for a budget of 30."""
    ledger = Ledger(path, budget=30)
    refused = []

    def charge():
        own = Ledger(path)
        for _ in range(25):
            try:
                own.charge({"ann": 1}, "bus")
            except BudgetError:
                refused.append(1)

    threads = [threading.Thread(target=charge) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (ledger.spent("ann"), len(refused), len(ledger.entries())) == (30, 70, 30)


@pytest.mark.slow
def test_kills_at_random_moments():
    """In a process of its own, which has no threads that a fork would lose; see `kills`."""
    command = [sys.executable, "-m", "tests.trust.kills", "--kills", "10", "--budget", "60"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=Path(geotracs.__file__).parents[1])
    assert run.returncode == 0, run.stderr
    assert "'uncharged': 0, 'over budget': 0" in run.stdout
