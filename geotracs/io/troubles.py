"""What goes wrong in other libraries, said in our words: those of GDAL, Arrow, pandas and shapely quote the data."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from geotracs.errors import DEBUG, GeotracsError, InputError, debugging

UTF8 = 'it is not in UTF-8; save it as UTF-8, or say its encoding, for CSV e.g. encoding="latin-1".'
KNOWN = (
    (r"Error tokenizing data\. C error: Expected (\d+) fields in line (\d+), saw (\d+)\s*",
     "line {1} has {2} columns, and the lines before it {0}."),
    (r"Error tokenizing data\. C error: EOF inside string starting at row (\d+)",
     "a quotation mark that is opened in row {0} is never closed."),
    (r"field type is not supported (\w+)\[?\w*\]? \(field index: (\d+)\)",
     "field type is not supported: column {1} holds {0}; convert it first."),
    (r"(?s:.*)Invalid UTF8 (?:sequence|payload)(?s:.*)", UTF8),
    (r"'.*' not recognized as being in a supported file format\..*",
     "it is damaged, or of a kind that GDAL does not read."),
)  # fmt: skip
"""What may be told of a message: patterns of whole messages, whose groups are numbers and names of types."""
PLACES = ((r"\bat offset (\d{1,12})\)?\.?$", "byte"), (r"\bat line (\d{1,9})(?:, column \d{1,9})?\)?\.?$", "line"))
"""Where a parser says that it stopped, at the end of its message."""
DAMAGED = "it is damaged, cut short, or not what its name says"
MORE = f"{DEBUG}=1 shows what was said about it, which may quote private data."


@contextmanager
def told(path: str | Path, action: str) -> Iterator[None]:
    """Turn an error of another library about a file into an `InputError` that holds none of its words.

    Parameters
    ----------
    path : str or Path
        The file.
    action : str
        What could not be done to it: "read" or "written".
    """
    try:
        yield
    except GeotracsError:
        raise
    except Exception as error:
        message = f"{str(path)!r} cannot be {action}: {described(error, action)}"
        raise InputError(message) from (error if debugging() else None)


def described(error: Exception, action: str = "read") -> str:
    """Say what an error of another library means, without what it may quote; see `told`.

    >>> described(OSError(28, "No space left on device"))
    'No space left on device.'
    >>> described(ValueError("Unrecognized number: 139.7123456. (at offset 57)"))
    'it is damaged, cut short, or not what its name says (see byte 57). (ValueError; GEOTRACS_DEBUG=1 ...'
    """
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        return f"{error.strerror}."
    if isinstance(error, UnicodeError):
        return UTF8
    if isinstance(error, pd.errors.EmptyDataError):
        return "it is empty."
    if isinstance(error, MemoryError):
        return "there is not enough memory."
    said = str(error)
    for pattern, words in KNOWN:
        if found := re.fullmatch(pattern, said, re.DOTALL):
            return words.format(*found.groups())
    wheres = [f" (see {unit} {found[1]})" for pattern, unit in PLACES if (found := re.search(pattern, said))]
    kind = type(error).__name__
    what = DAMAGED + "".join(wheres[:1]) if action == "read" else "something went wrong"
    return f"{what}. ({kind}; {MORE})"
