"""The commands: files in, files out; the functions do the work."""

import os
import sys
from pathlib import Path

import click
import pandas as pd

import geotracs.io.files as files
import geotracs.utility.metrics as metrics
from geotracs.cli.arguments import (
    ALLOW_REMOTE,
    JSON,
    PROGRESS,
    REGION,
    input_options,
    method_options,
    read_both,
    read_layer,
    read_places,
    time_options,
)
from geotracs.cli.regions import read_domain
from geotracs.cli.tables import in_json, rows_of
from geotracs.core.budget import check_eps
from geotracs.core.methods import METHODS
from geotracs.errors import InputError
from geotracs.geo.advise import advise
from geotracs.geo.optimum import optimum
from geotracs.geo.schedule import FILLS
from geotracs.io.datasets import sample_city
from geotracs.io.progress import step
from geotracs.release.file import connected, perturb_file
from geotracs.release.frame import perturb
from geotracs.release.request import OUTSIDE
from geotracs.trust.ledger import Ledger
from geotracs.trust.risk_result import CONFIDENTIAL
from geotracs.utility.compare import compare, metric_names
from geotracs.utility.sweep import CHOSEN, EPSILONS, sweep
from geotracs.views.maps import explore
from geotracs.views.maps.explore import VIEWS
from geotracs.views.maps.photograph import photograph

DEMO = ("joint", "tracs-c")
FEW = 1000
"""How many locations the demo's map shows: a handful of people, so that one can follow them."""
_FIT = "How a polygon becomes a square: envelope, oriented, transport, best."
_PRIOR = "Where locations are likely: a public file of points or areas; for tracs-c and joint."
_REPEAT = "same: rows of a person in a cell share one report, so that averaging over a stay finds nothing more."
_UNIT = "What eps is for: location, trajectory, person, or a person and a period: day, 1D, 1W."
_ALLOCATION = "How a trajectory's locations share its eps: even, ends, water-filling, or weights such as 3,1,3."


