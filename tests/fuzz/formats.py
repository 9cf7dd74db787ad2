"""Every kind of file that geotracs reads, written from a private frame."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import geopandas as gpd
import pandas as pd
import pyogrio
import shapely

from tests.fuzz.private import Private


def write(kind: str, private: Private, folder: Path) -> Path:
    """Write a frame as one of `KINDS` or `LOADED`, and return its path."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {**KINDS, **LOADED}[kind](private, folder)


def _layer(ending: str, **options: object) -> Callable[[Private, Path], Path]:
    def save(private: Private, folder: Path) -> Path:
        path = folder / f"tracks.{ending}"
        pyogrio.write_dataframe(private.frame, path, **options)
        return path

    return save


def _parquet(encoding: str, ending: str = "parquet") -> Callable[[Private, Path], Path]:
    def save(private: Private, folder: Path) -> Path:
        path = folder / f"tracks.{ending}"
        private.frame.to_parquet(path, geometry_encoding=encoding, schema_version="1.1.0")
        return path

    return save


def _parts(private: Private, folder: Path) -> Path:
    path, middle = folder / "tracks", len(private.frame) // 2
    path.mkdir()
    private.frame.iloc[:middle].to_parquet(path / "part.0.parquet")
    private.frame.iloc[middle:].to_parquet(path / "part.1.parquet")
    return path


def _table(private: Private) -> pd.DataFrame:
    points = private.frame.geometry
    return pd.DataFrame(private.frame.drop(columns="geometry")).assign(lon=points.x, lat=points.y)


def _csv(ending: str, sep: str = ",") -> Callable[[Private, Path], Path]:
    def save(private: Private, folder: Path) -> Path:
        path = folder / f"tracks.{ending}"
        _table(private).to_csv(path, sep=sep, index=False)
        return path

    return save


def _gpx(private: Private, folder: Path) -> Path:
    lines = ['<?xml version="1.0"?>', '<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">']
    for person, part in private.frame.groupby("person"):
        lines += [f"<trk><name>{part['name'].iloc[0]}</name><desc>{person}</desc>", "<trkseg>"]
        for point, t, address in zip(part.geometry, part["t"], part["address"], strict=True):
            at = f'<trkpt lat="{point.y}" lon="{point.x}">'
            lines.append(f"{at}<ele>1</ele><time>{t:%Y-%m-%dT%H:%M:%SZ}</time><desc>{address}</desc></trkpt>")
        lines += ["</trkseg>", "</trk>"]
    return _text(folder / "tracks.gpx", [*lines, "</gpx>"])


def _vrt(private: Private, folder: Path) -> Path:
    _table(private).to_csv(folder / "points.csv", index=False)
    layer = [
        "<OGRVRTDataSource>",
        '<OGRVRTLayer name="points">',
        '<SrcDataSource relativeToVRT="1">points.csv</SrcDataSource>',
        "<GeometryType>wkbPoint</GeometryType>",
        "<LayerSRS>EPSG:4326</LayerSRS>",
        '<GeometryField encoding="PointFromColumns" x="lon" y="lat"/>',
        "</OGRVRTLayer>",
        "</OGRVRTDataSource>",
    ]
    return _text(folder / "tracks.vrt", layer)


def _esri_json(private: Private, folder: Path) -> Path:
    fields = [{"name": name, "type": "esriFieldTypeString"} for name in ("person", "t", "name", "address")]
    features = [
        json.dumps({"attributes": _attributes(row), "geometry": {"x": row.geometry.x, "y": row.geometry.y}})
        for row in private.frame.itertuples()
    ]
    start = (
        f'{{"geometryType": "esriGeometryPoint", "spatialReference": {{"wkid": 4326}}, "fields": {json.dumps(fields)},'
    )
    return _text(folder / "tracks.json", [start, '"features": [', *_listed(features), "]}"])


def _topo_json(private: Private, folder: Path) -> Path:
    features = [
        json.dumps({"type": "Point", "coordinates": [row.geometry.x, row.geometry.y], "properties": _attributes(row)})
        for row in private.frame.itertuples()
    ]
    start = '{"type": "Topology", "arcs": [], "objects": {"tracks": {"type": "GeometryCollection", "geometries": ['
    return _text(folder / "tracks.topojson", [start, *_listed(features), "]}}}"])


