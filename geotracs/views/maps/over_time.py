"""Tracks over time: where each trajectory is, the way it came, and the slider that moves them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from folium.plugins import Timeline, TimelineSlider
from folium.utilities import JsCode

import geotracs.views.maps.page as page
from geotracs.errors import InputError
from geotracs.views.maps.layers import DOTS, STROKES, Notes, feature, rounded
from geotracs.views.maps.sides import Side

STEPS = 1e6
"""Into how many steps plain numbers are divided: the slider moves over whole ones."""


def clock(side: Side) -> tuple[np.ndarray, str]:
    """Return when each location was, as numbers for the slider, and JavaScript that says such a number ``t``.

    Times become milliseconds of their wall clock; plain numbers and durations steps between the first and the last;
    without a time column it is the number along the line.
    """
    if side.times is None:
        return np.arange(len(side.rows)) - np.repeat(side.offsets[:-1], np.diff(side.offsets)), "String(Math.round(t))"
    times = pd.Series(side.times)
    if pd.api.types.is_timedelta64_dtype(times):
        times = times.dt.total_seconds()
    if pd.api.types.is_numeric_dtype(times):
        numbers = times.to_numpy(dtype=np.float64)
        low, span = (float(numbers.min()), float(np.ptp(numbers)) or 1.0) if len(numbers) else (0.0, 1.0)
        return (numbers - low) / span * STEPS, f"String(+({low!r} + t * {span / STEPS!r}).toPrecision(9))"
    try:
        numbers = pd.to_datetime(times).dt.tz_localize(None).to_numpy("datetime64[ms]").astype(np.float64)
    except (ValueError, TypeError):  # pandas quotes the values
        raise InputError("The `time` column must hold times or numbers for view='time'.") from None
    return numbers, "new Date(t).toISOString().slice(0, 19).replace('T', ' ')"


def timeline(
    side: Side, role: str, times: np.ndarray, colours: Sequence[str], notes: Notes, style: dict[str, Any]
) -> Timeline:
    """Draw a side over time."""
    owner, where = side.owner, rounded(side.lonlat)
    last = np.diff(owner, append=-1) != 0
    end = max(float(times.max()), float(times.min()) + 1)
    # A location is left before the next one is reached: the ends of the intervals count.
    until = np.where(last, end, np.maximum(np.nextafter(np.append(times[1:], end), -np.inf), times))
    features = []
    for number, place in enumerate(where):
        colour = colours[owner[number]]
        features.append(
            feature("Point", place, colour, start=float(times[number]), end=float(until[number]), **notes.of(number))
        )
        if not last[number]:
            way = [place, where[number + 1]]
            features.append(feature("LineString", way, colour, start=float(times[number + 1]), end=end))
    dots, strokes = (page.in_script({**looks[role], **style}) for looks in (DOTS, STROKES))
    return Timeline(
        {"type": "FeatureCollection", "features": features},
        style=JsCode(
            "function (f) { return Object.assign({color: f.properties.colour, fillColor: f.properties.colour}, "
            f"f.geometry.type == 'Point' ? {dots} : {strokes}); }}"
        ),
        point_to_layer=JsCode("function (f, where) { return L.circleMarker(where); }"),
        on_each_feature=notes.script(),
    )


def slider(timelines: Sequence[Timeline], said: str) -> TimelineSlider:
    """Return the control that moves the timelines."""
    control = TimelineSlider(auto_play=False, show_ticks=False, steps=200, playback_duration=12000)
    options: dict[str, Any] = control.options
    options["format_output"] = JsCode(f"function (t) {{ return {said}; }}")
    return control.add_timelines(*timelines)
