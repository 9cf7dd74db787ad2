"""What commands share: options, and what their texts stand for."""

import ast
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

import geotracs.io.files as files
from geotracs.core.domains import Disc
from geotracs.core.places import Grid
from geotracs.errors import InputError
from geotracs.io.progress import lines, step

ALLOW_REMOTE = click.option(
    "--allow-remote", is_flag=True, help="Take files that make GDAL open others or addresses: .vrt, /vsicurl/."
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _say_lines(context: click.Context, option: click.Parameter, given: bool) -> None:
    if given:
        context.with_resource(lines())


PROGRESS = click.option(
    "--progress",
    is_flag=True,
    expose_value=False,
    callback=_say_lines,
    help='Say progress on standard error in lines such as "progress: 45% Perturbing", for programs.',
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


def read_both(
    original: str, perturbed: str, *, layer: str | None, x: str | None, y: str | None, input_crs: str | None,
    allow_remote: bool,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the frame of IN, read as its options say, and that of its release."""
    step("Reading")
    before = files.read(original, layer=layer, x=x, y=y, crs=input_crs, allow_remote=allow_remote)
    return before, files.read(perturbed, crs=input_crs, allow_remote=allow_remote)


def read_domain(text: str | None, allow_remote: bool = False) -> Any:
    """Return a bounding box, a disc or a file."""
    if text is None or Path(text.partition("|")[0]).exists():
        return read_layer(text, allow_remote)
    try:
        numbers = tuple(float(part) for part in text.removeprefix("disc:").split(","))
    except ValueError:
        numbers = ()
    if text.startswith("disc:") and len(numbers) == 3:
        return Disc(numbers[:2], numbers[2])
    if text.startswith("disc:") or not numbers:
        raise InputError(f"`--domain` is neither a file nor xmin,ymin,xmax,ymax nor disc:x,y,metres: {text!r}.")
    return numbers


def read_places(text: str | None, allow_remote: bool = False) -> Any:
    """Return a grid or a file."""
    if text is None or not text.startswith("grid:"):
        return read_layer(text, allow_remote)
    try:
        return Grid(cell=float(text.removeprefix("grid:")))
    except ValueError:  # and an InputError is one
        raise InputError(f"`--round-to grid:METRES` needs a number greater than 0, got {text!r}.") from None


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
