"""What `import geotracs` brings: short names for the rooms, and nothing heavy."""

import importlib
import inspect
import subprocess
import sys

import pytest

import geotracs
from geotracs.accessor import TracsAccessor

SHORT = {
    "datasets": "io.datasets",
    "domains": "core.domains",
    "files": "io.files",
    "loaders": "io.loaders",
    "mechanisms": "core.mechanisms",
    "methods": "core.methods",
    "metrics": "utility.metrics",
    "places": "core.places",
    "plots": "views.plots",
}
HEAVY = ("folium", "matplotlib", "scipy.stats", "dask", "dask_geopandas", "distributed", "numba", "movingpandas")


@pytest.mark.parametrize(("short", "long"), SHORT.items())
def test_short_names_are_the_same_modules(short, long):
    module = importlib.import_module(f"geotracs.{long}")
    assert getattr(geotracs, short) is module
    assert importlib.import_module(f"geotracs.{short}") is module
    assert module.__name__ == module.__spec__.name == f"geotracs.{long}"


@pytest.mark.slow
def test_short_names_work_in_a_fresh_process_in_any_order():
    """The short name first, then the long one, and the other way round: classes are not there twice."""
    for first, second in (("domains", "core.domains"), ("core.domains", "domains")):
        code = f"from geotracs.{first} import Disc as a\nfrom geotracs.{second} import Disc as b\nassert a is b"
        subprocess.run([sys.executable, "-W", "error::ImportWarning", "-c", code], check=True)


def test_functions_are_not_shadowed_by_modules():
    import geotracs.release.frame
    import geotracs.utility.compare
    import geotracs.utility.sweep

    assert geotracs.compare is geotracs.utility.compare.compare
    assert geotracs.sweep is geotracs.utility.sweep.sweep
    assert geotracs.perturb is geotracs.release.frame.perturb


ANSWERS = ("density", "flows", "lengths", "popularity", "reconstruct", "synthesize")


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_functions_and_methods(name):
    """The accessor's method calls the very function that has the public name."""
    function = getattr(geotracs, name)
    assert function is getattr(importlib.import_module(f"geotracs.answers.{name}"), name)
    assert getattr(geotracs, name) is function, "the module does not shadow it once it is loaded"
    assert inspect.unwrap(getattr(TracsAccessor, name)) is inspect.unwrap(function)


def test_every_public_name_is_there():
    assert set(geotracs.__all__) <= set(dir(geotracs))
    for name in geotracs.__all__:
        assert getattr(geotracs, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        _ = geotracs.anonymise


def test_importing_geotracs_loads_nothing_heavy():
    """Beyond what geopandas loads itself."""
    code = (
        "import sys, geopandas\nbefore = set(sys.modules)\nimport geotracs\n"
        f"print(*sorted(name for name in {HEAVY} if name in set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
