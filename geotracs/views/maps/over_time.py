"""Tracks over time: trails that fade, moved by a slider below a histogram."""

from typing import Any

import folium
import numpy as np
import pandas as pd
from branca.element import MacroElement
from folium.template import Template

import geotracs.views.maps.layers as layers
import geotracs.views.maps.page as page
import geotracs.views.maps.people as people
import geotracs.views.maps.scene as scenes
import geotracs.views.maps.sides as sides
from geotracs.errors import InputError, quoted
from geotracs.views.maps.clock import clock

PART = 20
"""Trails last for this part of the time, unless `trail` says otherwise."""


class OverTime(MacroElement):
    """Trails, and the control that moves them."""

    _template = Template(
        """
        {% macro script(this, kwargs) %}
            tracs.time({{ this._parent.get_name() }}, {{ this.data }});
        {% endmacro %}
        """
    )

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # branca has no annotations there
        self._name = "OverTime"
        self.data = page.in_script(data)


def draw(
    shown: list[sides.Side],
    roles: list[str],
    names: list[Any],
    colours: list[str],
    public: list[layers.Shapes],
    setting: scenes.Setting,
    bundled: bool,
    trail: Any = None,
    **options: Any,
) -> folium.Map:
    """Draw all sides on one map with a slider of time.

    Parameters
    ----------
    shown : list of Side
        The same people on each.
    roles, names, colours
        What each side is; the names and colours of the people.
    trail : str, Timedelta or number, optional
        How long a trail lasts.
    """
    map_ = setting.blank(options)
    setting.annotate(map_, map_)
    page.dress(map_, "time.js")
    if not len(shown[0].rows):
        for layer in public:
            layers.shapes(*layer).add_to(map_)
    else:
        times, said = clock(shown[0])
        first, last = float(times.min()), float(times.max())
        last = last if last > first else first + 1
        data: dict[str, Any] = {
            "names": [people.named(name) for name in names],
            "roles": roles,
            "colours": colours,
            "sides": [
                {"xy": people.latlon(side), "at": side.offsets.tolist(), "times": own.tolist()}
                for side, own in zip(shown, [times, *(clock(side)[0] for side in shown[1:])], strict=True)
            ],
            "region": people.region_of(public),
            "first": first,
            "last": last,
            "trail": lasting(trail, said, last - first),
            **said,
        }
        OverTime(data).add_to(map_)
    setting.finish(map_)
    if bundled:
        page.inline(map_, map_)
    return map_


def lasting(trail: Any, said: dict[str, Any], span: float) -> float:
    """Return how long a trail lasts, in the numbers of the clock.

    >>> lasting("10min", {"clock": "times"}, 3.6e6), lasting(None, {"clock": "numbers"}, 100.0)
    (600000.0, 5.0)
    """
    if trail is None:
        return span / PART
    number = isinstance(trail, (int, float, np.number)) and not isinstance(trail, bool)
    try:
        long = pd.Timedelta(trail).total_seconds() * 1000 if said["clock"] == "times" and not number else float(trail)
    except (TypeError, ValueError):
        long = -1.0
    if not 0 < long < np.inf or (number and said["clock"] == "times"):
        raise InputError(
            f"`trail` must be a duration such as '10min', or a number where times are numbers, got {quoted(trail)}."
        )
    return long
