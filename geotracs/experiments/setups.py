"""What an experiment runs on, how its errors are counted, and how runs become rows with a standard error."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
import pandas as pd

import geotracs.core.methods as methods
import geotracs.core.randomness as randomness
from geotracs.core.domains import Rectangle
from geotracs.core.places import Points
from geotracs.errors import InputError
from geotracs.experiments.published import read
from geotracs.release.engine import report

EPSILONS = (2.0, 4.0, 6.0, 8.0, 10.0)
UNIT_SQUARE = Rectangle(0, 0, 1, 1)
LARGEST = 699.0
"""Epsilon of a location that is alone in its trajectory may exceed what the mechanisms take."""
AT_ONCE = 2_000_000
"""Locations that are perturbed together: repeats beyond that are done one after the other."""


@dataclass(frozen=True)
class Recipe:
    """A method with its options, and how often it is repeated.

    Parameters
    ----------
    name : str
        As in the registry of methods.
    options : dict
        Its options.
    repeats : int, optional
        How many runs at most: slow methods get fewer than an experiment makes.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    repeats: int | None = None

    @property
    def from_reference(self) -> bool:
        """Whether it measures from a reference, which the published averages count as one more location."""
        return self.name in ("tracs-d", "strawman")


TRACS_C = Recipe("tracs-c")
TRACS_D = Recipe("tracs-d", {"start": "corner"})
STRAWMAN = Recipe("strawman", {"start": "corner"})
PLANAR_LAPLACE = Recipe("planar-laplace")
CONTINUOUS = {"tracs-c": TRACS_C, "tracs-d": TRACS_D, "strawman k=6": STRAWMAN, "planar-laplace": PLANAR_LAPLACE}
TRACS = {"tracs-c": TRACS_C, "tracs-d": TRACS_D}


