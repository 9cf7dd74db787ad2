"""dask-geopandas frames: the same plan, applied to each partition where it is. Needs the extra ``dask``."""

import uuid
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, cast

import dask
import dask.dataframe as dd
import dask_geopandas
import geopandas as gpd
import numpy as np
import pandas as pd
from dask.dataframe.utils import clear_known_categories

import geotracs.core.randomness as randomness
import geotracs.geo.columns as columns_
import geotracs.geo.leaks as leaks
import geotracs.geo.tracks as frames
import geotracs.release.budgets as budgets
import geotracs.release.fills as fills
import geotracs.release.lazy as lazy
import geotracs.release.pace as paces
import geotracs.release.plan as plans
import geotracs.release.timetable as timetables
from geotracs.core.budget import LARGEST, STEPS, Levels, round_down
from geotracs.errors import InputError, quoted, sealed
from geotracs.geo.originals import Originals, coordinates, evenly, some_coordinates
from geotracs.geo.region import Region
from geotracs.geo.schedule import FILLED
from geotracs.release.charging import Account, Bill, Meter, Rule
from geotracs.release.file.counts import keys
from geotracs.release.request import Request


@sealed
def perturb(
    ddf: dask_geopandas.GeoDataFrame,
    eps: float | str,
    method: str = "joint",
    *,
    shuffle: bool | None = None,
    rng: int | np.random.Generator | None = None,
    **arguments: Any,
) -> dask_geopandas.GeoDataFrame:
    """Report every location of a dask frame, lazily, as `geotracs.perturb` does; each partition is processed by itself.

    Parameters
    ----------
    ddf : dask_geopandas.GeoDataFrame
        Points or lines with a CRS. Its partitions must hold the same rows in the same order whenever they are computed,
        as those read from files do: a partition that changed is drawn anew, which is another release of it.
    eps, method, rng
        As for `geotracs.perturb`.
    shuffle : bool, optional
        For a method that looks along a trajectory and for ``unit="trajectory"``, each trajectory must be in one
        partition, and each person for a unit of people. True brings them together by that column, which sends the
        original rows between workers. False says that they are together already, which is checked at once: the column
        is read for it.
    **arguments
        The other arguments of `geotracs.perturb`. A ``domain`` is required. ``workers`` and ``progress`` are dask's.

    Returns
    -------
    dask_geopandas.GeoDataFrame
        Same index, columns, CRS and, unless shuffled, divisions; without spatial partitions. It is one release: it
        gives the same locations whenever and wherever it is computed. Its record does not know how many there are.

    Notes
    -----
    The call reads a few partitions at once, until one of them holds locations, to warn of ``keep`` as
    `geotracs.perturb` does; up to 10,000 of its rows are sent to the caller. All partitions are read at once only if
    that one gives a reason to: if its locations are places of ``round_to`` or ``prior``, or if all bounds of ``domain``
    have so many digits that they may be those of the locations, which the spatial partitions of the frame, if they
    are known, say without a pass. A column of epsilons is read at once, too, to raise for invalid values.

    With a ``ledger`` all partitions are read at once, and charged by this call. A partition that is not the same when
    it is computed raises.

    The call draws one key. It lives in the graph of the frame, so whoever has the graph, or can read the memory of the
    scheduler and the workers, can undo the perturbation. It is never shown.
    """
    check_frame(ddf)
    check_arguments(shuffle, arguments.keys())
    private = release(ddf, Request.of(eps, method, rng=rng, **arguments), shuffle=shuffle)
    paces.warn_of(private._meta.attrs["tracs"].get("risk"))
    return private


