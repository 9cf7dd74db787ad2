"""The paper's experiments on discrete space: TraCS rounded to places, beside methods over places."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import geotracs.core.budget as budget
import geotracs.core.randomness as randomness
import geotracs.utility.metrics as metrics
from geotracs.core.places import Points
from geotracs.experiments.cities import city
from geotracs.experiments.not_ldp import ngram_as_published
from geotracs.experiments.setups import (
    EPSILONS,
    LARGEST,
    TRACS,
    TRACS_C,
    Recipe,
    Setup,
    Statistic,
    measure,
    stream,
    table,
    uniform,
    with_published,
)

TEXTBOOK = {"calibration": "textbook"}
"""The published exponential mechanisms have the classical factor 2, so that they use half of epsilon."""
OVER_PLACES = {
    "ngram": Recipe("ngram", TEXTBOOK, repeats=5),
    "l-srr": Recipe("l-srr", repeats=5),
    "atp": Recipe("atp", TEXTBOOK, repeats=5),
    "ngram calibrated": Recipe("ngram", repeats=5),
    "atp calibrated": Recipe("atp", repeats=5),
}
"""Their work grows with the number of places: five runs, where TraCS gets more. Those with the published names are what
the published figures are compared with; the calibrated ones use all of epsilon, as TraCS and L-SRR do."""
DISCRETE = TRACS | OVER_PLACES
GRIDS = {10: "discrete-experiment_1_1", 60: "discrete-experiment_1_2"}
USERS = {"tky": (0, 10), "chi": (100, 200)}
"""From whom the published figures over places come. The paper's mean length of 13 for Chicago is theirs."""
NEAR = 0.1
"""Degrees within which a range query finds a report."""
CELLS = {
    "exponential 10x10": (10, TEXTBOOK),
    "exponential 100x100": (100, TEXTBOOK),
    "exponential 10x10 calibrated": (10, {}),
    "exponential 100x100 calibrated": (100, {}),
    "tracs-c": (None, {}),
}
HOT = 0.2
"""Share of the visited places that are hotspots."""


def synthetic_grid(
    side: int = 10,
    *,
    repeats: int = 400,
    recipes: Mapping[str, Recipe] = DISCRETE,
    paper: bool = False,
    published: str | Path | None = None,
) -> pd.DataFrame:
    """Return the mean error on random tracks over the points of a grid in [0,1] x [0,1] (Figure 8).

    A run is one random track of 100 locations, perturbed 10 times; the published figures come from one run. The
    published TraCS reports are rounded down to the grid, not to its nearest point, and so are these.

    Parameters
    ----------
    side : {10, 60}
        Steps of the grid along each side.
    paper : bool
        Add the published NGram, which is not LDP.
    """
    runs, times, length = repeats, 10, 100
    at = np.round(uniform(stream(GRIDS[side], "tracks"), runs * length) * side) / side
    xy = np.repeat(at.reshape(runs, length, 2), times, axis=0).reshape(-1, 2)
    steps = np.arange(side + 1) / side
    setup = Setup(
        space=f"{side} x {side}",
        xy=np.asfortranarray(xy),
        offsets=np.arange(0, len(xy) + 1, length),
        places=Points(np.array(np.meshgrid(steps, steps)).reshape(2, -1).T),
        round_down=side,
        fresh=times,
    )
    frame = table(GRIDS[side], setup, recipes, repeats=repeats, published=published)
    return _with_paper(frame, setup) if paper else frame


def city_places(
    data: str | Path,
    name: str,
    *,
    repeats: int = 20,
    recipes: Mapping[str, Recipe] = DISCRETE,
    paper: bool = False,
    published: str | Path | None = None,
) -> pd.DataFrame:
    """Return the mean error in degrees over the places of a city (Figure 9).

    The published figures come from 10 users of Tokyo and 100 of Chicago, five times each.

    Parameters
    ----------
    paper : bool
        Add the published NGram, which is not LDP.
    """
    setup = city(data, name, USERS[name], published_runs=5)
    frame = table(f"discrete-experiment_2_{name}", setup, recipes, repeats=repeats, published=published)
    return _with_paper(frame, setup) if paper else frame


def trajectory_epsilon(
    data: str | Path,
    name: str,
    *,
    repeats: int = 20,
    recipes: Mapping[str, Recipe] = DISCRETE,
    published: str | Path | None = None,
) -> pd.DataFrame:
    """Return the mean error over a city's places when epsilon is for a whole trajectory (the paper's appendix)."""
    setup = city(data, name, USERS[name])
    mean_length = {"tky": 113, "chi": 13}[name]
    return table(
        f"discrete-experiment_2_{name}_trajectory_epsilon",
        setup,
        recipes,
        repeats=repeats,
        published=published,
        epsilons=tuple(mean_length * epsilon for epsilon in EPSILONS),
        share=shared,
    )


