"""When locations were, as numbers that a page moves over."""

import warnings
from typing import Any

import numpy as np
import pandas as pd

from geotracs.errors import InputError
from geotracs.views.maps.sides import Side


def clock(side: Side) -> tuple[np.ndarray, dict[str, Any]]:
    """Return when each location was, as numbers, and what these are.

    Times are milliseconds of their wall clock, with the name of their zone; numbers and durations, which become
    seconds, stay what they are; without a time column it is the number along the line.
    """
    plain: dict[str, Any] = {"clock": "numbers", "low": 0.0, "unit": 1.0, "zone": ""}
    if side.times is None:
        return np.arange(len(side.rows)) - np.repeat(side.offsets[:-1], np.diff(side.offsets)), plain
    times = pd.Series(side.times)
    if pd.api.types.is_timedelta64_dtype(times):
        return times.dt.total_seconds().to_numpy(dtype=np.float64), {**plain, "zone": "s"}
    if pd.api.types.is_numeric_dtype(times):
        return times.to_numpy(dtype=np.float64), plain
    try:
        with warnings.catch_warnings(action="ignore"):  # which say how texts are parsed
            moments = pd.to_datetime(times)
        numbers = moments.dt.tz_localize(None).to_numpy("datetime64[ms]").astype(np.float64)
    except (ValueError, TypeError, AttributeError):  # pandas quotes the values
        raise InputError("The `time` column must hold times or numbers to be drawn over time.") from None
    return numbers, {**plain, "clock": "times", "zone": "" if moments.dt.tz is None else str(moments.dt.tz)}