def release(
    ddf: dask_geopandas.GeoDataFrame,
    request: Request,
    *,
    shuffle: bool | None = None,
    whole: str | None = None,
    some: gpd.GeoDataFrame | None = None,
) -> dask_geopandas.GeoDataFrame:
    """Return the lazy release of a dask frame; see `perturb`.

    ``whole`` is the column whose trajectories are known to be in one partition each, and ``some`` are rows.
    """
    lazy.check(request, "dask")
    some = some_rows(ddf) if some is None else some
    some.attrs = ddf._meta.attrs or some.attrs  # which say how its rows were prepared
    own, data = _budgets(ddf, request), _originals(ddf, some)
    table = timetables.make(request, some, data)
    if table is not None:
        some = table.reduced(some, table.rows(some))
    record = None if table is None else table.to_record()
    plan = plans.make(request, some, data=data, lengths=np.array([1]), budgets=own, schedule=record)
    if request.sharing.shares:  # nobody knows how many locations share an epsilon, and so how far off a report is
        plan = replace(plan, pace=None)
    together, column = plan.recipe.sequential or request.sharing.shares or table is not None, _together(request)
    # Lines are whole by themselves, and points without a trajectory raise when they are read.
    if together and column is not None and column != whole:
        ddf = bring_together(ddf, column, shuffle, plan.recipe.name)
    account = Account(request, "partitions")
    bills = _bills(ddf, request, table)
    key = account.key(plan, None if bills is None else sum(bills, start=Bill()))
    account.finish()  # the frame is one release from now on, whenever it is computed
    charged = None if bills is None else Charged(Rule.of(request), [bill.digest for bill in bills])
    return _released(ddf, plan, key, together, charged, table)


def _together(request: Request) -> str | None:
    """Return the column whose rows must be in one partition: of trajectories, or of people who share an epsilon."""
    return request.trajectory if request.sharing.by_trajectory else request.sharing.column


@dataclass(frozen=True, repr=False)
class Charged:
    """What a ledger was charged for: the digests of all partitions."""

    rule: Rule
    digests: list[bytes]

    def check(self, part: gpd.GeoDataFrame, number: int) -> None:
        """Raise if a partition is not the one that was charged."""
        if _bill(part, self.rule, None).digest != self.digests[number]:
            raise InputError(
                f"Partition {number} does not hold the rows that were charged to the ledger, so that it is not "
                "released; read it from files, or call perturb again."
            )


def _bills(ddf: dask_geopandas.GeoDataFrame, request: Request, table: timetables.Timetable | None) -> list[Bill] | None:
    """Return what each partition costs; None without a ledger."""
    meter = Account(request).meter()
    if meter is None:
        return None
    columns_.check(ddf._meta, meter.columns)
    work, rule = dask.delayed(_bill, pure=False), Rule.of(request)
    return list(dask.compute(*[work(part, rule, table) for part in ddf.to_delayed()]))


@sealed
def _bill(part: gpd.GeoDataFrame, rule: Rule, table: timetables.Timetable | None) -> Bill:
    """Return what a partition costs, or what is reported of it."""
    meter = Meter(rule)
    part = part if table is None else table.reduced(part, table.rows(part))
    meter.add(part, frames.read(part, rule.trajectory, rule.time, grouped=False))
    return meter.bill()


def _released(
    ddf: dask_geopandas.GeoDataFrame,
    plan: plans.Plan,
    key: randomness.Key,
    together: bool,
    charged: Charged | None,
    table: timetables.Timetable | None,
) -> dask_geopandas.GeoDataFrame:
    """Return the lazy release: a task for each partition."""
    meta, record = ddf._meta, {"tracs": plan.guarantee(None, None).to_attrs()}
    label = f"tracs-perturb-{uuid.uuid4().hex}"
    shared = dask.delayed(plan, name=f"{label}-plan", traverse=False)
    work = dask.delayed(_partition, pure=False)
    divisions, parts = ddf.divisions, ddf.to_delayed()
    if len(parts) != len(divisions) - 1:  # dask joined small files
        divisions = (None,) * (len(parts) + 1)
    columns = [*meta.columns]
    known = dask.delayed(table, name=f"{label}-schedule", traverse=False)
    # The key goes into each task, not into a task of its own, whose result a worker could write to its disk.
    released = [
        work(part, shared, key, number, columns, together, record, charged, known, dask_key_name=f"{label}-{number}")
        for number, part in enumerate(parts)
    ]
    private = clear_known_categories(plan.apply(meta, plan.read(meta), key))
    if table is not None and table.schedule.fill is not None:
        private[FILLED] = np.zeros(len(private), dtype=bool)
    private.attrs = record
    return dd.from_delayed(released, meta=private, divisions=divisions, verify_meta=False)


