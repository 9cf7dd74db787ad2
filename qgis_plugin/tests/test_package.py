"""What plugins.qgis.org asks of a plugin, and what this house asks of its algorithms."""

import configparser
import subprocess
import zipfile
from pathlib import Path

from conftest import PLUGIN
from qgis.core import QgsApplication

ROOT = PLUGIN.parents[1]


def test_metadata():
    parser = configparser.ConfigParser()
    parser.read(PLUGIN / "metadata.txt", encoding="utf-8")
    general = parser["general"]
    for name in (
        "name",
        "description",
        "about",
        "version",
        "author",
        "email",
        "homepage",
        "tracker",
        "repository",
        "license",
    ):
        assert general[name], name
    assert general["qgisMinimumVersion"] == "3.22"
    assert general["hasProcessingProvider"] == "yes"
    assert (PLUGIN / general["icon"]).exists()
    assert "pip install geotracs" in general["about"]


def test_the_zip(tmp_path):
    subprocess.run(["make", "-s", "qgis", "PYTHON=/usr/bin/python3"], cwd=ROOT, check=True, capture_output=True)
    path = ROOT / "dist" / "geotracs_qgis.zip"
    assert path.stat().st_size < 1e6
    names = zipfile.ZipFile(path).namelist()
    assert {name.split("/")[0] for name in names} == {"geotracs_qgis"}
    assert {f"geotracs_qgis/{name}" for name in ("metadata.txt", "LICENSE", "__init__.py", "icon.svg")} <= set(names)
    endings = {Path(name).suffix for name in names if not name.endswith("/")}
    assert endings <= {".py", ".txt", ".svg", ".png", ".qml", ".md", ""}


def test_every_algorithm_has_help_in_whole_sentences(app):
    algorithms = QgsApplication.processingRegistry().providerById("geotracs").algorithms()
    assert len(algorithms) == 10
    for algorithm in algorithms:
        assert algorithm.shortHelpString().startswith("<p>")
        assert algorithm.shortHelpString().count(".") >= 2
        assert algorithm.group()
        assert not algorithm.icon().isNull()
        assert "SEED" not in [definition.name() for definition in algorithm.parameterDefinitions()]
    perturb = QgsApplication.processingRegistry().algorithmById("geotracs:perturb")
    assert "Every run is another release" in perturb.shortHelpString()
    assert "Do not calculate it from the layer of the tracks" in perturb.parameterDefinition("EXTENT").help()
