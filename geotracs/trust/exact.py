"""The integers of a method, counted out: what it draws can be said exactly, and so can the worst ratio."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from geotracs.core.domains import Domain
from geotracs.core.mechanisms.codebook import check_windows, is_private
from geotracs.core.mechanisms.krr import RandomizedResponse
from geotracs.core.mechanisms.lattice import WORDS
from geotracs.core.mechanisms.lattice_noise import STEPS
from geotracs.core.mechanisms.metric_noise import ROUNDING
from geotracs.core.mechanisms.stepped import Stepped
from geotracs.core.mechanisms.subset import Subset
from geotracs.core.mechanisms.tokens import Tokens
from geotracs.core.mechanisms.unit import OnUnit
from geotracs.core.mechanisms.window import SIDE
from geotracs.core.methods.atp import ATP
from geotracs.core.methods.base import Method, PlaceMethod
from geotracs.core.methods.codebooks import LARGEST
from geotracs.core.methods.joint import Joint
from geotracs.core.methods.k_rr import KRR
from geotracs.core.methods.nearest import Nearest
from geotracs.core.methods.noise import NoiseMethod
from geotracs.core.methods.optimal import Optimal, beyond
from geotracs.core.methods.product import Product
from geotracs.core.methods.weighted import WeightedMethod
from geotracs.core.methods.weighted_nearest import WeightedNearest
from geotracs.core.notions import Metric
from geotracs.core.places import Places
from geotracs.trust.counting import keeps, on_the_square, on_the_unit, worst_of_draws, worst_of_rows
from geotracs.trust.findings import Check

MAX_PLACES = 2**10
"""Of more places so many stand for all secrets."""
BEFORES = 16
"""How many reports before the location are tried, of methods that look back."""
FEW_PLACES, LENGTH = 5, 3
"""On how many places whole trajectories are counted out, and how long these are."""
SLACK = 1e-9
"""What sums of doubles may lose."""
STEPPED = (0, 1, 900, 2048, 3000, 4095)
"""Steps in which secrets are tried, of a law over 4,096 of them."""

Found = tuple[str, Fraction | None, str]
"""What was counted, the worst ratio, and how much was tried."""


def check(method: Method, eps: float, domain: Domain, places: Places | None) -> list[Check]:
    """Return what was counted out, one row for each part of the method; none for a method that is not known."""
    points = None if places is None else np.unique(places.sample(places.count), axis=0)
    found: list[Check] = []
    for kind, count in KINDS:
        if isinstance(method, kind):
            found += [_row(what, ratio, eps, tried) for what, ratio, tried in count(method, eps, domain, points)]
            break
    if isinstance(method, NoiseMethod):
        found.append(_noise(method, eps, domain))
    if isinstance(method, PlaceMethod) and method.sequential and points is not None:
        found.append(_trajectories(method, eps, domain, points))
    return found


def _row(what: str, ratio: Fraction | None, eps: float, tried: str) -> Check:
    return Check("exact", what, keeps(ratio, eps), _log(ratio), eps, tried)


def _log(ratio: Fraction | None) -> float:
    """Return the logarithm of a fraction of any size."""
    return math.inf if ratio is None else math.log(ratio.numerator) - math.log(ratio.denominator)


def _product(method: Product, eps: float, domain: Domain, points: np.ndarray | None) -> list[Found]:
    """Both axes: their worst ratios multiply."""
    ratio: Fraction | None = Fraction(1)
    tried = 0
    for mechanism in method.mechanisms(eps, domain):
        own, count = _on_axis(mechanism)
        ratio = None if own is None or ratio is None else ratio * own
        tried += count
    return [("thresholds and windows of both axes, in whole numbers", ratio, f"{tried:,} secret cells")]


def _on_axis(mechanism: Any) -> tuple[Fraction | None, int]:
    if isinstance(mechanism, Stepped):
        rows = np.array([mechanism.law.counts(secret) for secret in STEPPED], dtype=object)
        if len({sum(row) for row in rows.tolist()} | {WORDS}) > 1 or (rows == 0).any():
            return None, len(STEPPED)
        ratios = [Fraction(int(max(column)), int(min(column))) for column in zip(*rows.tolist(), strict=True)]
        return max(mechanism.worst_ratio(), *ratios), len(STEPPED)
    if isinstance(mechanism, OnUnit):
        return mechanism.worst_ratio(), 1
    return on_the_unit(mechanism)


def _joint(method: Joint, eps: float, domain: Domain, points: np.ndarray | None) -> list[Found]:
    ratio, tried = on_the_square(method.mechanism(eps, domain), SIDE)
    return [("threshold and window in the square, in whole numbers", ratio, f"{tried:,} secret cells")]


def _codebook(method: Optimal, eps: float, domain: Domain, points: np.ndarray | None) -> list[Found]:
    if eps > LARGEST:
        return _joint(Joint(), eps, beyond(domain), points)
    channel: Any = method.on(domain, None, eps)
    book = channel.book(eps)
    limit = int(book.mechanism(eps).threshold)
    right = check_windows(book.windows, book.k, book.m) and is_private(limit, eps, book.k, book.m)
    low = Fraction(WORDS - limit, book.m)
    ratio = (Fraction(limit, book.k) + low) / low if right else None
    return [("threshold of the codebook, and its windows", ratio, f"all {len(book.windows):,} windows")]


def _k_rr(method: KRR, eps: float, domain: Domain, points: np.ndarray) -> list[Found]:
    m = len(points)
    mechanism, secrets = RandomizedResponse(eps, m), _stand_ins(m)
    reports = mechanism.apply(secrets[:, None], np.arange(m, dtype=np.uint32)[None])
    return [_of_draws(reports, 1, int(mechanism.threshold), m)]


def _nearest(method: Nearest, eps: float, domain: Domain, points: np.ndarray) -> list[Found]:
    tables, m = method.prepare(points, eps, domain), len(points)
    k = int(tables.size(eps))
    mechanism, secrets = Subset(eps, k, m), _stand_ins(m)
    around = np.asarray(tables.around(secrets, k))
    draws = np.arange(m, dtype=np.uint32)
    reports = np.array([Subset.apply(np.repeat(own[None], m, axis=0), draws) for own in around])
    return [_of_draws(reports, k, int(mechanism.threshold), m)]


def _of_draws(reports: np.ndarray, k: int, threshold: int, m: int) -> Found:
    tried = f"{len(reports):,} secret places, all {m:,} draws"
    return "all draws of all places, in whole numbers", worst_of_draws(reports, k, threshold, m), tried


def _tokens(method: WeightedNearest, eps: float, domain: Domain, points: np.ndarray) -> list[Found]:
    """The owner of a token: every window holds k of them, and no value more than it owns."""
    tables, secrets = method.prepare(points, eps, domain), _stand_ins(len(points))
    level = int(tables.level(eps))
    weights, k = tables.fitted[level].weights, tables.fitted[level].k
    total = int(weights.sum())
    limit = int(Tokens(eps, k, total).threshold)
    taken = np.zeros((len(secrets), len(points)), dtype=np.int64)
    for row, secret in enumerate(secrets):
        own = tables.windows[level].around(np.array([secret]))
        np.add.at(taken[row], own.members, own.taken)
    ratio: Fraction | None = None
    if (taken.sum(axis=1) == k).all() and (taken >= 0).all():
        rows = [[limit * u * total + (WORDS - limit) * w * k for u, w in zip(own, weights.tolist(), strict=True)]
                for own in taken.tolist()]  # fmt: skip
        ratio = worst_of_rows(np.array(rows, dtype=object))
    return [("tokens of all windows, in whole numbers", ratio, f"{len(secrets):,} secret places")]


def _weighted(method: WeightedMethod, eps: float, domain: Domain, points: np.ndarray) -> list[Found]:
    """The weights of all places, for each secret and, where the method looks back, after each report that is tried."""
    tables, m = method.prepare(points, eps, domain), len(points)
    secrets = _stand_ins(m)
    copies = 2 if isinstance(method, ATP) else 1  # each with half of epsilon
    looks_back = method.sequential and not method.both_ways
    befores = [-1, *(_stand_ins(m, BEFORES).tolist() if looks_back else [])]
    worst: Fraction | None = Fraction(1)
    for before in befores:
        own = np.full(len(secrets), eps / copies)
        ratio = worst_of_rows(method.weights(secrets, np.full(len(secrets), before), own, tables))
        worst = None if ratio is None or worst is None else max(worst, ratio**copies)
    tried = f"{len(secrets):,} secret places" + (f", {len(befores)} reports before" if looks_back else "")
    return [("weights of all places, in whole numbers", worst, tried)]


def _trajectories(method: PlaceMethod, eps: float, domain: Domain, points: np.ndarray) -> Check:
    """Whole trajectories on few of the places, one location of which is another; the others see only its report."""
    some = points[_stand_ins(len(points), FEW_PLACES)]
    tables = method.prepare(some, eps, domain)
    m = len(some)
    reports = np.array(list(itertools.product(range(m), repeat=LENGTH)))
    worst = 0.0
    for position in range(LENGTH):
        secrets = np.full((m, LENGTH), m // 2)
        secrets[:, position] = np.arange(m)
        rows = np.array([method.pmf(secret, reports, eps, tables) for secret in secrets])
        worst = max(worst, log_ratio(rows))
    tried = f"{LENGTH * m} trajectories of {LENGTH} places among {m}"
    return Check("exact", "whole trajectories, all reports", worst <= eps * (1 + SLACK), worst, eps, tried)


def log_ratio(rows: np.ndarray) -> float:
    """Return the logarithm of the worst ratio of a column, in doubles; columns that are all 0 say nothing.

    Nor do those where a density is infinite, as at a reference: there is no number to compare.

    >>> round(log_ratio(np.array([[0.75, 0.25, 0.0], [0.25, 0.75, 0.0]])), 6) == round(math.log(3), 6)
    True
    """
    rows = rows[:, np.isfinite(rows).all(axis=0)]
    most, least = rows.max(axis=0), rows.min(axis=0)
    possible = most > 0
    if np.any(least[possible] <= 0):
        return math.inf
    return float(np.log(most[possible] / least[possible]).max(initial=0.0))


def _noise(method: NoiseMethod, eps: float, domain: Domain) -> Check:
    """The lattice of the noise: at the least distance and per unit of distance beyond it, in fractions.

    Rounding to the lattice adds at most `ROUNDING` steps, which is checked for pairs of locations over the region.
    """
    noise = method.mechanism(eps, domain)
    metric = Metric.read(method.privacy)
    radius, least = (metric.radius, metric.least) if metric else (domain.diameter, domain.diameter)
    step, scale = Fraction(float(noise.step)), STEPS << int(noise.bits)
    what, whole = "step and scale of the noise, in fractions", Fraction(eps)
    xy = np.asfortranarray(domain.spread(400))
    lattice = np.stack([noise._lattice(xy, axis) for axis in (0, 1)], axis=1)
    if not lattice.any() and not (xy == noise.origin).all():
        return Check("exact", what, True, 0.0, eps, "no location is reported at all")
    apart = np.hypot(*(lattice[:, None] - lattice).transpose(2, 0, 1)) * float(step)
    metres = np.hypot(*(xy[:, None] - xy).transpose(2, 0, 1))
    rounded = bool((apart <= metres + ROUNDING * float(step) * (1 + SLACK)).all())
    at_least = (Fraction(least) / step + ROUNDING) / scale
    beyond_it = Fraction(radius) / (step * scale)
    holds = rounded and at_least <= whole * Fraction(least) / Fraction(radius) and beyond_it <= whole
    found = float(max(at_least * Fraction(radius) / Fraction(least), beyond_it))
    return Check("exact", what, holds, found, eps, f"{len(xy) ** 2:,} pairs of locations")


def _stand_ins(count: int, most: int = MAX_PLACES) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


KINDS: list[tuple[type[Method], Callable[..., list[Found]]]] = [
    (Product, _product),
    (Joint, _joint),
    (Optimal, _codebook),
    (KRR, _k_rr),
    (Nearest, _nearest),
    (WeightedNearest, _tokens),
    (WeightedMethod, _weighted),
]
"""Who counts what."""
