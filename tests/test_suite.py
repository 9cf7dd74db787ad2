"""The tests themselves: a skipped one is not overlooked, and they stand where their modules do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import geotracs

TESTS = Path(__file__).parent
PACKAGE = Path(geotracs.__file__).parent
SKIPPED = {
    "in a test": "import pytest\ndef test_one():\n    pytest.skip('not here')\n",
    "by a mark": "import pytest\n@pytest.mark.skipif(True, reason='not here')\ndef test_one():\n    pass\n",
    "as a module": "import pytest\npytest.importorskip('no_such_module')\n",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "forbid", "processes"),
    [("by a mark", "", 0), ("in a test", "1", 0), ("by a mark", "1", 2), ("as a module", "1", 2)],
)
def test_a_skip_fails_the_run_if_asked_for(tmp_path, where, processes, forbid):
    (tmp_path / "test_skipped.py").write_text(SKIPPED[where])
    (tmp_path / "test_passed.py").write_text("def test_two():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.skips", "-n", processes]
    command += ["-c", os.devnull, "--rootdir", tmp_path, "-p", "no:cacheprovider", tmp_path]
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent), "GEOTRACS_FORBID_SKIPS": forbid}
    run = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True)
    assert run.returncode == bool(forbid), run.stdout
    assert ("Skipped tests are failures here." in run.stdout) == bool(forbid)


def test_rooms_of_the_tests_are_rooms_of_the_package():
    """A folder in `tests/core` or another room stands for a folder of the package."""
    rooms = [path.name for path in PACKAGE.iterdir() if (TESTS / path.name).is_dir() and path.name != "__pycache__"]
    assert {"core", "geo", "io", "release", "utility", "views"} <= set(rooms)
    for room in rooms:
        folders = {path.parent.relative_to(TESTS) for path in (TESTS / room).rglob("test_*.py")}
        assert not [str(folder) for folder in folders if not (PACKAGE / folder).is_dir()]


SMALL = 60
"""Modules of up to so many lines need no file of tests of their own."""
LONG = 600
"""Files of tests are shorter than this."""
TESTED_IN = {
    "answers/asked": "answers/test_density",
    "core/charts/base": "core/domains/test_base",
    "__init__": "test_imports",
    "errors": "test_messages",
    "cli/commands": "test_cli",
    "core/notions": "core/test_guarantee",
    "core/provisos": "geo/prepare/test_rows",
    "core/charts/polar": "core/methods/test_product",
    "core/charts/transport": "core/domains/test_transport",
    "core/mechanisms/__init__": "core/mechanisms/test_base",
    "core/mechanisms/stepped": "core/mechanisms/test_steps",
    "core/mechanisms/unit": "core/mechanisms/test_named",
    "core/domains/disc": "geo/test_region",
    "core/domains/globe": "geo/test_region",
    "core/domains/parallelogram": "geo/test_region",
    "core/domains/polygon": "geo/test_region",
    "core/domains/rectangle": "core/domains/test_transport",
    "core/methods/__init__": "core/methods/test_limits",
    "core/methods/book": "core/methods/test_codebooks",
    "core/methods/book_cache": "core/methods/test_codebooks",
    "core/methods/convex_weights": "core/methods/test_weight_fit",
    "core/methods/noise": "core/methods/test_geo_ind",
    "core/methods/on_region": "core/methods/test_density",
    "core/methods/optimal": "core/methods/test_codebooks",
    "core/methods/over_places": "core/methods/test_density",
    "core/methods/released": "core/methods/test_density",
    **{f"core/methods/remap_{name}": "core/methods/test_remap" for name in ("levels", "prior", "tables")},
    "core/methods/spaces": "core/methods/test_codebooks",
    **{f"core/optimum/{name}": "core/test_optimum" for name in (
        "bound", "cells", "checking", "constraints", "kept", "metric", "prices",
    )},
    "core/methods/atp": "core/methods/test_place_methods",
    "core/methods/base": "core/methods/test_place_methods",
    "core/methods/calibrated": "core/methods/test_calibration",
    "core/methods/channels": "core/methods/test_density",
    "core/methods/exponential": "core/methods/test_place_methods",
    "core/methods/l_srr": "core/methods/test_place_methods",
    "core/methods/ngram": "core/methods/test_place_methods",
    "core/methods/planar_laplace": "core/methods/test_region_baselines",
    "core/methods/tracs_c": "core/methods/test_tracs",
    "core/methods/tracs_d": "core/methods/test_tracs",
    "core/methods/walk": "core/methods/test_tracs",
    "core/methods/weighted": "core/methods/test_place_methods",
    "geo/remap": "release/test_remap",
    "geo/shapes": "geo/test_region",
    "geo/filling": "geo/test_schedule",
    "geo/trials": "geo/test_advise",
    "geo/rounding": "core/test_places",
    "io/formats/base": "io/formats/test_formats",
    "io/formats/guard": "io/test_troubles",
    "io/replacing": "io/test_siblings",
    **{f"io/{name}": "release/test_arrow" for name in ("geoarrow", "tables", "wkb")},
    "io/metadata": "io/formats/test_parquet",
    "release/charging": "trust/test_ledger",
    "trust/store": "trust/test_ledger",
    "release/engine": "release/file/test_release",
    "release/plan": "release/test_steps",
    "release/setting": "release/test_frame",
    "release/fills": "release/test_timetable",
    "release/file/scheduled": "release/test_timetable",
    "release/file/__init__": "release/file/test_release",
    "release/file/counts": "release/file/test_release",
    "release/file/tally": "release/file/test_cluster",
    "release/file/survey": "release/test_budgets",
    **{f"trust/{name}": "trust/test_audit" for name in (
        "counting", "densities", "draws", "end_to_end", "exact", "findings", "pairs", "subjects",
    )},
    "trust/scan": "release/test_bytes",
    "experiments/mechanisms": "test_experiments_mechanisms",
    **{f"experiments/{name}": "test_experiments_answers" for name in ("answers", "channels")},
    "experiments/poisoning": "answers/test_robust",
    "experiments/audits": "trust/test_audit",
    "experiments/moments": "release/test_timetable",
    "experiments/risks": "test_experiments_risks",
    "experiments/tracking": "test_experiments_tracking",
    "experiments/moves": "test_experiments_moves",
    **{f"trust/risk_{name}": "trust/test_risk" for name in ("attacks", "curves", "people", "result")},
    **{f"trust/report_{name}": "trust/test_report" for name in (
        "checks", "map", "page", "points", "result", "sums", "words",
    )},
    **{f"experiments/{name}": "test_experiments_synthesis" for name in ("ldptrace", "synthesis", "trips")},
    **{f"experiments/{name}": "test_experiments" for name in (
        "cities", "continuous", "discrete", "exact", "figures", "published", "report", "setups", "timing",
    )},
    **{f"views/maps/{name}": "views/maps/test_explore" for name in (
        "layers", "page", "scene", "sides", "window", "words",
    )},
    "views/plots/charts": "views/plots/test_answers",
    **{f"views/plots/{name}": "views/test_plots" for name in ("canvas", "curves", "one_report", "tracks")},
}  # fmt: skip
"""Modules that are tested with others, and in which file; a line goes when the module gets a file of its own."""


def own_tests(module):
    """Where the tests of a module are, unless they are with others: `a/b.py` has `a/test_b.py`, a package as well."""
    module = module.removesuffix("/__init__")
    folder, _, name = module.rpartition("/")
    return f"{folder}/test_{name}".lstrip("/")


def test_tests_stand_where_their_modules_do():
    paths = {path.relative_to(PACKAGE).with_suffix("").as_posix(): path for path in PACKAGE.rglob("*.py")}
    large = {module for module, path in paths.items() if len(path.read_text().splitlines()) > SMALL}
    assert TESTED_IN.keys() <= paths.keys(), "a module that is listed has gone"
    missing = [m for m in sorted(large) if not (TESTS / f"{TESTED_IN.get(m, own_tests(m))}.py").exists()]
    assert missing == [], "give it a file of tests, or say in TESTED_IN where they are"
    assert [m for m in TESTED_IN if (TESTS / f"{own_tests(m)}.py").exists()] == [], "it has a file of its own"


def test_no_file_of_tests_is_long():
    assert [path.name for path in TESTS.rglob("test_*.py") if len(path.read_text().splitlines()) > LONG] == []
