"""Where locations were: shares of cells, areas or places from a release, with intervals that say what it can tell."""

from dataclasses import dataclass
from typing import Any

import geopandas as gpd
import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.special import betainc

import geotracs.answers.asked as asked_
import geotracs.answers.passes as passes
import geotracs.answers.robust as robust_
import geotracs.geo.prior as priors
from geotracs.answers.asked import Asked
from geotracs.answers.carried import carried
from geotracs.answers.estimate import Estimate, estimate
from geotracs.answers.intervals import Spread, spread
from geotracs.answers.observations import check_independent
from geotracs.answers.operators import Observed
from geotracs.answers.reader import Reader
from geotracs.answers.states import CellStates, States, has_grid
from geotracs.errors import InputError, quoted, sealed, warn
from geotracs.geo.originals import Originals

MIN_REPORTS = 100
"""Fewer reports say nothing about a density."""
PER_WINDOW, PER_ZONE = 4, 2
"""States are this many times narrower than the blur of reports, and than a zone unless these are very many..."""
MIN_SIDE, MAX_SIDE = 40, 96
"""...along the longer side of the region; of a channel that is no product of small tables half as many at most."""
GRIDS = ((2, 3, 4, 6, 8, 12), (16, 24, 48))
"""Numbers of cells along the longer side that may be proposed: of those that are tried together all divide the last."""
MOST = 0.5
"""An answer is clear if zones with more than this part of the locations have intervals narrower than their share."""
SHARP = 20
"""A blur this many times narrower than a zone is none."""
NEVER = 1e-9
"""A chance that never happens."""
FINE = 4
"""Points along each side of a cell of a prior that stand for it."""


