"""Files of any size, in bounded memory: read a batch of rows, perturb it, write it."""

import glob
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import pyproj

import geotracs.io.files as files
import geotracs.io.siblings as siblings
import geotracs.io.wkb as wkb
import geotracs.release.blocks as blocks
import geotracs.release.pace as paces
import geotracs.release.plan as plans
import geotracs.release.timetable as timetables
from geotracs.core.guarantee import Guarantee
from geotracs.errors import InputError, MissingExtraError, PrivacyWarning, quoted, sealed, warn
from geotracs.geo.originals import Originals, coordinates, some_coordinates
from geotracs.geo.region import Region
from geotracs.io.formats import FOLDERS, Writing, format_named
from geotracs.io.progress import bar
from geotracs.io.streams import Source, Stream
from geotracs.io.troubles import described, told
from geotracs.release.budgets import differ
from geotracs.release.charging import Account
from geotracs.release.file.release import Release, first_rows
from geotracs.release.file.scheduled import Filler, Scheduled
from geotracs.release.file.sorting import sort_out_of_core
from geotracs.release.file.survey import Survey, bill
from geotracs.release.frame import release as release_frame
from geotracs.release.request import Request

AT_ONCE = 2**20
"""Files of up to this many rows are perturbed at once..."""
BATCH = 2**18
"""...and larger ones in batches of this many."""
SORTING = ".sorting"


@sealed
def perturb_file(
    src: str | Path,
    dst: str | Path,
    eps: float | str,
    method: str = "joint",
    *,
    keep: str | Sequence[str] | None = None,
    rng: int | np.random.Generator | None = None,
    batch_rows: int | None = None,
    sort: bool = False,
    temporary: str | Path | None = None,
    overwrite: bool = False,
    quote_formulas: bool = False,
    encoding: str = "WKB",
    layer: str | None = None,
    x: str | None = None,
    y: str | None = None,
    input_crs: Any = None,
    sep: str | None = None,
    columns: Sequence[str] | None = None,
    input_encoding: str | None = None,
    time_format: str | None = None,
    dayfirst: bool = False,
    allow_remote: bool = False,
    workers: int | None = None,
    client: Any = None,
    progress: bool | None = None,
    **arguments: Any,
) -> Guarantee:
    """Perturb a file of any size into another, in bounded memory; what `perturb` does to a frame.

    Parameters
    ----------
    src : path
        Anything that `geotracs.files.read` reads, or a folder of GeoParquet files.
    dst : path
        The ending of its name says the kind of file; a name without one is a folder of GeoParquet files, if ``src`` is
        one. It appears only when it is complete.
    eps, method, keep, rng, workers
        As for `perturb`.
    batch_rows : int, optional
        About how many rows are in memory at a time; by default a quarter of a million. The result does not depend on
        it. A file of at most that many rows (by default a million) is read at once, and may then be in any order.
    sort : bool
        Bring the rows of a trajectory together, in the order of their times, on disk; trajectories are in an order of
        their own, and released in it. Otherwise a method that looks back, such as "tracs-d", needs all rows of a
        trajectory together, in the order of their times.
    temporary : path, optional
        A folder for what ``sort`` writes to disk: the original rows, in a folder that only you can read and that is
        removed in the end. By default the folder of ``src``, so that they are where the originals are anyway.
    overwrite, quote_formulas, encoding
        As for `geotracs.files.write`.
    layer, x, y, input_crs, sep, columns, input_encoding, time_format, dayfirst, allow_remote
        As for `geotracs.files.read`, where ``input_crs`` and ``input_encoding`` are called ``crs`` and ``encoding``.
    client : distributed.Client, optional
        Release a folder of GeoParquet, or one such file, on the workers of a dask cluster, which write a folder: each
        its part of the row groups. ``dst`` is then a name without an ending that all workers and you see.
    progress : bool, optional
        Show a progress bar; by default in a terminal.
    **arguments
        Other arguments of `perturb`: ``domain``, ``trajectory``, ``time``, ``unit``, ``round_to``, ...

    Returns
    -------
    Guarantee
        What the release promises. GeoParquet and GeoPackage files carry it, too.

    Notes
    -----
    A ``unit`` that shares epsilon and a column of epsilons read the file twice, first to count, and so does a CSV file,
    to see what its columns hold. An uneven ``allocation`` needs the rows of a trajectory together and by time, or
    ``sort``.
    "ngram" and "atp" keep whole trajectories in memory; "tracs-d" only the last report of one.

    Examples
    --------
    >>> import geotracs, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> city.tracks.to_parquet(folder / "tracks.parquet")
    >>> guarantee = perturb_file(
    ...     folder / "tracks.parquet", folder / "private.parquet", 4, "tracs-d",
    ...     domain=city.boundary.total_bounds, trajectory="person", time="t", keep=[],
    ... )
    >>> guarantee.locations == len(city.tracks)
    True
    """
    blocks.check_workers(workers)
    if batch_rows is not None and (not isinstance(batch_rows, (int, np.integer)) or batch_rows < 1):
        raise InputError(f"`batch_rows` must be a whole number of at least 1, got {quoted(batch_rows)}.")
    original = Path(str(src).partition("|")[0])
    _check_apart(original, Path(dst))
    dst = files.check_free(dst, overwrite=overwrite, folder=client is not None or os.path.isdir(original))
    if client is not None:
        src, dst = _check_cluster(client, original, dst, sort=sort, workers=workers, batch_rows=batch_rows)
    files.check_encoding(dst, encoding)
    writing = Writing(quote_formulas, encoding)
    request = Request.of(eps, method, keep=keep, rng=rng, **arguments)
    if client is not None and request.schedule is not None:
        raise InputError(
            "`every` and `at_most` take the rows of a file in their order, which a cluster does not keep: leave out "
            "`client`, or release a dask frame, whose partitions hold whole trajectories."
        )
    account = Account(request, "rows" if client is None else "parts")
    reading = {
        "layer": layer, "x": x, "y": y, "crs": input_crs, "sep": sep, "columns": columns,
        "encoding": input_encoding,
        "time": request.time, "time_format": time_format, "dayfirst": dayfirst, "allow_remote": allow_remote,
    }  # fmt: skip
    source = files.open_source(src, progress=progress, **reading)
    if not sort:
        _warn_of_order(source.path, dst)
    if client is None and not sort and _fits(source, batch_rows or AT_ONCE) and dst.suffix:
        frame = files.read(src, **reading)
        with told(src, "perturbed"):
            private = release_frame(frame, request, workers=workers, progress=progress, account=account)
        if isinstance(frame.index, pd.RangeIndex) and len(private) < len(frame):
            private = private.reset_index(drop=True)  # rows that a schedule left out have no number
        files.write(private, dst, overwrite=overwrite, quote_formulas=quote_formulas, encoding=encoding)
        account.finish()
        paces.warn_of(private.attrs["tracs"].get("risk"))
        return private.tracs.guarantee
    with (
        account.or_withdraw(),
        files.complete(dst) as unfinished,
        source.reading(),
        _sorted(source, request, temporary or original.parent, batch_rows or BATCH, progress, sort=sort) as source,
    ):
        account.drafted(unfinished.parent)
        record = files.record(src, layer=layer, allow_remote=allow_remote)
        if client is None:
            promised = _stream(source, unfinished, account, batch_rows or BATCH, writing, workers, progress, record)
        else:
            promised = _cluster().release(source, unfinished, account, client, writing, progress, record)
        account.keep()
    account.finish()
    paces.warn_of(promised.risk)
    return promised


