"""What many tests use."""

import sys
import warnings

import geotracs
from geotracs import GeotracsWarning
from tests.conftest import TOKYO

FALSE_ALARM = 1e-6
"""How often a statistical test fails on correct code, over all seeds; the seeds are fixed."""

COLUMNS = {"trajectory": "person", "time": "t"}
"""The columns of the tracks in `conftest`."""
TERMINAL = "for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM): signal.signal(number, signal.SIG_DFL)"
"""What makes signals stop a process, also when the tests run in the background of a shell or under nohup."""


def prepared(code, *arguments):
    """Return the command of a Python process that runs some code first; `preexec_fn` is not safe beside threads."""
    start = f"import os, resource, signal, sys\n{code}\nos.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    return [sys.executable, "-c", start, *map(str, arguments)]


def quiet(function, *arguments, **options):
    """Call a function and ignore all warnings."""
    with warnings.catch_warnings(action="ignore"):
        return function(*arguments, **options)


def small(name, **options):
    """Return the method of that name for regions of about one unit: a radius of 200 would be too large there."""
    return geotracs.methods.make(name, {**({"radius": 0.5} if name == "geo-ind" else {}), **options})


def perturb(frame, eps=4, method="tracs-c", **arguments):
    """`geotracs.perturb` in Tokyo, reproducible, without its own warnings."""
    with warnings.catch_warnings(action="ignore", category=GeotracsWarning):
        return geotracs.perturb(frame, eps, method, **{"domain": TOKYO, "keep": [], "rng": 0} | arguments)
