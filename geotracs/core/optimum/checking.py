"""Checking a bound again, however it was found: every tile against every cell, in the simplest way."""

from dataclasses import fields

import numpy as np
import shapely
from scipy.spatial import ConvexHull

from geotracs.core.optimum.bound import Optimum, Problem, hull_of
from geotracs.core.optimum.cells import Cells, joined
from geotracs.core.optimum.constraints import CORNERS, Tiles, excess
from geotracs.errors import InputError

ROWS = 2**20
"""How many pairs are processed at a time."""


def check(certificate: Optimum, eps: float | None = None, fine: int = 1, *, problem: Problem | None = None) -> float:
    """Check a certificate, and return its largest constraint as a distance: at most 0.

    Nothing is taken over from the search: the cells must be those of the region's prior, cut and joined anew, the tiles
    must cover the convex hull of the prior (or the sphere, or be all places that may be reported), the error must be
    the mean price, and the constraint must hold in every tile.

    Parameters
    ----------
    certificate : Optimum
    eps : float, optional
        The epsilon that it should hold for; its own without it.
    fine : int
        Into how many parts each side of a tile is cut.
    problem : Problem, optional
        The region or the places that it should be for. Without it the cells and reports of the certificate are taken
        as they are.

    Raises
    ------
    InputError
        If the certificate does not hold.

    Examples
    --------
    >>> from geotracs.core.optimum import lower_bound
    >>> bound = lower_bound(np.array([[0.0, 0.0], [1.0, 0.0]]), None, 1.0)
    >>> check(bound) <= 0
    True
    >>> check(bound._replace(prices=bound.prices * 1.01, error=bound.error * 1.01))
    Traceback (most recent call last):
    geotracs.errors.InputError: The certificate does not hold: a constraint is broken.
    """
    cells, prices = certificate.cells, certificate.prices
    _require(prices.shape == (len(cells),) and bool(np.isfinite(prices).all()), "prices are missing")
    mass = cells.weights
    _require(bool((mass >= 0).all()) and abs(mass.sum() - 1) < 1e-9, "the weights are not a prior")
    positive = min(cells.radius.min(), cells.bias.min(), cells.moments[:, [0, 2]].min(), certificate.tiles.halves.min())
    _require(positive >= 0 and bool((cells.rms <= cells.radius * (1 + 1e-9)).all()), "cells are impossible")
    if problem is not None:
        _require(_same_prior(certificate, problem), "its cells are not those of this region")
        _require(_same_reports(certificate, problem), "it is for other reports")
    mean = float(mass @ prices)
    _require(certificate.error <= mean + 1e-12 * np.abs(prices).max(), "the error is larger than the mean price")
    _require(_covered(certificate), "reports are left out")
    odds = float(np.expm1(certificate.eps if eps is None else eps))
    worst = max(
        _worst(certificate, Tiles(middles, halves), odds) for middles, halves in _parts(certificate, max(fine, 1))
    )
    _require(worst <= 0, "a constraint is broken")
    return worst


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InputError(f"The certificate does not hold: {otherwise}.")


def _same_prior(certificate: Optimum, problem: Problem) -> bool:
    """Return whether the prior, cut and joined anew, has the certificate's cells."""
    known, parts = certificate.cells, certificate.parts
    cut = problem.cut(certificate.pieces)
    numbers = np.unique(parts)
    if problem.metric != certificate.metric or len(parts) != len(cut) or len(numbers) != len(known):
        return False
    if numbers.dtype.kind not in "iu" or numbers[0] != 0 or numbers[-1] != len(known) - 1:
        return False
    again = cut if np.array_equal(parts, np.arange(len(cut))) else joined(cut, parts, problem.metric)
    return all(_alike(getattr(known, f.name), getattr(again, f.name)) for f in fields(Cells))


def _same_reports(certificate: Optimum, problem: Problem) -> bool:
    """Return whether reports may be where the certificate says: at these places, or anywhere."""
    middles, halves = certificate.tiles
    if problem.reports is None:
        return bool(halves.any())
    return not halves.any() and _alike(middles, problem.reports)


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether numbers are the same, but for rounding errors of another machine."""
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=0, atol=1e-9 * float(np.abs(b).max(initial=0))))


def _covered(certificate: Optimum) -> bool:
    """Return whether every report that could matter is in a tile."""
    middles, halves = certificate.tiles
    if not halves.any():
        return len(middles) > 0
    if not certificate.metric.flat:
        nearest = -ConvexHull(middles).equations[:, -1].max()
        return bool(halves.min() >= getattr(certificate.metric, "radius", 1.0) * np.arccos(min(nearest, 1.0)))
    hull = hull_of(certificate.cells.points)
    wide = (halves * (1 + 1e-9))[:, None]
    tiles = shapely.union_all(shapely.box(*(middles - wide).T, *(middles + wide).T))
    return bool(tiles.covers(hull)) or hull.difference(tiles).area <= 1e-12 * max(hull.area, 1e-300)


def _parts(certificate: Optimum, fine: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the tiles in chunks, each cut into fine x fine."""
    middles, halves = certificate.tiles
    if fine > 1 and halves.any() and certificate.metric.flat:
        steps = (2 * np.arange(fine) + 1) / fine - 1
        offsets = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        middles = (middles[:, None] + halves[:, None, None] * offsets).reshape(-1, 2)
        halves = np.repeat(halves / fine, fine * fine)
    step = max(1, ROWS // len(certificate.cells))
    return [(middles[i : i + step], halves[i : i + step]) for i in range(0, len(middles), step)]


def _worst(certificate: Optimum, tiles: Tiles, odds: float) -> float:
    """Return the largest constraint of some tiles, divided by how fast it falls with the prices."""
    cells, prices, metric = certificate.cells, certificate.prices, certificate.metric
    half = tiles.halves[:, None]
    d, x, y = metric.pairs(tiles.middles, cells.points)
    values = []
    for east, north in CORNERS if tiles.halves.any() else CORNERS[:1]:
        along = half * (x * east + y * north)
        least, far = metric.at_least(d, along, 2 * half**2, np.sqrt(2) * half + cells.radius, cells.rms)
        gap = prices + cells.bias - least
        plus = np.maximum(gap, 0)
        if not cells.exact:
            plus += _beyond(cells, np.abs(gap), d - np.sqrt(2) * half, np.asarray(far), metric.flat)
        values.append(gap @ cells.weights + odds * (plus @ cells.weights))
    slopes = 1 + odds * ((prices > d) @ cells.weights)
    return float((np.max(values, axis=0) / slopes).max())


def _beyond(cells: Cells, gap: np.ndarray, least: np.ndarray, far: np.ndarray, flat: bool) -> np.ndarray:
    """Return what spreading a secret over its cell can add to the positive part."""
    if not flat:
        deviation = np.where(far, 2 * cells.rms, cells.rms) + cells.bias
        return excess(gap, np.maximum(cells.radius + np.where(far, cells.rms, 0) + cells.bias, deviation), deviation)
    left = np.maximum(least - cells.radius, 1e-9 * cells.radius + 1e-300)
    part = cells.radius / left
    seen = cells.widest + cells.rms**2 * (0.385 * part + 0.25 * part**2)
    return excess(gap, np.broadcast_to(cells.radius, gap.shape), np.sqrt(np.minimum(cells.rms**2, seen)))
