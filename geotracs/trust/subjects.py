"""What is audited: a method of the library, or anybody's callable, on a public region."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any

import numpy as np

import geotracs.core.methods as recipes
from geotracs.core.domains import Rectangle
from geotracs.core.methods import GeoInd, Joint, Method
from geotracs.core.notions import PURE, Metric
from geotracs.core.places import Places
from geotracs.core.randomness import Source, made_up, source
from geotracs.errors import InputError, quoted
from geotracs.geo.region import Region
from geotracs.geo.trials import Setting
from geotracs.geo.units import in_working_units
from geotracs.trust.draws import Sampler
from geotracs.trust.pairs import PLACES, Promise, candidates

AT_ONCE = 2**18
"""How many reports are drawn at a time."""
LEAST = 1e-6
"""Of a callable: locations nearer than this part of the radius count as that far apart."""


@dataclass(frozen=True, repr=False)
class Subject:
    """What is audited.

    Attributes
    ----------
    method : Method or None
        In the units of the working CRS; None for a callable.
    privacy : dict
        The kind of privacy, in metres; see `geotracs.core.notions`.
    places, over : Places or None
        To which reports are rounded, and among which they are drawn.
    options : dict
        Of the method, as the user gave them.
    """

    name: str
    method: Method | None
    sample: Sampler
    promise: Promise
    region: Region
    privacy: dict[str, Any]
    rng: Source
    places: Places | None = None
    over: Places | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def candidates(self, most: int = PLACES) -> np.ndarray:
        """Return public locations among which the worst pair is looked for."""
        return candidates(self.promise, self.over, most)

    def far_apart(self) -> np.ndarray:
        """Return two locations of which all of epsilon is promised: the farthest, or those about the radius apart."""
        xy = self.candidates()
        left, right = (index.ravel() for index in np.indices((len(xy), len(xy))))
        away = self.promise.domain.distance(xy[left], xy[right])
        metric = self.promise.metric
        best = away.argmax() if metric is None else np.abs(away - metric.radius).argmin()
        return xy[[left[best], right[best]]]

    def control(self, times: float) -> tuple[Sampler, Promise] | None:
        """Return a mechanism that spends so many times epsilon, and what is promised; None if there is none.

        A window over the box around the region, or noise of the same radius.
        """
        metric, eps, own = self.promise.metric, self.promise.eps, self.promise.domain
        method: Method = Joint()
        if metric is None:
            own = Rectangle(*np.asarray(own.outline.bounds).tolist())
        else:
            method = GeoInd(metric.radius)
        try:
            return _of_channel(method.on(own, None, times * eps), times * eps, self.rng), Promise(eps, own, metric)
        except InputError:
            return None


def of(
    given: Any, eps: float, setting: Setting, radius: float | None, rng: int | None, options: dict[str, Any]
) -> Subject:
    """Return what is audited: the name of a method, a method, or a callable."""
    if callable(given) and not isinstance(given, (str, Method, type)):
        return _foreign(given, eps, setting, radius, rng, options)
    if radius is not None:
        options = {**options, "radius": radius}
    if isinstance(given, Method):
        if options:
            raise InputError(f"Options are for the name of a method; {given.name} has its own.")
        method = given
    elif isinstance(given, str):
        method = recipes.make(given, options)
    else:
        raise InputError(
            f"`method` must be the name of a method, one of `geotracs.methods`, or a callable `f(xy, rng)`, got "
            f"{quoted(given)}."
        )
    typed = {one.name: getattr(method, one.name) for one in fields(method)} if isinstance(given, Method) else options
    return _ours(method, eps, setting, rng, typed)


def _ours(method: Method, eps: float, setting: Setting, rng: int | None, options: dict[str, Any]) -> Subject:
    region, places = setting.region, None if setting.rounding is None else setting.rounding.places
    if places is not None:
        method = method.with_places()
    own = in_working_units(method, region.crs)
    if own.over == "places":
        if setting.rounding is None:
            raise InputError(f"{own.name} reports places of a public set; give it with `places`.")
        setting.rounding.check_points()
    own.check_eps(eps)
    domain = setting.chart(own) or region.domain
    own.check(domain)
    words = source(None) if rng is None else made_up(rng)
    promise = Promise(eps, domain, Metric.read(own.privacy))
    sample = _of_channel(own.on(domain, places, eps), eps, words)
    over = places if own.over == "places" else None
    return Subject(method.name, own, sample, promise, region, method.privacy, words, places, over, options)


def _foreign(
    call: Callable[..., Any],
    eps: float,
    setting: Setting,
    radius: float | None,
    rng: int | None,
    options: dict[str, Any],
) -> Subject:
    if options:
        raise InputError(f"{quoted(next(iter(options)))} is an option of a method; a callable has none.")
    if setting.rounding is not None:
        raise InputError("`places` are for methods; a callable reports what it reports.")
    region, privacy, metric = setting.region, {"kind": PURE}, None
    if radius is not None:
        if isinstance(radius, bool) or not isinstance(radius, Real) or not 0 < radius < np.inf:
            raise InputError(f"`radius` must be a distance in metres greater than 0, got {quoted(radius)}.")
        unit = 1.0 if region.domain.in_degrees else region.crs.axis_info[0].unit_conversion_factor
        privacy = Metric(float(radius), LEAST * float(radius)).to_record()
        metric = Metric(float(radius) / unit, LEAST * float(radius) / unit)
    promise = Promise(eps, region.domain, metric, region.outline().bounds, region.leave)
    generator, name = made_up(rng), getattr(call, "__name__", type(call).__name__)
    sample = _in_parts(lambda xy: _called(call, region.leave(xy), generator))
    return Subject(name, None, sample, promise, region, privacy, generator)


def _called(call: Callable[..., Any], xy: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the reports of somebody's callable, or raise for what is none."""
    n = len(xy)
    try:
        reports = np.asarray(call(np.ascontiguousarray(xy), rng))
    except Exception as error:
        raise InputError(
            f"The callable raised {type(error).__name__} for {n:,} locations of the region; it must take locations of "
            "shape (n, 2) and a numpy generator."
        ) from error
    if reports.shape != (n, 2) or reports.dtype.kind not in "fiu":
        kind = f"{reports.dtype} of shape {reports.shape}"
        raise InputError(f"The callable must return numbers of shape ({n}, 2), one report per location, got {kind}.")
    if not np.isfinite(reports).all():
        bad = int((~np.isfinite(reports)).any(axis=1).sum())
        raise InputError(f"The callable returned NaN or infinite coordinates for {bad:,} of {n:,} locations.")
    return reports.astype(np.float64)


def _of_channel(channel: Any, eps: float, rng: Source) -> Sampler:
    return _in_parts(lambda xy: channel.sample(xy, np.arange(len(xy) + 1), eps, rng).xy)


def _in_parts(report: Callable[[np.ndarray], np.ndarray]) -> Sampler:
    """Return a sampler that draws some reports at a time."""

    def sample(x: np.ndarray, n: int) -> np.ndarray:
        sizes = [min(AT_ONCE, n - first) for first in range(0, n, AT_ONCE)]
        return np.concatenate([report(np.asfortranarray(np.tile(x, (size, 1)))) for size in sizes])

    return sample
