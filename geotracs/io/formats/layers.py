"""Formats of GDAL's with something of their own: parts, an order, a record, or damage that GDAL does not tell."""

import json
from pathlib import Path

import geopandas as gpd
import pyogrio

from geotracs.errors import InputError
from geotracs.io.formats.base import Format, Reading
from geotracs.io.formats.gdal import Gdal
from geotracs.io.formats.guard import address
from geotracs.io.streams import Source


class GeoPackage(Gdal):
    """A database that keeps the record among the metadata of its layer."""

    name = "GeoPackage"
    endings = (".gpkg",)
    keeps_record = True


class GeoJson(Gdal):
    """GeoJSON: one object for all."""

    name = "GeoJSON"
    endings = (".geojson",)
    exact = True


class MapInfoTab(Gdal):
    """MapInfo's tables."""

    name = "MapInfo TAB"
    endings = (".tab",)
    parts = (".dat", ".map", ".id", ".ind")


class MapInfoMif(Gdal):
    """MapInfo's texts."""

    name = "MapInfo MIF"
    endings = (".mif",)
    parts = (".mid",)


class Gml(Gdal):
    """GML, which GDAL reads at once anyway; its scheme is a file beside it."""

    name = "GML"
    endings = (".gml",)
    parts = (".xsd", ".gfs")

    def open(self, path: Path, reading: Reading) -> Source:
        """Read all of it."""
        return Format.open(self, path, reading)


class Gpx(Gdal):
    """GPX, of which the points of its tracks are read unless another layer is named."""

    name = "GPX"
    endings = (".gpx",)

    def read(self, path: Path, reading: Reading) -> gpd.GeoDataFrame:
        """Return a layer, or the points of tracks with columns of plain names."""
        points = super().read(path, reading)
        if reading.layer is not None:
            return points
        table = {
            "trajectory": path.stem + "/" + points["track_fid"].astype(str),
            "segment": points["track_seg_id"],
            "time": points["time"],
            "altitude": points["ele"],
        }
        return gpd.GeoDataFrame(table, geometry=points.geometry, crs=points.crs)

    def open(self, path: Path, reading: Reading) -> Source:
        """Return a layer; or read all tracks."""
        return Format.open(self, path, reading) if reading.layer is None else super().open(path, reading)

    def layer(self, path: Path, named: str | None) -> str | None:
        """Return the layer that is named, or that of the points of tracks."""
        return "track_points" if named is None else super().layer(path, named)


class FlatGeobuf(Gdal):
    """FlatGeobuf, whose index puts rows in the order of a curve through their locations."""

    name = "FlatGeobuf"
    endings = (".fgb",)
    exact = True
    order_tells = True

    def count(self, path: Path) -> int | None:
        """Return how many records the head of a file promises."""
        return pyogrio.read_info(address(path))["features"]


class GeoJsonSequence(Gdal):
    """One GeoJSON object after another, of which GDAL skips those it cannot read."""

    name = "GeoJSON sequence"
    endings = (".geojsonl", ".geojsons", ".jsonl", ".ndjson")

    def count(self, path: Path) -> int | None:
        """Return how many objects a file on this machine has; raise if the last is not complete."""
        if not path.is_file() or pyogrio.read_info(path)["driver"] != "GeoJSONSeq":
            return None
        records, whole = _objects(path)
        if not whole:
            raise InputError(f"{str(path)!r} is cut short: its last record is not complete. Copy it again.")
        return records


class Shapefile(Gdal):
    """A shapefile: several files, any of which names it."""

    name = "shapefile"
    endings = (".shp", ".dbf", ".shx")
    exact = True
    parts = (
        ".shp", ".shx", ".dbf", ".prj", ".cpg", ".qpj", ".cst", ".qix", ".sbn", ".sbx", ".idm", ".ind", ".atx", ".ain",
        ".aih", ".fbn", ".fbx", ".ixs", ".mxs", ".dbf.xml",
    )  # fmt: skip

    def is_part(self, ending: str) -> bool:
        """Return whether this belongs to it; the index of a column has the column's name before its ending, .atx."""
        return super().is_part(ending) or ending.endswith(".atx")

    def check(self, path: Path) -> None:
        """Raise if a part is shorter than it says; GDAL takes as much memory as a head asks for."""
        for part in (path, path.with_suffix(".dbf"), path.with_suffix(".DBF")):
            if part.is_file() and part.stat().st_size < (length := _length(part)):
                raise InputError(f"{str(part)!r} is cut short: it should have {length:,} bytes. Copy it again.")


def _length(part: Path) -> int:
    """Return how many bytes a part of a shapefile should have."""
    with part.open("rb") as file:
        start = file.read(28)
    if part.suffix.lower() != ".dbf":
        return 2 * int.from_bytes(start[24:], "big")
    rows, head, row = (int.from_bytes(start[place], "little") for place in (slice(4, 8), slice(8, 10), slice(10, 12)))
    return head + rows * row


def _objects(path: Path) -> tuple[int, bool]:
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
