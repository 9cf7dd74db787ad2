"""Runs tests with other versions of what geotracs needs: ``python -m tools.matrix`` (``make matrix``).

oldest    the oldest version of everything that pyproject.toml allows, without extras
plain     the newest versions, without extras
pythonX   the newest versions and all extras, for each other Python 3.11 or later on this machine

Each runs the tests in `TESTS`, in an environment of its own that is kept in ``.matrix`` for the next time.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".matrix"
TESTS = ("tests/matrix.py",)
PYTHONS = ("python3.12", "python3.13", "python3.14")
OLDEST, PLAIN = "oldest", "plain"


def oldest(requirements: list[str]) -> list[str]:
    """Return requirements of exactly the oldest versions that are allowed.

    >>> oldest(["numpy>=1.26", "distributed"])
    ['numpy==1.26.*', 'distributed']
    """
    return [re.sub(r">=([\d.]+)$", r"==\1.*", requirement) for requirement in requirements]


def environments() -> dict[str, tuple[str, list[str]]]:
    """Return the Python and what to install for each environment that can be made here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = {OLDEST: (sys.executable, oldest(project["dependencies"])), PLAIN: (sys.executable, [])}
    own = f"python3.{sys.version_info.minor}"
    return found | {name: (name, ["geotracs[all]"]) for name in PYTHONS if name != own and _runs(name)}


def _runs(python: str) -> bool:
    """Return whether a Python is there; what version managers put on the path may only say that it is not."""
    return bool(shutil.which(python)) and subprocess.run([python, "--version"], capture_output=True).returncode == 0


def run(name: str, python: str, requirements: list[str]) -> int:
    """Make an environment if it is not there, and run the tests in it."""
    folder = ENVIRONMENTS / name
    program = folder / "bin" / "python"
    if not program.exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
    extras = "[all]" if "geotracs[all]" in requirements else ""
    wanted = [one for one in requirements if not one.startswith("geotracs")]
    install = [program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted, "pytest>=8"]
    subprocess.run([*install, "--editable", f"{ROOT}{extras}"], check=True)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    sys.stdout.write(f"== {name}\n")
    sys.stdout.flush()
    return subprocess.run(
        [program, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS], cwd=ROOT, env=environment
    ).returncode


def main() -> None:
    """Run those that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tools.matrix", description=__doc__.splitlines()[0])
    known = environments()
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all if not given")
    names = parser.parse_args().names or list(known)
    failed = [name for name in names if run(name, *known[name])]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
