"""Look for a broken promise: in the integers of a method, in draws of anything, and from file to file."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

import geotracs.trust.densities as densities
import geotracs.trust.draws as black_box
import geotracs.trust.end_to_end as end_to_end
import geotracs.trust.exact as exact
from geotracs.core.budget import check_eps
from geotracs.core.methods import METHODS, Method
from geotracs.core.notions import METRIC, PURE
from geotracs.core.places import Grid
from geotracs.core.randomness import made_up
from geotracs.errors import InputError, quoted, sealed
from geotracs.geo.optimum import public_setting
from geotracs.geo.trials import Setting
from geotracs.release.file import perturb_file
from geotracs.trust.findings import Audit, Check
from geotracs.trust.pairs import candidates
from geotracs.trust.subjects import Subject, of

CHECKS = ("exact", "draws", "file")
DRAWS, PAIRS, RELEASES = 10**6, 4, 20
FEWEST = 1000
"""With fewer draws nothing can be found."""
CONTROLS = {PURE: 1.05, METRIC: 1.1}
"""The control spends so many times epsilon. Noise in the plane reaches its worst ratio along one line only, so that it
takes more to be found."""
CONTROLLED = 2
"""How many pairs of the control are bounded."""
ALARM = 0.01
ROWS = 50_000
"""How many rows a file has at most in which everybody is at one location."""
DENSE = 200
"""Between how many places densities are compared at most."""


@sealed
def audit(
    method: str | Method | Callable[[np.ndarray, np.random.Generator], Any],
    eps: float,
    domain: Any,
    *,
    places: Any = None,
    radius: float | None = None,
    checks: Sequence[str] | None = None,
    draws: int = DRAWS,
    pairs: int = PAIRS,
    releases: int = RELEASES,
    alarm: float = ALARM,
    engine: end_to_end.Engine | None = None,
    fit: str = "envelope",
    crs: Any = "EPSG:4326",
    rng: int | None = None,
    **options: Any,
) -> Audit:
    """Look for a violation of what a method promises: of ours, or of anybody's.

    No private location is needed: locations are public stand-ins over the region. A pass says "no violation found" and
    is no proof.

    Parameters
    ----------
    method : str, Method, or callable
        The name of a method, with its ``options``; or a callable ``f(xy, rng)`` that takes locations, an array of shape
        (n, 2) in the CRS of the domain, and a numpy generator, and returns one report for each, of the same shape.
    eps : float
        What is promised.
    domain : bbox, shapely geometry, GeoSeries, GeoDataFrame, or one of `geotracs.domains`
        The public region; see `geotracs.perturb`.
    places : GeoDataFrame, GeoSeries or `geotracs.places.Grid`, optional
        Public places that are reported, or to which reports are rounded.
    radius : float, optional
        For a callable that promises metric privacy: the distance in metres at which epsilon holds. A method says this
        itself.
    checks : list of str, optional
        Some of "exact" (the integers of a method, counted out), "draws" (a black box: lower bounds of epsilon for the
        worst pairs of locations) and "file" (file in, file out); by default all that can be done.
    draws : int
        How many draws each location of a pair gets for its bound.
    pairs : int
        How many pairs of locations are bounded, in both directions: those that are told apart best.
    releases : int
        How often each of two files that differ in one location is released.
    alarm : float
        How likely the whole audit finds a violation where there is none, at most.
    engine : callable, optional
        ``engine(src, dst, seed)`` releases a file of points into another, in place of `geotracs.perturb_file`.
    fit, crs
        See `geotracs.advise`.
    rng : int, optional
        The same number gives the same audit.
    **options
        Options of the method.

    Returns
    -------
    Audit
        With a verdict, a `table` of checks, and how much of epsilon the method really uses.

    Examples
    --------
    >>> import geotracs
    >>> tokyo = (139.47, 35.51, 139.90, 35.86)
    >>> found = geotracs.audit("joint", 2, tokyo, checks=["exact", "draws"], draws=20_000, rng=1)
    >>> found.verdict, round(found.used, 3)
    ('no violation found', 1.0)

    Noise of 5 km looks large, but in a city of 40 km it tells two ends apart:

    >>> def noise(xy, rng):
    ...     return xy + rng.laplace(0, 5000, xy.shape)
    >>> geotracs.audit(noise, 2, (0, 0, 40_000, 40_000), crs="EPSG:32654", draws=20_000, rng=1).verdict
    'violation found (draws)'
    """
    eps = check_eps(eps)
    setting = Setting(*public_setting(domain, places, prior=None, weight=None, crs=crs, fit=fit))
    subject = of(method, eps, setting, radius, rng, options)
    asked = _checked(checks, subject, engine)
    _check_numbers(draws, pairs, releases, alarm)
    if engine is None and "file" in asked:
        engine = _engine(subject, eps, domain, places, fit)
    each = alarm / max(1, len(set(asked) & {"draws", "file"}))
    found, used, lower, pair = [], None, None, None
    if "exact" in asked and subject.method is not None:
        found += exact.check(subject.method, eps, subject.promise.domain, subject.places)
        ratios = densities.check(subject.method, subject.promise, subject.over, subject.candidates(DENSE))
        if ratios is not None:
            found.append(ratios[0])
            used = ratios[1]
    if "draws" in asked:
        bounded, worst = _draws(subject, draws, pairs, each)
        found += bounded
        lower, pair = worst.part, worst.pair
    if "file" in asked and engine is not None:
        pair = subject.far_apart() if pair is None else pair
        seed = int(made_up(rng).integers(2**31))
        rows, where = max(FEWEST, min(ROWS, draws // 10)), (subject.promise, subject.region, pair)
        found += end_to_end.check(engine, *where, rows=rows, releases=releases, alarm=each, seed=seed)
    control = CONTROLS[subject.privacy["kind"]]
    return Audit(subject.name, eps, subject.privacy, tuple(found), float(alarm), control, used, lower)


def _draws(subject: Subject, draws: int, pairs: int, alarm: float) -> tuple[list[Check], black_box.Bound]:
    """Return what the draws of a black box and of its control show, and the bound of the worst pair."""
    xy = subject.candidates()
    bounds = black_box.bound(subject.sample, subject.promise, xy, draws, pairs, alarm)
    worst = bounds[0]
    tried = f"{len(xy)} locations searched, {len(bounds) // 2} pairs of {draws:,} draws each"
    what = "lower bound from draws, at the worst pair of locations"
    rows = [Check("draws", what, not worst.broken, worst.epsilon, worst.allowed, tried)]
    times = CONTROLS[subject.privacy["kind"]]
    control = subject.control(times)
    if control is not None:
        sample, promise = control
        few = min(pairs, CONTROLLED)
        first = black_box.bound(sample, promise, candidates(promise), draws, few, alarm, tests=len(bounds))[0]
        what = f"the same of a known mechanism that spends {times:g} times epsilon"
        tried = f"{few} pairs of {draws:,} draws each"
        rows.append(Check("control", what, first.broken, first.epsilon, first.allowed, tried))
    return rows, worst


def _engine(subject: Subject, eps: float, domain: Any, places: Any, fit: str) -> end_to_end.Engine:
    """Return the release of a file by the library."""
    options = dict(subject.options)
    if places is not None:
        options |= {"round_to": places, "centroid": not isinstance(places, Grid)}

    def release(src: Path, dst: Path, seed: int) -> None:
        columns: dict[str, Any] = {"trajectory": "person", "time": "t", "keep": []}
        perturb_file(
            src, dst, eps, subject.name, domain=domain, fit=fit, rng=seed, progress=False, **columns, **options
        )

    return release


def _checked(checks: Any, subject: Subject, engine: Any) -> list[str]:
    """Return which checks are asked for: all that can be done, or those that are named."""
    able = {
        "exact": subject.method is not None,
        "draws": True,
        "file": engine is not None or (subject.method is not None and subject.name in METHODS),
    }
    if engine is not None and not callable(engine):
        raise InputError(f"`engine` must be a callable `engine(src, dst, seed)`, got {quoted(engine)}.")
    if checks is None:
        return [name for name in CHECKS if able[name]]
    named = [checks] if isinstance(checks, str) else list(checks) if isinstance(checks, Sequence) else [checks]
    for name in named:
        if name not in CHECKS:
            raise InputError(f"`checks` must be some of {list(CHECKS)}, got {quoted(name)}.")
        if not able[name]:
            instead = "give an `engine`" if name == "file" else "a callable is a black box"
            raise InputError(f"The check {name!r} is for the methods of geotracs; {instead}.")
    return named


def _check_numbers(draws: Any, pairs: Any, releases: Any, alarm: Any) -> None:
    for name, value, least in (("draws", draws, FEWEST), ("pairs", pairs, 1), ("releases", releases, 2)):
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise InputError(f"`{name}` must be a whole number from {least:,} on, got {quoted(value)}.")
    if isinstance(alarm, bool) or not isinstance(alarm, Real) or not 0 < float(alarm) < 1:
        raise InputError(f"`alarm` must be a probability between 0 and 1, got {quoted(alarm)}.")
