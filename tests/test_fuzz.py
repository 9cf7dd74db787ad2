"""The fuzzer: a few of its runs, and that it notices what it is there to notice."""

import logging
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import geotracs
from geotracs import InputError
from tests.fuzz import __main__ as fuzz
from tests.fuzz import commands, formats, private, runs
from tests.fuzz.detector import Detector, texts_of

pytestmark = pytest.mark.slow

RUNS = 60
ROOT = Path(__file__).parents[1]


def test_some_runs():
    """In a process of its own, since it forks; ``make fuzz`` makes more of them."""
    command = [sys.executable, "-m", "tests.fuzz", "--runs", str(RUNS), "--seed", "0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{RUNS}          0          0" in done.stdout.splitlines()[-1]


@pytest.fixture
def secrets():
    return private.make(np.random.default_rng(1), rows=20)


@pytest.mark.parametrize(
    "form",
    ["{}", "{:.3f}", "{:.4f}", "{:.6e}", "Unrecognized number: {}x.", "POINT ({} 1)", "'{}'", "\x1b{}", "x={:.12f}"],
)
def test_numbers_are_found_at_any_rounding(secrets, form):
    detector = Detector(secrets)
    for value in secrets.xy.ravel():
        assert detector.found(form.format(value))
        assert detector.found(form.format(value).encode("utf-16").decode("latin-1"))


def test_cut_off_numbers_whole_numbers_and_labels_are_found(secrets):
    detector = Detector(secrets)
    for x, y in secrets.xy:
        for text in (str(x)[:6], str(y)[:6], str(round(x * 1e7)), str(round(y * 1e6))):
            assert detector.found(f"at {text}.")
    assert detector.found("Zoe Quux7")
    assert detector.found("failed: 'Rue de la Pai")


@pytest.mark.parametrize(
    "text",
    [
        "In rows 10 to 19: 3 of 40 locations lie outside the domain (101.0, 11.0, 149.0, 49.0).",
        "'/tmp/tracks.shp' is cut short: it should have 13,971 bytes. Copy it again.",
        "GDAL 3.12.4, 2026-01-01T00:25:00.123456, EPSG:4326, 6378137.0, 298.257223563, 0.0174532925199433",
        "mean 1234567.123456  median 987654.321  within_1000m 0.025",
    ],
)
def test_other_numbers_are_not_found(secrets, text):
    assert Detector(secrets).found(text) == []


def test_the_whole_chain_of_an_error_is_looked_at():
    def fails():
        try:
            try:
                raise ValueError("inner")
            except ValueError:
                raise KeyError("middle") from None
        except KeyError as error:
            error.add_note("a note")
            raise InputError("outer") from error

    with pytest.raises(InputError) as caught:
        fails()
    places = [(place, text) for place, text in texts_of(caught.value) if text]
    assert [place for place, _ in places] == ["error", "cause", "cause", "suppressed context"]
    assert all(word in str(places) for word in ("inner", "middle", "outer", "a note"))


def chained(cause, value):
    try:
        raise ValueError(f"bad number {value}")
    except ValueError as error:
        raise InputError("It cannot be read.") from (error if cause else None)


def noted(value):
    error = InputError("It cannot be read.")
    error.add_note(f"near {value}")
    raise error


def left(out, name, text):
    (out / name).write_text(text)


def left_beside_a_release(out, name, text):
    left(out, "private.csv", "lon,lat\n1,2\n")
    left(out, name, text)


LEAKS = {
    "stdout": lambda value, case: sys.stdout.write(f"{value}\n"),
    "stderr": lambda value, case: os.write(2, f"ERROR 1: {value}\n".encode()),
    "warnings": lambda value, case: warnings.warn(f"{value}", stacklevel=1),
    "logs": lambda value, case: logging.getLogger("some.library").debug("read %s", value),
    "error": lambda value, case: noted(value),
    "cause": lambda value, case: chained(True, value),
    "suppressed context": lambda value, case: chained(False, value),
    "name of a file": lambda value, case: left(case.path.parent, f"{value}.gfs", ""),
    "beside IN": lambda value, case: left(case.path.parent, "tracks.aux", f"{value}"),
    "private.csvt holds row": lambda value, case: left_beside_a_release(case.out, "private.csvt", f"{value}"),
}


@pytest.mark.parametrize("place", LEAKS)
def test_a_leak_is_noticed_wherever_it_is(monkeypatch, place):
    def leaking(case):
        return commands.Call("a leak", function=lambda: LEAKS[place](case.private.xy[3, 0], case))

    monkeypatch.setattr(commands, "call", leaking)
    outcome = runs.run(0, 0)
    assert outcome.is_bad
    assert all(leak.startswith((place, "left after")) for leak in outcome.leaks)
    assert not outcome.foreign


def test_a_foreign_error_is_noticed(monkeypatch):
    monkeypatch.setattr(commands, "call", lambda case: commands.Call("a bug", function=lambda: {}["no such key"]))
    outcome = runs.run(0, 0)
    assert outcome.foreign.startswith("KeyError")
    assert outcome.is_bad


def test_a_crash_and_a_hang_are_noticed(monkeypatch):
    def run(seed, number):
        if number == 3:
            os._exit(11)
        time.sleep(600 if number == 5 else 0)
        return runs.Outcome(number, "kind", "command", succeeded=True)

    monkeypatch.setattr(runs, "run", run)
    monkeypatch.setattr(runs, "SECONDS", 2)
    outcomes = {outcome.number: outcome for outcome in fuzz.made(0, range(8), processes=1)}
    assert sorted(outcomes) == list(range(8))
    assert [number for number, outcome in sorted(outcomes.items()) if outcome.is_bad] == [3, 5]
    assert "crashed with exit code 11" in outcomes[3].foreign
    assert "hangs" in outcomes[5].foreign
    assert "8          0          2" in fuzz.table(list(outcomes.values()))


def test_the_same_run_again():
    one, other = (runs.run(0, 11) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("kind", [*formats.KINDS, *formats.LOADED])
def test_files_that_are_not_damaged_are_read(secrets, tmp_path, kind):
    """Otherwise the fuzzer would only see refusals."""
    path = formats.write(kind, secrets, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind in formats.LOADED:
            assert len(getattr(geotracs.loaders, kind)(path)) == 20
        else:
            assert len(geotracs.files.read(path, allow_remote=kind == "vrt")) == 20
