"""What editors are told about ``.tracs``: the signatures of the functions themselves."""

import ast
import importlib
import inspect
import textwrap
from pathlib import Path

import pytest

import geotracs.accessor as accessor

LITERALS = (ast.Constant, ast.Tuple)


@pytest.mark.parametrize("kind", ["TracsAccessor", "DaskTracsAccessor"])
def test_editors_see_the_signatures_of_the_functions(kind):
    pytest.importorskip("dask_geopandas")
    lazy = {name: f for name, f in vars(getattr(accessor, kind)).items() if isinstance(f, accessor._Function)}
    shown = declared(kind)
    assert shown.keys() == lazy.keys() != set()
    for name, function in lazy.items():
        assert signature(shown[name]) == signature(source(function)), name


def declared(kind):
    """The methods that a class declares for type checkers only."""
    tree = ast.parse(Path(accessor.__file__).read_text())
    (found,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind]
    blocks = [node for node in found.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {node.name: node for block in blocks for node in block.body if isinstance(node, ast.FunctionDef)}


def source(function):
    """The definition of the function that a method loads."""
    loaded = getattr(importlib.import_module(function._module), function._name)
    return ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(loaded)))).body[0]


def signature(node):
    """All but the first argument, which is the frame; of defaults that are no literals only that there is one."""
    arguments = node.args
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults
    return (
        [plain(*both) for both in zip(arguments.args[1:], defaults[1:], strict=True)],
        [plain(*both) for both in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)],
        [argument and plain(argument) for argument in (arguments.vararg, arguments.kwarg)],
        ast.unparse(node.returns),
    )


def plain(argument, default=None):
    shown = ast.unparse(default) if isinstance(default, LITERALS) else "..." if default else None
    return argument.arg, ast.unparse(argument.annotation), shown
