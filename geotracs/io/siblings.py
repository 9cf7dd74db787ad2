"""The files beside a file that belong to it: parts, indices, metadata, journals of databases.

They outlive a file that is replaced, and hold the locations of the former one: a spatial index has the box of every
row, and a journal of SQLite is written over the file that has its name by whoever opens it next.
"""

import os
from pathlib import Path

from geotracs.errors import InputError
from geotracs.io.formats import FORMATS, Format, format_named

JOURNALS = ("-wal", "-shm", "-journal")
RECORD = ".tracs.json"
"""What is added to the name of a release whose format cannot hold its record."""
APPENDED = (".aux.xml", ".xml", RECORD)
"""What is added to the whole name of a file of any kind..."""
METADATA = ".qmd"
"""...and what QGIS puts in the place of its ending: it tells the extent."""
HARMLESS = (".prj", ".cpg", ".csvt")
"""A CRS, an encoding and the types of columns tell no location."""


def check(path: Path) -> None:
    """Raise if a file cannot be written to this name without what belongs to another one, or was left by it."""
    check_journals(path)
    _check_shared(path)
    _check_leftovers(path)


def check_journals(path: Path) -> None:
    """Raise if a database of this name is open, or was when a program crashed."""
    names = [path.name + ending for ending in JOURNALS]
    found = [
        name for name in names if os.path.lexists(path.with_name(name))
    ]  # also a link whose target does not exist yet
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


def is_part(other: Path, path: Path) -> bool:
    """Return whether a file of this name would be a part of another, such as out.dbf of out.shp, or OUT.SHP of it.

    >>> is_part(Path("tracks.dbf"), Path("tracks.shp")), is_part(Path("tracks.csv"), Path("tracks.shp"))
    (True, False)
    """
    beside = str(other.parent).casefold() == str(path.parent).casefold()
    return beside and format_named(path).is_part(_ending(other, path))


def _belongs(other: Path, path: Path) -> bool:
    name, own = other.name.casefold(), path.name.casefold()
    if name == own or not other.is_file():
        return False
    return name in [own + ending for ending in APPENDED] or _is_part(_ending(other, path), format_named(path))


def _is_part(ending: str, kind: Format) -> bool:
    return ending == METADATA or kind.is_part(ending)


def _is_anothers(other: Path, path: Path) -> bool:
    return _owner(other, path) is not None and _ending(other, path) in HARMLESS


def _owner(other: Path, path: Path) -> Path | None:
    """Return a file of another kind with the same stem to which a sibling belongs as well."""
    names = {_stem(path) + ending for ending in _other_endings(_ending(other, path), path)}
    return next((p for p in sorted(path.parent.iterdir()) if p.name.casefold() in names), None)


def _other_endings(part: str, path: Path) -> set[str]:
    """Return the endings of files of other kinds that would own this part as well."""
    owners = [kind for kind in FORMATS.values() if not kind.spare_parts and _is_part(part, kind)]
    endings = {e for kind in owners for e in kind.endings if e == kind.endings[0] or not kind.is_part(e)}
    return {e for e in endings - {"", _kind(path)} if not format_named(path).is_part(e)}


def _ending(other: Path, path: Path) -> str:
    """Return what follows the stem of a file in the name of another one, or nothing if it has another stem."""
    name, stem = other.name.casefold(), _stem(path)
    return name.removeprefix(stem) if name.startswith(stem + ".") else ""


def _kind(path: Path) -> str:
    """Return the ending of a name, which may have several dots where a format says so."""
    name = path.name.casefold()
    known = max((ending for ending in format_named(path).endings if name.endswith(ending)), key=len, default="")
    return known or name.removeprefix(Path(name.removesuffix(".gz")).stem)


def _stem(path: Path) -> str:
    return path.name.casefold().removesuffix(_kind(path))
