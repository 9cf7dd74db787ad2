"""Files that appear under their name only when they are complete, and then take the place of all of a former one."""

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

import geotracs.io.siblings as siblings
from geotracs.errors import InputError, warn
from geotracs.io.troubles import told

UNFINISHED, REPLACED = ".unfinished", ".replaced"


@contextmanager
def complete(path: Path) -> Iterator[Path]:
    """Yield a path to write to; what was written, several files perhaps, gets its name only in the end."""
    earlier = sorted(str(other) for other in path.parent.glob(f".{glob.escape(path.name)}.*{UNFINISHED}"))
    if earlier:
        warn(
            f"An earlier run to {str(path)!r} was stopped and left {', '.join(earlier)} behind. If it is not still "
            f"running, remove that folder.{_held(earlier)}"
        )
    with told(path, "written"):
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=UNFINISHED, dir=path.parent))
        try:
            yield folder / path.name
            if path.is_dir():
                _replace_folder(path, folder / path.name, folder / REPLACED)
            else:
                _replace_files(path, folder)
        except pa.ArrowInvalid:
            raise InputError(
                f"{str(path)!r} cannot be written: a column holds values of several kinds, or one that does not fit."
            ) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _replace_files(path: Path, folder: Path) -> None:
    """Put new files, one of them named like ``path``, in the place of all that belongs to a former one."""
    siblings.check_journals(folder / path.name)
    siblings.check(path)
    parts = sorted(folder.iterdir(), key=lambda part: part.name == path.name)  # that one last
    stale, kept = siblings.siblings(path), folder / REPLACED
    for part in parts[:-1]:
        if (path.parent / part.name).exists() and path.parent / part.name not in stale:
            raise InputError(f"{str(path)!r} cannot be written: {part.name!r} is there and would be replaced, too.")
    kept.mkdir()
    moves = [(old, kept / old.name) for old in stale] + [(part, path.parent / part.name) for part in parts]
    try:
        for before, after in moves:
            os.replace(before, after)
    except BaseException:
        if parts[-1].exists():  # else all is done, and the former file is gone: its parts must not come back
            for before, after in reversed(moves):
                if not before.exists():
                    os.replace(after, before)
        raise
    siblings.check_journals(path)  # of a program that still has the former file open


def _replace_folder(path: Path, new: Path, old: Path) -> None:
    """Put a new folder in the place of one that is moved away, and that one back if it is stopped in between."""
    try:
        os.rename(path, old)
        os.rename(new, path)
    except BaseException:
        if old.exists() and not path.exists():
            os.rename(old, path)
        raise


def _held(earlier: list[str]) -> str:
    """Return which of the folders that runs left behind hold what they were about to replace."""
    held = [str(old) for old in (Path(folder) / REPLACED for folder in earlier) if old.exists()]
    return f" Before that, move {', '.join(held)} back: it is what was there before." if held else ""
