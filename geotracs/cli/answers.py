"""Commands that answer from a release: layers out, or JSON; the functions do the work."""

from collections.abc import Callable
from typing import Any

import click
import pandas as pd

import geotracs.io.files as files
from geotracs.answers.density import density
from geotracs.answers.flows import flows
from geotracs.answers.lengths import lengths
from geotracs.answers.passes import File, counts_suffice
from geotracs.answers.popularity import popularity
from geotracs.answers.reconstruct import reconstruct
from geotracs.answers.synthesize import synthesize
from geotracs.cli.arguments import ALLOW_REMOTE, JSON, PROGRESS, read_layer, read_places
from geotracs.cli.regions import read_domain
from geotracs.cli.tables import in_json, plain, rows_of
from geotracs.core.guarantee import Guarantee, caption, recorded
from geotracs.core.places import Grid
from geotracs.errors import InputError
from geotracs.io.progress import step

LINES = 20
"""How many rows are printed, unless OUT or --json is given."""

_RELEASE = click.argument("source", metavar="PRIVATE")
_OUT = click.argument("target", metavar="OUT")
_MAYBE_OUT = click.argument("target", metavar="[OUT]", required=False)
_LEVEL = click.option("--level", type=float, default=0.9, show_default=True, help="Of the intervals.")
_PAIRS = click.option(
    "--pairs",
    default="ends",
    show_default=True,
    help='The first and the last report of each trajectory ("ends"), or each report and the next ("consecutive").',
)
_PRIOR = [
    click.option("--prior", help="Where locations are likely: a public file of points or areas."),
    click.option("--weight", help="Column of the prior with the number of each point or area."),
]
_PUBLIC = [
    click.option("--domain", help="Public region of the release, as given to perturb, if its record does not hold it."),
    click.option("--round-to", help="Its public places, likewise: a file, or grid:500."),
    click.option("--layer", help="Layer of PRIVATE, if it has several."),
    JSON,
    PROGRESS,
    ALLOW_REMOTE,
]
_OVERWRITE = click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")


