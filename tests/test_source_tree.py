"""Rules of the house, checked over the source itself."""

import ast
import re
from pathlib import Path

import pytest

import geotracs

ROOT = Path(geotracs.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
ORDER = [
    "errors",
    "troubles",
    "siblings",
    "colours",
    "randomness",
    "budget",
    "digest",
    "mechanisms",
    "blocks",
    "domains",
    "places",
    "methods",
    "metrics",
    "crs",
    "leaks",
    "frames",
    "priors",
    "regions",
    "rounding",
    "advise",
    "plans",
    "perturb",
    "compare",
    "sweep",
    "plots",
    "datasets",
    "files",
    "streaming",
    "loaders",
    "maps",
    "experiments",
    "dask_frames",
    "accessor",
    "__init__",
    "cli",
    "__main__",
]
ARRAYS_ONLY = ("digest", "mechanisms", "domains", "places", "methods", "metrics", "blocks", "budget")


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path):
    """All modules that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            if node.module == "geotracs":
                yield from (f"geotracs.{alias.name}" for alias in node.names)


def test_every_room_is_listed():
    assert {room(path) for path in MODULES} == set(ORDER)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path):
    own = ORDER.index(room(path))
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "geotracs" and len(parts) > 1 and parts[1] in ORDER and parts[1] != room(path):
            assert ORDER.index(parts[1]) < own, f"{path.name} imports {name}"


def test_no_cycle_between_modules():
    graph = {}
    for path in MODULES:
        name = ".".join(("geotracs", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        graph[name] = {n for n in imported(path) if n.startswith("geotracs.")}

    def reach(name, seen):
        for other in graph.get(name, ()):
            if other not in seen:
                seen.add(other)
                reach(other, seen)
        return seen

    assert [name for name in graph if name in reach(name, set())] == []


@pytest.mark.parametrize("path", [p for p in MODULES if room(p) in ARRAYS_ONLY], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_core_speaks_arrays(path):
    assert not {name.split(".")[0] for name in imported(path)} & {"geopandas", "pandas", "pyproj", "folium"}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_assert_no_other_randomness(path):
    text = path.read_text()
    assert not [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assert)]
    if room(path) not in ("datasets", "randomness"):  # generated data, and the one door for seeds
        assert not re.search(
            r"default_rng\((?!0\))|RandomState|import random\b|np\.random\.(?!Generator|default_rng)", text
        )


def test_public_names_are_documented_with_examples():
    for name in ("perturb", "compare", "sweep", "Guarantee"):
        assert ">>>" in getattr(geotracs, name).__doc__, name
    for name in ("plot", "error_curve", "displacement", "mechanism"):
        assert ">>>" in getattr(geotracs.plots, name).__doc__, name
    assert ">>>" in geotracs.datasets.sample_city.__doc__
    for name in geotracs.mechanisms.__all__:
        assert ">>>" in getattr(geotracs.mechanisms, name).__doc__, name
    assert ">>>" in geotracs.domains.Rectangle.__doc__


def test_accessor_shows_the_functions_signature_and_documentation():
    import inspect

    for function in (geotracs.perturb, geotracs.compare, geotracs.sweep, geotracs.plots.plot):
        method = getattr(geotracs.accessor.TracsAccessor, function.__name__)
        assert method.__doc__ == function.__doc__
        ours = list(inspect.signature(method).parameters)[1:]
        assert ours == list(inspect.signature(function).parameters)[1:]
