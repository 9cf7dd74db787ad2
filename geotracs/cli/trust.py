"""Commands for whoever answers for a release: the audit, the ledger, the risk; the functions do the work."""

import json
import os

import click
from click.core import ParameterSource

import geotracs.geo.columns as columns_
import geotracs.io.files as files
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
)
from geotracs.cli.regions import read_domain
from geotracs.cli.tables import in_json, rows_of
from geotracs.core.following import SPEED
from geotracs.core.methods import METHODS
from geotracs.errors import InputError
from geotracs.io.progress import step
from geotracs.trust.audit import ALARM, CHECKS, DRAWS, PAIRS, RELEASES, audit
from geotracs.trust.ledger import PER, Ledger
from geotracs.trust.report import report
from geotracs.trust.report_result import check_path
from geotracs.trust.risk import WITHIN, of_release, risk

OF_MADE_UP = {"eps", "interval", "method", "unit", "people", "fixes", "seed"}
"""Options of `risk` for people who are made up, ..."""
OF_RELEASE = {"person"}
"""...and for those of a release."""


@click.command("audit")
@click.option("--method", default="joint", show_default=True, help=f"One of: {', '.join(METHODS)}.")
@click.option("--eps", type=float, required=True, help="Privacy parameter of each location.")
@click.option("--domain", required=True, help=REGION)
@click.option("--places", help="Public places: a file, or grid:500 for cells of 500 metres.")
@click.option("--fit", default="envelope", show_default=True, help="How a polygon becomes a square; see perturb.")
@click.option("--check", "checks", multiple=True, help=f"Only this check, one of {', '.join(CHECKS)}; repeat it.")
@click.option("--draws", type=int, default=DRAWS, show_default=True, help="Draws of each location of a pair.")
@click.option("--pairs", type=int, default=PAIRS, show_default=True, help="How many of the worst pairs are bounded.")
@click.option("--releases", type=int, default=RELEASES, show_default=True, help="How often each file is released.")
@click.option("--alarm", type=float, default=ALARM, show_default=True, help="Probability of a false alarm, at most.")
@click.option("--seed", type=int, help="The same seed gives the same audit.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Option of the method; repeat it.")
@JSON
@PROGRESS
@ALLOW_REMOTE
def audit_command(method, eps, domain, places, checks, seed, options, as_json, allow_remote, **arguments):
    """Look for a violation of what a method promises: in its integers, its draws, and from file to file.

    No private data is needed: locations are public stand-ins over the region. The exit code is 1 if a violation is
    found. A pass is no proof.

    \b
    Examples:
        geotracs audit --eps 4 --domain 139.4,35.5,139.9,35.9
        geotracs audit --eps 2 --method geo-ind --option radius=200 --domain city.geojson --check draws --json
    """
    step("Looking for a violation")
    found = audit(
        method,
        eps,
        read_domain(domain, allow_remote),
        places=read_places(places, allow_remote),
        checks=list(checks) or None,
        rng=seed,
        **arguments,
        **method_options(options, audit),
    )
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False) if as_json else repr(found))
    return 0 if found.passed else 1


@click.group("ledger")
def ledger_command():
    """Show how much epsilon people have spent, change the budget, or charge a release made elsewhere.

    \b
    Examples:
        geotracs ledger budget ledger.db 100
        geotracs perturb tracks.gpkg private.gpkg --eps 1 --trajectory person --ledger ledger.db --data bus-2026
        geotracs ledger show ledger.db
    """


@ledger_command.command("show")
@click.argument("ledger", metavar="LEDGER")
@click.option("--person", help="Say how much this person has spent; a label.")
@click.option("--data", help="On these data only.")
@JSON
def show(ledger, person, data, as_json):
    """Say what was spent and entered; no label is shown."""
    book = Ledger(ledger)
    if as_json:
        spent = rows_of(book.spent(data=data)) if person is None else book.spent(person, data)
        click.echo(
            in_json({"budget": book.budget, "per": book.per, "spent": spent, "entries": rows_of(book.entries())})
        )
        return
    if person is not None:
        click.echo(f"{book.spent(person, data):g}")
        return
    click.echo(f"Budget: epsilon {book.budget:g} per {'person' if book.per == 'person' else 'person and data'}.\n")
    click.echo(f"{book.spent(data=data).to_string()}\n")
    click.echo(book.entries().to_string())


