"""How a table of text is written: what stands between its columns, its decimal mark and its encoding."""

import codecs
import csv
import gzip
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from geotracs.errors import InputError, quoted

SEPARATORS = (",", ";", "\t", "|")
NAMED = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}
"""Separators that are hard to type on a command line."""
SAMPLE = 2**16
"""How many bytes are looked at."""
MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))
"""How a file begins that says its encoding, as Excel writes it."""
EXACT: dict[str, Any] = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
"""What makes older versions of pandas read the numbers that were written, to the last bit."""
POINT, COMMA = re.compile(r"\s*[-+]?\d+\.\d+\s*"), re.compile(r"\s*[-+]?\d+,\d+\s*")


@dataclass(frozen=True)
class Dialect:
    """How a table of text is written.

    Examples
    --------
    >>> Dialect.of_text("person;lon;lat\\nann;139,71;35,61\\n")
    Dialect(separator=';', decimal=',', encoding='utf-8', columns=())
    """

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    columns: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `pandas.read_csv`."""
        named: dict[str, Any] = {"names": list(self.columns), "header": None} if self.columns else {}
        return {"sep": self.separator, "decimal": self.decimal, "encoding": self.encoding, **named, **EXACT}

    @classmethod
    def of(cls, path: Path, given: "Dialect | None" = None) -> "Dialect":
        """Return how a file is written, from its first lines; what is ``given`` is taken."""
        with _opened(path) as file:
            start = file.read(SAMPLE)
        encoding = (given and given.encoding) or next((name for mark, name in MARKS if start.startswith(mark)), "utf-8")
        usual = "\t" if ".tsv" in path.name.lower() else ","
        text = start.decode(encoding, errors="replace")
        found = cls.of_text(text, given.separator if given else "", usual=usual)
        return replace(found, encoding=encoding, columns=given.columns if given else ())

    @classmethod
    def of_text(cls, text: str, separator: str = "", *, usual: str = ",") -> "Dialect":
        """Return how a table is written that begins with some text: its separator is the commonest in the header."""
        header = re.sub(r'"[^"]*"', "", next(iter(text.lstrip("\r\n").splitlines()), ""))
        counts = {one: header.count(one) for one in SEPARATORS}
        commonest = max(counts, key=lambda one: (counts[one], one == usual))
        found = separator or (commonest if counts[commonest] else usual)
        values = [value for row in _rows(text, found) for value in row]
        points, commas = (sum(bool(mark.fullmatch(value)) for value in values) for mark in (POINT, COMMA))
        return cls(found, "," if commas > points else ".")


def asked(sep: Any = None, columns: Any = None, encoding: Any = None) -> Dialect:
    """Return what is known of a file before it is looked at; empty where nothing is.

    >>> asked("tab", ["user", "lat", "lon"])
    Dialect(separator='\\t', decimal='', encoding='', columns=('user', 'lat', 'lon'))
    """
    names = [] if columns is None else columns
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
        raise InputError("`columns` must be a list of names, one for each column of a file without a header line.")
    if len(set(names)) < len(list(names)):
        raise InputError("`columns` names two columns alike.")
    try:
        known = "" if encoding is None else codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise InputError(f'`encoding` must be the name of one, such as "latin-1", got {quoted(encoding)}.') from None
    return Dialect(_separator(sep), "", known, tuple(names))


def _separator(separator: Any) -> str:
    if separator is None:
        return ""
    found = NAMED.get(separator, separator) if isinstance(separator, str) else separator
    if not isinstance(found, str) or len(found) != 1 or found in "\r\n\"'":
        raise InputError(f"`sep` must be one character, or one of {list(NAMED)}, got {quoted(separator)}.")
    return found


def _opened(path: Path) -> AbstractContextManager[Any]:
    return gzip.open(path) if path.name.lower().endswith(".gz") else open(path, "rb")


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    """Yield the values of the lines after the header; the last may be cut short."""
    try:
        yield from list(csv.reader(text.splitlines()[1:-1] or text.splitlines()[1:], delimiter=separator))
    except csv.Error:  # whoever reads the whole file says what is wrong with it
        return
