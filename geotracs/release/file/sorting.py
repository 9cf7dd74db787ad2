"""Sorting by trajectory and time, on disk: rows are dealt to files by ranges, and each file is sorted in memory."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

import geotracs.geo.tracks as frames
from geotracs.errors import InputError
from geotracs.io.progress import bar
from geotracs.io.streams import Source
from geotracs.release.file.counts import keys
from geotracs.release.file.release import read

SAMPLE = 2**12
"""From how many rows of each batch the ranges are chosen."""
MAX_RANGES = 64
"""How many ranges are open at a time, since a system may allow only a few hundred files; larger ones are split."""


@dataclass(frozen=True)
class Sorted(Source):
    """A source whose rows are sorted by trajectory, in an order of their own, and time, in temporary files."""

    folder: Path = field(default_factory=Path)
    ranges: list[int] = field(default_factory=list)
    batch: int = 0
    trajectory: str | None = None
    time: str | None = None

    def remove(self) -> None:
        """Remove the temporary files, which hold the original rows."""
        shutil.rmtree(self.folder)

    def pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield the rows of one range after another."""
        for number, rows in enumerate(self.ranges):
            part = _Range(**{**_known(self), "path": _file(self.folder, number), "rows": rows})
            if self.batch < rows < cast(int, self.rows):
                again = _deal(part, self.trajectory, self.time, part.path.with_suffix(""), self.batch)
                yield from again.pieces(schema)
                again.remove()
            else:
                table = pa.concat_tables([self.schema.empty_table(), *part.pieces(self.schema)]).unify_dictionaries()
                order = np.lexsort(_columns(table, self.trajectory, self.time)[::-1])
                yield table.take(pa.array(order)).select(schema.names)


@dataclass(frozen=True)
class _Range(Source):
    """A temporary file: a stream of Arrow's, of which nothing has to be held while it is written."""

    def pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield the rows in the order in which they were written."""
        with pa.OSFile(str(self.path)) as file, pa.ipc.open_stream(file) as stream:
            for batch in stream:
                yield pa.Table.from_batches([batch]).select(schema.names)


def sort_out_of_core(
    source: Source, trajectory: str | None, time: str | None, folder: Path, rows: int, progress: bool | None = None
) -> Sorted:
    """Return the source sorted; about ``rows`` rows are in memory at a time.

    Rows with equal times stay in their order. The rows of one trajectory and one time are never parted.
    """
    if trajectory is None and time is None:
        raise InputError("`sort` needs columns to sort by; give `trajectory`, `time` or both.")
    return _deal(source, trajectory, time, folder, rows, progress, check=True)


def _deal(
    source: Source,
    trajectory: str | None,
    time: str | None,
    folder: Path,
    rows: int,
    progress: bool | None = False,
    *,
    check: bool = False,
) -> Sorted:
    """Deal the rows to a file for each range; ``check`` them while they have the numbers that they have in the file."""
    folder.mkdir()
    limits, total = _limits(source, trajectory, time, rows, progress)
    ranges, first = np.zeros(len(limits) + 1, dtype=np.int64), 0
    with ExitStack() as stack, bar(total, progress, " rows", "Sorting") as advance:
        writers = [stack.enter_context(_writer(_file(folder, n), source.schema)) for n in range(len(ranges))]
        for table in source.tables(rows):
            if check:
                read(source, table, trajectory, time, first=first)
            which = np.searchsorted(limits, _rough(_columns(table, trajectory, time)), side="right")
            ranges += np.bincount(which, minlength=len(ranges))
            for number in np.unique(which):
                writers[number].write_table(table.filter(pa.array(which == number)).combine_chunks())
            first += len(table)
            advance(len(table))
    known = {**_known(source), "rows": first}
    known["index"] = source.index if isinstance(source.index, list) else []  # ranges are useless in another order
    return Sorted(**known, folder=folder, ranges=ranges.tolist(), batch=rows, trajectory=trajectory, time=time)


def _limits(
    source: Source, trajectory: str | None, time: str | None, rows: int, progress: bool | None
) -> tuple[np.ndarray, int]:
    """Return where the ranges end, so that each holds about half as many rows as may be in memory, and all rows."""
    samples, total = [], 0
    with bar(source.rows, progress, " rows", "Looking at the order") as advance:
        for table in source.tables(rows, [name for name in (trajectory, time) if name is not None]):
            some = np.linspace(0, len(table) - 1, min(SAMPLE, len(table))).astype(np.int64)
            samples.append(_rough(_columns(table.take(pa.array(some)), trajectory, time, total + some)))
            total += len(table)
            advance(len(table))
    ordered = np.sort(np.concatenate(samples))
    ranges = min(-(-2 * total // rows), MAX_RANGES)
    return np.unique(ordered[(np.arange(1, ranges) * len(ordered)) // ranges]), total


def _columns(
    table: pa.Table, trajectory: str | None, time: str | None, numbers: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for each row's trajectory, and its time; errors name rows by ``numbers``."""
    labels = np.zeros(len(table), dtype=np.uint64)
    if trajectory is not None:  # without the missing ones, which would make floats of integers
        there = table[trajectory].is_valid()
        labels[there.to_numpy()] = keys(table[trajectory].filter(there).to_pandas())
    if time is None:
        return labels, np.zeros(len(table))
    frame = table.select([time]).to_pandas()
    return labels, frames.times(frame if numbers is None else frame.set_axis(numbers), time)


def _rough(columns: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return numbers in the same order that numpy can search: complex ones go by the first part, then the other."""
    labels, times = columns
    return labels.astype(np.float64) + 1j * times.astype(np.float64)


def _writer(path: Path, schema: pa.Schema) -> pa.ipc.RecordBatchStreamWriter:
    return pa.ipc.new_stream(str(path), schema, options=pa.ipc.IpcWriteOptions(compression="lz4"))


def _known(source: Source) -> dict[str, Any]:
    return {name: getattr(source, name) for name in Source.__dataclass_fields__}


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number}.arrows"
