"""Spark data frames: the same plan, applied to Arrow batches on the executors. Needs the extra ``spark``."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyproj

import geotracs.io.tables as tables
import geotracs.io.wkb as wkb
import geotracs.release.lazy as lazy
import geotracs.release.pace as paces
import geotracs.release.plan as plans
from geotracs.core.guarantee import Guarantee
from geotracs.core.randomness import Key, source
from geotracs.errors import InputError, MissingExtraError, quoted, sealed
from geotracs.geo.originals import Originals, evenly
from geotracs.io.streams import Held, Source
from geotracs.release.budgets import differ
from geotracs.release.charging import Share
from geotracs.release.file.release import SAMPLE, Release, contents, first_rows
from geotracs.release.request import Request

try:
    import pyspark.sql.functions as functions
    from pyspark.sql import DataFrame
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import BinaryType, StructField, StructType
    from pyspark.taskcontext import TaskContext
except ModuleNotFoundError as error:
    raise MissingExtraError(f'{error.name} is missing: Spark needs pip install "geotracs[spark]".') from None

CHUNK = 2**17
"""How many rows of a partition are released at a time; whatever the batches are that Spark sends."""
ROW = "__row__"
"""The column that keeps rows in their order while they are brought together."""


@sealed
def perturb(
    df: DataFrame,
    eps: float,
    method: str = "joint",
    *,
    geometry: str = "geometry",
    input_crs: Any = "EPSG:4326",
    keep: str | Sequence[str] | None = None,
    rng: int | np.random.Generator | None = None,
    **arguments: Any,
) -> DataFrame:
    """Report every location of a Spark data frame, lazily, as `geotracs.perturb` does.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        With points or lines as well-known binary, as Sedona's ``ST_AsBinary`` gives them. It must hold the same rows in
        the same order whenever it is computed, as one read from files does: a chunk of rows that changed is drawn anew,
        which is another release of it.
    eps, method, keep, rng
        As for `geotracs.perturb`; ``eps`` is a number.
    geometry : str
        The column of the locations.
    input_crs
        Their CRS.
    **arguments
        The other arguments of `geotracs.perturb`. A ``domain`` is required.

    Returns
    -------
    pyspark.sql.DataFrame
        The trajectory, the time and the kept columns, with the reports as well-known binary. It is one release: it has
        the same locations whenever it is computed, also where a task is run again. `guarantee` reads its record, which
        is in the metadata of the geometry column and stays in Parquet files.

    Notes
    -----
    The call takes some first rows to the driver. A method that looks along a trajectory, and a unit that shares an
    epsilon, bring trajectories (or people) together by a shuffle of Spark's; rows are then in the order of these. The
    key of the draws travels in the closure of the tasks: whoever reads the memory of executors can undo the release.
    """
    _check_frame(df, geometry)
    request = Request.of(eps, method, keep=keep, rng=rng, **arguments)
    lazy.check(request, "Spark")
    lazy.check_every_row(request, "perturb_file, or a dask frame")
    _check_request(request)
    taken = tables.take(df.limit(SAMPLE).toArrow(), geometry, input_crs)
    plan = plans.make(request, first_rows(taken, request), data=_originals(df, taken), lengths=np.array([1]))
    plan.prepare()
    key, column = Key.fresh(source(request.rng)), _together(request, plan)
    lines = taken.are_lines()
    held = Held(taken.path, taken.schema, taken.geometry, taken.crs, None, None)
    work = _Work(plan, key, held, lines, column)
    df = df.select(*taken.schema.names)
    if column is not None:
        parts = int(cast(str, df.sparkSession.conf.get("spark.sql.shuffle.partitions")))
        df = df.withColumn(ROW, functions.monotonically_increasing_id())
        df = df.repartition(parts, column).sortWithinPartitions(column, ROW).select(*taken.schema.names)
    record = plan.guarantee(None, None).to_attrs()
    paces.warn_of(record.get("risk"))
    private = df.mapInArrow(work, _schema(df, work))
    return private.withMetadata(geometry, {"tracs": json.dumps(record)})


def guarantee(df: DataFrame, geometry: str = "geometry") -> Guarantee:
    """Return what a release promises, also after it was written to Parquet and read again."""
    stored = df.schema[geometry].metadata.get("tracs")
    if stored is None:
        raise InputError(f"The column {geometry!r} has no record of a release of geotracs.")
    return Guarantee.from_attrs({"tracs": json.loads(stored)})


@dataclass(frozen=True, repr=False)
class _Work:
    """What is done to each partition; ``column`` says what stays in one chunk."""

    plan: plans.Plan
    key: Key
    source: Source
    lines: bool
    column: str | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the release of a partition: the same whenever it is computed."""
        partition = cast(Any, TaskContext.get()).partitionId()
        for number, table in enumerate(_chunks(batches, self.source.schema, self.column)):
            yield from self._released(table, partition * 2**32 + number).to_batches()

    def release(self, table: pa.Table, number: int) -> Release:
        """Return the release of a chunk."""
        known = {name: getattr(self.source, name) for name in Source.__dataclass_fields__} | {"rows": len(table)}
        held, plan = Held(**known, table=table), self.plan
        # A report that is repeated depends on the person and the cell, whichever chunk a row is in.
        key = self.key if plan.repeat is not None else self.key.part(number, contents(held, plan))
        rows = max(len(table), 1)
        return Release(held, plan, key, rows, self.lines, None, 1, int, Share(), whole=False)

    def _released(self, table: pa.Table, number: int) -> pa.Table:
        release = self.release(table, number)
        return pa.concat_tables([release.layout.schema.empty_table(), *release.tables()]).unify_dictionaries()


