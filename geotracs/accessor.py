"""``GeoDataFrame.tracs``: the functions of geotracs as methods. No state."""

import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pandas as pd

if TYPE_CHECKING:
    from pathlib import Path

    import dask_geopandas
    import folium
    import numpy as np
    from folium.plugins import DualMap
    from matplotlib.axes import Axes

    from geotracs.core.guarantee import Guarantee
    from geotracs.trust.findings import Audit
    from geotracs.trust.ledger import Ledger
    from geotracs.trust.report_result import Report
    from geotracs.trust.risk_result import Risk
    from geotracs.views.maps.scene import Row


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
        parameters = [own, *list(signature.parameters.values())[1:]]
        method.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # any function has it
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

    if TYPE_CHECKING:  # the signatures of the functions below, for editors

        def perturb(
            self,
            eps: float | str,
            method: str = "joint",
            *,
            domain: Any = None,
            fit: str = "envelope",
            prior: Any = None,
            weight: str | None = None,
            remap: Any = None,
            trajectory: str | None = None,
            time: str | None = None,
            person: str | None = None,
            unit: str = "location",
            allocation: str | Sequence[float] = "even",
            every: Any = None,
            at_most: int | None = None,
            fill: str | None = None,
            speed: float | None = None,
            repeat: str | None = None,
            cell: float | None = None,
            round_to: Any = None,
            place: str = "place",
            join: Sequence[str] = (),
            centroid: bool = False,
            crs: Any = None,
            outside: str = "raise",
            keep: str | Sequence[str] | None = None,
            embed: bool = False,
            ledger: Any = None,
            data: str | None = None,
            rng: int | np.random.Generator | None = None,
            workers: int | None = None,
            progress: bool = False,
            **options: Any,
        ) -> gpd.GeoDataFrame:
            """See `geotracs.perturb`."""

        def compare(
            self,
            perturbed: gpd.GeoDataFrame,
            *,
            metrics: str | Sequence[str] = ...,
            by: str | None = None,
            within: Sequence[float] = ...,
            places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
        ) -> pd.Series | pd.DataFrame:
            """See `geotracs.compare`."""

        def sweep(
            self,
            eps: Sequence[float] = ...,
            methods: Sequence[str] | Mapping[str, str | Mapping[str, Any]] = ...,
            repeats: int = 5,
            *,
            within: Sequence[float] = ...,
            rng: int | np.random.Generator | None = None,
            progress: bool | None = None,
            **arguments: Any,
        ) -> pd.DataFrame:
            """See `geotracs.sweep`."""

        def flows(
            self,
            zones: gpd.GeoDataFrame | gpd.GeoSeries,
            *,
            pairs: str = "ends",
            when: str | pd.Timedelta | None = None,
            level: float = 0.9,
            domain: Any = None,
            round_to: Any = None,
            prior: Any = None,
            weight: str | None = None,
        ) -> gpd.GeoDataFrame:
            """See `geotracs.answers.flows.flows`."""

        def lengths(
            self,
            *,
            of: str = "length",
            pairs: str = "ends",
            bins: int | Sequence[float] = 10,
            level: float = 0.9,
            domain: Any = None,
            round_to: Any = None,
            prior: Any = None,
            weight: str | None = None,
        ) -> pd.DataFrame:
            """See `geotracs.answers.lengths.lengths`."""

        def explore(
            self,
            perturbed: gpd.GeoDataFrame | None = None,
            *,
            truth: gpd.GeoDataFrame | None = None,
            view: str = "auto",
            m: folium.Map | None = None,
            tiles: Any = ...,
            attr: str | None = None,
            color: str | None = None,
            cmap: str | Sequence[str] | None = None,
            tooltip: bool | int | str | Sequence[str] = True,
            popup: bool | int | str | Sequence[str] = False,
            legend: bool = True,
            width: str | int = "100%",
            height: str | int = "100%",
            style_kwds: dict[str, Any] | None = None,
            domain: Any = None,
            places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
            background: Any = None,
            cells: Any = None,
            zones: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
            at_least: float = 0,
            pick: Any = None,
            trajectory: str | None = None,
            time: str | None = None,
            trail: Any = None,
            sample: int | None = None,
            offline: bool = False,
        ) -> folium.Map | DualMap | Row:
            """See `geotracs.views.maps.explore`."""

        def density(
            self,
            cells: Any = None,
            *,
            zones: Any = None,
            places: Any = None,
            prior: Any = None,
            weight: str | None = None,
            level: float = 0.9,
            robust: bool | float = False,
            speed: float | None = None,
            domain: Any = None,
            round_to: Any = None,
        ) -> gpd.GeoDataFrame:
            """See `geotracs.answers.density.density`."""

        def popularity(
            self,
            places: Any,
            *,
            prior: Any = None,
            weight: str | None = None,
            level: float = 0.9,
            domain: Any = None,
            round_to: Any = None,
        ) -> gpd.GeoDataFrame:
            """See `geotracs.answers.popularity.popularity`."""

        def reconstruct(
            self,
            *,
            speed: float,
            stay: float = 0.3,
            motion: str = "auto",
            prior: Any = "release",
            weight: str | None = None,
            places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
            at: str | Sequence[Any] | None = None,
            interval: float | None = None,
            level: float = 0.9,
            domain: Any = None,
            round_to: Any = None,
            cells: int = 64,
        ) -> gpd.GeoDataFrame:
            """See `geotracs.answers.reconstruct.reconstruct`."""

        def risk(
            self,
            private: gpd.GeoDataFrame,
            *,
            person: str | None = None,
            speed: float = ...,
            stay: float = 0.3,
            within: float = ...,
            known: int = 4,
            cells: int = 64,
            domain: Any = None,
            round_to: Any = None,
            prior: Any = None,
            weight: str | None = None,
        ) -> Risk:
            """See `geotracs.trust.risk.of_release`."""

        def report(
            self,
            path: str | Path | None = None,
            *,
            person: str | None = None,
            period: str = "1D",
            ledger: Ledger | None = None,
            data: str | None = None,
            risk: Risk | bool = True,
            audit: Audit | bool = True,
            speed: float = ...,
            domain: Any = None,
            round_to: Any = None,
            prior: Any = None,
            weight: str | None = None,
            title: str | None = None,
            overwrite: bool = False,
        ) -> Report:
            """See `geotracs.report`."""

        def plot(
            self,
            perturbed: gpd.GeoDataFrame | None = None,
            *,
            truth: gpd.GeoDataFrame | None = None,
            ax: "Axes | None" = None,
            trajectory: str | None = None,
            time: str | None = None,
            domain: Any = None,
            places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
            most: int = 4,
            legend: bool = True,
            basemap: Any = None,
        ) -> "Axes | np.ndarray":
            """See `geotracs.plots.plot`."""

        def synthesize(
            self,
            n: int | None = None,
            *,
            seed: int | None = None,
            cells: int = 12,
            network: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
            places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
            domain: Any = None,
            round_to: Any = None,
        ) -> gpd.GeoDataFrame:
            """See `geotracs.answers.synthesize.synthesize`."""

    else:
        perturb = _Function("geotracs.release.frame", "perturb")
        compare = _Function("geotracs.utility.compare", "compare")
        sweep = _Function("geotracs.utility.sweep", "sweep")
        density = _Function("geotracs.answers.density", "density")
        popularity = _Function("geotracs.answers.popularity", "popularity")
        reconstruct = _Function("geotracs.answers.reconstruct", "reconstruct")
        flows = _Function("geotracs.answers.flows", "flows")
        lengths = _Function("geotracs.answers.lengths", "lengths")
        risk = _Function("geotracs.trust.risk", "of_release")
        report = _Function("geotracs.trust.report", "report")
        explore = _Function("geotracs.views.maps", "explore")
        plot = _Function("geotracs.views.plots", "plot")
        synthesize = _Function("geotracs.answers.synthesize", "synthesize")

    @property
    def guarantee(self) -> "Guarantee":
        """What a perturbed frame promises, read from its attrs; warns if its locations have changed since."""
        return importlib.import_module("geotracs.utility.compare").promised(self._frame)


