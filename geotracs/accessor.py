"""``GeoDataFrame.tracs``: the functions of geotracs as methods. No state."""

import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any

import geopandas as gpd
import pandas as pd


class _Function:
    """A function of a frame as a method with the same signature and documentation, loaded when it is first used."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __get__(self, instance: Any, owner: type) -> Any:
        return self._method if instance is None else self._method.__get__(instance, owner)

    @functools.cached_property
    def _method(self) -> Callable[..., Any]:
        function = getattr(importlib.import_module(self._module), self._name)

        @functools.wraps(function)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return function(self._frame, *args, **kwargs)

        signature = inspect.signature(function)
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        method.__signature__ = signature.replace(parameters=[own, *list(signature.parameters.values())[1:]])  # type: ignore[attr-defined]
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

    perturb = _Function("geotracs.release.frame", "perturb")
    compare = _Function("geotracs.utility.compare", "compare")
    sweep = _Function("geotracs.utility.sweep", "sweep")
    explore = _Function("geotracs.views.maps", "explore")
    plot = _Function("geotracs.views.plots", "plot")

    @property
    def guarantee(self) -> Any:
        """What a perturbed frame promises, read from its attrs; warns if its locations are no longer those of then."""
        return importlib.import_module("geotracs.utility.compare").promised(self._frame)


class DaskTracsAccessor:
    """Perturb movement data and see what it cost, from a dask-geopandas frame."""

    def __init__(self, frame: Any) -> None:
        if not isinstance(frame, sys.modules["dask_geopandas"].GeoDataFrame):
            raise AttributeError(
                "`.tracs` needs a dask_geopandas.GeoDataFrame; make one with dask_geopandas.from_dask_dataframe(...)."
            )
        self._frame = frame

    perturb = _Function("geotracs.release.dask", "perturb")
    compare = _Function("geotracs.utility.dask", "compare")
    sweep = _Function("geotracs.utility.dask", "sweep")

    @property
    def guarantee(self) -> Any:
        """What a perturbed frame promises; the number of its locations is not known."""
        return importlib.import_module("geotracs.utility.dask").promised(self._frame)


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
                _register()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def _register() -> None:
    extensions = importlib.import_module("dask.dataframe.extensions")
    extensions.register_dataframe_accessor("tracs")(DaskTracsAccessor)


if "dask_geopandas" in sys.modules:
    _register()
else:
    sys.meta_path.insert(0, _WhenImported())