@contextmanager
def connected(scheduler: str | None) -> Iterator[Any]:
    """Yield a client of the dask scheduler at an address; None without one."""
    if scheduler is None:
        yield None
        return
    with _cluster().connected(scheduler) as client:
        yield client


def _cluster() -> Any:
    """Return the module that needs dask."""
    try:
        import geotracs.release.file.cluster as cluster
    except ModuleNotFoundError as error:
        raise MissingExtraError(f'{error.name} is missing: a cluster needs pip install "geotracs[dask]".') from None
    return cluster


def _check_cluster(client: Any, src: Path, dst: Path, **others: Any) -> tuple[Path, Path]:
    """Return both paths as workers see them; raise for what a cluster cannot do."""
    _cluster()
    if type(client).__name__ != "Client" or not hasattr(client, "scheduler_info"):
        raise InputError(f"`client` must be a distributed.Client, got {quoted(client)}.")
    for name, value in others.items():
        if value:
            raise InputError(f"`{name}` has no meaning on a cluster; leave it out.")
    if dst.suffix or (format_named(src) is not FOLDERS and not src.is_dir()):
        raise InputError(
            "A cluster reads GeoParquet, a folder of it or one file, and writes a folder of it: give `dst` a name "
            "without an ending, and bring `src` into GeoParquet first."
        )
    return src.resolve(), dst.resolve()