def _budgets(ddf: dask_geopandas.GeoDataFrame, request: Request) -> budgets.Budgets | None:
    """Return the epsilons of a dask frame; a column of them is read at once."""
    if not budgets.differ(request):
        return None
    column = request.budget_column
    if column is None:
        ends, levels = np.array([request.eps]), Levels(np.array([request.eps]))
    else:
        columns_.check(ddf._meta, [column])
        look = dask.delayed(_column, pure=False)
        parts = ddf[[column, ddf._meta.active_geometry_name]].to_delayed()
        found = dask.compute(*[look(part, column) for part in parts])
        budgets.raise_for(sum(counts for counts, _, _ in found), column)
        ends = np.concatenate([own for _, own, _ in found])
        levels = sum((own for _, _, own in found), start=Levels(np.empty(0)))
    if request.sharing.shares:  # whose lengths are not known, and so all levels are rounded down
        levels = Levels(np.unique(round_down(levels.values, STEPS[0])), STEPS[0])
    return budgets.of_levels(request, ends, levels)


def _column(part: gpd.GeoDataFrame, column: str) -> tuple[np.ndarray, np.ndarray, Levels]:
    """Return how many epsilons of a partition are wrong, the smallest and the largest, and the levels."""
    shapes = part.geometry
    numbers = budgets.read(part[column], ~(shapes.isna() | shapes.is_empty).to_numpy(), column)
    right = numbers[(numbers > 0) & (numbers < LARGEST)]
    ends = np.array([right.min(), right.max()]) if len(right) else right
    return budgets.troubles(numbers), ends, Levels.of(right)


def check_frame(ddf: Any) -> None:
    """Raise if this is not a dask frame with an active geometry and a CRS."""
    if not isinstance(ddf, dask_geopandas.GeoDataFrame):
        raise InputError(f"The frame must be a dask_geopandas.GeoDataFrame, got {type(ddf).__name__}.")
    frames.check(ddf._meta, "dask frame")


def check_arguments(shuffle: Any, names: Set[str]) -> None:
    """Raise for arguments that have no meaning for a dask frame."""
    for name in ("workers", "progress", "sort", "batch_rows"):
        if name in names:
            raise InputError(f"`{name}` has no meaning for a dask frame; leave it out.")
    if shuffle not in (None, True, False):
        raise InputError(f"`shuffle` must be True, False or None, got {quoted(shuffle)}.")


