"""The cache of what takes seconds to fit: the folder that ``GEOTRACS_CACHE`` names.

Names and contents are made of public things only; for what is not, `off` keeps them out. A file that is damaged, cut
off or kept for something else is ignored, and a folder that cannot be read or written is no error.
"""

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

FOLDER = "GEOTRACS_CACHE"
"""The environment variable that names the folder; without a value nothing is kept on disk."""
_off: ContextVar[bool] = ContextVar("off", default=False)


def folder() -> Path | None:
    """Return the folder of the cache, or None if it is off."""
    named = os.environ.get(FOLDER)
    if named is not None:
        return Path(named) if named.strip() else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    places = {"win32": ("LOCALAPPDATA", home / "AppData" / "Local"), "darwin": ("", home / "Library" / "Caches")}
    variable, default = places.get(sys.platform, ("XDG_CACHE_HOME", home / ".cache"))
    return Path(os.environ.get(variable) or default) / "geotracs"


@contextlib.contextmanager
def off() -> Iterator[None]:
    """Keep nothing on disk in this context: the region was fitted to private data."""
    token = _off.set(True)
    try:
        yield
    finally:
        _off.reset(token)


def read(name: str) -> bytes | None:
    """Return what was kept under a name, if it is complete."""
    place = None if _off.get() else folder()
    if place is None:
        return None
    try:
        content = (place / name).read_bytes()
    except OSError:
        return None
    digest, content = content[:64], content[64:]
    return content if hashlib.sha256(name.encode() + content).hexdigest().encode() == digest else None


def write(name: str, content: bytes) -> None:
    """Keep something under a name, atomically: others may read at the same time."""
    place = None if _off.get() else folder()
    if place is None:
        return
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(name.encode() + content).hexdigest().encode() + content)
            os.replace(temporary, place / name)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
