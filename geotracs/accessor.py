"""``GeoDataFrame.tracs``: the functions of geotracs as methods. No state, one line each."""

import functools
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any

import geopandas as gpd
import pandas as pd

from geotracs.core.budget import Guarantee
from geotracs.utility.compare import compare, standing
from geotracs.core.digest import OTHER
from geotracs.errors import PrivacyWarning, warn
from geotracs.views.maps import explore
from geotracs.release.frame import perturb
from geotracs.views.plots import plot
from geotracs.utility.sweep import sweep


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
    explore = _method(explore)
    plot = _method(plot)

    @property
    def guarantee(self) -> Guarantee:
        """What a perturbed frame promises, read from its attrs; warns if its locations are no longer those of then."""
        guarantee = Guarantee.from_attrs(self._frame.attrs)
        if standing(self._frame) == OTHER:
            warn(
                "The locations of this frame are not those that perturb() returned, which its record describes: it "
                "says nothing of these. Use the frame that perturb() returned.",
                PrivacyWarning,
            )
        return guarantee


class _WhenImported(MetaPathFinder):
    """Registers ``.tracs`` on dask-geopandas frames when dask-geopandas is imported: it takes longer than geotracs."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        if name != "dask_geopandas":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: Any) -> None:
                execute(module)
                importlib.import_module("geotracs.release.dask")

            spec.loader.exec_module = execute_and_register
        return spec


if "dask_geopandas" in sys.modules:
    importlib.import_module("geotracs.release.dask")
else:
    sys.meta_path.insert(0, _WhenImported())
