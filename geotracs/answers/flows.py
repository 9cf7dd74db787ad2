"""How many went from where to where: flows between zones, corrected for the noise of a release."""

from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely

import geotracs.answers.products as products
from geotracs.answers.carried import carried
from geotracs.answers.products import Estimate
from geotracs.answers.reader import Reader
from geotracs.answers.trips import MIN_PAIRS, Survey, Trips
from geotracs.answers.zones import Zones
from geotracs.errors import InputError, quoted, sealed, warn
from geotracs.geo.filling import drawn

SQUARES = 32
"""Into how many squares a square region is divided along each side; zones divide them further."""
MAX_ZONES = 128
"""More zones have too many flows between them."""
WORDS = "These are flows between zones that were estimated from the release; estimating costs no epsilon."
CYCLES = ("hour", "weekday")
"""Time windows that come again."""
LOOP = 24
"""Corners of the loop that stands for a flow inside a zone..."""
LOOP_SIZE = 0.2
"""...and its diameter, as a part of the zone's width."""


@sealed
def flows(
    frame: gpd.GeoDataFrame,
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
    """Estimate how many went from each zone to each, from a release.

    A reader knows how reports are drawn. The joint distribution of both ends that explains the pairs of reports best is
    found by maximum likelihood, stopped as soon as pairs that were set aside are not predicted better, and summed to
    zones. This uses the release only, and costs no epsilon.

    Parameters
    ----------
    frame : GeoDataFrame
        What `geotracs.perturb` returned, with trajectories.
    zones : GeoDataFrame or GeoSeries
        Areas that do not overlap, in any CRS; their index names them.
    pairs : {"ends", "consecutive"}
        Whether a pair is the first and the last report of a trajectory, or any report and the next one.
    when : str or Timedelta, optional
        Flows for each time window in which pairs begin: of a duration such as "1h", or for each "hour" of the day or
        "weekday" (Monday is 0). Windows with fewer than 100 pairs are left out. Times are not perturbed.
    level : float
        Of the intervals.
    domain, round_to, prior, weight
        The public layers of the release, where its record does not hold them.

    Returns
    -------
    GeoDataFrame
        For each origin and destination (and ``when``) the ``share`` of pairs, their ``count``, and the ends ``low`` and
        ``high`` of an interval for the share; ``clear`` says whether the interval is narrower than the share. The
        geometry is a line from a point in one zone to one in the other, a small loop for a flow inside a zone.

    Notes
    -----
    The intervals are wide, on purpose: they count the noise, and how far the truth may be from what maximum likelihood
    has found. Below epsilon 2 or with a few hundred pairs most of them say that a flow is somewhere between nothing and
    all that its zones hold. A warning says how many flows can be told.

    Examples
    --------
    >>> import geotracs, geopandas as gpd, shapely
    >>> city = geotracs.datasets.sample_city(people=4, seed=1)
    >>> box = city.boundary.total_bounds
    >>> private = city.tracks.tracs.perturb(4, domain=box, trajectory="person", time="t", keep=[])
    >>> xmin, ymin, xmax, ymax = box
    >>> halves = gpd.GeoSeries(
    ...     [shapely.box(xmin, ymin, xmax, (ymin + ymax) / 2), shapely.box(xmin, (ymin + ymax) / 2, xmax, ymax)],
    ...     index=["south", "north"], crs=4326,
    ... )
    >>> moved = private.tracs.flows(halves, pairs="consecutive")
    >>> moved[["origin", "destination"]].values.tolist()
    [['south', 'south'], ['south', 'north'], ['north', 'south'], ['north', 'north']]
    >>> bool(moved.share.sum().round(6) == 1)
    True
    """
    check_level(level)
    reader = Reader.of(frame, domain=domain, round_to=round_to, prior=prior, weight=weight)
    frame = drawn(frame)
    areas = Zones.of(zones, reader)
    if len(areas.labels) > MAX_ZONES:
        raise InputError(f"`zones` may hold at most {MAX_ZONES} areas, got {len(areas.labels)}; dissolve some of them.")
    trips = Trips.of(reader, pairs, SQUARES)
    windows = None if when is None else _windows(frame, reader, when)[trips.ends[:, 0]]
    survey = trips.survey(areas.shares(trips.states))
    joint, kinds = survey.joint()
    if windows is None:
        found = _table(survey, joint, None, areas, level)
    else:
        found = _by_window(survey, kinds, windows, areas, level)
    _say_what_is_clear(found, level)
    out = gpd.GeoDataFrame(found, geometry=_lines(areas, len(found)), crs=areas.own.crs)
    carried(out, reader.guarantee, kind="flows", words=WORDS, level=float(level), pairs=pairs)
    return out


def check_level(level: float) -> None:
    """Raise for a level that no interval can have."""
    if isinstance(level, bool) or not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
        raise InputError(f"`level` must be a number between 0 and 1, such as 0.9, got {quoted(level)}.")


def _table(survey: Survey, joint: np.ndarray, some: np.ndarray | None, areas: Zones, level: float) -> pd.DataFrame:
    """Return all flows between zones, with intervals."""
    estimate = Estimate(joint, survey.within, survey.shares)
    low, high = products.intervals(estimate, survey.channels(some), level)
    n = len(areas.labels)
    share, low, high = (part[:n, :n].ravel() for part in (estimate.flows, low, high))
    total = len(survey.trips.ends) if some is None else int(some.sum())
    return pd.DataFrame(
        {
            "origin": np.repeat(areas.labels.to_numpy(), n),
            "destination": np.tile(areas.labels.to_numpy(), n),
            "share": share,
            "count": share * total,
            "low": low,
            "high": high,
            "clear": high - low < share,
        }
    )


def _by_window(survey: Survey, kinds: np.ndarray, windows: pd.Series, areas: Zones, level: float) -> pd.DataFrame:
    codes, names = pd.factorize(windows, sort=True)
    counts = np.bincount(codes, minlength=len(names))
    enough = np.flatnonzero(counts >= MIN_PAIRS)
    if not len(enough):
        raise InputError(
            f"No time window of `when` has {MIN_PAIRS} pairs of reports; the fullest has {counts.max()}. Take longer "
            "ones."
        )
    if len(enough) < len(names):
        warn(
            f"{len(names) - len(enough)} of {len(names)} time windows have fewer than {MIN_PAIRS} pairs of reports and "
            "are left out."
        )
    parts = []
    for number in enough.tolist():
        some = codes == number
        part = _table(survey, survey.joint(some, kinds)[0], some, areas, level)
        part.insert(0, "when", names[number])
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _windows(frame: gpd.GeoDataFrame, reader: Reader, when: Any) -> pd.Series:
    """Return the time window of each report."""
    if reader.times is None:
        raise InputError("`when` needs the times of the release; name their column when you perturb: time='t'.")
    column = frame[reader.guarantee.time]
    dates = not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_timedelta64_dtype(column))
    if when in CYCLES:
        if not dates:
            raise InputError(f"`when={when!r}` needs dates, and the times of the release are numbers or durations.")
        return _dates(reader.times, column).dt.__getattribute__(when)
    try:
        length = pd.Timedelta(when).total_seconds()
    except (ValueError, TypeError):
        length = np.nan
    if not length > 0:
        raise InputError(
            f"`when` must be a duration longer than 0, such as '1h', or one of {', '.join(map(repr, CYCLES))}, got "
            f"{quoted(when)}."
        )
    if not dates:
        return pd.Series(np.floor(reader.times / length) * length)
    return _dates(reader.times, column).dt.tz_localize(None).dt.floor(pd.Timedelta(when))


