"""Print the way of a location through the package, function by function: the map of the house.

    python -m tools.walk

Walks ``tracks.tracs.perturb(4, method="tracs-d", domain=polygon, round_to=pois)`` with one worker, and shows every
function of geotracs that is entered while a block of locations is worked on, indented by how deep it is.
"""

import itertools
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import geopandas as gpd
import shapely

import geotracs
import geotracs.release.steps as steps

ROOT = str(Path(geotracs.__file__).parent)
COUNTED = ("Draw", "Project", "Round")
"""The steps in which changes of module are counted: from entering the working CRS to rounding..."""
ASIDE = ("draw", "mechanisms", "_starts")
"""...without what is made and drawn before a location is looked at: that is not on its way."""


@dataclass(frozen=True)
class Call:
    """One function that was entered: in which module, by which name, how deep, and in which step."""

    module: str
    name: str
    depth: int
    step: str


def walk() -> list[Call]:
    """Return the functions that a block of locations goes through."""
    city = geotracs.datasets.sample_city(people=3, seed=1)
    corner = shapely.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
    west, south, east, north = city.boundary.total_bounds
    region = shapely.transform(corner, lambda xy: [west, south] + xy / 2 * [east - west, north - south])
    pois = gpd.GeoDataFrame(geometry=city.tracks.geometry.iloc[::7].translate(1e-4, 0).values, crs=city.tracks.crs)
    arguments: dict[str, Any] = {"domain": region, "round_to": pois, "outside": "clip", "workers": 1, "keep": []}
    arguments |= {"trajectory": "person", "time": "t"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        city.tracks.tracs.perturb(4, "tracs-d", **arguments)  # so that what is loaded and compiled once is there
        return _traced(lambda: city.tracks.tracs.perturb(4, "tracs-d", **arguments))


def changes(calls: list[Call]) -> int:
    """Return how often the way changes from one module to another, once it has entered, up to rounding."""
    modules = [call.module for call in calls if call.step in COUNTED]
    return sum(one != other for one, other in itertools.pairwise(modules))


def _traced(function: Any) -> list[Call]:
    calls: list[Call] = []
    own = {getattr(steps, name).__call__.__code__: name for name in ("Enter", "Draw", "Project", "Round", "Leave")}
    state: dict[str, Any] = {"depth": 0, "step": "", "at": 0, "aside": None}

    def profile(frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(ROOT) or event not in ("call", "return"):
            return
        if event == "return":
            state["depth"] -= 1
            if state["depth"] == state["aside"]:
                state["aside"] = None
            if code in own and state["depth"] == state["at"]:
                state["step"] = ""
            return
        if code in own:
            state["step"], state["at"] = own[code], state["depth"]
        if state["aside"] is None and code.co_name in ASIDE:
            state["aside"] = state["depth"]
        elif state["aside"] is None and state["step"] and not code.co_name.startswith("<"):
            module = str(Path(code.co_filename).relative_to(ROOT).with_suffix("")).replace("/", ".")
            calls.append(Call(module, code.co_qualname, state["depth"] - state["at"], state["step"]))
        state["depth"] += 1

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


def main() -> None:
    """Print the way."""
    calls = walk()
    for call in calls:
        sys.stdout.write(f"{'  ' * call.depth}{call.name:<{50 - 2 * call.depth}} {call.module}\n")
    sys.stdout.write(f"\n{changes(calls)} changes of module between entering and rounding\n")


if __name__ == "__main__":
    main()