@click.command("perturb")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--eps", required=True, help="Privacy parameter; smaller is more private. Try 1 to 10; or a column of it."
)
@click.option("--method", default="joint", show_default=True, help=f"One of: {', '.join(METHODS)}, auto.")
@click.option("--domain", help=f"{REGION} In the CRS of IN.")
@click.option("--fit", default="envelope", show_default=True, help=_FIT)
@click.option("--prior", help=_PRIOR)
@click.option("--weight", help="Column of the prior with the number of each point or area.")
@click.option(
    "--remap/--no-remap",
    default=None,
    help="Move reports to where locations are nearest on average; costs no epsilon.",
)
@click.option("--remap-prior", help="The same, where locations are likely by another public file than --prior.")
@click.option(
    "--round-to", help="Public places: a file of points, lines or areas, or grid:500 for cells of 500 metres."
)
@click.option("--place", default="place", show_default=True, help="Column for the label of each report's place.")
@click.option("--join", multiple=True, help="Column of the places to carry over; repeat it.")
@click.option("--centroid", is_flag=True, help="Round to the centroid of a line or area.")
@click.option("--trajectory", help="Column that says which trajectory a row belongs to.")
@click.option("--time", help="Column that orders the rows of a trajectory.")
@click.option(
    "--person", help="Column that says whose row it is, for --ledger, --unit and --repeat; if not, --trajectory."
)
@click.option("--unit", default="location", show_default=True, help=_UNIT)
@click.option("--allocation", default="even", show_default=True, help=_ALLOCATION)
@click.option("--every", help="Report only the first row in every period, such as 15min; or auto, as many as are best.")
@click.option("--at-most", type=int, help="Report at most so many rows of a trajectory, or of what shares --eps.")
@click.option("--fill", type=click.Choice(FILLS), help="Fill in the rows between from the reports; left out if not.")
@click.option("--speed", type=float, help="Metres per second at most, for --every auto and --fill reconstruct.")
@click.option("--repeat", type=click.Choice(["same"]), help=_REPEAT)
@click.option("--cell", type=float, help="Side of the cells of --repeat in metres; 200 if not given.")
@click.option("--crs", help="Planar CRS to work in; chosen from the domain if not given.")
@click.option("--outside", type=click.Choice(OUTSIDE), default="raise", show_default=True, help="Locations outside.")
@click.option(
    "--keep", multiple=True, help='Column to keep besides trajectory and time; repeat it. Or "all", or "none".'
)
@click.option(
    "--embed", is_flag=True, help="Put the public layers into the record of OUT, for whoever estimates from it."
)
@click.option("--ledger", help="Ledger to charge before the draw: a file; see geotracs ledger.")
@click.option("--data", help="How the ledger names the data, e.g. bus-2026.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Option of the method; repeat it.")
@click.option("--seed", type=int, help="Reproducible draws, for tests and papers only: a seed undoes the privacy.")
@click.option(
    "--sort", is_flag=True, help="Bring trajectories together first, each by time, on disk; OUT is sorted too."
)
@click.option("--temporary", metavar="FOLDER", help="Where --sort puts original rows meanwhile, if not beside IN.")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Of a dask cluster that releases a folder of GeoParquet, e.g. tcp://10.0.0.1:8786.",
)
@click.option("--batch-rows", type=int, help="About how many rows are in memory at a time.")
@click.option("--workers", type=int, help="How many threads work at a time; by default one more than the cores.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists, and what belongs to it.")
@click.option("--quote-formulas", is_flag=True, help="Put ' before texts of a CSV that a spreadsheet would run.")
@JSON
@PROGRESS
@click.option(
    "--encoding",
    type=click.Choice(files.ENCODINGS),
    default="WKB",
    show_default=True,
    help="Of GeoParquet's locations.",
)
@input_options
@time_options
def perturb_command(
    source, target, eps, domain, prior, remap, remap_prior, round_to, allocation, keep, options, seed, reading, ledger,
    as_json, scheduler, **arguments,
):  # fmt: skip
    """Report every location of IN under pure eps-local differential privacy, and write OUT.

    IN and OUT may be GeoPackage, GeoJSON, GeoParquet, Shapefile, FlatGeobuf, CSV and much else that GDAL knows;
    name.gpkg|layername=roads names a layer, and a folder holds GeoParquet files. A file may be larger than memory.
    Without --domain the region is fitted to the private data, which the guarantee does not cover. With
    --method geo-ind the promise is weaker: metric privacy, within the metres of --option radius=200.

    \b
    Examples:
        geotracs perturb tracks.gpkg private.gpkg --eps 4 --domain city.geojson --trajectory person --time t
        geotracs perturb checkins.csv private.csv --eps 2 --method tracs-d --option start=corner \\
                 --domain 139.4,35.5,139.9,35.9 --trajectory user --time time --x lon --y lat
    """
    files.check_free(target, overwrite=arguments["overwrite"], folder=scheduler is not None or os.path.isdir(source))
    allow_remote = reading["allow_remote"]
    with connected(scheduler) as client:
        guarantee = perturb_file(
            source,
            target,
            _number(eps),
            allocation=_weights(allocation),
            domain=read_domain(domain, allow_remote),
            prior=read_layer(prior, allow_remote),
            remap=remap if remap_prior is None else read_layer(remap_prior, allow_remote),
            round_to=read_places(round_to, allow_remote),
            input_crs=reading.pop("crs"),
            input_encoding=reading.pop("encoding"),
            keep={("all",): "all", ("none",): [], (): None}.get(keep, list(keep)),
            ledger=None if ledger is None else Ledger(ledger),
            rng=seed,
            client=client,
            **reading,
            **arguments,
            **method_options(options, perturb),
        )
    if as_json:
        said = {"locations": guarantee.locations, "guarantee": str(guarantee), "record": guarantee.to_attrs()}
        click.echo(in_json(said))
    else:
        click.echo(f"{target}: {guarantee.locations:,} locations.\n{guarantee}")


