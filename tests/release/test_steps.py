"""The promise as a structure: one draw, and after it nothing that knows a secret."""

import dataclasses
import io
import pickle
import threading
import types
from dataclasses import dataclass

import geopandas as gpd
import numpy as np
import pytest
from scipy.spatial import cKDTree

from geotracs.core.methods import METHODS
from geotracs.core.places import Grid
from geotracs.core.randomness import Key, Keystream
from geotracs.geo.originals import Originals
from geotracs.geo.tracks import Tracks, read
from geotracs.release import plan as plans
from geotracs.release import steps as steps_
from geotracs.release.request import Request
from geotracs.release.steps import Batch, Draw, DrawOnce, Enter, Leave, Move, Project, Round
from tests.conftest import TOKYO
from tests.core.domains.shapes import SHAPES
from tests.helpers import quiet
from tests.test_toys import Coarsen, coarsen

SECRET = (Originals, Tracks, Batch, Key, Keystream, np.random.Generator, gpd.GeoDataFrame, gpd.GeoSeries)
"""What private locations, random words and keys come in."""
POIS = gpd.GeoSeries(gpd.points_from_xy(*np.random.default_rng(3).uniform(TOKYO[:2], TOKYO[2:], (40, 2)).T), crs=4326)
CASES = {
    **{
        method: {"method": method, "round_to": POIS if METHODS[method].over == "places" else None} for method in METHODS
    },
    "polygon, rounded": {"method": "tracs-d", "domain": SHAPES["L"], "outside": "clip", "round_to": POIS},
    "transport": {"method": "joint", "domain": SHAPES["ring"], "outside": "clip", "fit": "transport"},
    "prior": {"method": "joint", "prior": POIS},
    "cells": {"method": "tracs-c", "round_to": Grid(cell=900), "unit": "trajectory"},
    "remapped": {"method": "tracs-c", "remap": True, "round_to": POIS},
    "remapped, of many lengths": {"method": "joint", "remap": POIS, "unit": "trajectory"},
    "another CRS": {"method": "tracs-c", "crs": 32654},
    "repeated": {"method": "joint", "repeat": "same"},
}


@pytest.fixture(params=[*CASES, "a registered step"], scope="module")
def steps(request):
    """The steps of two releases that differ in their private locations only."""
    tracks, case = people(), CASES.get(request.param, CASES["polygon, rounded"])
    with pytest.MonkeyPatch.context() as patch:
        if request.param not in CASES:
            patch.setattr(steps_, "AFTER_THE_DRAW", [coarsen, *steps_.AFTER_THE_DRAW])
        return [steps_of(frame, **case) for frame in (tracks, moved(tracks))]


def people():
    """Three people of 20 locations each."""
    xy = np.random.default_rng(5).uniform((139.6, 35.6), (139.8, 35.8), (60, 2))
    columns = {"person": np.repeat(["ann", "bob", "cleo"], 20), "t": np.tile(np.arange(20), 3)}
    return gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(*xy.T), crs=4326)


def moved(frame):
    """The same people elsewhere."""
    return frame.set_geometry(frame.geometry.translate(0.01, -0.02))


def steps_of(frame, **arguments):
    request = Request.of(4, **{"domain": TOKYO, "trajectory": "person", "time": "t", "keep": []} | arguments)
    lengths = read(frame, "person", "t", grouped=False).lengths
    return quiet(plans.make, request, frame, data=Originals.of(frame.geometry), lengths=lengths).steps


def test_there_is_one_draw_and_it_comes_after_entering(steps):
    for own in steps:
        assert isinstance(own[0], Enter)
        assert isinstance(own[1], (Draw, DrawOnce))
        assert sum(isinstance(step, (Draw, DrawOnce)) for step in own) == 1
        *after, last = [type(step) for step in own[2:]]
        assert last is Leave
        assert after in (
            [],
            [Project],
            [Round],
            [Project, Round],
            [Coarsen, Project, Round],
            [Move, Project],
            [Move, Project, Round],
        )


def test_every_step_is_frozen_and_holds_nothing_secret(steps):
    """The first two hold public things, too: what they see of a secret is in the batch that they are given."""
    for step in steps[0]:
        assert type(step).__dataclass_params__.frozen
        assert set(vars(step)) == {field.name for field in dataclasses.fields(step)}
        assert secrets_within(step) == []


def test_no_step_depends_on_where_anybody_is(steps):
    """To the last byte: entering and drawing are the same for all secrets, and so is what happens to reports."""
    one, other = steps
    for mine, theirs in zip(one, other, strict=True):
        assert written(mine) == written(theirs)


def test_a_step_with_a_secret_would_be_noticed():
    tracks = people()

    @dataclass(frozen=True)
    class Peek:
        inner: object

    for secret in (Originals.of(tracks.geometry), tracks, np.random.default_rng(0)):
        for held in ([{"deep": Peek(secret)}], (lambda own: lambda: own)(secret)):
            assert secrets_within(Peek(held)) == [type(secret).__name__]
    assert written(tracks) != written(moved(tracks))


def written(thing):
    """An object as bytes."""
    file = io.BytesIO()
    Pickler(file).dump(thing)
    return file.getvalue()


class Pickler(pickle.Pickler):
    """Without the addresses that scipy writes, without locks, and with what functions enclose."""

    def reducer_override(self, thing):
        if isinstance(thing, cKDTree):
            return bytes, (thing.data.tobytes(),)
        if isinstance(thing, types.FunctionType) and "<" in thing.__qualname__:
            return tuple, ([thing.__qualname__, *parts_of(thing)],)
        return (bool, ()) if isinstance(thing, type(threading.Lock())) else NotImplemented


def secrets_within(thing, seen=None):
    """The kinds of secret things that an object holds, however deep: in attributes, containers and closures."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, (type, types.ModuleType, np.ndarray)):
        return []
    seen.add(id(thing))
    if isinstance(thing, SECRET):
        return [type(thing).__name__]
    return [found for part in parts_of(thing) for found in secrets_within(part, seen)]


def parts_of(thing):
    if isinstance(thing, dict):
        return [*thing.keys(), *thing.values()]
    if isinstance(thing, (list, tuple, set, frozenset)):
        return list(thing)
    if isinstance(thing, types.FunctionType):
        return [cell.cell_contents for cell in thing.__closure__ or ()]
    if isinstance(thing, types.MethodType):
        return [thing.__self__, thing.__func__]
    slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    return [*getattr(thing, "__dict__", {}).values(), *(getattr(thing, name, None) for name in slots)]
