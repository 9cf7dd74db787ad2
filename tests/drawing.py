"""Draws of a method over arrays, as the engine makes them."""

import numpy as np

from geotracs.core.domains import Globe
from geotracs.core.places import Points
from geotracs.release.engine import report


def run(method, xy, offsets, eps, domain, rng, **arguments):
    """Return the reports of a method on a region."""
    return report(method.on(domain), xy, offsets, eps, rng, **arguments).xy


def choose(method, secrets, offsets, eps, places, domain, rng):
    """Return the numbers of the places that a method over places reports."""
    channel = method.on(domain, Points(places, on_sphere=isinstance(domain, Globe)), eps)
    return report(channel, places[np.asarray(secrets, dtype=np.int64)], offsets, eps, rng).which
