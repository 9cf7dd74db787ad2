"""The ledger on the command line."""

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
