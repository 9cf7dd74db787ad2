"""Sorting by trajectory and time, on disk: rows are dealt to files by ranges, and each file is sorted in memory."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import geotracs.frames as frames
from geotracs.errors import InputError
from geotracs.streaming.counts import keys
from geotracs.streaming.sources import Source

SAMPLE = 2**12
"""From how many rows of each batch the ranges are chosen."""


@dataclass(frozen=True)
class Sorted(Source):
    """A source whose rows are sorted by trajectory, in an order of their own, and time; temporary files beside it."""

    folder: Path = field(default_factory=Path)
    ranges: int = 0
    trajectory: str | None = None
    time: str | None = None

    def remove(self) -> None:
        """Remove the temporary files, which hold the original rows."""
        shutil.rmtree(self.folder)

    def _read(self, schema: pa.Schema) -> Iterator[pa.Table]:
        for number in range(self.ranges):
            table = pq.read_table(_file(self.folder, number), columns=None)
            order = np.lexsort(_columns(table, self.trajectory, self.time)[::-1])
            yield table.take(pa.array(order)).select(schema.names).cast(schema)


def sort_out_of_core(source: Source, trajectory: str | None, time: str | None, folder: Path, rows: int) -> Sorted:
    """Return the source sorted; about ``rows`` rows are in memory at a time.

    Rows with equal times stay in their order. The rows of one trajectory and one time are never parted.
    """
    columns = [name for name in (trajectory, time) if name is not None]
    if not columns:
        raise InputError("`sort` needs columns to sort by; give `trajectory`, `time` or both.")
    folder.mkdir()
    limits = _limits(source, trajectory, time, rows)
    writers = [pq.ParquetWriter(_file(folder, number), source.schema) for number in range(len(limits) + 1)]
    try:
        for table in source.tables(rows):
            which = np.searchsorted(limits, _rough(_columns(table, trajectory, time)), side="right")
            for number in np.unique(which):
                writers[number].write_table(table.filter(pa.array(which == number)))
    finally:
        for writer in writers:
            writer.close()
    known = {name: getattr(source, name) for name in Source.__dataclass_fields__}
    known["index"] = source.index if isinstance(source.index, list) else []  # a range says nothing in another order
    return Sorted(**known, folder=folder, ranges=len(writers), trajectory=trajectory, time=time)


def _limits(source: Source, trajectory: str | None, time: str | None, rows: int) -> np.ndarray:
    """Return where the ranges end, so that each holds about half as many rows as may be in memory."""
    samples, total = [], 0
    for table in source.tables(rows, [name for name in (trajectory, time) if name is not None]):
        some = np.linspace(0, len(table) - 1, min(SAMPLE, len(table))).astype(np.int64)
        samples.append(_rough(_columns(table.take(pa.array(some)), trajectory, time)))
        total += len(table)
    ordered = np.sort(np.concatenate(samples))
    ranges = -(-2 * total // rows)
    return np.unique(ordered[(np.arange(1, ranges) * len(ordered)) // ranges])


def _columns(table: pa.Table, trajectory: str | None, time: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for each row's trajectory, and its time."""
    labels = np.zeros(len(table), dtype=np.uint64)
    if trajectory is not None:  # without the missing ones, which would make floats of integers
        there = table[trajectory].is_valid()
        labels[there.to_numpy()] = keys(table[trajectory].filter(there).to_pandas())
    times = np.zeros(len(table)) if time is None else frames.times(table.select([time]).to_pandas(), time)
    return labels, times


def _rough(columns: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return numbers in the same order that numpy can search: complex ones go by the first part, then the other."""
    labels, times = columns
    return labels.astype(np.float64) + 1j * times.astype(np.float64)


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number}.parquet"