@click.command("advise")
@click.option("--domain", required=True, help=REGION)
@click.option(
    "--eps", type=float, default=4.0, show_default=True, help="Privacy parameter of each location, or of a track."
)
@click.option("--interval", type=float, help="For tracks: seconds between two fixes. Says how many to report.")
@click.option("--length", type=int, help="For tracks: how many fixes they have.")
@click.option("--speed", type=float, help="For tracks: metres per second at most; 15 if not given.")
@click.option("--error", type=float, help="Mean error in metres: say the epsilon that each method needs for it.")
@click.option("--places", help="Public places: a file, or grid:500 for cells of 500 metres.")
@click.option("--prior", help=_PRIOR)
@click.option("--weight", help="Column of the prior with the number of each point or area.")
@click.option("--fit", default="envelope", show_default=True, help=_FIT)
@click.option("--method", "methods", multiple=True, help="Only this method; repeat it.")
@click.option(
    "--optimum/--no-optimum",
    default=None,
    help="Compare with the smallest possible error; where it is quick if not given.",
)
@JSON
@PROGRESS
@ALLOW_REMOTE
def advise_command(domain, places, prior, methods, as_json, allow_remote, **arguments):
    """Say what error each method makes in a public region, in metres; no private location is needed.

    \b
    Examples:
        geotracs advise --domain city.geojson --eps 4
        geotracs advise --domain 139.4,35.5,139.9,35.9 --error 500
        geotracs advise --domain city.geojson --eps 30 --interval 5 --length 1000 --speed 15
    """
    step("Trying methods")
    result = advise(
        read_domain(domain, allow_remote),
        places=read_places(places, allow_remote),
        prior=read_layer(prior, allow_remote),
        methods=methods or None,
        **arguments,
    )
    if as_json:
        click.echo(in_json({"rows": rows_of(result)}))
        return
    digits = {name: 2 if name in ("eps", "of_optimum") else 0 for name in result.columns}
    click.echo(result.round(digits).to_string())


@click.command("optimum")
@click.option("--domain", required=True, help=REGION)
@click.option("--eps", type=float, required=True, help="Privacy parameter of each location.")
@click.option("--places", help="Public places: a file, or grid:500 for cells of 500 metres.")
@click.option("--prior", help="Where locations are likely: a public file of points or areas.")
@click.option("--weight", help="Column of the prior with the number of each point or area.")
@JSON
@PROGRESS
@ALLOW_REMOTE
def optimum_command(domain, eps, places, prior, weight, as_json, allow_remote):
    """Say the smallest mean error that any method can have in a public region, in metres.

    It is proved, and the proof is checked again before it is said. Up to --eps 4 it takes some seconds.

    \b
    Example:
        geotracs optimum --domain city.geojson --eps 2
    """
    step("Proving")
    found = optimum(
        read_domain(domain, allow_remote),
        eps,
        read_layer(prior, allow_remote),
        read_places(places, allow_remote),
        weight=weight,
    )
    error = found.check()
    words = f"No eps-LDP method with epsilon {eps:g} has a mean error below {error:.0f} m."
    click.echo(in_json({"epsilon": eps, "error": error, "words": words}) if as_json else words)


@click.command("compare")
@click.argument("original", metavar="IN")
@click.argument("perturbed", metavar="PERTURBED")
@click.option("--by", help='A row for each value of this column of IN, or "trajectory".')
@click.option("--metric", multiple=True, help=f"One of: {', '.join(metric_names())}; repeat it.")
@click.option("--within", type=float, multiple=True, help="Distance in metres for the share within; repeat it.")
@click.option("--places", help="File of the places among which hotspots are; cells of a grid if not given.")
@JSON
@PROGRESS
@input_options
def compare_command(original, perturbed, by, metric, within, places, as_json, reading):
    """Say how far the locations of PERTURBED are from those of IN, in metres, or what else was lost.

    The numbers are computed from the original locations: they are not covered by the guarantee.
    """
    before, after = read_both(original, perturbed, reading)
    step("Comparing")
    given = {name: values for name, values in (("metrics", metric), ("within", within)) if values}
    result = compare(before, after, by=by, places=read_layer(places, reading["allow_remote"]), **given)
    release = result.attrs.get("release", "")
    if as_json:
        click.echo(in_json({"private": True, "note": CONFIDENTIAL, "release": release, "rows": rows_of(result)}))
        return
    if "metric privacy" in release:
        click.echo(f"{release}, not local differential privacy.")
    click.echo(result.to_string())


