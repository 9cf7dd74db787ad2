"""The command that prepares tracks before they are perturbed; the functions do the work."""

from typing import Any

import click
import geopandas as gpd

import geotracs.geo.prepare as prepare
import geotracs.io.files as files
from geotracs.cli.arguments import PROGRESS, input_options, read_layer, time_options
from geotracs.errors import InputError
from geotracs.geo.prepare.trimming import BY
from geotracs.io.progress import step


@click.command("prepare")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--trajectory", help="Column that says which trajectory a row belongs to.")
@click.option("--time", help="Column that orders the rows of a trajectory.")
@click.option("--trips", metavar="GAP", help="Divide trajectories where nothing is known for longer, such as 30min.")
@click.option("--stop", metavar="TIME", help="With --trips: and where somebody stays so long, such as 5min.")
@click.option("--zones", "areas", help="Leave out the rows in these areas: a file.")
@click.option("--radius", type=float, help="Take --zones for secret: use random discs, larger by so many metres.")
@click.option("--person", help="Column of IN and --zones: an area is for the rows of its person only.")
@click.option("--trim-start", default="0", help="Leave out the beginning: 5min, or metres, or rows; see --trim-by.")
@click.option("--trim-end", default="0", help="Leave out the end.")
@click.option("--trim-by", type=click.Choice(BY), default="time", show_default=True, help="What they measure.")
@click.option("--every", metavar="TIME", help="Keep the first row of every so long, such as 5min.")
@click.option("--fixes", type=int, help="Keep every n-th row.")
@click.option("--metres", type=float, help="Keep the first row of every so many metres.")
@click.option("--stops", metavar="TIME", help="Keep stops of at least so long, a row each, such as 5min.")
@click.option("--diameter", type=float, default=100.0, show_default=True, help="Size of a stop in metres.")
@click.option("--coarsen-time", metavar="STEP", help="Round times down, such as to 1h.")
@click.option("--seed", type=int, help="Reproducible discs, for tests only.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists, and what belongs to it.")
@PROGRESS
@input_options
@time_options
def prepare_command(source, target, overwrite, reading, time_format, dayfirst, **asked):
    """Trim tracks, leave out zones, thin rows, find trips and stops, coarsen times, before the draw.

    OUT holds original locations: keep it confidential. What looks at where somebody was at several moments is not
    covered by epsilon, and the guarantee of what perturb makes of OUT says so, by a mark in OUT or in the .tracs.json
    beside it.
    The steps are taken in the order of the options. With --trips the trajectory is then the column "trip".

    \b
    Examples:
        geotracs prepare tracks.gpkg ready.gpkg --trajectory person --time t --trim-start 5min --trim-end 5min
        geotracs prepare tracks.gpkg ready.gpkg --zones homes.gpkg --radius 300 --person person
    """
    files.check_free(target, overwrite=overwrite)
    step("Reading")
    before = files.read(source, **reading, time=asked["time"], time_format=time_format, dayfirst=dayfirst)
    areas = read_layer(asked.pop("areas"), reading["allow_remote"])
    step("Preparing")
    frame = _prepared(before, areas=areas, **asked)
    if frame is before:
        raise InputError("Nothing is asked for; say what to prepare, e.g. --trim-start 5min.")
    step("Writing")
    files.write(frame, target, overwrite=overwrite)
    click.echo(f"{target}: {len(frame):,} of {len(before):,} rows, with original locations: keep them confidential.")


def _prepared(
    frame: gpd.GeoDataFrame,
    *,
    trajectory: str | None,
    time: str | None,
    trips: str | None,
    stop: str | None,
    areas: gpd.GeoDataFrame | None,
    radius: float | None,
    person: str | None,
    trim_start: str,
    trim_end: str,
    trim_by: str,
    every: str | None,
    fixes: int | None,
    metres: float | None,
    stops: str | None,
    diameter: float,
    coarsen_time: str | None,
    seed: int | None,
) -> gpd.GeoDataFrame:
    """Take all steps that are asked for; the frame itself comes back if there are none."""
    columns: dict[str, Any] = {"trajectory": trajectory, "time": time}
    if time is None and (trips, stops, coarsen_time) != (None, None, None):
        raise InputError("`time` must name the column of times.")
    if trips is not None:
        frame = prepare.trips(frame, **columns, gap=_seconds(trips), stop=_seconds(stop), diameter=diameter)
        columns["trajectory"] = "trip"
    elif stop is not None:
        raise InputError("`--stop` divides trips; give it with `--trips`.")
    if areas is not None:
        frame = prepare.zones(frame, areas, radius=radius, person=person, rng=seed)
    elif radius is not None or person is not None:
        raise InputError("`--radius` and `--person` are for areas; give them with `--zones`.")
    if (trim_start, trim_end) != ("0", "0"):
        first, last = (_measured(text, trim_by) for text in (trim_start, trim_end))
        frame = prepare.trim(frame, first, last, by=trim_by, **columns)
    if (every, fixes, metres) != (None, None, None):
        frame = prepare.thin(frame, every=_seconds(every), fixes=fixes, metres=metres, **columns)
    if stops is not None:
        frame = prepare.stops(frame, **columns, duration=_seconds(stops), diameter=diameter)
    if coarsen_time is not None:
        frame = prepare.coarsen_time(frame, _seconds(coarsen_time), time=str(time))
    return frame


def _seconds(text: str | None) -> float | str | None:
    """Return a number of seconds, or a text such as 5min."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _measured(text: str, by: str) -> float | int | str | None:
    """Return how much is trimmed."""
    found = _seconds(text)
    return int(found) if by == "fixes" and isinstance(found, float) and found.is_integer() else found
