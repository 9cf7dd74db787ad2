"""One person at a time: originals, reports and what is found again of the one who is picked, the others faint."""

from typing import Any

import folium
import numpy as np
from branca.element import MacroElement
from folium.template import Template

import geotracs.views.maps.layers as layers
import geotracs.views.maps.page as page
import geotracs.views.maps.scene as scenes
import geotracs.views.maps.sides as sides
from geotracs.errors import InputError
from geotracs.views.maps.clock import clock

MANY = 50_000
"""How many locations of each frame are on the page at most, unless `sample` says otherwise."""
LONG = 40
"""How many letters of a name are shown."""


class People(MacroElement):
    """The tracks of people, and the list that picks one of them."""

    _template = Template(
        """
        {% macro script(this, kwargs) %}
            tracs.people({{ this._parent.get_name() }}, {{ this.data }});
        {% endmacro %}
        """
    )

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # branca has no annotations there
        self._name = "People"
        self.data = page.in_script(data)


def draw(
    shown: list[sides.Side],
    roles: list[str],
    names: list[Any],
    public: list[layers.Shapes],
    setting: scenes.Setting,
    bundled: bool,
    radius: np.ndarray | None = None,
    **options: Any,
) -> folium.Map:
    """Draw people one at a time.

    Parameters
    ----------
    shown : list of Side
        The same people on each.
    roles : list of str
        What each side is.
    names : list
        Of the people.
    radius : array, optional
        In metres, of the locations of the first side.
    """
    if not len(shown[0].rows):
        raise InputError("view='person' needs locations; there are none.")
    map_ = setting.blank(options)
    data: dict[str, Any] = {
        "names": [named(name) for name in names],
        "roles": roles,
        "sides": [{"xy": latlon(side), "at": side.offsets.tolist()} for side in shown],
        "region": region_of(public),
        "radius": None if radius is None else np.rint(radius).tolist(),
    }
    if shown[0].times is not None:
        times, said = clock(shown[0])
        data |= {"times": times.tolist(), **said}
    setting.annotate(map_, map_)
    page.dress(map_, "people.js")
    People(data).add_to(map_)
    setting.finish(map_)
    if bundled:
        page.inline(map_, map_)
    return map_


def names_of(side: sides.Side, trajectory: str | None) -> list[Any]:
    """Return the names of trajectories, or their numbers."""
    if trajectory is None:
        return list(range(1, len(side.offsets)))
    return side.frame[trajectory].iloc[side.rows[side.offsets[:-1]]].tolist()


def region_of(public: list[layers.Shapes]) -> dict[str, Any] | None:
    """Return the shape of the public region, where it is known, for GeoJSON."""
    return next((parts[0].__geo_interface__ for name, parts, *_ in public if name == "region"), None)


def named(name: Any) -> str:
    """Return a name as text, if it is not too long."""
    words = str(name)
    return words if len(words) <= LONG else f"{words[:LONG]}…"


def latlon(side: sides.Side) -> list[list[float]]:
    """Return locations as Leaflet takes them."""
    return np.round(side.lonlat[:, ::-1], layers.DIGITS).tolist()
