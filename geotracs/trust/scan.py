"""Search files for original coordinates, in whatever way a format may store them.

The bytes of a file are looked at as they are and unpacked: gzip, zip, hexadecimal and base64 runs, and every column and
all metadata of a Parquet or Arrow file. In each of these a coordinate is looked for as decimal text of at least
`MANY_DIGITS` significant digits, as a double, as a single (rounded either way) and as a whole number of 1e-6 or 1e-7
degrees. Forms of four bytes, and text of at least `FEW_DIGITS` digits, count only where x and y of a location are near
each other: among 10^4 numbers of six digits some equal those of an original by chance.
"""

import base64
import binascii
import gzip
import io
import json
import math
import re
import struct
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FEW_DIGITS, MANY_DIGITS = 6, 8
INFINITE = np.float32(np.inf)
NEAR = 32
"""Within how many bytes of x the y of the same location is looked for: two doubles of 17 digits are that far apart."""
NUMBER = re.compile(rb"(?<!\d)\d+(?:\.\d+)?")
HEXADECIMAL = re.compile(rb"[0-9A-Fa-f]{32,}")
BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}={0,2}")
APART = bytes([255]) * 32
"""Between pieces that are looked at together."""


@dataclass(frozen=True)
class Found:
    """An original that a file holds: where, in which form, and the number of the location."""

    path: Path
    form: str
    row: int


def originals_in(folder: Path, originals: np.ndarray, released: np.ndarray, skip: tuple[Path, ...] = ()) -> list[Found]:
    """Return the originals that the files of a folder hold.

    Forms that a released coordinate has, too, are no evidence and not looked for. A released location that *is* an
    original is another matter; see `same_locations`.
    """
    needles = _Needles(originals, released)
    found = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p not in skip):
        for view in filter(None, views(path)):
            for form, row in needles.search(view):
                found[path, form, row] = Found(path, form, row)
    return list(found.values())


def same_locations(originals: np.ndarray, released: np.ndarray) -> int:
    """Return how many released locations equal an original to six decimals.

    Chance: at most n * n * exp(eps) * (2e-6 / 38) ** 2, that is 4e-10 for 50 locations at epsilon 4 in a region of 38
    degrees or more.
    """
    if not len(originals) or not len(released):
        return 0
    return int((np.abs(released[:, None] - originals[None]).max(axis=2) < 1e-6).any(axis=1).sum())


def views(path: Path) -> Iterator[bytes]:
    """Return the bytes of a file, and what they unpack to."""
    data = path.read_bytes()
    for part in [data, *_unzipped(data), *_arrow(path, data)]:
        yield part
        if b"\0" in part:
            yield part.replace(b"\0", b"")  # text in UTF-16 and UTF-32
        yield from _spelled_out(part)


def _unzipped(data: bytes) -> Iterator[bytes]:
    if data[:2] == b"\x1f\x8b":
        try:
            yield gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            yield zlib.decompressobj(31).decompress(data)
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield from (archive.read(name) for name in archive.namelist())


