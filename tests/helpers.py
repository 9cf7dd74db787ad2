"""What many tests use."""

import warnings

import geotracs
from geotracs import GeotracsWarning
from tests.conftest import TOKYO

FALSE_ALARM = 1e-6
"""How often a statistical test fails on correct code, over all seeds; the seeds are fixed."""


def quiet(function, *arguments, **options):
    """Call a function and ignore all warnings."""
    with warnings.catch_warnings(action="ignore"):
        return function(*arguments, **options)


def perturb(frame, eps=4, method="tracs-c", **arguments):
    """`geotracs.perturb` in Tokyo, reproducible, without its own warnings."""
    with warnings.catch_warnings(action="ignore", category=GeotracsWarning):
        return geotracs.perturb(frame, eps, method, **{"domain": TOKYO, "keep": [], "rng": 0} | arguments)
