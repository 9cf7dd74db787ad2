"""CSV and TSV: tables whose coordinates are columns."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import shapely

import geotracs.geo.crs as crs_
import geotracs.io.streams as streams
import geotracs.io.wkb as wkb
from geotracs.errors import InputError
from geotracs.io.formats.base import Format, Reading, Writing
from geotracs.io.formats.dialect import Dialect
from geotracs.io.progress import bar
from geotracs.io.streams import Bounds, Source, Stream

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet takes for a formula."""
LONGITUDES, LATITUDES = ("lon", "longitude", "lng", "long"), ("lat", "latitude")


class Csv(Format):
    """Columns between commas, or tabs in a .tsv file; what is read may be written in another `Dialect`."""

    name = "CSV"
    endings = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
    parts = (".csvt", ".prj")
    spare_parts = True
    exact = True

    def read(self, path: Path, reading: Reading) -> gpd.GeoDataFrame:
        """Return a file as a frame of points."""
        # At once: in pieces, a label would be a number in one and a text in another, and so two trajectories.
        table = pd.read_csv(path, low_memory=False, **Dialect.of(path, reading.dialect).arguments)
        return from_table(table, reading.x, reading.y, reading.crs)

    def open(self, path: Path, reading: Reading) -> Source:
        """Return a file ready to be read in batches, after a pass over all of it."""
        return _open(path, Dialect.of(path, reading.dialect), reading)

    def write(self, frame: gpd.GeoDataFrame, path: Path, writing: Writing) -> None:
        """Write a frame of points."""
        to_table(frame, writing.quote_formulas).to_csv(path, sep=_separator(path), index=False)

    def write_stream(self, stream: Stream, path: Path, writing: Writing) -> None:
        """Write a table at a time."""
        for number, frame in enumerate(stream.frames()):
            table = to_table(frame, writing.quote_formulas)
            table.to_csv(path, sep=_separator(path), index=False, mode="a", header=number == 0)


def from_table(table: pd.DataFrame, x: str | None, y: str | None, crs: Any) -> gpd.GeoDataFrame:
    """Return a table with coordinate columns as a frame."""
    # Also where the columns were not separated: a first line of locations must not be quoted as their names.
    names = [str(column) for column in table.columns]
    if any(re.search(r"\d[.,]\d{3}", name) or any(map(_is_number, re.split(r"[;|\t]", name))) for name in names):
        raise InputError("The CSV file seems to have no header line; name its columns, columns=[...].")
    if not isinstance(table.index, pd.RangeIndex):  # pandas takes surplus columns for an index, and all others shift
        raise InputError(
            "The lines of the CSV file have more columns than its first line names. With decimal commas, columns must "
            "be separated by semicolons or tabs, or the numbers be quoted."
        )
    (x, degrees), (y, _) = _coordinate(table, x, LONGITUDES, "x"), _coordinate(table, y, LATITUDES, "y")
    if crs is None and not degrees:
        raise InputError(
            'The CSV file does not say its CRS; give it, e.g. input_crs="EPSG:32654" (`crs` of `files.read`).'
        )
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


def _coordinate(table: pd.DataFrame, given: str | None, common: tuple[str, ...], letter: str) -> tuple[str, bool]:
    """Return the name of a coordinate column, and whether its name says that it holds degrees."""
    if given is not None:
        if given not in table.columns:
            raise InputError(f"There is no column {given!r} in the first line of the CSV file.")
        return given, given.lower() in common
    for column in table.columns:
        if str(column).lower() in common:
            return column, True
    for column in table.columns:
        if str(column).lower() == letter:
            return column, False
    raise InputError(
        f'The CSV file has no column that looks like {letter}; name both coordinates with x="..." and y="...". '
        "(Columns must be separated by commas, or by tabs in a .tsv file.)"
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


@dataclass(frozen=True)
class _Table(Source):
    dialect: Dialect = field(default=Dialect(), repr=False)
    coordinates: tuple[str, str] = ("x", "y")
    types: dict[str, Any] = field(default_factory=dict, repr=False)

    def pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield the rows, with the types that a pass over all of them found."""
        names = [name for name in schema.names if name != self.geometry]
        for chunk in _chunks(self.path, self.dialect, dtype=self.types, usecols=[*names, *self.coordinates]):
            frame = from_table(chunk, *self.coordinates, self.crs)
            columns = {name: pa.array(frame[name], schema.field(name).type, from_pandas=True) for name in names}
            yield pa.table({**columns, self.geometry: wkb.from_frame(frame)}).select(schema.names)


def _open(path: Path, dialect: Dialect, reading: Reading) -> Source:
    """Go through the file once: what a column holds may show in its last row only."""
    x, y = reading.x, reading.y
    types: dict[Any, Any] = {}
    boxes: list[Bounds] = []
    rows, frame = 0, None
    with bar(None, reading.progress, " rows", "Looking at the columns") as advance:
        for chunk in _chunks(path, dialect):
            frame = from_table(chunk, x, y, reading.crs)
            x, y, rows = *coordinates(chunk, x, y), rows + len(chunk)
            types = {name: _common(types.get(name, dtype), dtype) for name, dtype in chunk.dtypes.items()}
            boxes = [streams.union([*boxes, frame.total_bounds])]
            advance(len(chunk))
    if frame is None:
        raise InputError(f"{str(path)!r} cannot be read: it is empty.")
    types.pop("geometry", None)  # whose place the points take
    empty = frame.iloc[:0].drop(columns="geometry").astype({n: t for n, t in types.items() if n not in (x, y)})
    schema = (
        pa.Schema.from_pandas(empty, preserve_index=False).remove_metadata().append(pa.field("geometry", pa.binary()))
    )
    names = cast(tuple[str, str], (x, y))  # found in the first chunk
    return _Table(path, schema, "geometry", frame.crs, rows, boxes[0], dialect=dialect, coordinates=names, types=types)


def _chunks(path: Path, dialect: Dialect, **arguments: Any) -> Iterator[pd.DataFrame]:
    arguments |= dialect.arguments
    with pd.read_csv(path, chunksize=streams.READ, low_memory=False, **arguments) as reader:
        yield from reader


def _common(one: Any, other: Any) -> Any:
    """Return the type of a column that looks like two types in two chunks."""
    if one == other and one.kind != "O":
        return one
    signs = {t.kind for t in (one, other)}
    return np.dtype(np.float64) if "f" in signs and signs <= set("fiu") else pd.StringDtype()  # as exact as any


def _separator(path: Path) -> str:
    return "\t" if ".tsv" in path.name.lower() else ","


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
