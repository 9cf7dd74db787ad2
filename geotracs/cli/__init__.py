"""The command line. What a command needs is loaded when it runs: help comes at once."""

import importlib
import re
import signal
import sys
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from geotracs.errors import DEBUG, GeotracsError, GeotracsWarning, debugging

COMMANDS = {
    "perturb": "Report every location of IN under pure eps-local differential privacy, and write OUT.",
    "prepare": "Trim tracks, leave out zones, thin rows, find trips and stops, coarsen times, before the draw.",
    "advise": "Say what error each method makes in a public region, in metres; no private location is needed.",
    "optimum": "Say the smallest mean error that any method can have in a public region, in metres.",
    "compare": "Say how far the locations of PERTURBED are from those of IN, in metres, or what else was lost.",
    "sweep": "Perturb IN with several methods and epsilons, several times each, and say what each cost, in metres.",
    "map": "Draw IN and PERTURBED on a map, and write OUT, an HTML page.",
    "density": "Estimate which share of locations each cell, area or place holds, from a release.",
    "popularity": "Rank places by their share of locations, and say which cannot be told apart, from a release.",
    "flows": "Estimate how many went from each zone to each, from a release.",
    "lengths": "Estimate how far trips go, or how fast, from a release.",
    "reconstruct": "Estimate where everybody was, from a release and a speed, and to within how many metres.",
    "synthesize": "Make up trips with origins, destinations, lengths and times as a release is estimated to have them.",
    "audit": "Look for a violation of what a method promises: in its integers, its draws, and from file to file.",
    "ledger": "Show how much epsilon people have spent, change the budget, or charge a release made elsewhere.",
    "risk": "Say what a release tells, or would tell, about a person, in metres.",
    "report": "Make a report on a release for a privacy officer: what is promised, what is left, what was checked.",
    "demo": "Generate a city, perturb its tracks, and show what it cost.",
    "reproduce": "Reproduce every figure and table of the paper's evaluation, with baselines that are eps-LDP.",
}
"""The first lines of what the commands say of themselves, in `geotracs.cli.commands`,..."""
ANSWERS = (
    "density",
    "popularity",
    "flows",
    "lengths",
    "reconstruct",
    "synthesize",
)
"""...in `geotracs.cli.answers`..."""
TRUST = ("audit", "ledger", "risk", "report")
"""...and in `geotracs.cli.trust`."""
OPTIONS = {
    "`dst`": "OUT",
    "`src`": "IN",
    "sort=True": "--sort",
    "overwrite=True": "--overwrite",
    "allow_remote=True": "--allow-remote",
    'outside="clip"': "--outside clip",
    "`checks`": "`--check`",
    "keep=[...]": "--keep",
    "keep=[]": "--keep none",
    "embed=True": "--embed",
    "give `budget` to make one": "make one with geotracs ledger budget",
    'data="bus-2026"': "--data bus-2026",
    'repeat="same"': "--repeat same",
    "temporary=...": "--temporary FOLDER",
    "domain=(xmin, ymin, xmax, ymax)": "--domain xmin,ymin,xmax,ymax",
    "gdf.set_crs('EPSG:4326')": "--input-crs EPSG:4326",
    'x="..." and y="..."': "--x and --y",
    "trajectory='person'": "--trajectory person",
    "time='t'": "--time t",
    'unit="person"': "--unit person",
    'unit="location"': "--unit location",
    'every="auto"': "--every auto",
    'fill="reconstruct"': "--fill reconstruct",
    'fill="interpolate"': "--fill interpolate",
    'unit="trajectory"': "--unit trajectory",
    'input_crs="EPSG:32654" (`crs` of `files.read`)': "--input-crs EPSG:32654",
    "crs='EPSG:3031'": "--crs EPSG:3031",
    "crs='EPSG:3995'": "--crs EPSG:3995",
    'method="tracs-d"': "--method tracs-d",
    'fit="transport"': "--fit transport",
    "geotracs.domains.Globe()": "--domain globe",
    'encoding="latin-1"': "--input-encoding latin-1",
    "name its columns, columns=[...]": "name its columns, --columns user,lat,lon,time",
    "time_format=...": "--time-format FORM",
    'time_format="%d/%m/%Y %H:%M:%S"': '--time-format "%d/%m/%Y %H:%M:%S"',
    "dayfirst=True": "--dayfirst",
}
"""How messages of the library name arguments, and the options that stand for them on the command line..."""
NAMES = (
    "alarm", "at", "at_most", "bins", "cell", "cells", "columns", "crs", "data", "domain", "draws", "encoding", "eps",
    "every", "fill", "fixes", "interval", "known", "ledger", "length", "level", "method", "motion", "n", "network",
    "of", "pairs", "people", "period", "person", "places", "prior", "releases", "repeat", "round_to", "seed", "sep",
    "speed", "stay", "time", "time_format", "trajectory", "unit", "weight", "when", "within", "zones",
)  # fmt: skip
"""...those that have the name of their argument..."""
GRID = re.compile(r"(?:cells=)?Grid\(nx=(\d+), ny=(\d+)\)")
"""...and how they name a grid."""
NAMED = re.compile(f"`({'|'.join(NAMES)})`")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line: bad input is one line on standard error and exit code 2."""
    warnings.showwarning = _show_warning
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):  # so that temporary files are removed; nohup ignores the second
            if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:
                signal.signal(getattr(signal, name), _stop)
    try:
        code = cli.main(arguments, prog_name="geotracs", standalone_mode=False)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "geotracs"
        click.echo(f"Error: {error.format_message()} See '{command} --help'.", err=True)
        sys.exit(2)
    except (GeotracsError, click.ClickException) as error:
        click.echo(f"Error: {_in_options(str(error))}", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped; temporary files were removed.", err=True)
        sys.exit(130)
    except Exception as error:
        if debugging():
            raise
        click.echo(
            f"Error: {type(error).__name__}, which geotracs does not expect: please report it. {DEBUG}=1 shows where "
            "it happened, and may show private data.",
            err=True,
        )
        sys.exit(1)
    sys.exit(code or 0)


class _Commands(click.Group):
    """Loads a command when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = (
            "prepare"
            if name == "prepare"
            else "answers"
            if name in ANSWERS
            else "trust"
            if name in TRUST
            else "commands"
        )
        return getattr(importlib.import_module(f"geotracs.cli.{module}"), f"{name}_command")

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="geotracs")
def cli() -> None:
    """Publish movement data with a provable privacy guarantee.

    \b
    Try it on a generated city:
        geotracs demo
    Perturb your own tracks, then see what it cost:
        geotracs perturb tracks.gpkg private.gpkg --eps 4 --domain 139.4,35.5,139.9,35.9 \\
                 --trajectory person --time t
        geotracs compare tracks.gpkg private.gpkg --by person
    """


def _stop(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _show_warning(
    message: Any, category: type[Warning], filename: str, lineno: int, file: Any = None, line: str | None = None
) -> None:
    """Show our own warnings; of those of other libraries, which may quote the data, only where they come from."""
    if not (issubclass(category, GeotracsWarning) or debugging()):
        message = f"from {Path(filename).parent.name}; {DEBUG}=1 shows it, and may show private data."
    click.echo(f"{category.__name__}: {_in_options(str(message))}", err=True)


def _in_options(message: str) -> str:
    """Return a message of the library as the command line says it: with options instead of arguments."""
    for argument, option in OPTIONS.items():
        message = message.replace(argument, option)
    message = NAMED.sub(lambda found: f"`--{found[1].replace('_', '-')}`", message)
    return GRID.sub(r"--cells \1 \2", message)
