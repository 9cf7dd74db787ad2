"""The plan of a release: everything that is decided once, from public things, before any location is looked at.

`perturb` makes a plan and applies it to a frame; streaming applies it to pieces of a file, dask to partitions.
"""

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.core.cache as cache
import geotracs.core.methods as methods
import geotracs.geo.columns as columns_
import geotracs.geo.crs as crs_
import geotracs.geo.region as regions
import geotracs.geo.tracks as frames
import geotracs.release.blocks as blocks
import geotracs.release.budgets as budgets_
import geotracs.release.engine as engine
import geotracs.release.outside as outside
import geotracs.release.pace as paces
import geotracs.release.repeats as repeats
import geotracs.release.setting as settings
import geotracs.release.steps as steps
from geotracs.core.digest import Digest
from geotracs.core.guarantee import Guarantee
from geotracs.core.randomness import Key
from geotracs.errors import DomainError, InputError
from geotracs.geo.originals import Originals
from geotracs.geo.prepare.rows import marks
from geotracs.geo.rounding import Rounding
from geotracs.geo.sharing import Unit
from geotracs.io.progress import bar
from geotracs.release.request import Request


@dataclass(frozen=True, repr=False)
class Plan:
    """What is done to every location of a release.

    Attributes
    ----------
    recipe : Method
        In the working CRS.
    sharing : Unit
        What epsilon is for.
    region : Region, or None
        None when there is no location and none was given.
    after : tuple of Step
        What is done after the draw.
    levels : float or array
        The epsilons that locations have.
    options : dict
        The method's options as they were given.
    added : list of str
        The columns that places add.
    budgets : Budgets, or None
        The epsilons of locations, if they are not all the same or shared evenly.
    layers : dict
        What recognises the public layers, or holds them; see `geotracs.geo.layers`.
    schedule : dict
        What the record says of the rows that are reported, if these are not all.
    pace : Pace, or None
        How quickly the first rows follow each other, if they have times.
    repeat : Repeat, or None
        Whether the rows of a person in a cell share one report.
    prepared : list of dict
        What was done to the rows before: the marks of `geotracs.prepare`.
    """

    recipe: methods.Method
    eps: float
    sharing: Unit
    region: regions.Region | None
    rounding: Rounding | None
    after: tuple[steps.Step, ...]
    levels: float | np.ndarray
    options: dict[str, Any]
    outside: str
    trajectory: str | None
    time: str | None
    kept: list[str]
    added: list[str]
    reproducible: bool
    budgets: budgets_.Budgets | None = None
    remap: methods.Remap | methods.PlaceRemap | None = None
    layers: dict[str, Any] = field(default_factory=dict)
    pace: paces.Pace | None = None
    repeat: repeats.Repeat | None = None
    prepared: list[dict[str, Any]] = field(default_factory=list)
    schedule: dict[str, Any] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """The name of what epsilon is for."""
        return self.sharing.name

    def __repr__(self) -> str:
        return f"<Plan of {self.recipe.name}, epsilon {self.eps:g} per {self.unit}>"

    def read(self, gdf: gpd.GeoDataFrame) -> frames.Tracks:
        """Return the locations of a frame in the order in which they are processed."""
        tracks = frames.read(gdf, self.trajectory, self.time, grouped=self.recipe.sequential)
        return self.sharing.group(gdf, tracks)

    def cut(self, tracks: frames.Tracks, first: int = 0, continues: bool = False) -> list[blocks.Block]:
        """Cut the locations into the blocks that have a random stream each; see `engine.cut`."""
        return engine.cut(
            self.recipe, len(tracks.xy), tracks.offsets, tracks.row_starts, first=first, continues=continues
        )

    def apply(self, gdf: gpd.GeoDataFrame, tracks: frames.Tracks, key: Key, **arguments: Any) -> gpd.GeoDataFrame:
        """Return the release of a frame; the arguments are those of `reports`."""
        own, whose = self.own(gdf, tracks), self.whose(gdf, tracks, key)
        xy, added, _ = self.reports(tracks, key, own=own, whose=whose, **arguments)
        return frames.output(gdf, tracks.rebuild(xy), self.kept, added)

    def own(self, table: pd.DataFrame, tracks: frames.Tracks) -> np.ndarray | None:
        """Return the epsilon of each row of a table that holds locations; None without a column of epsilons."""
        return None if self.budgets is None else self.budgets.own(table, tracks.present)

    def whose(self, table: pd.DataFrame, tracks: frames.Tracks, key: Key) -> repeats.Whose | None:
        """Return whose the locations of a table are; None where every row is drawn by itself."""
        return None if self.repeat is None else self.repeat.whose(table, tracks, key)

    def reports(
        self,
        tracks: frames.Tracks,
        key: Key,
        *,
        parts: list[blocks.Block] | None = None,
        lengths: np.ndarray | None = None,
        own: np.ndarray | None = None,
        whose: repeats.Whose | None = None,
        earlier: np.ndarray | None = None,
        before: Any = None,
        progress: bool | None = False,
        workers: int | None = None,
    ) -> tuple[np.ndarray, pd.DataFrame | None, Any]:
        """Return the reports, what places add to each of them, and what the next piece continues from.

        Parameters
        ----------
        tracks : Tracks
            All locations of a release, or a piece of it; overwritten.
        parts : list of Block, optional
            The blocks of the piece; by default these are all locations.
        lengths : array of int, optional
            How many locations each unit has in the whole release; by default as many as here.
        own : array, optional
            What `Plan.own` returned.
        whose : Whose, optional
            What `Plan.whose` returned.
        earlier : array of int, optional
            How many locations of each trajectory came before this piece; by default none.
        before
            What was returned for the piece before, if this one begins inside a trajectory.
        """
        if tracks.are_lines and len(self.added) > 1:
            raise InputError(
                "`join` is for points; a line holds many locations in a row, each with a place of its own."
            )
        xy, lengths = tracks.xy, tracks.unit_lengths if lengths is None else lengths
        eps = budgets_.of_locations(self.eps, self.unit, self.budgets, tracks, own, lengths, earlier)
        offsets = tracks.offsets if self.recipe.sequential else None
        parts = self.cut(tracks) if parts is None else parts
        which = None if self.rounding is None else np.empty(len(xy), dtype=np.int64)
        last, n_outside = engine.run(
            self.steps if len(xy) else [],
            xy,
            offsets,
            eps,
            key,
            parts,
            which,
            before=before,
            whose=whose,
            progress=progress,
            workers=workers,
        )
        if self.outside == "raise" and n_outside:
            raise DomainError(outside.message(xy, self._region, n_outside))
        added = None
        if self.added and not tracks.are_lines:
            added = pd.DataFrame(columns=self.added)
            if self.rounding is not None and which is not None:
                added = self.rounding.attributes(tracks.in_frame_order(which))
        return xy, added, last

    def guarantee(
        self, locations: int | None, longest: int | None, digest: Digest | None = None, periods: int | None = None
    ) -> Guarantee:
        """Return what the release promises; None where numbers are not known, such as that of the locations."""
        person = None if self.sharing.by_trajectory else self.sharing.column
        columns, region = (self.trajectory, self.time, person), self.region
        crs = None if region is None else crs_.label(region.data_crs)
        given = replace(self.recipe, **{name: self.options[name] for name in self.recipe.public_lengths})
        return Guarantee(
            method=self.recipe.name,
            epsilon=self.eps,
            unit=self.unit,
            shares=self.recipe.shares,
            options={**self.recipe.record(), **self.options},
            locations=locations,
            longest=longest,
            domain=region.record if region else {},
            crs=crs_.label(region.crs) if region and not region.record["fitted"] else None,
            trajectory=self.trajectory,
            time=self.time,
            kept=[str(name) for name in self.kept if name not in columns],
            # Cells over a fitted region tell how large it is.
            places=None if self.rounding is None or self._region.record["fitted"] else self.rounding.places.count,
            over=self.recipe.over,
            caveat=self.recipe.caveat,
            # Tables fitted to a region that was fitted to private data tell of it.
            tables=self.channel.tables() if region and self.recipe.travels and not region.record["fitted"] else {},
            privacy=given.privacy,
            reproducible=self.reproducible,
            digest=None if digest is None else {"crs": crs, **digest.to_record()},
            version=version("geotracs"),
            allocation="even" if self.budgets is None else self.budgets.allocation.to_record(),
            epsilons={} if self.budgets is None else self.budgets.to_record(),
            remap=None if self.remap is None else self.remap.record,
            # Points in the working CRS of a fitted region tell of it.
            recipe=self.recipe.record() if region and not region.record["fitted"] else {},
            layers=self.layers,
            risk=self.risk,
            repeat={} if self.repeat is None else self.repeat.to_record(),
            prepared=self.prepared,
            person=person,
            periods=periods,
            schedule=self.schedule,
        )

    @functools.cached_property
    def risk(self) -> dict[str, Any]:
        """How far reports are off, and whoever follows people through them; nothing where that is not known.

        From public things only, and so not for a region that was fitted to private data.
        """
        if self.pace is None or self.region is None or self.region.record["fitted"]:
            return {}
        eps = self.pace.typical(self.eps, self.unit, self.levels)
        cell = 0.0 if self.repeat is None else self.repeat.cell
        return {} if self.pace.is_sparse(self.region) else paces.risk(self.pace, self.channel, self.region, eps, cell)

    @functools.cached_property
    def channel(self) -> methods.Channel:
        """The method bound to its public things."""
        return self._bound()

    def _bound(self, progress: Callable[[int], Any] | None = None) -> methods.Channel:
        with cache.off() if self._region.record["fitted"] else contextlib.nullcontext():
            return self._bind(progress)

    def _bind(self, progress: Callable[[int], Any] | None) -> methods.Channel:
        remap = self.remap if self.remap is not None and self.remap.usable else None
        if self.rounding is not None and self.recipe.over == "places":
            self.rounding.check_points()
            return self.recipe.on(self._region.domain, self.rounding.places, self.levels, progress, remap)
        places = None if self.rounding is None else self.rounding.places
        return self.recipe.on(self._region.chart, places, self.levels, progress, remap)

    @functools.cached_property
    def steps(self) -> list[steps.Step]:
        """What is done to every location: one draw, and after it public things only."""
        draw: steps.Step = steps.Draw(self.channel)
        if self.repeat is not None:
            draw = steps.DrawOnce(self.channel, self._region, self.repeat.cells(self._region))
        return [steps.Enter(self._region, self.outside), draw, *self.after]

    @property
    def _region(self) -> regions.Region:
        """The region, which exists wherever there are locations."""
        return cast(regions.Region, self.region)

    def prepare(self, progress: bool | None = False) -> None:
        """Bind the method to its public things now, with a bar where that takes long."""
        if self.region is not None and self.recipe.travels:
            with bar(self.recipe.rounds(self.levels), progress, " rounds", "Fitting") as advance:
                vars(self)["channel"] = self._bound(advance)

    def __getstate__(self) -> dict[str, Any]:
        if self.recipe.travels and self.region is not None:
            _ = self.channel  # which is sent along
        made = ("steps",) if self.recipe.travels else ("channel", "steps")  # made again where they are needed
        return {name: value for name, value in vars(self).items() if name not in made}


