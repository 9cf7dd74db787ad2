"""What a release is asked for: one place that knows all arguments, and refuses before any data are read."""

import dataclasses
import inspect
import pickle

import geopandas as gpd
import numpy as np
import pytest
import shapely

import geotracs
from geotracs.core.methods import METHODS
from geotracs.core.places import Grid
from geotracs.errors import InputError
from geotracs.release.request import Request
from tests.conftest import TOKYO

LAYER = gpd.GeoDataFrame({"name": ["a"]}, geometry=gpd.points_from_xy([139.7], [35.7]), crs=4326)


def test_the_fields_are_the_arguments_of_perturb_with_their_defaults():
    """A new argument is a field, and a word in the signature."""
    own = {field.name: field.default for field in dataclasses.fields(Request)}
    shown = dict(inspect.signature(geotracs.perturb).parameters)
    engine = {"gdf", "workers", "progress"}
    assert engine <= shown.keys()
    assert list(own) == [name for name in shown if name not in engine]
    for name in own.keys() - {"eps", "options"}:
        assert own[name] == shown[name].default, name


def test_arguments_that_are_no_fields_are_options():
    request = Request.of(4, "tracs-d", start=shapely.Point(1, 2), direction_share=np.float64(0.5), domain=TOKYO)
    assert request.options == {"start": [1.0, 2.0], "direction_share": 0.5}
    assert request.recipe.direction_share == 0.5
    assert request.domain == TOKYO


REFUSED = [
    ({"eps": 0}, "`eps` must be greater than 0"),
    ({"eps": [4]}, "`eps` must be one number"),
    ({"unit": "people"}, "`unit` must be one of .* or a period"),
    ({"unit": "person"}, "needs the column that says whose row it is; give it with `person`"),
    ({"unit": "day"}, "needs times; give their column with `time`"),
    ({"unit": "1W", "time": "t"}, "share.* a person and a week; say whose rows they are with `person`"),
    ({"unit": "0h", "time": "t", "trajectory": "a"}, "`unit` must be a length of time greater than 0"),
    ({"unit": "-1D", "time": "t", "trajectory": "a"}, "`unit` must be a length of time greater than 0"),
    ({"unit": "1M", "time": "t", "trajectory": "a"}, "`unit` must be a length of time .*Months"),
    ({"person": "a"}, "`person` is for a ledger, for unit"),
    ({"unit": "person", "person": "a", "allocation": "ends"}, 'give it with unit="trajectory"'),
    ({"unit": LAYER}, "`unit` must be one of .* got a GeoDataFrame"),
    ({"method": "tracs"}, "`method` must be one of"),
    ({"method": LAYER}, "`method` must be one of .* got a GeoDataFrame"),
    ({"widow": 3}, "joint has no option 'widow'; its options are"),
    ({"options": {"a": 1}}, "joint has no option 'options'"),
    ({"domains": TOKYO}, "joint has no option 'domains'; did you mean `domain`"),
    ({"outside": "leave"}, "`outside` must be one of"),
    ({"outside": LAYER}, "`outside` must be one of .* got a GeoDataFrame"),
    ({"fit": "snug"}, "`fit` must be one of"),
    ({"weight": "people"}, "`weight` is a column of the prior"),
    ({"crs": 4326}, "`crs` must be a planar"),
    ({"keep": "speed"}, r"use keep=\['speed'\]"),
    ({"keep": 3}, "`keep` must be a list of column names, got int"),
    ({"join": ["name"]}, "give them with `round_to`"),
    ({"centroid": True}, "give them with `round_to`"),
    ({"method": "nearest"}, "nearest reports places of a public set"),
    ({"method": "nearest", "round_to": LAYER, "prior": LAYER}, "`prior` is for methods on a region"),
    ({"round_to": TOKYO}, "`round_to` must be a GeoDataFrame, a GeoSeries or a geotracs.places.Grid, got tuple"),
    ({"round_to": LAYER.set_crs(None, allow_override=True)}, "`round_to` has no CRS"),
    ({"round_to": LAYER, "join": "name"}, r"use join=\['name'\]"),
    ({"round_to": LAYER, "join": ["size"]}, "`round_to` has no column 'size' to join"),
    ({"round_to": LAYER, "place": 3}, "`place` must be the name of a column"),
    ({"round_to": LAYER, "place": "name", "join": ["name"]}, "two columns 'name'"),
    ({"round_to": Grid(cell=500), "centroid": True}, "a grid has cells only"),
    ({"rng": -1}, "`rng` must be None"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_no_data_can_make_right_is_refused_at_once(arguments, message):
    with pytest.raises(InputError, match=message):
        Request.of(**{"eps": 4, **arguments})


def test_a_file_that_is_not_there_is_not_looked_for_if_the_request_is_wrong(tmp_path):
    with pytest.raises(InputError, match="`fit` must be one of"):
        geotracs.perturb_file(tmp_path / "none.gpkg", tmp_path / "out.gpkg", 4, fit="snug")


def test_a_request_is_frozen_and_can_be_changed_only_into_another_that_is_checked():
    request = Request.of(4, "tracs-d", start="corner", keep=["speed"], domain=TOKYO)
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.eps = 8
    other = dataclasses.replace(request, eps=8)
    assert (other.eps, other.options, other.keep, other.domain) == (8.0, {"start": "corner"}, ("speed",), TOKYO)
    with pytest.raises(InputError, match="`eps`"):
        dataclasses.replace(request, eps=-1)
    assert pickle.loads(pickle.dumps(request)).options == request.options


@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_it_shows_no_location(method):
    request = Request.of(4, method, domain=(1.2345, 2.3456, 3.4567, 4.5678), round_to=LAYER, keep=[], rng=987654)
    assert repr(request) == f"<Request for {method}, epsilon 4 per location>"