def range_queries(
    data: str | Path,
    *,
    repeats: int = 20,
    recipes: Mapping[str, Recipe] = DISCRETE,
    published: str | Path | None = None,
) -> pd.DataFrame:
    """Return the share of reports within 0.1 degrees of their location, over Chicago's places (Figure 10)."""
    setup = city(data, "chi", USERS["chi"])
    name = "discrete-appendix_range_query_chi"
    return table(name, setup, recipes, repeats=repeats, published=published, statistic=_near)


def hotspots(
    data: str | Path,
    *,
    repeats: int = 20,
    recipes: Mapping[str, Recipe] = DISCRETE,
    formula: bool = False,
    published: str | Path | None = None,
) -> pd.DataFrame:
    """Return by how much the visits of hotspots change in a track, over Chicago's places (Figure 10).

    Parameters
    ----------
    formula : bool
        True for the paper's formula: visits whose report is no hotspot. The published figures are the difference
        between the number of visits before and after, whichever they are, and this is the default.
    """
    setup = city(data, "chi", USERS["chi"], published_runs=3)
    name = "discrete-appendix_hotpot_chi"
    statistic = _hotspot_statistic(setup, formula)
    frame = table(name, setup, recipes, repeats=repeats, published=published, statistic=statistic)
    return frame.assign(experiment=f"{name}_formula") if formula else frame


def gridding(
    *,
    repeats: int = 20_000,
    cells: Mapping[str, tuple[int | None, Mapping[str, str]]] = CELLS,
    published: str | Path | None = None,
) -> pd.DataFrame:
    """Return the error for one location, a corner: the exponential mechanism over cells, and TraCS-C (the appendix).

    A report of the exponential mechanism is uniform in its cell.

    Parameters
    ----------
    cells : dict
        How many cells along a side, None for TraCS-C, and options of the method, by the names of the rows.
    """
    at = Setup("[0,1) x [0,1)", np.zeros((repeats, 2)), np.arange(repeats + 1), fresh=1, published_runs=200)
    rows, name = [], "gridding_em"
    for label, (side, options) in cells.items():
        recipe = TRACS_C if side is None else Recipe("exponential", options)
        setup = at if side is None else replace(at, places=_cell_centres(side))
        for epsilon in EPSILONS:
            rng = stream(name, label, epsilon)
            result = measure(setup, recipe, epsilon, repeats, rng, _uniform_in_cell(side, rng))
            rows.append({"experiment": name, "space": at.space, "method": label, "epsilon": epsilon} | result)
    return with_published(pd.DataFrame(rows), name, published)


def shared(eps: float, setup: Setup) -> np.ndarray:
    """Return the epsilon of each location if that of its trajectory is shared evenly."""
    return np.minimum(budget.per_location(eps, "trajectory", setup.lengths), LARGEST)


def _with_paper(frame: pd.DataFrame, setup: Setup) -> pd.DataFrame:
    """Add the published NGram below ours, with the same published figures."""
    added = ngram_as_published(frame["experiment"].iloc[0], setup)
    figures = frame[frame["method"] == "ngram"].set_index("epsilon")["published"]
    added["published"] = added["epsilon"].map(figures)
    return pd.concat([frame, added[frame.columns]], ignore_index=True)


def _near(setup: Setup, reports: np.ndarray, recipe: Recipe) -> np.ndarray:
    return setup.by_track(np.hypot(*((reports - setup.xy) * setup.scale).T) <= NEAR)


def _hotspot_statistic(setup: Setup, formula: bool) -> Statistic:
    visits = setup.public.nearest(setup.xy)
    places, first, counts = np.unique(visits, return_index=True, return_counts=True)
    spots = places[np.lexsort((first, -counts))[: int(HOT * len(places))]]

    def statistic(part: Setup, reports: np.ndarray, recipe: Recipe) -> np.ndarray:
        before, after = part.public.nearest(part.xy), part.public.nearest(reports)
        if formula:
            return metrics.hotspot_count_difference(before, after, part.offsets, spots)
        change = np.isin(after, spots).astype(int) - np.isin(before, spots)
        return np.abs(np.add.reduceat(change, part.offsets[:-1]))

    return statistic


def _cell_centres(side: int) -> Points:
    middles = (np.arange(side) + 0.5) / side
    return Points(np.array(np.meshgrid(middles, middles)).reshape(2, -1).T)


def _uniform_in_cell(side: int | None, rng: randomness.Source) -> Statistic:
    def statistic(setup: Setup, reports: np.ndarray, recipe: Recipe) -> np.ndarray:
        inside = 0 if side is None else (uniform(rng, len(reports)) - 0.5) / side
        return np.hypot(*(reports + inside - setup.xy).T)

    return statistic
