"""Frames from and to files: anything pyogrio reads, GeoParquet, and CSV with coordinate columns."""

import glob
import json
import os
import re
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyogrio
import shapely

import geotracs.geo.crs as crs_
import geotracs.io.siblings as siblings
from geotracs.errors import InputError, sealed, warn
from geotracs.io.troubles import told

PARQUET = (".parquet", ".geoparquet", ".pq")
BESIDE = ("_metadata", "_success", ".crc")
"""What may lie beside GeoParquet files in their folder."""
GPX, GML, SHAPEFILE = (".gpx",), (".gml",), (".shp", ".dbf", ".shx")
CURVE = (".fgb",)
SEQUENCES = (".geojsonl", ".geojsons", ".jsonl", ".ndjson")
PAGES = (".html", ".htm")
ZIPPED = (".zip", ".shz", ".kmz")
READING = {
    "OGR_GPKG_NUM_THREADS": 1,
    "GML_DOWNLOAD_SCHEMA": "NO",
    "CPL_VSIL_CURL_ALLOWED_FILENAME": "none",
    "GDAL_HTTP_PROXY": "none://none",  # which curl does not know: a GeoJSON file may say where to ask for its CRS
    "GDAL_HTTPS_PROXY": "none://none",
}
"""For GDAL: threads of its own would write to stderr themselves, and nothing is asked from the network..."""
WRITING = {"OGR_SQLITE_JOURNAL": "MEMORY"}
"""...and no journal of a database lies on disk, whatever the environment says."""
REMOTE = (
    b"<OGRVRTDataSource", b"<VRTDataset", b"<OGRWFSDataSource", b"<OGRCSWDataSource", b"gdal_streamed_alg",
    b'"\\IsSeamless"',
)  # fmt: skip
"""How files begin that name other files or addresses, which GDAL would open..."""
HEAD = 2**14
"""...within so many bytes."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet takes for a formula."""
UNFINISHED, REPLACED = ".unfinished", ".replaced"
CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
LONGITUDES, LATITUDES = ("lon", "longitude", "lng", "long"), ("lat", "latitude")