def _foursquare(private: Private, folder: Path) -> Path:
    rows = [
        "\t".join([row.person, row.name, "c", row.address, str(row.geometry.y), str(row.geometry.x), "540", when])
        for row in private.frame.itertuples()
        for when in [f"{row.t:%a %b %d %H:%M:%S} +0000 {row.t:%Y}"]
    ]
    return _text(folder / "checkins.txt", rows)


def _gowalla(private: Private, folder: Path) -> Path:
    rows = [
        "\t".join([row.person, f"{row.t:%Y-%m-%dT%H:%M:%SZ}", str(row.geometry.y), str(row.geometry.x), row.address])
        for row in private.frame.itertuples()
    ]
    return _text(folder / "checkins.txt", rows)


def _checkins(private: Private, folder: Path) -> Path:
    table = _table(private).rename(columns={"person": "user", "t": "time", "name": "venue"})
    table.to_csv(folder / "checkins.csv", index=False)
    return folder / "checkins.csv"


def _geolife(private: Private, folder: Path) -> Path:
    path = folder / "geolife"
    for person, part in private.frame.groupby("person"):
        (path / "Data" / person / "Trajectory").mkdir(parents=True)
        rows = [
            f"{row.geometry.y},{row.geometry.x},0,100,39448.1,{row.t:%Y-%m-%d},{row.t:%H:%M:%S}"
            for row in part.itertuples()
        ]
        _text(path / "Data" / person / "Trajectory" / "1.plt", ["header"] * 6 + rows)
    labels = ["Start Time\tEnd Time\tMode", "2026/01/01 00:00:00\t2026/01/01 00:05:00\tQuux"]
    _text(path / "Data" / "p0" / "labels.txt", labels)
    return path


def _t_drive(private: Private, folder: Path) -> Path:
    path = folder / "taxis"
    path.mkdir()
    for person, part in private.frame.groupby("person"):
        rows = [
            f"{person[1:]},{row.t:%Y-%m-%d %H:%M:%S},{row.geometry.x},{row.geometry.y}" for row in part.itertuples()
        ]
        _text(path / f"{person[1:]}.txt", rows)
    return path


def _attributes(row: object) -> dict[str, str]:
    return {"person": row.person, "t": row.t.isoformat(), "name": row.name, "address": row.address}


def _listed(rows: list[str]) -> list[str]:
    return [*(f"{row}," for row in rows[:-1]), rows[-1]]


def _text(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


KINDS = {
    "gpkg": _layer("gpkg"),
    "geojson": _layer("geojson"),
    "geojsonl": _layer("geojsonl"),
    "shp": _layer("shp"),
    "fgb": _layer("fgb"),
    "gml": _layer("gml"),
    "kml": _layer("kml", driver="LIBKML"),
    "tab": _layer("tab"),
    "mif": _layer("mif"),
    "sqlite": _layer("sqlite"),
    "gmt": _layer("gmt"),
    "jml": _layer("jml"),
    "parquet": _parquet("WKB"),
    "geoarrow": _parquet("geoarrow"),
    "folder": _parts,
    "csv": _csv("csv"),
    "csv.gz": _csv("csv.gz"),
    "tsv": _csv("tsv", "\t"),
    "gpx": _gpx,
    "vrt": _vrt,
    "esrijson": _esri_json,
    "topojson": _topo_json,
}
"""Kinds of files that `geotracs.files.read` reads."""
LOADED = {
    "foursquare": _foursquare,
    "gowalla": _gowalla,
    "checkins": _checkins,
    "geolife": _geolife,
    "t_drive": _t_drive,
}
"""Files of `geotracs.loaders`, by the name of the loader; that of GPX reads one of the former, too."""
WITH_LINES = ("gpkg", "geojson", "geojsonl", "shp", "fgb", "gml", "mif", "sqlite", "parquet", "geoarrow", "folder")


def shifted(frame: gpd.GeoDataFrame, xy: object) -> gpd.GeoDataFrame:
    """Return a frame with other points or lines of the same shape, which stands for a release."""
    return frame.set_geometry(shapely.set_coordinates(frame.geometry.array.copy(), xy), crs=frame.crs)
