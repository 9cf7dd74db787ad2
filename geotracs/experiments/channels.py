"""Whether `channel.density` is what a channel reports: chi-squared of draws against it, for every method and region.

``python -m geotracs.experiments.channels`` prints the table of `goodness` with 10^6 draws each, some minutes.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import shapely

import geotracs.core.methods as methods
import geotracs.core.randomness as randomness
from geotracs.core.domains import Domain, Globe, Polygon, Rectangle
from geotracs.core.methods import Channel, Reports
from geotracs.core.places import Points
from geotracs.errors import DomainError, InputError
from geotracs.experiments.report import markdown

EPS = 3.0
DRAWS = 10**6
SECRETS = 16
"""Draws are divided among so many locations, each with bins of its own: the ratio then varies little by chance."""
SIDE, FINE, COARSE = 16, 64, 48
"""Bins along each side of the region, and points along each side of a bin at which the density is taken: fewer on a
region with a border to which reports are projected, where each costs more..."""
TOGETHER = 32
"""...and pieces of the border that are taken together."""
NODES = 2**16
"""Representative reports that are pushed through projection and rounding."""
RARE = 10
"""Bins in which fewer draws are expected are taken together."""
CORNER = Polygon(shapely.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]))
PLACES = 150


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """A region, and whether reports are rounded to places."""

    name: str
    domain: Domain
    places: Points | None = None


def cases() -> list[Case]:
    """Return a rectangle, a polygon on whose border reports are projected, one with rounding, and the globe."""
    globe = Globe()
    return [
        Case("rectangle", Rectangle(0, 0, 2, 1)),
        Case("polygon", CORNER),
        Case("rounded", CORNER, Points(CORNER.spread(PLACES))),
        Case("globe", globe),
        Case("globe, rounded", globe, Points(globe.spread(PLACES), on_sphere=True)),
    ]


def goodness(
    names: Sequence[str] | None = None, regions: Sequence[str] | None = None, *, eps: float = EPS, draws: int = DRAWS
) -> pd.DataFrame:
    """Return chi-squared per degree of freedom of draws against `channel.density`, summed over bins.

    Parameters
    ----------
    names, regions : sequences of str, optional
        Some methods, and some `cases`.

    Returns
    -------
    DataFrame
        A row for each method and region that fit together: the ``ratio``, its degrees of freedom ``df``, the standard
        deviation ``by_chance`` that it has for a correct channel, and the ``total`` of the probabilities.
    """
    rows = []
    for case in cases():
        for name in methods.METHODS:
            if (names is None or name in names) and (regions is None or case.name in regions):
                channel = _channel(name, case, eps)
                if channel is not None:
                    rows.append([name, case.name, *_ratio(channel, case, eps, draws)])
    return pd.DataFrame(rows, columns=["method", "region", "ratio", "df", "by_chance", "total"])


def _channel(name: str, case: Case, eps: float) -> Channel | None:
    """Return the channel; none if the method needs places, or another kind of region."""
    options: dict[str, Any] = {}
    if name == "geo-ind":
        options = {"radius": 2e6 if case.domain.in_degrees else 0.5}
    try:
        return methods.make(name, options).on(case.domain, case.places, eps)
    except (DomainError, InputError):
        return None


def _ratio(channel: Channel, case: Case, eps: float, draws: int) -> tuple[float, int, float, float]:
    secrets = case.domain.spread(SECRETS)
    each, statistic, df, totals = draws // SECRETS, 0.0, 0, []
    for number, secret in enumerate(secrets):
        probability, label = _bins(channel, secret[None], eps)
        reports = channel.sample(np.tile(secret, (each, 1)), np.arange(each + 1), eps, randomness.public_stream(number))
        counts = np.bincount(label(reports), minlength=len(probability))
        expected, seen = _pooled(probability * each, counts)
        statistic += float(((seen - expected) ** 2 / expected).sum())
        df += len(seen) - 1
        totals.append(probability.sum())
    return statistic / max(df, 1), df, float(np.sqrt(2 / max(df, 1))), float(np.mean(totals))


def _pooled(expected: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both with the rare bins taken together."""
    rare = expected < RARE
    both = [np.append(part[~rare], part[rare].sum()) for part in (expected, counts)]
    kept = both[0] >= 1
    return both[0][kept], both[1][kept]


def _bins(channel: Channel, secret: np.ndarray, eps: float) -> tuple[np.ndarray, Any]:
    """Return the probabilities of bins by `channel.density`, and a function that gives each release its bin."""
    nodes = NODES
    if channel.release.places is not None:
        every = np.arange(channel.release.count)
        return channel.density(every, secret, eps=eps, nodes=nodes)[0], lambda reports: reports.which
    book = getattr(channel, "book", None)
    if book is not None:
        codewords = book(eps).codewords
        distinct, which = np.unique(codewords, axis=0, return_inverse=True)  # two may be at one point
        known = {bytes(row): number for number, row in enumerate(distinct)}
        probability = np.bincount(which.reshape(-1), channel.density(codewords, secret, eps=eps)[0])
        return probability, lambda reports: np.array([known[bytes(row)] for row in np.ascontiguousarray(reports.xy)])
    return _cells(channel, secret, eps, nodes)


def _cells(channel: Channel, secret: np.ndarray, eps: float, nodes: int) -> tuple[np.ndarray, Any]:
    """Return the integral of the density over cells, by many points in each, and over pieces of the border."""
    domain, release = channel.domain, channel.release
    fine = FINE if release.border is None else COARSE
    low, high = np.reshape(domain.outline.bounds, (2, 2))
    steps = (np.arange(SIDE * fine) + 0.5) / (SIDE * fine)
    points = low + np.column_stack([np.repeat(steps, len(steps)), np.tile(steps, len(steps))]) * (high - low)
    weights = domain.contains(points) * np.prod((high - low) / (SIDE * fine))
    border = np.empty((0, 2))
    if release.border is not None:
        border = release.border.at((np.arange(release.count) + 0.5) / release.count * release.border.length)
    density = channel.density(np.concatenate([points, border]), secret, eps=eps, nodes=nodes)[0]
    inside = (density[: len(points)] * weights).reshape(SIDE, fine, SIDE, fine).sum(axis=(1, 3)).ravel()
    pieces = np.bincount(np.arange(len(border)) // TOGETHER, density[len(points) :] * release.size())
    probability = np.append(inside, pieces)

    def label(reports: Reports) -> np.ndarray:
        column, row = np.clip((reports.xy - low) / (high - low) * SIDE, 0, SIDE - 1).astype(int).T
        atoms = release.atoms(reports)
        return np.where(atoms >= 0, SIDE**2 + atoms // TOGETHER, column * SIDE + row)

    return probability, label


def _parts() -> Iterator[pd.DataFrame]:
    for case in cases():
        yield goodness(regions=[case.name])


if __name__ == "__main__":
    for part in _parts():
        sys.stdout.write(f"{markdown(part)}\n\n")
        sys.stdout.flush()
