"""Makes the pictures of `docs/qgis.md`, from the real window, and those of the help, from the layers.

GEOTRACS_PROGRAM=.venv/bin/geotracs /usr/bin/python3 qgis_plugin/tests/pictures.py
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from conftest import HERE, PROGRAM, clean
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtGui import QImage
from test_window import STEPS as FIRST
from test_window import click_through

STEPS = [
    FIRST[0],
    ["density", {"INPUT": "Perturbed", "COLUMNS": 12, "ROWS": 12}],
    ["flows", {"INPUT": "Perturbed", "ZONES": "zones", "NAME": "district", "PAIRS": "consecutive"}],
]
NAMES = {
    "window-0": "qgis-1-toolbox",
    "dialog-0": "qgis-2-perturb",
    "dialog-1": "qgis-3-density",
    "window-2": "qgis-4-map",
}
MAKE = """
import sys
import geopandas as gpd, numpy as np, shapely
import geotracs
city = geotracs.datasets.sample_city(people=60, seed=4)
west, south, east, north = city.boundary.total_bounds
xs, ys = np.linspace(west, east, 4), np.linspace(south, north, 5)
boxes = [shapely.box(xs[i], ys[j], xs[i + 1], ys[j + 1]) for i in range(3) for j in range(4)]
zones = gpd.GeoDataFrame({"district": [f"D{n}" for n in range(12)]}, geometry=boxes, crs=city.boundary.crs)
zones = zones[zones.geometry.map(city.boundary.geometry.iloc[0].intersection).area > 0]
for name, frame in dict(tracks=city.tracks, city=city.boundary, zones=zones).items():
    geotracs.files.write(frame, f"{sys.argv[1]}/{name}.gpkg")
"""
SMALL = 230
"""How wide the pictures of the help are."""
HELP = {"window-1": "perturb", "window-2": "density", "window-end": "flows"}
"""Cut from these windows."""


def main():
    """Make them."""
    data, folder = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
    try:
        subprocess.run([Path(PROGRAM).parent / "python", "-I", "-c", MAKE, data], env=clean(), check=True)
        click_through(data, folder, STEPS, 600, GEOTRACS_QGIS_TEST_SEED="")
        for name, target in NAMES.items():
            shutil.copy(folder / f"{name}.png", HERE.parents[1] / "docs" / "pictures" / f"{target}.png")
        for name, target in HELP.items():
            cut = QImage(str(folder / f"{name}.png")).copy(350, 130, 660, 720)
            cut = cut.scaledToWidth(SMALL, Qt.TransformationMode.SmoothTransformation)
            cut.save(str(HERE.parent / "geotracs_qgis" / "pictures" / f"{target}.png"))
    finally:
        shutil.rmtree(data)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