@click.command("sweep")
@click.argument("source", metavar="IN")
@click.option("--eps", type=float, multiple=True, help="Epsilon to try; repeat it.  [default: 1, 2, 4, 6, 8, 10]")
@click.option("--method", "methods", multiple=True, help=f"Method to try; repeat it.  [default: {', '.join(CHOSEN)}]")
@click.option("--repeats", type=int, default=5, show_default=True, help="How often each is drawn.")
@click.option("--within", type=float, multiple=True, help="Distance in metres for the share within; repeat it.")
@click.option("--domain", help=f"{REGION} In the CRS of IN.")
@click.option("--fit", default="envelope", show_default=True, help=_FIT)
@click.option("--prior", help=_PRIOR)
@click.option("--weight", help="Column of the prior with the number of each point or area.")
@click.option("--round-to", help="Public places: a file, or grid:500 for cells of 500 metres.")
@click.option("--trajectory", help="Column that says which trajectory a row belongs to.")
@click.option("--time", help="Column that orders the rows of a trajectory.")
@click.option("--person", help="Column that says whose row it is, for --unit.")
@click.option("--unit", default="location", show_default=True, help=_UNIT)
@click.option("--outside", type=click.Choice(OUTSIDE), default="raise", show_default=True, help="Locations outside.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Option of the methods; repeat it.")
@click.option("--seed", type=int, help="Reproducible draws.")
@JSON
@PROGRESS
@input_options
@time_options
def sweep_command(
    source, eps, methods, within, domain, prior, round_to, options, seed, as_json, reading, time_format, dayfirst,
    **arguments,
):  # fmt: skip
    """Perturb IN with several methods and epsilons, several times each, and say what each cost, in metres.

    The releases are thrown away. The numbers are computed from the original locations: they are not covered by the
    guarantee.

    \b
    Example:
        geotracs sweep tracks.gpkg --eps 2 --eps 8 --method joint --method tracs-c --domain city.geojson
    """
    allow_remote = reading["allow_remote"]
    frame = files.read(source, **reading, time=arguments["time"], time_format=time_format, dayfirst=dayfirst)
    table = sweep(
        frame,
        eps or EPSILONS,
        methods or CHOSEN,
        within=within or metrics.WITHIN,
        domain=read_domain(domain, allow_remote),
        prior=read_layer(prior, allow_remote),
        round_to=read_places(round_to, allow_remote),
        rng=seed,
        **arguments,
        **method_options(options, perturb),
    )
    if as_json:
        click.echo(in_json({"private": True, "note": CONFIDENTIAL, "rows": rows_of(table)}))
    else:
        mean = table.drop(columns="repeat").groupby(["method", "epsilon", "privacy"], sort=False).mean()
        click.echo(f"Means of {arguments['repeats']} draws each.\n{mean.reset_index().to_string(index=False)}")


