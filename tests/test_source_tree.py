"""Rules of the house, checked over the source itself."""

import ast
import functools
import re
from pathlib import Path

import geotracs

ROOT = Path(geotracs.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
CORE_MODULES = sorted((ROOT / "core").rglob("*.py"))
ORDER = [
    "errors",
    "core",
    "geo",
    "io",
    "release",
    "utility",
    "answers",
    "views",
    "trust",
    "experiments",
    "accessor",
    "__init__",
    "cli",
    "__main__",
]
"""The rooms, each of which imports from those before it only."""
CORE = [
    "randomness",
    "budget",
    "cache",
    "notions",
    "provisos",
    "guarantee",
    "digest",
    "lengths",
    "cells",
    "following",
    "mechanisms",
    "charts",
    "domains",
    "places",
    "methods",
    "optimum",
]
"""The same within the first."""


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@functools.cache
def parsed(path):
    return ast.parse(path.read_text())


@functools.cache
def nodes(path):
    """All that a file consists of."""
    return list(ast.walk(parsed(path)))


def imported(path):
    """All modules that a file imports, wherever in the file."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            if node.module == "geotracs":
                yield from (f"geotracs.{alias.name}" for alias in node.names)


def test_every_room_is_listed():
    assert {room(path) for path in MODULES} == set(ORDER)
    assert {path.relative_to(ROOT / "core").parts[0].removesuffix(".py") for path in CORE_MODULES} == {
        *CORE,
        "__init__",
    }


def test_imports_go_one_way():
    for path in MODULES:
        parts = [name.split(".") for name in imported(path) if name.startswith("geotracs.")]
        own = path.relative_to(ROOT).with_suffix("").parts
        for name in parts:
            if own != ("__init__",) and name[1] != own[0]:  # which only says where names come from
                assert ORDER.index(name[1]) < ORDER.index(own[0]), f"{path.name} imports {'.'.join(name)}"
            if own[0] == "core" == name[1] and len(name) > 2 and name[2] != own[1]:
                assert CORE.index(name[2]) < CORE.index(own[1]), f"{path.name} imports {'.'.join(name)}"


def test_no_cycle_between_modules():
    graph = {}
    for path in MODULES:
        name = ".".join(("geotracs", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        graph[name] = {n for n in imported(path) if n.startswith("geotracs.")} if name != "geotracs" else set()

    def reach(name, seen):
        for other in graph.get(name, ()):
            if other not in seen:
                seen.add(other)
                reach(other, seen)
        return seen

    assert [name for name in graph if name in reach(name, set())] == []


def test_the_core_speaks_arrays():
    for path in [*CORE_MODULES, ROOT / "utility" / "metrics.py"]:
        others = {name.split(".")[0] for name in imported(path)} & {"geopandas", "pandas", "pyproj", "folium"}
        assert not others, path


def test_kinds_of_domains_are_asked_for_in_one_module():
    """Everywhere else a region is asked for its capabilities."""
    kinds = {"Domain", "Base", *(kind.__name__ for kind in geotracs.domains.KINDS)}
    asked = {}
    for path in MODULES:
        tree = parsed(path)
        own = {
            alias.asname or alias.name
            for node in nodes(path)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("geotracs.core.domains")
            for alias in node.names
        }
        own |= {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        for node in nodes(path):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass", "type"):
                named = {word for argument in node.args for word in re.findall(r"[.\w]+", ast.unparse(argument))}
                if {word.rsplit(".", 1)[-1] for word in named if word.split(".")[0] != "shapely"} & kinds & own:
                    asked[path.relative_to(ROOT).as_posix()] = asked.get(path.relative_to(ROOT).as_posix(), 0) + 1
    assert set(asked) == {"geo/region.py"}
    assert asked["geo/region.py"] <= 12


def test_no_assert_no_other_randomness():
    for path in MODULES:
        text = path.read_text()
        assert not [node for node in nodes(path) if isinstance(node, ast.Assert)], path
        if path.stem not in ("datasets", "randomness"):  # generated data, and the one door for seeds
            seeds = r"default_rng\((?!0\))|RandomState|import random\b|np\.random\.(?!Generator|default_rng)"
            assert not re.search(seeds, text), path


def test_the_top_of_the_package_is_small():
    entries = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert len(entries - {"__init__", "__main__"}) <= 12


def test_public_names_are_documented_with_examples():
    for name in ("perturb", "compare", "sweep", "Guarantee"):
        assert ">>>" in getattr(geotracs, name).__doc__, name
    for name in ("plot", "error_curve", "displacement", "mechanism"):
        assert ">>>" in getattr(geotracs.plots, name).__doc__, name
    assert ">>>" in geotracs.datasets.sample_city.__doc__
    mechanisms = geotracs.mechanisms
    for one in (*mechanisms.CONTINUOUS, *mechanisms.FINITE, mechanisms.Slopes, mechanisms.Stairs):
        assert ">>>" in one.__doc__, one
    for one in geotracs.domains.KINDS:
        assert ">>>" in one.__doc__, one


def test_accessor_shows_the_functions_signature_and_documentation():
    import inspect

    for function in (geotracs.perturb, geotracs.compare, geotracs.sweep, geotracs.plots.plot):
        method = getattr(geotracs.accessor.TracsAccessor, function.__name__)
        assert method.__doc__ == function.__doc__
        ours = list(inspect.signature(method).parameters)[1:]
        assert ours == list(inspect.signature(function).parameters)[1:]