@sealed
def read(
    path: str | Path,
    *,
    layer: str | None = None,
    x: str | None = None,
    y: str | None = None,
    crs: Any = None,
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
    allow_remote : bool
        Take a file that makes GDAL open other files or addresses (.vrt), and addresses (``/vsicurl/https://...``).
    """
    path, suffix = located(path, allow_remote)
    layer = layer or suffix
    with told(path, "read"):
        if parquet_parts(path):
            frame = _joined([gpd.read_parquet(part) for part in parquet_parts(path)])
        elif has_ending(path, CSV):
            # At once: in pieces, a label would be a number in one and a text in another, and so two trajectories.
            table = pd.read_csv(path, sep=separator(path), low_memory=False)
            return from_table(table, x, y, crs)
        else:
            with quiet_gdal(path, remote=allow_remote):
                frame = _read_layer(path, layer)
    if not isinstance(frame, gpd.GeoDataFrame):
        raise InputError(f"{str(path)!r} has no geometries.")
    if frame.crs is None and crs is not None:
        frame = frame.set_crs(crs_.parse(crs))
    return frame


def _read_layer(path: Path, layer: str | None) -> gpd.GeoDataFrame:
    check_layer(path)
    tracks = layer is None and has_ending(path, GPX)
    layer = "track_points" if tracks else only_layer(path, layer)
    frame = gpd.read_file(address(path), layer=layer, engine="pyogrio")
    check_all_read(path, len(frame))
    frame.attrs.update(_metadata(path, layer))
    return _tracks(frame, path.stem) if tracks else frame


def located(path: str | Path, allow_remote: bool = False) -> tuple[Path, str | None]:
    """Return a file that is there, and the layer that ``name.gpkg|layername=roads`` names, as QGIS writes it."""
    name, _, layer = str(path).partition("|layername=")
    path = Path(name)
    if allow_remote and name.startswith("/vsi"):
        return path, layer or None
    if name.startswith("/vsi") or re.match(r"[a-z][a-z0-9+.-]+://", name, re.IGNORECASE):
        raise InputError(
            f"{name!r} is not on this machine. Download it first; or, for GDAL's /vsicurl/ and its like, use "
            "--allow-remote (allow_remote=True)."
        )
    if not os.path.exists(path):  # which, other than Path's, never raises
        raise InputError(f"There is no file {name!r}.")
    if not allow_remote and _is_remote(path):
        raise InputError(
            f"{name!r} makes GDAL open other files, or addresses. If you know what it names, use --allow-remote "
            "(allow_remote=True); or give the file that it stands for."
        )
    return path, layer or None


def address(path: Path) -> str:
    """Return a path as GDAL takes it; `Path` makes one slash of the two of an address."""
    return re.sub(r"^(/vsi\w+/\w+:)/(?!/)", r"\1//", str(path))


def _is_remote(path: Path) -> bool:
    if path.is_dir() or has_ending(path, PARQUET) or has_ending(path, CSV):
        return False
    with told(path, "read"):
        with path.open("rb") as file:
            heads = [file.read(HEAD)]  # also of an archive, which may follow something else
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                heads += [archive.open(name).read(HEAD) for name in archive.namelist() if not name.endswith("/")]
    return has_ending(path, (".vrt",)) or any(mark in head for mark in REMOTE for head in heads)


@sealed
def write(frame: gpd.GeoDataFrame, path: str | Path, *, overwrite: bool = False, quote_formulas: bool = False) -> Path:
    """Write a frame; under its name only when it is complete.

    A CSV file gets its coordinates as columns ``x`` and ``y`` (``lon`` and ``lat`` for degrees). The record in
    ``attrs`` is kept by GeoParquet and GeoPackage.

    Parameters
    ----------
    overwrite : bool
        Replace a file of that name, with everything beside it that belongs to it, such as a spatial index.
    quote_formulas : bool
        Put an apostrophe before the texts of a CSV file that begin with =, +, - or @, which spreadsheets run as
        formulas. Other programs then read the apostrophe as a part of the text.
    """
    path = check_free(path, overwrite=overwrite)
    with complete(path) as unfinished:
        _write(frame, unfinished, quote_formulas)
    return path


@sealed
def write_page(page: Any, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a folium map; under its name only when it is complete."""
    path = check_free(path, overwrite=overwrite, page=True)
    with complete(path) as unfinished:
        page.get_root().save(unfinished)
    return path


@contextmanager
def quiet_gdal(path: Path, where: str = "pyogrio|geopandas|geotracs", *, remote: bool = False) -> Iterator[None]:
    """Count the warnings of GDAL, in any thread, instead of showing them: it quotes the coordinates it cannot read.

    And keep it from the network, unless ``remote``, and from leaving a file that tells the extent of another beside it.

    Parameters
    ----------
    where : str
        A pattern of the modules that the warnings seem to come from.
    """
    show, troubles = warnings.showwarning, []

    def note(message: Warning | str, category: type[Warning], filename: str, lineno: int, *rest: Any) -> None:
        if category is not RuntimeWarning or not re.search(where, Path(filename).with_suffix("").as_posix()):
            show(message, category, filename, lineno, *rest)
        elif "successfully parsed" not in str(message):
            troubles.append(message)

    scheme = path.parent / f"{path.stem}.gfs"  # of GML, whatever the name of the file
    new = not os.path.exists(scheme)
    with warnings.catch_warnings(), configured({} if remote else READING):
        warnings.filterwarnings("always", category=RuntimeWarning, module=f".*({where})")
        warnings.showwarning = note  # type: ignore[assignment]  # it passes on whatever else there is
        try:
            yield
        finally:
            if new and os.path.exists(scheme):
                scheme.unlink()
    if troubles:
        warn(f"GDAL gave {len(troubles)} warning(s) while reading {str(path)!r}; check that it is complete.")


@contextmanager
def configured(options: dict[str, Any]) -> Iterator[None]:
    """Set options of GDAL for a while."""
    before = {name: pyogrio.get_gdal_config_option(name) for name in options}
    pyogrio.set_gdal_config_options(options)
    try:
        yield
    finally:
        pyogrio.set_gdal_config_options(before)


@contextmanager
def complete(path: Path) -> Iterator[Path]:
    """Yield a path to write to; what was written, several files perhaps, gets its name only in the end."""
    earlier = sorted(str(other) for other in path.parent.glob(f".{glob.escape(path.name)}.*{UNFINISHED}"))
    if earlier:
        warn(
            f"An earlier run to {str(path)!r} was stopped and left {', '.join(earlier)} behind. If it is not still "
            f"running, remove that folder.{_held(earlier)}"
        )
    with told(path, "written"):
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=UNFINISHED, dir=path.parent))
        try:
            yield folder / path.name
            if path.is_dir():
                _replace_folder(path, folder / path.name, folder / REPLACED)
            else:
                _replace_files(path, folder)
        except pa.ArrowInvalid:
            raise InputError(
                f"{str(path)!r} cannot be written: a column holds values of several kinds, or one that does not fit."
            ) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _replace_files(path: Path, folder: Path) -> None:
    """Put new files, one of them named like ``path``, in the place of all that belongs to a former one."""
    siblings.check_journals(folder / path.name)
    siblings.check(path)
    parts = sorted(folder.iterdir(), key=lambda part: part.name == path.name)  # that one last
    stale, kept = siblings.siblings(path), folder / REPLACED
    for part in parts[:-1]:
        if (path.parent / part.name).exists() and path.parent / part.name not in stale:
            raise InputError(f"{str(path)!r} cannot be written: {part.name!r} is there and would be replaced, too.")
    kept.mkdir()
    moves = [(old, kept / old.name) for old in stale] + [(part, path.parent / part.name) for part in parts]
    try:
        for before, after in moves:
            os.replace(before, after)
    except BaseException:
        if parts[-1].exists():  # else all is done, and the former file is gone: its parts must not come back
            for before, after in reversed(moves):
                if not before.exists():
                    os.replace(after, before)
        raise
    siblings.check_journals(path)  # of a program that still has the former file open


