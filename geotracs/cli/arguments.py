"""What commands share: options, and what their texts stand for."""

import ast
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

import geotracs.io.files as files
from geotracs.core.places import Grid
from geotracs.errors import InputError

ALLOW_REMOTE = click.option(
    "--allow-remote", is_flag=True, help="Take files that make GDAL open others or addresses: .vrt, /vsicurl/."
)
INPUT = [
    click.option("--layer", help="Layer of IN, if it has several."),
    click.option("--x", "x", help="Column of the x coordinate (longitude), for CSV."),
    click.option("--y", "y", help="Column of the y coordinate (latitude), for CSV."),
    click.option("--input-crs", help="CRS of IN, if the file does not say it, e.g. EPSG:4326."),
    ALLOW_REMOTE,
]


def input_options(command: Any) -> Any:
    """Give a command the options that say how IN is read."""
    for option in reversed(INPUT):
        command = option(command)
    return command


def read_layer(text: str | None, allow_remote: bool = False) -> Any:
    """Return a file, if one is given."""
    return None if text is None else files.read(text, allow_remote=allow_remote)


def read_domain(text: str | None, allow_remote: bool = False) -> Any:
    """Return a bounding box or a file."""
    if text is None or Path(text.partition("|")[0]).exists():
        return read_layer(text, allow_remote)
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"`--domain` is neither a file nor xmin,ymin,xmax,ymax: {text!r}.") from None


def read_places(text: str | None, allow_remote: bool = False) -> Any:
    """Return a grid or a file."""
    if text is None or not text.startswith("grid:"):
        return read_layer(text, allow_remote)
    try:
        cell = float(text.removeprefix("grid:"))
    except ValueError:
        raise InputError(f"`--round-to grid:METRES` needs a number, got {text!r}.") from None
    return Grid(cell=cell)


def method_options(pairs: Sequence[str], function: Callable[..., Any]) -> dict[str, Any]:
    """Return the options of a method, given as NAME=VALUE, for a function that has arguments of its own."""
    options = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise InputError(f"`--option` must be NAME=VALUE, got {pair!r}.")
        if name in set(inspect.signature(function).parameters) - {"radius"}:  # which audit takes for a callable
            raise InputError(f"{name!r} is not an option of a method; see --help for how to give it.")
        try:
            options[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            options[name] = text
    return options