@sealed
def density(
    frame: Any,
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
    """Estimate which share of locations each cell, area or place holds, from a release.

    Reports are blurred by a channel that the reader knows. The density that explains them best is found by maximum
    likelihood on a grid finer than what is asked, stopped as soon as reports that were set aside are not predicted
    better, and summed to the zones. This uses the release only, and costs no epsilon.

    Parameters
    ----------
    frame : GeoDataFrame, dask-geopandas frame, or path
        What `geotracs.perturb` returned, with at least 100 reports; or a dask frame or file of it, read in one pass.
    cells : geotracs.places.Grid
        A grid over the region; or one of the next two.
    zones : GeoDataFrame or GeoSeries
        Areas that do not overlap, in any CRS. What they leave open belongs to none of them: shares are those of all
        locations, so that they then add up to less than 1. An area smaller than a working cell gets its part of it by
        area, and an interval that says how little that means.
    places : GeoDataFrame or GeoSeries
        Points, in any CRS. A location counts as its nearest place; places at one point share it evenly.
    prior : GeoDataFrame, GeoSeries, or (array, transform), optional
        Where locations are likely, from public information, as for `geotracs.perturb`. It helps more than ten times as
        many reports. The estimate leaves it only for what reports tell beyond doubt.
    weight : str, optional
        Column of the prior with the number of each point or area.
    level : float
        Of the intervals.
    robust : bool or float
        Which share of reports may be malicious; True is 1%. Intervals are widened by what these can move, wherever they
        are, and the column ``suspicious`` flags zones with reports that no density can explain.
    speed : float, optional
        In metres per second: how fast people are at most. The record then says how many pairs of successive reports
        are too far apart (``attrs["tracs"]["answer"]["too_fast"]``); see `geotracs.answers.speeds`.
    domain, round_to
        The public layers of the release, where its record does not hold them.

    Returns
    -------
    GeoDataFrame
        The zones with the ``share`` of all locations, their ``count``, and ``low`` and ``high``, the ends of an
        interval for the share: of many zones about ``level`` have the true share inside. The index is
        that of the zones; of a grid, the number of the cell, ``row * nx + column`` from the lower left.
        ``attrs["tracs"]["answer"]`` says how it was made.

    Warns
    -----
    GeotracsWarning
        If most intervals are wider than the share itself: these reports cannot answer this. It says which grid they
        can carry.

    Notes
    -----
    The truth that intervals are for is the share among these locations; they hold for the people behind them, too. They
    count the noise of the draw and how far an estimate that is stopped early may be from the truth, by a Dirichlet
    prior (see `geotracs.answers.intervals`). Where one small spot holds most of all locations and epsilon is 2 or
    less, its share may be above its interval: nothing in blurred reports tells a spot from a district.

    Rows that share a report (``repeat="same"``) are one observation, however many they are. The shares are still those
    of rows, so that a long stay counts as long as it was, and intervals are as wide as few observations make them.

    Reports that somebody made up are taken for those of people. With ``robust`` intervals hold what the estimate would
    be without them, and the truth as often as without them: the step that they are centred on is a sum over reports,
    and the worst that can be taken away is taken away. The estimate itself is no sum, so that this is exact for the
    step and was measured for the estimate (docs/answers.md). A flag is a test whose false alarms are known: at
    most 1 in 100 honest releases has any (see `geotracs.answers.conspicuous`). Made-up reports that look like those of
    people at some place cannot be seen at all, and count as people there.

    Examples
    --------
    >>> import geotracs
    >>> from geotracs.places import Grid
    >>> city = geotracs.datasets.sample_city(people=20, seed=1)
    >>> private = city.tracks.tracs.perturb(8, domain=city.boundary.total_bounds, keep=[])
    >>> quarters = private.tracs.density(Grid(nx=2, ny=2))
    >>> list(quarters.columns)
    ['geometry', 'share', 'count', 'low', 'high']
    >>> bool(quarters.share.sum().round(6) == 1)
    True
    """
    malicious = robust_.share(robust)
    reader, asked = _read(frame, cells, zones, places, level, prior, weight, domain, round_to)
    if malicious:
        check_independent(reader.observations, "density(robust=...)")
    too_fast = None if speed is None else robust_.too_fast(reader, speed)
    fit = Fit.of(reader, asked.width, asked.shape, prior, weight, malicious)
    shares = asked.shares(fit.states)
    found = fit.spread(shares, malicious)
    low, high = fit.bounds(found, shares, level) if isinstance(fit.states, CellStates) else found.bounds(level)
    out = asked.frame.assign(share=found.share, count=found.share * reader.total, low=low, high=high)
    details = fit.details() | {"over": asked.kind, "level": float(level)} | ({"too_fast": too_fast} if too_fast else {})
    if malicious:
        flags = robust_.flags(reader, fit.states, fit.observed, shares)
        out = out.assign(suspicious=flags)
        number = None if flags.isna().any() else int(np.count_nonzero(flags))
        details |= {"malicious": malicious, "suspicious": number}
    details["unclear"] = _say_what_is_clear(fit, asked, found, level, malicious)
    words = f"This is not the release but shares of {asked.kind} estimated from it, which costs no epsilon."
    return carried(out, reader.guarantee, kind="density", words=words, **details)


def _read(
    frame: Any,
    cells: Any,
    zones: Any,
    places: Any,
    level: Any,
    prior: Any,
    weight: str | None,
    domain: Any,
    round_to: Any,
) -> tuple[Reader, Asked]:
    """Check arguments, and read the release."""
    if isinstance(level, bool) or not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
        raise InputError(f"`level` must be a number between 0 and 1, such as 0.9, got {quoted(level)}.")
    if weight is not None and prior is None:
        raise InputError("`weight` is a column of `prior`; give the prior, too.")
    reader = passes.read(frame, domain=domain, round_to=round_to, prior=prior, weight=weight)
    if reader.informative < MIN_REPORTS:
        raise InputError(f"A density needs at least {MIN_REPORTS} reports, got {reader.informative}.")
    return reader, asked_.of(reader, cells, zones, places)


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A density over states, and the reports that it was estimated from."""

    reader: Reader
    states: States
    observed: list[Observed]
    estimate: Estimate

    @classmethod
    def of(
        cls,
        reader: Reader,
        width: float,
        shape: tuple[int, int] | None,
        prior: Any = None,
        weight: str | None = None,
        malicious: float = 0.0,
    ) -> "Fit":
        """Estimate the density on a grid that is fine enough for zones of this width, or cells of this grid."""
        states = _states(reader, width, shape)
        observed = reader.observed(states)
        _check_possible(observed, malicious)
        public = None if prior is None else _over_states(prior, weight, reader, states)
        return cls(reader, states, observed, estimate(observed, states.prior, public))

    def spread(self, zones: csr_array, malicious: float = 0.0) -> Spread:
        """Return the shares of zones, and how uncertain they are; nothing is known within a state."""
        p, base = self.estimate.p, self.states.prior
        return spread(self.observed, p, base, zones, self.states.xy, self.blur, malicious=malicious)

    @property
    def blur(self) -> float:
        """How wide reports blur, or what stands for it where states are wider."""
        blur = self.reader.resolution()
        if isinstance(self.states, CellStates):
            blur = max(blur, PER_WINDOW * self.reader.size / max(self.states.shape))
        return blur

    def bounds(self, found: Spread, zones: csr_array, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of intervals; a zone smaller than a state may hold nothing of it, or all."""
        low, high = found.bounds(level)
        tiny = np.asarray(zones.sum(axis=1)) < 1
        whole = np.asarray((zones > 0).astype(float) @ self.estimate.p)
        return np.where(tiny, 0.0, low), np.where(tiny, np.maximum(high, whole), high)

    def details(self) -> dict[str, Any]:
        """Return what the record says of the estimate."""
        weight = self.estimate.weight
        return {
            "reports": self.reader.informative,
            "states": self.states.count,
            "iterations": self.estimate.iterations,
            **({} if weight is None else {"prior": weight}),
        }


def _states(reader: Reader, width: float, shape: tuple[int, int] | None) -> States:
    """Return states that are narrower than a window and, within bounds, than a zone; cells of a grid are divided."""
    default = reader.states()
    if not isinstance(default, CellStates):
        return default
    if SHARP * reader.resolution() < width:  # hardly blurred: finer states would only be emptier
        return CellStates(default.domain, shape) if shape else reader.states(side=max(2, round(reader.size / width)))
    product = has_grid(default.domain) and reader.channel.factors(float(reader.levels[-1])) is not None
    most = MAX_SIDE if product else MAX_SIDE // 2
    zones = reader.size / width if shape is None else max(shape)
    wanted = max(PER_WINDOW * reader.size / reader.resolution(), min(PER_ZONE * zones, most / 2))
    side = int(np.clip(np.ceil(wanted), MIN_SIDE, most))
    if shape is not None and max(shape) <= most:
        times = max(1, min(-(-side // max(shape)), most // max(shape)))
        return CellStates(default.domain, (times * shape[0], times * shape[1]))
    return reader.states(side=side)


def _over_states(prior: Any, weight: str | None, reader: Reader, states: States) -> np.ndarray:
    """Return how much of a public prior is in each state."""
    region = reader.region
    table, kind = priors.weights(prior, weight, region.domain, region.crs, Originals.nobody(region.data_crs))
    if kind["kind"] == "points":
        xy, numbers = priors.points(prior, weight, region.crs)
        which = states.label(xy)
        return np.bincount(which[which >= 0], numbers[which >= 0], minlength=states.count)
    low, high = np.reshape(region.domain.outline.bounds, (2, 2))
    size = (high - low) / table.shape
    cell = np.argwhere(table > 0)
    found = np.zeros(states.count)
    for step in np.ndindex(FINE, FINE):
        which = states.label(low + (cell + (np.array(step) + 0.5) / FINE) * size)
        inside = which >= 0
        found += np.bincount(which[inside], table[table > 0][inside] / FINE**2, minlength=states.count)
    return found


def _check_possible(observed: list[Observed], malicious: float = 0.0) -> None:
    """Raise if more reports are in one bin than any density and a share of malicious ones can explain."""
    for seen in observed:
        fullest = int(np.argmax(seen.counts))
        most = float(seen.operator.rows(np.array([fullest])).max())
        count, total = float(seen.counts[fullest]), seen.total
        honest = count - malicious * total
        if most < 1 and honest > 1 and betainc(honest, total - count + 1, most) < NEVER:
            raise InputError(
                f"{count:,.0f} of {total:,.0f} reports are at one place, and wherever people are, at most "
                f"{most:.2%} of their reports fall there. These are not reports of this release's channel."
            )


def _say_what_is_clear(fit: Fit, asked: Asked, found: Spread, level: float, malicious: float) -> int:
    """Warn if reports cannot tell the shares of zones that hold most of the locations; return how many these are."""
    low, high = found.bounds(level)
    wide = high - low > found.share
    part = found.share[wide].sum() / max(found.share.sum(), 1e-300)
    if part > 1 - MOST:
        best, reader = finest(fit, level, malicious), fit.reader
        can = (
            "not even halves of the region"
            if best is None
            else (f"cells of about {_length(best[2])}: cells=Grid(nx={best[0]}, ny={best[1]})")
        )
        hint = "" if fit.estimate.weight is not None else " A public prior helps more than more reports."
        warn(
            f"These reports cannot tell the shares of most {asked.kind}: {wide.sum():,} of {len(wide):,}, with "
            f"{part:.0%} of the locations, have an interval that is wider than the share itself. "
            f"{reader.informative:,} reports with a blur of {_length(reader.resolution() * reader.metres)} "
            f"can carry {can}.{hint}"
        )
    return int(wide.sum())


def finest(fit: Fit, level: float, malicious: float = 0.0) -> tuple[int, int, float] | None:
    """Return the finest grid on which most locations are in cells with a clear share, and how wide its cells are."""
    low, high = np.reshape(fit.reader.region.domain.outline.bounds, (2, 2))
    size = (high - low).max()
    best = None
    for counts in GRIDS:
        shapes = [np.maximum(np.rint(count * (high - low) / size), 1).astype(int) for count in counts]
        parts = [_lattice(fit.states.xy, low, high, shape) for shape in shapes]
        found = fit.spread(csr_array(vstack(parts)), malicious)
        ends = found.bounds(level)
        clear = np.where(ends[1] - ends[0] <= found.share, found.share, 0)
        told = [part.sum() > MOST for part in np.split(clear, np.cumsum([part.shape[0] for part in parts])[:-1])]
        number = told.index(False) if False in told else len(told)
        if number:
            nx, ny = shapes[number - 1].tolist()
            best = nx, ny, float(size / counts[number - 1] * fit.reader.metres)
        if number < len(told):
            break
    return best


def _lattice(xy: np.ndarray, low: np.ndarray, high: np.ndarray, shape: np.ndarray) -> csr_array:
    """Return which cell of a grid each state is in, one row per cell."""
    column, row = np.clip(((xy - low) / (high - low) * shape).astype(int), 0, shape - 1).T
    every = np.arange(len(xy))
    return csr_array((np.ones(len(xy)), (row * shape[0] + column, every)), shape=(int(shape.prod()), len(xy)))


def _length(metres: float) -> str:
    rounded = float(f"{metres:.2g}")
    return f"{rounded / 1000:g} km" if rounded >= 1000 else f"{rounded:g} m"
