"""The files beside a file that belong to it: parts, indices, metadata, journals of databases.

They outlive a file that is replaced, and hold the locations of the former one: a spatial index has the box of every
row, and a journal of SQLite is written over the file that has its name by whoever opens it next.
"""

import os
from pathlib import Path

from geotracs.errors import InputError

JOURNALS = ("-wal", "-shm", "-journal")
APPENDED = (".aux.xml", ".xml")
"""What is added to the whole name of a file of any kind..."""
METADATA = ".qmd"
"""...and what QGIS puts in the place of its ending: it tells the extent."""
HARMLESS = (".prj", ".cpg", ".csvt")
"""A CRS, an encoding and the types of columns tell no location."""
PARTS = {
    ".shp": (
        ".shx", ".dbf", ".prj", ".cpg", ".qpj", ".cst", ".qix", ".sbn", ".sbx", ".idm", ".ind", ".atx", ".ain", ".aih",
        ".fbn", ".fbx", ".ixs", ".mxs", ".dbf.xml",
    ),
    ".tab": (".dat", ".map", ".id", ".ind"),
    ".mif": (".mid",),
    ".gml": (".xsd", ".gfs"),
    ".csv": (".csvt", ".prj"),
    ".tsv": (".csvt", ".prj"),
    ".gpkg": (),
    ".geojson": (),
    ".fgb": (),
    ".parquet": (),
}  # fmt: skip
"""The endings of what belongs to a file of this kind and has its stem; `.atx` may follow the name of a column."""


def check(path: Path) -> None:
    """Raise if a file cannot be written to this name without what belongs to another one, or was left by it."""
    check_journals(path)
    _check_shared(path)
    _check_leftovers(path)


def check_journals(path: Path) -> None:
    """Raise if a database of this name is open, or was when a program crashed."""
    names = [path.name + ending for ending in JOURNALS]
    found = [name for name in names if os.path.lexists(path.with_name(name))]  # also a link to what is not there yet
    if found:
        raise InputError(
            f"{found[0]!r} stands beside {str(path)!r}: a program has a former file of that name open, or crashed with "
            f"it, and its rows would be written over the release. Close the program; if none is open, remove "
            f"{path.name!r} and {', '.join(map(repr, found))}. Or give another name."
        )


def siblings(path: Path) -> list[Path]:
    """Return what is beside a file and belongs to it, whether it is there itself or not.

    Parts that have the same stem as a file of another kind are its own, if they tell no location.
    """
    if not os.path.isdir(path.parent) or os.path.isdir(path):
        return []
    return sorted(other for other in path.parent.iterdir() if _belongs(other, path) and not _is_anothers(other, path))


def _check_shared(path: Path) -> None:
    """Raise if a part would belong to a file of another kind, too, which has the same stem and is not replaced."""
    for other in siblings(path):
        owner = _owner(other, path)
        if owner is not None and _ending(other, path) not in HARMLESS:
            raise InputError(f"{other.name!r} belongs to {owner.name!r}, too, and would be lost; give another name.")


def _check_leftovers(path: Path) -> None:
    """Raise if parts of a former file of this name are there, but the file itself is not."""
    found = [] if os.path.exists(path) else siblings(path)
    if found:
        raise InputError(
            f"{found[0].name!r} is there and belongs to a former file {path.name!r}, whose locations it may hold. "
            f"Remove {', '.join(repr(other.name) for other in found)}, or give another name."
        )


def _belongs(other: Path, path: Path) -> bool:
    name, own = other.name.casefold(), path.name.casefold()
    if name == own or not other.is_file():
        return False
    return name in [own + ending for ending in APPENDED] or _is_part(_ending(other, path), _kind(path))


def _is_part(ending: str, kind: str) -> bool:
    parts = PARTS.get(kind, ())
    return ending == METADATA or ending in parts or (".atx" in parts and ending.endswith(".atx"))


def _is_anothers(other: Path, path: Path) -> bool:
    return _owner(other, path) is not None and _ending(other, path) in HARMLESS


def _owner(other: Path, path: Path) -> Path | None:
    """Return a file of another kind with the same stem to which a sibling belongs as well."""
    others = [kind for kind in PARTS if kind not in (_kind(path), ".csv", ".tsv")]  # those can do without
    kinds = [kind for kind in others if _is_part(_ending(other, path), kind)]
    names = {_stem(path) + kind for kind in kinds}
    return next((p for p in sorted(path.parent.iterdir()) if p.name.casefold() in names), None)


def _ending(other: Path, path: Path) -> str:
    """Return what follows the stem of a file in the name of another one, or nothing if it has another stem."""
    name, stem = other.name.casefold(), _stem(path)
    return name.removeprefix(stem) if name.startswith(stem + ".") else ""


def _kind(path: Path) -> str:
    return path.name.casefold().removeprefix(_stem(path)).removesuffix(".gz")


def _stem(path: Path) -> str:
    return Path(path.name.casefold().removesuffix(".gz")).stem
