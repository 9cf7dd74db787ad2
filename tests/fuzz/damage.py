"""What may have happened to a file before it is read."""

import contextlib
import gzip
import json
import math
import re
import shutil
import sqlite3
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.fuzz.private import Private

Rng = np.random.Generator
NUMBER = re.compile(rb"\d+\.\d{4,}")
ODD_NUMBERS = (b"NaN", b"inf", b"-Infinity", b"1e308", b"1e999", b"null", b'"%s"', b"", b"99999999999999999999")
ODD_FLOATS = (math.nan, math.inf, 1e308, -1e-308, 1e10)
ENDINGS = (".gpkg", ".geojson", ".geojsonl", ".shp", ".fgb", ".gml", ".gpx", ".kml", ".tab", ".mif", ".sqlite", ".csv",
           ".csv.gz", ".tsv", ".parquet", ".json", ".vrt", ".gmt", ".xml", ".txt", ".dbf", ".zip", "")  # fmt: skip


def damage(path: Path, private: Private, other: Path, rng: Rng) -> tuple[Path, str]:
    """Damage a file, or one that belongs to it, once; return where it is now and what was done.

    ``other`` is another file of the same kind, whose parts may be mixed up with this one's.
    """
    kinds = [_bytes] * 6 + [_sidecar, _ending]
    kinds += [_gzipped] * 3 if path.suffix == ".gz" else []
    kinds += [_sqlite] * 2 if path.suffix in (".gpkg", ".sqlite") else []
    kinds += [_parquet] * 3 if path.suffix == ".parquet" else []
    kinds += [_latin_dbf] * 2 if path.suffix == ".shp" else []
    return kinds[rng.integers(len(kinds))](path, private, other, rng)


def _bytes(path: Path, private: Private, other: Path, rng: Rng) -> tuple[Path, str]:
    victim = path
    if path.is_dir() or rng.random() < 0.25:
        victim = _one(sorted(p for p in path.parent.rglob("*") if p.is_file()), rng)
    data = victim.read_bytes()
    changed, what = _changed(data, private, rng)
    victim.write_bytes(changed)
    return path, f"{what} in {victim.name}"


def _changed(data: bytes, private: Private, rng: Rng) -> tuple[bytes, str]:
    """Damage bytes: as text where they are one, and as binary floats where they are not."""
    is_text = b"\0" not in data and bool(data)
    change = _one([*ANY, *(TEXT * 2 if is_text else [])], rng)
    if not is_text and rng.random() < 0.3:
        return _odd_float(data, private, rng), "odd float"
    return change(data, rng), change.__name__.strip("_").replace("_", " ")


def _truncated(data: bytes, rng: Rng) -> bytes:
    return data[: rng.integers(len(data) + 1)]


def _beginning_lost(data: bytes, rng: Rng) -> bytes:
    return data[rng.integers(len(data) + 1) :]


def _bits_flipped(data: bytes, rng: Rng) -> bytes:
    changed = bytearray(data)
    for at in rng.integers(max(len(data), 1), size=rng.integers(1, 6)) if data else []:
        changed[at] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _bytes_inserted(data: bytes, rng: Rng) -> bytes:
    at, new = int(rng.integers(len(data) + 1)), rng.bytes(int(rng.integers(1, 9)))
    return data[:at] + new + data[at:]


def _characters_inserted(data: bytes, rng: Rng) -> bytes:
    at = int(rng.integers(len(data) + 1))
    return (
        data[:at]
        + _one([b'"', b",", b"<", b"}", b"]", b"&", b"x", b"\xff", b"\n", b"\\", b"%s", b"-"], rng)
        + data[at:]
    )


def _bytes_zeroed(data: bytes, rng: Rng) -> bytes:
    at, length = int(rng.integers(len(data) + 1)), int(rng.integers(1, 200))
    return data[:at] + bytes(len(data[at : at + length])) + data[at + length :]


def _emptied(data: bytes, rng: Rng) -> bytes:
    return b""


def _tail_changed(data: bytes, rng: Rng) -> bytes:
    """Footers: of Parquet, of zip files, closing tags and brackets."""
    keep = max(len(data) - 64, 0)
    return data[:keep] + _bits_flipped(data[keep:], rng)


def _head_changed(data: bytes, rng: Rng) -> bytes:
    return _bits_flipped(data[:128], rng) + data[128:]


def _odd_float(data: bytes, private: Private, rng: Rng) -> bytes:
    """Replace an original coordinate, as a double, by one that is none."""
    order = _one("<>", rng)
    for value in rng.permutation(private.xy.ravel()):
        old = struct.pack(f"{order}d", value)
        if old in data:
            return data.replace(old, struct.pack(f"{order}d", _one(ODD_FLOATS, rng)), int(rng.integers(1, 3)))
    return _bits_flipped(data, rng)


