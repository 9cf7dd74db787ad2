"""What error to expect, and what epsilon an error needs: from public information only, before any data is touched."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq

import geotracs.core.methods as recipes
import geotracs.geo.region as regions
from geotracs.core.budget import check_eps
from geotracs.core.following import SPEED
from geotracs.core.notions import PURE, label
from geotracs.errors import InputError, quoted, sealed
from geotracs.geo.moments import Best
from geotracs.geo.optimum import limit, public_setting
from geotracs.geo.rounding import Rounding
from geotracs.geo.trials import FEW, SOME, STAND_INS, Setting
from geotracs.geo.units import in_working_units

RANGE = (0.01, 100.0)
"""Where the epsilon for an error is looked for."""
BEST = ("joint", "nearest", "tracs-c", "tracs-d")
"""The methods among which "auto" chooses; the others are there to be compared with."""


@sealed
def advise(
    domain: Any,
    eps: float = 4.0,
    *,
    error: float | None = None,
    places: Any = None,
    prior: Any = None,
    weight: str | None = None,
    fit: str = "envelope",
    methods: Sequence[str] | None = None,
    optimum: bool | None = None,
    speed: float | None = None,
    interval: float | None = None,
    length: int | None = None,
    crs: Any = "EPSG:4326",
) -> pd.DataFrame:
    """Say what error each method makes at an epsilon, or what epsilon it needs for an error.

    With ``interval`` and ``length``, say how many moments of a track are best reported for an epsilon that they share.

    No private location is looked at: public stand-ins are perturbed, which are spread evenly over the region, or as
    the prior is, or over the places.

    Parameters
    ----------
    domain : bbox, shapely geometry, GeoSeries, GeoDataFrame, or one of `geotracs.domains`
        The public region; see `geotracs.perturb`.
    eps : float
        Privacy parameter of each location; with ``length`` that of a whole track.
    error : float, optional
        Mean error in metres. With it the epsilon that each method needs is returned, and ``eps`` is not used.
    places : GeoDataFrame, GeoSeries or `geotracs.places.Grid`, optional
        Public places to which reports are rounded, and over which some methods work.
    prior, weight, fit
        See `geotracs.perturb`.
    methods : list of str, optional
        Names of methods; all that work with what is given, epsilon included, without it.
    optimum : bool, optional
        Whether to compare with the smallest mean error that any eps-LDP method can have (`geotracs.optimum`). Without
        it this is done where it takes some seconds the first time: up to epsilon 4, or 1 with a prior, and with up to
        3,000 places.
    interval, length : float and int, optional
        Seconds between two fixes of a track, and how many it has.
    speed : float, optional
        How fast people are at most, in metres per second; 15 by default, as cars in a city.
    crs : optional
        CRS of a bbox or geometry; layers have their own.

    Returns
    -------
    DataFrame
        A row a method, the best first: ``mean``, ``median`` and ``p95`` of the error in metres, or ``eps``: NaN where
        none up to 100, or up to what the method can use, is enough. ``of_optimum`` is the mean error as a multiple of
        the smallest possible: 1.00 is the best, and NaN says that it was not computed. ``privacy`` is "pure" for
        eps-LDP. Methods that promise less come after all others: "metric, 200 m" is metric privacy, whose epsilon is
        for two locations that are 200 m apart and cannot be compared with that of the others.

        For tracks the columns are ``moments``, how many are best reported; ``every``, how many seconds are then from
        one to the next; ``mean``, the expected error over all fixes in metres, with straight lines between reports;
        and ``all``, the same if all fixes share epsilon. It is a rule of thumb for people who turn after about two
        minutes: the number of moments is right to a factor of 2 at most, which costs little.

    Examples
    --------
    >>> import geotracs
    >>> expected = geotracs.advise((139.47, 35.51, 139.90, 35.86), eps=4, methods=["tracs-c", "joint"])
    >>> expected.round({"mean": -3, "median": -3, "p95": -3, "of_optimum": 2})
                mean  median      p95  of_optimum privacy
    method
    joint     8000.0  5000.0  26000.0        1.09    pure
    tracs-c  11000.0  7000.0  30000.0        1.55    pure
    >>> needed = geotracs.advise((139.47, 35.51, 139.90, 35.86), error=2000, methods=["tracs-c", "joint"])
    >>> list(needed.index), list(needed.columns)
    (['joint', 'tracs-c'], ['eps', 'privacy'])
    >>> tracks = geotracs.advise(
    ...     (139.47, 35.51, 139.90, 35.86), eps=30, speed=15, interval=3.5, length=1000, methods=["joint"]
    ... )
    >>> int(tracks.loc["joint", "moments"]), bool(tracks.loc["joint", "mean"] < tracks.loc["joint", "all"] / 4)
    (2, True)
    """
    track = _track(speed, interval, length)
    eps = check_eps(eps)
    if error is not None and (isinstance(error, bool) or not isinstance(error, Real) or not 0 < error < math.inf):
        raise InputError(f"`error` must be a distance in metres greater than 0, got {quoted(error)}.")
    if optimum is not None and not isinstance(optimum, bool):
        raise InputError(f"`optimum` must be True, False or None, got {quoted(optimum)}.")
    own = recipes.make("joint")
    region, rounding = public_setting(
        domain,
        places,
        prior=prior,
        weight=weight,
        crs=crs,
        fit=fit,
        error=lambda chart: recipes.expected_error(own, eps, chart),
    )
    setting = Setting(region, rounding)
    chosen = [
        in_working_units(recipes.make(name), region.crs) for name in (recipes.METHODS if methods is None else methods)
    ]
    chosen = [method for method in chosen if methods is not None or setting.suits(method)]
    if track is not None:
        if error is not None:
            raise InputError("`error` is for single reports; leave it out, or leave out `interval` and `length`.")
        return _of_tracks(setting, chosen, eps, track)
    if error is not None:
        needed = {method.name: _epsilon(setting, method, float(error)) for method in chosen}
        return _kinds_apart(pd.DataFrame({"eps": needed}, dtype=float), "eps")
    rows = {}
    for method in chosen:
        try:
            rows[method.name] = _summary(setting.displacements(method, eps, _enough(method)))
        except InputError:  # of an epsilon that is too small or too large for it
            if methods is not None:
                raise
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "median", "p95"], dtype=float)
    wanted = setting.cheap(eps) if optimum is None else optimum
    table["of_optimum"] = _of_optimum(setting, table["mean"], eps) if wanted else math.nan
    return _kinds_apart(table, "mean")


@dataclass(frozen=True, repr=False)
class _Track:
    """Public numbers of a track: metres per second, seconds between fixes, and how many fixes."""

    speed: float
    interval: float
    length: int


def _track(speed: Any, interval: Any, length: Any) -> _Track | None:
    """Return the track that is asked about, or raise; None without one."""
    if interval is None and length is None:
        if speed is not None:
            raise InputError("`speed` is for tracks; give it with `interval` and `length`.")
        return None
    for name, value, what in (
        ("speed", SPEED if speed is None else speed, "a number of metres per second, greater than 0, such as 15"),
        ("interval", interval, "a number of seconds between two fixes, greater than 0, given with `length`"),
    ):
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
            raise InputError(f"`{name}` must be {what}, got {quoted(value)}.")
    if not isinstance(length, Integral) or isinstance(length, bool) or length < 1:
        raise InputError(
            f"`length` must be a number of fixes, at least 1, given with `interval`, got {quoted(length)}."
        )
    return _Track(SPEED if speed is None else float(speed), float(interval), int(length))


def _of_tracks(setting: Setting, chosen: Sequence[recipes.Method], eps: float, track: _Track) -> pd.DataFrame:
    """Return how many moments of a track are best for each method."""
    rows = {}
    for method in chosen:
        try:
            best = Best.of(setting, method, eps, track.interval, track.speed)
        except InputError:  # of a method that cannot use so small a share
            continue
        count = best.moments(track.length)
        mean, every = (float(best.error(np.array([n]), track.length)[0]) for n in (count, track.length))
        rows[method.name] = [count, track.interval * track.length / count, mean, every]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["moments", "every", "mean", "all"])
    return _kinds_apart(table.astype({"moments": int}), "mean")


def best_method(
    region: regions.Region, rounding: Rounding | None, eps: float, *, apart: bool = False
) -> tuple[recipes.Method, regions.Region]:
    """Return the method with the smallest expected error, and the region, without a prior that it does not use.

    From public information only. With ``apart`` a method must look at each location by itself. A method that needs no
    places is considered only if it can use the prior.
    """
    setting = Setting(region, rounding)
    candidates = [method for method in map(recipes.make, BEST) if setting.chart(method) is not None]
    candidates = [method for method in candidates if not (apart and method.sequential)]
    plain = replace(region, transport=None, record={k: v for k, v in region.record.items() if k != "prior"})
    able = {m: region if setting.chart(m) is region.chart else plain for m in candidates}
    candidates = [m for m in candidates if able[m] is region or m.over == "places"]
    best = min(candidates, key=lambda method: setting.displacements(method, eps, FEW).mean())
    return best, able[best]


def _of_optimum(setting: Setting, mean: pd.Series, eps: float) -> pd.Series:
    """Return mean errors as multiples of the smallest possible; it is for eps-LDP, and other methods have none."""
    pure = [label(recipes.make(name).privacy) == PURE for name in mean.index]
    if not any(pure):
        return mean * math.nan
    smallest = limit(setting.region, setting.rounding, eps).error
    return (mean / smallest).where(np.array(pure)) if smallest > 0 else mean * math.nan


def _kinds_apart(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Say which kind of privacy each method has, and put weaker kinds after all others."""
    table = table.rename_axis("method").sort_values(by)
    table["privacy"] = [label(recipes.make(name).privacy) for name in table.index]
    return pd.concat([table[table["privacy"] == PURE], table[table["privacy"] != PURE]])


def _enough(method: recipes.Method) -> int:
    """Return how many stand-ins to try; a trajectory over places is slow."""
    return FEW if method.sequential and method.over == "places" else STAND_INS


def _summary(metres: np.ndarray) -> list[float]:
    return [float(np.mean(metres)), *np.quantile(metres, [0.5, 0.95]).tolist()]


def _epsilon(setting: Setting, method: recipes.Method, error: float) -> float:
    """Return the epsilon at which a method's mean error is this; errors fall with epsilon, on the same draws."""

    def excess(logarithm: float) -> float:
        eps = min(math.exp(logarithm), method.largest_eps)
        mean = setting.displacements(method, eps, min(SOME, _enough(method))).mean()
        return math.log(max(mean, 1e-12) / error)

    low, high = math.log(RANGE[0]), math.log(min(RANGE[1], method.largest_eps))
    if excess(low) <= 0:
        return RANGE[0]
    if excess(high) > 0:
        return math.nan
    return math.exp(brentq(excess, low, high, xtol=0.005))
