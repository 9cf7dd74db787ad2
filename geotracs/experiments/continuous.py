"""The paper's experiments on continuous space."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from geotracs.core.budget import split
from geotracs.core.domains import Rectangle
from geotracs.errors import InputError
from geotracs.experiments.cities import city
from geotracs.experiments.exact import spent
from geotracs.experiments.setups import (
    CONTINUOUS,
    EPSILONS,
    TRACS_D,
    UNIT_SQUARE,
    Recipe,
    Setup,
    measure,
    stream,
    table,
    uniform,
    with_published,
)

SPACES = {
    "unit": ("continuous-experiment_1_1", "[0,1) x [0,1)", UNIT_SQUARE),
    "long": ("continuous-experiment_1_2", "[0,2) x [0,10)", Rectangle(0, 0, 2, 10)),
}
LENGTH = 100
"""Locations of a random track."""
R_SW = Recipe("tracs-d", {"start": "corner", "window": "r-sw"})


def synthetic(
    space: str = "unit",
    *,
    repeats: int = 1000,
    recipes: Mapping[str, Recipe] = CONTINUOUS,
    published: str | Path | None = None,
) -> pd.DataFrame:
    """Return the mean error on random tracks of 100 locations, from a corner of the space (the paper's Figure 4).

    Parameters
    ----------
    space : {"unit", "long"}
        [0,1) x [0,1), or [0,2) x [0,10).
    repeats : int
        How many tracks.
    recipes : dict
        The methods, by the names of the rows.
    published : path, optional
        Folder of the published figures.

    Examples
    --------
    >>> frame = synthetic(repeats=50, recipes={"tracs-c": Recipe("tracs-c")})
    >>> frame["ours"].round(1).tolist()
    [0.4, 0.3, 0.2, 0.1, 0.1]
    """
    if space not in SPACES:
        raise InputError(f"`space` must be one of {sorted(SPACES)}, got {space!r}.")
    experiment, _, _ = SPACES[space]
    return table(experiment, random_tracks(space, repeats), recipes, repeats=repeats, published=published)


def strawman_as_published(*, repeats: int = 1000, published: str | Path | None = None) -> pd.DataFrame:
    """Return the error of a strawman that leaves the true sector as rarely as the published one does.

    It is the exact strawman at a larger epsilon, which the column ``spent`` names: what the published k-RR really
    spends. That this gives the published column is the proof; a few per cent remain, since the published strawman
    measures from the previous report of TraCS-D instead of its own.
    """
    experiment, _, _ = SPACES["unit"]
    label, k, setup, rows = "strawman k=6", 6, random_tracks("unit", repeats), []
    for epsilon in EPSILONS:
        direction, distance = (float(part) for part in split(epsilon, math.pi / (math.pi + 1)))
        leaves = 1 / (k - 1 + math.exp(direction))
        rather = math.log((k - 1) * (1 - leaves) / leaves)
        recipe = Recipe("strawman", {"start": "corner", "direction_share": rather / (rather + distance)})
        result = measure(setup, recipe, rather + distance, repeats, stream("as published", epsilon))
        rows.append({"experiment": experiment, "space": setup.space, "method": label, "epsilon": epsilon} | result)
        rows[-1]["spent"] = spent(direction, k) + distance
    frame = pd.DataFrame(rows)
    return with_published(frame, experiment, published).assign(spent=frame["spent"])


def random_tracks(space: str, tracks: int) -> Setup:
    """Return random tracks; the first reference counts as a location, as it does in the published averages."""
    experiment, name, domain = SPACES[space]
    xy = domain.from_unit(uniform(stream(experiment, "tracks"), tracks * LENGTH))
    offsets = np.arange(0, tracks * LENGTH + 1, LENGTH)
    return Setup(name, xy, offsets, domain, dummy=True, fresh=1, published_runs=1000)


def short_side(
    *, repeats: int = 10_000, recipes: Mapping[str, Recipe] = CONTINUOUS, published: str | Path | None = None
) -> pd.DataFrame:
    """Return the mean error on a track along the short side of [0,2) x [0,10), where TraCS-D wins (Figure 5)."""
    x = np.arange(1, 10) / 5
    xy = np.asfortranarray(np.column_stack([x, np.ones(len(x))]))
    _, name, domain = SPACES["long"]
    setup = Setup(name, xy, np.array([0, len(xy)]), domain, dummy=True, published_runs=1000)
    return table("continuous-experiment_1_3", setup, recipes, repeats=repeats, published=published)


def city_continuous(
    data: str | Path,
    name: str,
    *,
    repeats: int = 20,
    recipes: Mapping[str, Recipe] = CONTINUOUS,
    published: str | Path | None = None,
) -> pd.DataFrame:
    """Return the mean error in degrees on the tracks of a city's first 100 users (Figure 7).

    Parameters
    ----------
    data : path
        Folder of the check-ins; see `city`.
    name : {"tky", "chi"}
        Which city.
    """
    setup = replace(city(data, name, published_runs=20), places=None)
    return table(f"continuous-experiment_5_{name}", setup, recipes, repeats=repeats, published=published)


def square_wave(*, repeats: int = 1000, published: str | Path | None = None) -> pd.DataFrame:
    """Return the mean error of TraCS-D with its own window and with that of the redesigned square wave."""
    recipes = {"tracs-d": TRACS_D, "tracs-d r-sw": R_SW}
    setup = random_tracks("unit", repeats)
    return table("continuous-experiment_3", setup, recipes, repeats=repeats, published=published)


def epsilon_split(*, repeats: int = 200, epsilons: tuple[float, ...] = (5.0, 8.0), steps: int = 17) -> pd.DataFrame:
    """Return the mean error of TraCS-D by the share of epsilon that the direction gets (the paper's appendix).

    The frame has a column ``share`` instead of published figures: the paper shows a plot only.
    """
    setup, rows = random_tracks("unit", repeats), []
    for epsilon in epsilons:
        for share in [*np.linspace(0.2, 0.95, steps).tolist(), math.pi / (math.pi + 1)]:
            recipe = Recipe("tracs-d", {"start": "corner", "direction_share": share})
            # The same draws for every share: only the share differs.
            result = measure(setup, recipe, epsilon, repeats, stream("epsilon-split", epsilon))
            rows.append({"experiment": "epsilon-split", "space": setup.space, "method": "tracs-d", "epsilon": epsilon})
            rows[-1] |= {"share": share, "ours": result["ours"], "se": result["se"]}
    return pd.DataFrame(rows).sort_values(["epsilon", "share"], ignore_index=True)