class DaskTracsAccessor:
    """Perturb movement data and see what it cost, from a dask-geopandas frame."""

    def __init__(self, frame: Any) -> None:
        if not isinstance(frame, sys.modules["dask_geopandas"].GeoDataFrame):
            raise AttributeError(
                "`.tracs` needs a dask_geopandas.GeoDataFrame; make one with dask_geopandas.from_dask_dataframe(...)."
            )
        self._frame = frame

    if TYPE_CHECKING:  # the signatures of the functions below, for editors

        def perturb(
            self,
            eps: float | str,
            method: str = "joint",
            *,
            shuffle: bool | None = None,
            rng: int | np.random.Generator | None = None,
            **arguments: Any,
        ) -> dask_geopandas.GeoDataFrame:
            """See `geotracs.release.dask.perturb`."""

        def compare(
            self,
            perturbed: dask_geopandas.GeoDataFrame,
            *,
            metrics: str | Sequence[str] = ...,
            by: str | None = None,
            within: Sequence[float] = ...,
        ) -> pd.Series | pd.DataFrame:
            """See `geotracs.utility.dask.compare`."""

        def sweep(self, *args: Any, **kwargs: Any) -> pd.DataFrame:
            """See `geotracs.utility.dask.sweep`."""

        def density(
            self,
            cells: Any = None,
            *,
            zones: Any = None,
            places: Any = None,
            prior: Any = None,
            weight: str | None = None,
            level: float = 0.9,
            robust: bool | float = False,
            speed: float | None = None,
            domain: Any = None,
            round_to: Any = None,
        ) -> gpd.GeoDataFrame:
            """See `geotracs.answers.density.density`."""

        def popularity(
            self,
            places: Any,
            *,
            prior: Any = None,
            weight: str | None = None,
            level: float = 0.9,
            domain: Any = None,
            round_to: Any = None,
        ) -> gpd.GeoDataFrame:
            """See `geotracs.answers.popularity.popularity`."""

    else:
        perturb = _Function("geotracs.release.dask", "perturb")
        compare = _Function("geotracs.utility.dask", "compare")
        sweep = _Function("geotracs.utility.dask", "sweep")
        density = _Function("geotracs.answers.density", "density")
        popularity = _Function("geotracs.answers.popularity", "popularity")

    @property
    def guarantee(self) -> "Guarantee":
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

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]  # of this one loader
        return spec


def _register() -> None:
    extensions = importlib.import_module("dask.dataframe.extensions")
    extensions.register_dataframe_accessor("tracs")(DaskTracsAccessor)


if "dask_geopandas" in sys.modules:
    _register()
else:
    sys.meta_path.insert(0, _WhenImported())