@click.command("map")
@click.argument("paths", metavar="[IN] PERTURBED OUT", nargs=-1)
@click.option("--view", type=click.Choice(VIEWS), default="auto", show_default=True, help="How to compare.")
@click.option("--truth", help="Original tracks to show beside an answer: a file.")
@click.option("--domain", help="Public region, as given to perturb.")
@click.option("--places", help="Public places to show: a file.")
@click.option("--trajectory", help="Column that says which trajectory a row belongs to; known of a release.")
@click.option("--time", help="Column that orders the rows of a trajectory; known of a release.")
@click.option(
    "--sample", type=int, help="How many locations to draw as tracks at most: 5,000; over time, one by one, 50,000."
)
@click.option("--cells", type=float, help="Of densities: the width of hexagons in metres.")
@click.option("--zones", help="Of densities: areas to count in, a file.")
@click.option("--at-least", type=float, default=0, show_default=True, help="Of densities: leave out smaller counts.")
@click.option("--trail", help="Of --view time: how long trails last, such as 10min.")
@click.option("--background", multiple=True, help="Streets or districts to draw in greys below: a file. Repeat it.")
@click.option("--png", is_flag=True, help="Write a picture beside OUT, too, by a Chromium that is installed.")
@click.option("--no-tiles", is_flag=True, help="No background; opening the map then tells no tile server the area.")
@click.option("--offline", is_flag=True, help="All scripts in the file and no background: no request at all.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@input_options
@time_options
def map_command(
    paths, truth, domain, places, zones, background, png, no_tiles, overwrite, reading, time_format, dayfirst,
    **arguments,
):  # fmt: skip
    """Draw IN and PERTURBED on a map, and write OUT, an HTML page.

    It contains original locations and says so: keep it confidential. Without IN only the release is drawn, which is
    safe to publish. What density, popularity, flows or reconstruct have written is drawn as what it is: give ANSWER
    OUT, or ANSWER PERTURBED OUT with the release beside it. Opening a page asks a tile server for the area shown,
    unless --no-tiles or --offline is given.

    \b
    Examples:
        geotracs map tracks.gpkg private.gpkg confidential.html --domain city.geojson --offline
        geotracs map private.gpkg publish.html --offline --png
        geotracs map density.gpkg private.gpkg confidential.html --truth tracks.gpkg --view side-by-side
    """
    if not 2 <= len(paths) <= 3:
        raise click.UsageError("Give IN, PERTURBED and OUT, or PERTURBED and OUT.")
    *sources, target = paths
    files.check_free(target, overwrite=overwrite, page=True)
    picture = Path(target).with_suffix(".png")
    if png and picture.exists() and not overwrite:
        raise InputError(f"{str(picture)!r} exists already; use --overwrite to replace it.")
    allow_remote = reading["allow_remote"]
    times = {"time": arguments["time"], "time_format": time_format, "dayfirst": dayfirst}
    shown = [files.read(source, **reading, **(times if n == 0 else {})) for n, source in enumerate(sources)]
    page = explore(
        *shown,
        truth=read_layer(truth, allow_remote),
        domain=read_domain(domain, allow_remote),
        places=read_layer(places, allow_remote),
        zones=read_layer(zones, allow_remote),
        background=[read_layer(layer, allow_remote) for layer in background] or None,
        **({"tiles": None} if no_tiles else {}),
        **arguments,
    )
    files.write_page(page, target, overwrite=overwrite)
    click.echo(f"Written: {target}")
    if png:
        click.echo(f"Written: {photograph(target, picture)}")


@click.command("demo")
@click.pass_context
@click.option("--out", default="demo", show_default=True, help="Folder for the results.")
@click.option("--eps", type=float, default=4.0, show_default=True, help="Privacy parameter for each location.")
@click.option("--people", type=int, default=50, show_default=True, help="How many people live in the city.")
@click.option("--overwrite", is_flag=True, help="Replace earlier results.")
def demo_command(context, out, eps, people, overwrite):
    """Generate a city, perturb its tracks, and show what it cost."""
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{out!r} is a file; give a folder.")
    names = {name: folder / f"{name}.gpkg" for name in ("tracks", "city", *DEMO)}
    page = folder / "map.html"
    for path in [*names.values(), page]:
        if path.exists() and not overwrite:
            raise InputError(f"{str(path)!r} exists already; use --overwrite to replace it.")
    check_eps(eps)
    city = sample_city(people=people)
    folder.mkdir(parents=True, exist_ok=True)
    columns = {"trajectory": "person", "time": "t"}
    click.echo(f"A generated city: {people} people, {len(city.tracks):,} locations.\n")
    releases = {method: perturb(city.tracks, eps, method, domain=city.boundary, keep=[], **columns) for method in DEMO}
    table = pd.DataFrame({method: compare(city.tracks, private) for method, private in releases.items()})
    click.echo(f"Displacement in metres, and share of reports within a distance (epsilon {eps:g}):\n{table}\n")
    for name, frame in {"tracks": city.tracks, "city": city.boundary, **releases}.items():
        files.write(frame, names[name], overwrite=overwrite)
        click.echo(f"Written: {names[name]}")
    paths = [str(names["tracks"]), str(names["joint"]), str(page)]
    context.invoke(map_command, paths=paths, domain=str(names["city"]), sample=FEW, overwrite=overwrite)
    click.echo(f"\n{releases['joint'].tracs.guarantee}")


@click.command("reproduce")
@click.option("--data", help="Folder of the check-ins: tky_checkins.csv.gz and chi_checkins.csv.gz.")
@click.option("--published", help="Folder of the figures that the paper's authors published, to compare with.")
@click.option("--out", default="report.md", show_default=True, help="The report; its plots go into a folder beside it.")
@click.option("--only", multiple=True, help="Make only this experiment; repeat it.")
@click.option("--quick", is_flag=True, help="Few repeats, to try it.")
def reproduce_command(data, published, out, only, quick):
    """Reproduce every figure and table of the paper's evaluation, with baselines that are eps-LDP.

    Takes some minutes. Without --data the experiments on Tokyo and Chicago are left out.
    """
    from geotracs.experiments import reproduce

    frames = reproduce(data, published, out, quick=quick, only=only, progress=sys.stderr.isatty())
    click.echo(f"Written: {out}, {len(frames)} experiments.")


def _number(text: str) -> float | str:
    """Return a number, or the name of a column."""
    try:
        return float(text)
    except ValueError:
        return text


def _weights(text: str) -> str | list[float]:
    """Return the name of a rule, or numbers separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text
