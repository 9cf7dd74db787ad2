"""No error quotes private values that were given where something else belongs: a column where names are expected."""

import inspect
import traceback
import warnings

import geopandas as gpd
import pandas as pd
import pytest

import geotracs
import geotracs.views.maps.explore
from tests.conftest import TOKYO

pytestmark = pytest.mark.slow

X, Y = 139.7654321, 35.6543217
GIVEN = {"domain": TOKYO, "trajectory": "person", "time": "t"}
DIGITS = ("139.7654", "35.6543", "35.7543", "35.8543")
WRONG = (
    lambda frame: frame,
    lambda frame: frame.lat,
    lambda frame: frame.geometry.iloc[0],
    lambda frame: frame.lat.tolist(),
    lambda frame: set(frame.lat),
    lambda frame: frame[["lon", "lat"]].to_dict(),
)


def calls():
    """Every parameter of the functions that take frames."""
    functions = [
        geotracs.perturb,
        geotracs.compare,
        geotracs.sweep,
        geotracs.views.maps.explore,
        geotracs.plots.plot,
        geotracs.plots.displacement,
        geotracs.plots.error_curve,
    ]
    for function in functions:
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind is not parameter.VAR_KEYWORD and name not in ("ax", "progress"):
                yield pytest.param(function, name, id=f"{function.__name__}-{name}")


@pytest.fixture(scope="module")
def frame():
    x, y = [X, X - 0.1, X - 0.2], [Y, Y + 0.1, Y + 0.2]
    columns = {"person": ["ann"] * 3, "t": pd.date_range("2026-01-01", periods=3), "lat": y, "lon": x}
    return gpd.GeoDataFrame(columns, geometry=gpd.points_from_xy(x, y), crs=4326)


@pytest.fixture(scope="module")
def private(frame):
    return frame.tracs.perturb(4, keep=[], **GIVEN)


@pytest.mark.parametrize(("function", "name"), list(calls()))
def test_a_wrong_argument_is_not_quoted(frame, private, function, name):
    first, *others = inspect.signature(function).parameters
    arguments = {first: frame} | ({"perturbed": private} if "perturbed" in others else {})
    if function is geotracs.perturb:
        arguments |= {"eps": 4.0, **GIVEN}
    if function is geotracs.sweep:
        arguments |= {"eps": [4.0], "methods": ["tracs-c"], "repeats": 1, **GIVEN}
    for wrong in WRONG:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                function(**arguments | {name: wrong(frame)})
                text = ""
            except Exception as error:
                text = shown(error)
        text += "".join(str(warning.message) for warning in said)
        assert not [digits for digits in DIGITS if digits in text], text


def shown(error):
    """The last lines of a traceback: this error, and those that are shown above it."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "".join(traceback.format_exception_only(error)) + ("" if before is None else shown(before))
