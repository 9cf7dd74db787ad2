"""A folder of GeoParquet released by the workers of a dask cluster. Needs the extra ``dask``.

The rows are dealt out by row groups. Each worker streams its parts, as `perturb_file` streams a file, and writes a
file for each; the plan, the key, counts and some first rows are all that the caller holds.
"""

import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import dask
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pyarrow as pa
import pyproj
import shapely
from dask.delayed import Delayed

import geotracs.io.streams as streams
import geotracs.io.wkb as wkb
import geotracs.release.plan as plans
from geotracs.core.guarantee import Guarantee
from geotracs.core.randomness import Key
from geotracs.errors import InputError, sealed
from geotracs.geo.originals import Originals, some_coordinates
from geotracs.io.formats import FOLDERS, Writing
from geotracs.io.formats.parquet import PART
from geotracs.io.progress import bar
from geotracs.io.streams import Held, Source, Stream
from geotracs.io.troubles import told
from geotracs.release.budgets import differ
from geotracs.release.charging import Account, Bill, Rule, Share
from geotracs.release.file.counts import Counts, keys
from geotracs.release.file.release import Release, contents, first_rows, keys_of, layout_of, read
from geotracs.release.file.survey import Survey, bill
from geotracs.release.file.tally import Tally
from geotracs.release.request import Request

BATCH = 2**18
"""How many rows a worker reads at a time."""
PATIENCE = 10
"""How many seconds a scheduler has to answer."""
ROW, TO = "__row__", "__to__"
"""Columns that a shuffle adds for itself: the number of a row in the file, and the part that it goes to."""
LOST = (distributed.scheduler.KilledWorker, distributed.client.FutureCancelledError)


def release(
    source: Source,
    target: Path,
    account: Account,
    client: distributed.Client,
    writing: Writing,
    progress: bool | None,
    record: dict[str, Any],
) -> Guarantee:
    """Write the release of a source to a folder, and return what it promises; see `geotracs.perturb_file`."""
    request = account.request
    target.mkdir()
    _check_workers(client, source.path, target)
    sample = first_rows(source, request)
    sample.attrs["tracs"] = record  # which says how its rows were prepared
    parts = _Parts.of(source, client)
    data = Originals(cast(pyproj.CRS, source.crs), some_coordinates(sample.geometry), parts.each, source.bounds)
    survey = parts.survey(request, progress) if request.sharing.shares or differ(request) else None
    counted = survey.lengths if survey is not None and request.sharing.shares else None
    plan = plans.make(
        request,
        sample,
        data=data,
        lengths=np.array([1]) if counted is None else counted.all(),
        budgets=None if survey is None else survey.budgets(),
    )
    plan.prepare(progress)
    along = plan.recipe.sequential or not (plan.budgets is None or plan.budgets.allocation.even)
    once = request.ledger is not None and request.sharing.shares  # parts of one thing would be charged several times
    if once and not request.sharing.by_trajectory:
        raise InputError("A ledger charges people once, wherever their rows are: leave out `client` with this `unit`.")
    work = parts.together(request, plan.recipe.name, progress) if along or once else parts
    bills = work.bills(request, progress)
    key = account.key(plan, None if bills is None else sum(bills, start=Bill()))
    lines = bool(sample.geom_type.eq("LineString").any())
    rule = None if bills is None else Rule.of(request)
    shares = [Share(rule, own.digest) for own in bills] if bills else [Share()] * len(work.inputs)
    tally = Tally(whole=False)
    for own in work.run(plan, counted, shares, key, lines, target, writing, progress=progress):
        tally += own
    for other in target.parent.iterdir():  # what a worker began to write that was lost
        if other != target:
            other.unlink()
    FOLDERS.write_common(target, layout_of(source, plan, lines=lines), tally.summary(plan), writing)
    return tally.guarantee(plan)


@dataclass(frozen=True, repr=False)
class _Part:
    """Some of the rows, which a worker reads where it is: row groups of files."""

    source: Source
    first: int

    def read(self) -> Source:
        """Return the rows; few enough are held in memory."""
        if (self.source.rows or 0) > PART:
            return self.source
        with closing(self.source.tables(max(self.source.rows or 0, 1))) as tables:
            return _held(self.source, next(tables))