def _spelled_out(data: bytes) -> Iterator[bytes]:
    """Return what hexadecimal and base64 runs say, wherever in them a location begins."""
    runs = HEXADECIMAL.findall(data)
    for start in range(2):
        yield APART.join(binascii.unhexlify(run[start : start + (len(run) - start) // 2 * 2]) for run in runs)
    runs = BASE64.findall(data)
    for start in range(4):
        yield APART.join(base64.b64decode(run[start : start + (len(run) - start) // 4 * 4]) for run in runs)


def _arrow(path: Path, data: bytes) -> Iterator[bytes]:
    """Return every column of a Parquet or Arrow file, and all that is said of them."""
    try:
        if data[:4] == b"PAR1":
            file = pq.ParquetFile(io.BytesIO(data))
            yield _footer(file.metadata)
            yield from _columns(file.read())
        elif path.suffix == ".arrows":
            with pa.ipc.open_stream(data) as stream:
                yield from _columns(pa.Table.from_batches(_readable(stream), stream.schema))
    except (pa.ArrowException, OSError):
        return  # of a file that a stopped run left, only the bytes can be looked at


def _readable(stream: pa.RecordBatchReader) -> list[pa.RecordBatch]:
    """Return the batches before the place where a file was cut short."""
    batches = []
    try:
        for batch in stream:
            batches.append(batch)
    except (pa.ArrowException, OSError):
        pass
    return batches


def _columns(table: pa.Table) -> Iterator[bytes]:
    for column in table.columns:
        values = column.to_pylist()
        yield APART.join(v if isinstance(v, bytes) else json.dumps(v, default=str).encode() for v in values)


def _footer(metadata: pq.FileMetaData) -> bytes:
    said = [key + b"=" + value for key, value in (metadata.metadata or {}).items()]
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            statistics = metadata.row_group(group).column(number).statistics
            if statistics is not None and statistics.has_min_max:
                said += [v if isinstance(v, bytes) else str(v).encode() for v in (statistics.min, statistics.max)]
    return b"\n".join(said)


class _Needles:
    """Forms of originals: those that are evidence by themselves, and those of x that are with a form of y near them."""

    def __init__(self, originals: np.ndarray, released: np.ndarray) -> None:
        self._forms: dict[bytes, list[tuple[str, int, list[bytes]]]] = defaultdict(list)
        taken = {form for value in released.ravel() for _, form in _long_forms(float(value))}
        for row, location in enumerate(originals):
            for name, form in (of for value in location for of in _long_forms(float(value))):
                if form not in taken:
                    self._forms[form].append((name, row, [b""]))
            xs, ys = (_short_forms(float(value)) for value in location)
            for name in xs.keys() & ys.keys():
                for form in xs[name]:
                    self._forms[form].append((name, row, ys[name]))
        self._words = {size: _words(b"".join(f for f in self._forms if len(f) == size), size) for size in (4, 8)}

    def search(self, data: bytes) -> Iterator[tuple[str, int]]:
        """Return the forms and rows that are in some bytes."""
        for size, shift in [(4, start) for start in range(4)] + [(8, start) for start in range(8)]:
            for word in np.flatnonzero(np.isin(_words(data[shift:], size), self._words[size])):
                yield from self._at(data, shift + size * int(word), size)
        for number in NUMBER.finditer(data):
            for length in (FEW_DIGITS + 1, MANY_DIGITS + 1, len(number[0])):
                yield from self._at(data, number.start(), length)

    def _at(self, data: bytes, start: int, length: int) -> Iterator[tuple[str, int]]:
        around = data[max(start - NEAR, 0) : start + NEAR]
        for name, row, ys in self._forms.get(data[start : start + length], []):
            if any(y in around for y in ys):
                yield name, row


def _words(data: bytes, size: int) -> np.ndarray:
    return np.frombuffer(data[: len(data) // size * size], f"<u{size}")


def _long_forms(value: float) -> Iterator[tuple[str, bytes]]:
    """Return forms that are too long to be there by chance: doubles, and digits where a number begins."""
    yield "double", struct.pack("<d", value)
    yield "double", struct.pack(">d", value)
    yield from (("text", form) for form in _texts(value, MANY_DIGITS))


def _texts(value: float, digits: int) -> list[bytes]:
    """Return the first digits of a coordinate, cut off and rounded."""
    decimals = digits - len(str(int(abs(value))))
    tried = (rounding(abs(value) * 10**decimals) / 10**decimals for rounding in (math.floor, round))
    return [f"{number:.{decimals}f}".encode() for number in tried]


def _short_forms(value: float) -> dict[str, list[bytes]]:
    """Return forms that a coordinate may share with something else: few digits, singles, and whole numbers."""
    single = np.float32(value)
    singles = {float(number) for number in (single, np.nextafter(single, -INFINITE), np.nextafter(single, INFINITE))}
    forms = {f"single {order}": [struct.pack(f"{order}f", number) for number in singles] for order in "<>"}
    forms["short text"] = _texts(value, FEW_DIGITS)
    for scale in (10**6, 10**7):
        numbers = {math.floor(value * scale), round(value * scale)}
        forms[f"digits of 1/{scale}"] = [str(number).encode() for number in numbers]
        for kind in ("<i", ">i", "<q", ">q"):
            if "q" in kind or max(map(abs, numbers)) < 2**31:
                forms[f"integer {kind} of 1/{scale}"] = [struct.pack(kind, number) for number in numbers]
    return forms
