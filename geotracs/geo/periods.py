"""Public periods of time, such as days or quarters of an hour: which of them each row is in."""

import datetime
import math
import warnings
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd

import geotracs.geo.tracks as frames
from geotracs.errors import InputError, quoted

WORDS = {"hour": "1h", "day": "1D", "week": "7D"}
"""Periods that have a name."""
EXAMPLES = '"15min", "1D" or "1W"'


@dataclass(frozen=True)
class Period:
    """A length of time, by which rows are taken together: days by the clock on the wall, weeks from Monday on.

    Attributes
    ----------
    text : str
        As it was given.
    seconds : float

    Examples
    --------
    >>> times = pd.DataFrame({"t": pd.to_datetime(["2026-03-01 23:59", "2026-03-02 00:00", "2026-03-08 12:00"])})
    >>> week = Period.of("1W", "unit").numbers(times, "t")
    >>> (week - week[0]).tolist()
    [0, 1, 1]
    """

    text: str
    seconds: float = field(repr=False)

    @classmethod
    def of(cls, given: Any, name: str) -> Self:
        """Return the period that an argument asks for, or raise."""
        seconds = math.nan
        if isinstance(given, datetime.timedelta):
            seconds = given.total_seconds()
        elif isinstance(given, str) and any(letter.isalpha() for letter in given):
            try:
                with warnings.catch_warnings(action="ignore"):  # of pandas, about the letters of units
                    seconds = pd.Timedelta(WORDS.get(given, given)).total_seconds()
            except ValueError:
                seconds = math.nan
        if not 0 < seconds < math.inf:
            raise InputError(
                f"`{name}` must be a length of time greater than 0, such as {EXAMPLES}, got {quoted(given)}. (Months "
                "and years differ in length; use days.)"
            )
        return cls(str(given), seconds)

    @property
    def words(self) -> str:
        """The period in a sentence.

        >>> Period.of("1D", "unit").words, Period.of("36h", "unit").words
        ('day', 'period of 36h')
        """
        named = {word: pd.Timedelta(text).total_seconds() for word, text in WORDS.items()}
        return next((word for word, seconds in named.items() if seconds == self.seconds), f"period of {self.text}")

    def numbers(self, table: pd.DataFrame, time: str) -> np.ndarray:
        """Return the number of the period that each row is in."""
        clock = frames.clock(table, time)
        return np.floor(clock / self.seconds).astype(np.int64)
