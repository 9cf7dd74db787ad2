"""Where people were, by all that a release and a public model of motion say: the posterior of every location."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import geopandas as gpd
import numpy as np

import geotracs.answers.moments as moments
from geotracs.answers.carried import carried
from geotracs.answers.centres import centres
from geotracs.answers.estimate import estimate
from geotracs.answers.ground import Ground
from geotracs.answers.motion import AUTO, BINS, Motion, suitable
from geotracs.answers.reader import Reader
from geotracs.answers.smoothing import smooth
from geotracs.errors import InputError, quoted, sealed
from geotracs.geo.filling import drawn
from geotracs.io.progress import bar, wanted

MIN_REPORTS = 5000
"""From this many reports on their density is the prior: with fewer, each would count twice in its own posterior."""
UNKNOWN = 0.05
"""Which part of any prior is spread over all of the ground: it may be wrong."""
SECRETS = 4
"""How many locations of a cell stand for it, where the law of a report depends on the one before it."""
PROBES = 2**10
"""How many reports say how far the noise of an epsilon reaches."""
WORDS = (
    "These locations were computed from a release and a public model of motion, without its originals: no epsilon was "
    "spent, and whoever has the release can compute them. They show what it tells about a person who is followed: "
    "half of the locations are known to within {median:,.0f} m with probability {level:.0%}."
)


@sealed
def reconstruct(
    frame: gpd.GeoDataFrame,
    *,
    speed: float,
    stay: float = 0.3,
    motion: str = "auto",
    prior: Any = "release",
    weight: str | None = None,
    places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
    at: str | Sequence[Any] | None = None,
    interval: float | None = None,
    level: float = 0.9,
    domain: Any = None,
    round_to: Any = None,
    cells: int = 64,
) -> gpd.GeoDataFrame:
    """Return where each location of a release was likely to be, by all reports of its trajectory.

    A reader of a release knows how its noise was made, and how fast people are. Together they tell more than the
    reports: in a city the error of reports of epsilon 4 falls to a fifth. This is post-processing. The guarantee of the
    release stays what it was, and anybody who has the release can do the same: what is left of the error is what
    protects a person who is followed over a trajectory.

    Parameters
    ----------
    frame : GeoDataFrame
        What `perturb` returned for points with a ``time`` column, in which numbers are seconds, or for lines.
    speed : float
        How fast people are at most, in metres per second: about 2 on foot, 15 for cars in a city. A value that is wrong
        by a factor of 2 does little harm.
    stay : float
        How likely somebody has not moved since the last report.
    motion : {"auto", "box", "modes"}
        "box" has no memory: somebody stays, or is anywhere within ``speed`` times the time. "modes" also knows that
        people keep their direction for about a minute; it takes twice as long, and is what "auto" takes where half of
        the reports follow the one before within two minutes.
    prior : "release", GeoDataFrame, GeoSeries, (array, transform) or None
        Where people are likely to be: by the density of the reports of this release (evenly over the region below 5,000
        of them), by a public layer or raster as in `perturb`, or evenly over the region. If the release itself was made
        with a prior that its record does not hold, give that one.
    weight : str, optional
        Column of the prior with the number of each point or area.
    places : GeoDataFrame or GeoSeries, optional
        Public places or roads that people do not leave: only cells that they touch are considered.
    at : list of times, or str
        Add a row at each of these times to every trajectory that goes on then, or, e.g. with "5min", at all full
        five minutes. The result then has a new index and the column ``filled``, and is ordered by trajectory and time.
    interval : float, optional
        How many seconds lie between two reports that follow each other, where a release has no times: between the
        vertices of lines, each of which is a trajectory of its own, or between points.
    level : float
        The probability with which a location lies within ``radius``.
    domain, round_to
        Public layers of the release, as they were given to `perturb`, if its record does not hold them.
    cells : int
        Cells along the longer side of the region. Nothing is located much better than to a third of a cell.

    Returns
    -------
    GeoDataFrame
        The same rows and columns with other locations, each the mean of its posterior, and the column ``radius``:
        within how many metres of it the true location lies, with probability ``level``; of a line, the largest of its
        vertices. Rows without a location stay as they are. Where the noise is narrower than a cell the location is the
        report, unless it cannot be right.

    Notes
    -----
    The probability of the radius is that of the model. People who move in other ways than the model says are outside
    more often.

    Windows of "joint" and "tracs-c" are moved inside the region, so that within half a window of its border reports do
    not tell how far from it somebody is. Whoever spends hours there is located two to four times worse than elsewhere:
    choose regions that are wider than where people go.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> box = city.boundary.total_bounds
    >>> private = city.tracks.tracs.perturb(4, domain=box, trajectory="person", time="t", keep=[])
    >>> found = reconstruct(private, speed=12)
    >>> list(found.columns)
    ['person', 't', 'geometry', 'radius']
    >>> errors = [city.tracks.tracs.compare(one)["ae"] for one in (private, found)]
    >>> bool(errors[1] < errors[0] / 2)
    True
    """
    asked = Asked(speed, stay, motion, level, cells)
    layer = None if isinstance(prior, str) else prior
    if isinstance(prior, str) and prior != "release":
        raise InputError(f'`prior` must be "release", a layer, a raster or None, got {quoted(prior)}.')
    reader = Reader.of(frame, domain=domain, round_to=round_to, prior=layer, weight=weight)
    frame = drawn(frame)
    for name in ("radius", moments.FILLED):
        if name in frame.columns:
            raise InputError(f"The frame has a column {name!r} already; rename it.")
    rows = moments.read(frame, reader, at, interval)
    if asked.motion == AUTO:
        asked = replace(asked, motion=suitable(rows.seconds))
    ground = Ground.of(reader, cells)
    ground = ground if places is None else ground.within(places, reader)
    known = _prior(reader, ground, prior, weight)
    if reader.observations is None:
        xy, radius = locate(reader, ground, rows, asked, known)
    else:
        visits = rows.visits(reader, reader.resolution() * reader.metres / asked.speed)
        xy, radius = locate(reader, ground, visits.rows, asked, known, visits.share)
        xy, radius = np.asfortranarray(xy[visits.which]), radius[visits.which]
    found = moments.output(frame, reader, rows, reader.region.leave(xy), radius)
    details = {name: getattr(asked, name) for name in ("speed", "stay", "motion", "level", "cells")}
    words = WORDS.format(median=float(np.median(radius)), level=asked.level)
    return carried(found, reader.guarantee, kind="reconstruct", words=words, **details)


@dataclass(frozen=True, repr=False)
class Asked:
    """The numbers that were asked for, checked."""

    speed: float
    stay: float
    motion: str
    level: float
    cells: int

    def __post_init__(self) -> None:
        for name, low, high, what in (
            ("speed", 0.0, math.inf, "a finite number of metres per second, greater than 0, such as 15"),
            ("stay", 0.0, 1.0, "a probability between 0 and 1, such as 0.3"),
            ("level", 0.0, 1.0, "a probability between 0 and 1, such as 0.9"),
        ):
            value = getattr(self, name)
            if not isinstance(value, Real) or isinstance(value, bool) or not low < float(value) < high:
                raise InputError(f"`{name}` must be {what}, got {quoted(value)}.")
        if not isinstance(self.motion, str) or self.motion not in (AUTO, *BINS):
            raise InputError(f"`motion` must be one of {[AUTO, *BINS]}, got {quoted(self.motion)}.")
        if not isinstance(self.cells, Integral) or not 8 <= self.cells <= 256:
            raise InputError(f"`cells` must be a whole number from 8 to 256, got {quoted(self.cells)}.")


def _prior(reader: Reader, ground: Ground, prior: Any, weight: str | None) -> np.ndarray:
    """Return how likely each state of the ground is before any report is seen."""
    found = ground.measure
    if isinstance(prior, str):
        if len(reader.xy) >= MIN_REPORTS:
            found = estimate(reader.observed(ground.states), ground.states.prior).p[ground.some]
    elif prior is not None:
        found = ground.weights(prior, weight, reader)
    return (1 - UNKNOWN) * found / max(found.sum(), 1e-300) + UNKNOWN * ground.measure


def locate(
    reader: Reader,
    ground: Ground,
    rows: moments.Moments,
    asked: Asked,
    prior: np.ndarray,
    share: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the location of each row in the working CRS, and the radius in metres.

    ``share`` says which part of what its report tells each row counts.
    """

    lattice = ground.lattice.filled()  # cells in which nobody can be take less time than leaving them out
    inside = ground.lattice.index if lattice is not ground.lattice else np.arange(len(ground.some))

    def likelihood(first: int, last: int) -> np.ndarray:
        report = rows.report[first:last]
        reported = np.flatnonzero(report >= 0)
        told = reader.likelihood(ground.states, report[reported], SECRETS)
        if share is not None:
            told **= share[first:last][reported, None]
        if told.shape == (last - first, len(lattice.index)):
            return told
        found = np.zeros((last - first, len(lattice.index)))
        found[:, inside] = 1.0
        found[np.ix_(reported, inside)] = told[:, ground.some]
        return found

    everywhere = np.zeros(len(lattice.index))
    everywhere[inside] = prior
    motion = Motion(lattice, everywhere, asked.speed, asked.stay, BINS[asked.motion])
    points, side = ground.points, ground.side
    centre, radius = np.empty((len(rows.report), points.shape[1])), np.empty(len(rows.report))
    with bar(len(rows.report), wanted(), " rows", "Following") as advance:
        for part, posterior in smooth(likelihood, rows.seconds, motion):
            centre[part], radius[part] = centres(posterior[:, inside], points, side, asked.level)
            advance(part.stop - part.start)
    xy = np.asfortranarray(ground.located(centre))
    _keep_exact(reader, ground, rows, asked.level, xy, radius)
    reader.region.domain.project_inside(xy)
    return xy, radius


