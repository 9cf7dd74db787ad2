"""dask-geopandas frames: what a release cost, computed where the partitions are, and ``.tracs`` (extra ``dask``)."""

import functools
from collections.abc import Iterable, Sequence
from typing import Any, cast

import dask
import dask_geopandas
import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.utility.metrics as measures
from geotracs.core.guarantee import Guarantee, recorded
from geotracs.errors import InputError, sealed
from geotracs.release.dask import bring_together, check_arguments, check_frame, release, some_rows
from geotracs.utility.compare import DISPLACEMENT, METRES, chosen_metrics, displacement, group_labels, result_columns
from geotracs.utility.sweep import Engine
from geotracs.utility.sweep import run as run_sweep

AT_ONCE = 16
"""How many partial results are joined at a time."""
FINE = 40
"""How many bits of a distance are left out when distances are counted: 12 are left, a relative error of 1.2e-4."""


@sealed
def compare(
    original: dask_geopandas.GeoDataFrame,
    perturbed: dask_geopandas.GeoDataFrame,
    *,
    metrics: str | Sequence[str] = DISPLACEMENT,
    by: str | None = None,
    within: Sequence[float] = measures.WITHIN,
) -> pd.Series | pd.DataFrame:
    """Summarise what the perturbation cost, as `geotracs.compare` does; computed at once.

    Only the metrics of single locations: "ae", "median", "p95", "max" and "rqp". The median and the 95th percentile are
    right to 0.02%. Only counts of distances leave the workers.
    """
    chosen = chosen_metrics(metrics)
    others = [name for name in chosen if name not in DISPLACEMENT]
    if others:
        raise InputError(
            f"On a dask frame `metrics` must be some of {list(DISPLACEMENT)}, got {others[0]!r}; for the others "
            "compute both frames, or some partitions of both, first."
        )
    within = np.atleast_1d(within).tolist()
    measures.summary(np.array([]), within)
    for frame in (original, perturbed):
        check_frame(frame)
    before, after = original.to_delayed(), perturbed.to_delayed()
    if len(before) != len(after):
        raise InputError(
            f"The frames have {len(before)} and {len(after)} partitions; compare a frame with its own release, and one "
            "that was shuffled with the shuffled original."
        )
    work, join = dask.delayed(_distances, pure=False), dask.delayed(_joined, pure=False)
    partial = [work(a, b, by, within) for a, b in zip(before, after, strict=True)]
    while len(partial) > 1:
        partial = [join(partial[first : first + AT_ONCE]) for first in range(0, len(partial), AT_ONCE)]
    groups = partial[0].compute()
    if by is None:
        values = _summary(groups.get(None, _Distances(len(within))), within)
        return pd.Series(values, name="metres" if METRES.issuperset(chosen) else "value")[
            result_columns(chosen, values)
        ]
    labels = pd.Index([np.nan if label is None else label for label in groups], name=by)
    table = pd.DataFrame([_summary(distances, within) for distances in groups.values()], index=labels)
    return table[result_columns(chosen, table.columns)]


@sealed
def sweep(ddf: dask_geopandas.GeoDataFrame, *args: Any, **kwargs: Any) -> pd.DataFrame:
    """Perturb with several methods and epsilons and say what each cost, as `geotracs.sweep` does; computed at once.

    Each release is computed and compared where its partitions are, and thrown away. ``shuffle`` is as for `perturb`;
    True brings the trajectories together for each release, so for a large frame do that first, into files.
    """
    check_frame(ddf)
    whole, shuffle = kwargs.get("trajectory"), kwargs.pop("shuffle", None)
    check_arguments(shuffle, kwargs.keys() - {"progress"})
    if whole is not None and shuffle is not None:
        ddf = bring_together(ddf, whole, shuffle, "sweep")
    each = functools.partial(release, shuffle=shuffle, whole=None if shuffle is None else whole, some=some_rows(ddf))
    return run_sweep(Engine(each, compare, functools.partial(each, ddf)), ddf, *args, **kwargs)


