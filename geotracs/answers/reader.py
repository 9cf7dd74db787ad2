"""A release as its reader sees it: reports, and the channel that they came through."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import geopandas as gpd
import numpy as np

import geotracs.answers.bins as bins_
import geotracs.core.digest as digest
import geotracs.geo.crs as crs_
import geotracs.geo.tracks as frames
import geotracs.release.again as again
import geotracs.release.budgets as budgets
from geotracs.answers.bins import Bins
from geotracs.answers.observations import Observations
from geotracs.answers.operators import Dense, Observed, Operator, outer
from geotracs.answers.preimages import Preimages
from geotracs.answers.states import CellStates, PlaceStates, States, has_grid
from geotracs.answers.tables import is_plain, operator
from geotracs.core.guarantee import Guarantee
from geotracs.core.methods import Channel, Reports
from geotracs.errors import InputError
from geotracs.geo.filling import drawn
from geotracs.geo.region import Region
from geotracs.geo.rounding import Rounding
from geotracs.utility.compare import standing

MIN_SIDE, MAX_SIDE = 24, 96
"""Cells along the longer side of a region, at least and at most, unless smaller ones are asked for."""
PER_WINDOW = 4
"""How many cells a window is wide."""
MAX_PLACES = 2**12
"""Up to this many places are states themselves; more are taken together in cells."""
MAX_LEVELS = 24
"""Where a channel is not a product of small tables, no more epsilons than this have tables of their own."""
AT_ONCE = 2**22
"""How many likelihoods are computed at a time."""
SEQUENTIAL, MOVED, PLACES = 10_000, 2_000, 300
"""Of a method that looks back, at most so many reports are used, since each has a likelihood of its own: fewer where
reports were moved, and over places."""


@dataclass(frozen=True, eq=False, repr=False)
class Reader:
    """The reports of a release, trajectory after trajectory, in the working CRS, and all that is public about them.

    Attributes
    ----------
    guarantee : Guarantee
        The record.
    setting : again.Setting
        Region, places and method, built again from the record.
    tracks : Tracks
        The frame's locations, grouped; `tracks.order` and `tracks.offsets` lead back to its rows.
    xy : array of shape (n, 2)
        Reports in the working CRS.
    eps : float, or array of shape (n,)
        Epsilon of each report.
    times : array of shape (n,), or None
        The time of each report in seconds; numbers in the time column count as seconds.
    observations : Observations, or None
        Which rows share one report, if they do; None where each row was drawn by itself.

    Examples
    --------
    >>> import geotracs
    >>> city = geotracs.datasets.sample_city(people=5, seed=1)
    >>> private = city.tracks.tracs.perturb(4, domain=city.boundary, trajectory="person", time="t", keep=[])
    >>> Reader.of(private, domain=city.boundary)
    <Reader of ... reports of joint>
    """

    guarantee: Guarantee
    setting: again.Setting
    tracks: frames.Tracks
    xy: np.ndarray
    eps: float | np.ndarray
    times: np.ndarray | None = None
    observations: Observations | None = None
    kept: dict[Any, Any] = field(default_factory=dict)
    """Operators that were made already."""

    @classmethod
    def of(
        cls,
        frame: gpd.GeoDataFrame,
        *,
        domain: Any = None,
        round_to: Any = None,
        prior: Any = None,
        weight: str | None = None,
    ) -> "Reader":
        """Read a release.

        Parameters
        ----------
        frame : GeoDataFrame
            What `perturb` returned, or a part of it.
        domain, round_to, prior, weight
            The public layers of the release, as they were given to `perturb`, where its record does not hold them. A
            ``prior`` that the release was not made with is left alone.
        """
        frames.check(frame)
        guarantee = Guarantee.from_attrs(frame.attrs)
        frame = drawn(frame)
        if guarantee.answer:
            raise InputError(
                "This frame was computed from a release and is not the release itself; use the frame that perturb() "
                "returned."
            )
        stands = standing(frame)
        if stands == digest.OTHER:
            raise InputError(
                "The locations of this frame are not those that perturb() returned, which its record describes: "
                "nothing can be estimated from them. Use the frame that perturb() returned, or some of its rows."
            )
        tracks, eps = spent(frame, guarantee, stands)
        levels = np.unique(eps)
        setting = again.setting(
            guarantee, frame.crs, levels, domain=domain, round_to=round_to, prior=prior, weight=weight
        )
        moved = crs_.transform(tracks.xy, frame.crs, setting.region.crs)
        times = None if guarantee.time is None else frames.seconds(frame, guarantee.time)[tracks.rows]
        observations = Observations.of(frame, tracks, guarantee)
        return cls(guarantee, setting, tracks, np.ascontiguousarray(moved), eps, times, observations)

    def __repr__(self) -> str:
        return f"<Reader of {len(self.xy):,} reports of {self.guarantee.method}>"

    @property
    def region(self) -> Region:
        """The public region."""
        return self.setting.region

    @property
    def rounding(self) -> Rounding | None:
        """The places of the release."""
        return self.setting.rounding

    @property
    def channel(self) -> Channel:
        """The method bound to its public things."""
        return self.setting.channel

    @cached_property
    def total(self) -> int:
        """How many reports there are."""
        return len(self.xy)

    @property
    def informative(self) -> int:
        """How many observations there are: rows that share a report are one."""
        return self.total if self.observations is None else self.observations.count

    @property
    def offsets(self) -> np.ndarray:
        """Where each trajectory begins, and the number of reports at the end."""
        return cast(np.ndarray, self.tracks.offsets)

    @property
    def metres(self) -> float:
        """How many metres a unit of the working CRS has; in degrees, those of one at the equator."""
        if self.region.domain.in_degrees:
            return 111_320.0
        return float(self.region.crs.axis_info[0].unit_conversion_factor)

    @cached_property
    def levels(self) -> np.ndarray:
        """The distinct epsilons of reports."""
        return np.unique(self.eps)

    @cached_property
    def reports(self) -> Reports:
        """The reports with the numbers of their places, if they are places."""
        return self.channel.release.known(self.xy)

    def resolution(self, eps: float | None = None) -> float:
        """Return how wide the window of a report is, in units of the working CRS: what is smaller is blurred.

        For a method without a window, twice the distance within which half of its reports fall, seen from the middle.
        """
        eps = float(self.levels[-1]) if eps is None else eps
        domain = self.channel.domain
        centre = np.array([self.region.domain.centre])
        if self.channel.over == "places":
            return 2 * self._typical_distance(eps)
        points, weights = cast(Any, self.channel.method).quadrature(centre, eps, domain, 2**12, None)
        away = self._distance(np.repeat(centre, points.shape[1], axis=0), points[0])
        order = np.argsort(away)
        half = away[order][np.searchsorted(np.cumsum(weights[order]), 0.5 * weights.sum())]
        return float(min(2 * half, self.size))

    def _typical_distance(self, eps: float) -> float:
        points = cast(Rounding, self.rounding).places.sample(64)
        which = np.arange(len(points))
        reports = self.channel.sample(points[which], np.arange(len(which) + 1), eps, np.random.default_rng(0)).xy
        return max(float(np.median(self._distance(points[which], reports))), self.size / MAX_SIDE)

    def _distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        away = self.region.domain.distance(a, b)
        return away / self.metres if self.region.domain.in_degrees else away

    @property
    def size(self) -> float:
        """The longer side of the region's box, in units of the working CRS."""
        return float(np.ptp(np.reshape(self.region.domain.outline.bounds, (2, 2)), axis=0).max())

    def states(self, *, cell: float | None = None, side: int | None = None) -> States:
        """Return where locations may have been, in cells that are narrow beside a window.

        Parameters
        ----------
        cell : float, optional
            A width, in units of the working CRS, that cells should not exceed.
        side : int, optional
            How many cells there are along the longer side, whatever else.
        """
        domain = self.channel.domain
        if self.channel.over == "places":
            points = cast(Rounding, self.rounding).places
            if points.count <= MAX_PLACES:
                return PlaceStates(np.unique(points.sample(points.count), axis=0), domain.in_degrees)
        if side is None:
            wanted = self.size / (self.resolution() / PER_WINDOW)
            product = has_grid(domain) and self.channel.factors(float(self.levels[0])) is not None
            side = int(np.clip(np.ceil(wanted), MIN_SIDE, MAX_SIDE if product else MAX_SIDE // 2))
            side = side if cell is None else max(side, int(np.ceil(self.size / cell)))
        low, high = np.reshape(domain.outline.bounds, (2, 2))
        if has_grid(domain) and not domain.in_degrees:
            corners = cast(Any, domain.chart).from_unit(np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]))
            sides = 2 * np.hypot(*(corners[1:] - corners[0]).T)
        else:
            sides = high - low
        counts = np.maximum(np.rint(side * sides / sides.max()), 1).astype(int)
        return CellStates(domain, (int(counts[0]), int(counts[1])))

    def bins(self, states: States) -> Bins:
        """Return what may have been reported, as finely as the states."""
        release = self.channel.release
        if release.places is not None:
            return bins_.Places(release.places.count)
        shape = states.shape if isinstance(states, CellStates) else (MAX_SIDE, MAX_SIDE)
        return bins_.Cells(release, shape)

    def observed(self, states: States) -> list[Observed]:
        """Return how often each bin was reported, with each epsilon, and how likely it is from each state.

        Of a method that looks back at most `SEQUENTIAL` reports are used, of trajectories from all over the release.
        """
        if self.channel.method.sequential:
            rows = self._some_rows()
            return [Observed(Dense(self.likelihood(states, rows)), np.ones(len(rows)))]
        bins, levels = self.bins(states), self._rounded()
        labels = bins.label(self.reports)
        if levels.ndim == 0:
            return [self._seen(states, bins, float(levels), labels, np.arange(len(labels)))]
        return [
            self._seen(states, bins, eps, labels, np.flatnonzero(levels == eps)) for eps in np.unique(levels).tolist()
        ]

    def _seen(self, states: States, bins: Bins, eps: float, labels: np.ndarray, rows: np.ndarray) -> Observed:
        operator = self._operator(states, bins, eps)
        if self.observations is None:
            return Observed(operator, np.bincount(labels[rows], minlength=bins.count))
        folds = self.observations.dealt(rows, labels[rows], bins.count)
        return Observed(operator, folds.sum(axis=1), folds)

    def operators(self, states: States, bins: Bins) -> list[Operator]:
        """Return how likely each bin is from each state, for each epsilon that `observed` has."""
        return [self._operator(states, bins, eps) for eps in np.unique(self._rounded()).tolist()]

    def _operator(self, states: States, bins: Bins, eps: float) -> Operator:
        key = (id(states), eps)
        if key not in self.kept:
            self.kept[key] = (states, operator(self.channel, eps, states, bins))  # the states stay alive with it
        return cast(Operator, self.kept[key][1])

    def _rounded(self) -> np.ndarray:
        """Return the epsilon of each report; rounded to few where each costs a table."""
        eps = np.asarray(self.eps, dtype=np.float64)
        if len(self.levels) <= MAX_LEVELS or self.channel.factors(float(self.levels[0])) is not None:
            return eps
        steps = max(1.0, (MAX_LEVELS - 1) / max(float(np.log2(self.levels[-1] / self.levels[0])), 1e-9))
        return np.asarray(2 ** (np.rint(np.log2(eps) * steps) / steps))

    def _some_rows(self) -> np.ndarray:
        lengths = np.diff(self.offsets)
        most = PLACES if self.channel.over == "places" else SEQUENTIAL if is_plain(self.channel) else MOVED
        if lengths.sum() <= most:
            return np.arange(len(self.xy))
        every = np.arange(len(lengths)) % int(np.ceil(lengths.sum() / most)) == 0
        return np.flatnonzero(np.repeat(every, lengths))[:most]

    def likelihood(self, states: States, rows: np.ndarray, each: int = 1) -> np.ndarray:
        """Return how likely each of some reports is from each state, up to a factor for each report.

        Parameters
        ----------
        rows : array of int
            Which reports, counted trajectory after trajectory.
        each : int
            How many locations stand for a state, of a method that looks back: its law may be narrower than a cell.
        """
        rows = np.asarray(rows)
        found = np.empty((len(rows), states.count))
        step = max(1, AT_ONCE // states.count)
        for first in range(0, len(rows), step):
            part = rows[first : first + step]
            if self.channel.method.sequential:
                found[first : first + step] = self._looking_back(states, part, each)
            else:
                found[first : first + step] = self._apart(states, part)
        return found

    def _apart(self, states: States, rows: np.ndarray) -> np.ndarray:
        eps = np.broadcast_to(self._rounded(), len(self.xy))[rows]
        levels = np.unique(eps).tolist()
        if len(levels) == 1:
            return self._with_eps(states, rows, levels[0])
        found = np.empty((len(rows), states.count))
        for level in levels:
            own = np.flatnonzero(eps == level)
            found[own] = self._with_eps(states, rows[own], level)
        return found

    def _with_eps(self, states: States, rows: np.ndarray, eps: float) -> np.ndarray:
        """Return likelihoods by the exact place of a report where its law is a product, otherwise by its bin."""
        bins, release = self.bins(states), self.channel.release
        some = Reports(self.xy[rows], None if self.reports.which is None else self.reports.which[rows])
        labels = bins.label(some)
        exact = np.zeros(len(rows), dtype=bool)
        found = np.empty((len(rows), states.count))
        if isinstance(states, CellStates) and has_grid(self.channel.domain) and isinstance(bins, bins_.Cells):
            factors = self.channel.factors(eps)
            if release.remap is None and factors is not None and not any(a.has_atoms for both in factors for a in both):
                exact = labels < bins.shape[0] * bins.shape[1]  # not on the border, where several are projected to one
                unit = np.clip(states.chart.to_unit(some.xy[exact]), 0, 1)
                across, up = states.shape
                terms = [(first.at(unit[:, 0], across), second.at(unit[:, 1], up)) for first, second in factors]
                if exact.all():
                    return outer(terms, states.index)
                found[exact] = outer(terms, states.index)
        distinct, which = np.unique(labels[~exact], return_inverse=True)
        if len(distinct):
            found[~exact] = self._rows(states, bins, eps, distinct)[which.reshape(-1)]
        return found

    def _rows(self, states: States, bins: Bins, eps: float, labels: np.ndarray) -> np.ndarray:
        """Return the rows of some bins; those that were asked for before are kept."""
        kept = self.kept.setdefault((id(states), eps, "rows"), {})
        new = [label for label in labels.tolist() if label not in kept]
        if new:
            kept.update(zip(new, self._operator(states, bins, eps).rows(np.array(new)), strict=True))
        return np.array([kept[label] for label in labels.tolist()])

    def _looking_back(self, states: States, rows: np.ndarray, each: int) -> np.ndarray:
        """Return likelihoods of reports each of which was seen from the one before it."""
        secrets, _, _ = states.secrets(each if self.channel.over == "region" else 1)
        eps = np.broadcast_to(self.eps, len(self.xy))
        found = np.empty((len(rows), states.count))
        begins = np.isin(rows, self.offsets[:-1])
        if self.channel.over == "places":
            for number, row in enumerate(rows.tolist()):
                before = None if begins[number] else self.xy[row - 1]
                now = self.xy[row : row + 1]
                found[number] = self.channel.density(now, secrets, eps=float(eps[row]), before=before)[:, 0]
            return found
        labels, draws = self._drawn
        for number, row in enumerate(rows.tolist()):
            earlier = None if begins[number] else (int(labels[row - 1]), self.xy[row - 1])
            likely = draws.likelihood((int(labels[row]), self.xy[row]), earlier, secrets, float(eps[row]))
            found[number] = likely.reshape(states.count, -1).mean(axis=1)
        return found

    @cached_property
    def _drawn(self) -> tuple[np.ndarray, Preimages]:
        """The bin of each report that stands for several draws, and what these are."""
        draws = Preimages(self.channel, self.bins(self.states()), float(np.median(self.eps)))
        return draws.label(self.reports), draws

    def trajectories(self) -> Iterator[slice]:
        """Yield the reports of each trajectory."""
        for first, last in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            yield slice(first, last)


def spent(frame: gpd.GeoDataFrame, guarantee: Guarantee, stands: str) -> tuple[frames.Tracks, float | np.ndarray]:
    """Return the reports of a release, trajectory after trajectory, and the epsilon of each.

    ``stands`` is what `standing` says of the frame: a part of a release may not tell what was spent on it.
    """
    request = again.request(guarantee)
    tracks = frames.read(frame, request.trajectory, request.time, grouped=False)
    if not len(tracks.xy):
        raise InputError("The frame holds no location.")
    if stands == digest.PART and (guarantee.unit != "location" or guarantee.column is not None):
        raise InputError(
            "This frame is a part of a release whose locations share an epsilon, and what each of them has depends "
            "on the others. Use the whole frame that perturb() returned."
        )
    tracks = request.sharing.group(frame, tracks)
    own = budgets.of_tracks(request, frame, tracks)
    tracks = tracks.grouped()
    column = None if own is None else own.own(frame, tracks.present)
    return tracks, budgets.of_locations(guarantee.epsilon, guarantee.unit, own, tracks, column, tracks.unit_lengths)
