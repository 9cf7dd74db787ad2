"""What epsilon costs: perturb many times, keep the numbers, throw the frames away."""

import functools
import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.core.budget as budget
import geotracs.core.notions as notions
import geotracs.core.randomness as randomness
import geotracs.geo.tracks as frames
import geotracs.utility.metrics as metrics
from geotracs.core.methods import METHODS
from geotracs.errors import InputError, quoted, sealed, warn
from geotracs.io.progress import bar
from geotracs.release.frame import release
from geotracs.release.request import Request
from geotracs.utility.compare import compare

EPSILONS, CHOSEN = (1, 2, 4, 6, 8, 10), ("joint", "tracs-c", "tracs-d")
"""What is tried unless something else is asked for."""
ONE_FOR_ALL = ("eps", "rng", "progress", "workers", "shuffle")
"""Arguments that a variant cannot have of its own."""


@sealed
def sweep(
    gdf: gpd.GeoDataFrame,
    eps: Sequence[float] = EPSILONS,
    methods: Sequence[str] | Mapping[str, str | Mapping[str, Any]] = CHOSEN,
    repeats: int = 5,
    *,
    within: Sequence[float] = metrics.WITHIN,
    rng: int | np.random.Generator | None = None,
    progress: bool | None = None,
    **arguments: Any,
) -> pd.DataFrame:
    """Perturb a frame with several methods and epsilons, several times each, and say what each cost.

    **For your eyes.** The result is computed from the original locations: it is not covered by the guarantee, and
    choosing epsilon by it tells a little about the data. The perturbed frames are thrown away. Were several of them
    published, their epsilons would add up; release one, from one call of `perturb`.

    Parameters
    ----------
    gdf : GeoDataFrame
        As for `perturb`. Never changed.
    eps : sequence of float
        Privacy parameters to try.
    methods : sequence of str, or dict
        Names of methods; or a label for each variant, and the name of its method or arguments of `perturb` of its own,
        e.g. ``{"D, corner": {"method": "tracs-d", "start": "corner"}}``.
    repeats : int
        How often each is drawn.
    within : sequence of float
        Distances in metres for range-query preservation; see `compare`.
    rng : None, int or numpy Generator
        One source for all repeats; see `perturb`.
    progress : bool, optional
        Show a progress bar; by default in a terminal or notebook.
    **arguments
        Other arguments of `perturb`, for every variant: ``domain``, ``trajectory``, ``time``, ``unit``, ...

    Returns
    -------
    DataFrame
        A row for each method, epsilon and repeat, with the numbers of `compare` in metres: the input of
        `geotracs.plots.error_curve`.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> table = sweep(city.tracks, [2, 8], repeats=3, domain=city.boundary, trajectory="person", time="t")
    >>> len(table), list(table.columns[:5])
    (18, ['method', 'epsilon', 'repeat', 'ae', 'median'])
    >>> mean = table.groupby("epsilon")["ae"].mean()
    >>> bool(mean[2] > mean[8])
    True
    """
    each = functools.partial(release, workers=arguments.pop("workers", None))
    frames.check(gdf)
    engine = Engine(each, compare, functools.partial(each, gdf.iloc[:0]))
    return run(engine, gdf, eps, methods, repeats, within=within, rng=rng, progress=progress, **arguments)


class Engine(NamedTuple):
    """How frames of some kind are perturbed and compared, and a request tried without a draw."""

    release: Callable[[Any, Request], Any]
    compare: Callable[..., pd.Series | pd.DataFrame]
    check: Callable[[Request], Any]


def run(
    engine: Engine,
    gdf: Any,
    eps: Sequence[float] = EPSILONS,
    methods: Sequence[str] | Mapping[str, str | Mapping[str, Any]] = CHOSEN,
    repeats: int = 5,
    *,
    within: Sequence[float] = metrics.WITHIN,
    rng: int | np.random.Generator | None = None,
    progress: bool | None = None,
    **arguments: Any,
) -> pd.DataFrame:
    """Sweep over frames of any kind; see `sweep`."""
    eps = _epsilons(eps)
    if isinstance(repeats, bool) or not isinstance(repeats, Integral) or repeats < 1:
        raise InputError(f"`repeats` must be a whole number of at least 1, got {quoted(repeats)}.")
    within = np.atleast_1d(within).tolist()
    metrics.summary(np.array([]), within)
    variants = _variants(max(eps), methods, {"keep": [], **arguments})
    with warnings.catch_warnings(action="ignore"):  # they will come up again
        source = None if rng is None else randomness.source(rng)
        for request in variants.values():  # nothing is drawn if a request is invalid
            engine.check(request)
    rows, said = [], set()
    combinations = list(itertools.product(variants, eps, range(1, repeats + 1)))
    with bar(len(combinations), progress, " releases", "Trying") as advance:
        for label, epsilon, repeat in combinations:
            perturbed = _released(engine, gdf, replace(variants[label], eps=epsilon, rng=source), said)
            cost = engine.compare(gdf, perturbed, within=within)
            kind = notions.label(variants[label].recipe.privacy)
            rows.append({"method": label, "epsilon": epsilon, "repeat": repeat, **cost, "privacy": kind})
            advance(1)
    return pd.DataFrame(rows)


def _epsilons(eps: Any) -> list[float]:
    values = [budget.check_eps(value) for value in np.atleast_1d(np.asarray(eps, dtype=object)).tolist()]
    if not values or len(set(values)) < len(values):
        raise InputError("`eps` must hold at least one value, and none twice.")
    return values


def _variants(eps: float, methods: Any, arguments: dict[str, Any]) -> dict[str, Request]:
    """Return the request of each label."""
    if "method" in arguments:
        raise InputError('`method` is for one release; give `methods`, e.g. methods=["tracs-c"].')
    if "ledger" in arguments:
        raise InputError("`ledger` is for one release; a sweep tries many, and none of them may leave your hands.")
    if isinstance(methods, str):
        methods = [methods]
    if not isinstance(methods, Mapping):
        methods = {name: name for name in methods}
    if not methods:
        raise InputError(f"`methods` must hold at least one of {sorted(METHODS)}.")
    variants = {}
    for label, own in methods.items():
        own = dict(own) if isinstance(own, Mapping) else {"method": own}
        for name in ONE_FOR_ALL:
            if name in own:
                raise InputError(f"`{name}` is for the whole sweep, not for the variant {label!r}.")
        variants[str(label)] = Request.of(eps, **{**arguments, **own})
    return variants


def _released(engine: Engine, gdf: Any, request: Request, said: set[str]) -> Any:
    """Make a release, and pass on only the warnings that were not said before."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        perturbed = engine.release(gdf, request)
    for warning in caught:
        if str(warning.message) not in said:
            said.add(str(warning.message))
            warn(str(warning.message), warning.category)
    return perturbed