def _with(*options: Any) -> Callable[[Any], Any]:
    """Give a command several options, in this order."""

    def given(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return given


@click.command("density")
@_with(_RELEASE, _MAYBE_OUT)
@click.option("--cells", type=int, nargs=2, metavar="NX NY", help="A grid of this many cells over the region.")
@click.option("--zones", help="Areas that do not overlap: a file.")
@click.option("--places", help="Points; a location counts as the nearest: a file.")
@click.option("--robust", type=float, default=0.0, metavar="SHARE", help="Share of reports that may be made up: 0.01.")
@click.option("--speed", type=float, help="How fast people are at most, in m/s; says which reports are too far apart.")
@_with(*_PRIOR, _LEVEL, *_PUBLIC, _OVERWRITE)
def density_command(source, target, cells, zones, places, prior, allow_remote, **arguments):
    """Estimate which share of locations each cell, area or place holds, from a release.

    OUT gets the cells, areas or places with share, count, low and high; without it the largest are printed. PRIVATE may
    be larger than memory: it is read in one pass, unless its locations have epsilons of their own or its method looks
    back.

    \b
    Examples:
        geotracs density private.gpkg density.gpkg --cells 20 20
        geotracs density private.gpkg density.gpkg --zones districts.geojson --domain city.geojson
        geotracs density private.gpkg --cells 5 5 --robust 0.01 --speed 15
    """
    release, saying = _read(source, target, arguments, allow_remote, one_pass=arguments["speed"] is None)
    grid = None if cells is None else Grid(nx=cells[0], ny=cells[1])
    layers = {"zones": read_layer(zones, allow_remote), "places": read_layer(places, allow_remote)}
    saying(density(release, grid, prior=read_layer(prior, allow_remote), **layers, **arguments))


@click.command("popularity")
@_with(_RELEASE, _MAYBE_OUT)
@click.option("--places", required=True, help="Points; a location counts as the nearest: a file.")
@_with(*_PRIOR, _LEVEL, *_PUBLIC, _OVERWRITE)
def popularity_command(source, target, places, prior, allow_remote, **arguments):
    """Rank places by their share of locations, and say which cannot be told apart, from a release.

    OUT gets the places with share, count, low, high, the best and the worst rank they may have, and their group: only
    places in different groups have an order. Without it the first are printed.

    \b
    Example:
        geotracs popularity private.gpkg ranked.gpkg --places stations.geojson --domain city.geojson
    """
    release, saying = _read(source, target, arguments, allow_remote, one_pass=True)
    points = read_layer(places, allow_remote)
    saying(popularity(release, points, prior=read_layer(prior, allow_remote), **arguments))


@click.command("flows")
@_with(_RELEASE, _MAYBE_OUT)
@click.option("--zones", required=True, help="Areas that do not overlap: a file.")
@click.option("--name", help="Column with the names of the zones; their numbers if not given.")
@_PAIRS
@click.option("--when", help='Flows for each time window: a duration such as 1h, "hour" of the day, or "weekday".')
@_with(*_PRIOR, _LEVEL, *_PUBLIC, _OVERWRITE)
def flows_command(source, target, zones, name, prior, allow_remote, **arguments):
    """Estimate how many went from each zone to each, from a release.

    OUT gets a line for each origin and destination, with share, count, low and high; without it the largest are
    printed.

    \b
    Example:
        geotracs flows private.gpkg flows.gpkg --zones districts.geojson --name district --domain city.geojson
    """
    release, saying = _read(source, target, arguments, allow_remote)
    areas = read_layer(zones, allow_remote)
    if name is not None:
        if name not in areas.columns:
            raise InputError(f"The zones have no column {name!r}; their columns are {[*map(str, areas.columns)]}.")
        areas = areas.set_index(name)
    saying(flows(release, areas, prior=read_layer(prior, allow_remote), **arguments))


@click.command("lengths")
@_with(_RELEASE)
@click.option("--of", default="length", show_default=True, help="length, in metres, or speed, in metres per second.")
@_PAIRS
@click.option("--bins", default="10", show_default=True, help="How many bins, or their edges: 0,500,1000,5000.")
@_with(*_PRIOR, _LEVEL, *_PUBLIC)
def lengths_command(source, bins, prior, allow_remote, **arguments):
    """Estimate how far trips go, or how fast, from a release.

    \b
    Example:
        geotracs lengths private.gpkg --pairs consecutive --bins 0,500,1000,5000,20000 --domain city.geojson
    """
    release, saying = _read(source, None, arguments, allow_remote)
    saying(lengths(release, bins=_bins(bins), prior=read_layer(prior, allow_remote), **arguments))


@click.command("reconstruct")
@_with(_RELEASE, _OUT)
@click.option("--speed", type=float, required=True, help="How fast people are at most, in m/s: 2 on foot, 15 by car.")
@click.option("--stay", type=float, default=0.3, show_default=True, help="How likely nobody has moved in a step.")
@click.option("--motion", default="auto", show_default=True, help='"box", "modes" that keep their direction, "auto".')
@click.option(
    "--prior",
    default="release",
    show_default=True,
    help="Where people are likely: by the release itself, none, or a public file of points or areas.",
)
@click.option("--weight", help="Column of the prior with the number of each point or area.")
@click.option("--places", help="Public places or roads that people do not leave: a file.")
@click.option("--at", help="Fill in rows: at all times of a step such as 5min, or at times separated by commas.")
@click.option("--interval", type=float, help="Seconds from report to report, where the release has no times.")
@click.option("--level", type=float, default=0.9, show_default=True, help="Probability of the radius.")
@click.option("--cells", type=int, default=64, show_default=True, help="Cells along the longer side of the region.")
@_with(*_PUBLIC, _OVERWRITE)
def reconstruct_command(source, target, prior, places, at, allow_remote, **arguments):
    """Estimate where everybody was, from a release and a speed, and to within how many metres.

    OUT gets the rows of PRIVATE with other locations and the column radius. This costs no epsilon, and anybody who has
    the release can do it: it shows what the release tells about a person who is followed.

    \b
    Example:
        geotracs reconstruct private.gpkg found.gpkg --speed 15 --domain city.geojson
    """
    release, saying = _read(source, target, arguments, allow_remote)
    layer = None if prior == "none" else "release" if prior == "release" else read_layer(prior, allow_remote)
    times = None if at is None else _times(at)
    saying(reconstruct(release, prior=layer, places=read_layer(places, allow_remote), at=times, **arguments))


@click.command("synthesize")
@_with(_RELEASE, _OUT)
@click.option("--n", "n", type=int, help="How many trips to make up; as many as the release has if not given.")
@click.option("--seed", type=int, help="The same seed gives the same trips.")
@click.option("--cells", type=int, default=12, show_default=True, help="Cells along the longer side of the region.")
@click.option("--network", help="Public lines that trips go along, such as streets: a file.")
@click.option("--places", help="Public points that trips begin and end at: a file.")
@_with(*_PUBLIC, _OVERWRITE)
def synthesize_command(source, target, network, places, allow_remote, **arguments):
    """Make up trips with origins, destinations, lengths and times as a release is estimated to have them.

    OUT gets a line for each trip; it is marked as synthetic.

    \b
    Example:
        geotracs synthesize private.gpkg trips.gpkg --n 10000 --network streets.gpkg --domain city.geojson
    """
    release, saying = _read(source, target, arguments, allow_remote)
    layers = {"network": read_layer(network, allow_remote), "places": read_layer(places, allow_remote)}
    saying(synthesize(release, **layers, **arguments))


def _read(
    source: str, target: str | None, arguments: dict[str, Any], allow_remote: bool, *, one_pass: bool = False
) -> tuple[Any, Callable[[pd.DataFrame], None]]:
    """Return a release, and what is to be done with the answer; read the public layers among the arguments.

    It stays a file where one pass over it is enough.
    """
    overwrite, wanted = arguments.pop("overwrite", False), arguments.pop("as_json")
    if target is not None:
        files.check_free(target, overwrite=overwrite)
    file = File(source, arguments.pop("layer"), allow_remote)
    record = recorded({"tracs": files.record(source, layer=file.layer, allow_remote=allow_remote)})
    if not record:
        raise InputError(
            f"{source!r} holds no record of a perturbation, and nothing can be learnt without it. Give the file that "
            "perturb has written; if it is no GeoPackage or GeoParquet, with the .tracs.json beside it."
        )
    counted = one_pass and counts_suffice(Guarantee(**record))
    step("Reading")
    release = file if counted else files.read(source, layer=file.layer, allow_remote=allow_remote)
    arguments["domain"] = read_domain(arguments["domain"], allow_remote)
    arguments["round_to"] = read_places(arguments["round_to"], allow_remote)
    step("Estimating")

    def saying(found: pd.DataFrame) -> None:
        step("Writing")
        found = found.reset_index() if found.index.name is not None else found
        if target is not None:
            files.write(found, target, overwrite=overwrite)
        click.echo(_as_json(found, rows=target is None) if wanted else _in_words(found, target))

    return release, saying


def _in_words(found: pd.DataFrame, target: str | None) -> str:
    """Return where the answer is and what it says of itself, or its largest rows."""
    record = found.attrs.get("tracs", {})
    words = record.get("answer", {}).get("words")
    if target is not None:
        return "\n".join([f"{target}: {len(found):,} rows, from {caption(record)}.", *([words] if words else [])])
    table = plain(found)
    if "start" not in table.columns and "share" in table.columns:  # bins stay in their order
        table = table.sort_values("share", ascending=False, kind="stable")
    text = table.head(LINES).to_string(index=False, float_format=_short)
    means = [f"{name} {_interval(found.attrs[name])}" for name in ("mean", "median") if name in found.attrs]
    return "\n".join([text, *([f"The largest {LINES} of {len(table):,}."] if len(table) > LINES else []), *means])


def _interval(value: dict[str, float]) -> str:
    return f"{_short(value['value'])} ({_short(value['low'])} to {_short(value['high'])})"


def _short(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def _as_json(found: pd.DataFrame, *, rows: bool) -> str:
    """Return an answer as JSON: how it was made, and its rows if they are written nowhere else."""
    record = found.attrs.get("tracs", {})
    known = {name: record[name] for name in ("method", "epsilon", "unit", "trajectory", "time") if name in record}
    whole: dict[str, Any] = {"release": known, "answer": record.get("answer", {}), "count": len(found)}
    whole |= {name: found.attrs[name] for name in ("mean", "median") if name in found.attrs}
    return in_json(whole | ({"rows": rows_of(found)} if rows else {}))


def _bins(text: str) -> int | list[float]:
    try:
        return [float(part) for part in text.split(",")] if "," in text else int(text)
    except ValueError:
        raise InputError(f"`--bins` must be a number, or edges separated by commas, got {text!r}.") from None


def _times(text: str) -> str | list[Any]:
    """Return a step such as "5min", or times."""
    try:
        pd.tseries.frequencies.to_offset(text)
    except ValueError:
        try:
            return [pd.Timestamp(part) for part in text.split(",")]
        except ValueError:
            raise InputError(
                f"`--at` must be a step such as 5min, or times with commas between, got {text!r}."
            ) from None
    return text
