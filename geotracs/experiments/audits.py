"""How surely an audit finds a method that spends 10% more than it promises: every method, by its integers and by draws.

``python -m geotracs.experiments.audits`` prints the table. Many methods spend less than they may, so that one which is
given 1.1 times epsilon breaks no promise: each is given as much as makes its worst ratio exp(1.1 * epsilon).
"""

import sys
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

import geotracs.trust.densities as densities
import geotracs.trust.draws as black_box
import geotracs.trust.exact as exact
from geotracs.core.domains import Rectangle
from geotracs.core.methods import METHODS, Method, make
from geotracs.core.notions import Metric
from geotracs.core.places import Places, Points
from geotracs.core.randomness import made_up
from geotracs.experiments.report import markdown
from geotracs.trust.audit import PAIRS
from geotracs.trust.pairs import Promise, candidates

REGION = Rectangle(0.0, 0.0, 40_000.0, 30_000.0)
PLACES = 20
RADIUS = 2000.0
"""The radius of metric privacy, in metres."""
TIMES = 1.1
"""How much more than it promises a method spends."""
SURE = 2.33
"""So many standard deviations above what is promised, a bound is above it in 99 of 100 audits."""
STEPS = 6
"""How often epsilon is corrected until the worst ratio is the wanted one."""


def planted(name: str, eps: float) -> tuple[Method, Places | None, Promise, float]:
    """Return a method, its places, what it promises, and the epsilon with which it spends 1.1 times that."""
    method = make(name, {"radius": RADIUS} if name == "geo-ind" else {})
    places = Points(REGION.spread(PLACES)) if method.over == "places" else None
    promise = Promise(eps, REGION, Metric.read(method.privacy))
    wanted = given = TIMES * eps
    for _ in range(STEPS):
        given *= wanted / (eps * spends(method, places, promise, given))
    return method, places, promise, given


def spends(method: Method, places: Places | None, promise: Promise, given: float) -> float:
    """Return the worst ratio of a method that is given some epsilon, as a part of what is promised: counted exactly."""
    found = [row.found or 0.0 for row in exact.check(method, given, REGION, places)]
    more = Promise(given, REGION, promise.metric)
    ratios = densities.check(method, more, places, candidates(promise, places))
    if promise.metric is not None:
        return (ratios[1] if ratios is not None else max(found) / given) * given / promise.eps
    return (max(found) if ratios is None else ratios[1] * given) / promise.eps


def by_draws(name: str, eps: float, draws: int, repeats: int, pairs: int = 1) -> Iterator[black_box.Bound]:
    """Yield what audits by draws find of a method that spends too much, each with draws of its own.

    ``pairs`` is how many pairs of locations are bounded; `geotracs.audit` takes four.
    """
    method, places, promise, given = planted(name, eps)
    channel: Any = method.on(REGION, places, given)
    where = candidates(promise, places)
    for seed in range(repeats):
        rng = made_up(zlib.crc32(f"{name} {seed}".encode()))

        def sample(x: np.ndarray, n: int, rng: Any = rng) -> np.ndarray:
            xy = np.asfortranarray(np.tile(x, (n, 1)))
            return channel.sample(xy, np.arange(n + 1), given, rng).xy

        yield black_box.bound(sample, promise, where, draws, pairs, 0.005)[0]


def audits(
    eps: float = 2.0,
    draws: int = 10**6,
    repeats: int = 5,
    methods: Sequence[str] = tuple(METHODS),
    pairs: int = PAIRS,
) -> pd.DataFrame:
    """Return how often audits find that a method spends 10% too much, and how far above the promise their bounds are.

    ``sure`` is the distance between the mean bound and what is promised, in standard deviations of the bounds.
    """
    rows = []
    for name in methods:
        method, places, promise, given = planted(name, eps)
        spent = spends(method, places, promise, given)
        bounds = np.array([one.part for one in by_draws(name, eps, draws, repeats, pairs)])
        sure = (bounds.mean() - 1) / max(bounds.std(ddof=1), 1e-12)
        row = {"method": name, "given": round(given / eps, 3), "spent": round(spent, 3)}
        rows.append(
            row | {"found": f"{(bounds > 1).sum()} of {repeats}", "bound": bounds.mean(), "sure": round(sure, 1)}
        )
    return pd.DataFrame(rows)


if __name__ == "__main__":
    sys.stdout.write(markdown(audits()) + "\n")