@dataclass(frozen=True, repr=False)
class Setup:
    """Public tracks in a rectangle, and how their errors are counted.

    Parameters
    ----------
    space : str
        Name of the space.
    xy, offsets : array
        Locations, trajectory after trajectory, and where each begins.
    domain : Rectangle
        Where the methods work.
    scale : pair of float
        Units of the error per unit of the coordinates: the paper perturbs in the unit square and counts degrees.
    places : Points, optional
        Public places, for methods that need them and to round the others to.
    round_down : int, optional
        Round down to multiples of 1 / this instead, as the published grid experiments do.
    dummy : bool
        Whether the first reference counts as a location without error, as in some published averages.
    fresh : int
        The number of tracks in a run of the experiment; 0 if the same tracks are repeated.
    published_runs : float
        How many such runs, or repeats of all tracks, the published figures come from.
    """

    space: str
    xy: np.ndarray
    offsets: np.ndarray
    domain: Rectangle = UNIT_SQUARE
    scale: tuple[float, float] = (1.0, 1.0)
    places: Points | None = None
    round_down: int | None = None
    dummy: bool = False
    fresh: int = 0
    published_runs: float = 1

    @property
    def lengths(self) -> np.ndarray:
        """The number of locations of each track."""
        return np.diff(self.offsets)

    @property
    def public(self) -> Points:
        """The public places, for experiments that have some."""
        return cast(Points, self.places)

    def parts(self, runs: int) -> Iterator[Self]:
        """Return the tracks of some runs, in parts that fit into memory: fresh ones, or the same repeated."""
        if self.fresh:
            end = self.offsets[: runs * self.fresh + 1]
            yield replace(self, xy=self.xy[: end[-1]], offsets=end)
            return
        together = max(1, min(runs, AT_ONCE // len(self.xy)))
        for begin in range(0, runs, together):
            times = min(together, runs - begin)
            offsets = np.append(0, np.cumsum(np.tile(self.lengths, times)))
            yield replace(self, xy=np.asfortranarray(np.tile(self.xy, (times, 1))), offsets=offsets)

    def reports(self, recipe: Recipe, eps: float | np.ndarray, rng: randomness.Source) -> np.ndarray:
        """Return the report of each location, in the coordinates of the domain."""
        method = methods.make(recipe.name, dict(recipe.options))
        if method.over == "places":
            eps = np.minimum(eps, method.largest_eps)  # of a location that is alone in its trajectory
        reports, which = report(method.on(self.domain, self.places, eps), self.xy, self.offsets, eps, rng)
        if which is not None:
            return reports
        if self.round_down:
            return np.floor(reports * self.round_down) / self.round_down
        return reports if self.places is None else self.places.round(reports)[1]

    def by_track(self, values: np.ndarray, dummy: bool = False) -> np.ndarray:
        """Return the mean over each track."""
        return np.add.reduceat(values, self.offsets[:-1]) / (self.lengths + dummy)


Statistic = Callable[[Setup, np.ndarray, Recipe], np.ndarray]


def mean_error(setup: Setup, reports: np.ndarray, recipe: Recipe) -> np.ndarray:
    """Return the mean distance between the locations and the reports of each track (the paper's AE)."""
    distances = np.hypot(*((reports - setup.xy) * setup.scale).T)
    return setup.by_track(distances, setup.dummy and recipe.from_reference)


def measure(
    setup: Setup,
    recipe: Recipe,
    eps: float | Callable[[Setup], np.ndarray],
    repeats: int,
    rng: randomness.Source,
    statistic: Statistic = mean_error,
) -> dict[str, float]:
    """Perturb the tracks repeatedly; return the mean of a statistic over runs, and two standard errors.

    Parameters
    ----------
    eps : float or callable
        Epsilon of each location, or a function of a setup that returns an array of them.
    repeats : int
        How many runs: of the same tracks, or of fresh ones.

    Returns
    -------
    dict
        ``ours``, ``se``, and ``published_se``: the standard error of as few runs as the published figures come from.
    """
    repeats = min(repeats, recipe.repeats or repeats)
    found = []
    for part in setup.parts(repeats):
        epsilons = eps(part) if callable(eps) else eps
        found.append(statistic(part, part.reports(recipe, epsilons, rng), recipe))
    values = np.concatenate(found).reshape(repeats, -1)
    if setup.fresh:
        values = values.mean(axis=1, keepdims=True)
    # Fixed tracks are perturbed independently, so the variances of their means add up.
    one_run = np.sqrt(values.var(axis=0, ddof=1).sum()) / values.shape[1] if len(values) > 1 else np.nan
    return {
        "ours": values.mean(),
        "se": one_run / np.sqrt(len(values)),
        "published_se": one_run / np.sqrt(setup.published_runs),
    }


def table(
    experiment: str,
    setup: Setup,
    recipes: Mapping[str, Recipe],
    *,
    repeats: int,
    published: str | Path | None,
    epsilons: tuple[float, ...] = EPSILONS,
    statistic: Statistic = mean_error,
    share: Callable[[float, Setup], np.ndarray] | None = None,
) -> pd.DataFrame:
    """Return the tidy frame of an experiment: every method at every epsilon, beside the published figures.

    Parameters
    ----------
    experiment : str
        Its name, which is that of the published file.
    share : callable, optional
        Turns an epsilon into one for each location of a setup.
    """
    if repeats < 2:
        raise InputError(f"`repeats` must be at least 2, for a standard error; got {repeats!r}.")
    rows = []
    for label, recipe in recipes.items():
        for epsilon in epsilons:
            # Every row has a stream of its own, so that it does not depend on which others are asked for.
            rng = stream(experiment, label, epsilon)
            eps = epsilon if share is None else (lambda part, epsilon=epsilon: share(epsilon, part))
            result = measure(setup, recipe, eps, repeats, rng, statistic)
            rows.append({"experiment": experiment, "space": setup.space, "method": label, "epsilon": epsilon} | result)
    return with_published(pd.DataFrame(rows), experiment, published)


def with_published(frame: pd.DataFrame, experiment: str, published: str | Path | None) -> pd.DataFrame:
    """Put the published figures beside ours."""
    frame = frame.merge(read(published, experiment), on=["method", "epsilon"], how="left")
    columns = ["experiment", "space", "method", "epsilon", "published", "ours", "se", "published_se"]
    return frame[columns]


def stream(*names: str | float) -> randomness.Keystream:
    """Return the public stream of these names."""
    number = 0
    for byte in repr(names).encode():
        number = (number * 257 + byte + 1) % 2**64
    return randomness.public_stream(number)


def uniform(rng: randomness.Source, rows: int) -> np.ndarray:
    """Return uniform points of the unit square."""
    return np.asfortranarray(randomness.words(rng, 2 * rows, np.uint64).reshape(rows, 2) / 2.0**64)
