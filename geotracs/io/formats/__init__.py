"""Formats of files, one object each. A new one is a file here and a line in `FORMATS`."""

from pathlib import Path

from geotracs.io.formats.base import Format, Reading, Writing, has_ending
from geotracs.io.formats.delimited import Csv
from geotracs.io.formats.gdal import Gdal
from geotracs.io.formats.layers import (
    FlatGeobuf,
    GeoJson,
    GeoJsonSequence,
    GeoPackage,
    Gml,
    Gpx,
    MapInfoMif,
    MapInfoTab,
    Shapefile,
)
from geotracs.io.formats.parquet import GeoParquet

FOLDERS = GeoParquet()
"""The one format that also has folders of files."""
FORMATS: dict[str, Format] = {
    kind.name: kind
    for kind in (
        Gdal(),  # whatever no other format claims
        GeoPackage(),
        GeoJson(),
        GeoJsonSequence(),
        FlatGeobuf(),
        Shapefile(),
        MapInfoTab(),
        MapInfoMif(),
        Gml(),
        Gpx(),
        Csv(),
        FOLDERS,
    )
}
"""All formats. Of several that claim a file the last one has it."""


def format_of(path: str | Path) -> Format:
    """Return the format of a file by its name, or of a folder by what is in it.

    >>> format_of("checkins.csv.gz").name, format_of("tracks.kml").name
    ('CSV', 'GDAL')
    """
    return next(kind for kind in reversed(FORMATS.values()) if kind.claims(Path(path)))


def format_named(path: str | Path) -> Format:
    """Return the format that a name says, whatever is there."""
    return next(kind for kind in reversed(FORMATS.values()) if has_ending(Path(path), kind.endings))


__all__ = ["FOLDERS", "FORMATS", "Format", "Reading", "Writing", "format_named", "format_of"]
