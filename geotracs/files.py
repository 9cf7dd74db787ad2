"""Frames from and to files: anything pyogrio reads, GeoParquet, and CSV with coordinate columns."""

import glob
import json
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import geopandas as gpd
import pandas as pd
import pyarrow as pa
import pyogrio
import shapely
from pyogrio.errors import DataLayerError, DataSourceError

import geotracs.crs as crs_
from geotracs.errors import GeotracsError, InputError, warn

PARQUET = (".parquet", ".geoparquet", ".pq")
GPX = (".gpx",)
CURVE = (".fgb",)
SEQUENCES = (".geojsonl", ".geojsons", ".jsonl", ".ndjson")
PAGES = (".html", ".htm")
UNFINISHED = ".unfinished"
TROUBLES = (DataSourceError, DataLayerError, OSError, ValueError, EOFError, NotImplementedError, OverflowError)
"""What reading and writing files can raise; `ValueError` is also that of pyarrow."""
CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
LONGITUDES, LATITUDES = ("lon", "longitude", "lng", "long"), ("lat", "latitude")


def read(
    path: str | Path, *, layer: str | None = None, x: str | None = None, y: str | None = None, crs: Any = None
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
    """
    name, _, suffix = str(path).partition("|layername=")  # as QGIS writes it
    path, layer = Path(name), layer or suffix or None
    if not path.exists():
        raise InputError(f"There is no file {name!r}.")
    try:
        if parquet_parts(path):
            frame = _joined([gpd.read_parquet(part) for part in parquet_parts(path)])
        elif has_ending(path, CSV):
            # At once: in pieces, a label would be a number in one and a text in another, and so two trajectories.
            table = pd.read_csv(path, sep="\t" if ".tsv" in path.name.lower() else ",", low_memory=False)
            return from_table(table, x, y, crs)
        else:
            check_layer(path)
            tracks = layer is None and has_ending(path, GPX)
            layer = "track_points" if tracks else only_layer(path, layer)
            with quiet_gdal(path):
                frame = gpd.read_file(path, layer=layer, engine="pyogrio")
            check_all_read(path, len(frame))
            frame.attrs.update(_metadata(path, layer))
            frame = _tracks(frame, path.stem) if tracks else frame
    except GeotracsError:
        raise
    except TROUBLES as error:
        raise InputError(f"{str(path)!r} cannot be read: {first_line(error)}") from error
    if not isinstance(frame, gpd.GeoDataFrame):
        raise InputError(f"{str(path)!r} has no geometries.")
    if frame.crs is None and crs is not None:
        frame = frame.set_crs(crs_.parse(crs))
    return frame


def write(frame: gpd.GeoDataFrame, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a frame; under its name only when it is complete.

    A CSV file gets its coordinates as columns ``x`` and ``y`` (``lon`` and ``lat`` for degrees). The record in
    ``attrs`` is kept by GeoParquet and GeoPackage.
    """
    path = check_free(path, overwrite=overwrite)
    with complete(path) as unfinished:
        _write(frame, unfinished)
    return path


def write_page(page: Any, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a folium map; under its name only when it is complete."""
    path = check_free(path, overwrite=overwrite, page=True)
    with complete(path) as unfinished:
        page.get_root().save(unfinished)
    return path


@contextmanager
def quiet_gdal(path: Path, where: str = "pyogrio|geopandas|geotracs") -> Iterator[None]:
    """Count the warnings of GDAL, in any thread, instead of showing them: it quotes the coordinates it cannot read.

    ``where`` is a pattern of the modules that they seem to come from.
    """
    show, troubles = warnings.showwarning, []

    def note(message: Any, category: type[Warning], filename: str, *rest: Any) -> None:
        if category is not RuntimeWarning or not re.search(where, Path(filename).with_suffix("").as_posix()):
            show(message, category, filename, *rest)
        elif "successfully parsed" not in str(message):
            troubles.append(message)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=RuntimeWarning, module=f".*({where})")
        warnings.showwarning = note
        yield
    if troubles:
        warn(f"GDAL gave {len(troubles)} warning(s) while reading {str(path)!r}; check that it is complete.")


@contextmanager
def complete(path: Path) -> Iterator[Path]:
    """Yield a path to write to; what was written, several files perhaps, gets its name only in the end."""
    earlier = sorted(str(other) for other in path.parent.glob(f".{glob.escape(path.name)}.*{UNFINISHED}"))
    if earlier:
        warn(
            f"An earlier run to {str(path)!r} was stopped and left {', '.join(earlier)} behind. If it is not still "
            "running, remove that folder; it may hold original locations."
        )
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=UNFINISHED, dir=path.parent))
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}.") from error
    try:
        yield folder / path.name
        if path.is_dir():
            os.rename(path, folder / "replaced")
            os.rename(folder / path.name, path)
            return
        for part in sorted(folder.iterdir()):  # a shapefile is several files
            os.replace(part, path.parent / part.name)
    except GeotracsError:
        raise
    except pa.ArrowInvalid:
        raise InputError(
            f"{str(path)!r} cannot be written: a column holds values of several kinds, or one that does not fit."
        ) from None  # Arrow quotes the values
    except TROUBLES as error:
        raise InputError(f"{str(path)!r} cannot be written: {first_line(error)}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_free(path: str | Path, *, overwrite: bool = False, page: bool = False, folder: bool = False) -> Path:
    """Return the path if a file of locations, a page, or a folder of GeoParquet files can be written there."""
    path = Path(path)
    if path.exists() and not overwrite:
        raise InputError(f"{str(path)!r} exists already; use --overwrite (overwrite=True) to replace it.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(path.parent)!r}.")
    if page:
        if not has_ending(path, PAGES):
            raise InputError(f"A map is a page: give a name that ends with .html, got {path.name!r}.")
    elif not (has_ending(path, PARQUET) or has_ending(path, CSV) or (folder and not path.suffix)):
        try:
            pyogrio.detect_write_driver(path)
        except ValueError as error:
            raise InputError(
                f"{path.name!r} has no ending that is known, such as .gpkg, .parquet, .geojson or .csv."
            ) from error
    return path


def _write(frame: gpd.GeoDataFrame, path: Path) -> None:
    if has_ending(path, PARQUET):
        frame.to_parquet(path)
    elif has_ending(path, CSV):
        to_table(frame).to_csv(path, sep="\t" if ".tsv" in path.name.lower() else ",", index=False)
    elif path.suffix.lower() == ".gpkg":
        frame.to_file(path, engine="pyogrio", layer_metadata={"tracs": json.dumps(frame.attrs.get("tracs", {}))})
    else:
        frame.to_file(path, engine="pyogrio")


def parquet_parts(path: Path) -> list[Path]:
    """Return the GeoParquet files of a folder in the order of their numbers, or the file that this is; if any."""
    if not path.is_dir():
        return [path] if has_ending(path, PARQUET) else []

    def numbers(part: Path) -> list[tuple[int, str]]:
        return [(int(word), "") if word.isdigit() else (-1, word) for word in re.split(r"(\d+)", part.name)]

    return sorted((part for part in path.iterdir() if has_ending(part, PARQUET)), key=numbers)


def _joined(parts: list[gpd.GeoDataFrame]) -> gpd.GeoDataFrame:
    if len(parts) == 1:
        return parts[0]
    return pd.concat(parts, ignore_index=all(isinstance(part.index, pd.RangeIndex) for part in parts))


def from_table(table: pd.DataFrame, x: str | None, y: str | None, crs: Any) -> gpd.GeoDataFrame:
    """Return a table with coordinate columns as a frame."""
    # Also where the columns were not parted: a first line of locations must not be quoted as their names.
    if any(_is_number(word) for column in table.columns for word in re.split(r"[;|\t]", str(column))):
        raise InputError("The CSV file seems to have no header line; add one that names the columns.")
    (x, degrees), (y, _) = _coordinate(table, x, LONGITUDES, "x"), _coordinate(table, y, LATITUDES, "y")
    if crs is None and not degrees:
        raise InputError("The CSV file does not say its CRS; give it, e.g. --input-crs EPSG:32654.")
    for name in (x, y):
        if len(table) and not pd.api.types.is_numeric_dtype(table[name]):
            raise InputError(f"The coordinate column {name!r} does not hold numbers only.")
    points = shapely.points(table[x].to_numpy(float), table[y].to_numpy(float))
    points[table[[x, y]].isna().any(axis=1).to_numpy()] = None
    frame = table.drop(columns=[x, y])
    return gpd.GeoDataFrame(frame, geometry=points, crs=crs_.parse(crs if crs is not None else "EPSG:4326"))


def coordinates(table: pd.DataFrame, x: str | None, y: str | None) -> tuple[str, str]:
    """Return the names of the coordinate columns of a table."""
    return _coordinate(table, x, LONGITUDES, "x")[0], _coordinate(table, y, LATITUDES, "y")[0]


def _coordinate(table: pd.DataFrame, given: str | None, usual: tuple[str, ...], letter: str) -> tuple[str, bool]:
    """Return the name of a coordinate column, and whether its name says that it holds degrees."""
    if given is not None:
        if given not in table.columns:
            raise InputError(f"There is no column {given!r}; the columns are {list(table.columns)}.")
        return given, given.lower() in usual
    for column in table.columns:
        if str(column).lower() in usual:
            return column, True
    for column in table.columns:
        if str(column).lower() == letter:
            return column, False
    raise InputError(
        f"The CSV file has no column that looks like {letter}; name it with --{letter}. (Columns must be separated by "
        "commas, or by tabs in a .tsv file.)"
    )


def to_table(frame: gpd.GeoDataFrame) -> pd.DataFrame:
    """Return a frame of points as a table with coordinate columns."""
    if not frame.geom_type.dropna().isin(["Point"]).all():
        raise InputError("A CSV file can only hold points; use .gpkg, .parquet or .geojson for lines.")
    names = ("lon", "lat") if frame.crs is not None and frame.crs.is_geographic else ("x", "y")
    table = pd.DataFrame(frame.drop(columns=frame.geometry.name))
    return table.assign(**{names[0]: frame.geometry.x, names[1]: frame.geometry.y})


def _tracks(points: gpd.GeoDataFrame, name: str) -> gpd.GeoDataFrame:
    """Return the points of GPX tracks with columns of plain names."""
    table = {
        "trajectory": name + "/" + points["track_fid"].astype(str),
        "segment": points["track_seg_id"],
        "time": points["time"],
        "altitude": points["ele"],
    }
    return gpd.GeoDataFrame(table, geometry=points.geometry, crs=points.crs)


def check_layer(path: Path) -> None:
    """Refuse what GDAL would refuse without a reason, or read as far as it goes without an error."""
    if path.is_dir() and next(path.rglob("*.parquet"), None) is not None:
        raise InputError(
            f"{str(path)!r} has GeoParquet files only in folders within it, such as key=value. Give one of them, "
            "or read all with dask_geopandas.read_parquet."
        )
    if has_ending(path, (".shp",)):
        _check_whole(path)
        for table in (path.with_suffix(ending) for ending in (".dbf", ".DBF")):
            _check_whole(table)


def _check_whole(path: Path) -> None:
    """Refuse a part of a shapefile that is shorter than it says."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        start = file.read(28)
    if has_ending(path, (".dbf",)):
        rows, head, row = (int.from_bytes(start[part], "little") for part in (slice(4, 8), slice(8, 10), slice(10, 12)))
        length = head + rows * row
    else:
        length = 2 * int.from_bytes(start[24:], "big")
    if path.stat().st_size < length:
        raise InputError(f"{str(path)!r} is cut short: it should have {length:,} bytes. Copy it again.")


def check_all_read(path: Path, rows: int) -> None:
    """Refuse a sequence of GeoJSON objects of which GDAL left some out: it says nothing of those it cannot read."""
    if not has_ending(path, SEQUENCES):
        return
    with path.open("rb") as file:
        lines = marked = 0
        for line in file:
            lines += bool(line.strip())
            marked += line.startswith(b"\x1e")  # where each record begins with a mark, it may have several lines
    records = marked or lines
    if rows < records:
        raise InputError(f"{str(path)!r} is damaged or cut short: only {rows} of its {records} records can be read.")


def only_layer(path: Path, named: str | None = None) -> str | None:
    """Return the name of the one layer of a file, or of the one that is named."""
    every = {str(name): kind for name, kind in pyogrio.list_layers(path)}
    if named in every:
        return named
    layers = [name for name, kind in every.items() if kind is not None]
    if named is not None:
        raise InputError(f"{str(path)!r} has no layer {named!r}; it has {', '.join(layers)}.")
    if len(layers) > 1:
        raise InputError(f"{str(path)!r} has several layers: {', '.join(layers)}; give {path.name}|layername=NAME.")
    return layers[0] if layers else None


def _metadata(path: Path, layer: str | None) -> dict[str, Any]:
    stored = pyogrio.read_info(path, layer=layer).get("layer_metadata") or {}
    return {"tracs": json.loads(stored["tracs"])} if "tracs" in stored else {}


def has_ending(path: Path, endings: tuple[str, ...]) -> bool:
    """Whether the name of a file ends with one of these."""
    return path.name.lower().endswith(endings)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def first_line(error: Exception) -> str:
    """Return what an error says, in one line."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not in UTF-8; save it as UTF-8."
    return (str(error) or type(error).__name__).splitlines()[0]
