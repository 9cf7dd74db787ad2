"""What a program that runs geotracs relies on: JSON on standard output, progress in lines, all of the accessor."""

import json
import re

import pandas as pd
import pytest

import geotracs
from geotracs import accessor, files
from geotracs.cli import cli
from geotracs.cli.tables import in_json, rows_of
from tests.helpers import quiet
from tests.test_cli import run  # noqa: F401  (a fixture)

LINE = re.compile(r"progress: (?:\d+% )?[A-Z][a-z ]+(?:: [a-z ]+)?")
"""What a program reads."""
DRAWN = {"plot": None, "explore": "map", "report": "report"}
"""Functions that draw or write a page, and the commands that do."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    city = geotracs.datasets.sample_city(people=6, seed=1)
    few = city.tracks[city.tracks.groupby("person").cumcount() < 40]
    private = quiet(few.tracs.perturb, 6, domain=city.boundary, trajectory="person", time="t", keep=[], rng=1)
    for name, frame in {"tracks": few, "private": private, "city": city.boundary}.items():
        files.write(frame, folder / f"{name}.gpkg")
    return folder


@pytest.fixture
def ask(run, folder):  # noqa: F811
    """Run a command on files of the folder as a program does; return its JSON and the lines of its progress."""

    def call(command, *arguments):
        words = [folder / word if str(word).endswith(".gpkg") else word for word in arguments]
        code, said, err = run(command, *words, "--json", "--progress")
        assert code == 0, err
        lines = [line for line in err.splitlines() if line.startswith("progress:")]
        assert all(LINE.fullmatch(line) for line in lines)
        return json.loads(said), lines

    return call


def test_every_function_that_returns_a_table_or_layer_has_a_command():
    for name, function in vars(accessor.TracsAccessor).items():
        if isinstance(function, accessor._Function):
            command = DRAWN.get(name, name)
            if command is None:
                continue
            found = cli.get_command(None, command)
            assert found is not None, name
            options = {option for parameter in found.params for option in parameter.opts}
            assert name in DRAWN or {"--json", "--progress"} <= options, name


def test_perturb(ask, tmp_path):
    columns = ["--trajectory", "person", "--time", "t", "--keep", "none", "--seed", 1]
    said, lines = ask("perturb", "tracks.gpkg", tmp_path / "out.gpkg", "--eps", 6, "--domain", "city.gpkg", *columns)
    private = files.read(tmp_path / "out.gpkg")
    assert said["locations"] == len(private)
    assert said["guarantee"] == str(private.tracs.guarantee)
    assert said["record"] == private.attrs["tracs"]
    assert lines[-1] == "progress: 100% Perturbing"


def test_compare(ask, folder):
    before, after = files.read(folder / "tracks.gpkg"), files.read(folder / "private.gpkg")
    said, lines = ask("compare", "tracks.gpkg", "private.gpkg", "--by", "person")
    assert pd.DataFrame(said["rows"]).set_index("person").to_numpy() == pytest.approx(
        before.tracs.compare(after, by="person").to_numpy()
    )
    assert said["private"]
    assert "keep confidential" in said["note"]
    assert lines == ["progress: Reading", "progress: Comparing"]
    said, _ = ask("compare", "tracks.gpkg", "private.gpkg")
    assert said["rows"] == [pytest.approx(before.tracs.compare(after).to_dict())]


def test_sweep(ask, run, folder):  # noqa: F811
    tracks = files.read(folder / "tracks.gpkg")
    same = quiet(tracks.tracs.sweep, [3], ["joint"], 2, domain=files.read(folder / "city.gpkg"), rng=5)
    arguments = ["--eps", 3, "--method", "joint", "--repeats", 2, "--seed", 5]
    said, lines = ask("sweep", "tracks.gpkg", *arguments, "--domain", "city.gpkg")
    assert said["rows"] == [pytest.approx(row) for row in rows_of(same)]
    assert lines == ["progress: 0% Trying", "progress: 50% Trying", "progress: 100% Trying"]
    code, text, _ = run("sweep", folder / "tracks.gpkg", *arguments, "--domain", folder / "city.gpkg")
    assert code == 0
    assert f"{same['ae'].mean():.4f}"[:5] in text
    assert "Means of 2 draws each" in text


def test_risk_of_a_release(ask, run, folder):  # noqa: F811
    found = files.read(folder / "tracks.gpkg").tracs.risk(
        files.read(folder / "private.gpkg"), speed=9, domain=files.read(folder / "city.gpkg")
    )
    arguments = ["tracks.gpkg", "private.gpkg", "--domain", "city.gpkg", "--speed", 9]
    said, lines = ask("risk", *arguments)
    assert said["private"]
    assert {row["attack"]: row["value"] for row in said["attacks"]} == pytest.approx(found.table["value"].to_dict())
    assert "progress: Attacking: tracking" in lines
    for wrong, says in (
        (["tracks.gpkg"], "Give IN and PRIVATE, or neither."),
        ([*arguments, "--eps", 4], "--eps is for made-up people."),
        (["--domain", "city.gpkg", "--person", "person"], "--person is for a release."),
        (["--domain", "city.gpkg", "--eps", 4], "Missing option '--interval'"),
    ):
        code, _, err = run("risk", *[folder / word if str(word).endswith(".gpkg") else word for word in wrong])
        assert (code, says in err) == (2, True), err


def test_public_tables(ask, folder):
    city = files.read(folder / "city.gpkg")
    said, lines = ask("advise", "--domain", "city.gpkg", "--method", "joint", "--no-optimum")
    same = rows_of(geotracs.advise(city, methods=["joint"], optimum=False))
    assert said["rows"] == [{**same[0], "of_optimum": None}]
    assert lines == ["progress: Trying methods"]
    said, lines = ask("optimum", "--domain", "city.gpkg", "--eps", 1)
    assert said["error"] == pytest.approx(geotracs.optimum(city, 1).error)
    assert lines == ["progress: Proving"]


def test_answers_say_how_far_they_are(ask):
    _, lines = ask("density", "private.gpkg", "--cells", 2, 1, "--domain", "city.gpkg")
    steps = ["Reading", "Estimating", "0% Counting", "100% Counting", "Writing"]
    assert lines == [f"progress: {step}" for step in steps]


def test_a_ledger(run, tmp_path):  # noqa: F811
    run("ledger", "budget", tmp_path / "ledger.db", 20)
    code, said, _ = run("ledger", "show", tmp_path / "ledger.db", "--json")
    assert (code, json.loads(said)["budget"], json.loads(said)["entries"]) == (0, 20, [])


def test_what_json_does_not_know():
    odd = {"a": [float("nan"), pd.Timestamp("2026-01-01")], "b": pd.Series([1])[0], "c": (float("inf"), "ü")}
    assert in_json(odd) == '{"a": [null, "2026-01-01 00:00:00"], "b": 1, "c": [null, "ü"]}'