def _line_deleted(data: bytes, rng: Rng) -> bytes:
    lines = data.splitlines(keepends=True)
    del lines[int(rng.integers(len(lines)))]
    return b"".join(lines)


def _lines_swapped(data: bytes, rng: Rng) -> bytes:
    lines = data.splitlines(keepends=True)
    one, other = (int(i) for i in rng.integers(len(lines), size=2))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _line_doubled(data: bytes, rng: Rng) -> bytes:
    lines = data.splitlines(keepends=True)
    at = int(rng.integers(len(lines)))
    return b"".join([*lines[: at + 1], *lines[at:]])


def _header_removed(data: bytes, rng: Rng) -> bytes:
    return b"".join(data.splitlines(keepends=True)[1:])


def _number_with_letters(data: bytes, rng: Rng) -> bytes:
    tail = _one([b"x", b"..", b".5.5", b"E", b"e+", b" N", b"\xc2\xb0", b"'"], rng)
    return _some_numbers(data, rng, lambda number: number + tail)


def _odd_number(data: bytes, rng: Rng) -> bytes:
    new = _one(ODD_NUMBERS, rng)
    return _some_numbers(data, rng, lambda number: new.replace(b"%s", number))


def _decimal_commas(data: bytes, rng: Rng) -> bytes:
    return NUMBER.sub(lambda found: found[0].replace(b".", b","), data)


def _delimiters_changed(data: bytes, rng: Rng) -> bytes:
    old = _one([b",", b"\t", b";", b" ", b"<", b'"', b":", b"\n"], rng)
    return data.replace(old, _one([b",", b"\t", b";", b" ", b"|", b""], rng), int(rng.choice([-1, 1, 5])))


def _other_encoding(data: bytes, rng: Rng) -> bytes:
    text = data.decode("utf-8", errors="replace")
    codec = _one(["utf-16", "utf-8-sig", "latin-1", "cp037", "utf-32"], rng)
    return text.encode(codec, errors="replace")


def _nested(data: bytes, rng: Rng) -> bytes:
    """Wrap numbers in more brackets, or the whole in many."""
    if rng.random() < 0.5:
        return _some_numbers(data, rng, lambda number: b"[[" + number + b"]]")
    depth = int(rng.choice([1, 40, 2000]))
    return b'{"a":[' * depth + data + b"]}" * depth


def _words_changed(data: bytes, rng: Rng) -> bytes:
    words = [
        b"Point",
        b"coordinates",
        b"geometry",
        b"Feature",
        b"person",
        b"lon",
        b"lat",
        b"pos",
        b"trkpt",
        b"time",
        b"t",
    ]
    return data.replace(
        _one(words, rng), _one([*words, b"name", b"address", b"LineString", b"GeometryCollection"], rng)
    )


def _nulls_and_marks(data: bytes, rng: Rng) -> bytes:
    return data.replace(_one([b"e", b"1", b" ", b"p"], rng), _one([b"\0", b"\xe9", b"\xef\xbb\xbf", b"&#0;"], rng), 3)


def _some_numbers(data: bytes, rng: Rng, change: Callable[[bytes], bytes]) -> bytes:
    found = list(NUMBER.finditer(data))
    for number in sorted(rng.permutation(len(found))[: rng.integers(1, 4)], reverse=True):
        start, end = found[number].span()
        data = data[:start] + change(data[start:end]) + data[end:]
    return data


def _sidecar(path: Path, private: Private, other: Path, rng: Rng) -> tuple[Path, str]:
    """Lose a file that belongs to this one, or take that of another."""
    others = sorted(p for p in path.parent.rglob("*") if p.is_file() and p != path)
    if not others:
        return _bytes(path, private, other, rng)
    victim = _one(others, rng)
    foreign = other.parent / victim.relative_to(path.parent)
    if rng.random() < 0.5 or not foreign.exists() or foreign.samefile(victim):
        victim.unlink()
        return path, f"{victim.name} lost"
    shutil.copy(foreign, victim)
    return path, f"{victim.name} of another file"


def _ending(path: Path, private: Private, other: Path, rng: Rng) -> tuple[Path, str]:
    if path.is_dir():
        return _bytes(path, private, other, rng)
    ending = _one(ENDINGS, rng)
    renamed = path.parent / (path.name.split(".")[0] + ending)
    path.replace(renamed)
    return renamed, f"named {ending or 'without ending'}"


def _gzipped(path: Path, private: Private, other: Path, rng: Rng) -> tuple[Path, str]:
    try:
        changed, what = _changed(gzip.decompress(path.read_bytes()), private, rng)
    except (OSError, EOFError, ValueError, zlib.error):
        return _bytes(path, private, other, rng)
    path.write_bytes(gzip.compress(changed))
    return path, f"{what} inside {path.name}"


