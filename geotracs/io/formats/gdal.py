"""Whatever GDAL reads and writes, by way of pyogrio. Formats that need more care than others derive from `Gdal`."""

import itertools
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import geopandas as gpd
import pandas as pd
import pyarrow as pa
import pyogrio

import geotracs.geo.crs as crs_
import geotracs.io.formats.guard as guard
import geotracs.io.streams as streams
from geotracs.errors import InputError
from geotracs.io.formats.base import Format, Reading, Writing, has_ending
from geotracs.io.formats.guard import address
from geotracs.io.streams import Layout, Source, Stream

ARCHIVES = (".zip", ".shz", ".kmz")


class Gdal(Format):
    """Any format of GDAL's; it claims all names, so others come after it in `FORMATS`."""

    name = "GDAL"
    endings: tuple[str, ...] = ("",)

    def read(self, path: Path, reading: Reading) -> gpd.GeoDataFrame:
        """Return a layer as a frame."""
        with guard.quiet(path, remote=reading.allow_remote):
            self.check(path)
            layer = self.layer(path, reading.layer)
            frame = gpd.read_file(address(path), layer=layer, engine="pyogrio")
            self.check_all_read(path, len(frame))
            stored = _stored(path, layer)
            if stored:
                frame.attrs["tracs"] = stored
        return frame

    def record(self, path: Path, reading: Reading) -> dict[str, Any]:
        """Return the record of a layer."""
        with guard.quiet(path, remote=reading.allow_remote):
            self.check(path)
            return _stored(path, self.layer(path, reading.layer))

    def open(self, path: Path, reading: Reading) -> Source:
        """Return a layer ready to be read in batches."""
        with guard.quiet(path, remote=reading.allow_remote):
            self.check(path)
            return _open(self, path, self.layer(path, reading.layer), reading)

    def write(self, frame: gpd.GeoDataFrame, path: Path, writing: Writing) -> None:
        """Write a frame, with its record if the format keeps it."""
        about = {"layer_metadata": {"tracs": json.dumps(frame.attrs.get("tracs", {}))}} if self.keeps_record else {}
        with guard.configured(guard.WRITING):
            driver = pyogrio.detect_write_driver(path)  # geopandas knows fewer
            frame.to_file(path, engine="pyogrio", driver=driver, **about)

    def write_stream(self, stream: Stream, path: Path, writing: Writing) -> None:
        """Write a table at a time; GDAL asks for them."""
        with guard.configured(guard.WRITING):
            _write_tables(stream, path)
            if self.keeps_record:
                _add_metadata(path, stream.layout, {"tracs": json.dumps(stream.summary().record)})

    def is_remote(self, path: Path) -> bool:
        """Return whether reading a file would open other files, or addresses."""
        return guard.names_others(path)

    def check_name(self, path: Path) -> None:
        """Raise for an archive, and for an ending that GDAL does not write."""
        if has_ending(path, ARCHIVES):
            raise InputError(
                f"{path.name!r}: GDAL does not say when it could not write an archive; zip the file yourself."
            )
        try:
            pyogrio.detect_write_driver(path)
        except ValueError:
            raise InputError(
                f"{path.name!r} has no ending that is known, such as .gpkg, .parquet, .geojson or .csv."
            ) from None

    def layer(self, path: Path, named: str | None) -> str | None:
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

    def check(self, path: Path) -> None:
        """Raise for what GDAL would refuse without a reason, or read as far as it goes without an error."""
        if path.is_dir() and not any(path.iterdir()):
            raise InputError(f"{str(path)!r} is an empty folder: it holds no GeoParquet files.")

    def count(self, path: Path) -> int | None:
        """Return how many records a file has, if GDAL says nothing of those it cannot read."""
        return None

    def check_all_read(self, path: Path, rows: int) -> None:
        """Raise if GDAL left out some rows."""
        records = self.count(path)
        if records is not None and rows < records:
            raise InputError(
                f"{str(path)!r} is damaged or cut short: only {rows} of its {records} records can be read."
            )


