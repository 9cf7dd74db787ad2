"""The record of a release in a small file beside it, for formats that cannot hold it: private.csv.tracs.json."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geotracs.errors import InputError
from geotracs.io.formats.base import Format
from geotracs.io.siblings import RECORD

LARGEST = 2**26
"""How many bytes a record has at most; one with embedded layers may be large."""


def beside(path: Path) -> Path:
    """Return where the record of a file is, if its format cannot hold it.

    >>> beside(Path("private.csv")).name
    'private.csv.tracs.json'
    """
    return path.with_name(path.name + RECORD)


def write(path: Path, kind: Format, record: Mapping[str, Any] | None) -> None:
    """Write the record of a file that was just written, unless its format holds it or there is none."""
    if record and not kind.keeps_record:
        known = dict(record) if kind.exact else {name: own for name, own in record.items() if name != "digest"}
        beside(path).write_text(json.dumps(known, indent=1), encoding="utf-8")


def read(path: Path, kind: Format) -> dict[str, Any]:
    """Return the record beside a file; empty if there is none, or if its format holds one itself."""
    own = beside(path)
    if kind.keeps_record or not os.path.isfile(own):
        return {}
    try:
        record = json.loads(own.read_text(encoding="utf-8")) if own.stat().st_size <= LARGEST else None
    except (OSError, ValueError):
        record = None
    if not isinstance(record, dict):
        raise InputError(f"{str(own)!r} is not the record of a release; put it right, or remove it to read without.")
    return record
