"""``GeoDataFrame.tracs``: the functions of geotracs as methods. No state, one line each."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import geopandas as gpd
import pandas as pd

from geotracs.budget import Guarantee
from geotracs.compare import compare
from geotracs.perturb import perturb
from geotracs.plots import plot
from geotracs.sweep import sweep


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a function of a frame into a method with the same signature and documentation."""

    @functools.wraps(function)
    def method(self: "TracsAccessor", *args: Any, **kwargs: Any) -> Any:
        return function(self._frame, *args, **kwargs)

    signature = inspect.signature(function)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = signature.replace(parameters=[own, *list(signature.parameters.values())[1:]])
    return method


@pd.api.extensions.register_dataframe_accessor("tracs")
class TracsAccessor:
    """Perturb movement data and see what it cost, from a GeoDataFrame."""

    def __init__(self, frame: pd.DataFrame) -> None:
        if not isinstance(frame, gpd.GeoDataFrame):
            raise AttributeError(
                "`.tracs` needs a GeoDataFrame; make one with geopandas.GeoDataFrame(..., geometry=...)."
            )
        self._frame = frame

    perturb = _method(perturb)
    compare = _method(compare)
    sweep = _method(sweep)
    plot = _method(plot)

    @property
    def guarantee(self) -> Guarantee:
        """What a perturbed frame promises, read from its attrs."""
        return Guarantee.from_attrs(self._frame.attrs)
