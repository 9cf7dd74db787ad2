"""How much longer a perturbation takes in QGIS than on the command line: 400,000 points of a GeoPackage.

    GEOTRACS_PROGRAM=.venv/bin/geotracs /usr/bin/python3 qgis_plugin/tests/benchmark.py

Both start-ups count. Prints a row for a Markdown table.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from conftest import PLUGIN, PROGRAM, clean

POINTS = 400_000
MAKE = """
import sys
import geopandas as gpd, numpy as np, pandas as pd
import geotracs
n, path = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(0)
person = np.sort(rng.integers(0, n // 100, n))
t = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n) * 60, unit="s")
where = gpd.points_from_xy(rng.uniform(139.5, 139.9, n), rng.uniform(35.5, 35.8, n))
geotracs.files.write(gpd.GeoDataFrame({"person": person, "t": t}, geometry=where, crs=4326), path)
"""


def main(repeats):
    """Measure both, in turn, and print the best of each."""
    folder = Path(tempfile.mkdtemp(prefix="geotracs-benchmark-"))
    environment = {name: value for name, value in clean().items() if name != "GEOTRACS_QGIS_TEST_SEED"}
    environment |= {"QGIS_PLUGINPATH": str(PLUGIN.parent), "QT_QPA_PLATFORM": "offscreen"}
    process = shutil.which("qgis_process.bin") or "qgis_process"
    try:
        subprocess.run(
            [process, "plugins", "enable", "geotracs_qgis"], env=environment, check=True, capture_output=True
        )
        tracks = folder / "tracks.gpkg"
        subprocess.run(
            [Path(PROGRAM).parent / "python", "-I", "-c", MAKE, str(POINTS), tracks], env=environment, check=True
        )
        own = [
            PROGRAM,
            "perturb",
            tracks,
            folder / "a.gpkg",
            "--eps",
            "4",
            "--domain",
            "139.4,35.4,140,35.9",
            "--overwrite",
        ]
        own += ["--trajectory", "person", "--time", "t", "--keep", "none"]
        given = {"INPUT": tracks, "EPSILON": 4, "METHOD": "joint", "EXTENT": "139.4,140,35.4,35.9 [EPSG:4326]"}
        given |= {"TRAJECTORY": "person", "TIME": "t", "EMBED": "false", "OUTPUT": folder / "b.gpkg", "REPLACE": "true"}
        there = [process, "run", "geotracs:perturb", "--", *(f"{name}={value}" for name, value in given.items())]
        seconds = {"geotracs perturb": [], "in QGIS": []}
        for _ in range(repeats):
            for name, command in (("geotracs perturb", own), ("in QGIS", there)):
                start = time.perf_counter()
                subprocess.run([*map(str, command)], env=environment, check=True, capture_output=True)
                seconds[name].append(time.perf_counter() - start)
        alone, inside = (min(values) for values in seconds.values())
        sys.stdout.write(f"| {POINTS:,} points | {alone:.1f} s | {inside:.1f} s | {inside / alone:.2f} times |\n")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(os.environ["QGIS_CUSTOM_CONFIG_PATH"], ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
