"""Arrow in, Arrow out: the same release without an object for each location."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyproj

import geotracs.geo.tracks as frames
import geotracs.io.tables as tables
import geotracs.release.blocks as blocks
import geotracs.release.pace as paces
from geotracs.errors import InputError, sealed
from geotracs.geo.originals import Originals
from geotracs.io.streams import Layout, Summary
from geotracs.io.wkb import Shapes
from geotracs.release.file.release import assembled, encoded, first_rows, layout_of, read
from geotracs.release.file.tally import extent
from geotracs.release.frame import Record, at_once
from geotracs.release.plan import Plan
from geotracs.release.request import Request

Built = tuple[pa.Table, Layout, Summary]


@sealed
def perturb_arrow(
    table: Any,
    eps: float | str,
    method: str = "joint",
    *,
    geometry: str = "geometry",
    input_crs: Any = None,
    keep: str | Sequence[str] | None = None,
    rng: int | np.random.Generator | None = None,
    workers: int | None = None,
    progress: bool = False,
    **arguments: Any,
) -> pa.Table:
    """Report every location of an Arrow table, as `perturb` does for a frame; no object is made of any of them.

    Parameters
    ----------
    table
        Anything with ``__arrow_c_stream__``: a table or reader of pyarrow, a result of DuckDB, a frame of polars, a
        table of GeoArrow. Points or lines, as well-known binary or in GeoArrow's own encodings. It is never changed.
    eps, method, keep, rng, workers, progress
        As for `perturb`.
    geometry : str
        The column of the locations.
    input_crs : optional
        Their CRS, for a table that does not say it, as GeoArrow and GeoParquet do.
    **arguments
        Other arguments of `perturb`: ``domain``, ``trajectory``, ``time``, ``unit``, ``round_to``, ...

    Returns
    -------
    pyarrow.Table
        The rows in their order, with the locations in the same encoding. The metadata of its schema hold the record,
        as those of GeoParquet do: ``pyarrow.parquet.write_table`` writes a GeoParquet file (unless coordinates are
        interleaved, which GeoParquet does not know).

    Notes
    -----
    With the same ``rng`` the locations are those of `perturb`, bit for bit. A column with the extent of each row, which
    GeoParquet may have, is left out. Well-known binary with Z or M, of other byte orders or with an SRID takes longer,
    since shapely reads it.

    Examples
    --------
    >>> import geotracs, pyarrow
    >>> city = geotracs.datasets.sample_city(people=3, seed=1)
    >>> table = pyarrow.table(city.tracks.to_arrow(index=False))
    >>> private = perturb_arrow(table, 4, domain=city.boundary.total_bounds, trajectory="person", time="t", keep=[])
    >>> private.column_names
    ['person', 't', 'geometry']
    >>> private.num_rows == len(city.tracks)
    True
    """
    request = Request.of(eps, method, keep=keep, rng=rng, **arguments)
    private, record = release(tables.take(table, geometry, input_crs), request, workers=workers, progress=progress)
    paces.warn_of(record.get("risk"))
    return private


def release(
    taken: tables.Taken, request: Request, *, workers: int | None = None, progress: bool | None = False
) -> tuple[pa.Table, dict[str, Any]]:
    """Return the release of a table, and its record."""
    blocks.check_workers(workers)
    if request.schedule is not None:
        raise InputError(
            "`every` and `at_most` are for frames and files: use geotracs.perturb or geotracs.perturb_file, or give a "
            "table with the rows that should be reported only."
        )
    table, sample = taken.whole, first_rows(taken, request)
    sample.attrs["tracs"] = taken.record  # which says how its rows were prepared
    columns = table.select(request.columns).to_pandas()
    tracks = read(taken, table, request.trajectory, request.time, request.sharing)
    data = Originals.held(cast(pyproj.CRS, taken.crs), tracks.xy)

    def build(plan: Plan, tracks: frames.Tracks, xy: np.ndarray, added: pd.DataFrame | None, _: Record) -> Built:
        layout, valid = layout_of(taken, plan, lines=tracks.are_lines), np.asarray(table[taken.geometry].is_valid())
        if tracks.geometry is None:
            locations = taken.encoded(Shapes(tracks.in_frame_order(xy), tracks.present, tracks.counts), valid)
        else:
            locations = encoded(tracks, xy, valid).cast(taken.encoding.released)
        layout = replace(layout, schema=taken.marked(layout.schema))
        kind = ("LineString" if tracks.are_lines else "Point") if len(xy) else None
        summary = Summary(kind, len(table), extent(xy))
        return assembled(layout, plan, table, locations, added, tracks.present), layout, summary

    (private, layout, summary), record = at_once(
        request, tracks, columns, sample, data, build, workers=workers, progress=progress
    )
    return private.replace_schema_metadata(taken.metadata(layout, replace(summary, record=record))), record