@dataclass(frozen=True)
class _Layer(Source):
    format: Gdal = field(default_factory=Gdal, repr=False)
    layer: str | None = None
    stored: str = "geom"
    as_text: bool = False
    allow_remote: bool = False

    def reading(self) -> AbstractContextManager[None]:
        """Return the context in which GDAL is quiet; what it says while it writes is not of this module."""
        return guard.quiet(self.path, __name__, remote=self.allow_remote)

    def enter_thread(self) -> None:
        """Keep GDAL from writing to stderr itself."""
        if guard.listen is not None:
            guard.listen()

    def pieces(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """Yield the rows of a layer."""
        names, rows = [name for name in schema.names if name != self.geometry], 0
        given = {"layer": self.layer, "columns": names, "batch_size": streams.READ, "use_pyarrow": True}
        if self.as_text:
            given["datetime_as_string"] = True
        with pyogrio.open_arrow(address(self.path), **given) as (_, reader):
            for batch in reader:
                batch.validate(full=True)  # GDAL passes on damaged lengths, and texts not in the encoding that it says
                rows += len(batch)
                table = pa.Table.from_batches([batch]).select([*names, self.stored])
                table = table.rename_columns([*names, self.geometry]).select(schema.names)
                table = _with_times(table, schema) if self.as_text else table
                yield streams.fitted(table.replace_schema_metadata(None), schema, self.path)
        self.format.check_all_read(self.path, rows)


def _stored(path: Path, layer: str | None) -> dict[str, Any]:
    """Return the record that a layer keeps; nothing if there is none."""
    stored = pyogrio.read_info(address(path), layer=layer).get("layer_metadata") or {}
    found = json.loads(stored["tracs"]) if "tracs" in stored else {}
    return found if isinstance(found, dict) else {}


def _open(kind: Gdal, path: Path, layer: str | None, reading: Reading) -> Source:
    info = pyogrio.read_info(address(path), layer=layer)
    if info["geometry_type"] is None:
        raise InputError(f"{str(path)!r} has no geometries.")
    with pyogrio.open_arrow(address(path), layer=layer, batch_size=1, use_pyarrow=True) as (meta, reader):
        stored, fields = meta["geometry_name"] or "wkb_geometry", {f.name: f.type for f in reader.schema}
    as_text = False
    for name in info["fields"]:
        if pa.types.is_timestamp(fields[name]):
            zoned = _has_zone(path, layer, name)
            as_text |= zoned and fields[name].tz is None
            fields[name] = pa.timestamp(fields[name].unit, "UTC" if zoned else None)
    schema = pa.schema([(name, fields[name]) for name in info["fields"]]).append(pa.field("geometry", pa.binary()))
    fast = info["capabilities"]["fast_total_bounds"] and info["total_bounds"] is not None
    return _Layer(
        path=path,
        schema=schema,
        geometry="geometry",
        crs=reading.crs if info["crs"] is None else crs_.parse(info["crs"]),
        rows=info["features"] if info["features"] >= 0 else None,
        bounds=info["total_bounds"] if fast else None,
        format=kind,
        layer=layer,
        stored=stored,
        as_text=as_text,
        allow_remote=reading.allow_remote,
    )


def _has_zone(path: Path, layer: str | None, name: str) -> bool:
    """Return whether the times of a column have a zone in a frame: Arrow gives some without, and all with one."""
    given = {"layer": layer, "columns": [name], "read_geometry": False}
    few = pyogrio.read_dataframe(address(path), max_features=1000, **given)
    if few[name].isna().all():
        few = pyogrio.read_dataframe(address(path), where=f'"{name}" IS NOT NULL', max_features=1, **given)
    return getattr(few[name].dtype, "tz", None) is not None


def _with_times(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the times that came as text, which has their zone."""
    for position, own in enumerate(schema):
        if pa.types.is_timestamp(own.type):
            times = pd.to_datetime(table[own.name].to_pandas(), format="ISO8601", utc=own.type.tz is not None)
            table = table.set_column(position, own.name, pa.array(times, from_pandas=True))
    return table


def _write_tables(stream: Stream, path: Path) -> None:
    layout, schema = stream.layout, stream.layout.columns(index=True)
    others = [name for name in schema.names if name in layout.others]
    if others:
        raise InputError(
            f"{path.name!r} can hold one geometry column, and {others[0]!r} would be a second: leave it out of `keep`, "
            "or write GeoParquet."
        )
    plain = pa.schema([field.with_type(_plain(field.type)) for field in schema])
    first = next(stream.tables)  # after which the kind of geometries is known
    trouble: list[BaseException] = []

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            for table in itertools.chain([first], stream.tables):
                yield from table.select(schema.names).cast(plain).to_batches()
        except BaseException as error:  # GDAL would turn it into another error
            trouble.append(error)
            raise

    try:
        pyogrio.write_arrow(
            pa.RecordBatchReader.from_batches(plain, batches()),
            path,
            geometry_name=layout.geometry,
            geometry_type=stream.summary().kind or "Unknown",
            crs=layout.crs.to_wkt(),
        )
    except Exception:
        if trouble:
            raise trouble[0] from None
        raise


def _add_metadata(path: Path, layout: Layout, metadata: dict[str, str]) -> None:
    nothing = gpd.GeoDataFrame({layout.geometry: []}, geometry=layout.geometry, crs=layout.crs)
    pyogrio.write_dataframe(nothing, path, append=True, layer_metadata=metadata, geometry_type="Unknown")


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_null(kind):  # a column without any value
        return pa.string()
    if pa.types.is_timestamp(kind) and kind.tz is not None:  # GDAL knows no other by name
        return pa.timestamp(kind.unit, "UTC")
    return kind.value_type if pa.types.is_dictionary(kind) else kind