def _replace_folder(path: Path, new: Path, old: Path) -> None:
    """Put a new folder in the place of one that is moved away, and that one back if it is stopped in between."""
    try:
        os.rename(path, old)
        os.rename(new, path)
    except BaseException:
        if old.exists() and not path.exists():
            os.rename(old, path)
        raise


def _held(earlier: list[str]) -> str:
    """Say which of the folders that runs left behind hold what they were about to replace."""
    held = [str(old) for old in (Path(folder) / REPLACED for folder in earlier) if old.exists()]
    return f" Before that, move {', '.join(held)} back: it is what was there before." if held else ""


def check_free(path: str | Path, *, overwrite: bool = False, page: bool = False, folder: bool = False) -> Path:
    """Return the path if a file of locations, a page, or a folder of GeoParquet files can be written there."""
    path = Path(path)
    if not path.name:
        raise InputError(f"{str(path)!r} is no name of a file or folder that can be written.")
    if has_ending(path, ZIPPED):
        raise InputError(f"{path.name!r}: GDAL does not say when it could not write an archive; zip the file yourself.")
    if os.path.exists(path) and not overwrite:
        raise InputError(f"{str(path)!r} exists already; use --overwrite (overwrite=True) to replace it.")
    if os.path.isdir(path) and not all(map(_is_part, path.iterdir())):
        raise InputError(f"{str(path)!r} is a folder that holds other things than GeoParquet files; give another name.")
    if not os.path.isdir(path.parent):
        raise InputError(f"There is no folder {str(path.parent)!r}.")
    siblings.check(path)
    if page:
        if not has_ending(path, PAGES):
            raise InputError(f"A map is a page: give a name that ends with .html, got {path.name!r}.")
    elif not (has_ending(path, PARQUET) or has_ending(path, CSV) or (folder and not path.suffix)):
        try:
            pyogrio.detect_write_driver(path)
        except ValueError:
            raise InputError(
                f"{path.name!r} has no ending that is known, such as .gpkg, .parquet, .geojson or .csv."
            ) from None
    return path


def _write(frame: gpd.GeoDataFrame, path: Path, quote_formulas: bool) -> None:
    if has_ending(path, PARQUET):
        frame.to_parquet(path)
    elif has_ending(path, CSV):
        to_table(frame, quote_formulas).to_csv(path, sep=separator(path), index=False)
    else:
        record = {"tracs": json.dumps(frame.attrs.get("tracs", {}))}
        with configured(WRITING):
            driver = pyogrio.detect_write_driver(path)  # geopandas knows fewer
            about = {"layer_metadata": record} if is_geopackage(path) else {}
            frame.to_file(path, engine="pyogrio", driver=driver, **about)


def parquet_parts(path: Path) -> list[Path]:
    """Return the GeoParquet files of a folder in the order of their numbers, or the file that this is; if any."""
    if not path.is_dir():
        return [path] if has_ending(path, PARQUET) else []
    deeper = [part.relative_to(path).parts for part in path.rglob("*.parquet")]
    if any(len(parts) > 1 and not parts[0].startswith((".", "_")) for parts in deeper):
        raise InputError(
            f"{str(path)!r} has GeoParquet files in folders within it, such as key=value. Give one of them, or "
            "read all with dask_geopandas.read_parquet."
        )

    def numbers(part: Path) -> list[tuple[int, str]]:
        return [(int(word), "") if word.isdigit() else (-1, word) for word in re.split(r"(\d+)", part.name)]

    return sorted((part for part in path.iterdir() if has_ending(part, PARQUET)), key=numbers)


def _is_part(path: Path) -> bool:
    """Whether this may be in a folder of GeoParquet files that is replaced."""
    return path.is_file() and has_ending(path, (*PARQUET, *BESIDE))


def _joined(parts: list[gpd.GeoDataFrame]) -> gpd.GeoDataFrame:
    if len(parts) == 1:
        return parts[0]
    return pd.concat(parts, ignore_index=all(isinstance(part.index, pd.RangeIndex) for part in parts))


