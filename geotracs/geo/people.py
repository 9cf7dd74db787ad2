"""Labels of people: which distinct ones a column holds, and their text, the same however a file stores them."""

import unicodedata
from typing import Any

import numpy as np
import pandas as pd

from geotracs.errors import InputError


def text(label: Any) -> str:
    """Return the label of a person as text, the same however a file stores it.

    >>> text(7), text(7.0), text("7")
    ('7', '7', '7')
    """
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    return unicodedata.normalize("NFC", str(label))


def distinct(labels: pd.Series, column: str, why: str) -> tuple[np.ndarray, list[Any]]:
    """Return which of the distinct labels each row has, and these; raise where one is missing."""
    try:
        codes, found = pd.factorize(labels)
    except TypeError:
        raise InputError(f"The column {column!r} holds lists or the like; labels are needed.") from None
    missing = np.count_nonzero(codes < 0)
    if missing:
        raise InputError(
            f"{missing:,} row(s) have no value in the column {column!r}, so that nobody can be {why} for them; fill "
            "them in or drop them."
        )
    return codes.astype(np.int64), list(found)
