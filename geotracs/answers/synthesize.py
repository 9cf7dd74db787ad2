"""Made-up trips, as many as one likes, that are alike to those of a release all together."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.answers.on_the_way as on_the_way
import geotracs.geo.crs as crs_
from geotracs.answers.carried import carried
from geotracs.answers.observations import check_independent
from geotracs.answers.reader import Reader
from geotracs.answers.states import CellStates, PlaceStates, States
from geotracs.answers.trip_ends import LEVELS, choose, draw, joint_shares, of_each, of_levels
from geotracs.answers.ways import Network, straight
from geotracs.core.randomness import made_up
from geotracs.errors import CRSError, InputError, quoted, sealed, warn
from geotracs.geo.filling import drawn

WORDS = (
    "The trips of this frame are synthetic: they were made up from the release that is described here, and nobody made "
    "them. What it promises holds for them."
)
MIN_TRIPS = 100
"""From fewer trips nothing can be learnt that is worth making up others."""
MAX_CELLS = 32
"""Cells along the longer side at most: pairs of them are a million then."""
MAX_PLACES = 256
"""Up to this many places that a method reports are ends themselves; more are taken together in cells."""
MAX_APART, MAX_LOOKING_BACK = 100_000, 3_000
"""How many trips are used at most where each has likelihoods of its own, and where the method looks back."""
CANDIDATES, AT_ONCE = 16, 2**15
"""How many pairs of begin and end are tried for each trip with reports in between, and for how many at a time."""
TRIES = 16
"""How often a point in a cell is drawn again that lies outside the region."""
JITTER, STRETCH = 900.0, 0.1
"""Seconds by which a begin is moved at most, and the spread of the factor of a duration."""
NEXT_TO_NOTHING = 10.0
"""Fewer nats than these, by which what is estimated explains reports better than anything else does, are chance."""
LEFT_OUT = 0.1
"""Which part of a network may be left out, or of ends be out of its reach, without a warning."""


@sealed
def synthesize(
    frame: gpd.GeoDataFrame,
    n: int | None = None,
    *,
    seed: int | None = None,
    cells: int = 12,
    network: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
    places: gpd.GeoDataFrame | gpd.GeoSeries | None = None,
    domain: Any = None,
    round_to: Any = None,
) -> gpd.GeoDataFrame:
    """Make up trips with the origins, destinations, lengths and times that a release is estimated to have.

    The joint distribution of where trips begin and end is estimated over cells by maximum likelihood, from the first
    and the last report of each trip and what is known of the method. Reports in between count as well where times are
    known: whoever goes from begin to end is after half of the time about half-way. Each made-up trip takes the time of
    a trip of the release, chosen at random, and begins and ends where that one probably did, given all reports.

    This is computed from the release alone. It costs no epsilon, and what the release promises holds for the made-up
    trips, no less and no more. Times are not protected: they are those of the release, moved by up to 15 minutes.
    Where reports tell next to nothing, trips go from anywhere to anywhere, and a warning says so.

    Parameters
    ----------
    frame : GeoDataFrame
        A release, with trajectories that are trips: 100 at least with two reports or more. Two are enough, and where
        they share an epsilon (``unit="trajectory"``) fewer reports tell more each.
    n : int, optional
        How many trips to make up; by default as many as the release has.
    seed : int, optional
        The same seed gives the same trips.
    cells : int
        Cells along the longer side of the region, from 2 to 32. Within a cell ends are uniform.
    network : GeoDataFrame or GeoSeries, optional
        Public lines, such as streets, that meet at common vertices. Trips begin and end at junctions, those nearest to
        where they would, and take the shortest way. Of a network in several parts the largest one is used.
    places : GeoDataFrame or GeoSeries, optional
        Public points. Trips begin and end at the nearest ones, and go from place to neighbouring place. Without network
        and places ways are straight, and may cross what lies outside of the region.
    domain, round_to : optional
        The public region and places of the release, as they were given to `perturb`, where its record does not hold
        them.

    Returns
    -------
    GeoDataFrame
        A line for each trip in the CRS of the release, with the columns ``trip``, and ``begin`` and ``end`` where the
        release has times. ``attrs["tracs"]`` is the record of the release, with an entry "synthetic".

    Examples
    --------
    >>> import geotracs
    >>> xy = np.random.default_rng(0).normal(5000, 1000, (400, 2)).cumsum(axis=1) / [1, 2]
    >>> trips = gpd.GeoDataFrame(
    ...     {"trip": np.arange(400) // 2, "t": pd.date_range("2026-01-01", periods=400, freq="10min")},
    ...     geometry=gpd.points_from_xy(*xy.T),
    ...     crs="EPSG:32633",
    ... )
    >>> box = (0, 0, 10_000, 10_000)
    >>> private = trips.tracs.perturb(8, domain=box, trajectory="trip", time="t", unit="trajectory", outside="clip")
    >>> made = private.tracs.synthesize(500, seed=1)
    >>> list(made.columns), len(made), made.attrs["tracs"]["synthetic"]["from"]
    (['trip', 'begin', 'end', 'geometry'], 500, 200)
    """
    _check(n, cells)
    rng = made_up(seed)
    reader = Reader.of(frame, domain=domain, round_to=round_to)
    check_independent(reader.observations, "synthesize")
    frame = drawn(frame)
    kind, ways = _ways(network, places, reader)
    trips = _Trips.of(frame, reader, rng)
    states = _states(reader, int(cells))
    count = trips.total if n is None else int(n)
    which = rng.integers(0, trips.count, count)
    begin, end = trips.ends(reader, states, which, rng)
    a, b = _points(states, begin, rng), _points(states, end, rng)
    lines = straight(a, b) if ways is None else ways.ways(*_reached(ways, a, b, states))
    made = gpd.GeoDataFrame(
        {"trip": np.arange(count), **trips.times(which, rng)},
        geometry=shapely.transform(lines, lambda xy: crs_.transform(xy, reader.region.crs, frame.crs)),
        crs=frame.crs,
    )
    made = carried(made, reader.guarantee, kind="synthesize", words=WORDS)
    details = {"trips": count, "from": trips.total, "between": trips.between, "cells": int(cells), "ways": kind}
    made.attrs["tracs"]["synthetic"] = details
    return made


def _check(n: int | None, cells: int) -> None:
    if not (n is None or (isinstance(n, Integral) and not isinstance(n, bool) and n > 0)):
        raise InputError(f"`n` must be a whole number of trips, 1 at least, got {quoted(n)}.")
    if isinstance(cells, bool) or not isinstance(cells, Integral) or not 2 <= cells <= MAX_CELLS:
        raise InputError(f"`cells` must be a whole number from 2 to {MAX_CELLS}, got {quoted(cells)}.")


@dataclass(frozen=True, eq=False, repr=False)
class _Trips:
    """The trips of a release.

    Attributes
    ----------
    offsets : array of shape (trips, 2)
        The first report of each that is used, and the one after its last.
    total : int
        How many there are.
    seconds : array, or None
        The time of each report.
    column : Series, or None
        The column of the times.
    """

    offsets: np.ndarray
    total: int
    seconds: np.ndarray | None
    column: pd.Series | None

    @classmethod
    def of(cls, frame: gpd.GeoDataFrame, reader: Reader, rng: np.random.Generator) -> "_Trips":
        """Return the trips of a release, or some of them where all would take too long."""
        if reader.guarantee.trajectory is None and not reader.tracks.are_lines:
            raise InputError(
                "This release has no trajectories, so that nobody knows which reports belong to one trip; make it with "
                "`trajectory`, the column that tells trips apart."
            )
        offsets = np.column_stack([reader.offsets[:-1], reader.offsets[1:]])
        offsets = offsets[np.diff(offsets, axis=1)[:, 0] > 1]
        total = len(offsets)
        if total < MIN_TRIPS:
            raise InputError(
                f"Trips are made up from at least {MIN_TRIPS} trajectories of two reports or more, and this release "
                f"has {total}."
            )
        column = None if reader.guarantee.time is None else frame[reader.guarantee.time]
        seconds = None if column is None else _seconds(column)[reader.tracks.rows]
        found = cls(offsets, total, seconds, column)
        most = MAX_APART if len(reader.levels) > LEVELS else total
        most = MAX_LOOKING_BACK if reader.channel.method.sequential else most
        return found if total <= most else replace(found, offsets=offsets[np.sort(rng.permutation(total)[:most])])

    @property
    def count(self) -> int:
        """How many are used."""
        return len(self.offsets)

    @property
    def durations(self) -> np.ndarray:
        """How many seconds each takes."""
        seconds = cast(np.ndarray, self.seconds)
        return seconds[self.offsets[:, 1] - 1] - seconds[self.offsets[:, 0]]

    @property
    def between(self) -> bool:
        """Whether there are reports between the ends, and it is known when."""
        longer = np.diff(self.offsets, axis=1)[:, 0] > 2
        return self.seconds is not None and bool((self.durations[longer] > 0).any())

    def ends(self, reader: Reader, states: States, which: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw where some of the trips begin and end, given all reports."""
        rows = np.stack([self.offsets[:, 0], self.offsets[:, 1] - 1])
        groups = of_levels(reader, states, *rows) or [of_each(reader, states, *rows)]
        joint, gain = joint_shares(groups, states, rng)
        if gain < NEXT_TO_NOTHING:
            warn(
                f"These {self.total:,} trips tell next to nothing about where people go: trips from anywhere to "
                "anywhere explain their reports as well, and the made-up ones are not much else. More trips, fewer "
                "reports of each that share an epsilon, or a larger epsilon would help."
            )
        if not self.between:
            return draw(groups, joint, which, rng)
        found = np.empty((2, len(which)), dtype=np.int64)
        for part in np.array_split(np.arange(len(which)), 1 + len(which) // AT_ONCE):
            some = which[part]
            tried = draw(groups, joint, np.repeat(some, CANDIDATES), rng).reshape(2, -1, CANDIDATES)
            likely = on_the_way.likelihood(reader, states, tried, rows[:, some], cast(np.ndarray, self.seconds))
            found[:, part] = tried[:, np.arange(len(some)), choose(likely, rng)]
        return found

    def times(self, which: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
        """Return begin and end of trips at about the time of these."""
        if self.seconds is None:
            return {}
        begin = self.seconds[self.offsets[which, 0]] + rng.uniform(-JITTER, JITTER, len(which))
        lasts = self.durations[which] * np.exp(rng.normal(0, STRETCH, len(which)))
        found = {"begin": begin} | ({"end": begin + lasts} if self.durations.any() else {})
        return {name: _like(values, cast(pd.Series, self.column)) for name, values in found.items()}


def _seconds(column: pd.Series) -> np.ndarray:
    """Return times as numbers of seconds."""
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64)
    if pd.api.types.is_timedelta64_dtype(column):
        return column.dt.total_seconds().to_numpy()
    dates = pd.to_datetime(column, format="ISO8601", utc=True)
    return (dates - pd.Timestamp(0, tz="UTC")).dt.total_seconds().to_numpy()


def _like(seconds: np.ndarray, column: pd.Series) -> Any:
    """Return numbers of seconds as times of the same kind as those of a column."""
    if pd.api.types.is_numeric_dtype(column):
        return seconds
    if pd.api.types.is_timedelta64_dtype(column):
        return pd.to_timedelta(np.rint(seconds), unit="s")
    zone = getattr(column.dtype, "tz", None)
    dates = pd.to_datetime(np.rint(seconds), unit="s", utc=True)
    return dates.tz_localize(None) if zone is None else dates.tz_convert(zone)


def _states(reader: Reader, cells: int) -> States:
    states = reader.states(side=cells)
    if isinstance(states, PlaceStates) and states.count > MAX_PLACES:
        return CellStates(reader.channel.domain, (cells, cells))
    return states


def _ways(network: Any, places: Any, reader: Reader) -> tuple[str, Network | None]:
    """Return how trips go, and on which network."""
    if network is not None and places is not None:
        raise InputError("Give `network` or `places`, not both: trips go along the one or from place to place.")
    if network is not None:
        lines = shapely.get_parts(_layer(network, "network", reader, ("LineString", "MultiLineString", "LinearRing")))
        found = Network.of_lines(lines)
        if found.part < 1 - LEFT_OUT:
            warn(
                f"`network` is in several parts; the largest one is used, which has {found.part:.0%} of its vertices. "
                "Lines meet only where they have a vertex in common."
            )
        return "network", found
    if places is not None:
        points = shapely.get_parts(_layer(places, "places", reader, ("Point", "MultiPoint")))
        return "places", Network.of_places(shapely.get_coordinates(points))
    return "straight", None


def _layer(layer: Any, name: str, reader: Reader, kinds: tuple[str, ...]) -> np.ndarray:
    """Return the geometries of a public layer in the working CRS, those that touch the region's box."""
    if not isinstance(layer, (gpd.GeoDataFrame, gpd.GeoSeries)):
        raise InputError(f"`{name}` must be a GeoDataFrame or a GeoSeries, got {type(layer).__name__}.")
    if layer.crs is None:
        raise CRSError(f"`{name}` has no CRS; set it with {name}.set_crs(...).")
    geometry = layer.geometry[~(layer.geometry.isna() | layer.geometry.is_empty)]
    others = set(geometry.geom_type) - set(kinds)
    if others:
        raise InputError(f"`{name}` must hold {kinds[0]}s, got {', '.join(sorted(others))}.")
    moved = shapely.force_2d(np.asarray(geometry.to_crs(reader.region.crs).values))
    inside = shapely.intersects(moved, shapely.box(*reader.region.domain.outline.bounds))
    if not inside.any():
        raise InputError(f"`{name}` has nothing inside the region of the release; are both CRSs right?")
    return cast(np.ndarray, moved[inside])


def _reached(ways: Network, a: np.ndarray, b: np.ndarray, states: States) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes where trips begin and end; warn where these are far from where they would."""
    nodes = ways.nearest(a), ways.nearest(b)
    size = np.ptp(states.xy, axis=0).max() / max(np.sqrt(states.count), 2)
    far = np.mean([np.hypot(*(ways.nodes[node] - xy).T) > size for node, xy in zip(nodes, (a, b), strict=True)])
    if far > LEFT_OUT:
        warn(
            f"`network` or `places` does not reach {far:.0%} of the ends of trips within the width of a cell; they "
            "were moved to its nearest point."
        )
    return nodes


def _points(states: States, which: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a point of each state: uniform in the part of a cell that is in the region, or the place itself."""
    xy = states.xy[which]
    if not isinstance(states, CellStates):
        return xy
    column, row = np.divmod(states.index[which], states.shape[1])
    left = np.arange(len(which))
    for _ in range(TRIES):
        corner = np.column_stack([column[left], row[left]])
        drawn = states.chart.from_unit((corner + rng.random((len(left), 2))) / states.shape)
        inside = states.domain.contains(drawn)
        xy[left[inside]] = drawn[inside]
        left = left[~inside]
    return xy