def promised(ddf: dask_geopandas.GeoDataFrame) -> Guarantee:
    """Return what a perturbed frame promises; the number of its locations is not known."""
    if not recorded(ddf._meta.attrs):
        raise InputError(
            "This lazy frame carries no record of a perturbation. Use the frame that perturb() returned. dask "
            "drops it when it reads files again; each of them has it: gpd.read_parquet(FILE).tracs.guarantee."
        )
    return Guarantee.from_attrs(ddf._meta.attrs)


class _Distances:
    """Counts of distances, which can be added."""

    def __init__(self, limits: int) -> None:
        self.count, self.total, self.largest = 0, 0.0, 0.0
        self.within = np.zeros(limits, dtype=np.int64)
        self.cells, self.counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    @classmethod
    def of(cls, metres: np.ndarray, within: list[float]) -> "_Distances":
        """Count distances, grouped by their first bits."""
        one = cls(len(within))
        one.count, one.total, one.largest = len(metres), float(metres.sum()), float(metres.max(initial=0))
        one.within = np.array([np.count_nonzero(metres <= limit) for limit in within], dtype=np.int64)
        one.cells, one.counts = np.unique(metres.view(np.int64) >> FINE, return_counts=True)
        return one

    def __add__(self, other: "_Distances") -> "_Distances":
        both = _Distances(len(self.within))
        both.count, both.total = self.count + other.count, self.total + other.total
        both.largest, both.within = max(self.largest, other.largest), self.within + other.within
        both.cells, which = np.unique(np.concatenate([self.cells, other.cells]), return_inverse=True)
        both.counts = np.bincount(which, np.concatenate([self.counts, other.counts])).astype(np.int64)
        return both

    def quantile(self, part: float) -> float:
        """Return approximately the distance below which this share of them lies, interpolated where needed."""
        position = part * (self.count - 1)
        first = np.floor(position)
        ranks = np.minimum([first, first + 1], self.count - 1)
        cells = self.cells[np.searchsorted(np.cumsum(self.counts), ranks, side="right")]
        low, high = ((cells + side << FINE).view(np.float64) for side in (0, 1))
        return float(np.interp(position % 1, [0, 1], np.minimum((low + high) / 2, self.largest)))


@sealed
def _distances(
    before: gpd.GeoDataFrame, after: gpd.GeoDataFrame, by: str | None, within: list[float]
) -> dict[Any, _Distances]:
    try:
        metres = displacement(before, after)
    except InputError as error:
        raise InputError(
            f"{error} (A release with shuffle=True has its rows in other partitions than the frame; compare it with "
            'ddf.shuffle(on=TRAJECTORY, shuffle_method="tasks").)'
        ) from None
    if by is None:
        return {None: _Distances.of(metres.to_numpy(), within)}
    labels = group_labels(before, after, by)
    groups = metres.groupby(labels, sort=False, dropna=False)
    # A missing label is None, which is the same wherever it comes from; NaN is not.
    return {
        None if pd.isna(cast(Any, label)) else label: _Distances.of(own.to_numpy(), within) for label, own in groups
    }


def _joined(partial: Iterable[dict[Any, _Distances]]) -> dict[Any, _Distances]:
    joined: dict[Any, _Distances] = {}
    for groups in partial:
        for label, distances in groups.items():
            joined[label] = joined[label] + distances if label in joined else distances
    return joined


def _summary(distances: _Distances, within: Sequence[float]) -> dict[str, float]:
    names = measures.summary(np.array([]), within)
    if distances.count == 0:
        return names
    numbers = [
        distances.total / distances.count,
        distances.quantile(0.5),
        distances.quantile(0.95),
        distances.largest,
        *(distances.within / distances.count),
    ]
    return {name: round(float(number), 3) for name, number in zip(names, numbers, strict=True)}
