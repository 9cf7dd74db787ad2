"""qgis_process: every algorithm without a window, and what is left when QGIS is killed."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from conftest import PLUGIN, clean, geotracs
from test_algorithms import rows

PROCESS = shutil.which("qgis_process.bin") or shutil.which("qgis_process")  # whose wrapper fails in 3.22
SIGNALS = ["SIGINT", "SIGTERM", "SIGKILL"]


@pytest.fixture(scope="session")
def command():
    """Start qgis_process with the plugin."""
    environment = {**clean(), "QGIS_PLUGINPATH": str(PLUGIN.parent), "QT_QPA_PLATFORM": "offscreen"}
    subprocess.run([PROCESS, "plugins", "enable", "geotracs_qgis"], env=environment, check=True, capture_output=True)

    def start(algorithm, *given, **parameters):
        words = [f"{name}={value}" for name, value in parameters.items()]
        return subprocess.Popen(
            [PROCESS, "run", f"geotracs:{algorithm}", "--", *given, *words],
            env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return start


def folders():
    return set(Path(tempfile.gettempdir()).glob("geotracs-qgis-*"))


def test_perturb_and_density(command, folder, tmp_path):
    """What qgis_process writes is what the command line writes."""
    private, heat = tmp_path / "private.gpkg", tmp_path / "heat.gpkg"
    given = {"INPUT": folder / "tracks.gpkg", "DOMAIN": folder / "city.gpkg", "TRAJECTORY": "person", "TIME": "t"}
    done = command("perturb", EPSILON=8, METHOD="joint", EMBED="true", OUTPUT=private, **given)
    said, errors = done.communicate()
    assert done.returncode == 0, errors
    assert "360 locations." in said
    assert "pure 8-local differential privacy" in said
    done = command("density", INPUT=private, COLUMNS=2, ROWS=2, OUTPUT=heat)
    assert done.communicate()[1].count("Traceback") == done.returncode == 0
    geotracs("density", private, tmp_path / "same.gpkg", "--cells", 2, 2)
    assert rows(heat) == rows(tmp_path / "same.gpkg")


@pytest.mark.parametrize(
    ("algorithm", "given", "says"),
    [
        ("expectederror", {"DOMAIN": "city.gpkg", "EPSILON": 8, "METHODS": "joint"}, "With epsilon 8, joint moves"),
        (
            "expectedrisk",
            {"DOMAIN": "city.gpkg", "EPSILON": 8, "INTERVAL": 60, "PEOPLE": 5, "FIXES": 20},
            "whoever follows a person",
        ),
        ("compare", {"INPUT": "tracks.gpkg", "PERTURBED": "private.gpkg"}, "keep confidential"),
        ("risk", {"INPUT": "tracks.gpkg", "PERTURBED": "private.gpkg", "SPEED": 12}, "keep confidential"),
        ("flows", {"INPUT": "private.gpkg", "ZONES": "zones.gpkg", "PAIRS": "consecutive"}, "4 features."),
        ("reconstruct", {"INPUT": "private.gpkg", "SPEED": 12, "CELLS": 16}, "360 features."),
    ],
)
def test_the_others(command, folder, tmp_path, algorithm, given, says):
    given = {name: folder / value if str(value).endswith(".gpkg") else value for name, value in given.items()}
    done = command(algorithm, OUTPUT=tmp_path / "out.gpkg", **given)
    said, errors = done.communicate()
    assert done.returncode == 0, errors
    assert says in said + errors
    assert (tmp_path / "out.gpkg").exists()


def test_an_error_is_one_line(command, folder, tmp_path):
    done = command("density", INPUT=folder / "tracks.gpkg", OUTPUT=tmp_path / "out.gpkg")
    said, errors = done.communicate()
    assert done.returncode != 0
    assert "holds no record of a perturbation" in errors
    assert "Traceback" not in said + errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", SIGNALS)
def test_killed(command, folder, tmp_path, name):
    """Nothing of the originals is left when QGIS is killed, and no process."""
    killed(command, folder, tmp_path, name, delay=0.0)


def killed(command, folder, tmp_path, name, delay):
    """Kill QGIS some time after there is a private folder, with the originals in it or on their way."""
    before = folders()
    selected = f'{folder / "tracks.gpkg"}|subset="fid" > 0'  # no plain file: it must be copied
    done = command(
        "perturb", INPUT=selected, EPSILON=10, METHOD="optimal", DOMAIN=folder / "city.gpkg", TRAJECTORY="person",
        TIME="t", OUTPUT=tmp_path / "out.gpkg",
    )  # fmt: skip
    mine = None
    while done.poll() is None and mine is None:
        mine = next((path for path in folders() - before if (path / "input.gpkg").exists()), None)
        time.sleep(0.01)
    assert mine is not None, done.communicate()
    time.sleep(delay)
    children = [
        int(pid)
        for pid in subprocess.run(["pgrep", "-P", str(done.pid)], capture_output=True, text=True).stdout.split()
    ]
    was_running = done.poll() is None
    os.kill(done.pid, getattr(signal, name))
    done.communicate()
    deadline = time.monotonic() + 60
    while (mine.exists() or any(map(alive, children))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert was_running, "it was done before it could be killed"
    assert children, "geotracs was not running"
    assert not mine.exists()
    assert not any(map(alive, children))
    assert list(tmp_path.iterdir()) == []


def alive(pid):
    """Return whether a process runs; one that has ended and waits to be noticed does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
