"""What a format of files knows: its endings, how it is read, streamed and written, what lies beside a file of it."""

from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import geopandas as gpd
import pandas as pd
import pyproj

from geotracs.errors import InputError
from geotracs.io.formats.dialect import Dialect
from geotracs.io.streams import Source, Stream, held


@dataclass(frozen=True)
class Reading:
    """How a file is read; see `geotracs.files.read`."""

    layer: str | None = None
    x: str | None = None
    y: str | None = None
    crs: pyproj.CRS | None = field(default=None, repr=False)
    allow_remote: bool = False
    progress: bool | None = False
    dialect: Dialect | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Writing:
    """How a file is written; see `geotracs.files.write`."""

    quote_formulas: bool = False
    encoding: str = "WKB"


class Format(Protocol):
    """A format of files. `read` and `write` are enough; a format for files of any size has `open` and `write_stream`.

    Whoever calls these turns errors of other libraries into words of our own, gives a file its name only when it is
    complete, and removes what lies beside a former one: a format does none of it.

    Attributes
    ----------
    name : str
        Its key in `FORMATS`, and what messages call it.
    endings : tuple of str
        Of the names of its files, in lower case, the usual one first.
    parts : tuple of str
        Endings of what belongs to a file and has its stem, such as a spatial index. It holds locations of the file:
        it is removed with it.
    spare_parts : bool
        Whether a file can do without its parts, which are then left to a file of another format with the same stem.
    keeps_record : bool
        Whether a file keeps ``attrs["tracs"]``.
    exact : bool
        Whether coordinates are the same, to the last bit, when they are read again.
    order_tells : bool
        Whether rows are stored in an order of their locations, whatever order they came in.
    """

    name: str
    endings: tuple[str, ...]
    parts: tuple[str, ...] = ()
    spare_parts: bool = False
    keeps_record: bool = False
    exact: bool = False
    order_tells: bool = False

    @abstractmethod
    def read(self, path: Path, reading: Reading) -> gpd.GeoDataFrame:
        """Return a file as a frame."""

    @abstractmethod
    def write(self, frame: gpd.GeoDataFrame, path: Path, writing: Writing) -> None:
        """Write a frame to a path where nothing is."""

    def record(self, path: Path, reading: Reading) -> dict[str, Any]:
        """Return ``attrs["tracs"]`` of a file, without reading its rows where that is possible; nothing if none."""
        return dict(self.read(path, reading).attrs.get("tracs", {})) if self.keeps_record else {}

    def open(self, path: Path, reading: Reading) -> Source:
        """Return a file ready to be read in batches; by default it is read at once."""
        return held(geometries(self.read(path, reading), path, reading.crs), path)

    def write_stream(self, stream: Stream, path: Path, writing: Writing) -> None:
        """Write a release that comes in batches to a path where nothing is; by default it is written at once."""
        frame = pd.concat(list(stream.frames(index=True)), ignore_index=True)
        frame.attrs["tracs"] = stream.summary().record
        self.write(frame, path, writing)

    def claims(self, path: Path) -> bool:
        """Return whether a file or folder is of this format."""
        return has_ending(path, self.endings)

    def is_part(self, ending: str) -> bool:
        """Return whether what has the stem of a file and this ending, in lower case, belongs to the file."""
        return ending in self.parts

    def is_remote(self, path: Path) -> bool:
        """Return whether reading a file would open other files, or addresses."""
        return False

    def check_name(self, path: Path) -> None:
        """Raise if no file of this name can be written."""
        return


def has_ending(path: Path, endings: tuple[str, ...]) -> bool:
    """Return whether the name of a file ends with one of these.

    >>> has_ending(Path("checkins.CSV.gz"), (".csv", ".csv.gz"))
    True
    """
    return path.name.lower().endswith(endings)


def geometries(frame: Any, path: Path, crs: pyproj.CRS | None) -> gpd.GeoDataFrame:
    """Return a frame that was read, in the CRS that is given if the file does not say its own."""
    if not isinstance(frame, gpd.GeoDataFrame):
        raise InputError(f"{str(path)!r} has no geometries.")
    return frame.set_crs(crs) if frame.crs is None and crs is not None else frame
