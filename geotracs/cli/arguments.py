"""What commands share: options, and what their texts stand for."""

import ast
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import click

import geotracs.io.files as files
from geotracs.core.places import Grid
from geotracs.errors import InputError
from geotracs.io.progress import lines, step

REGION = "Public region: a file, or FILE:COLUMN=VALUE; xmin,ymin,xmax,ymax; disc:x,y,metres; globe."
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
    click.option("--sep", help="What stands between the columns of a CSV; found by itself if not given."),
    click.option("--columns", help="Names of the columns of a CSV without a header line: user,lat,lon,time."),
    click.option("--input-encoding", help="Encoding of a CSV, if not UTF-8, e.g. latin-1."),
    ALLOW_REMOTE,
]


TIMES = [
    click.option("--time-format", help='How times of IN are written, e.g. "%d/%m/%Y %H:%M"; s or ms: since 1970.'),
    click.option("--dayfirst", is_flag=True, help="03/04/2026 in IN is the third of April."),
]


def input_options(command: Any) -> Any:
    """Give a command the options that say how IN is read, as one argument ``reading``, for `geotracs.files.read`."""

    @functools.wraps(command)
    def collected(
        *args: Any, layer: Any, x: Any, y: Any, input_crs: Any, sep: Any, columns: str | None,
        input_encoding: Any,
        allow_remote: bool, **kwargs: Any,
    ) -> Any:  # fmt: skip
        names = None if columns is None else [name.strip() for name in columns.split(",")]
        reading = {
            "layer": layer, "x": x, "y": y, "crs": input_crs, "sep": sep, "columns": names, "encoding": input_encoding,
            "allow_remote": allow_remote,
        }  # fmt: skip
        return command(*args, reading=reading, **kwargs)

    for option in reversed(INPUT):
        collected = option(collected)
    return collected


def time_options(command: Any) -> Any:
    """Give a command the options that say how the times of IN are written."""
    for option in reversed(TIMES):
        command = option(command)
    return command


def read_layer(text: str | None, allow_remote: bool = False) -> Any:
    """Return a file, if one is given."""
    return None if text is None else files.read(text, allow_remote=allow_remote)


def read_both(original: str, perturbed: str, reading: dict[str, Any]) -> tuple[Any, Any]:
    """Return the frame of IN, read as its options say, and that of its release."""
    step("Reading")
    before = files.read(original, **reading)
    return before, files.read(perturbed, crs=reading["crs"], allow_remote=reading["allow_remote"])


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
