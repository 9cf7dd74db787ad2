"""GDAL kept quiet and away from the network: it quotes the coordinates it cannot read, and opens what files name."""

import os
import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyogrio

from geotracs.errors import warn
from geotracs.io.formats.base import has_ending
from geotracs.io.troubles import told

READING = {
    "OGR_GPKG_NUM_THREADS": 1,
    "GML_DOWNLOAD_SCHEMA": "NO",
    "CPL_VSIL_CURL_ALLOWED_FILENAME": "none",
    "GDAL_HTTP_PROXY": "none://none",  # which curl does not know: a GeoJSON file may say where to ask for its CRS
    "GDAL_HTTPS_PROXY": "none://none",
}
"""Options of GDAL: its own threads would write to stderr themselves, and nothing is asked from the network..."""
WRITING = {"OGR_SQLITE_JOURNAL": "MEMORY"}
"""...and no journal of a database lies on disk, whatever the environment says."""
REMOTE = (
    b"<OGRVRTDataSource", b"<VRTDataset", b"<OGRWFSDataSource", b"<OGRCSWDataSource", b"gdal_streamed_alg",
    b'"\\IsSeamless"',
)  # fmt: skip
"""How files begin that name other files or addresses, which GDAL would open..."""
HEAD = 2**14
"""...within this number of bytes."""
ANYWHERE = "pyogrio|geopandas|geotracs"

listen = getattr(getattr(pyogrio, "_err", None), "_register_error_handler", None)
"""Hand GDAL's warnings of a thread to Python. pyogrio does so in the thread that imports it only."""


@contextmanager
def quiet(path: Path, where: str = ANYWHERE, *, remote: bool = False) -> Iterator[None]:
    """Count the warnings of GDAL, in any thread, instead of showing them: it quotes the coordinates it cannot read.

    Also keep it from the network, unless ``remote``, and from leaving a file beside another that tells its extent.

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


def address(path: Path) -> str:
    """Return a path as GDAL takes it; `Path` makes one slash of the two of an address."""
    return re.sub(r"^(/vsi\w+/\w+:)/(?!/)", r"\1//", str(path))


def names_others(path: Path) -> bool:
    """Return whether a file, or one in an archive, names other files or addresses that GDAL would open."""
    if path.is_dir():
        return False
    with told(path, "read"):
        with path.open("rb") as file:
            heads = [file.read(HEAD)]  # also of an archive, which may follow something else
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                heads += [archive.open(name).read(HEAD) for name in archive.namelist() if not name.endswith("/")]
    return has_ending(path, (".vrt",)) or any(mark in head for mark in REMOTE for head in heads)