@ledger_command.command("budget")
@click.argument("ledger", metavar="LEDGER")
@click.argument("eps", metavar="[EPS]", type=float, required=False)
@click.option("--per", type=click.Choice(PER), help="What the budget of a new ledger is for; a person if not given.")
def change_budget(ledger, eps, per):
    """Say the budget, or set it to EPS; makes LEDGER if it is not there."""
    book = Ledger(ledger, per=per) if eps is None or os.path.exists(ledger) else Ledger(ledger, eps, per)
    if eps is not None:
        book.set_budget(eps)
    click.echo(f"{book.budget:g}")


@ledger_command.command("charge")
@click.argument("ledger", metavar="LEDGER")
@click.argument("source", metavar="IN")
@click.option("--person", required=True, help="Column of IN that says whose row it is.")
@click.option("--eps", type=float, required=True, help="What each person of IN is charged, for all rows together.")
@click.option("--data", required=True, help="How the ledger names the data, e.g. bus-2026.")
@input_options
def charge(ledger, source, person, eps, data, reading):
    """Charge every person of IN once, for a release that was made without the ledger."""
    book = Ledger(ledger)
    frame = files.read(source, **reading)
    columns_.check(frame, [person])
    missing = int(frame[person].isna().sum())
    if missing:
        raise InputError(f"{missing:,} row(s) have no value in the column {person!r}; fill them in or drop them.")
    people = frame[person].unique()
    book.charge(dict.fromkeys(people, eps), data)
    click.echo(f"Charged {len(people):,} people.")


@click.command("risk")
@click.argument("paths", metavar="[IN PRIVATE]", nargs=-1)
@click.option("--domain", help=REGION)
@click.option("--eps", type=float, help="Privacy parameter of each location, or as --unit says.")
@click.option("--interval", type=float, help="Seconds between two reports of a person.")
@click.option("--person", help="Column of IN that says whose row it is; if not given, the trajectory of PRIVATE.")
@click.option(
    "--speed", type=float, default=SPEED, show_default=True, help="How fast people are, in metres per second."
)
@click.option("--stay", type=float, default=0.3, show_default=True, help="Which part of their way people rest.")
@click.option("--method", default="joint", show_default=True, help="As for perturb.")
@click.option("--unit", default="location", show_default=True, help="As for perturb.")
@click.option("--round-to", help="Public places: a file, or grid:500 for cells of 500 metres.")
@click.option("--prior", help="Where locations are likely: a public file of points or areas.")
@click.option("--weight", help="Column of the prior with the number of each point or area.")
@click.option("--people", type=int, default=20, show_default=True, help="How many people are made up.")
@click.option("--fixes", type=int, default=240, show_default=True, help="How many reports each has.")
@click.option("--within", type=float, default=WITHIN, show_default=True, help="How near a guess must be, in metres.")
@click.option("--known", type=int, default=4, show_default=True, help="How many points of a person somebody knows.")
@click.option("--seed", type=int, default=0, show_default=True, help="For what is made up.")
@JSON
@PROGRESS
@input_options
def risk_command(paths, domain, round_to, prior, as_json, reading, **arguments):
    """Say what a release tells, or would tell, about a person, in metres.

    Without IN and PRIVATE made-up people are released in a public region and attacked, and no data is needed: give
    --domain, --eps and --interval. With them the release is attacked and compared with the originals: keep the figures
    confidential. The attacks: by averaging, by following people with a model of motion, by where they are at night and
    by day, and by linking two releases. Each figure is beside what can be guessed without the release.

    \b
    Examples:
        geotracs risk --domain city.geojson --eps 4 --interval 60
        geotracs risk --domain 139.4,35.5,139.9,35.9 --eps 8 --interval 5 --speed 2 --json
        geotracs risk tracks.gpkg private.gpkg --domain city.geojson --speed 15
    """
    made_up = not paths
    if not made_up and len(paths) != 2:
        raise click.UsageError("Give IN and PRIVATE, or neither.")
    other = (OF_RELEASE if made_up else OF_MADE_UP) & arguments.keys()
    for name in sorted(other):
        if click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--{name} is for {'a release' if made_up else 'made-up people'}.")
        del arguments[name]
    allow_remote = reading["allow_remote"]
    layers = {
        "domain": read_domain(domain, allow_remote),
        "round_to": read_places(round_to, allow_remote),
        "prior": read_layer(prior, allow_remote),
    }
    if made_up:
        for name, value in (("domain", domain), *((name, arguments[name]) for name in ("eps", "interval"))):
            if value is None:
                raise click.UsageError(f"Missing option '--{name}'.")
        found = risk(layers.pop("domain"), arguments.pop("eps"), **layers, **arguments)
    else:
        found = of_release(*read_both(*paths, reading), **layers, **arguments)
    click.echo(json.dumps(found.to_dict(), indent=2) if as_json else repr(found))


