"""The ledger and the report on the command line."""

import json

import pytest

import geotracs
from geotracs import files
from tests.test_cli import run  # noqa: F401  (a fixture)


@pytest.fixture
def tracks(tmp_path):
    city = geotracs.datasets.sample_city(people=3, seed=1)
    files.write(city.tracks[city.tracks.groupby("person").cumcount() < 4], tmp_path / "tracks.gpkg")
    return tmp_path / "tracks.gpkg"


def test_a_release_is_charged_and_shown(run, tracks, tmp_path):  # noqa: F811
    ledger, out = tmp_path / "ledger.db", tmp_path / "private.gpkg"
    release = ["perturb", tracks, out, "--eps", 2, "--domain=13.16,-20.33,13.28,-20.19", "--trajectory", "person"]
    release += ["--keep", "none", "--overwrite", "--ledger", ledger]
    code, _, said = run(*release, "--data", "bus")
    assert (code, "make one with geotracs ledger budget" in said) == (2, True)
    assert run("ledger", "budget", ledger, 20)[:2] == (0, "20\n")
    assert run(*release, "--data", "bus")[0] == 0
    assert run("ledger", "show", ledger, "--person", "1")[1] == "8\n"
    code, _, said = run(*release)
    assert (code, "`--data` must name the data in the ledger, e.g. --data bus-2026" in said) == (2, True)
    assert run("ledger", "charge", ledger, tracks, "--person", "person", "--eps", 5, "--data", "paper")[0] == 0
    code, _, said = run(*release, "--data", "bus")
    assert (code, "not enough for 3 of 3 people" in said) == (2, True)
    said = run("ledger", "show", ledger)[1]
    assert "Budget: epsilon 20 per person." in said
    assert "paper" in said
    assert run("ledger", "budget", ledger, 21)[1] == "21\n"
    assert run(*release, "--data", "bus")[0] == 0
    assert run("ledger", "budget", ledger)[1] == "21\n"


def test_a_report_of_a_release(run, tracks, tmp_path):  # noqa: F811
    private, page, facts = (tmp_path / name for name in ("private.gpkg", "report.html", "report.json"))
    ledger = tmp_path / "ledger.db"
    run("ledger", "budget", ledger, 20)
    release = ["perturb", tracks, private, "--eps", 2, "--domain=13.16,-20.33,13.28,-20.19", "--trajectory", "person"]
    run(*release, "--time", "t", "--keep", "none", "--ledger", ledger, "--data", "bus")
    quick = ["--no-risk", "--no-audit", "--ledger", ledger, "--data", "bus"]
    code, said, _ = run("report", private, page, facts, "--person", "person", *quick)
    assert code == 0
    assert f"Written: {page}" in said
    assert "Decide: No attack was made." in said
    known = json.loads(facts.read_text())
    assert known["epsilon"][2] | {"largest": 8.0, "count": 3} == known["epsilon"][2]
    assert known["spent"]["largest"] == 8
    assert known["release"]["file"] == "private.gpkg"
    assert known["release"]["sha256"] in page.read_text()
    code, _, said = run("report", private, page, *quick)
    assert (code, "use --overwrite to replace it" in said) == (2, True)
    code, _, said = run("report", tracks, tmp_path / "other.html", *quick)
    assert (code, "no record of a perturbation" in said) == (2, True)
    code, _, said = run("report", private, tmp_path / "report.pdf", *quick)
    assert (code, "ends with .html or .json" in said) == (2, True)
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["report.html"]


def test_a_report_beside_originals_is_confidential(run, tmp_path):  # noqa: F811
    city = geotracs.datasets.sample_city(people=5, seed=1)
    few = city.tracks[city.tracks.groupby("person").cumcount() < 8]
    private = few.tracs.perturb(2, domain=city.boundary.total_bounds, trajectory="person", time="t", keep=[])
    files.write(few, tmp_path / "tracks.gpkg")
    files.write(private, tmp_path / "private.gpkg")
    given = ["report", tmp_path / "private.gpkg", tmp_path / "report.html", "--no-audit"]
    assert run(*given, "--originals", tmp_path / "tracks.gpkg")[0] == 0
    assert "Confidential: the attacks were compared" in (tmp_path / "report.html").read_text()
