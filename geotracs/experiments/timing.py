"""What a location costs in time, and how that grows with the number of places."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from geotracs.core.places import Points
from geotracs.experiments.cities import city
from geotracs.experiments.discrete import DISCRETE
from geotracs.experiments.published import MILLISECONDS
from geotracs.experiments.setups import Recipe, Setup, stream, uniform

EPSILON = 4.0
LOCATIONS = 20_000
"""Locations in one call of a method whose cost does not grow with the places..."""
WORK = 2e7
"""...and locations times places in one call of the others, so that each takes about a second."""
SIZES = (1_000, 10_000, 100_000)
GROWING = {label: DISCRETE[label] for label in ("tracs-c", "tracs-d", "ngram", "atp")}
"""By the book, and without L-SRR: calibration looks once at pairs of places."""


def time_table(data: str | Path, *, recipes: Mapping[str, Recipe] = DISCRETE, repeats: int = 2) -> pd.DataFrame:
    """Return milliseconds per location over Tokyo's places, in one run on one machine (the paper's Table 3).

    TraCS includes the rounding to a place, L-SRR its calibration over the places. All methods are vectorised here, so
    that the comparison is between methods and not between ways of writing Python.
    """
    setup = city(data, "tky")
    rows = [
        {"method": label, "published": MILLISECONDS.get(label), "ours": _milliseconds(setup, label, recipe, repeats)}
        for label, recipe in recipes.items()
    ]
    frame = pd.DataFrame(rows).assign(experiment="time-table", space="tky", places=setup.public.count)
    return frame.assign(times_tracs_c=frame["ours"] / frame.loc[frame["method"] == "tracs-c", "ours"].iloc[0])


def growth(*, sizes: Sequence[int] = SIZES, recipes: Mapping[str, Recipe] = GROWING, repeats: int = 2) -> pd.DataFrame:
    """Return milliseconds per location by the number of places, which are uniform in the unit square.

    TraCS draws in constant time and looks the nearest place up in a tree, in logarithmic time. The exponential
    mechanism of ngram and atp scores every place for every location, so its time grows with their number.
    """
    rows: list[dict[str, Any]] = []
    for places in sizes:
        xy = uniform(stream("growth", places), places)
        at = xy[:LOCATIONS]
        setup = Setup(
            f"{places:,} places", at, np.unique(np.append(np.arange(0, len(at), 100), len(at))), places=Points(xy)
        )
        for label, recipe in recipes.items():
            rows.append({"space": setup.space, "method": label, "places": places})
            rows[-1]["ours"] = _milliseconds(setup, label, recipe, repeats)
    return pd.DataFrame(rows).assign(experiment="growth")


def _milliseconds(setup: Setup, label: str, recipe: Recipe, repeats: int) -> float:
    """Return the best of several calls, per location, after one that compiles and warms up."""
    most = LOCATIONS if recipe.name.startswith("tracs") else int(WORK / setup.public.count)
    tracks = max(1, int(np.searchsorted(setup.offsets, most, side="right")) - 1)
    end = setup.offsets[: tracks + 1]
    if recipe.name.startswith("tracs"):
        times = max(1, LOCATIONS // end[-1])
        part = next(replace(setup, xy=setup.xy[: end[-1]], offsets=end).parts(times))
    else:
        part = replace(setup, xy=setup.xy[: end[-1]], offsets=end)
    seconds = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        part.reports(recipe, EPSILON, stream("timing", label))
        seconds.append(time.perf_counter() - begin)
    return 1000 * min(seconds[1:]) / len(part.xy)
