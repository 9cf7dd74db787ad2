"""A picture of a page, by a browser that is installed."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from geotracs.errors import InputError, MissingExtraError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "chrome")
FLAGS = ("--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking")
SIZE = (1280, 800)
PATIENCE = 5000
"""Milliseconds of the page's own time until the picture is taken."""
LONGEST = 120
"""Seconds until a browser is given up."""


def browser() -> str | None:
    """Return the path of a browser: the one that GEOTRACS_CHROMIUM names, or any that is found."""
    names = [os.environ.get("GEOTRACS_CHROMIUM", ""), *BROWSERS]
    return next((path for path in map(shutil.which, filter(None, names)) if path), None)


def photograph(page: str | Path, picture: str | Path, *, size: tuple[int, int] = SIZE) -> Path:
    """Write what a page of a map shows, as PNG; under its name only when it is complete.

    Parameters
    ----------
    page : path
        A page that was saved. A browser opens it as a reader would: unless it was made with ``offline=True``, it asks
        servers for tiles or scripts.
    picture : path
        Ends with .png. What is there is replaced.
    size : (int, int)
        Width and height in pixels.
    """
    picture, command = Path(picture), browser()
    if picture.suffix.lower() != ".png":
        raise InputError(f"A picture is a PNG: give a name that ends with .png, got {picture.name!r}.")
    if command is None:
        raise MissingExtraError("A picture needs a browser: install Chromium, or name one by GEOTRACS_CHROMIUM.")
    with tempfile.TemporaryDirectory() as profile:
        made = Path(profile) / "picture.png"
        flags = [*FLAGS, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"]
        flags += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # which root has not
        flags += [f"--virtual-time-budget={PATIENCE}", f"--screenshot={made}", Path(page).resolve().as_uri()]
        try:
            subprocess.run([command, *flags], check=True, capture_output=True, timeout=LONGEST)
        except (subprocess.SubprocessError, OSError):
            raise InputError(f"{Path(command).name} could not take a picture of the page.") from None
        if not made.exists():
            raise InputError(f"{Path(command).name} took no picture of the page.")
        unfinished = picture.with_name(f".{picture.name}.unfinished")
        shutil.copyfile(made, unfinished)
        os.replace(unfinished, picture)
    return picture
