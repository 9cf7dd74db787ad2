"""Frame in, frame out: the one call that the accessor makes."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import geopandas as gpd
import numpy as np
import pandas as pd

import geotracs.geo.columns as columns_
import geotracs.geo.tracks as frames
import geotracs.release.blocks as blocks
import geotracs.release.budgets as budgets
import geotracs.release.fills as fills
import geotracs.release.pace as paces
import geotracs.release.plan as plans
import geotracs.release.timetable as timetables
from geotracs.core.digest import Digest
from geotracs.errors import sealed
from geotracs.geo.collections import as_frame
from geotracs.geo.originals import Originals
from geotracs.release.charging import Account
from geotracs.release.request import Request

T = TypeVar("T")
Record = dict[str, Any]


@sealed
def perturb(
    gdf: gpd.GeoDataFrame,
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
    """Report every location under pure ``eps``-local differential privacy over a public region.

    Parameters
    ----------
    gdf : GeoDataFrame, or trajectories of MovingPandas
        Point rows, grouped by ``trajectory`` and ordered by ``time``, or LineString rows, one trajectory each unless
        ``trajectory`` groups them. Any CRS.
        Missing and empty geometries stay as they are; Z and M are dropped with a warning. Never changed.
    eps : float or str
        Privacy parameter, greater than 0 and less than 700: smaller is more private. See ``unit``. Or the name of a
        column with the epsilon of each row (of each location in it), or of each trajectory. Such a column is public: it
        is a part of the release, since a reader needs it, and nothing protects it; it must not depend on where a row
        is. Where locations have more than 512 distinct epsilons, they are rounded down to few, as the record says.
    method : str
        "joint", the default, perturbs both coordinates at once; "tracs-c" one by one, and "tracs-d" the direction and
        distance from the previous report, both as in the paper; "nearest" works over the places of ``round_to``, where
        a location counts as its nearest place and is reported as one of the set. "auto" takes the one of these with
        the smallest expected error (see `geotracs.advise`), and the record says which. To compare with: "strawman" and
        "planar-laplace" on the region; "k-rr", "exponential", "l-srr", "ngram" and "atp" over the places. "geo-ind"
        promises less: metric privacy, where ``eps`` is for locations within ``radius``, and not eps-LDP; "auto" never
        takes it. See the classes in `geotracs.methods`.
    domain : bbox, shapely geometry, GeoSeries, GeoDataFrame, or one of `geotracs.domains`
        The public region: a rectangle, a polygon or several, with holes; a `Parallelogram`, a `Disc`, the `Globe`. A
        bbox ``(xmin, ymin, xmax, ymax)`` and a geometry are in the frame's CRS; in degrees, xmin > xmax means across
        the antimeridian. None fits the bounding rectangle to the data, with a `PrivacyWarning`.
    fit : {"envelope", "oriented", "transport", "best"}
        How a polygon becomes a square to work in: by the rectangle around it along the axes, or the smallest rotated
        one, where what falls outside the polygon is projected to its nearest point; by a chart of the polygon itself
        ("transport", for "tracs-c" and "joint"); or the one of these with the smallest expected error. (TraCS-D works
        on a convex polygon directly.)
    prior : GeoDataFrame, GeoSeries, or (array, transform), optional
        Where locations are likely, from public information: points, areas such as census districts, or a raster with
        the six numbers (a, b, c, d, e, f) of its affine transform into the frame's CRS. The noise is short where the
        prior is dense; the promise does not depend on it. For "tracs-c" and "joint".
    weight : str, optional
        Column of the prior with the number of each point or area, e.g. its inhabitants; 1 each without it.
    remap : bool, GeoDataFrame, GeoSeries, or (array, transform), optional
        Move every report to the geometric median of its posterior: where the location is nearest on average, given the
        report, under ``prior`` if it is given and evenly over the region otherwise, or under a prior of its own. A
        public map, which costs no epsilon; left out, as the record says, where it would not win. Reports then stay off
        the border and gather in the middle, the more so the smaller epsilon is: right for errors, wrong for maps. For
        methods on a region.
    trajectory, time : str, optional
        Column that says which trajectory a row belongs to, and column that orders its rows. Without ``trajectory``
        all points are one trajectory, and each line is one. Rows with equal times stay in row order.
    person : str, optional
        Column that says whose row it is, for ``ledger``, ``repeat`` and a ``unit`` of people; by default each label
        of ``trajectory`` is a person.
    unit : {"location", "trajectory", "person"}, or a period such as "day", "1D" or "1W"
        Whether ``eps`` is for each location, or shared over the locations of each trajectory, of each person with all
        trajectories of theirs, or of each person and period: days by the clock of ``time``, weeks from Monday on. In
        the last two cases the column of people is a part of the release, since a reader needs it: use numbers, not
        names.
    allocation : {"even", "ends", "water-filling"} or sequence of float
        How the locations of a trajectory share its epsilon, with ``unit="trajectory"``: all alike; with four times as
        much for the first and the last one ("ends"); with the smallest mean error where these two count four times
        ("water-filling"); or by weights from the first to the last one, interpolated between, such as ``(3, 1, 3)``.
        The sum over a trajectory is at most ``eps`` all the same, but a location with a larger share is protected less
        than the others. See `geotracs.core.budget.Allocation`.
    repeat : {"same"}, optional
        Memoise: the rows of one person in one public cell all get the same report, drawn once from the middle of the
        cell, so that averaging over a stay finds nothing more. Epsilon is then for each distinct cell of a person
        instead of each row, and everybody sees which rows of a person are at the same place. For methods that look at
        each location by itself, with ``unit="location"``. See the page about repeated reports.
    cell : float, optional
        Side of these cells in metres, with ``repeat``; 200 by default.
    every : str or timedelta, optional
        Report only the first row of each unit in every period, such as "15min", by the clock of ``time``; a unit is
        what ``unit`` says, and a trajectory for "location". "auto" takes as many rows of each unit as are best for its
        epsilon (see ``speed`` and `geotracs.advise`), evenly by their number, and remaps their reports where that
        tells more (see ``remap``). It uses ``eps``, ``domain``, and of the data how many rows there are and how
        quickly they follow each other.
    at_most : int, optional
        Report at most so many rows of each unit: the middle ones of as many parts of equal numbers of rows, in the
        order of time. Of lines, keep at most so many vertices. With one row a unit is reported by one place.
    fill : {"hold", "interpolate", "reconstruct"}, optional
        What becomes of the rows that are not reported. They are left out by default. Otherwise they are computed from
        the reports, which costs no epsilon: the report before, the straight line to the next one, or what
        `geotracs.reconstruct` finds, evenly over the region before it sees a report. The column "filled" marks them:
        they are no observations, and nothing that is estimated from the release counts them.
    speed : float, optional
        How fast people are at most, in metres per second, for ``every="auto"`` and ``fill="reconstruct"``; 15 by
        default, as cars in a city.
    round_to : GeoDataFrame, GeoSeries or `geotracs.places.Grid`, optional
        Public places to which every report is moved: the nearest point, the nearest point of the nearest line or area,
        or the middle of its cell. Of places equally near, the first of the layer is taken. Any CRS. A method over
        places reports these themselves, all of them, inside the region or not: points, cells by their middles, and with
        ``centroid`` lines and areas. There places at the same point are one, with the first label.
    place : str
        Name of the column that gets the label of each report's place: its index in the layer, or the number of the
        cell. (Not for lines, which hold many locations a row.)
    join : list of str
        Columns of the layer to carry over for each report's place.
    centroid : bool
        Round to the centroid of a line or area instead of its nearest point.
    crs : optional
        Planar CRS to work in. By default the frame's own if it is projected, and one that fits the domain otherwise.
    outside : {"raise", "clip"}
        What to do with locations outside the domain: raise, or move them to its border before the draw.
    keep : list of str, or "all"
        Columns to carry over besides ``trajectory`` and ``time``. The others are left out: a forgotten ``lat``
        column would publish the secret.
    embed : bool
        Whether the record holds the public layers themselves (region, prior, places), so that whoever reads the release
        can estimate from it without them; otherwise it recognises them, and they are given again.
    ledger : Ledger, optional
        Charges every person for this release before anything is drawn, and raises a `BudgetError` if that would be
        too much for somebody; see `geotracs.Ledger`.
    data : str, optional
        How the ledger names the data, e.g. "bus-2026"; given with ``ledger``.
    rng : None, int or numpy Generator
        None, the default, is ChaCha20 keyed by the operating system. Anything else warns: for tests and papers.
    workers : int, optional
        How many threads work at a time; by default one more than there are cores. The result is the same.
    progress : bool
        Show a progress bar.
    **options
        Options of the method: for "tracs-c" and "tracs-d" ``window`` ("ogpm", "r-sw", or a mechanism that the paper
        names: "pm", "sw", "truncated-laplace", "truncated-gaussian", "purkayastha", "sdd"), and for "tracs-d" also
        ``direction_share`` (a number or "best"), ``start`` ("centre", "corner", "random", "places" or a public point)
        and ``reference``
        ("previous", "places" or a public point); for "strawman" these and ``k``; ``groups`` for "l-srr", ``reach`` for
        "ngram", ``k`` for "atp"; for "geo-ind" the ``radius`` in metres, 200 by default.

    Returns
    -------
    GeoDataFrame
        Same index, row order, geometry name, geometry type and CRS; ``attrs["tracs"]`` records what was done. A
        trajectory or time that stands in the index becomes a column.

    Examples
    --------
    >>> import geopandas as gpd, geotracs
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> private = geotracs.perturb(
    ...     city.tracks, 4, domain=city.boundary.total_bounds, trajectory="person", time="t", keep=[]
    ... )
    >>> list(private.columns)
    ['person', 't', 'geometry']
    >>> private.tracs.guarantee.epsilon
    4.0
    """
    given = locals()  # so that an argument is named in the signature and in `Request` only
    gdf, given["trajectory"], given["time"] = as_frame(gdf, trajectory, time)
    request = Request(**{name: given[name] for name in Request.names()})
    private = release(gdf, request, workers=workers, progress=progress)
    paces.warn_of(private.attrs["tracs"].get("risk"))
    return private


def release(
    gdf: gpd.GeoDataFrame,
    request: Request,
    *,
    workers: int | None = None,
    progress: bool | None = False,
    account: Account | None = None,
) -> gpd.GeoDataFrame:
    """Return the release of a frame; see `perturb`. Whoever gives an ``account`` finishes it."""
    blocks.check_workers(workers)
    whole, data = gdf, None if request.schedule is None else Originals.of(gdf.geometry)
    timetable = None if data is None else timetables.make(request, gdf, data)
    rows = None if timetable is None else timetable.rows(gdf)
    if timetable is not None and rows is not None:
        gdf = timetable.reduced(gdf, rows)
    tracks = request.sharing.group(gdf, frames.read(gdf, request.trajectory, request.time, grouped=False))
    columns_.check(gdf, [] if request.budget_column is None else [request.budget_column])

    def build(
        plan: plans.Plan, tracks: frames.Tracks, xy: np.ndarray, added: pd.DataFrame | None, record: Record
    ) -> gpd.GeoDataFrame:
        private = frames.output(gdf, tracks.rebuild(xy), plan.kept, added)
        private.attrs = {"tracs": record}
        if timetable is None or rows is None or timetable.schedule.fill is None:
            return private
        return fills.in_frame(whole, private, rows, plan, timetable)

    data = Originals.held(gdf.crs, tracks.xy) if data is None else data
    schedule = None if timetable is None else timetable.to_record()
    private, _ = at_once(
        request, tracks, gdf, gdf, data, build, schedule=schedule, workers=workers, progress=progress, account=account
    )
    return private


def at_once(
    request: Request,
    tracks: frames.Tracks,
    table: pd.DataFrame,
    sample: gpd.GeoDataFrame,
    data: Originals,
    build: Callable[[plans.Plan, frames.Tracks, np.ndarray, pd.DataFrame | None, Record], T],
    *,
    schedule: Record | None = None,
    workers: int | None = None,
    progress: bool | None = False,
    account: Account | None = None,
) -> tuple[T, Record]:
    """Return what ``build`` makes of the reports of locations in memory, and the record of their release.

    Parameters
    ----------
    tracks : Tracks
        All locations, in the order of the rows.
    table : DataFrame
        The columns that the request names.
    sample : GeoDataFrame
        All rows with all columns, or the first of them.
    schedule : dict, optional
        What the record says of the rows that are reported, if these are not all.
    """
    own = budgets.of_tracks(request, table, tracks)
    plan = plans.make(request, sample, data=data, lengths=tracks.unit_lengths, budgets=own, schedule=schedule)
    plan.prepare(progress)
    opened = account or Account(request)
    key = opened.key(plan, opened.bill_of(table, tracks))
    longest, periods = int(tracks.unit_lengths.max(initial=0)), request.sharing.periods(table, tracks)
    tracks = tracks.grouped() if plan.recipe.sequential else tracks
    with opened.or_withdraw():
        each: dict[str, Any] = {"own": plan.own(table, tracks), "whose": plan.whose(table, tracks, key)}
        xy, added, _ = plan.reports(tracks, key, **each, progress=progress, workers=workers)
        record = plan.guarantee(len(xy), longest, Digest.of(xy), periods).to_attrs()
        private = build(plan, tracks, xy, added, record)
    if account is None:
        opened.finish()
    return private, record
