"""The tests themselves: a skipped one is not overlooked, and they stand where their modules do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import geotracs

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
PACKAGE = Path(geotracs.__file__).parent
SKIPPED = {
    "in a test": "import pytest\ndef test_one():\n    pytest.skip('not here')\n",
    "by a mark": "import pytest\n@pytest.mark.skipif(True, reason='not here')\ndef test_one():\n    pass\n",
    "as a module": "import pytest\npytest.importorskip('no_such_module')\n",
}


@pytest.mark.parametrize("processes", [0, 2])
@pytest.mark.parametrize("where", SKIPPED)
def test_a_skip_fails_the_run_if_asked_for(tmp_path, where, processes):
    (tmp_path / "test_skipped.py").write_text(SKIPPED[where])
    (tmp_path / "test_passed.py").write_text("def test_two():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.skips", "-n", processes]
    command += ["-c", os.devnull, "--rootdir", tmp_path, "-p", "no:cacheprovider", tmp_path]
    for forbid, code in (("", 0), ("1", 1)):
        environment = {**os.environ, "PYTHONPATH": str(TESTS.parent), "GEOTRACS_FORBID_SKIPS": forbid}
        run = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True)
        assert run.returncode == code, run.stdout
        assert ("Skipped tests are failures here." in run.stdout) == bool(forbid)


def test_rooms_of_the_tests_are_rooms_of_the_package():
    """A folder in `tests/core` or another room stands for a folder of the package."""
    rooms = [path.name for path in PACKAGE.iterdir() if (TESTS / path.name).is_dir() and path.name != "__pycache__"]
    assert {"core", "geo", "io", "release", "utility", "views"} <= set(rooms)
    for room in rooms:
        folders = {path.parent.relative_to(TESTS) for path in (TESTS / room).rglob("test_*.py")}
        assert not [str(folder) for folder in folders if not (PACKAGE / folder).is_dir()]