@dataclass(frozen=True, repr=False)
class _Moved:
    """Some of the rows that were brought together by a shuffle."""

    source: Source
    frame: pd.DataFrame
    first: int = 0

    def read(self) -> Source:
        """Return the rows in the order of the file."""
        table = pa.Table.from_pandas(self.frame.sort_values(ROW), preserve_index=False)
        return _held(self.source, table.select(self.source.schema.names).cast(self.source.schema))


def _held(source: Source, table: pa.Table) -> Source:
    known = {name: getattr(source, name) for name in Source.__dataclass_fields__}
    return Held(**known | {"rows": len(table)}, table=table)


@dataclass(frozen=True, repr=False)
class _Parts:
    """The rows of a source, dealt out to workers.

    Attributes
    ----------
    inputs : sequence
        Parts, or what will be one when it is computed.
    """

    source: Source
    client: distributed.Client
    inputs: Sequence[Any]

    @classmethod
    def of(cls, source: Source, client: distributed.Client) -> "_Parts":
        """Deal out a source."""
        found, first = [], 0
        for part in source.split(PART):
            found.append(_Part(part, first))
            first += part.rows or 0
        return cls(source, client, found or [_Part(source, 0)])

    def each(self, work: Callable[[np.ndarray], np.ndarray]) -> Iterator[np.ndarray]:
        """Apply a function of coordinates to every part."""
        yield from self._compute([dask.delayed(_applied, pure=False)(part, work) for part in self.inputs])

    def survey(self, request: Request, progress: bool | None) -> Survey:
        """Count, on the workers."""
        asked, total = _plain(request), Survey(request)
        tasks = [dask.delayed(_surveyed, pure=False)(part, asked) for part in self.inputs]
        for own in self._compute(tasks, progress, "Counting"):
            total.include(own)
        return total

    def bills(self, request: Request, progress: bool | None) -> list[Bill] | None:
        """Return what each part costs; None without a ledger."""
        if request.ledger is None:
            return None
        if not all(isinstance(part, _Part) for part in self.inputs):
            raise InputError(
                "With a ledger, rows are not shuffled, since they would have to be charged before that: write the "
                "folder by trajectory first, as the documentation says, or use method='joint'."
            )
        rule, asked = Rule.of(request), _plain(request)
        tasks = [dask.delayed(_billed, pure=False)(part, asked, rule) for part in self.inputs]
        return list(self._compute(tasks, progress, "Charging"))

    def together(self, request: Request, method: str, progress: bool | None) -> "_Parts":
        """Return parts that hold whole trajectories: the files as they are, or the rows shuffled on disk."""
        column = request.trajectory
        if column is None:
            if len(self.inputs) > 1:
                raise InputError(
                    f"{method} looks along trajectories, and without a trajectory column all points are one, which is "
                    "not dealt out; give `trajectory`, or leave out `client`."
                )
            return self
        tasks = [dask.delayed(_labels, pure=False)(part, column, request.time) for part in self.inputs]
        labels, in_order = zip(*self._compute(tasks, progress, "Looking at the order"), strict=True)
        parts = [self._joined(group) for group in _groups(list(labels))]
        # Larger ones are streamed, which takes rows in order; but not all by one worker.
        large = all(in_order) and len(parts) >= len(self.client.ncores())
        if large or all((part.source.rows or 0) <= PART for part in parts):
            return replace(self, inputs=parts)
        return self._shuffled(column)

    def _joined(self, group: slice) -> _Part:
        some = self.inputs[group]
        return _Part(streams.chained([part.source for part in some]), some[0].first)

    def _shuffled(self, column: str) -> "_Parts":
        """Return the rows in parts of whole trajectories, by dask's shuffle through the disks of the workers."""
        rows = sum(part.source.rows or 0 for part in self.inputs)
        count = max(1, -(-2 * rows // PART))
        meta = _framed(self.source.schema.empty_table(), 0, column, count)
        frame = dd.from_map(_rows, list(self.inputs), column=column, count=count, meta=meta, enforce_metadata=False)
        shuffled = frame.shuffle(on=TO, npartitions=count, shuffle_method="p2p")
        return replace(
            self, inputs=[dask.delayed(_Moved, pure=False)(self.source, part) for part in shuffled.to_delayed()]
        )

    def run(
        self, plan: plans.Plan, counted: Counts | None, shares: list[Share], *given: Any, progress: bool | None
    ) -> Iterator[Tally]:
        """Release every part; what is ``given`` are the other arguments of `_released`."""
        label = f"tracs-file-{uuid.uuid4().hex}"
        shared = dask.delayed(plan, name=f"{label}-plan", traverse=False)
        counts = dask.delayed(counted, name=f"{label}-counts", traverse=False)
        work = dask.delayed(_released, pure=False)
        # The key goes into each task, not into a task of its own, whose result a worker could write to its disk.
        tasks = [
            work(part, number, share, shared, counts, *given)
            for number, (part, share) in enumerate(zip(self.inputs, shares, strict=True))
        ]
        return self._compute(tasks, progress, "Perturbing")

    def _compute(self, tasks: list[Delayed], progress: bool | None = False, what: str = "") -> Iterator[Any]:
        """Yield results in their order; when one fails, the others are stopped before its error is raised."""
        futures = self.client.compute(tasks)
        try:
            with bar(len(tasks), progress, " parts", what) as advance:
                for future in futures:
                    yield future.result()
                    advance(1)
        except LOST as error:
            raise InputError(
                f"Workers were lost while they worked on a part ({type(error).__name__}): perhaps they ran out of "
                "memory; give them more, or use fewer threads each."
            ) from None
        finally:
            left = [future for future in futures if not future.done()]
            self.client.cancel(left)
            _wait_for_idle(self.client, left)


@sealed
def _released(
    part: _Part | _Moved,
    number: int,
    share: Share,
    plan: plans.Plan,
    counted: Counts | None,
    key: Key,
    lines: bool,
    folder: Path,
    writing: Writing,
) -> Tally:
    """Write the release of a part, under its name only when it is complete: the same whenever it is done."""
    source = part.read()
    with told(source.path, "perturbed"):
        # A report that is repeated depends on the person and the cell, whichever part a row is in.
        own = key if plan.repeat is not None else key.part(number, contents(source, plan))
        rows = max(source.rows or 0, 1) if isinstance(source, Held) else BATCH
        release = Release(source, plan, own, rows, lines, counted, 1, int, share, first=part.first, whole=False)
    record = plan.guarantee(None, None).to_attrs()  # the same in all files
    name = folder / f"part.{number:05d}.parquet"
    begun = folder.parent / f"{name.stem}.{uuid.uuid4().hex}.parquet"
    with told(name, "written"), closing(release.tables()) as tables:
        stream = Stream(release.layout, tables, lambda: replace(release.tally.summary(plan), record=record))
        FOLDERS.write_stream(stream, begun, writing)
        os.replace(begun, name)
    return release.tally


@sealed
def _applied(part: _Part, work: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    source = part.read()
    found = []
    with closing(source.tables(BATCH, [source.geometry])) as tables:
        for table in tables:
            shapes = source.decode(table)
            found.append(
                shapely.get_coordinates(wkb.geometries(table[source.geometry])) if shapes is None else shapes.xy
            )
    xy = np.concatenate(found)
    return work(xy[np.isfinite(xy).all(axis=1)])


@sealed
def _surveyed(part: _Part, request: Request) -> Survey:
    return Survey.of(part.source, request, BATCH, False, first=part.first)


@sealed
def _billed(part: _Part, request: Request, rule: Rule) -> Bill:
    return cast(Bill, bill(part.source, Share(rule).meter(), request, BATCH, False))


@sealed
def _labels(part: _Part, column: str, time: str | None) -> tuple[np.ndarray, bool]:
    """Return the keys of the trajectories of a part, and whether its rows are in order."""
    source, found, in_order = part.source, [], True
    with closing(source.tables(BATCH, [source.geometry, column, time])) as tables:
        for number, table in enumerate(tables):
            tracks = read(source, table, column, time, first=part.first + number * BATCH)
            in_order = in_order and tracks.grouped().order is None
            found.append(cast(np.ndarray, keys_of(tracks, table, column)))
    return np.unique(np.concatenate(found)), in_order


def _groups(labels: list[np.ndarray]) -> list[slice]:
    """Return runs of parts that share trajectories with no other part.

    >>> [(run.start, run.stop) for run in _groups([np.array([1, 2]), np.array([2, 3]), np.array([4])])]
    [(0, 2), (2, 3)]
    """
    which = np.repeat(np.arange(len(labels)), [len(own) for own in labels])
    _, code = np.unique(np.concatenate(labels), return_inverse=True)
    last = np.zeros(code.max(initial=-1) + 1, dtype=np.int64)
    np.maximum.at(last, code, which)
    reach = np.arange(len(labels))
    np.maximum.at(reach, which, last[code])
    ends = np.flatnonzero(np.maximum.accumulate(reach) == np.arange(len(labels))) + 1
    return [slice(begin, end) for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]


@sealed
def _rows(part: _Part, column: str, count: int) -> pd.DataFrame:
    """Return the rows of a part as a shuffle moves them: still as Arrow has them."""
    with closing(part.source.tables(max(part.source.rows or 0, 1))) as tables:
        return _framed(next(tables), part.first, column, count)


def _framed(table: pa.Table, first: int, column: str, count: int) -> pd.DataFrame:
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    labels = keys(table[column].to_pandas()) if len(table) else np.zeros(0, dtype=np.uint64)
    frame[ROW], frame[TO] = np.arange(first, first + len(table)), (labels % np.uint64(count)).astype(np.int64)
    return frame


def _plain(request: Request) -> Request:
    """Return what tasks may know of a request: neither the seed nor the ledger."""
    return replace(request, rng=None, ledger=None, data=None)


def _about(paths: list[Path]) -> tuple[str, tuple[int, int], list[bool]]:
    """Say what a worker is, and which paths it sees."""
    import geotracs

    return geotracs.__version__, sys.version_info[:2], [path.exists() for path in paths]


def _check_workers(client: distributed.Client, src: Path, target: Path) -> None:
    """Raise unless all workers have the same geotracs, and see the files."""
    client.wait_for_workers(1, timeout=30)
    found = client.run(_about, [src.resolve(), target.resolve()], on_error="return")
    failed = [type(one).__name__ for one in found.values() if isinstance(one, BaseException)]
    if failed:
        raise InputError(
            f"{len(failed)} of {len(found)} workers cannot load geotracs ({failed[0]}): install geotracs[dask] there, "
            "in the same version as here."
        )
    here = _about([])
    for version, python, seen in found.values():
        if (version, python) != here[:2]:
            raise InputError(
                f"A worker runs geotracs {version} with Python {python[0]}.{python[1]}, but here it is {here[0]} with "
                f"{here[1][0]}.{here[1][1]}: install the same everywhere."
            )
        if not all(seen):
            path = (src, target.parent.parent)[seen.index(False)]
            raise InputError(f"A worker does not see {str(path)!r}: use a folder that all of them and you share.")


def _wait_for_idle(client: distributed.Client, futures: list[Any]) -> None:
    """Wait until workers have stopped what was cancelled, so that nothing is written any more."""
    names = {future.key for future in futures}
    while names & {key for running in client.processing().values() for key in running}:
        time.sleep(0.1)


@contextmanager
def connected(address: str) -> Iterator[distributed.Client]:
    """Yield a client of a scheduler, or raise if there is none at the address."""
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError):
        raise InputError(
            f"There is no dask scheduler at {address!r}, or it cannot be reached from here; give the address that "
            "it shows when it starts, such as tcp://10.0.0.1:8786."
        ) from None
    with client:
        yield client
