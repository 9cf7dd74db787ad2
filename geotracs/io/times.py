"""Columns of times in whatever form people write them, as dates: formats, days before months, seconds since 1970."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa

from geotracs.errors import InputError, quoted
from geotracs.io.streams import Source

try:
    from pandas.tseries.api import guess_datetime_format
except ImportError:  # before pandas 2.2 it was not public
    from pandas._libs.tslibs.parsing import guess_datetime_format

EPOCHS = ("s", "ms", "us", "ns")
"""Units of numbers that count from 1970."""
SHOWN = 5
"""How many rows an error names at most."""
SAMPLE = 1000
"""How many rows settle the format of all."""


@dataclass(frozen=True)
class Clock:
    """How a column is read as times.

    Attributes
    ----------
    column : str
        Its name.
    form : str
        As of ``strftime``, e.g. "%d/%m/%Y %H:%M"; or one of `EPOCHS`. Empty to guess it from the first value.
    dayfirst : bool
        Whether the guess takes 03/04/2026 for the third of April.

    Examples
    --------
    >>> Clock("t", dayfirst=True).read(pd.Series(["03/04/2026 08:15", "13/04/2026 09:00"])).dt.day.tolist()
    [3, 13]
    """

    column: str
    form: str = ""
    dayfirst: bool = False

    @classmethod
    def of(cls, column: str | None, form: Any, dayfirst: Any) -> "Clock | None":
        """Return the clock for arguments of `geotracs.files.read`; None where none is needed."""
        if form is None and dayfirst is False:
            return None
        if column is None:
            raise InputError("`time_format` and `dayfirst` say how a column is read; name it with `time`.")
        if form is not None and (not isinstance(form, str) or not ("%" in form or form in EPOCHS)):
            raise InputError(
                f'`time_format` must be like "%d/%m/%Y %H:%M:%S", or one of {list(EPOCHS)} for numbers that count from '
                f"1970, got {quoted(form)}."
            )
        if not isinstance(dayfirst, (bool, np.bool_)):
            raise InputError(f"`dayfirst` must be True or False, got {quoted(dayfirst)}.")
        return cls(column, form or "", bool(dayfirst))

    def settled(self, values: pd.Series) -> "Clock":
        """Return the clock with its format, guessed from the first value if it has none."""
        if self.form:
            return self
        first = next((value for value in values if isinstance(value, str) and value.strip()), "")
        of_iso = re.match(r"\d{4}", first.strip())  # where pandas would take the middle for the day
        guess = guess_datetime_format(first.strip(), dayfirst=self.dayfirst and not of_iso)
        if guess is None:
            raise InputError(
                f"The time column {self.column!r} does not hold dates that can be recognised; say how they are "
                'written, e.g. time_format="%d/%m/%Y %H:%M:%S".'
            )
        return replace(self, form=guess)

    def read(self, values: pd.Series, first: int = 0) -> pd.Series:
        """Return the column as dates, in UTC where it says time zones; ``first`` is the number of its first row."""
        if pd.api.types.is_datetime64_any_dtype(values):
            return values
        clock = self.settled(values)
        if clock.form in EPOCHS:
            numbers = pd.to_numeric(values, errors="coerce")
            dates = pd.to_datetime(numbers, unit=cast(Any, clock.form), errors="coerce")
        else:
            texts = values.astype("string").str.strip()
            dates = pd.to_datetime(texts, format=clock.form, errors="coerce", utc="%z" in clock.form)
        bad = (dates.isna() & values.notna()).to_numpy()
        if bad.any():
            rows = ", ".join(f"row {first + row}" for row in np.flatnonzero(bad)[:SHOWN])
            raise InputError(
                f"{bad.sum()} value(s) of the time column {self.column!r} are not dates of the form {clock.form!r}, "
                f"e.g. {rows}; correct them, or say how they are written with `time_format`."
            )
        return dates.dt.as_unit("us")  # one unit, whatever the values of a batch are

    def of_frame(self, frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
        """Return a frame with the column as dates."""
        _check_there(self.column, list(map(str, frame.columns)))
        frame[self.column] = self.read(frame[self.column])
        return frame


@dataclass(frozen=True)
class Timed(Source):
    """A source whose column of times is read by a clock."""

    inner: Source | None = field(default=None, repr=False)
    clock: Clock | None = None

    @classmethod
    def of(cls, inner: Source, clock: Clock) -> Source:
        """Return a source with its column of times as dates; the first rows settle their format."""
        _check_there(clock.column, inner.schema.names)
        if pa.types.is_timestamp(inner.schema.field(clock.column).type):
            return inner
        clock = clock.settled(_column(next(inner.tables(SAMPLE, [clock.column])), clock.column))
        kind = pa.timestamp("us", tz="UTC" if "%z" in clock.form else None)
        schema = inner.schema.set(inner.schema.get_field_index(clock.column), pa.field(clock.column, kind))
        known = {own.name: getattr(inner, own.name) for own in fields(Source)}
        known["nullable"] = {name: kind for name, kind in inner.nullable.items() if name != clock.column}
        return cls(**{**known, "schema": schema}, inner=inner, clock=clock)

    def pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield the rows."""
        inner, clock, first = cast(Source, self.inner), cast(Clock, self.clock), 0
        own = pa.schema([inner.schema.field(name) for name in schema.names])
        for piece in inner.pieces(own):
            if clock.column in schema.names:
                at = schema.get_field_index(clock.column)
                dates = clock.read(_column(piece, clock.column), first)
                piece = piece.set_column(at, schema.field(at), pa.array(dates, schema.field(at).type, from_pandas=True))
            first += len(piece)
            yield piece

    def reading(self) -> AbstractContextManager[None]:
        """Return the context in which tables are read."""
        return cast(Source, self.inner).reading()

    def enter_thread(self) -> None:
        """Prepare the thread that reads."""
        cast(Source, self.inner).enter_thread()


def _column(table: pa.Table, name: str) -> pd.Series:
    return table[name].to_pandas().reset_index(drop=True)


def _check_there(name: str, names: list[str]) -> None:
    if name not in names:
        raise InputError(f"There is no column {quoted(name)}; the columns are {names}.")