def _chunks(batches: Iterator[pa.RecordBatch], schema: pa.Schema, column: str | None) -> Iterator[pa.Table]:
    """Join batches to chunks; with a ``column`` by which they are sorted, each of its values is in one chunk."""
    waiting = schema.empty_table()
    for batch in batches:
        waiting = pa.concat_tables([waiting, pa.Table.from_batches([batch]).select(schema.names).cast(schema)])
        while len(waiting) > CHUNK:
            cut = CHUNK if column is None else _last_begins(waiting[column])
            if cut == 0:
                break
            yield waiting.slice(0, cut)
            waiting = waiting.slice(cut)
    if len(waiting):
        yield waiting


def _last_begins(labels: pa.ChunkedArray) -> int:
    """Return where the rows of the last value begin."""
    last = labels[-1]
    return 0 if not last.is_valid else max(int(pc.index(labels, last).as_py()), 0)


def _schema(df: DataFrame, work: _Work) -> StructType:
    """Return the schema of a release, in Spark's words."""
    known = {field.name: field for field in df.schema}
    layout = work.release(work.source.schema.empty_table(), 0).layout
    fields = [
        StructField(own.name, known[own.name].dataType if own.name in known else from_arrow_type(own.type))
        for own in layout.schema
    ]
    return StructType(fields)


def _originals(df: DataFrame, taken: tables.Taken) -> Originals:
    """Return what is known of the locations; anything beyond the first rows takes a pass."""
    name, shapes = taken.geometry, taken.decode(taken.whole)
    xy = np.empty((0, 2)) if shapes is None else shapes.xy
    xy = xy[np.isfinite(xy).all(axis=1)]

    def each(function: Callable[[np.ndarray], np.ndarray]) -> Iterator[np.ndarray]:
        for batch in df.select(name).toLocalIterator():
            found = wkb.decode(pa.array([batch[0]], pa.binary()))
            if found is not None:
                yield function(found.xy)

    return Originals(cast(pyproj.CRS, taken.crs), xy[evenly(len(xy), 1000)], each, None)


def _check_frame(df: Any, geometry: str) -> None:
    if not isinstance(df, DataFrame):
        raise InputError(f"The frame must be a pyspark.sql.DataFrame, got a {type(df).__name__}.")
    if geometry not in df.columns:
        raise InputError(f"There is no column {quoted(geometry)}; give `geometry`, one of {df.columns}.")
    kind = df.schema[geometry].dataType
    if not isinstance(kind, BinaryType):
        raise InputError(
            f"The column {geometry!r} must hold well-known binary, got {kind.simpleString()}; of Sedona's geometries "
            "make it with ST_AsBinary."
        )


def _check_request(request: Request) -> None:
    """Raise for what is not there for Spark."""
    if differ(request):
        raise InputError("On Spark `eps` is one number, shared evenly if at all; use perturb_file for others.")
    if request.ledger is not None:
        raise InputError("A ledger does not charge Spark frames; use perturb_file, which does, or ledger.charge.")


def _together(request: Request, plan: plans.Plan) -> str | None:
    """Return the column whose rows must be in one part."""
    if not (request.sharing.shares or plan.recipe.sequential):
        return None
    column = request.sharing.column if request.sharing.shares else request.trajectory
    if column is None:
        raise InputError(
            f"{plan.recipe.name} looks along trajectories, or they share epsilon: give the column `trajectory`."
        )
    return column