@contextmanager
def _sorted(
    source: Source, request: Request, beside: str | Path, rows: int, progress: bool | None, *, sort: bool
) -> Iterator[Source]:
    """Yield the source, sorted if asked for; what that writes to disk is removed on every way out."""
    if not sort:
        yield source
        return
    first_rows(source, request)
    beside, name = Path(beside), f".{source.path.name}."
    earlier = [str(other) for other in beside.glob(f"{glob.escape(name)}*{SORTING}")]
    if earlier:
        warn(
            f"An earlier run was stopped and left {', '.join(sorted(earlier))} behind, with original locations. If "
            "it is not still running, remove it.",
            PrivacyWarning,
        )
    try:
        folder = Path(tempfile.mkdtemp(prefix=name, suffix=SORTING, dir=beside))  # which only the user can read
    except OSError as error:
        raise InputError(
            f"{str(beside)!r} cannot hold what sorting writes to disk: {described(error)} Use temporary=... "
            "for a folder that only you can read."
        ) from None
    try:
        column = request.trajectory if request.sharing.by_trajectory else request.sharing.column
        yield sort_out_of_core(source, column, request.time, folder / "rows", rows, progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _stream(
    source: Source,
    target: Path,
    account: Account,
    rows: int,
    writing: Writing,
    workers: int | None,
    progress: bool | None,
    record: dict[str, Any],
) -> Guarantee:
    request = account.request
    sample = first_rows(source, request)
    sample.attrs["tracs"] = record  # which says how its rows were prepared
    data = _originals(source, sample, request.domain, rows)
    timetable = timetables.make(request, sample, data)
    if timetable is not None:
        _check_fill(timetable)
        source = Scheduled.of(source, timetable, rows, progress)
        sample = first_rows(source, request)
    survey = Survey.of(source, request, rows, progress) if request.sharing.shares or differ(request) else None
    counted = survey.lengths if survey is not None and request.sharing.shares else None
    plan = plans.make(
        request,
        sample,
        data=data,
        lengths=np.array([1]) if counted is None else counted.all(),
        budgets=None if survey is None else survey.budgets(),
        schedule=None if timetable is None else timetable.to_record(),
    )
    plan.prepare(progress)
    key = account.key(plan, bill(source, account.meter(), request, rows, progress))
    lines = bool(sample.geom_type.eq("LineString").any())
    with bar(source.rows, progress, " rows") as advance:
        release = Release(source, plan, key, rows, lines, counted, workers, advance, account)
        with closing(release.tables()) as tables:  # so that reading has ended when sorted rows are removed
            stream = Stream(release.layout, tables, lambda: release.tally.summary(plan))
            if isinstance(source, Scheduled) and timetable is not None and timetable.schedule.fill is not None:
                filler = Filler(source, tables, release.layout, plan.added, cast(Region, plan.region))
                stream = Stream(filler.layout, filler.tables(), filler.summary(lambda: release.tally.summary(plan)))
            files.write_stream(stream, target, writing)
    return release.tally.guarantee(plan)


def _check_fill(timetable: timetables.Timetable) -> None:
    if timetable.schedule.fill == "reconstruct":
        raise InputError(
            f'fill="reconstruct" works on all reports together, and a file of more than {AT_ONCE:,} rows is read in '
            'batches: use fill="interpolate", or split the file by trajectory.'
        )


def _check_apart(original: Path, dst: Path) -> None:
    """Raise if `dst` would overwrite what is read, or lie in a folder that is read."""
    here, there = original.resolve(), dst.resolve()
    if here.is_relative_to(there) or (os.path.exists(dst) and os.path.exists(original) and dst.samefile(original)):
        raise InputError("`dst` is `src` or contains it: the original locations would be lost. Give another name.")
    for whole, part in ((here, there), (there, here)):
        if siblings.is_part(part, whole):
            name = format_named(whole).name
            raise InputError(f"`dst` is a part of the same {name} as `src`, whose locations would be lost; rename it.")
    if os.path.isdir(original) and there.is_relative_to(here):
        raise InputError("`dst` is inside the folder `src` and would be read as a part of it. Give another folder.")


def _warn_of_order(src: Path, dst: Path) -> None:
    """Warn if the rows of a release come in an order of the original locations."""
    before, after = format_named(src), format_named(dst)
    if before.order_tells and not after.order_tells:
        warn(
            f"The rows of a {before.name} file are in an order of their locations, and so are those of the release: "
            f"their order tells where they were. Use sort=True, or release a {before.endings[0]} file, which "
            "is in the order of the reports.",
            PrivacyWarning,
        )


def _originals(source: Source, sample: gpd.GeoDataFrame, domain: Any, rows: int) -> Originals:
    """Return what is known of the locations of a file; anything beyond its first rows and its header takes a pass."""
    if source.bounds is None and domain is None:
        raise InputError(
            "`domain` must be given: this file does not say the extent of its locations, which is private anyway. Give "
            "a public region, e.g. domain=(xmin, ymin, xmax, ymax)."
        )

    def each(work: Callable[[np.ndarray], np.ndarray]) -> Iterator[np.ndarray]:
        for table in source.tables(rows, [source.geometry]):
            yield work(coordinates(gpd.GeoSeries(wkb.geometries(table[source.geometry]))))

    crs = cast(pyproj.CRS, source.crs)  # a source without one has raised already
    return Originals(crs, some_coordinates(sample.geometry), each, source.bounds)


def _fits(source: Source, rows: int) -> bool:
    if source.rows is not None:
        return source.rows <= rows
    with source.reading(), closing(source.tables(rows + 1)) as tables:
        return len(next(tables)) <= rows


__all__ = ["connected", "perturb_file"]