def some_rows(ddf: dask_geopandas.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return rows of the first partition with locations; no rows without one, or if it will be rejected."""
    look = dask.delayed(_evenly, pure=False)
    for part in ddf.to_delayed():
        rows = look(part).compute()
        if not isinstance(rows, gpd.GeoDataFrame) or list(rows.columns) != list(ddf.columns) or rows.crs != ddf.crs:
            break
        if not (rows.geometry.isna() | rows.geometry.is_empty).all():
            return rows
    return ddf._meta


def _evenly(part: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    return part.iloc[evenly(len(part), leaks.ROWS)]


def _originals(ddf: dask_geopandas.GeoDataFrame, some: gpd.GeoDataFrame) -> Originals:
    """Return what is known of the locations of a dask frame; anything beyond some rows takes a pass."""
    work = dask.delayed(_work, pure=False)

    def each(function: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, ...]:
        return dask.compute(*[work(part, function) for part in ddf.to_delayed()])

    boxes = ddf.spatial_partitions
    bounds = None if boxes is None else tuple(boxes.total_bounds)
    return Originals(ddf.crs, some_coordinates(some.geometry), each, bounds)


def _work(part: gpd.GeoDataFrame, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    known = isinstance(part, gpd.GeoDataFrame)  # anything else raises when it is perturbed
    return function(coordinates(part.geometry) if known else np.empty((0, 2)))


def bring_together(ddf: Any, trajectory: str, shuffle: bool | None, name: str) -> dask_geopandas.GeoDataFrame:
    """Return the frame with whole trajectories in its partitions."""
    if shuffle is None:
        raise InputError(
            f"{name} needs each trajectory in one partition, and so does unit='trajectory'. Use shuffle=True to bring "
            f"them together by {trajectory!r}, which sends rows between workers, or shuffle=False if they are already."
        )
    if shuffle:
        return _shuffled(ddf, trajectory)
    # At once: were it a part of the graph, all partitions would wait in memory for it.
    labels = dask.delayed(_labels, pure=False)
    _check_whole(dask.compute(*[labels(part) for part in ddf[trajectory].to_delayed()]), trajectory)
    return ddf


def _shuffled(ddf: Any, trajectory: str) -> dask_geopandas.GeoDataFrame:
    columns_.check(ddf._meta, [trajectory])
    ddf = ddf.map_partitions(_check_kind, trajectory, _shuffled_as(ddf._meta[trajectory]), meta=ddf._meta)
    # By tasks: the other ways leave the rows of a partition in an order that differs from run to run.
    return ddf.shuffle(on=trajectory, shuffle_method="tasks")


def _check_kind(part: gpd.GeoDataFrame, trajectory: str, kind: tuple[str, bool]) -> gpd.GeoDataFrame:
    """Raise for labels of another type than the frame declares: dask would not bring equal ones together."""
    if len(part) and _shuffled_as(part[trajectory]) != kind:
        raise InputError(_not_alike(trajectory))
    return part


def _shuffled_as(column: pd.Series) -> tuple[str, bool]:
    """Return the type of labels as dask sees it, with numbers of one type, and whether they are categories."""
    kind = "number" if pd.api.types.is_numeric_dtype(column) else _kind(column)
    return kind, isinstance(column.dtype, pd.CategoricalDtype)


def _kind(column: pd.Series) -> str:
    """Return the kind of the labels: equal labels of one kind have the same key."""
    labels = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
    if pd.api.types.is_integer_dtype(labels):
        return "integer"
    texts = pd.api.types.is_object_dtype(labels) or pd.api.types.is_string_dtype(labels)
    return "text" if texts else str(labels.dtype)


def _not_alike(trajectory: str) -> str:
    return (
        f"The trajectory column {trajectory!r} is not of the same type in all partitions, or not of the one that the "
        "frame says, so that equal labels are not recognised; make it alike first, e.g. with astype in map_partitions."
    )


def _labels(column: pd.Series) -> tuple[str, np.ndarray]:
    """Return the kind of the labels of a partition, and their keys, which are comparable only within a kind."""
    return _kind(column), np.unique(keys(column.dropna().drop_duplicates()))


def _check_whole(partitions: Sequence[tuple[str, np.ndarray]], trajectory: str) -> None:
    if len({kind for kind, own in partitions if len(own)}) > 1:
        raise InputError(_not_alike(trajectory))
    _, counts = np.unique(np.concatenate([own for _, own in partitions]), return_counts=True)
    parted = np.count_nonzero(counts > 1)
    if parted:
        raise InputError(
            f"{parted} trajectories of {trajectory!r} are spread over several partitions; use shuffle=True to bring "
            "them together."
        )


@sealed
def _partition(
    part: gpd.GeoDataFrame,
    plan: plans.Plan,
    key: randomness.Key,
    number: int,
    columns: list[str],
    together: bool,
    record: dict[str, Any],
    charged: Charged | None,
    table: timetables.Timetable | None,
) -> gpd.GeoDataFrame:
    """Return the release of one partition: the same whenever it is computed."""
    if list(part.columns) != columns:
        raise InputError(
            f"Partition {number} has the columns {[str(c) for c in part.columns]}, but the frame says {columns}; make "
            "them alike first."
        )
    frames.check(part, f"partition {number}")
    if part.crs != cast(Region, plan.region).data_crs:
        raise InputError(f"Partition {number} is in another CRS than the frame says; use to_crs on it first.")
    every, rows = part, None if table is None else table.rows(part)
    if table is not None and rows is not None:
        part = table.reduced(part, rows)
    if charged is not None:
        charged.check(part, number)
    tracks = plan.read(part)
    one_trajectory = plan.trajectory is None and (plan.recipe.sequential or plan.sharing.by_trajectory)
    if together and one_trajectory and len(tracks.xy) and not tracks.are_lines:
        raise InputError(
            "Without a trajectory column all points are one trajectory, which partitions cut; give `trajectory`."
        )
    own = plan.own(part, tracks)
    others = [values for values in (tracks.counts, tracks.units, own) if values is not None]
    contents = [tracks.xy, tracks.codes, *others]
    # A report that is repeated depends on the person and the cell, whichever partition a row is in.
    own_key = key if plan.repeat is not None else key.part(number, *contents)
    private = plan.apply(part, tracks, own_key, workers=1)
    private.attrs = record
    if table is not None and rows is not None and table.schedule.fill is not None:
        return fills.in_frame(every, private, rows, plan, table)
    return private