def from_table(table: pd.DataFrame, x: str | None, y: str | None, crs: Any) -> gpd.GeoDataFrame:
    """Return a table with coordinate columns as a frame."""
    # Also where the columns were not parted: a first line of locations must not be quoted as their names.
    names = [str(column) for column in table.columns]
    if any(re.search(r"\d[.]\d{3}", name) or any(map(_is_number, re.split(r"[;|\t]", name))) for name in names):
        raise InputError("The CSV file seems to have no header line; add one that names the columns.")
    (x, degrees), (y, _) = _coordinate(table, x, LONGITUDES, "x"), _coordinate(table, y, LATITUDES, "y")
    if crs is None and not degrees:
        raise InputError("The CSV file does not say its CRS; give it, e.g. --input-crs EPSG:32654.")
    for name in (x, y):
        if len(table) and not pd.api.types.is_numeric_dtype(table[name]):
            raise InputError(f"The coordinate column {name!r} does not hold numbers only.")
    points = cast(np.ndarray, shapely.points(table[x].to_numpy(float), table[y].to_numpy(float)))
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
            raise InputError(f"There is no column {given!r} in the first line of the CSV file.")
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


def to_table(frame: gpd.GeoDataFrame, quote_formulas: bool = False) -> pd.DataFrame:
    """Return a frame of points as a table with coordinate columns; see `write`."""
    if not frame.geom_type.dropna().isin(["Point"]).all():
        raise InputError("A CSV file can only hold points; use .gpkg, .parquet or .geojson for lines.")
    names = ("lon", "lat") if frame.crs is not None and frame.crs.is_geographic else ("x", "y")
    table = pd.DataFrame(frame.drop(columns=frame.geometry.name))
    table = table.apply(_quoted).rename(columns=_quoted_text) if quote_formulas else table
    return table.assign(**{names[0]: frame.geometry.x, names[1]: frame.geometry.y})


def _quoted(column: pd.Series) -> pd.Series:
    plain = pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column)
    return column if plain else column.astype(object).map(_quoted_text)


def _quoted_text(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


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
    if path.is_dir() and not any(path.iterdir()):
        raise InputError(f"{str(path)!r} is an empty folder: it holds no GeoParquet files.")
    if has_ending(path, (".shp", ".dbf")):  # GDAL takes as much memory as a head asks for
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
    """Refuse a file of which GDAL left some out: it says nothing of those it cannot read."""
    records = rows
    if has_ending(path, CURVE):
        records = pyogrio.read_info(path)["features"]
    elif has_ending(path, SEQUENCES) and pyogrio.read_info(path)["driver"] == "GeoJSONSeq":
        records, whole = _records(path)
        if not whole:
            raise InputError(f"{str(path)!r} is cut short: its last record is not complete. Copy it again.")
    if rows < records:
        raise InputError(f"{str(path)!r} is damaged or cut short: only {rows} of its {records} records can be read.")


def _records(path: Path) -> tuple[int, bool]:
    """Return how many objects a sequence of GeoJSON has, and whether the last is complete."""
    lines = marked = 0
    last = b""
    with path.open("rb") as file:
        for line in file:
            mark = line.startswith(b"\x1e")  # where each record begins with one, it may have several lines
            lines, marked = lines + bool(line.strip()), marked + mark
            last = last + line if marked and not mark else line if line.strip() else last
    try:
        json.loads(last.strip(b"\x1e\r\n "))
    except ValueError:
        return marked or lines, False
    return marked or lines, True


def only_layer(path: Path, named: str | None = None) -> str | None:
    """Return the name of the one layer of a file, or of the one that is named."""
    every = {str(name): kind for name, kind in pyogrio.list_layers(address(path))}
    if named in every:
        return named
    layers = [name for name, kind in every.items() if kind is not None]
    if named is not None:
        raise InputError(f"{str(path)!r} has no layer {named!r}; it has {', '.join(layers)}.")
    if len(layers) > 1:
        raise InputError(f"{str(path)!r} has several layers: {', '.join(layers)}; give {path.name}|layername=NAME.")
    return layers[0] if layers else None


def _metadata(path: Path, layer: str | None) -> dict[str, Any]:
    stored = pyogrio.read_info(address(path), layer=layer).get("layer_metadata") or {}
    return {"tracs": json.loads(stored["tracs"])} if "tracs" in stored else {}


def is_geopackage(path: Path) -> bool:
    """Whether a file of this name keeps a record in its metadata."""
    return path.suffix.lower() == ".gpkg"


def separator(path: Path) -> str:
    """Return what is between the columns of a CSV file of this name."""
    return "\t" if ".tsv" in path.name.lower() else ","


def has_ending(path: Path, endings: tuple[str, ...]) -> bool:
    """Whether the name of a file ends with one of these."""
    return path.name.lower().endswith(endings)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