def make(
    request: Request,
    gdf: gpd.GeoDataFrame,
    *,
    data: Originals,
    lengths: np.ndarray,
    budgets: budgets_.Budgets | None = None,
    schedule: dict[str, Any] | None = None,
) -> Plan:
    """Make the plan of a release.

    Parameters
    ----------
    gdf : GeoDataFrame
        The frame, or some rows of it, or none: its columns, and whether one of them tells where the rows are.
    data : Originals
        The CRS of the locations, and what may be asked about them to warn of what was derived from them.
    lengths : array of int
        How many locations each unit, such as a trajectory, has, as far as it is known.
    budgets : Budgets, optional
        The epsilons of locations, if they are not all the same or shared evenly.
    schedule : dict, optional
        What the record says of the rows that are reported, if these are not all.
    """
    trajectory, time = request.trajectory, request.time
    person = None if request.sharing.by_trajectory else request.sharing.column
    named = (trajectory, time, person, None if request.repeat is None else request.person)
    columns_.check(gdf, [name for name in dict.fromkeys(named) if name is not None])
    kept = columns_.kept(gdf, request.keep, trajectory, time, request.budget_column, person)
    _check_new_columns(request.added, [*kept, gdf.active_geometry_name])
    with cache.off() if request.domain is None else contextlib.nullcontext():  # or it would tell of a fitted region
        nothing = request.domain is None and lengths.sum() == 0
        setting = None if nothing else settings.make(request, data, lengths, budgets)
    recipe = request.recipe if setting is None else setting.recipe
    levels = settings.levels(request, lengths) if budgets is None else budgets.levels.values
    recipe.check_eps(levels)
    return Plan(
        recipe=recipe,
        eps=cast(float, request.eps) if budgets is None else budgets.largest,
        sharing=request.sharing,
        region=None if setting is None else setting.region,
        rounding=None if setting is None else setting.rounding,
        after=() if setting is None else steps.after_the_draw(setting),
        levels=levels,
        # "best" is a number now, which the recipe knows
        options={**_lengths(recipe, request), **{n: v for n, v in request.options.items() if v != "best"}},
        outside=request.outside,
        trajectory=trajectory,
        time=time,
        kept=kept,
        added=request.added,
        reproducible=request.rng is not None,
        budgets=budgets,
        remap=None if setting is None else setting.remap,
        layers={} if setting is None else settings.layers(request, setting.region),
        pace=paces.Pace.of(gdf, trajectory, time, request.sharing),
        repeat=repeats.Repeat.of(request),
        prepared=marks(gdf),
        schedule={} if schedule is None else schedule,
    )


def _lengths(recipe: methods.Method, request: Request) -> dict[str, float]:
    """Return the method's lengths in metres, as they were given or are by default: the record keeps these."""
    return {name: getattr(request.recipe, name) for name in recipe.public_lengths}


def _check_new_columns(added: Sequence[str], taken: list[str]) -> None:
    for number, name in enumerate(added):
        if name in taken:
            fix = "rename it in the layer" if number else "choose another name with `place`"
            raise InputError(f"The release would have two columns {name!r}; {fix}.")
