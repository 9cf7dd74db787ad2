"""Commands for whoever has to trust a release; the functions do the work."""

import json

import click

from geotracs.cli.arguments import ALLOW_REMOTE, method_options, read_domain, read_places
from geotracs.core.methods import METHODS
from geotracs.trust.audit import ALARM, CHECKS, DRAWS, PAIRS, RELEASES, audit


@click.command("audit")
@click.option("--method", default="joint", show_default=True, help=f"One of: {', '.join(METHODS)}.")
@click.option("--eps", type=float, required=True, help="Privacy parameter of each location.")
@click.option("--domain", required=True, help="Public region: a file, or xmin,ymin,xmax,ymax in degrees.")
@click.option("--places", help="Public places: a file, or grid:500 for cells of 500 metres.")
@click.option("--fit", default="envelope", show_default=True, help="How a polygon becomes a square; see perturb.")
@click.option("--check", "checks", multiple=True, help=f"Only this check, one of {', '.join(CHECKS)}; repeat it.")
@click.option("--draws", type=int, default=DRAWS, show_default=True, help="Draws of each location of a pair.")
@click.option("--pairs", type=int, default=PAIRS, show_default=True, help="How many of the worst pairs are bounded.")
@click.option("--releases", type=int, default=RELEASES, show_default=True, help="How often each file is released.")
@click.option("--alarm", type=float, default=ALARM, show_default=True, help="Probability of a false alarm, at most.")
@click.option("--seed", type=int, help="The same seed gives the same audit.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Option of the method; repeat it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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
