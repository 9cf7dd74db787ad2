"""A real window under Xvfb, and a real mouse: from two layers to a styled heat map."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from conftest import PLUGIN, clean

PROFILE = """[PythonPlugins]
geotracs_qgis=true
processing=true
[qgis]
checkVersion=false
showTips=false
"""


STEPS = [
    ["perturb", {"INPUT": "tracks", "EPSILON": 8, "DOMAIN": "city", "TRAJECTORY": "person", "TIME": "t"}],
    ["density", {"INPUT": "Perturbed", "COLUMNS": 6, "ROWS": 6}],
]


def test_by_clicking(folder, tmp_path):
    missing = [name for name in ("qgis.bin", "Xvfb", "xdotool") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")
    found = click_through(folder, tmp_path, STEPS)
    perturbed, heat = found["layers"]
    assert perturbed["name"] == "Perturbed tracks (joint, epsilon 8)"
    assert perturbed["count"] == 360
    assert "pure 8-local differential privacy" in perturbed["abstract"]
    assert heat["name"] == "Density"
    assert "costs no epsilon" in heat["abstract"]


def click_through(data, pictures, steps, seconds=150, **more):
    """Click through `in_window.py`; return what it says at the end."""
    config = pictures / "config"
    ini = config / "profiles" / "default" / "QGIS"
    ini.mkdir(parents=True)
    (ini / "QGIS3.ini").write_text(PROFILE)
    environment = {
        **clean(),
        "QGIS_PLUGINPATH": str(PLUGIN.parent),
        "QGIS_CUSTOM_CONFIG_PATH": str(config),
        "DISPLAY": ":97",
        "QT_QPA_PLATFORM": "xcb",
        "GEOTRACS_TEST_FOLDER": str(pictures),
        "GEOTRACS_TEST_DATA": str(data),
        "GEOTRACS_TEST_STEPS": json.dumps(steps),
        **more,
    }
    screen = subprocess.Popen(["Xvfb", ":97", "-screen", "0", "1400x900x24"], stderr=subprocess.DEVNULL)
    code = Path(__file__).with_name("in_window.py")
    with open(pictures / "qgis.log", "w") as log:
        options = ["--nologo", "--noversioncheck", "--profiles-path", str(config), "--code", str(code)]
        window = subprocess.Popen(["qgis.bin", *options], env=environment, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not (pictures / "done.json").exists() and window.poll() is None:
            where = pictures / "click.json"
            if where.exists():
                place = json.loads(where.read_text())
                where.unlink()
                click = ["xdotool", "mousemove", str(place["x"]), str(place["y"]), "click", "1"]
                subprocess.run(click, env=environment, check=True)
            time.sleep(0.2)
        assert (pictures / "done.json").exists(), (pictures / "qgis.log").read_text()[-3000:]
        found = json.loads((pictures / "done.json").read_text())
        assert "error" not in found, found["error"]
        return found
    finally:
        window.kill()
        window.wait()
        screen.terminate()
        screen.wait()
        os.environ.pop("DISPLAY", None)
