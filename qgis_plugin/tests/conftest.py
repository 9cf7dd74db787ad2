"""Tests in a real QGIS, run by the Python of QGIS: `make test-qgis`.

GEOTRACS_PROGRAM says where geotracs is, which is installed in another Python.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QGIS_CUSTOM_CONFIG_PATH"] = tempfile.mkdtemp(prefix="geotracs-test-")
os.environ["TMPDIR"] = tempfile.tempdir = os.environ["QGIS_CUSTOM_CONFIG_PATH"]  # where no other run leaves anything
atexit.register(shutil.rmtree, os.environ["QGIS_CUSTOM_CONFIG_PATH"], ignore_errors=True)
os.environ["HOME"] = os.environ["QGIS_CUSTOM_CONFIG_PATH"]
os.environ["XDG_RUNTIME_DIR"] = os.environ["QGIS_CUSTOM_CONFIG_PATH"]

import pytest

HERE = Path(__file__).parent
PLUGIN = HERE.parent / "geotracs_qgis"
PROGRAM = os.environ.get("GEOTRACS_PROGRAM", str(HERE.parents[1] / ".venv" / "bin" / "geotracs"))
os.environ["GEOTRACS_PROGRAM"] = PROGRAM
SEED = "7"
SHARE = Path("/usr/share/qgis/python")
sys.path[:0] = [str(HERE.parent), str(SHARE), str(SHARE / "plugins")]

try:
    from qgis.core import QgsApplication, QgsProcessingContext, QgsProcessingFeedback, QgsProject
except ImportError as error:
    pytest.exit(f"QGIS is not installed here ({error}): these tests are skipped.", returncode=0)

DATA = """
import sys
import geopandas as gpd, numpy as np, shapely
import geotracs
folder = sys.argv[1]
city = geotracs.datasets.sample_city(people=6, seed=1)
tracks = city.tracks[city.tracks.groupby("person").cumcount() < 60]
west, south, east, north = city.boundary.total_bounds
middle = (south + north) / 2
halves = [shapely.box(west, south, east, middle), shapely.box(west, middle, east, north)]
zones = gpd.GeoDataFrame({"district": ["south", "north"]}, geometry=halves, crs=city.boundary.crs)
private = tracks.tracs.perturb(
    8, domain=city.boundary, trajectory="person", time="t", keep=[], embed=True, rng=1
)
few = city.pois.iloc[::32]
for name, frame in dict(tracks=tracks, city=city.boundary, pois=few, zones=zones, private=private).items():
    geotracs.files.write(frame, f"{folder}/{name}.gpkg")
"""
"""Makes the files of `folder`, in the Python of geotracs."""


def clean():
    """Return an environment for another program."""
    known = ("HOME", "LANG", "TMPDIR", "GEOTRACS_PROGRAM", "QGIS_CUSTOM_CONFIG_PATH", "XDG_RUNTIME_DIR")
    found = {name: os.environ[name] for name in known if name in os.environ}
    return {**found, "PATH": "/usr/bin:/bin", "GEOTRACS_QGIS_TEST_SEED": SEED, "GEOTRACS_CACHE": ""}


def geotracs(*arguments):
    """Run the command line; return what it prints."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], env=clean(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def app():
    """QGIS with the plugin."""
    found = QgsApplication([], False)
    found.initQgis()
    from processing.core.Processing import Processing

    Processing.initialize()
    from geotracs_qgis.plugin import GeotracsPlugin

    plugin = GeotracsPlugin()
    plugin.initProcessing()
    yield found
    QgsProject.instance().clear()
    plugin.unload()
    found.exitQgis()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Tracks, a city, places, zones, and a release."""
    folder = tmp_path_factory.mktemp("data mit Umlaut ä")
    python = Path(PROGRAM).parent / "python"
    subprocess.run([python, "-I", "-W", "ignore", "-c", DATA, str(folder)], env=clean(), check=True)
    return folder


class Feedback(QgsProcessingFeedback):
    """Remembers what is said."""

    def __init__(self):
        super().__init__(False)
        self.said, self.warnings, self.errors = [], [], []

    def pushInfo(self, text):  # noqa: N802
        self.said.append(text)

    def setProgressText(self, text):  # noqa: N802
        self.said.append(text)

    def pushCommandInfo(self, text):  # noqa: N802
        self.said.append(text)

    def pushWarning(self, text):  # noqa: N802
        self.warnings.append(text)

    def reportError(self, text, fatalError=False):  # noqa: N802, N803
        self.errors.append(text)


@pytest.fixture
def feedback():
    return Feedback()


@pytest.fixture
def run(app, feedback, monkeypatch):
    """Run an algorithm by PyQGIS, and load its layers into the project; return its results."""
    import processing

    monkeypatch.setenv("GEOTRACS_QGIS_TEST_SEED", SEED)
    QgsProject.instance().clear()

    def call(name, load=False, **parameters):
        context = QgsProcessingContext()
        context.setProject(QgsProject.instance())
        call = processing.runAndLoadResults if load else processing.run
        return call(f"geotracs:{name}", parameters, feedback=feedback, context=context)

    yield call
    QgsProject.instance().clear()


@pytest.fixture(autouse=True)
def _nothing_private_is_left():
    """No private folder outlives the test that made it."""
    before = set(Path(tempfile.gettempdir()).glob("geotracs-qgis-*"))
    yield
    assert set(Path(tempfile.gettempdir()).glob("geotracs-qgis-*")) <= before