@click.command("report")
@click.argument("source", metavar="PRIVATE")
@click.argument("targets", metavar="OUT...", nargs=-1, required=True)
@click.option("--person", help="Column of PRIVATE that says whose row it is, to add up what each spends.")
@click.option("--period", default="1D", show_default=True, help="Add it up for each period, too.")
@click.option("--ledger", help="Say what was spent so far: a file; see geotracs ledger.")
@click.option("--data", help="How the ledger names the data.")
@click.option("--originals", metavar="IN", help="Compare attacks with the originals: the report is confidential then.")
@click.option("--no-risk", is_flag=True, help="Make no attacks.")
@click.option("--no-audit", is_flag=True, help="Make no audit.")
@click.option("--speed", type=float, default=SPEED, show_default=True, help="How fast people are at most, in m/s.")
@click.option("--domain", help="Public region of the release, if its record does not hold it, as for perturb.")
@click.option("--round-to", help="Its public places, likewise: a file, or grid:500.")
@click.option("--prior", help="Its public prior, likewise: a file.")
@click.option("--weight", help="Column of the prior with the number of each point or area.")
@click.option("--title", help="The heading.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@PROGRESS
@ALLOW_REMOTE
def report_command(
    source, targets, ledger, originals, no_risk, no_audit, domain, round_to, prior, overwrite, allow_remote, **arguments
):
    """Make a report on a release for a privacy officer: what is promised, what is left, what was checked.

    OUT is a page (.html) or JSON (.json), or give both. The page needs nothing else and can be printed. It is computed
    from PRIVATE and public information only, unless --originals is given; it never holds an original location. PRIVATE
    must carry its record, as GeoParquet and GeoPackage do.

    \b
    Examples:
        geotracs report private.parquet report.html --domain city.geojson
        geotracs report private.gpkg report.html report.json --person person --ledger ledger.db --data bus-2026
    """
    for target in targets:
        check_path(target, overwrite=overwrite)
    layers = {
        "domain": read_domain(domain, allow_remote),
        "round_to": read_places(round_to, allow_remote),
        "prior": read_layer(prior, allow_remote),
        "weight": arguments.pop("weight"),
    }
    step("Reading")
    found = not no_risk
    if originals is not None and found:
        release = files.read(source, allow_remote=allow_remote)
        tracks = files.read(originals, allow_remote=allow_remote)
        person = arguments["person"] if arguments["person"] in tracks else None
        found = of_release(tracks, release, person=person, speed=arguments["speed"], **layers)
    made = report(
        source,
        ledger=None if ledger is None else Ledger(ledger),
        risk=found,
        audit=not no_audit,
        **layers,
        **arguments,
    )
    for target in targets:
        click.echo(f"Written: {made.write(target, overwrite=overwrite)}")
    for point in made.facts["points"]:
        click.echo(f"{point['kind'].capitalize()}: {point['words']}")