def _sqlite(path: Path, private: Private, other: Path, rng: Rng) -> tuple[Path, str]:
    x, y = private.xy[0]
    statement = _one(SQL, rng).format(x=x, y=y)
    try:
        with sqlite3.connect(path) as base:
            for (trigger,) in base.execute("select name from sqlite_master where type = 'trigger'").fetchall():
                base.execute(f'drop trigger "{trigger}"')
            base.execute(statement)
        base.close()
    except sqlite3.Error:
        return _bytes(path, private, other, rng)
    return path, statement


SQL = [
    "update tracks set geom = 'POINT ({x} {y})' where rowid = 3",
    "update tracks set geom = name where rowid = 3",
    "update tracks set geom = substr(geom, 1, 20) where rowid = 3",
    "update tracks set geometry = 'POINT ({x} {y})' where rowid = 3",
    "update tracks set name = cast(x'5a6f652051757578ff' as text) where rowid = 3",
    "update tracks set t = address where rowid = 3",
    "update tracks set t = {x}",
    "update tracks set person = x'ff00'",
    "update gpkg_geometry_columns set srs_id = 99",
    "update gpkg_contents set data_type = 'Bogus'",
    "delete from gpkg_geometry_columns",
    "delete from gpkg_contents",
    "drop table gpkg_spatial_ref_sys",
    "drop table tracks",
    "alter table tracks rename column t to u",
]


def _parquet(path: Path, private: Private, other: Path, rng: Rng) -> tuple[Path, str]:
    """Change what a GeoParquet file says of itself, or the well-known binary in it."""
    try:
        table = pq.read_table(path)
        geo = json.loads(table.schema.metadata[b"geo"])
        table.schema.field("geometry")
    except (ValueError, OSError, KeyError, TypeError):
        return _bytes(path, private, other, rng)
    what = _one(sorted(GEO), rng)
    if what == "wkb" and pa.types.is_binary(table.schema.field("geometry").type):
        rows = [_bits_flipped(row, rng) if rng.random() < 0.1 else row for row in table["geometry"].to_pylist()]
        table = table.set_column(table.column_names.index("geometry"), "geometry", pa.array(rows, pa.binary()))
    if what == "text geometry":
        rows = [f"POINT ({x} {y})" for x, y in private.xy[: len(table)]]
        if len(rows) < len(table):  # reports, of which there are more
            return _bytes(path, private, other, rng)
        table = table.set_column(table.column_names.index("geometry"), "geometry", pa.array(rows))
        return _stored(path, table, geo, what)
    with contextlib.suppress(KeyError, TypeError, AttributeError):  # where a former damage was
        GEO[what](geo)
    return _stored(path, table, geo, what)


def _stored(path: Path, table: pa.Table, geo: object, what: str) -> tuple[Path, str]:
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, b"geo": json.dumps(geo)}), path)
    return path, f"parquet: {what}"


GEO: dict[str, Callable[[dict], object]] = {
    "wkb": lambda geo: None,
    "text geometry": lambda geo: None,
    "another encoding": lambda geo: geo["columns"]["geometry"].update(encoding="point"),
    "unknown encoding": lambda geo: geo["columns"]["geometry"].update(encoding="Bogus"),
    "no columns": lambda geo: geo.update(columns={}),
    "columns in a list": lambda geo: geo.update(columns=[]),
    "another column": lambda geo: geo.update(primary_column="name"),
    "crs of text": lambda geo: geo["columns"]["geometry"].update(crs="Bogus"),
    "crs of a number": lambda geo: geo["columns"]["geometry"].update(crs=139.7123456),
    "bbox of text": lambda geo: geo["columns"]["geometry"].update(bbox=["139.7123456", "a", "b", "c"]),
    "odd version": lambda geo: geo.update(version=1),
    "covering": lambda geo: geo["columns"]["geometry"].update(covering={"bbox": "name"}),
}


def _latin_dbf(path: Path, private: Private, other: Path, rng: Rng) -> tuple[Path, str]:
    """Store the table of a shapefile as Latin-1, beside a .cpg file that says UTF-8."""
    table = path.with_suffix(".dbf")
    if not table.exists():
        return _bytes(path, private, other, rng)
    data = table.read_bytes()
    table.write_bytes(data.replace("é".encode(), "é ".encode("latin-1")))  # of the same length
    path.with_suffix(".cpg").write_text("UTF-8")
    return path, "Latin-1 table that says UTF-8"


def _one(of: object, rng: Rng) -> object:
    return of[int(rng.integers(len(of)))]


ANY = [
    _truncated, _truncated, _beginning_lost, _bits_flipped, _bits_flipped, _bytes_inserted, _bytes_zeroed, _emptied,
    _tail_changed, _head_changed,
]  # fmt: skip
TEXT = [
    _characters_inserted, _line_deleted, _lines_swapped, _line_doubled, _header_removed, _number_with_letters,
    _number_with_letters, _odd_number, _odd_number, _decimal_commas, _delimiters_changed, _other_encoding, _nested,
    _words_changed, _nulls_and_marks,
]  # fmt: skip
