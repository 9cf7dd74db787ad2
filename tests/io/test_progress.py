"""Progress: bars for people, lines for programs."""

import sys

import pytest

from geotracs.io.progress import bar, lines, step, wanted


def test_lines_say_a_percent_once(capsys):
    with lines(), bar(1000, None, " rows", "Sorting") as advance:
        for _ in range(1000):
            advance(1)
    said = capsys.readouterr().err.splitlines()
    assert said == [f"progress: {percent}% Sorting" for percent in range(101)]


def test_of_unknown_or_no_length(capsys):
    with lines(), bar(None, True, " rows", "Looking") as advance:
        advance(5)
    with lines(), bar(0, True, " rows", "Looking") as advance:
        advance(0)
    with lines():
        step("Writing")
    assert capsys.readouterr().err.splitlines() == ["progress: Looking", "progress: Looking", "progress: Writing"]


def test_more_than_announced_is_everything(capsys):
    with lines(), bar(2, True, " rows") as advance:
        advance(5)
    assert capsys.readouterr().err.splitlines()[-1] == "progress: 100% Perturbing"


@pytest.mark.parametrize("progress", [False, None])
def test_nobody_is_told_unless_asked(capsys, progress):
    step("Reading")
    with bar(2, progress, " rows") as advance:
        advance(2)
    with lines(), bar(2, False, " rows") as advance:
        advance(2)
    assert capsys.readouterr().err == ""
    assert not wanted()


@pytest.mark.parametrize("looks", [True, False])
def test_a_bar_is_shown_where_someone_looks(looks, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: looks, raising=False)
    with bar(10, None, " rows", "Counting") as advance:
        advance(10)
    assert ("Counting: 100%" in capsys.readouterr().err) == looks
