"""What a text says about a public region: `globe`, a disc, a bounding box, a file, or the rows of a file."""

import os
from typing import Any

import geopandas as gpd

import geotracs.io.files as files
from geotracs.core.domains import Disc, Globe
from geotracs.errors import InputError

FORMS = (
    "a file, file:column=value for some rows of it, xmin,ymin,xmax,ymax, disc:x,y,metres, globe, or globe:south,north"
)
"""What `--domain` may be, for help texts and errors."""
SHOWN = 10
"""How many values of a column an error names at most."""


def read_domain(text: str | None, allow_remote: bool = False) -> Any:
    """Return the region that a text says; None for none.

    Examples
    --------
    >>> read_domain("globe:-60,85")
    Globe(south=-60.0, north=85.0)
    >>> read_domain("disc:13.38,52.52,5000")
    Disc(centre=(13.38, 52.52), radius=5000.0)
    >>> read_domain("139.4,35.5,139.9,35.9")
    (139.4, 35.5, 139.9, 35.9)
    """
    if text is None:
        return None
    layer, _, row = text.rpartition(":")
    column, equals, value = row.partition("=")
    if equals and os.path.exists(layer.partition("|")[0]) and not os.path.exists(text):
        return _rows(files.read(layer, allow_remote=allow_remote), layer, column, value)
    if os.path.exists(text.partition("|")[0]):
        return files.read(text, allow_remote=allow_remote)
    kind, _, numbers = text.partition(":")
    if kind == "globe":
        return Globe(*_numbers(text, numbers, 2)) if numbers else Globe()
    if kind == "disc":
        x, y, radius = _numbers(text, numbers, 3)
        return Disc((x, y), radius)
    return _numbers(text, text, 4)


def _rows(layer: gpd.GeoDataFrame, name: str, column: str, value: str) -> gpd.GeoDataFrame:
    """Return the rows of a public layer that have a value in a column."""
    if column not in layer.columns or column == layer.geometry.name:
        raise InputError(f"There is no column {column!r} in {name!r}; the columns are {list(map(str, layer.columns))}.")
    texts = layer[column].astype(str)
    if not (texts == value).any():
        values = sorted(set(texts))[:SHOWN]
        raise InputError(f"No row of {name!r} has {value!r} in column {column!r}, which holds {', '.join(values)}.")
    return layer[texts == value]


def _numbers(text: str, numbers: str, count: int) -> tuple[float, ...]:
    try:
        found = tuple(float(part) for part in numbers.split(","))
    except ValueError:
        found = ()
    if len(found) != count:
        raise InputError(f"`--domain` must be {FORMS}; {text!r} is none of them.")
    return found
