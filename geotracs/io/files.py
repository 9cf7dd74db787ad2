"""Frames from and to files: GeoParquet, CSV with coordinate columns, and whatever GDAL reads; see `FORMATS`."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import geopandas as gpd

import geotracs.geo.crs as crs_
import geotracs.io.formats.base as base
import geotracs.io.siblings as siblings
import geotracs.io.sidecar as sidecar
from geotracs.errors import InputError, quoted, sealed
from geotracs.io.formats import FOLDERS, FORMATS, Format, Reading, Writing, format_named, format_of
from geotracs.io.formats.delimited import from_table, to_table
from geotracs.io.formats.dialect import asked
from geotracs.io.replacing import complete
from geotracs.io.streams import Source, Stream
from geotracs.io.times import Clock, Timed
from geotracs.io.troubles import told

PAGES = (".html", ".htm")
ENCODINGS = ("WKB", "geoarrow")


@sealed
def read(
    path: str | Path,
    *,
    layer: str | None = None,
    x: str | None = None,
    y: str | None = None,
    crs: Any = None,
    sep: str | None = None,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    time: str | None = None,
    time_format: str | None = None,
    dayfirst: bool = False,
    allow_remote: bool = False,
) -> gpd.GeoDataFrame:
    """Read a frame.

    Parameters
    ----------
    path : str or Path
        A file, or a folder of GeoParquet files; ``name.gpkg|layername=roads`` names a layer, as in QGIS. Of a GPX
        file the points of its tracks are read unless another layer is named.
    layer : str, optional
        Layer of a file that has several.
    x, y : str, optional
        Coordinate columns of a CSV file; found by themselves when they have the usual names. They become the geometry
        and are not kept as columns.
    crs : optional
        CRS of a file that does not say it.
    sep, encoding : str, optional
        What stands between the columns of a CSV file, and its encoding, if not UTF-8 or one of Excel's; what is not
        given is found, as are decimal commas.
    columns : list of str, optional
        Names of the columns of a CSV file without a header line.
    time : str, optional
        Column to read as dates by ``time_format`` or ``dayfirst``; dates as of ISO 8601 need neither.
    time_format : str, optional
        How its dates are written, such as "%d/%m/%Y %H:%M:%S"; or "s", "ms", "us", "ns" for numbers since 1970.
    dayfirst : bool
        Whether 03/04/2026 is the third of April; what else the dates look like is found by itself.
    allow_remote : bool
        Take a file that makes GDAL open other files or addresses (.vrt), and addresses (``/vsicurl/https://...``).
    """
    path, suffix = located(path, allow_remote)
    clock, own = Clock.of(time, time_format, dayfirst), None if crs is None else crs_.parse(crs)
    reading = Reading(layer or suffix, x, y, own, allow_remote, dialect=asked(sep, columns, encoding))
    with told(path, "read"):
        kind = format_of(path)
        frame = base.geometries(kind.read(path, reading), path, own)
        if known := sidecar.read(path, kind):
            frame.attrs["tracs"] = known
        return frame if clock is None else clock.of_frame(frame)


@sealed
def record(path: str | Path, *, layer: str | None = None, allow_remote: bool = False) -> dict[str, Any]:
    """Return the record of the release that a file holds, ``attrs["tracs"]``, without its rows; empty without one."""
    path, suffix = located(path, allow_remote)
    with told(path, "read"):
        kind = format_of(path)
        return sidecar.read(path, kind) or kind.record(path, Reading(layer or suffix, allow_remote=allow_remote))


def open_source(
    path: str | Path,
    *,
    layer: str | None = None,
    x: str | None = None,
    y: str | None = None,
    crs: Any = None,
    sep: str | None = None,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    time: str | None = None,
    time_format: str | None = None,
    dayfirst: bool = False,
    allow_remote: bool = False,
    progress: bool | None = False,
) -> Source:
    """Return a file ready to be read in batches; the arguments are those of `read`."""
    path, suffix = located(path, allow_remote)
    clock, own = Clock.of(time, time_format, dayfirst), None if crs is None else crs_.parse(crs)
    reading = Reading(layer or suffix, x, y, own, allow_remote, progress, asked(sep, columns, encoding))
    with told(path, "read"):
        source = format_of(path).open(path, reading)
        return source if clock is None else Timed.of(source, clock)


@sealed
def write(
    frame: gpd.GeoDataFrame,
    path: str | Path,
    *,
    overwrite: bool = False,
    quote_formulas: bool = False,
    encoding: str = "WKB",
) -> Path:
    """Write a frame; under its name only when it is complete.

    A CSV file gets its coordinates as columns ``x`` and ``y`` (``lon`` and ``lat`` for degrees). The record in
    ``attrs`` is kept by GeoParquet and GeoPackage; beside files of other formats it gets one of its own,
    ``NAME.tracs.json``, which `read` finds again.

    Parameters
    ----------
    overwrite : bool
        Replace a file of that name, with everything beside it that belongs to it, such as a spatial index.
    quote_formulas : bool
        Put an apostrophe before the texts of a CSV file that begin with =, +, - or @, which spreadsheets run as
        formulas. Other programs then read the apostrophe as a part of the text.
    encoding : {"WKB", "geoarrow"}
        How GeoParquet holds the locations: as well-known binary, or as numbers in columns of their own.
    """
    path = check_free(path, overwrite=overwrite)
    check_encoding(path, encoding)
    with complete(path) as unfinished:
        kind = format_named(unfinished)
        kind.write(frame, unfinished, Writing(quote_formulas, encoding))
        sidecar.write(unfinished, kind, frame.attrs.get("tracs"))
    return path


def write_stream(stream: Stream, path: Path, writing: Writing) -> None:
    """Write a release a table at a time to a path that `complete` gave; a name without an ending is a folder."""
    kind = _format_to_write(path, folder=True)
    kind.write_stream(stream, path, writing)
    sidecar.write(path, kind, stream.summary().record)


def check_encoding(path: Path, encoding: Any) -> None:
    """Raise for an unknown encoding, and for one that only GeoParquet has."""
    if encoding not in ENCODINGS:
        raise InputError(f"`encoding` must be one of {list(ENCODINGS)}, got {quoted(encoding)}.")
    if encoding != "WKB" and _format_to_write(path, folder=True) is not FOLDERS:
        raise InputError(f"Only GeoParquet has other encodings than WKB; leave out `encoding` for {path.name!r}.")


@sealed
def write_page(page: Any, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a folium map; under its name only when it is complete."""
    path = check_free(path, overwrite=overwrite, page=True)
    with complete(path) as unfinished:
        page.get_root().save(unfinished)
    return path


def check_free(path: str | Path, *, overwrite: bool = False, page: bool = False, folder: bool = False) -> Path:
    """Return the path if a file of locations, a page, or a folder of GeoParquet files can be written there."""
    path = Path(path)
    if not path.name:
        raise InputError(f"{str(path)!r} is not the name of a file or folder that can be written.")
    if os.path.exists(path) and not overwrite:
        raise InputError(f"{str(path)!r} exists already; use overwrite=True to replace it.")
    if os.path.isdir(path) and not FOLDERS.is_folder(path):
        raise InputError(f"{str(path)!r} is a folder that holds other things than GeoParquet files; give another name.")
    if not os.path.isdir(path.parent):
        raise InputError(f"There is no folder {str(path.parent)!r}.")
    siblings.check(path)
    if page and not base.has_ending(path, PAGES):
        raise InputError(f"A map is a page: give a name that ends with .html, got {path.name!r}.")
    if not page:
        _format_to_write(path, folder=folder).check_name(path)
    return path


def _format_to_write(path: Path, *, folder: bool) -> Format:
    """Return the format of a name, whatever exists there now."""
    return FOLDERS if folder and not path.suffix else format_named(path)


def located(path: str | Path, allow_remote: bool = False) -> tuple[Path, str | None]:
    """Return an existing file, and the layer that ``name.gpkg|layername=roads`` names, as QGIS writes it."""
    name, _, layer = str(path).partition("|layername=")
    path = Path(name)
    if allow_remote and name.startswith("/vsi"):
        return path, layer or None
    if name.startswith("/vsi") or re.match(r"[a-z][a-z0-9+.-]+://", name, re.IGNORECASE):
        raise InputError(
            f"{name!r} is not on this machine. Download it first; or, for GDAL's /vsicurl/ and its like, use "
            "allow_remote=True."
        )
    if not os.path.exists(path):  # unlike Path.exists, this never raises
        raise InputError(f"There is no file {name!r}.")
    with told(path, "read"):
        remote = not allow_remote and format_of(path).is_remote(path)
    if remote:
        raise InputError(
            f"{name!r} makes GDAL open other files, or addresses. If you know what it names, use "
            "allow_remote=True; or give the file that it stands for."
        )
    return path, layer or None


__all__ = [
    "FORMATS",
    "check_free",
    "complete",
    "format_of",
    "from_table",
    "open_source",
    "read",
    "to_table",
    "write",
    "write_page",
    "write_stream",
]
