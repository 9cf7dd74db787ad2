"""Every notebook runs from top to bottom, and is committed with its outputs."""

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """What a kernel runs cells with, in this process: a kernel of its own spends seconds on importing libraries."""
    monkeypatch.chdir(tmp_path)
    config = Config()
    config.HistoryManager.enabled = False
    own = InteractiveShell(config=config, ipython_dir=str(tmp_path), user_ns={"__name__": "__main__"})
    own.display_formatter.active_types = own.display_formatter.format_types  # HTML, too
    with warnings.catch_warnings(action="ignore"):
        yield own
    plt.close("all")


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_has_outputs(path, shell):
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code), "run it with `make notebooks`"
    assert any(cell.outputs for cell in code)
    for cell in code:
        shell.run_cell(cell.source).raise_error()