def _keep_exact(
    reader: Reader, ground: Ground, rows: moments.Moments, level: float, xy: np.ndarray, radius: np.ndarray
) -> None:
    """Keep reports whose noise is narrower than a cell, which says no more than they, unless they cannot be right."""
    reported = np.flatnonzero(rows.report >= 0)
    which = rows.report[reported]
    eps = np.broadcast_to(reader.eps, len(reader.xy))[which]
    for one in reader.levels.tolist() if ground.side > 0 else []:
        noise = _noise(reader, one, level)
        near = _metres(reader, reader.xy[which], xy[reported]) <= np.maximum(radius[reported], ground.side) + noise
        exact = reported[(eps == one) & near & (noise < radius[reported])]
        if noise < ground.side / 2:
            xy[exact], radius[exact] = reader.xy[rows.report[exact]], noise


def _noise(reader: Reader, eps: float, level: float) -> float:
    """Return within how many metres of a location its report falls, with that probability."""
    points = reader.region.domain.spread(PROBES)
    reports = reader.channel.sample(points, np.arange(len(points) + 1), eps, np.random.default_rng(0)).xy
    return float(np.quantile(_metres(reader, points, reports), level))


def _metres(reader: Reader, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    domain = reader.region.domain
    return domain.distance(a, b) * (1.0 if domain.in_degrees else reader.metres)