def _dates(seconds: np.ndarray, column: pd.Series) -> pd.Series:
    """Return times as dates, in the time zone of a column."""
    found = pd.Series(pd.to_datetime(seconds, unit="s"))
    zone = getattr(column.dtype, "tz", None)
    return found if zone is None else found.dt.tz_localize("UTC").dt.tz_convert(zone)


def _say_what_is_clear(found: pd.DataFrame, level: float) -> None:
    clear = int(found["clear"].sum())
    carried = float(found.loc[found["clear"], "count"].sum() / max(found["count"].sum(), 1e-300))
    if carried < 0.5:
        warn(
            f"The {level:.0%} intervals of {clear} of {len(found)} flows are narrower than the flow itself; these "
            f"carry {carried:.0%} of all pairs. The others cannot be told from nothing. Larger zones, more pairs or a "
            "larger epsilon would help."
        )


def _lines(areas: Zones, rows: int) -> np.ndarray:
    """Return a line for each flow, as often as there are time windows."""
    middles, n = areas.middles(), len(areas.labels)
    ends = np.stack([np.repeat(middles, n, axis=0), np.tile(middles, (n, 1))], axis=1)
    lines = np.asarray(shapely.linestrings(ends))
    angles = np.linspace(0, 2 * np.pi, LOOP + 1)
    size = LOOP_SIZE / 2 * np.sqrt(shapely.area(np.asarray(areas.own.values)))
    rings = np.stack([np.sin(angles), 1 - np.cos(angles)], axis=1) * size[:, None, None] + middles[:, None]
    rings[:, -1] = rings[:, 0]
    lines[np.arange(n) * (n + 1)] = shapely.linestrings(rings)
    return np.tile(lines, rows // len(lines))
