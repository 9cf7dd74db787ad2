"""Densities compared: shares of the same zones among originals and reports, and as a reader estimates them."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import geopandas as gpd
import numpy as np
import shapely

import geotracs.answers.density as answers
import geotracs.views.lattices as lattices
import geotracs.views.shapes as shapes
from geotracs.answers.passes import read
from geotracs.core.places import Grid
from geotracs.errors import GeotracsWarning, InputError, quoted
from geotracs.geo.originals import Originals
from geotracs.geo.region import Region, resolve

PER_BLUR = 3
"""Hexagons are this many times narrower than the blur of the reports..."""
FEWEST, MOST = 14, 30
"""...but there are so many of them along the longer side of the region."""
ESTIMATED, DIFFERENCE = "estimated", "difference"


@dataclass(frozen=True, repr=False)
class Asked:
    """What is compared on which zones: arguments of `explore`, checked where they are used."""

    cells: Any = None
    zones: Any = None
    at_least: float = 0.0
    round_to: Any = None

    def __post_init__(self) -> None:
        if self.cells is not None and self.zones is not None:
            raise InputError("Give `cells` or `zones`, not both.")
        least = self.at_least
        if isinstance(least, bool) or not isinstance(least, (int, float, np.number)) or not 0 <= least < np.inf:
            raise InputError(f"`at_least` must be a count of at least 0, got {quoted(least)}.")
        width = isinstance(self.cells, (int, float, np.number)) and not isinstance(self.cells, bool)
        if self.cells is not None and not isinstance(self.cells, Grid) and not (width and 0 < self.cells < np.inf):
            raise InputError(
                "`cells` must be the width of hexagons in metres, such as 1000, or a geotracs.places.Grid, got "
                f"{quoted(self.cells)}."
            )


@dataclass(frozen=True, repr=False)
class Compared:
    """Shares of the same zones by several ways.

    Attributes
    ----------
    zones : GeoDataFrame
        In the CRS of the data.
    shares : dict of arrays
        By the names of the layers, in the order in which they are drawn.
    totals : dict of numbers
        Of how many locations these are shares.
    low, high : arrays, or None
        Of the estimate.
    notes : list of str
        What a reader must know, such as why there is no estimate.
    """

    zones: gpd.GeoDataFrame
    shares: dict[str, np.ndarray]
    totals: dict[str, float]
    low: np.ndarray | None
    high: np.ndarray | None
    level: float = 0.9
    notes: list[str] = field(default_factory=list)

    @property
    def difference(self) -> tuple[np.ndarray, str] | None:
        """What is compared with the originals, minus these; and its name."""
        if "original" not in self.shares or len(self.shares) < 2:
            return None
        name = list(self.shares)[-1]
        return self.shares[name] - self.shares["original"], name

    @property
    def unclear(self) -> np.ndarray:
        """Which zones have an interval that is wider than the share."""
        if self.low is None or self.high is None:
            return np.zeros(len(self.zones), dtype=bool)
        return np.asarray(self.high - self.low > self.shares[ESTIMATED])

    @property
    def top(self) -> float:
        """The largest share of all layers, which have one scale."""
        return max((float(part.max(initial=0)) for part in self.shares.values()), default=0.0)

    def hidden(self, name: str, at_least: float) -> np.ndarray:
        """Return which zones hold fewer locations than this."""
        return np.asarray(self.shares[name] * self.totals[name] < at_least)


def compared(
    original: gpd.GeoDataFrame | None,
    release: gpd.GeoDataFrame | None,
    asked: Asked,
    region: Region | None,
    domain: Any,
) -> Compared:
    """Return the shares of zones in originals and release, and what a reader of the release estimates.

    Parameters
    ----------
    original, release : GeoDataFrame
        One of them at least.
    region : Region, optional
        That of the release, as far as it is known; otherwise the extent of what is drawn.
    domain
        As given to `perturb`, for the estimate.
    """
    frame = original if release is None else release
    region = _extent([original, release]) if region is None else region
    width = None if release is None or asked.cells is not None else _blur(release, domain, asked.round_to)
    zones, estimate = _zones(frame, asked, region, width), None
    why: list[str] = []
    if release is not None:
        estimate, why = _estimated(release, zones, asked, domain)
        zones = zones if estimate is None else estimate
    frames = {"original": original, "released": release}
    shares = {name: shapes.naive(zones, tracks) for name, tracks in frames.items() if tracks is not None}
    totals = {name: _count(tracks) for name, tracks in frames.items() if tracks is not None}
    if estimate is None:
        return Compared(zones, shares, totals, None, None, notes=why)
    shares[ESTIMATED], totals[ESTIMATED] = shapes.numbers(estimate, "share"), totals["released"]
    low, high = (shapes.numbers(estimate, end) for end in ("low", "high"))
    level = float(shapes.made_by(estimate).get("level", 0.9))
    return Compared(zones, shares, totals, low, high, level, why)


def _blur(release: gpd.GeoDataFrame, domain: Any, round_to: Any) -> float | None:
    """Return how wide reports blur, in units of the working CRS; None if the release does not tell."""
    try:
        return read(release, domain=domain, round_to=round_to).resolution()
    except InputError:  # the estimate says why
        return None


def _extent(frames: Sequence[gpd.GeoDataFrame | None]) -> Region | None:
    """Return the box around what is drawn, where no region is known; None if it holds nothing or has no extent."""
    drawn = [frame for frame in frames if frame is not None]
    bounds = np.array([frame.geometry.to_crs(drawn[0].crs).total_bounds for frame in drawn])
    if not np.isfinite(bounds).any():
        return None
    west, south = np.nanmin(bounds[:, :2], axis=0)
    east, north = np.nanmax(bounds[:, 2:], axis=0)
    if not (west < east and south < north):
        return None
    return resolve((west, south, east, north), Originals.nobody(drawn[0].crs))


def _zones(frame: Any, asked: Asked, region: Region | None, blur: float | None) -> gpd.GeoDataFrame:
    """Return what is asked for, by default hexagons that suit the region and the reports."""
    if asked.zones is not None:
        if not isinstance(asked.zones, (gpd.GeoDataFrame, gpd.GeoSeries)) or asked.zones.crs is None:
            raise InputError("`zones` must be a GeoDataFrame or GeoSeries of areas, with a CRS.")
        zones = gpd.GeoDataFrame(geometry=asked.zones.geometry)
        zones = shapes.drawable(zones)
        if not len(zones) or not np.isin(zones.geom_type, ("Polygon", "MultiPolygon")).all():
            raise InputError("`zones` must hold areas, at least one.")
        return zones
    if region is None:
        raise InputError(
            "There is nothing to compare the density of: all locations are missing, or at one place. Use "
            "view='overlay'."
        )
    if isinstance(asked.cells, Grid):
        return lattices.boxes(region, asked.cells)
    size = float(np.max(np.ptp(np.reshape(region.domain.outline.bounds, (2, 2)), axis=0)))
    if asked.cells is not None:
        return lattices.hexagons(region, float(asked.cells) / lattices.metres(region))
    return lattices.hexagons(region, size / float(np.clip(PER_BLUR * size / (blur or size), FEWEST, MOST)))


def _estimated(
    release: gpd.GeoDataFrame, zones: gpd.GeoDataFrame, asked: Asked, domain: Any
) -> tuple[gpd.GeoDataFrame | None, list[str]]:
    """Return the estimated shares, or why there are none."""
    how: dict[str, Any] = {"cells": asked.cells} if isinstance(asked.cells, Grid) else {"zones": zones}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            estimate = answers.density(release, **how, domain=domain, round_to=asked.round_to)
        except InputError as error:
            return None, [f"not estimated: {_first(str(error))}"]
    for one in said:
        if not issubclass(one.category, GeotracsWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return estimate, []


def _first(words: str) -> str:
    """Return the first sentence."""
    return words.split(". ")[0].rstrip(".")


def _count(frame: gpd.GeoDataFrame) -> float:
    return float(len(shapely.get_coordinates(np.asarray(frame.geometry.dropna().values))))
